"""Makers of loops within loops, tuples within tuples, and dynamic sizes."""
import numpy as np

from oracle_makers.program import LOOSE, join, maker


@maker("while-update")
def while_update(p, _):
    """What a scan becomes: a row a turn, written into the state."""
    kind, n, m = p.pick(["s32", "f32", "s64"]), p.random.randint(1, 9), p.random.randint(1, 6)
    shape = f"(s32[], {kind}[{m}], {kind}[{n},{m}], {kind}[{n},{m}])"
    condition = p.computation([shape], ["i = s32[] get-tuple-element(a0), index=0",
                              f"n = s32[] constant({n})", "r = pred[] compare(i, n), direction=LT"], "r")
    body = p.computation(
        [shape],
        ["i = s32[] get-tuple-element(a0), index=0", f"c = {kind}[{m}] get-tuple-element(a0), index=1",
         f"xs = {kind}[{n},{m}] get-tuple-element(a0), index=2", f"ys = {kind}[{n},{m}] get-tuple-element(a0), index=3",
         "zero = s32[] constant(0)", "one = s32[] constant(1)",
         f"x = {kind}[1,{m}] dynamic-slice(xs, i, zero), dynamic_slice_sizes={{1,{m}}}",
          f"row = {kind}[{m}] reshape(x)", f"d = {kind}[{m}] subtract(row, c)", f"y = {kind}[1,{m}] reshape(d)",
         f"out = {kind}[{n},{m}] dynamic-update-slice(ys, y, i, zero)", "j = s32[] add(i, one)",
         f"r = {shape} tuple(j, d, xs, out)"],
        "r")
    i, c, xs, ys = (p.parameter("s32", [], array=np.int32(p.below(2))), p.parameter(kind, [m], "whole"),
                    p.parameter(kind, [n, m], "whole"), p.parameter(kind, [n, m], "whole"))
    name = f"v{len(p.lines)}"
    p.lines.append(f"{name}t = {shape} tuple({i.name}, {c.name}, {xs.name}, {ys.name})")
    p.lines.append(f"{name} = {shape} while({name}t), condition={condition}, body={body}")
    p.emit(kind, [m], f"get-tuple-element({name}), index=1")
    p.emit(kind, [n, m], f"get-tuple-element({name}), index=3")
    p.emit(kind, [n, m], f"add({xs.name}, {ys.name})")  # the inputs are as they were


@maker("while-nested")
def while_nested(p, _):
    m = p.random.randint(1, 5)
    shape = f"(s32[], s32[], s32[{m}])"
    def loop(index, limit, inner):
        condition = p.computation(
            [shape],
            [f"i = s32[] get-tuple-element(a0), index={index}", f"n = s32[] constant({limit})",
             "r = pred[] compare(i, n), direction=LT"],
            "r")
        get = [
            f"i = s32[] get-tuple-element(s), index=0", "j = s32[] get-tuple-element(s), index=1",
            f"x = s32[{m}] get-tuple-element(s), index=2", "one = s32[] constant(1)", "zero = s32[] constant(0)"]
        if inner:
            lines = [f"s = {shape} while(a0), condition={inner[0]}, body={inner[1]}"] + get + [
                                         "k = s32[] add(i, one)", f"r = {shape} tuple(k, zero, x)"]
        else:
            lines = [f"s = {shape} copy(a0)"] +get +[f"b = s32[{m}] broadcast(i), dimensions={{}}",
                f"t = s32[{m}] add(x, x)", f"y = s32[{m}] subtract(t, b)", "k = s32[] add(j, one)",
                f"r = {shape} tuple(i, k, y)"]
        return condition, p.computation([shape], lines, "r")
    condition, body = loop(0, p.random.randint(0, 3), loop(1, p.random.randint(0, 3), None))
    i, j, x = p.parameter(
        "s32", [],
        array=np.int32(0)), p.parameter(
        "s32", [],
        array=np.int32(p.below(2))), p.parameter(
        "s32", [m])
    name = f"v{len(p.lines)}"
    p.lines.append(f"{name}t = {shape} tuple({i.name}, {j.name}, {x.name})")
    p.lines.append(f"{name} = {shape} while({name}t), condition={condition}, body={body}")
    for k, sizes in enumerate([[], [], [m]]):
        p.emit("s32", sizes, f"get-tuple-element({name}), index={k}")


@maker("conditional-tuple")
def conditional_tuple(p, _):
    n = p.random.randint(1, 6)
    shape = f"(s32[{n}], f32[])"
    branches = []
    for op in p.random.sample(["add", "subtract", "multiply"], 2):
        branches.append(
            p.computation(
                [shape],
                [f"x = s32[{n}] get-tuple-element(a0), index=0", "y = f32[] get-tuple-element(a0), index=1",
                 f"z = s32[{n}] {op}(x, x)", f"w = f32[] {op}(y, y)", f"r = {shape} tuple(z, w)"],
                "r"))
    condition, x, y = p.parameter("pred", []), p.parameter("s32", [n]), p.parameter("f32", [])
    name = f"v{len(p.lines)}"
    p.lines.append(f"{name}t = {shape} tuple({x.name}, {y.name})")
    p.emit_tuple(
        [("s32", [n]),
         ("f32", [])],
        f"conditional({condition.name}, {name}t, {name}t), true_computation={branches[0]}, false_computation={branches[1]}")


@maker("nested-tuple")
def nested_tuple(p, _):
    x, y = p.parameter("s32", p.sizes()), p.parameter("f32", p.sizes())
    inner, outer = f"({y.text}, {x.text})", f"({x.text}, ({y.text}, {x.text}))"
    f = p.computation(
        [outer],
        [f"x = {x.text} get-tuple-element(a0), index=0", f"t = {inner} get-tuple-element(a0), index=1",
         f"z = {x.text} get-tuple-element(t), index=1", f"y = {y.text} get-tuple-element(t), index=0",
         f"s = {x.text} subtract(z, x)", f"t2 = {inner} tuple(y, s)", f"r = {outer} tuple(z, t2)"],
        "r")
    name = f"v{len(p.lines)}"
    p.lines +=[f"{name}n = {x.text} negate({x.name})", f"{name}i = {inner} tuple({y.name}, {name}n)",
               f"{name}o = {outer} tuple({x.name}, {name}i)", f"{name}c = {outer} call({name}o), to_apply={f}",
               f"{name}b = {outer} opt-barrier({name}c)", f"{name}t = {inner} get-tuple-element({name}b), index=1"]
    p.emit(x.kind, x.sizes, f"get-tuple-element({name}b), index=0")
    p.emit(x.kind, x.sizes, f"get-tuple-element({name}t), index=1")
    p.emit(y.kind, y.sizes, f"get-tuple-element({name}t), index=0")


@maker("dynamic")
def dynamic(p, _):
    """A bounded array, something on it, and what a sum and its size say."""
    n, m, kind = p.random.randint(1, 7), p.random.randint(1, 4), p.pick(["s32", "f32"])
    size = p.random.randint(0, n)
    x, s, zero = p.parameter(
        kind, [n, m],
        "finite"), p.parameter(
        "s32", [],
        array=np.int32(size)), p.parameter(
        kind, [],
        array=np.zeros([]))
    name = f"v{len(p.lines)}"
    shape = f"{kind}[<={n},{m}]"
    line = lambda text: p.lines.append(f"{name}{text}")
    line(f"d = {shape} set-dimension-size({x.name}, {s.name}), dimensions={{0}}")
    which = p.pick(["none", "negate", "reverse", "pad", "concatenate", "slice",
                   "transpose", "broadcast", "sort", "dot", "select", "reshape"])
    out, axis, rank = shape, 0, 2
    if which == "negate":
        line(f"e = {shape} negate({name}d)")
    elif which == "reverse":
        line(f"e = {shape} reverse({name}d), dimensions={{0}}")
    elif which == "pad":
        lo, hi = p.below(3), p.below(3)
        out = f"{kind}[<={n + lo + hi},{m}]"
        line(f"e = {out} pad({name}d, {zero.name}), padding={lo}_{hi}x0_0")
    elif which == "concatenate":
        y, k = p.parameter(kind, [2, m], "finite"), 0
        out = f"{kind}[<={n + 2},{m}]"
        line(f"e = {out} concatenate({name}d, {y.name}), dimensions={{0}}")
    elif which == "slice":
        out = f"{kind}[<={n},1]"
        line(f"e = {out} slice({name}d), slice={{[0:{n}], [0:1]}}")
    elif which == "transpose":
        out, axis = f"{kind}[{m},<={n}]", 1
        line(f"e = {out} transpose({name}d), dimensions={{1,0}}")
    elif which == "broadcast":
        out, axis, rank = f"{kind}[2,<={n},{m}]", 1, 3
        line(f"e = {out} broadcast({name}d), dimensions={{1,2}}")
    elif which == "sort":
        f = p.computation([kind, kind], ["r = pred[] compare(a0, a1), direction=LT"], "r")
        line(f"e = {out} sort({name}d), dimensions={{0}}, to_apply={f}, is_stable=true")
    elif which == "dot":
        y = p.parameter(kind, [m, 3], "finite")
        out = f"{kind}[<={n},3]"
        line(f"e = {out} dot({name}d, {y.name}), lhs_contracting_dims={{1}}, rhs_contracting_dims={{0}}")
    elif which == "select":
        line(f"c = pred[<={n},{m}] compare({name}d, {name}d), direction=EQ")
        line(f"e = {out} select({name}c, {name}d, {name}d)")
    elif which == "reshape":
        out, axis, rank = f"{kind}[<={n},1,{m}]", 0, 3
        line(f"e = {out} reshape({name}d)")
    else:
        line(f"e = {out} add({name}d, {name}d)")
    f = p.scalar_function("add", kind)
    p.loosen(LOOSE)
    p.emit(kind, [], f"reduce({name}e, {zero.name}), dimensions={join(range(rank))}, to_apply={f}")
    p.emit("s32", [], f"get-dimension-size({name}e), dimensions={{{axis}}}")
    if p.chance(0.5):
        others = [d for d in range(rank) if d != axis]
        sizes = [int(t) for d, t in enumerate(out[len(kind) + 1:-1].split(",")) if d != axis]
        p.emit(kind, sizes, f"reduce({name}e, {zero.name}), dimensions={{{axis}}}, to_apply={f}")
