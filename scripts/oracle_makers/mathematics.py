"""Makers of FFTs, linear algebra, random bits and batch norms."""
import numpy as np

from oracle_makers.program import LOOSE, maker


@maker("fft")
def fft(p, op):
    kind = p.pick(["FFT", "IFFT", "RFFT", "IRFFT"])
    sizes = p.sizes(1, 3, 9, zero=0)
    axes = p.random.randint(1, len(sizes))
    length = sizes[-axes:]
    half = sizes[:-1] + [sizes[-1] // 2 + 1]
    p.loosen(LOOSE)
    p.special = False
    x = p.parameter("f32" if kind == "RFFT" else "c64", half if kind == "IRFFT" else sizes)
    out = ("c64", half) if kind == "RFFT" else ("f32", sizes) if kind == "IRFFT" else ("c64", sizes)
    p.emit(*out, f"fft({x.name}), fft_type={kind}, fft_length={{{','.join(map(str, length))}}}")


@maker("cholesky")
def cholesky(p, op):
    n, kind = p.random.randint(1, 5), p.pick(["f32", "f64"])
    batch = p.sizes(0, 1, 3, zero=0)
    a = p.numbers.normal(size=batch + [n, n])
    x = p.parameter(kind, batch + [n, n], array=a @ np.swapaxes(a, -1, -2) + 2 * np.eye(n))
    p.loosen(LOOSE)
    p.emit(kind, x.sizes, f"cholesky({x.name}), lower={p.pick(['true', 'false'])}")


@maker("triangular-solve")
def triangular_solve(p, op):
    n, m, kind = p.random.randint(1, 5), p.random.randint(1, 4), p.pick(["f32", "f64"])
    left = p.chance(0.5)
    a = p.parameter(kind, [n, n], array=p.numbers.normal(size=[n, n]) + 4 * np.eye(n))
    b = p.parameter(kind, [n, m] if left else [m, n], "whole")
    p.loosen(LOOSE)
    p.emit(
        kind, b.sizes,
        f"triangular-solve({a.name}, {b.name}), left_side={str(left).lower()}, lower={p.pick(['true', 'false'])}, "
        f"unit_diagonal={p.pick(['true', 'false'])}, transpose_a={p.pick(['NO_TRANSPOSE', 'TRANSPOSE', 'ADJOINT'])}")


@maker("rng-bit-generator")
def rng_bit_generator(p, op):
    algorithm = p.pick(["rng_three_fry", "rng_philox", "rng_default"])
    n = 2 if algorithm == "rng_three_fry" else p.pick([2, 3])
    state = p.parameter("u64", [n], array=p.numbers.integers(0, 2**63, [n], dtype=np.uint64))
    out = (p.pick(["u32", "u8", "u16", "u64"]), p.sizes(0, 3))
    p.emit_tuple([("u64", [n]), out], f"rng-bit-generator({state.name}), algorithm={algorithm}")


@maker("batch-norm-training", "batch-norm-inference")
def batch_norm(p, op):
    p.special = False
    x = p.operand(["f32"], 2, 3, zero=0, values="whole")
    f = p.below(len(x.sizes))
    c = x.sizes[f]
    extra = [p.parameter("f32", [c], "positive") for _ in range(2 if op.endswith("training") else 4)]
    names = ", ".join(v.name for v in [x] + extra)
    p.loosen(LOOSE)
    if op.endswith("training"):
        p.emit_tuple([("f32", x.sizes), ("f32", [c]), ("f32", [c])], f"{op}({names}), epsilon=0.5, feature_index={f}")
    else:
        p.emit("f32", x.sizes, f"{op}({names}), epsilon=0.5, feature_index={f}")
