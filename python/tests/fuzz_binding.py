#!/usr/bin/env python3
"""A fuzzer of the binding: random dtypes, strides, layouts, texts and edits, whose answers are checked where they can be.

    PYTHONPATH=build/python python/tests/fuzz_binding.py --seconds 60 --seed 7

Nothing that is passed may end the interpreter, read or write out of bounds (run it under AddressSanitizer: ./dev check
does), or raise anything but the exceptions of docs/python.md. Ends with status 1 and the seed of the round that did.
"""
import argparse
import gc
import random
import sys
import time
import traceback

import numpy as np

import kashi

ALLOWED = (TypeError, ValueError, IndexError, OverflowError, KeyError, NotImplementedError, MemoryError, ReferenceError,
           BufferError, kashi.Error)
TYPES = [row for row in ("pred s1 s2 s4 s8 s16 s32 s64 u1 u2 u4 u8 u16 u32 u64 f16 f32 f64 c64 c128 bf16 f4e2m1fn f6e2m3fn "
                         "f6e3m2fn f8e3m4 f8e4m3 f8e4m3b11fnuz f8e4m3fn f8e4m3fnuz f8e5m2 f8e5m2fnuz f8e8m0fnu").split()]
ODD_DTYPES = ["O", "U3", "S5", "V7", "M8[s]", "m8[ns]", ">f4", ">i8", "<i2", "longdouble", "clongdouble",
              [("a", "i4"), ("b", "f8")], ">c16", "?"]
NUMBERS = [0, 1, -1, 2, 3, 7, 8, 127, 128, 2**31 - 1, 2**31, -2**31, 2**62, 2**63 - 1, -2**63, 2**63, 2**64, 2**70, 1.5,
           None, "1", True, float("nan")]


class Subclass(np.ndarray):
    """An ndarray that says it is something else."""

    def __array_finalize__(self, other):
        pass


def layout_text(rng, rank, sizes_of_tiles=(1, 2, 3, 4, 8)):
    order = rng.sample(range(rank), rank)
    tiles = ""
    if rank and rng.random() < .6:
        for _ in range(rng.choice([1, 1, 2, 3])):
            tile = [rng.choice(sizes_of_tiles) for _ in range(rng.randrange(1, rank + 1))]
            if rng.random() < .1:
                tile[0] = "*"
            tiles += f"({','.join(map(str, tile))})"
        tiles = f":T{tiles}"
    return f"{{{','.join(map(str, order))}{tiles}}}"


def sizes(rng):
    rank = rng.choice([0, 1, 2, 2, 3, 3, 4, 5])
    return tuple(rng.choice([0, 1, 2, 3, 4, 5, 7, 9, 17]) for _ in range(rank)) if rank < 4 else \
        tuple(rng.choice([0, 1, 2, 3, 5]) for _ in range(rank))


def strided(rng, dimensions, dtype):
    """An array of these sizes on a part of some memory: gaps, any order, negative and zero strides."""
    dtype = np.dtype(dtype)
    order = rng.sample(range(len(dimensions)), len(dimensions))
    strides, step = [0] * len(dimensions), dtype.itemsize * rng.choice([1, 1, 2])
    offset = rng.choice([0, 0, 1, 3])
    at = offset
    for d in order:
        if rng.random() < .08 and dimensions[d] > 1:
            continue  # stride 0
        strides[d] = step
        step *= max(1, dimensions[d])
        if rng.random() < .3:
            step += dtype.itemsize * rng.choice([0, 1, 3])
        if rng.random() < .25 and dimensions[d] > 0:
            at += strides[d] * (dimensions[d] - 1)
            strides[d] = -strides[d]
    bits = np.frombuffer(rng.randbytes(step + offset + dtype.itemsize + 64), np.uint8).copy()
    if dtype.kind == "b" or dtype.itemsize == 1:
        bits &= 1  # a pred, and the narrow types, have no other values
    return np.ndarray(dimensions, dtype, bits.data, at, strides)


def any_array(rng):
    dtype = rng.choice(ODD_DTYPES) if rng.random() < .2 else kashi.dtype(rng.choice(TYPES))
    dimensions = sizes(rng)
    try:
        x = np.zeros(dimensions, dtype) if np.dtype(dtype).hasobject else strided(rng, dimensions, dtype)
    except (TypeError, ValueError):
        x = np.zeros(dimensions, dtype)
    kind = rng.randrange(8)
    if kind == 0:
        x.flags.writeable = False
    elif kind == 1:
        x = x.view(Subclass)
    elif kind == 2 and x.ndim == 2:
        x = np.ma.masked_array(x)
    elif kind == 3 and x.dtype.kind in "iufc" and x.size:
        return x.tolist()
    return x


def any_object(rng):
    """Anything that may be passed for a buffer."""
    kind = rng.randrange(12)
    if kind == 0:
        return rng.randbytes(rng.randrange(64))
    if kind == 1:
        return bytearray(rng.randrange(64))
    if kind == 2:
        view = memoryview(bytearray(16))
        view.release()
        return view
    if kind == 3:
        return rng.choice([None, 3, "text", object(), [1, [2]], [], {}, (), 1.5, np, kashi, rng])
    if kind == 4:
        return memoryview(rng.randbytes(32))[::2]
    return any_array(rng)


def shape_for(rng, x):
    """A shape that fits the array, mostly."""
    if not isinstance(x, np.ndarray) or rng.random() < .1:
        return kashi.Shape(f"{rng.choice(TYPES)}[{','.join(map(str, sizes(rng)))}]")
    dimensions = list(x.shape)
    if dimensions and rng.random() < .05:
        dimensions[rng.randrange(len(dimensions))] += rng.choice([-1, 1, 100, 10**9])
    name = rng.choice(TYPES)
    if rng.random() < .95:
        name = kashi.primitive_type(x.dtype)
    layout = layout_text(rng, len(dimensions)) if dimensions and rng.random() < .9 else ""
    return kashi.Shape(f"{name}[{','.join(map(str, dimensions))}]{layout}")


def bits_of(array):
    return np.ascontiguousarray(array).tobytes()


def fuzz_relayout(rng):
    x = any_object(rng)
    shape = shape_for(rng, x)
    threads = rng.choice([0, 1, 1, 2, 3, -1])
    out = any_object(rng) if rng.random() < .2 else None
    buffer = kashi.tile(x, shape, out, threads=threads)
    want = bits_of(np.asarray(x).astype(np.asarray(x).dtype.newbyteorder("="), copy=False))
    if out is None and x is not None:
        del x
        gc.collect(0)
    target = strided(rng, shape.dimensions, shape.dtype) if rng.random() < .4 else None
    got = kashi.untile(buffer, shape, target, threads=threads)
    assert bits_of(got) == want, shape
    for position in rng.sample(range(shape.positions), min(5, shape.positions)):
        index = shape.index(position)
        assert index is None or shape.offset(index) == position
    other = kashi.Shape(f"{shape.element_type}[{','.join(map(str, shape.dimensions))}]{layout_text(rng, shape.rank)}")
    moved = kashi.relayout(buffer, shape, other, any_object(rng) if rng.random() < .1 else None)
    assert bits_of(kashi.untile(moved, other)) == want


def fuzz_untile(rng):
    x = any_object(rng)
    shape = shape_for(rng, x)
    out = any_object(rng) if rng.random() < .5 else None
    if isinstance(x, np.ndarray) and x.size and rng.random() < .3:
        out = x.reshape(-1)[rng.randrange(x.size):]  # may share memory
    kashi.untile(x, shape, out)


def fuzz_shape(rng):
    text = f"{rng.choice(TYPES)}[{','.join(map(str, sizes(rng)))}]"
    shape = kashi.Shape(mutated(rng, text + (layout_text(rng, text.count(",") + 1) if rng.random() < .7 else "")))
    for name in ("bytes", "dimensions", "layout", "positions", "physical_dimensions", "expansion", "dtype", "elements"):
        try:
            getattr(shape, name)
        except ALLOWED:
            pass
    number = rng.choice(NUMBERS)
    calls = [
        lambda: shape.index(number), lambda: shape.offset([rng.choice(NUMBERS) for _ in range(rng.randrange(4))]),
        lambda: shape.offset(number), lambda: shape.replace(layout=layout_text(rng, rng.randrange(4))),
        lambda: shape.replace(dimensions=[rng.choice(NUMBERS)]), lambda: shape.for_target(rng.choice(["v2", "v5e", "x", "tpu7x"])),
        lambda: kashi.Layout([rng.choice(NUMBERS)], [(rng.choice(NUMBERS), )], rng.choice([0, 4, -5, 2**40]), rng.choice([0, 300])),
        lambda: kashi.Tile([rng.choice(NUMBERS + ["*"])]), lambda: shape.advice("v5e"), lambda: kashi.Shape.tuple_of([shape, number]),
        lambda: kashi.broadcast_shapes(shape, shape, [rng.choice(NUMBERS)]),
        lambda: kashi.Shape.array(rng.choice(["f32", number, np.float32]), [rng.choice(NUMBERS), 3])
    ]
    for call in rng.sample(calls, 4):
        try:
            call()
        except ALLOWED:
            pass


MODULE = """HloModule m, replica_count=1

add {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT s = f32[] add(a, b)
}

ENTRY e {
  x = f32[2,3]{1,0} parameter(0), metadata={op_name="f/x" source_file="f.py" source_line=7}
  n = s8[4]{0} parameter(1)
  zero = f32[] constant(0)
  r = f32[2]{0} reduce(x, zero), dimensions={1}, to_apply=add
  m = s8[4]{0} negate(n)
  c = f32[2]{0} custom-call(r), custom_call_target="fuzz.call"
  ROOT t = (f32[2]{0}, s8[4]{0}, f32[2,3]{1,0}) tuple(c, m, x)
}
"""


def mutated(rng, text):
    for _ in range(rng.choice([0, 0, 1, 2, 5])):
        if not text:
            break
        at = rng.randrange(len(text))
        text = rng.choice([
            text[:at] + rng.choice("{}[](),:=%\"0179-*xT?<\n é\udc80") + text[at:], text[:at] + text[at + 1:],
            text[:at] + text[at:at + 9] * 2 + text[at:]
        ])
    return text


def fuzz_programs(rng):
    module = kashi.parse(mutated(rng, MODULE) + "\n")
    answer = rng.choice([lambda call, x: 2 * x, lambda call, x: any_object(rng), lambda call, x: 1 // 0, None])
    own = None
    if answer is not None and rng.random() < .5:
        own = {rng.choice(["fuzz.call"] * 9 + ["fuzz.cal", 3]): rng.choice([answer] * 9 + [7])}
    kashi.register_custom_call("fuzz.call", None if own else answer)
    observer = rng.choice([None, None, lambda i, v: str(i), lambda i, v: module.entry.set_root(rng.choice(module.entry.instructions))])
    run = lambda m, *a: kashi.evaluate(m, *a, observer=observer, custom_calls=own)
    if rng.random() < .05:
        run = lambda m, *a: kashi.compile(m, custom_calls=own).run(*a)
    arguments = []
    for shape in module.program_shape.parameters:
        x = strided(rng, shape.dimensions, shape.dtype) if rng.random() < .8 else any_object(rng)
        arguments.append(x)
    if rng.random() < .1:
        arguments.append(any_object(rng))
    results = run(module, *arguments)
    del arguments
    gc.collect(0)
    for leaf in results if isinstance(results, tuple) else (results, ):
        if isinstance(leaf, np.ndarray):
            bits_of(leaf)


def fuzz_editing(rng):
    module = kashi.parse(MODULE)
    handles = list(module.instructions) + list(module.computations)
    for _ in range(rng.randrange(1, 12)):
        one, other = rng.choice(handles), rng.choice(handles)
        calls = [
            lambda: one.replace(other), lambda: one.remove(), lambda: one.set_operand(rng.choice([0, 1, -1, 5]), other),
            lambda: one.replace_uses(other), lambda: one.set_root(other), lambda: module.remove_dead_code(),
            lambda: handles.append(one.computation.add(rng.choice(["negate", "add", "tuple", "reduce", "while", "parameter", "x"]), [
                other, rng.choice([other, None, 3])][:rng.randrange(3)], shape=rng.choice([None, "f32[2]", 3, one]), **rng.choice([
                    {}, {"dimensions": rng.choice([(0, ), 3, "{0}", None, [[1]]])}, {"to_apply": other}, {"metadata": "x"}]))),
            lambda: str(one), lambda: one.attributes, lambda: one.users, lambda: one.value, lambda: one.set_op_name("\0é\udc80")
        ]
        try:
            rng.choice(calls)()
        except (*ALLOWED, AttributeError):
            pass
    if rng.random() < .3:
        del module
        gc.collect(0)
        for handle in handles:
            try:
                str(handle)
            except ReferenceError:
                pass
    else:
        kashi.parse(str(module))
        kashi.parse(module.to_proto())


def fuzz_protos(rng):
    data = bytearray(kashi.parse(MODULE).to_proto(rng.choice(["module", "hlo", "snapshot"])))
    for _ in range(rng.randrange(6)):
        data[rng.randrange(len(data))] = rng.randrange(256)
    if rng.random() < .3:
        del data[rng.randrange(len(data)):]
    module = kashi.parse(rng.choice([bytes, bytearray, memoryview])(data))
    module.verify()
    str(module)
    module._repr_html_()


def fuzz_builder(rng):
    builder = kashi.XlaBuilder("fuzz")
    ops = [builder.Parameter(i, f"{rng.choice(['f32', 's32', 'pred'])}[{','.join(map(str, sizes(rng)))}]") for i in range(3)]
    names = [name for name in dir(builder) if name[0].isupper() and name not in ("Build", "Parameter")]
    for _ in range(6):
        arguments = [rng.choice([*ops, rng.choice(NUMBERS), (0, 1), [rng.choice(ops)], "f32", kashi.parse(MODULE)])
                     for _ in range(rng.randrange(1, 5))]
        try:
            ops.append(getattr(builder, rng.choice(names))(*arguments))
        except ALLOWED:
            break
    builder.Build().verify()


TASKS = [fuzz_relayout, fuzz_relayout, fuzz_untile, fuzz_shape, fuzz_programs, fuzz_editing, fuzz_protos, fuzz_builder]


def run_round(seed):
    """Returns the name of the task, and whether it ran to its end: most should, now and then."""
    rng = random.Random(seed)
    task = rng.choice(TASKS)
    try:
        task(rng)
    except ALLOWED:
        return task.__name__, False
    except ZeroDivisionError:  # of a custom call
        return task.__name__, False
    return task.__name__, True


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, default=10)
    parser.add_argument("--seed", type=int, default=0, help="of the first round; each round has the next one")
    parser.add_argument("--rounds", type=int, default=sys.maxsize)
    arguments = parser.parse_args()
    end, rounds, completed = time.monotonic() + arguments.seconds, 0, dict.fromkeys((t.__name__ for t in TASKS), 0)
    while time.monotonic() < end and rounds < arguments.rounds:
        seed = arguments.seed + rounds
        try:
            name, is_complete = run_round(seed)
        except BaseException:
            traceback.print_exc()
            print(f"fuzz_binding.py: failed with --seed {seed} --rounds 1")
            return 1
        completed[name] += is_complete
        rounds += 1
    print(f"{rounds} rounds; to their end: {', '.join(f'{name[5:]} {count}' for name, count in completed.items())}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
