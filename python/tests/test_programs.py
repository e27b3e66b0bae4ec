"""Programs: custom calls in Python, several devices, profiles, and calls of small programs."""
import concurrent.futures
import gc
import signal
import threading
import time
import weakref

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
    assert program.engine == ("cpu" if kashi.HAS_COMPILED_ENGINE else "evaluator")
    assert program.run(np.float32([1, 2, 3, 4])).tolist() == [-1, -2, -3, -4]


def test_functions_of_one_program(registered):
    module, x = module_of(CALL), np.ones((2, 3), np.float32)
    double = {"test.call": lambda call, x: 2 * x}
    program = kashi.compile(module, custom_calls=double)
    registered(lambda call, x: 3 * x)
    assert (program.run(x) == 2).all()  # before those that are registered
    assert (kashi.compile(module).run(x) == 3).all()
    double["test.call"] = None  # the program has a copy of the dict
    assert (program.run(x) == 2).all()
    assert (kashi.evaluate(module, x, custom_calls={"test.call": lambda call, x: -x}) == -1).all()
    devices = kashi.parse(str(module).replace("HloModule m", "HloModule m, replica_count=2"))
    got = kashi.evaluate_on_devices(devices, [[x], [x]], custom_calls={"test.call": lambda call, x: 4 * x})
    assert (got[1] == 4).all()
    assert (kashi.compile(module, custom_calls={}).run(x) == 3).all()


@pytest.mark.parametrize("use", [kashi.compile, lambda m, **k: kashi.evaluate(m, np.ones((2, 3), np.float32), **k),
                                 lambda m, **k: kashi.evaluate_on_devices(m, [[np.ones((2, 3), np.float32)]], **k)],
                         ids=["compile", "evaluate", "evaluate_on_devices"])
def test_functions_that_nothing_calls(use):
    """They would do nothing, without a word: a misspelt target, mostly."""
    module = module_of(CALL)
    with pytest.raises(ValueError, match=r"custom_calls has `test\.cal`, `other`, but no custom call of module m has such a "
                                         r"target: its targets are `test\.call`"):
        use(module, custom_calls={"test.cal": print, "test.call": print, "other": print})
    with pytest.raises(ValueError, match="it has no custom calls"):
        use(module_of("  ROOT x = f32[2,3] parameter(0)"), custom_calls={"test.call": print})
    for bad in ([print], {"test.call": 3}, {7: print}, "test.call"):
        with pytest.raises(TypeError, match="custom_calls"):
            use(module, custom_calls=bad)


def test_a_program_and_its_function_in_a_cycle_are_collected():
    class Holder:
        def double(self, call, x):
            return 2 * x

    holder = Holder()
    holder.program = kashi.compile(module_of(CALL), custom_calls={"test.call": holder.double})
    alive = weakref.ref(holder)
    del holder
    gc.collect()
    assert alive() is None


def test_functions_and_runs_that_call_each_other_without_end():
    module, x = module_of(CALL), np.ones((2, 3), np.float32)
    depths = []

    def again(call, x, depth=0):
        depths.append(depth)
        return kashi.evaluate(module, x, custom_calls={"test.call": lambda call, x: again(call, x, depth + 1)})

    def observes(instruction, value):
        kashi.evaluate(module, x, observer=observes)

    for run in (lambda: again(None, x), lambda: kashi.evaluate(module, x, observer=observes)):
        with pytest.raises(RecursionError):
            run()
        with concurrent.futures.ThreadPoolExecutor(1) as thread:
            assert isinstance(thread.submit(run).exception(), RecursionError)
    assert max(depths) > 20
    ten = {"test.call": lambda call, x: x}
    for _ in range(10):
        ten = {"test.call": lambda call, x, inner=ten: kashi.compile(module, custom_calls=inner).run(x) + 1}
    assert (kashi.evaluate(module, x, custom_calls=ten) == 11).all()


ENDLESS = """HloModule m{head}
body {{
  s = (s32[], f32[{size}]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  x = f32[{size}] get-tuple-element(s), index=1
  c = f32[{size}] cosine(x)
  ROOT r = (s32[], f32[{size}]) tuple(i, c)
}}
cond {{
  s = (s32[], f32[{size}]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  zero = s32[] constant(0)
  ROOT p = pred[] compare(i, zero), direction=EQ
}}
ENTRY e {{
  i = s32[] parameter(0)
  x = f32[{size}] parameter(1)
  s = (s32[], f32[{size}]) tuple(i, x)
  ROOT w = (s32[], f32[{size}]) while(s), condition=cond, body=body
}}
"""
RUNS = {
    "evaluate": lambda m, *a: kashi.evaluate(m, *a),
    "compile": lambda m, *a: kashi.compile(m).run(*a),
    "profile": lambda m, *a: kashi.compile(m).profile(*a),
    "devices": lambda m, *a: kashi.evaluate_on_devices(m, [a, a]),
}


@pytest.mark.parametrize("size", [3, 100000])
@pytest.mark.parametrize("name", RUNS)
def test_interrupts(name, size):
    """Ctrl-C ends a run that would never end, and the next run is not ended by it."""
    module = kashi.parse(ENDLESS.format(size=size, head=", replica_count=2" if name == "devices" else ""))
    x = np.ones(size, np.float32)
    for _ in range(2):
        timer = threading.Timer(.2, signal.pthread_kill, (threading.main_thread().ident, signal.SIGINT))
        timer.start()
        with pytest.raises(KeyboardInterrupt):
            RUNS[name](module, np.int32(0), x)
        timer.join()
        assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    program = kashi.compile(kashi.parse(ENDLESS.format(size=size, head="")))
    assert program.run(np.int32(1), x)[0] == 1


def test_a_handler_of_the_program_is_called_after_the_run():
    module = module_of("""  x = f32[200000] parameter(0)
  ROOT y = f32[200000] custom-call(x), custom_call_target="test.call\"""")
    seen = []
    before = signal.signal(signal.SIGINT, lambda *arguments: seen.append(arguments[0]))
    try:
        def interrupts(call, x):
            signal.pthread_kill(threading.main_thread().ident, signal.SIGINT)
            return x + 1

        x = np.zeros(200000, np.float32)
        assert (kashi.evaluate(module, x, custom_calls={"test.call": interrupts}) == 1).all() and seen == [signal.SIGINT]
    finally:
        signal.signal(signal.SIGINT, before)


def test_an_interrupt_within_a_function():
    """Python raises it there. A function that catches it does not save the run."""
    module, x = module_of(CALL), np.ones((2, 3), np.float32)

    def interrupts(call, x):
        signal.pthread_kill(threading.main_thread().ident, signal.SIGINT)
        return x

    def catches(call, x):
        try:
            for _ in range(10):
                interrupts(call, x)
        except KeyboardInterrupt:
            pass
        time.sleep(.05)
        return x

    loop = ENDLESS.format(size=3, head="").replace("c = f32[3] cosine(x)", 'c = f32[3] custom-call(x), custom_call_target="test.call"')
    for function in (interrupts, catches):
        with pytest.raises(KeyboardInterrupt):
            kashi.evaluate(kashi.parse(loop), np.int32(0), np.ones(3, np.float32), custom_calls={"test.call": function})
    assert (kashi.evaluate(module, x, custom_calls={"test.call": lambda call, x: x}) == x).all()
