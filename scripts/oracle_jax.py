#!/usr/bin/env python3
"""Lowers ordinary JAX functions to HLO, runs each through JAX (real XLA) and through `kashi run`, and prints the
differences.

  .venv/bin/python scripts/oracle_jax.py --kashi build/kashi [--rounds 3] [--seed 1] [--only cumsum] [--keep DIR]
  .venv/bin/python scripts/oracle_jax.py --only linalg- --store tests/data/evaluator/linear_algebra.txt
  .venv/bin/python scripts/oracle_jax.py --only custom- --store tests/data/evaluator/custom_calls.txt
  old/bin/python scripts/oracle_jax.py --only linalg- --older --store tests/data/evaluator/linear_algebra_old.txt

Needs a Python with jax (`./dev oracle` makes one in .venv). Inputs are small and random; every round has new ones.
These programs have what random programs lack: comparators of sorts, loops of solvers, windows of cumulative sums,
calls. Versions of JAX call LAPACK differently: `old` above has JAX 0.4.20 (and numpy before 2).
--store writes functions, inputs and JAX's outputs as text, for the unit tests."""
import argparse
import os
import re
import subprocess
import sys
import tempfile

os.environ["JAX_PLATFORMS"] = "cpu"
import jax
import jax.numpy as jnp
import numpy as np
from jax import lax, nn

import oracle_programs
from oracle_makers.program import LOOSE, dtype_of
from oracle_makers.xla import difference, load

jax.config.update("jax_enable_x64", True)


def functions():
    """name -> (function, inputs: shapes of f32, or arrays by a function of the generator)."""
    f = lambda *s: lambda n: n.normal(size=s).astype(np.float32)
    d = lambda *s: lambda n: n.normal(size=s)
    c = lambda *s: lambda n: (n.normal(size=s) + 1j * n.normal(size=s)).astype(np.complex64)
    i = lambda high, *s: lambda n: n.integers(0, high, s).astype(np.int32)
    whole = lambda *s: lambda n: np.round(n.normal(size=s) * 3).astype(np.float32)
    b = lambda *s: lambda n: n.normal(size=s).astype(jnp.bfloat16)
    h = lambda *s: lambda n: n.normal(size=s).astype(np.float16)
    bits = lambda *s: lambda n: n.integers(0, 2, s).astype(bool)
    positive = lambda *s: lambda n: (np.abs(n.normal(size=s)) + 0.5).astype(np.float32)
    spd = lambda k: lambda n: (lambda a: a @ a.T + k * np.eye(k))(n.normal(size=(k, k)))
    key = lambda n: n.integers(0, 2**31, (2,)).astype(np.uint32)

    def scan(x):
        return lax.scan(lambda carry, y: (carry * 0.5 + y, jnp.tanh(carry)), jnp.zeros(x.shape[1:], x.dtype), x)

    def newton(x):
        return lax.while_loop(lambda s: (s[0] < 20) & (jnp.abs(s[1] * s[1] - x).max() > 1e-6),
                              lambda s: (s[0] + 1, 0.5 * (s[1] + x / s[1])), (0, x))

    def attention(q, k, v):
        return nn.softmax(jnp.where(jnp.tril(jnp.ones((q.shape[0], k.shape[0]), bool)), q @ k.T / 8, -1e9)) @ v

    def mlp_loss(w, v, x, y):
        return jnp.mean((jnp.tanh(x @ w) @ v - y) ** 2)

    def conv(x, w):
        return lax.conv_general_dilated(x, w, (2, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC"))

    def max_pool(x):
        return lax.reduce_window(x, -jnp.inf, lax.max, (1, 3, 3, 1), (1, 2, 2, 1), "SAME")

    def random_of(draw):
        return lambda k: draw(jax.random.wrap_key_data(k))

    table = {
        # Sums and orders
        "sum": (lambda x: (x.sum(), x.sum(0), x.mean(1)), [f(37, 65)]),
        "sum-bf16": (lambda x: (x.sum(), x.sum(0)), [b(9, 33)]),
        "sum-f16": (lambda x: (x.sum(1), jnp.prod(x, 0)), [h(5, 33)]),
        "prod": (lambda x: jnp.prod(x, axis=1), [f(4, 7)]),
        "var-std": (lambda x: (x.var(0), x.std(1)), [f(17, 20)]),
        "logsumexp": (lambda x: nn.logsumexp(x, axis=1), [f(6, 40)]),
        "max-min-argmax": (lambda x: (x.max(), x.min(0), jnp.argmax(x, 1), jnp.argmin(x)), [whole(9, 21)]),
        "argmax-int": (lambda x: (jnp.argmax(x, 0), jnp.argmin(x, 1)), [i(9, 8, 40)]),
        "any-all": (lambda x: (x.any(0), x.all(1), jnp.count_nonzero(x)), [bits(5, 9)]),
        "median": (lambda x: jnp.median(x, axis=0), [f(11, 4)]),
        "quantile": (lambda x: jnp.quantile(x, jnp.array([0.1, 0.5, 0.9]), axis=1), [f(4, 17)]),
        "nansum": (lambda x: jnp.nansum(jnp.where(x > 0, x, jnp.nan)), [f(40)]),
        "cumsum": (lambda x: (jnp.cumsum(x, 0), jnp.cumsum(x, 1)), [f(33, 7)]),
        "cumsum-int": (lambda x: jnp.cumsum(x), [i(100, 300)]),
        "cumsum-bf16": (lambda x: jnp.cumsum(x, 0), [b(40, 3)]),
        "cumprod": (lambda x: jnp.cumprod(x, 1), [f(3, 19)]),
        "cummax": (lambda x: (lax.cummax(x, 0), lax.cummin(x, 1, reverse=True), lax.cumlogsumexp(x, 0)), [f(20, 5)]),
        "sort": (lambda x: (jnp.sort(x, 0), jnp.argsort(x, 1)), [whole(21, 50)]),
        "sort-nan": (lambda x: jnp.sort(jnp.where(x > 1, jnp.nan, x)), [whole(100)]),
        "sort-descending": (lambda x: jnp.sort(x, descending=True), [f(500)]),
        "sort-complex": (lambda x: jnp.sort(x), [c(40)]),
        "lexsort": (lambda x, y: jnp.lexsort((x, y)), [i(5, 60), whole(60)]),
        "sort-bool": (lambda x: (jnp.sort(x), jnp.argsort(x)), [bits(40)]),
        "top-k": (lambda x: lax.top_k(x, 5), [whole(4, 30)]),
        "top-k-int": (lambda x: lax.top_k(x, 7), [i(10, 3, 40)]),
        "top-k-bf16": (lambda x: lax.top_k(x, 3), [b(5, 20)]),
        "approx-max-k": (lambda x: lax.approx_max_k(x, 4), [f(3, 64)]),
        "searchsorted": (lambda x, y: jnp.searchsorted(jnp.sort(x), y), [f(30), f(12)]),
        "searchsorted-sort": (lambda x, y: jnp.searchsorted(jnp.sort(x), y, method="sort"), [f(30), f(12)]),
        "unique": (lambda x: jnp.unique(x, size=12, fill_value=-1), [i(10, 40)]),
        "bincount": (lambda x: jnp.bincount(x, length=12), [i(12, 70)]),
        "histogram": (lambda x: jnp.histogram(x, bins=7), [f(80)]),
        "nonzero": (lambda x: jnp.nonzero(x, size=20, fill_value=0), [bits(6, 6)]),
        "digitize": (lambda x: jnp.digitize(x, jnp.array([-1.0, 0.0, 1.0])), [f(30)]),
        # Moving and indexing
        "take": (lambda x, j: (x[j], jnp.take(x, j, axis=1, mode="clip")), [f(9, 9, 2), i(12, 5)]),
        "take-along": (lambda x: jnp.take_along_axis(x, jnp.argsort(x, 1), 1), [f(5, 17)]),
        "at-set": (lambda x, j: x.at[j].set(7.0), [f(20, 3), i(25, 1)]),
        "at-add": (lambda x, j, y: x.at[j].add(y), [f(20), i(22, 60), f(60)]),
        "at-mul-max": (lambda x, j, y: (x.at[j].multiply(y), x.at[j].max(y), x.at[j, 0:1].min(0.5)), [whole(10, 2), i(10, 7), whole(7, 2)]),
        "segment-sum": (lambda x, j: jax.ops.segment_sum(x, j, 6), [f(40, 3), i(6, 40)]),
        "roll-flip-pad": (lambda x: (jnp.roll(x, 3, 1), jnp.flip(x), jnp.pad(x, 2, mode="reflect")), [f(5, 8)]),
        "dynamic-roll": (lambda x, j: jnp.roll(x, j[0]), [f(17), i(40, 1)]),
        "tile-repeat": (lambda x: (jnp.tile(x, (2, 3)), jnp.repeat(x, 3, axis=0)), [f(3, 4)]),
        "tri": (lambda x: (jnp.tril(x, 1), jnp.triu(x, -1), jnp.diag(x), jnp.trace(x)), [f(6, 6)]),
        "meshgrid": (lambda x, y: jnp.meshgrid(x, y), [f(4), f(3)]),
        "stack-split": (lambda x: (jnp.stack(jnp.split(x, 3, 1)), jnp.moveaxis(x, 0, 1)), [f(4, 9)]),
        "interp": (lambda x: jnp.interp(x, jnp.arange(5.0), jnp.array([0, 1, 4, 9, 16.0])), [f(30)]),
        "convolve": (lambda x, y: (jnp.convolve(x, y), jnp.correlate(x, y, mode="same")), [f(30), f(5)]),
        # Products
        "matmul": (lambda x, y: x @ y, [f(33, 65), f(65, 129)]),
        "matmul-bf16": (lambda x, y: (x @ y, jnp.matmul(x, y, preferred_element_type=jnp.float32)), [b(9, 33), b(33, 17)]),
        "matmul-f16": (lambda x, y: x @ y, [h(9, 16), h(16, 5)]),
        "matmul-s8": (lambda x, y: lax.dot(x.astype(jnp.int8), y.astype(jnp.int8), preferred_element_type=jnp.int32), [i(100, 17, 40), i(100, 40, 9)]),
        "matmul-complex": (lambda x, y: x @ y, [c(9, 17), c(17, 5)]),
        "einsum": (lambda x, y: jnp.einsum("bij,kjb->bki", x, y), [f(3, 5, 17), f(4, 17, 3)]),
        "outer-inner-cross": (lambda x, y: (jnp.outer(x, y), jnp.inner(x, y), jnp.cross(x, y)), [f(3), f(3)]),
        "kron": (lambda x, y: jnp.kron(x, y), [f(3, 2), f(2, 4)]),
        "matrix-power": (lambda x: jnp.linalg.matrix_power(x, 5), [f(5, 5)]),
        "conv": (conv, [f(2, 12, 9, 3), f(3, 3, 3, 5)]),
        "conv-grad": (jax.grad(lambda x, w: (conv(x, w) ** 2).sum(), (0, 1)), [f(2, 8, 7, 3), f(3, 3, 3, 4)]),
        "conv-depthwise": (lambda x, w: lax.conv_general_dilated(x, w, (1,), "VALID", feature_group_count=4), [f(2, 4, 19), f(8, 1, 3)]),
        "conv-transpose": (lambda x, w: lax.conv_transpose(x, w, (2, 2), "SAME"), [f(1, 5, 6, 3), f(3, 3, 3, 2)]),
        "conv-bf16": (conv, [b(1, 8, 8, 4), b(3, 3, 4, 4)]),
        "conv-3d": (lambda x, w: lax.conv(x, w, (1, 1, 1), "SAME"), [f(1, 2, 5, 6, 4), f(3, 2, 2, 3, 3)]),
        "max-pool": (max_pool, [f(2, 9, 8, 3)]),
        "max-pool-grad": (jax.grad(lambda x: (max_pool(x) ** 2).sum()), [f(2, 9, 8, 3)]),
        "avg-pool": (lambda x: lax.reduce_window(x, 0.0, lax.add, (1, 2, 2, 1), (1, 2, 2, 1), "VALID"), [f(1, 8, 8, 2)]),
        # Networks
        "softmax": (lambda x: (nn.softmax(x), nn.log_softmax(x, 0)), [f(7, 33)]),
        "activations": (lambda x: (nn.relu(x), nn.gelu(x), nn.gelu(x, approximate=False), nn.silu(x), nn.softplus(x), nn.elu(x), nn.selu(x)), [f(60)]),
        "activations-bf16": (lambda x: (nn.gelu(x), nn.silu(x), nn.sigmoid(x), jnp.tanh(x), jnp.exp(x)), [b(60)]),
        "one-hot": (lambda j: nn.one_hot(j, 9), [i(10, 7)]),
        "attention": (attention, [f(17, 8), f(17, 8), f(17, 8)]),
        "attention-grad": (jax.grad(lambda q, k, v: attention(q, k, v).sum(), (0, 1, 2)), [f(9, 8), f(9, 8), f(9, 8)]),
        "mlp-grad": (jax.value_and_grad(mlp_loss, (0, 1)), [f(9, 17), f(17, 3), f(20, 9), f(20, 3)]),
        "layer-norm": (lambda x: nn.standardize(x, axis=-1), [f(5, 40)]),
        # Control
        "scan": (scan, [f(20, 3)]),
        "scan-grad": (jax.grad(lambda x: scan(x)[1].sum()), [f(9, 3)]),
        "while": (newton, [positive(7)]),
        "fori": (lambda x: lax.fori_loop(0, 7, lambda k, s: s.at[k].add(s[k - 1]), x), [f(10)]),
        "map": (lambda x: lax.map(lambda r: jnp.sort(r) @ r, x), [f(6, 9)]),
        "cond": (lambda x: lax.cond(x.sum() > 0, lambda y: (y * 2, y.sum()), lambda y: (-y, y.max()), x), [f(9)]),
        "switch": (lambda x, j: lax.switch(j[0], [jnp.sin, jnp.cos, jnp.exp], x), [f(9), i(5, 1)]),
        "associative-scan": (lambda x: lax.associative_scan(jnp.multiply, x), [f(33)]),
        "remat": (jax.grad(lambda x: jax.checkpoint(lambda y: jnp.sin(jnp.sin(y)))(x).sum()), [f(11)]),
        "vmap-while": (jax.vmap(lambda x: lax.while_loop(lambda y: y < 10, lambda y: y * 2, x)), [positive(9)]),
        "vmap-gather": (jax.vmap(lambda x, j: x[j]), [f(4, 9), i(9, 4, 3)]),
        "vmap-scatter": (jax.vmap(lambda x, j: x.at[j].add(1.0)), [f(4, 9), i(9, 4, 3)]),
        "vmap-dynamic-slice": (jax.vmap(lambda x, j: lax.dynamic_slice(x, (j,), (3,))), [f(4, 9), i(12, 4)]),
        "vmap-update": (jax.vmap(lambda x, j: lax.dynamic_update_slice(x, jnp.ones(3, x.dtype), (j,))), [f(4, 9), i(12, 4)]),
        "jacobian": (jax.jacfwd(lambda x: jnp.tanh(x) * x.sum()), [f(6)]),
        "hessian": (jax.hessian(lambda x: (jnp.sin(x) * x[::-1]).sum()), [f(5)]),
        # Mathematics
        "fft": (lambda x: (jnp.fft.fft(x), jnp.fft.rfft(x.real), jnp.fft.ifft2(x)), [c(6, 30)]),
        "fft-f64": (lambda x: (jnp.fft.rfft(x), jnp.fft.irfft(jnp.fft.rfft(x), 17)), [d(3, 17)]),
        "cholesky": (lambda x: (jnp.linalg.cholesky(x), lax.linalg.cholesky(x, symmetrize_input=False)), [spd(17)]),
        "solve-triangular": (lambda x, y: jax.scipy.linalg.solve_triangular(jnp.tril(x) + 5 * jnp.eye(9), y, lower=True, trans=1), [f(9, 9), f(9, 4)]),
        "cho-solve": (lambda x, y: jax.scipy.linalg.cho_solve((jnp.linalg.cholesky(x), True), y), [spd(9), d(9, 3)]),
        "special": (lambda x: (jax.scipy.special.gammaln(x), jax.scipy.special.digamma(x), lax.lgamma(x), lax.erf_inv(x / 9)), [positive(40)]),
        "special-more": (lambda x: (jax.scipy.special.erfc(x), jax.scipy.special.i0e(x), jax.scipy.special.ndtr(x), lax.bessel_i1e(x)), [f(40)]),
        "betainc": (lambda x, y: (jax.scipy.special.betainc(x, y, 0.3), lax.igamma(x, y), lax.igammac(x, y)), [positive(20), positive(20)]),
        "zeta-polygamma": (lambda x: (jax.scipy.special.zeta(x + 1, 2.0), jax.scipy.special.polygamma(1, x)), [positive(20)]),
        "trigonometry": (lambda x: (jnp.sin(x), jnp.arctan(x), jnp.sinh(x), jnp.arcsinh(x), jnp.arccosh(1 + x * x), jnp.arctanh(jnp.tanh(x))), [f(50)]),
        "complex": (lambda x: (jnp.exp(x), jnp.log(x), jnp.sqrt(x), jnp.abs(x), jnp.angle(x), x.conj() * x, 1 / x, jnp.tanh(x), x ** 2.5), [c(40)]),
        "complex-trigonometry": (lambda x: (jnp.sin(x), jnp.cos(x), jnp.tan(x), jnp.sinh(x), jnp.cosh(x), jnp.arcsin(x), jnp.arctan(x)), [c(40)]),
        "integers": (lambda x, y: (x // (y + 1), x % (y + 1), x ** 3, jnp.gcd(x, y), x << 3, lax.population_count(x), lax.clz(y)), [i(999, 40), i(999, 40)]),
        "floor-divide": (lambda x, y: (x // y, x % y, jnp.fmod(x, y), jnp.divmod(x, y)[0], jnp.copysign(x, y), jnp.nextafter(x, y)), [f(40), f(40)]),
        "frexp": (lambda x: (jnp.frexp(x), jnp.modf(x), jnp.ldexp(x, 3), jnp.signbit(x)), [f(40)]),
        "round": (lambda x: (jnp.round(x), jnp.round(x, 2), jnp.trunc(x), jnp.rint(x), jnp.sign(x)), [f(40)]),
        "logarithms": (lambda x: (jnp.log2(x), jnp.log10(x), jnp.log1p(x), jnp.expm1(x), jnp.exp2(x), jnp.cbrt(x), jnp.hypot(x, x + 1), jnp.logaddexp(x, -x)), [positive(40)]),
        "polynomial": (lambda x: (jnp.polyval(jnp.array([1.0, -2.0, 3.0]), x), jnp.vander(x, 4), jnp.diff(x), jnp.gradient(x)), [f(9)]),
        "norms": (lambda x: (jnp.linalg.norm(x), jnp.linalg.norm(x, 1), jnp.linalg.norm(x, axis=1)), [f(7, 9)]),
        "isclose": (lambda x, y: (jnp.isclose(x, y, atol=1.0), jnp.isnan(x / 0), jnp.nan_to_num(x / 0)), [whole(30), whole(30)]),
        "packbits": (lambda x: (jnp.packbits(x), jnp.unpackbits(jnp.packbits(x))), [bits(40)]),
        "bitcast": (lambda x: (lax.bitcast_convert_type(x, jnp.int8), lax.bitcast_convert_type(x, jnp.uint32)), [f(9)]),
        "f8": (lambda x: (x.astype(jnp.float8_e4m3fn).astype(jnp.float32), x.astype(jnp.float8_e5m2).astype(jnp.float32),
                          x.astype(jnp.float8_e4m3b11fnuz).astype(jnp.float32), x.astype(jnp.float8_e5m2fnuz).astype(jnp.float32)), [f(60)]),
        "int4": (lambda x: (x.astype(jnp.int4) + x.astype(jnp.int4)).astype(jnp.int32), [i(16, 60)]),
        "reduce-precision": (lambda x: (lax.reduce_precision(x, 5, 10), lax.reduce_precision(x, 4, 3)), [f(60)]),
        # Random numbers
        "random-bits": (random_of(lambda k: (jax.random.bits(k, (13,)), jax.random.bits(k, (7, 3), "uint8"))), [key]),
        "random-uniform": (random_of(lambda k: (jax.random.uniform(k, (40,)), jax.random.randint(k, (40,), 3, 99))), [key]),
        "random-normal": (random_of(lambda k: (jax.random.normal(k, (40,)), jax.random.normal(k, (9,), jnp.float64))), [key]),
        "random-bf16": (random_of(lambda k: jax.random.normal(k, (40,), jnp.bfloat16)), [key]),
        "random-permutation": (random_of(lambda k: (jax.random.permutation(k, 50), jax.random.choice(k, 20, (5,), replace=False))), [key]),
        "random-categorical": (random_of(lambda k: jax.random.categorical(k, jnp.zeros((9, 20)))), [key]),
        "random-split": (random_of(lambda k: jax.random.key_data(jax.random.split(k, 5))), [key]),
        "random-gamma": (random_of(lambda k: (jax.random.gamma(k, 2.5, (9,)), jax.random.truncated_normal(k, -1, 1, (20,)))), [key]),
        "random-poisson": (random_of(lambda k: (jax.random.bernoulli(k, 0.3, (30,)), jax.random.exponential(k, (20,)))), [key]),
        "random-rbg": (lambda k: jax.random.uniform(jax.random.wrap_key_data(k, impl="rbg"), (20,)), [lambda n: n.integers(0, 2**31, (4,)).astype(np.uint32)]),
    }
    for name in ("exp", "log1p", "expm1", "sin", "cos", "tan", "tanh", "sqrt", "cbrt", "arctan", "sinh", "square", "reciprocal"):
        for kind, draw in (("f32", f), ("f64", d), ("bf16", b), ("f16", h)):
            table[f"{name}-{kind}"] = (lambda x, g=getattr(jnp, name): g(jnp.abs(x) + 0.5)
                                       if g in (jnp.sqrt, jnp.log1p) else g(x), [draw(40)])
    return table


def linear_algebra():
    """name -> (function, inputs) of functions that call LAPACK on a CPU, and custom-… of functions that call others. A
    factor that
    is not unique (eigenvectors, singular vectors) is     multiplied out; those that LAPACK's conventions make unique (Householder, pivots) are told as they are."""
    la, ll, sl, geqrf = jnp.linalg, lax.linalg, jax.scipy.linalg, jax._src.lax.linalg.geqrf  # which has no public name

    def eigh(x):
        w, v = la.eigh(x)
        return w, jnp.abs(v), (v * w[..., None, :]) @ jnp.swapaxes(v, -1, -2).conj()

    def svd(full):
        def rebuild(x):
            u, s, vh = la.svd(x, full_matrices=full)
            k = s.shape[-1]
            return s, (u[..., :k] * s[..., None, :]) @ vh[..., :k, :], jnp.swapaxes(u, -1, -2).conj() @ u, vh @ jnp.swapaxes(vh, -1, -2).conj()
        return rebuild

    def eig(x):
        w, v = la.eig(x)
        return jnp.sort_complex(w), jnp.abs(x @ v - v * w[..., None, :]) < 1e-3

    def left_eig(x):
        w, left, right = ll.eig(x)
        return jnp.abs(
            jnp.swapaxes(left, -1, -2).conj() @x -w[...,:, None] *jnp.swapaxes(left, -1, -2).conj()) <1e-3, jnp.abs(
            la.det(right))

    def schur(x):
        t, q = sl.schur(x)
        return q @ t @ jnp.swapaxes(q, -1, -2).conj(), jnp.abs(jnp.diagonal(q @ jnp.swapaxes(q, -1, -2).conj()))

    def sparse(m, x):
        from jax.experimental import sparse

        entries = sparse.BCSR.fromdense(m, nse=7)
        return entries @ x, entries @ x[:, 0]

    def matrix(dtype):
        return lambda n: np.array([[0, 2, 0, 1], [0, 0, 0, 0], [3, 0, -1, 2], [0, 0, 0, 4], [5, 0, 0, 0]]).astype(dtype)

    table = {}
    for kind in ("f32", "c64", "s32", "s64"):
        dtype = dtype_of(kind)
        table[f"custom-sparse-{kind}"] = (sparse, [matrix(dtype), lambda n,
                                          t=dtype: np.round(4 * n.normal(size=(4, 3))).astype(t)])
    for kind, real in (("f32", True), ("f64", True), ("c64", False), ("c128", False)):
        dtype = dtype_of(kind)
        a = lambda *s, t=dtype, r=real: lambda n: (n.normal(size=s) + (0 if r else 1j * n.normal(size=s))).astype(t)
        spd = lambda b, k, t=dtype, r=real: lambda n: (lambda x: x @ np.swapaxes(x, -1, -2).conj() + k * np.eye(k))(
            n.normal(size=(b, k, k)) + (0 if r else 1j * n.normal(size=(b, k, k)))).astype(t)
        tri = lambda side, lower, trans, conj, unit: lambda x, y: ll.triangular_solve(
            x, y, left_side=side, lower=lower, transpose_a=trans, conjugate_a=conj, unit_diagonal=unit)
        cases = {
            "cholesky": (lambda x: (la.cholesky(x), la.cholesky(x, upper=True), la.cholesky(-x)), [spd(2, 4)]),
            "cholesky-lower": (lambda x: la.cholesky(x), [spd(2, 3)]),
            "triangular-matrix": (lambda x, y: [tri(left, lower, trans, trans, unit)(x, y) for left, lower, trans, unit in (
                (True, True, False, False), (False, False, True, True), (False, True, False, False))],
                [lambda n, s=spd(1, 3): s(n)[0], a(3, 3)]),
            "lu": (lambda x: (*ll.lu(x), la.det(x[..., :3])), [a(2, 3, 5)]),
            "lu-tall": (lambda x: sl.lu(x), [a(5, 3)]),
            "solve": (lambda x, y: (la.solve(x, y), la.inv(x), *la.slogdet(x)), [spd(2, 4), a(2, 4, 3)]),
            "qr": (lambda x: (*la.qr(x), *la.qr(x, mode="complete")), [a(2, 5, 3)]),
            "qr-wide": (lambda x: (*la.qr(x), *sl.qr(x, pivoting=True)), [a(3, 5)]),
            "ormqr": (lambda x, y: [ll.ormqr(*geqrf(x), y, left=l, transpose=t) for l in (True, False) for t in (True, False)], [a(4, 3), a(4, 4)]),
            "eigh": (eigh, [spd(2, 4)]),
            "eigh-large": (lambda x: la.eigvalsh(x), [spd(1, 30)]),
            "svd": (svd(True), [a(2, 4, 3)]),
            "svd-reduced": (svd(False), [a(3, 5)]),
            "svd-values": (lambda x: (la.svd(x, compute_uv=False), la.norm(x, 2), la.matrix_rank(x), la.pinv(x)), [a(4, 3)]),
            "svd-qr": (lambda x: ll.svd(x, compute_uv=False, algorithm=ll.SvdAlgorithm.QR), [a(4, 3)]),
            "lstsq": (lambda x, y: la.lstsq(x, y)[0], [a(5, 3), a(5)]),
            "eig": (eig, [a(2, 4, 4)]),
            "eig-left": (left_eig, [a(4, 4)]),
            "eigvals": (lambda x: jnp.sort_complex(la.eigvals(x)), [a(5, 5)]),
            "schur": (schur, [a(4, 4)]),
            "hessenberg": (lambda x: sl.hessenberg(x, calc_q=True), [a(5, 5)]),
            "tridiagonal": (lambda x: ll.tridiagonal(x), [spd(2, 4)]),
            "tridiagonal-upper": (lambda x: ll.tridiagonal(x, lower=False)[1:], [spd(2, 4)]),
            "tridiagonal-solve": (lambda d, y: ll.tridiagonal_solve(d[0], d[1] + 5, d[2], y), [a(3, 4), a(4, 2)]),
            "expm": (lambda x: sl.expm(x), [a(3, 3)]),
            "not-finite": (lambda x: [jnp.isnan(y).all() for y in (la.eigh(x)[0], la.svd(x)[1], la.eigvals(x), la.cholesky(x), la.inv(x))],
                           [lambda n, t=dtype: np.full((3, 3), np.nan, t)]),
        }
        table[f"custom-tridiagonal-singular-{kind}"] = (
            # The last one has pivots of 0, whose sign decides; of complex numbers it hangs on how two zeros are
            # divided.
            lambda d, y, r=real: [ll.tridiagonal_solve(*t, y, perturb_singular=True) for t in (
                (d[0], d[1], d[2]), (jnp.zeros_like(d[0]), d[1].at[2].set(0), d[2]), (jnp.round(d[0]), jnp.zeros_like(d[1]), jnp.round(d[2])))[:3 if r else 2]],
            [a(3, 6), a(6, 2)])
        for side in (True, False):
            cases[f"triangular-{'left' if side else 'right'}"] = (
                lambda x, y, side=side: [tri(side, l, t, c, u)(x, y if side else jnp.swapaxes(y, -1, -2))
                                         for l in (True, False) for t, c in ((False, False), (True, False), (True, True)) for u in (False, True)],
                [spd(1, 3), a(1, 3, 2)])
        table.update({f"linalg-{name}-{kind}": case for name, case in cases.items()})
    return table


def stored_text(name, program, values, wants):
    """The program, its inputs and outputs as programs_test.cc reads them."""
    program = re.sub(r', frontend_attributes=\{(?:[^{}"]|"[^"]*"|\{[^{}]*\})*\}', "", program)
    parts = [("input", x) for x in values] + [("output loose", x) for x in wants]
    texts = [f"--- {part}\n{oracle_programs.literal_text(x, oracle_programs.kind_of(x.dtype))}\n" for part, x in parts]
    text = f"=== {name}\n{program.strip()}\n" + "".join(texts)
    return text if len(text) <= (6000 if name.endswith(("f64", "c128")) else 17000) else ""  # a sample is small


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kashi", default="build/kashi")
    parser.add_argument("--engine", default="auto", help="auto, cpu or evaluator")
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", default="",
                        help="functions whose names contain one of these words, separated by commas")
    parser.add_argument("--keep", help="folder for functions that differ")
    parser.add_argument("--operations", action="store_true",
                        help="use operations instead of calls of LAPACK, as on a TPU")
    parser.add_argument("--older", action="store_true", help="for an older JAX: functions that it lacks are skipped")
    parser.add_argument("--store", help="write the functions and JAX's outputs to this file instead of asking Kashi")
    a = parser.parse_args()
    if a.store:
        open(a.store, "w").close()
    run, differing = 0, 0
    for round_number in range(a.rounds):
        for name, (function, inputs) in {**functions(), **linear_algebra()}.items():
            if not any(word in name for word in a.only.split(",")) or (a.older and "not-finite" in name):
                continue  # the LAPACK of older versions never ends with a NaN
            numbers = np.random.default_rng([a.seed, round_number])
            values = [np.asarray(make(numbers)) for make in inputs]
            as_tuple = lambda *x, f=function: tuple(jax.tree_util.tree_leaves(f(*x)))
            try:
                lowered = jax.jit(as_tuple, keep_unused=True).lower(*values)
            except (AttributeError, NotImplementedError, TypeError, ValueError) as error:
                if not a.older:
                    raise
                print(f"{name}: not in JAX {jax.__version__}: {str(error)[:80]}")
                continue
            program = lowered.as_text("hlo")
            if a.operations and "lapack_" in program:
                program = jax.jit(as_tuple, keep_unused=True).trace(
                    *values).lower(lowering_platforms=("tpu",)).as_text("hlo")
            wants = [np.asarray(x) for x in jax.tree_util.tree_leaves(lowered.compile()(*values))]
            if a.store:
                with open(a.store, "a") as file:
                    file.write(stored_text(name, program, values, wants))
                continue
            with tempfile.TemporaryDirectory() as folder:
                with open(f"{folder}/module.hlo", "w") as file:
                    file.write(program)
                arguments = []
                for i, x in enumerate(values):
                    np.save(f"{folder}/in{i}.npy", x if x.dtype.isbuiltin == 1 else x.view(f"V{x.itemsize}"))
                    arguments += ["--input", f"{folder}/in{i}.npy"]
                ours = subprocess.run(
                    [a.kashi, "run", f"{folder}/module.hlo", "--engine", a.engine, *arguments,
                     "--output-dir", f"{folder}/ours"],
                    capture_output=True, text=True, timeout=120)
                why = [f"exit {ours.returncode}: {ours.stderr.strip()[-300:]}"] if ours.returncode else []
                for i, want in enumerate(wants if not why else []):
                    got = load(f"{folder}/ours/out{i}.npy", want.dtype.name)
                    reason = difference(want, got, LOOSE)
                    if reason:
                        why.append(f"output {i}: {reason}\n  XLA   {want.ravel()[:40]}\n  Kashi {got.ravel()[:40]}")
                if why and a.keep:
                    subprocess.run(["cp", "-r", f"{folder}/.", f"{a.keep}/{name}"], check=True)
            run, differing = run + 1, differing + bool(why)
            if why:
                print(f"{name}, round {round_number}: " + "\n".join(why), flush=True)
    print(f"{run} functions, {differing} differ")
    sys.exit(1 if differing else 0)


if __name__ == "__main__":
    main()
