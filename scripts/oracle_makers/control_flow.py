"""Makers of loops, conditionals and calls."""
import numpy as np

from oracle_makers.program import maker


@maker("while")
def while_(p, op):
    x = p.operand(["s32", "f32"], 0, 2, values="whole")
    shape = f"(s32[], {x.text})"
    i = p.parameter("s32", [], array=np.int32(p.random.randint(0, 3)))
    condition = p.computation([shape], ["i = s32[] get-tuple-element(a0), index=0", "n = s32[] constant(4)",
                                        "r = pred[] compare(i, n), direction=LT"], "r")
    body = p.computation([shape], [
        "i = s32[] get-tuple-element(a0), index=0", f"x = {x.text} get-tuple-element(a0), index=1", "one = s32[] constant(1)",
        "j = s32[] add(i, one)", f"y = {x.text} add(x, x)", f"r = {shape} tuple(j, y)"], "r")
    name = f"v{len(p.lines)}"
    p.lines.append(f"{name}t = {shape} tuple({i.name}, {x.name})")
    p.lines.append(f"{name} = {shape} while({name}t), condition={condition}, body={body}")
    p.emit("s32", [], f"get-tuple-element({name}), index=0")
    p.emit(x.kind, x.sizes, f"get-tuple-element({name}), index=1")


@maker("conditional")
def conditional(p, op):
    x = p.operand(["s32", "f32"], 0, 2)
    branches = [p.computation([x.text], [f"r = {x.text} {name}(a0)"], "r")
                              for name in p.random.sample(["negate", "abs", "copy"], 3)]
    index = p.parameter("s32", [], array=np.int32(p.random.randint(-2, 4)))
    p.emit(
        x.kind, x.sizes,
        f"conditional({index.name}, {x.name}, {x.name}, {x.name}), branch_computations={{{', '.join(branches)}}}")


@maker("call")
def call(p, op):
    x = p.operand(["s32", "f32"], 0, 2)
    f = p.computation([x.text, x.text], [f"r = {x.text} subtract(a1, a0)"], "r")
    p.emit(x.kind, x.sizes, f"call({x.name}, {p.like(x).name}), to_apply={f}")
