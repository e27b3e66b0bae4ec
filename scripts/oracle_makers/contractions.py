"""Makers of dots and convolutions."""
import re

from oracle_makers.program import LOOSE, maker
from oracle_makers.reductions import window_text


@maker("dot")
def dot(p, op):
    kind = p.pick(["f32", "f32", "f64", "s32", "bf16", "c64", "s8"])
    batch, contracting = p.sizes(0, 2, 3), p.sizes(0, 2, 4)
    free = [p.sizes(0, 2, 4), p.sizes(0, 2, 4)]
    names, dims = [], []
    for side in range(2):
        tagged = [("b", i, n) for i, n in enumerate(batch)] + [("c", i, n) for i, n in enumerate(contracting)]
        tagged += [("f", i, n) for i, n in enumerate(free[side])]
        p.random.shuffle(tagged)
        places = {t: [next(k for k, v in enumerate(tagged) if v[:2] == (t, i)) for i in range(len(group))]
                  for t, group in (("b", batch), ("c", contracting))}
        v = p.parameter(kind, [n for _, _, n in tagged], "whole")
        free[side] = [n for t, _, n in tagged if t == "f"]
        names.append(v.name)
        dims.append(places)
    join = lambda items: "{" + ",".join(map(str, items)) + "}"
    attributes = ""
    for side, word in enumerate(("lhs", "rhs")):
        if batch:
            attributes += f", {word}_batch_dims={join(dims[side]['b'])}"
        attributes += f", {word}_contracting_dims={join(dims[side]['c'])}"
    out = {"s8": p.pick(["s8", "s32"]), "bf16": p.pick(["bf16", "f32"])}.get(kind, kind)
    p.loosen(LOOSE)
    p.emit(out, batch + free[0] + free[1], f"dot({', '.join(names)}){attributes}")


@maker("convolution")
def convolution(p, op):
    rank = p.random.randint(0, 2)
    kind = p.pick(["f32", "f32", "f64", "bf16"])
    groups = p.pick([1, 1, 2])
    by_batch = groups > 1 and p.chance(0.4)
    n, i, o = p.random.randint(1, 3), p.random.randint(1, 3), p.random.randint(1, 3)
    spatial = [p.random.randint(1, 6) for _ in range(rank)]
    window, out = window_text(p, spatial)
    if re.search(r"-\d+_[1-9]|[1-9]_-", window):
        return  # compiled code reads beyond the array
    reversal = ""
    kernel = []
    if rank:
        kernel = [int(s) for s in window.split("size=")[1].split()[0].split("x")]
        if p.chance(0.3):
            reversal = " rhs_reversal=" + "x".join(p.pick("01") for _ in range(rank))
            window = window[:-1] + reversal + "}"
    lhs = {"b": n * (groups if by_batch else 1),
           "f": i * (1 if by_batch else groups),
           **{str(d): s for d, s in enumerate(spatial)}}
    rhs = {"i": i, "o": o * groups, **{str(d): s for d, s in enumerate(kernel)}}
    result = {"b": n, "f": o * groups, **{str(d): s for d, s in enumerate(out)}}
    texts = []
    for sizes in (lhs, rhs, result):
        order = list(sizes)
        p.random.shuffle(order)
        texts.append("".join(order))
    x = p.parameter(kind, [lhs[c] for c in texts[0]], "whole")
    w = p.parameter(kind, [rhs[c] for c in texts[1]], "whole")
    extra = "" if groups == 1 else f", {'batch' if by_batch else 'feature'}_group_count={groups}"
    p.loosen(LOOSE)
    p.emit(
        kind, [result[c] for c in texts[2]],
        f"convolution({x.name}, {w.name}), {window + ', ' if window else ''}dim_labels={texts[0]}_{texts[1]}->{texts[2]}{extra}")
