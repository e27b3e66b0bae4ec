"""Makers of arrays large enough for the fast paths."""
import numpy as np

from oracle_makers.program import COMPLEX, FLOAT_KINDS, INTEGER_KINDS, LOOSE, dtype_of, join, maker


@maker("big-elementwise")
def big_elementwise(p, _):
    kind = p.pick(FLOAT_KINDS + INTEGER_KINDS)
    sizes = [p.pick([3, 17]), p.random.randint(17, 300)]
    x, y, r = p.parameter(
        kind, sizes, "whole"), p.parameter(
        kind, sizes, "whole"), p.parameter(
        kind, [sizes[1]],
        "whole")
    b = p.emit(kind, sizes, f"broadcast({r.name}), dimensions={{1}}")
    m = p.emit(kind, sizes, f"multiply({x.name}, {b.name})")
    a = p.emit(kind, sizes, f"{p.pick(['add', 'subtract'])}({m.name}, {y.name})")
    p.loosen(LOOSE)  # fused multiply-add
    c = p.emit("pred", sizes, f"compare({a.name}, {x.name}), direction=LT")
    p.emit(kind, sizes, f"select({c.name}, {a.name}, {x.name})")


@maker("big-moves")
def big_moves(p, _):
    kind = p.pick(["f32", "s8", "bf16", "f64", "pred", "c128"])
    a, b, c = p.random.randint(1, 5), p.random.randint(17, 70), p.random.randint(17, 70)
    x = p.parameter(kind, [a, b, c])
    order = p.random.sample(range(3), 3)
    t = p.emit(kind, [x.sizes[d] for d in order], f"transpose({x.name}), dimensions={join(order)}")
    p.emit(kind, [a * b, c], f"reshape({x.name})")
    p.emit(kind, t.sizes, f"reverse({t.name}), dimensions={{{p.pick(['0', '1', '2', '1,2', '0,2'])}}}")
    p.emit(kind, [a, b - 3, (c - 5 + 1) // 2], f"slice({x.name}), slice={{[0:{a}], [3:{b}], [5:{c}:2]}}")


@maker("big-reduce")
def big_reduce(p, _):
    kind = p.pick(INTEGER_KINDS + FLOAT_KINDS + COMPLEX)
    op = p.pick(["add"] +(["maximum", "minimum"] if kind not in COMPLEX else[]) +
                (["multiply", "xor", "and", "or"] if kind in INTEGER_KINDS else[]))
    sizes = p.pick([[p.random.randint(300, 4000)], [p.random.randint(2, 70),
                   p.random.randint(17, 300)], [5, p.random.randint(2, 40), 17]])
    x = p.parameter(kind, sizes, array=p.numbers.integers(0 if kind[0] == "u" else -2, 3, sizes).astype(dtype_of(kind)))
    # XLA's compiler starts every piece of a long reduction from the initial value: only neutral ones agree.
    neutral = {"add": 0, "xor": 0, "or": 0, "multiply": 1,
        "maximum": -2 if kind[0] != "u" else 0, "minimum": 2, "and": -1 if kind[0] == "s" else 0}[op]
    init = p.parameter(kind, [], array=np.asarray(neutral).astype(dtype_of(kind)))
    which = sorted(p.random.sample(range(len(sizes)), p.random.randint(1, len(sizes))))
    p.emit(kind, [n for d, n in enumerate(sizes) if d not in which],
           f"reduce({x.name}, {init.name}), dimensions={join(which)}, to_apply={p.scalar_function(op, kind)}")


@maker("big-sort")
def big_sort(p, _):
    kind = p.pick(INTEGER_KINDS + FLOAT_KINDS)
    sizes = p.pick([[p.random.randint(100, 700)], [3, p.random.randint(20, 300)], [p.random.randint(20, 300), 3]])
    x, i = p.parameter(kind, sizes, "whole"), p.parameter("s32", sizes, array=np.arange(np.prod(sizes)).reshape(sizes))
    f = p.computation(
        [kind, kind, "s32", "s32"],
        [f"r = pred[] compare({p.pick(['a0, a1', 'a1, a0'])}), direction={p.pick(['LT', 'GT'])}"],
        "r")
    p.emit_tuple([(kind, sizes), ("s32", sizes)],
                 f"sort({x.name}, {i.name}), dimensions={{{p.below(len(sizes))}}}, is_stable=true, to_apply={f}")


@maker("big-dot")
def big_dot(p, _):
    kind = p.pick(FLOAT_KINDS + ["s32", "s8", "u8", "s64", "c64", "c128"])
    m, k, n = (p.pick([1, 2, 7, 17, 33, 65, 129]) for _ in range(3))
    batch = p.pick([[], [], [3]])
    left, right = p.chance(0.5), p.chance(0.5)
    x = p.parameter(kind, batch + ([m, k] if left else [k, m]), array=None, values="whole")
    y = p.parameter(kind, batch + ([k, n] if right else [n, k]), values="whole")
    r = len(batch)
    attributes = f", lhs_batch_dims={{0}}, rhs_batch_dims={{0}}" if batch else ""
    out = {"s8": "s32", "u8": "u32", "bf16": p.pick(["bf16", "f32"]), "f16": p.pick(["f16", "f32"])}.get(kind, kind)
    p.loosen(LOOSE)
    p.emit(out, batch + [m, n], f"dot({x.name}, {y.name}){attributes}, lhs_contracting_dims={{{r + left}}}, "
           f"rhs_contracting_dims={{{r + (not right)}}}")


@maker("dot-kinds")
def dot_kinds(p, _):
    kind, other, out = p.pick(
        [("s8", "u8", "s32"),
         ("s8", "s8", "s64"),
         ("u8", "u8", "u8"),
         ("s16", "s16", "s32"),
         ("u32", "u32", "u32"),
         ("f16", "f16", "f32"),
         ("f8e4m3fn", "f8e5m2", "f32"),
         ("bf16", "f32", "f32"),
         ("f32", "f32", "f64"),
         ("c128", "c128", "c128"),
         ("pred", "pred", "pred"),
         ("f8e5m2", "f8e5m2", "f8e5m2"),
         ("u64", "u64", "u64")])
    m, k, n = (p.random.randint(1, 9) for _ in range(3))
    x, y = p.parameter(kind, [m, k], "whole"), p.parameter(other, [k, n], "whole")
    p.loosen(LOOSE)
    p.emit(out, [m, n], f"dot({x.name}, {y.name}), lhs_contracting_dims={{1}}, rhs_contracting_dims={{0}}")


@maker("convolution-kinds")
def convolution_kinds(p, _):
    kind, out = p.pick(
        [("s8", "s32"),
         ("u8", "u32"),
         ("s32", "s32"),
         ("s64", "s64"),
         ("f16", "f16"),
         ("f16", "f32"),
         ("bf16", "f32"),
         ("c64", "c64"),
         ("c128", "c128"),
         ("f64", "f64"),
         ("f32", "f32"),
         ("u8", "s32"),
         ("f8e5m2", "f32")])
    n, h, w, i, o, g = 1, p.random.randint(
        5, 20), p.random.randint(
        5, 20), p.random.randint(
        1, 9), p.random.randint(
        1, 9), p.pick(
        [1, 1, 1, 4])
    a, b, s = p.random.randint(1, 4), p.random.randint(1, 4), p.random.randint(1, 2)
    x, y = p.parameter(kind, [n, h, w, i * g], "whole"), p.parameter(kind, [a, b, i, o * g], "whole")
    p.loosen(LOOSE)
    p.emit(
        out, [n, (h + 2 - a) // s + 1, w + 1 - b + 1, o * g],
        f"convolution({x.name}, {y.name}), window={{size={a}x{b} stride={s}x1 pad=1_1x0_1}}, dim_labels=b01f_01io->b01f"
        + (f", feature_group_count={g}" if g > 1 else ""))
