"""Makers of reductions, windows, sorts and maps."""
import numpy as np

from oracle_makers.program import FLOATS, INTEGERS, LOOSE, SIGNED, ULP, maker


def reducer(p, kind):
    ops = ["add", "multiply", "maximum", "minimum"] if kind not in ("pred",) else ["and", "or"]
    if kind in INTEGERS:
        ops += ["and", "or", "xor"]
    op = p.pick(ops)
    if kind in FLOATS and op in ("add", "multiply"):
        p.loosen(LOOSE)
    return op, p.scalar_function(op, kind)


@maker("reduce")
def reduce_(p, op):
    x = p.operand(INTEGERS + ["pred", "f32", "f64"], values="whole")
    _, f = reducer(p, x.kind)
    init = p.parameter(x.kind, [], "whole")
    # XLA's compiler forgets the initial value where there is one element to reduce.
    which = [d for d in range(len(x.sizes)) if p.chance(0.6)] or list(range(len(x.sizes)))
    if np.prod([x.sizes[d] for d in which]) == 1:
        return
    p.emit(x.kind, [n for d, n in enumerate(x.sizes) if d not in which],
           f"reduce({x.name}, {init.name}), dimensions={{{','.join(map(str, which))}}}, to_apply={f}")


@maker("reduce-argmax")
def reduce_variadic(p, op):
    x = p.operand(SIGNED + ["f32"], 1, values="whole", zero=0)
    i = p.parameter("s32", x.sizes)
    k = x.kind
    f = p.computation([k, "s32", k, "s32"], [
        "c = pred[] compare(a0, a2), direction=GE", f"v = {k}[] select(c, a0, a2)", "w = s32[] select(c, a1, a3)",
        f"r = ({k}[], s32[]) tuple(v, w)"], "r")
    inits = [p.parameter(k, [], "whole"), p.parameter("s32", [])]
    which = [p.below(len(x.sizes))]
    if x.sizes[which[0]] == 1:
        return
    sizes = [n for d, n in enumerate(x.sizes) if d not in which]
    p.emit_tuple(
        [(k, sizes),
         ("s32", sizes)],
        f"reduce({x.name}, {i.name}, {inits[0].name}, {inits[1].name}), dimensions={{{which[0]}}}, to_apply={f}")


def window_text(p, sizes, allow_dilation=True):
    while True:
        fields = {"size": [], "stride": [], "pad": [], "lhs_dilate": [], "rhs_dilate": []}
        out = []
        for n in sizes:
            size, stride = p.random.randint(1, 3), p.random.randint(1, 2)
            lo, hi = p.random.randint(-1, 2), p.random.randint(-1, 2)
            base, dilation = (p.pick([1, 1, 2]), p.pick([1, 1, 2])) if allow_dilation else (1, 1)
            padded = lo + (0 if n == 0 else (n - 1) * base + 1) + hi
            width = (size - 1) * dilation + 1
            out.append(0 if padded < width else (padded - width) // stride + 1)
            for key, value in zip(fields, (size, stride, f"{lo}_{hi}", base, dilation)):
                fields[key].append(str(value))
            if padded < 0:
                out.append(-1)
        if min(out, default=0) >= 0:
            break
    if not sizes:
        return "", []
    return "window={" + " ".join(f"{k}={'x'.join(v)}" for k, v in fields.items()) + "}", out


@maker("reduce-window")
def reduce_window(p, op):
    x = p.operand(["s32", "f32", "s8"], 1, values="whole")
    _, f = reducer(p, x.kind)
    init = p.parameter(x.kind, [], "whole")
    window, out = window_text(p, x.sizes)
    p.emit(x.kind, out, f"reduce-window({x.name}, {init.name}), {window}, to_apply={f}")


@maker("select-and-scatter")
def select_and_scatter(p, op):
    kind, sizes = p.pick(["s32", "f32"]), p.sizes(1, 2, zero=0)
    window, out = window_text(p, sizes, allow_dilation=False)
    if "-" in window or 0 in out:
        return
    x = p.parameter(kind, sizes, "whole", array=p.distinct(sizes))
    source, init = p.parameter(x.kind, out, "whole"), p.parameter(x.kind, [], "whole")
    s = p.computation([x.kind, x.kind], [f"r = pred[] compare(a0, a1), direction={p.pick(['GE', 'LE', 'GT'])}"], "r")
    f = p.scalar_function("add", x.kind)
    p.emit(x.kind, x.sizes,
           f"select-and-scatter({x.name}, {source.name}, {init.name}), {window}, select={s}, scatter={f}")


@maker("map")
def map_(p, op):
    x = p.operand(["s32", "f32"], 1)
    f = p.computation([x.kind, x.kind], [f"m = {x.kind}[] multiply(a0, a1)", f"r = {x.kind}[] subtract(m, a0)"], "r")
    p.loosen(ULP)
    p.emit(
        x.kind, x.sizes,
        f"map({x.name}, {p.like(x).name}), dimensions={{{','.join(map(str, range(len(x.sizes))))}}}, to_apply={f}")


@maker("sort")
def sort(p, op):
    x = p.operand(INTEGERS + ["f32"], 1, values="whole")
    f = p.computation([x.kind, x.kind], [f"r = pred[] compare(a0, a1), direction={p.pick(['LT', 'GT'])}"], "r")
    p.emit(x.kind, x.sizes, f"sort({x.name}), dimensions={{{p.below(len(x.sizes))}}}, is_stable=true, to_apply={f}")


@maker("sort-pairs")
def sort_pairs(p, op):
    x = p.operand(["s32", "s8"], 1)
    y = p.parameter("f32", x.sizes)
    f = p.computation(
        [x.kind, x.kind, "f32", "f32"],
        [f"r = pred[] compare(a{p.pick(['0, a1', '1, a0'])}), direction=LT"],
        "r")
    p.emit_tuple([(x.kind, x.sizes), ("f32", x.sizes)],
                 f"sort({x.name}, {y.name}), dimensions={{{p.below(len(x.sizes))}}}, is_stable=true, to_apply={f}")


@maker("topk")
def topk(p, op):
    x = p.operand(["f32"], 1, 2, zero=0)
    k = p.random.randint(1, x.sizes[-1])
    sizes = x.sizes[:-1] + [k]
    p.emit_tuple([(x.kind, sizes), ("s32", sizes)], f"topk({x.name}), k={k}, largest=true")
