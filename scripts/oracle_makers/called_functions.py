"""Makers of operations with computations of every kind: reductions, windows, gathers, scatters, sorts."""
import numpy as np

from oracle_makers.program import COMPLEX, FLOAT_KINDS, INTEGER_KINDS, LOOSE, dtype_of, join, maker
from oracle_makers.reductions import reducer, window_text


@maker("reduce-kinds")
def reduce_kinds(p, _):
    kind = p.pick(["f16", "bf16", "c64", "c128", "s4", "u4", "f8e5m2"])
    op = p.pick(["add"] +(["maximum", "minimum"] if kind not in COMPLEX else[]) +
                (["multiply"] if kind[0] in "suc" else[]))
    sizes = p.sizes(1, 3, zero=0)
    which = sorted(p.random.sample(range(len(sizes)), p.random.randint(1, len(sizes))))
    if np.prod([sizes[d] for d in which]) == 1:
        return
    x, init = p.parameter(kind, sizes, "whole"), p.parameter(kind, [], "whole")
    p.loosen(LOOSE)
    p.emit(kind, [n for d, n in enumerate(sizes) if d not in which],
           f"reduce({x.name}, {init.name}), dimensions={join(which)}, to_apply={p.scalar_function(op, kind)}")


@maker("reduce-ordered")
def reduce_ordered(p, _):
    """A function that does not commute: XLA folds from the left, the initial value first."""
    kind = p.pick(["s32", "u8", "s64", "u16"])
    sizes = p.sizes(1, 3, 7, zero=0)
    which = sorted(p.random.sample(range(len(sizes)), p.random.randint(1, len(sizes))))
    if np.prod([sizes[d] for d in which]) == 1:
        return
    x, init = p.parameter(kind, sizes, "whole"), p.parameter(kind, [], "whole")
    f = p.computation(
        [kind, kind],
        [f"c = {kind}[] constant(3)", f"m = {kind}[] multiply(a0, c)",
         f"r = {kind}[] {p.pick(['add', 'subtract'])}(m, a1)"],
        "r")
    p.emit(kind, [n for d, n in enumerate(sizes) if d not in which],
           f"reduce({x.name}, {init.name}), dimensions={join(which)}, to_apply={f}")


@maker("reduce-several")
def reduce_several(p, _):
    sizes = p.sizes(1, 3, 6, zero=0)
    which = sorted(p.random.sample(range(len(sizes)), p.random.randint(1, len(sizes))))
    if np.prod([sizes[d] for d in which]) == 1:
        return
    real = p.pick(["f32", "f64"])
    kinds = [p.pick(["s32", real, "u8", "s64"]) for _ in range(p.random.randint(2, 3))]
    n = len(kinds)
    xs, inits = [p.parameter(k, sizes, "whole") for k in kinds], [p.parameter(k, [], "whole") for k in kinds]
    body = [f"c = pred[] compare(a0, a{n}), direction={p.pick(['LT', 'GE'])}"]
    for i, k in enumerate(kinds):
        body.append(
            f"r{i} = {k}[] " +
            (f"select(c, a{i}, a{n + i})"
             if i ==0 else p.pick(
                 [f"add(a{i}, a{n + i})", f"subtract(a{n + i}, a{i})", f"select(c, a{i}, a{n + i})"])))
    shape = "(" + ", ".join(k + "[]" for k in kinds) + ")"
    body.append(f"r = {shape} tuple({', '.join(f'r{i}' for i in range(n))})")
    f = p.computation(kinds * 2, body, "r")
    out = [s for d, s in enumerate(sizes) if d not in which]
    p.emit_tuple(
        [(k, out) for k in kinds],
        f"reduce({', '.join(v.name for v in xs + inits)}), dimensions={join(which)}, to_apply={f}")


@maker("reduce-calls")
def reduce_calls(p, _):
    kind = p.pick(["s32", "f32"])
    sizes = [p.random.randint(2, 5), p.random.randint(2, 7)]
    g = p.computation([kind, kind], [f"m = {kind}[] maximum(a0, a1)",
                      f"c = {kind}[] constant(2)", f"r = {kind}[] add(m, c)"], "r")
    f = p.computation([kind, kind], [f"r = {kind}[] call(a0, a1), to_apply={g}"], "r")
    x, init = p.parameter(kind, sizes, values="finite"), p.parameter(kind, [], "whole")
    p.emit(kind, [sizes[0]], f"reduce({x.name}, {init.name}), dimensions={{1}}, to_apply={f}")


@maker("cumulative")
def cumulative(p, _):
    kind = p.pick(["f32", "s32", "f64", "bf16", "f16", "s8", "u32", "c64"])
    op = p.pick(["add"] +(["maximum", "minimum"] if kind !="c64" else[]) +
                (["multiply"] if kind in INTEGER_KINDS else[]))
    n, m, d = p.pick([3, 9, 33, 130]), p.pick([1, 3, 17]), p.below(2)
    sizes = [n, m] if d == 0 else [m, n]
    x = p.parameter(kind, sizes, array=p.numbers.integers(0 if kind[0] == "u" else -2, 3, sizes).astype(dtype_of(kind)))
    init = p.parameter(kind, [], array=np.asarray(0 if op == "add" else 1).astype(dtype_of(kind)))
    size, pad = ([n, 1], f"{n - 1}_0x0_0") if d == 0 else ([1, n], f"0_0x{n - 1}_0")
    if p.chance(0.3):
        pad = f"0_{n - 1}x0_0" if d == 0 else f"0_0x0_{n - 1}"
    p.loosen(LOOSE)
    p.emit(
        kind, sizes,
        f"reduce-window({x.name}, {init.name}), window={{size={size[0]}x{size[1]} pad={pad}}}, to_apply={p.scalar_function(op, kind)}")


@maker("reduce-window-kinds")
def reduce_window_kinds(p, _):
    kind = p.pick(["f64", "bf16", "f16", "s16", "u8", "s64", "c64", "pred"])
    x = p.parameter(kind, p.sizes(1, 4, 7), "whole")
    # Compiled code folds f16 in f32: products that are too large for f16 on the way are not there.
    _, f = reducer(p, kind) if kind not in ("c64", "f16") else ("", p.scalar_function("add", kind))
    init = p.parameter(kind, [], "whole")
    window, out = window_text(p, x.sizes)
    p.loosen(LOOSE)
    p.emit(kind, out, f"reduce-window({x.name}, {init.name}), {window}, to_apply={f}")


@maker("reduce-window-several")
def reduce_window_several(p, _):
    kind = p.pick(["f32", "s32", "s64"])
    sizes = p.sizes(1, 2, 7, zero=0)
    x = p.parameter(kind, sizes, "whole", array=p.distinct(sizes))
    i = p.parameter("s32", sizes)
    inits = [p.parameter(kind, [], "whole"), p.parameter("s32", [])]
    f = p.computation([kind, "s32", kind, "s32"],
                      [f"c = pred[] compare(a0, a2), direction={p.pick(['GE', 'LT'])}",
                       f"v = {kind}[] select(c, a0, a2)", "w = s32[] select(c, a1, a3)",
                       f"r = ({kind}[], s32[]) tuple(v, w)"],
                      "r")
    window, out = window_text(p, x.sizes)
    p.emit_tuple([(kind, out), ("s32", out)],
                 f"reduce-window({x.name}, {i.name}, {inits[0].name}, {inits[1].name}), {window}, to_apply={f}")


@maker("select-and-scatter-padded")
def select_and_scatter_padded(p, _):
    kind = p.pick(["f32", "s32", "f64", "bf16", "s64"])
    n, size, stride = p.random.randint(4, 12), p.random.randint(2, 4), p.random.randint(1, 3)
    lo, hi = p.below(size), p.below(size)
    out = (n + lo + hi - size) // stride + 1
    m = p.random.randint(1, 3)
    x, source, init = p.parameter(
        kind, [n, m],
        "whole"), p.parameter(
        kind, [out, m],
        "whole"), p.parameter(
        kind, [],
        "whole")
    s = p.computation([kind, kind], [f"r = pred[] compare(a0, a1), direction={p.pick(['GE', 'LE', 'GT'])}"], "r")
    p.loosen(LOOSE)
    p.emit(
        kind, [n, m],
        f"select-and-scatter({x.name}, {source.name}, {init.name}), window={{size={size}x1 stride={stride}x1 pad={lo}_{hi}x0_0}}, "
        f"select={s}, scatter={p.scalar_function('add', kind)}")


@maker("gather-batching")
def gather_batching(p, _):
    kind = p.pick(["f32", "s8", "c64", "s64", "pred"])
    b, n, m, k = (p.random.randint(1, 5) for _ in range(4))
    x = p.parameter(kind, [b, n, m])
    indices = p.parameter(p.pick(["s32", "u8", "s64", "u32"]), [b, k], array=p.numbers.integers(0, 7, [b, k]))
    w = p.random.randint(1, m)
    p.emit(
        kind, [b, k, w],
        f"gather({x.name}, {indices.name}), offset_dims={{2}}, collapsed_slice_dims={{1}}, start_index_map={{1}}, "
        f"operand_batching_dims={{0}}, start_indices_batching_dims={{0}}, index_vector_dim=2, slice_sizes={{1,1,{w}}}")


@maker("gather-rows")
def gather_rows(p, _):
    kind = p.pick(["f32", "bf16", "s8", "f64", "c128"])
    n, m, k = p.random.randint(3, 40), p.pick([1, 3, 17, 65]), p.random.randint(1, 40)
    x = p.parameter(kind, [n, m])
    index = p.pick(["s32", "s64", "u16", "s8"])
    indices = p.parameter(index, [k], array=p.numbers.integers(0 if index[0] == "u" else -3, n + 3, [k]))
    p.emit(
        kind, [k, m],
        f"gather({x.name}, {indices.name}), offset_dims={{1}}, collapsed_slice_dims={{0}}, start_index_map={{0}}, "
        f"index_vector_dim=1, slice_sizes={{1,{m}}}")


@maker("scatter-batching")
def scatter_batching(p, _):
    kind = p.pick(["s32", "f32", "u8", "s64"])
    b, n, m, k = (p.random.randint(1, 5) for _ in range(4))
    x, u = p.parameter(kind, [b, n, m], "whole"), p.parameter(kind, [b, k, m], "whole")
    indices = p.parameter("s32", [b, k], array=p.numbers.integers(-1, n + 1, [b, k]))
    p.emit(
        kind, x.sizes,
        f"scatter({x.name}, {indices.name}, {u.name}), update_window_dims={{2}}, inserted_window_dims={{1}}, "
        f"scatter_dims_to_operand_dims={{1}}, input_batching_dims={{0}}, scatter_indices_batching_dims={{0}}, index_vector_dim=2, "
        f"to_apply={p.scalar_function(p.pick(['add', 'multiply', 'maximum']), kind)}")


@maker("scatter-assign")
def scatter_assign(p, _):
    kind = p.pick(["s32", "f32", "bf16", "f64", "u8", "pred", "c64", "s4"])
    n, m = p.random.randint(2, 40), p.pick([1, 3, 17])
    k = p.random.randint(1, n)
    x, u = p.parameter(kind, [n, m]), p.parameter(kind, [k, m])
    indices = p.parameter("s32", [k, 1], array=p.numbers.permutation(n)[:k].reshape(k, 1))
    f = f"f{len(p.computations)}"
    p.computations.append(f"{f} {{\n  a0 = {kind}[] parameter(0)\n  ROOT a1 = {kind}[] parameter(1)\n}}")
    p.emit(
        kind, [n, m],
        f"scatter({x.name}, {indices.name}, {u.name}), update_window_dims={{1}}, inserted_window_dims={{0}}, "
        f"scatter_dims_to_operand_dims={{0}}, index_vector_dim=1, unique_indices={p.pick(['true', 'false'])}, to_apply={f}")


@maker("scatter-ordered")
def scatter_ordered(p, _):
    kind = p.pick(["s32", "s64", "u8"])
    n, k = p.random.randint(2, 9), p.random.randint(1, 20)
    x, u = p.parameter(kind, [n], "whole"), p.parameter(kind, [k], "whole")
    indices = p.parameter("s32", [k], array=p.numbers.integers(-1, n + 1, [k]))
    f = p.computation([kind, kind], [f"c = {kind}[] constant(3)",
                      f"m = {kind}[] multiply(a0, c)", f"r = {kind}[] subtract(m, a1)"], "r")
    p.emit(
        kind, [n],
        f"scatter({x.name}, {indices.name}, {u.name}), update_window_dims={{}}, inserted_window_dims={{0}}, "
        f"scatter_dims_to_operand_dims={{0}}, index_vector_dim=1, to_apply={f}")


@maker("scatter-several")
def scatter_several(p, _):
    n, k = p.random.randint(2, 9), p.random.randint(1, 12)
    kinds = [p.pick(["s32", "f32", "u8"]) for _ in range(2)]
    xs, us = [p.parameter(t, [n], "whole") for t in kinds], [p.parameter(t, [k], "whole") for t in kinds]
    indices = p.parameter("s32", [k], array=p.numbers.integers(-1, n + 1, [k]))
    shape = f"({kinds[0]}[], {kinds[1]}[])"
    f = p.computation(kinds * 2, [f"x = {kinds[0]}[] add(a0, a2)",
                      f"y = {kinds[1]}[] maximum(a1, a3)", f"r = {shape} tuple(x, y)"], "r")
    p.emit_tuple(
        [(t, [n]) for t in kinds],
        f"scatter({xs[0].name}, {xs[1].name}, {indices.name}, {us[0].name}, {us[1].name}), update_window_dims={{}}, "
        f"inserted_window_dims={{0}}, scatter_dims_to_operand_dims={{0}}, index_vector_dim=1, to_apply={f}")


@maker("sort-jax")
def sort_jax(p, _):
    """JAX's comparator of floating point: 0 and -0 are equal, NaNs too and last; then by the next key."""
    kind, sizes = p.pick(FLOAT_KINDS), p.pick([[p.random.randint(2, 40)], [3, p.random.randint(2, 20)]])
    x = p.parameter(kind, sizes, array=p.numbers.choice(
                        [0.0, -0.0, np.nan, np.inf, -np.inf, 1.0, 2.0, -1.0],
                        sizes).astype(dtype_of(kind)))
    y, i = p.parameter("s32", sizes), p.parameter("u8", sizes)
    two = p.chance(0.5)
    body = [f"zero = {kind}[] constant(0)", f"none = {kind}[] constant(nan)"]
    for a, b in (("a0", "x"), ("a1", "y")):
        body += [f"{b}z = pred[] compare({a}, zero), direction=EQ", f"{b}s = {kind}[] select({b}z, zero, {a})",
                 f"{b}n = pred[] compare({a}, {a}), direction=NE", f"{b} = {kind}[] select({b}n, none, {b}s)"]
    body.append(f"lt = pred[] compare(x, y), direction=LT, type=TOTALORDER")
    if two:
        body +=["eq = pred[] compare(x, y), direction=EQ, type=TOTALORDER",
                 "lt2 = pred[] compare(a2, a3), direction=LT", "r = pred[] select(eq, lt2, lt)"]
    f = p.computation([kind, kind, "s32", "s32", "u8", "u8"], body, "r" if two else "lt")
    p.emit_tuple([(kind, sizes), ("s32", sizes), ("u8", sizes)],
                 f"sort({x.name}, {y.name}, {i.name}), dimensions={{{len(sizes) - 1}}}, is_stable=true, to_apply={f}")


@maker("topk-ties")
def topk_ties(p, _):
    kind, sizes = p.pick(["f32", "f32", "bf16", "f16", "s32"]), p.pick(
        [[p.random.randint(2, 70)], [3, p.random.randint(2, 40)]])
    values = [0.0, -0.0, np.nan, np.inf, -np.inf, 1.0, 2.0, -1.0] if kind != "s32" else [0, 1, 2, -1]
    x = p.parameter(kind, sizes, array=p.numbers.choice(values, sizes).astype(dtype_of(kind)))
    k = p.random.randint(1, sizes[-1])
    p.emit_tuple([(kind, sizes[:-1] + [k]), ("s32", sizes[:-1] + [k])],
                 f"topk({x.name}), k={k}, largest={p.pick(['true', 'false'])}")
