"""Makers of FFTs, linear algebra and random bits of all types and batches."""
import numpy as np

from oracle_makers.program import COMPLEX, LOOSE, maker


@maker("fft-wide")
def fft_wide(p, _):
    kind, n, b = p.pick(
        ["FFT", "IFFT", "RFFT", "IRFFT"]), p.pick(
        [1, 2, 7, 16, 17, 30, 64, 97, 128, 360]), p.random.randint(
        1, 3)
    p.special = False
    real, full = p.pick([("f32", "c64"), ("f64", "c128")])
    half = [b, n // 2 + 1]
    x = p.parameter(real if kind == "RFFT" else full, half if kind == "IRFFT" else [b, n])
    p.loosen(LOOSE)
    p.emit(real if kind == "IRFFT" else full, half if kind == "RFFT" else [
           b, n], f"fft({x.name}), fft_type={kind}, fft_length={{{n}}}")


@maker("cholesky-wide")
def cholesky_wide(p, _):
    kind, n = p.pick(["f32", "f64", "c64", "c128"]), p.pick([1, 3, 9, 33])
    batch = p.sizes(0, 2, 3, zero=0)
    a = p.numbers.normal(size=batch + [n, n]) + (1j * p.numbers.normal(size=batch + [n, n]) if kind in COMPLEX else 0)
    x = p.parameter(kind, batch + [n, n], array=a @ np.swapaxes(a, -1, -2).conj() + n * np.eye(n))
    lower = p.chance(0.5)
    p.loosen(LOOSE)
    p.emit(kind, x.sizes, f"cholesky({x.name}), lower={str(lower).lower()}")


@maker("triangular-solve-wide")
def triangular_solve_wide(p, _):
    kind, n, m = p.pick(["f32", "f64", "c64", "c128"]), p.pick([1, 3, 9, 33]), p.pick([1, 2, 17])
    batch, left = p.sizes(0, 2, 3, zero=0), p.chance(0.5)
    def draw(sizes):
        return p.numbers.normal(size=sizes) + (1j * p.numbers.normal(size=sizes) if kind in COMPLEX else 0)
    a = p.parameter(kind, batch + [n, n], array=draw(batch + [n, n]) / n + 4 * np.eye(n))
    b = p.parameter(kind, batch + ([n, m] if left else [m, n]), array=draw(batch + ([n, m] if left else [m, n])))
    p.loosen(LOOSE)
    p.emit(
        kind, b.sizes,
        f"triangular-solve({a.name}, {b.name}), left_side={str(left).lower()}, lower={p.pick(['true', 'false'])}, "
        f"unit_diagonal={p.pick(['true', 'false'])}, transpose_a={p.pick(['NO_TRANSPOSE', 'TRANSPOSE', 'ADJOINT'])}")


@maker("rng-bit-generator-kinds")
def rng_bit_generator_kinds(p, _):
    algorithm = p.pick(["rng_three_fry", "rng_philox", "rng_default"])
    n = 2 if algorithm == "rng_three_fry" else p.pick([2, 3])
    state = p.parameter("u64", [n], array=p.numbers.integers(
        0, 2**63, [n], dtype=np.uint64) * np.uint64(2) + np.uint64(p.below(2)))
    out = (p.pick(["u8", "u16", "u32", "u64", "u4", "u2"]), p.pick(
        [[], [1], [5], [17], [3, 4], [4, 3], [7, 3], [2, 3, 5], [300], [0]]))
    p.emit_tuple([("u64", [n]), out], f"rng-bit-generator({state.name}), algorithm={algorithm}")


@maker("stochastic-convert")
def stochastic_convert(p, _):
    kind, to = p.pick([("f32", "s32"), ("f64", "s64"), ("bf16", "s16"), ("f16", "s16")])
    bits = {"f32": "u32", "f64": "u64", "bf16": "u16", "f16": "u16"}[kind]
    x = p.parameter(kind, [20], "whole")
    r = p.parameter(bits, [20], array=p.numbers.integers(0, 2 ** int(bits[1:]), [20], dtype=np.uint64))
    p.emit(to, [20], f"stochastic-convert({x.name}, {r.name})")
