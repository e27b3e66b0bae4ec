"""What a stranger may try: each says what was wrong with it, or does what was meant."""
import copy
import gzip
import os
import pathlib
import pickle
import subprocess
import sys
import threading

import ml_dtypes
import numpy as np
import pytest

import kashi

TEXT = "HloModule m\nENTRY e {\n  a = f32[2] parameter(0)\n  b = f32[2] parameter(1)\n  ROOT c = f32[2] subtract(a, b)\n}\n"


def subtraction(kind="f32"):
    return kashi.compile(kashi.parse(TEXT.replace("f32", kind)))


def test_messages_name_the_dtype():
    program = subtraction()
    x = np.float32([1, 2])
    for bad, dtype in ((3.0, "float64"), ([1, 2], "int64"), (x.astype(ml_dtypes.bfloat16), "bfloat16")):
        with pytest.raises(TypeError, match=rf"argument 1 must be f32\[2\] \(dtype float32\), got .* \(dtype {dtype}\)"):
            program.run(x, bad)
    with pytest.raises(TypeError, match=r"must be f32\[2\], got f32\[1,2\]"):
        program.run(x, x[None])
    with pytest.raises(ValueError, match=r"array must be f32\[2\] \(dtype float32\), got f64\[2\] \(dtype float64\)"):
        kashi.tile([1.0, 2.0], kashi.Shape("f32[2]"))
    with pytest.raises(TypeError, match="U3"):
        kashi.primitive_type("U3")


def test_what_is_no_array():
    program, x = subtraction(), np.float32([1, 2])
    released = memoryview(x)
    released.release()
    with pytest.raises(ValueError, match="released memoryview"):
        program.run(x, released)
    with pytest.raises(ValueError, match="released memoryview"):
        kashi.untile(released, kashi.Shape("f32[2]"))
    for nothing, name in ((None, "NoneType"), (print, "builtin_function_or_method"), (program, "Program")):
        with pytest.raises(TypeError, match=f"a .*{name} is not an array"):
            program.run(x, nothing)
    with pytest.raises(TypeError, match="array of object"):
        program.run(x, [1.0, None])
    assert program.run(x, memoryview(np.float32([1, 9, 2, 9]))[::2]).tolist() == [0, 0]


def test_a_text_is_no_buffer():
    with pytest.raises(TypeError, match="str"):
        kashi.untile("ab", kashi.Shape("f32[2]"))  # NumPy's characters would have as many bytes


def test_numbers_that_are_too_large():
    s = kashi.Shape("f32[2,3]")
    with pytest.raises(IndexError):
        s.index(2**70)
    with pytest.raises((IndexError, OverflowError)):
        s.offset((2**70, 0))
    with pytest.raises(TypeError, match="tile"):
        kashi.Tile("8,128")
    with pytest.raises(TypeError):
        s.index(1.5)
    assert s.index(np.uint8(5)) == (1, 2)


@pytest.mark.parametrize("source, kind", [
    ("", "is empty"), (" \n", "is empty"), ("# Title\n\nText.\n", "a Markdown document"),
    ("; ModuleID = 'm'\nsource_filename = \"m\"\n", "LLVM IR"), ("xla_cpu_enable_fast_math: true\n", "debug_options"),
    (b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR", "a PNG image"), (b"\x93NUMPY\x01\0v\0{'descr': '<f4'}", "a NumPy array")])
def test_other_kinds_of_files_are_named(source, kind):
    with pytest.raises(kashi.ParseError, match=kind):
        kashi.parse(source)


def test_texts_and_files_that_are_no_modules(tmp_path):
    for empty in ("", "  ", b""):
        with pytest.raises(kashi.ParseError):
            kashi.parse(empty)
    packed = gzip.compress(TEXT.encode())
    assert len(kashi.parse(packed).instructions) == 3
    for broken in (packed[:-5], packed[:12], b"\x1f\x8bgarbage", packed[:20] + b"\xff\xff" + packed[22:]):
        (tmp_path / "m.hlo.gz").write_bytes(broken)
        for source in (broken, tmp_path / "m.hlo.gz"):
            with pytest.raises(kashi.ParseError, match="gzip"):
                kashi.parse(source)


def test_arguments_may_be_pytrees():
    program = subtraction()
    x, y = np.float32([5, 6]), np.float32([1, 2])
    assert program.run({"a": x, "b": y}).tolist() == program.run({"b": y, "a": x}).tolist() == [4, 4]
    assert program.run([x, (None, y)]).tolist() == program({"p": [x]}, y).tolist() == [4, 4]
    assert kashi.evaluate(module := kashi.parse(TEXT), (x, {"q": y})).tolist() == [4, 4]
    assert program.profile({"a": x, "b": y}, runs=1)["runs"] == 1
    with pytest.raises(TypeError, match="takes 2 arguments, got 1 with 3 leaves"):
        program.run({"a": x, "b": (x, y)})
    with pytest.raises(TypeError):
        program.run({"a": x, 3: y})  # keys without an order
    endless = []
    endless.append(endless)
    with pytest.raises(RecursionError):
        kashi.evaluate(module, endless)


def test_constants_can_be_added():
    m = kashi.parse(TEXT)
    e = m.entry
    ones = e.add("constant", value=np.float32([1, 1]))
    e.set_root(e.add("add", [e.root, ones]))
    assert kashi.evaluate(m, np.float32([5, 6]), np.float32([1, 2])).tolist() == [5, 5]
    assert ones.value.tolist() == [1, 1] and kashi.parse(str(m)).equal(m)
    tiled = e.add("constant", shape="bf16[2,1]{0,1}", value=np.zeros((2, 1), ml_dtypes.bfloat16), name="zeros")
    assert tiled.shape == kashi.Shape("bf16[2,1]{0,1}") and tiled.name == "zeros"
    pair = e.add("constant", shape="(s32[], f32[1])", value=(np.int32(3), np.float32([2])))
    assert pair.value[0] == 3
    for bad in ({}, {"value": object()}, {"value": 1, "dimensions": (0, )}, {"value": [1.0], "shape": "f32[1]"}):
        with pytest.raises(TypeError):
            e.add("constant", **bad)
    with pytest.raises(ValueError):
        e.add("constant", [e.root], value=1)


def test_an_operation_is_neither_true_nor_false():
    b = kashi.XlaBuilder("b")
    x = b.Parameter(0, "f32[]")
    with pytest.raises(TypeError, match="Select"):
        if x > 0:
            pass


def test_threads_call_at_once():
    program, x = subtraction(), np.float32([3, 4])
    shape = kashi.Shape("f32[2,3]{0,1:T(2,2)}")
    errors = []

    def work():
        try:
            for i in range(100):
                assert program.run(x, np.float32([i, i])).tolist() == [3 - i, 4 - i]
                assert kashi.untile(kashi.tile(np.full((2, 3), i, np.float32), shape), shape)[1, 2] == i
                assert len(kashi.parse(TEXT).instructions) == 3
            assert kashi.compile(kashi.parse(TEXT)).run(x, x).tolist() == [0, 0]
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not errors


@pytest.mark.parametrize("name", "s2 s4 s8 s16 s32 s64 u2 u4 u8 u16 u32 u64 f16 bf16 f32 f64 c64 c128 f8e4m3fn f8e5m2 "
                                 "f8e4m3b11fnuz f8e3m4 f4e2m1fn".split())
def test_all_types_run(name):
    x, y = np.array([1, 1], kashi.dtype(name)), np.array([0, 1], kashi.dtype(name))
    for result in (subtraction(name).run(x, y), kashi.evaluate(kashi.parse(TEXT.replace("f32", name)), x, y)):
        assert result.dtype == x.dtype and result.astype(np.complex128).tolist() == [1, 0]


def test_handles_cannot_be_copied_without_their_module():
    module = kashi.parse(TEXT)
    for whole in (module, module.program_shape, kashi.Shape("(f32[<=3]{0:T(8)S(1)}, token[])"), kashi.Tile((8, "*"))):
        for copied in (copy.copy(whole), copy.deepcopy(whole), pickle.loads(pickle.dumps(whole, 0))):
            assert copied is not whole and str(copied) == str(whole)
    for part in (module.entry, module.entry.root, kashi.compile(module), kashi.XlaBuilder("b")):
        with pytest.raises(TypeError, match=f"cannot pickle '{type(part).__name__}' object"):
            copy.deepcopy(part)
        with pytest.raises(TypeError, match="cannot pickle"):
            pickle.dumps(part)


class Interface:
    def __init__(self, **changes):
        self.kept = np.float32([1, 2])
        self.__array_interface__ = {**self.kept.__array_interface__, **changes}


@pytest.mark.parametrize("change", [{"shape": (-1, )}, {"shape": (2**62, )}, {"shape": ("2", )}, {"typestr": "<f99"}, {"typestr": 4},
                                    {"data": (0, False)}, {"data": ("x", True)}, {"strides": (4, 4)}, {"strides": "x"}], ids=str)
def test_interfaces_that_make_no_sense(change):
    program, x = subtraction(), np.float32([1, 1])
    assert program.run(Interface(), x).tolist() == [0, 1]
    with pytest.raises((TypeError, ValueError)):
        program.run(Interface(**change), x)
    with pytest.raises((TypeError, ValueError)):
        kashi.tile(Interface(**change), kashi.Shape("f32[2]"))


class Answers:
    """An object whose method gives `answer`, or raises it."""

    def __init__(self, answer):
        self.answer = answer

    def give(self, *arguments, **keywords):
        if isinstance(self.answer, BaseException):
            raise self.answer
        return self.answer


def test_arrays_that_answer_strangely():
    program, x = subtraction(), np.float32([1, 2])
    array = type("Array", (Answers, ), {"__array__": Answers.give})
    tensor = type("Tensor", (Answers, ), {"__dlpack__": Answers.give, "__dlpack_device__": lambda self: (1, 0)})
    for kind in (array, tensor):
        for answer in (3, "x", None, [1.0]):
            with pytest.raises((TypeError, ValueError)):
                program.run(kind(answer), x)
        for error in (KeyError, KeyboardInterrupt, SystemExit, MemoryError):
            with pytest.raises(error):
                program.run(kind(error()), x)
    assert program.run(array(x), x).tolist() == program.run(tensor(x.__dlpack__()), x).tolist() == [0, 0]


def test_lists_that_change_while_they_are_read():
    def emptied(*rest):
        arguments = []
        empties = type("Empties", (), {"__array__": lambda self, *a, **k: (arguments.clear(), np.float32([1, 2]))[1]})
        arguments += [empties(), *rest]
        return arguments

    x = np.float32([1, 2])
    of_tuple = kashi.parse("HloModule m\nENTRY e {\n  p = (f32[2], f32[2]) parameter(0)\n  ROOT y = f32[2] get-tuple-element(p), index=1\n}")
    with pytest.raises((TypeError, IndexError)):
        kashi.evaluate(of_tuple, emptied(x))
    devices = kashi.parse(TEXT.replace("HloModule m", "HloModule m, replica_count=2"))
    with pytest.raises((TypeError, ValueError, IndexError)):
        kashi.evaluate_on_devices(devices, [emptied(x), [x, x]])


def test_an_observer_may_edit_the_module():
    """The run has a copy. It can only not name to the observer what the module has no more."""
    module, x, y = kashi.parse(TEXT), np.float32([5, 6]), np.float32([1, 2])

    def removes(instruction, value):
        module.entry.set_root(module.entry.parameters[0])
        module.remove_dead_code()

    with pytest.raises(kashi.Error, match="no instruction c any more"):
        kashi.evaluate(module, x, y, observer=removes)
    assert kashi.evaluate(module, x, y).tolist() == [5, 6]


@pytest.mark.parametrize("text", ["f32[1000000000000]", "f32[2147483648,2147483648]", "pred[4611686018427387904,2]",
                                  "f32[0,9223372036854775807]"])
def test_shapes_that_have_no_place_in_memory(text):
    shape = kashi.Shape(text)
    module = kashi.parse(f"HloModule m\nENTRY e {{\n  c = {shape.element_type}[] constant(0)\n"
                         f"  ROOT y = {text} broadcast(c), dimensions={{}}\n}}")
    for use in (lambda: kashi.untile(b"", shape), lambda: kashi.tile(np.zeros(2, shape.dtype), shape),
                lambda: kashi.evaluate(module), lambda: kashi.compile(module).run()):
        with pytest.raises((ValueError, MemoryError)):
            use()
    assert str(shape) in shape.explain("v5e") and (shape._repr_svg_() or "<svg").count("<svg") == 1


FORKS = """
import os, signal
import numpy as np
import kashi

x = np.random.default_rng(1).random((300, 300)).astype(np.float32)
module = kashi.parse('HloModule m\\nENTRY e {\\n  x = f32[300,300] parameter(0)\\n'
                     '  ROOT y = f32[300,300] dot(x, x), lhs_contracting_dims={1}, rhs_contracting_dims={0}\\n}')
program, shape = kashi.compile(module), kashi.Shape("f32[300,300]{0,1:T(8,128)}")
want = program.run(x)
for _ in range(5):
    assert (program.run(x) == want).all()
    child = os.fork()
    if child == 0:
        signal.alarm(60)
        ok = (program.run(x) == want).all() and (kashi.untile(kashi.tile(x, shape), shape) == x).all()
        os._exit(0 if ok and np.allclose(kashi.evaluate(module, x), want) else 1)
    assert os.waitpid(child, 0)[1] == 0
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
def test_forked_children_run_programs():
    """Although they have no threads that work on loops. In a process of their own: JAX does not like forks."""
    process = subprocess.run([sys.executable, "-W", "ignore", "-c", FORKS], capture_output=True, text=True, check=False,
                             env=dict(os.environ, PYTHONPATH=os.pathsep.join(sys.path)))
    assert process.returncode == 0, process.stderr


def test_wrong_arguments_say_what_is_taken():
    module = kashi.parse(TEXT)
    for call, message in (
        (lambda: kashi.Shape((2, 3)), r"takes the text of a shape, such as 'f32\[2,3\]' .*, not tuple"),
        (lambda: kashi.Shape(kashi.Shape("f32[2]")), "takes the text of a shape, .*, not .*Shape"),
        (lambda: kashi.ProgramShape(3), "takes a text, such as .*, not int"),
        (lambda: kashi.compile(TEXT), r"kashi.compile\(\) takes a kashi.Module, which kashi.parse\(\) makes, not str"),
        (lambda: kashi.evaluate(TEXT), r"kashi.evaluate\(\) takes a kashi.Module"),
        (lambda: kashi.evaluate_on_devices(None, []), r"kashi.evaluate_on_devices\(\) takes a kashi.Module"),
        (lambda: kashi.compile(module, engine=3), "`engine` is the name of an engine, such as 'cpu', or None, not int"),
        (lambda: module.memory(5), "`target` is a name, such as 'v5e', or None, not int"),
        (lambda: module.for_target(None), "`target` is the name of a TPU generation, not NoneType"),
        (lambda: kashi.Shape("f32[2]").for_target(b"v4"), "`target` is the name of a TPU generation, not bytes"),
    ):
        with pytest.raises(TypeError, match=message) as caught:
            call()
        assert "incompatible function arguments" not in str(caught.value)


def test_unknown_names_list_the_known_ones():
    module = kashi.parse(TEXT)
    generations = " ".join(kashi.TPU_GENERATIONS)
    for call, message in (
        (lambda: module.memory("v9"), f"unknown target `v9`; the targets are: {generations} host gpu"),
        (lambda: module.for_target("v9"), f"unknown TPU generation `v9`; the generations are: {generations}"),
        (lambda: kashi.Shape("f32[2]").advice("v9"), f"the generations are: {generations}"),
        (lambda: kashi.compile(module, engine="gpu"), "no engine has the name `gpu`; the engines are: cpu, evaluator"),
    ):
        with pytest.raises(ValueError, match=message):
            call()


def test_engine():
    module = kashi.parse(TEXT)
    assert kashi.compile(module, engine="evaluator").engine == "evaluator"
    if kashi.HAS_COMPILED_ENGINE:
        assert kashi.compile(module, engine="cpu").engine == kashi.compile(module).engine == "cpu"
    else:
        with pytest.raises(ValueError, match="engine 'cpu'"):
            kashi.compile(module, engine="cpu")


def test_target():
    module = kashi.parse(TEXT)
    with pytest.raises(ValueError, match="the evaluator makes none"):
        kashi.compile(module, engine="evaluator", target="x86-64-v2")
    with pytest.raises(TypeError, match="`target` is"):
        kashi.compile(module, target=2)
    if not kashi.HAS_COMPILED_ENGINE:
        return
    with pytest.raises(ValueError, match="the targets are: x86-64-v2, x86-64-v3, x86-64-v4"):
        kashi.compile(module, target="v2")
    arguments = np.float32([[1, 2], [3, 5]])
    program = kashi.compile(module, target="x86-64-v2", keep_code=True)
    assert program.engine == "cpu"
    assert b"x86-64-v2" in program.serialize()
    np.testing.assert_allclose(program.run(*arguments), kashi.evaluate(module, *arguments), rtol=1e-6)


def test_programs_as_bytes():
    module = kashi.parse(TEXT)
    arguments = np.float32([[1, 2], [3, 5]])
    for engine in ("evaluator", None):
        program = kashi.compile(module, engine=engine, keep_code=True)
        data = program.serialize()
        again = kashi.deserialize(data)
        assert (again.engine, again.serialize()) == (program.engine, data)
        np.testing.assert_array_equal(again.run(*arguments), program.run(*arguments))
    for wrong in (b"", data[:-1], data[1:], data[:40] + b"x" + data[41:]):
        with pytest.raises(ValueError, match="no program of Kashi"):
            kashi.deserialize(wrong)
    with pytest.raises(kashi.Error, match="without"):
        kashi.compile(module).serialize()
    with pytest.raises(TypeError):
        kashi.deserialize("text")


def test_cache_of_machine_code(tmp_path, monkeypatch):
    module = kashi.parse(TEXT)
    with pytest.raises(TypeError, match="`cache_dir` is a path, or None, not int"):
        kashi.compile(module, cache_dir=2)
    if not kashi.HAS_COMPILED_ENGINE:
        return
    arguments = np.float32([[1, 2], [3, 5]])
    expected = kashi.compile(module, engine="cpu").run(*arguments)
    for folder in (tmp_path / "a", str(tmp_path / "b")):
        for _ in range(2):
            np.testing.assert_array_equal(
                kashi.compile(module, engine="cpu", cache_dir=folder).run(*arguments), expected
            )
            assert len(list(pathlib.Path(folder).iterdir())) == 1
    monkeypatch.setenv("KASHI_CACHE_DIR", str(tmp_path / "c"))
    kashi.compile(module, engine="cpu")
    assert len(list((tmp_path / "c").iterdir())) == 1
    (tmp_path / "c").chmod(0o777)
    with pytest.raises(kashi.Error, match="other users may write to it"):
        kashi.compile(module, engine="cpu")


def test_version_is_that_of_the_project():
    root = pathlib.Path(__file__).parents[2]
    assert f'version = "{kashi.__version__}"' in (root / "python" / "pyproject.toml").read_text()
    assert f"project(kashi VERSION {kashi.__version__} " in (root / "CMakeLists.txt").read_text()


def test_memory_for_a_tpu_counts_its_tiles():
    module = kashi.parse("HloModule m\nENTRY e {\n  x = f32[256,512,128,2] parameter(0)\n"
                         "  ROOT y = f32[256,512,128,2] negate(x)\n}\n")
    memory = module.memory("v5e")
    assert memory["layouts_are_chosen"] and memory["peak_bytes"] == 16 << 30
    assert memory["peak_bytes"] == module.for_target("v5e").memory("v5e")["peak_bytes"]
    assert memory["buffers"][0]["shape"] == "f32[256,512,128,2]{3,2,1,0:T(8,128)}"
    host = module.memory("host")
    assert not host["layouts_are_chosen"] and host["peak_bytes"] == 256 << 20


def test_counts_of_one_are_in_the_singular():
    module = kashi.parse("HloModule m\nENTRY e {\n  ROOT x = f32[2] parameter(0)\n}\n")
    assert repr(module) == "<kashi.Module m: 1 computation, 1 instruction>"
    with pytest.raises(TypeError, match="takes 1 argument, got 0"):
        kashi.compile(module).run()
