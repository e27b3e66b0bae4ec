"""Programs: custom calls in Python, several devices, profiles, and calls of small programs."""
import threading

import numpy as np
import pytest

import kashi


def module_of(lines, head="HloModule m"):
    return kashi.parse(f"{head}\nENTRY e {{\n{lines}\n}}\n")


CALL = """  x = f32[2,3] parameter(0)
  ROOT y = f32[2,3] custom-call(x), custom_call_target="test.call", backend_config="some text"
"""


@pytest.fixture
def registered():
    def register(function):
        kashi.register_custom_call("test.call", function)

    yield register
    kashi.register_custom_call("test.call", None)


@pytest.mark.parametrize("run", [kashi.evaluate, lambda m, *a: kashi.compile(m).run(*a)], ids=["evaluate", "compile"])
def test_custom_calls(registered, run):
    seen = []

    def function(call, x):
        seen.append((call.target, call.name, call.backend_config, str(call.shape), [str(s) for s in call.operand_shapes]))
        return np.asfortranarray(x * 2)

    module, x = module_of(CALL), np.arange(6, dtype=np.float32).reshape(2, 3)
    with pytest.raises(NotImplementedError):
        run(module, x)
    registered(function)
    assert (run(module, x) == 2 * x).all()
    assert seen == [("test.call", "y", "some text", "f32[2,3]{1,0}", ["f32[2,3]{1,0}"])]

    class Odd(Exception):
        pass

    def fails(call, x):
        raise Odd("of the function")

    registered(fails)
    with pytest.raises(Odd, match="of the function"):
        run(module, x)
    for bad in (None, x[0], x.astype(np.float64), (x, x), "text"):
        registered(lambda call, x, bad=bad: bad)
        with pytest.raises((TypeError, ValueError)):
            run(module, x)
    with pytest.raises(TypeError):
        kashi.register_custom_call("test.call", 3)


def test_custom_calls_of_tuples_and_devices(registered):
    module = module_of("""  x = f32[2] parameter(0)
  y = (f32[2], s32[]) custom-call(x), custom_call_target="test.call"
  f = f32[2] get-tuple-element(y), index=0
  ROOT s = f32[2] add(f, x)""", "HloModule m, replica_count=2")
    registered(lambda call, x: (10 * x, np.int32(3)))
    got = kashi.evaluate_on_devices(module, [[np.float32([1, 2])], [np.float32([3, 4])]])
    assert [g.tolist() for g in got] == [[11, 22], [33, 44]]
    registered(lambda call, x: 1 // 0)
    with pytest.raises(ZeroDivisionError):
        kashi.evaluate_on_devices(module, [[np.float32([1, 2])], [np.float32([3, 4])]])


def test_small_calls():
    """Their arguments and results do not become values: all that can be passed must give the same."""
    module = module_of("""  x = f32[2,3] parameter(0)
  n = s32[] parameter(1)
  f = f32[] convert(n)
  b = f32[2,3] broadcast(f), dimensions={}
  y = f32[2,3] add(x, b)
  ROOT t = (f32[2,3], s32[]) tuple(y, n)""")
    program = kashi.compile(module)
    x = np.arange(6, dtype=np.float32).reshape(2, 3)
    unaligned = np.frombuffer(b"\0" + x.tobytes(), np.uint8)[1:].view(np.float32).reshape(2, 3)
    big = np.zeros((4, 6), np.float32)
    big[::2, ::2] = x
    read_only = x.copy()
    read_only.flags.writeable = False
    for same in (x, x.tolist(), np.asfortranarray(x), unaligned, big[::2, ::2], x.astype(">f4"), read_only, memoryview(x),
                 np.matrix(x)):
        if isinstance(same, list):
            same = np.float32(same)
        y, n = program.run(same, np.int32(7))
        assert type(y) is np.ndarray and (y == x + 7).all() and n == 7 and y.flags.writeable and y.flags.owndata
    assert program.run(x, np.array(7, np.int32))[1].shape == ()
    for bad in ((x, ), (x, 1.5), (x.T, np.int32(1)), (x.astype(np.int32), np.int32(1)), (None, np.int32(1)), (x, np.int64(2))):
        with pytest.raises((TypeError, ValueError)):
            program.run(*bad)
    empty = kashi.compile(module_of("  x = f32[0,3] parameter(0)\n  ROOT y = f32[0,3] negate(x)"))
    assert empty.run(np.zeros((0, 3), np.float32)).shape == (0, 3)
    nothing = kashi.compile(module_of("  ROOT y = () tuple()"))
    assert nothing.run() == ()
    same = kashi.compile(module_of("  ROOT x = f32[3] parameter(0)"))
    a = np.float32([1, 2, 3])
    b = same.run(a)
    b[:] = 0
    assert a.tolist() == [1, 2, 3]


def test_calls_from_several_threads():
    program = kashi.compile(module_of("  x = f32[64] parameter(0)\n  ROOT y = f32[64] multiply(x, x)"))
    wrong = []

    def work(seed):
        x = np.full(64, seed, np.float32)
        for _ in range(200):
            if not (program.run(x) == seed * seed).all():
                wrong.append(seed)

    threads = [threading.Thread(target=work, args=(seed, )) for seed in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_profile():
    module = module_of("""  x = f32[64,64] parameter(0)
  d = f32[64,64] dot(x, x), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  e = f32[64,64] exponential(d), metadata={op_name="jit(f)/exp" source_file="f.py" source_line=3}
  ROOT n = f32[64,64] negate(e), metadata={op_name="jit(f)/neg" source_file="f.py" source_line=4}""")
    program = kashi.compile(module)
    profile = program.profile(np.zeros((64, 64), np.float32), runs=4)
    assert profile["engine"] == program.engine and profile["runs"] == 3 and profile["run_ms"] > 0
    steps = profile["steps"]
    assert abs(sum(s["share"] for s in steps) - 1 + profile["between_steps_ms"] / profile["run_ms"]) < 1e-6
    assert any(s["opcode"] == "dot" and s["flops"] == 2 * 64**3 and s["calls"] == 1 for s in steps)
    assert any("exponential" in s["operations"] or s["opcode"] == "exponential" for s in steps)
    assert any((s["op_name"], s["source"]) == ("jit(f)/neg", "f.py:4") for s in steps)
    with pytest.raises(ValueError):
        program.profile(np.zeros((64, 64), np.float32), runs=0)
    with pytest.raises(TypeError):
        program.profile()


def test_programs_that_are_not_partitioned_yet():
    module = kashi.parse("""HloModule m, num_partitions=2
ENTRY e {
  x = f32[4] parameter(0), sharding={devices=[2]<=[2]}
  ROOT y = f32[4] negate(x), sharding={devices=[2]<=[2]}
}
""")
    program = kashi.compile(module)
    assert program.engine == "evaluator"
    assert program.run(np.float32([1, 2, 3, 4])).tolist() == [-1, -2, -3, -4]
