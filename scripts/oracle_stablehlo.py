#!/usr/bin/env python3
"""Exports JAX functions as StableHLO, as portable artifacts and as text, runs each through JAX (real XLA) and through
`kashi run`, and prints the differences.

  .venv/bin/python scripts/oracle_stablehlo.py --kashi build/kashi [--seed 1] [--only cumsum,scipy] [--keep DIR]

Needs a Python with jax (`./dev oracle` makes one in .venv). The functions are those of oracle_jax.py and the ones here,
most of which call CHLO, composites and calls within calls. Inputs are small and random. Both forms must give the results
of XLA's compiler, which gets the program from JAX and not from the artifact."""
import argparse
import os
import shutil
import subprocess
import sys
import tempfile

os.environ["JAX_PLATFORMS"] = "cpu"
import jax
import jax.numpy as jnp
import numpy as np
from jax import export, lax, nn
from jax.scipy import special

import oracle_jax
from oracle_makers.program import LOOSE
from oracle_makers.xla import difference, load

TIMEOUT_S = 120  # of one program


def real(*sizes, low=-2.0, high=2.0, dtype=np.float32):
    return lambda numbers: numbers.uniform(low, high, sizes).astype(dtype)


def unary():
    """Functions of one array: name -> (function, inputs)."""
    inside = {"arccos", "arcsin", "arctanh", "erf_inv"}
    positive = {"log2", "log10", "sqrt", "gammaln", "digamma", "gamma", "log_ndtr", "entr", "logit", "ndtri", "zeta"}
    names = {
        jnp: ("abs", "arccos", "arccosh", "arcsin", "arcsinh", "arctan", "arctanh", "cbrt", "ceil", "conj", "cosh",
              "deg2rad", "exp2", "fabs", "floor", "isfinite", "isinf", "isnan", "isneginf", "isposinf", "log2",
              "log10", "negative", "positive", "rad2deg", "rint", "sign", "signbit", "sinc", "spacing", "trunc",
              "cumsum", "cumprod", "ptp", "nanmax", "nanmin", "nanmean", "nanstd", "nanvar", "nancumsum", "sort",
              "argsort", "argmax", "ravel", "squeeze", "average", "median", "iscomplex", "real",
              "imag", "angle", "atleast_3d", "ediff1d", "trapezoid", "unwrap", "diff", "flip"),
        lax: ("erf", "erf_inv", "erfc", "bessel_i0e", "bessel_i1e", "is_finite", "logistic", "rsqrt", "square",
              "stop_gradient", "optimization_barrier"),
        special: ("digamma", "entr", "erf", "erfc", "exp1", "expi", "expit", "gamma", "gammaln", "i0", "i0e", "i1",
                  "i1e", "log_ndtr", "log_softmax", "logit", "logsumexp", "ndtr", "ndtri", "softmax", "spence"),
        nn: ("celu", "elu", "gelu", "glu", "hard_sigmoid", "hard_silu", "hard_tanh", "leaky_relu", "log_sigmoid",
             "log_softmax", "mish", "relu", "relu6", "selu", "sigmoid", "silu", "soft_sign", "softmax", "softplus",
             "sparse_plus", "sparse_sigmoid", "squareplus", "standardize"),
    }
    table = {}
    for module, words in names.items():
        for word in words:
            function = getattr(module, word, None)
            if function is None:
                continue  # a version of JAX without it
            low, high = (-0.9, 0.9) if word in inside else (0.1, 0.9) if word in positive else (-2, 2)
            if word == "arccosh":
                low, high = 1, 5
            prefix = module.__name__.split(".")[-1]
            for kind, dtype in (("f32", np.float32), ("bf16", jnp.bfloat16), ("f64", np.float64)):
                if kind == "f32" or word in ("erf", "erfc", "erf_inv", "arcsinh", "arctanh", "cosh", "gammaln"):
                    table[f"{prefix}.{word}-{kind}"] = (function, [real(4, 6, low=low, high=high, dtype=dtype)])
    return table


def others():
    """Functions of several arrays, and whole programs: name -> (function, inputs)."""
    f = real
    whole = lambda high, *s: lambda n: n.integers(0, high, s).astype(np.int32)
    positive = lambda *s: real(*s, low=0.3, high=2.5)

    def nested(x):
        inner = jax.jit(lambda y: jnp.tanh(y) + 1)
        return inner(inner(x)) + jax.jit(lambda y: inner(y) * 2)(x)

    def captured_while(x, limit):
        return lax.while_loop(lambda s: s[0] < limit[0], lambda s: (s[0] + 1, s[1] * x + limit[0]), (0, x))

    def captured_cond(x, y):
        return lax.cond(x[0] > 0, lambda: (x + y, x.sum()), lambda: (x - y, y.sum()))

    def double_scan(x):
        row = lambda carry, y: lax.scan(lambda c, z: (c + z, c * z), carry, y)
        return lax.scan(row, jnp.float32(0), x)

    def custom_rule(x):
        @jax.custom_vjp
        def clip(y):
            return jnp.minimum(y, 1.0)

        clip.defvjp(lambda y: (clip(y), None), lambda _, g: (g * 2,))
        return jax.grad(lambda y: clip(y).sum())(x)

    def attention(q, k, v):
        return nn.dot_product_attention(q, k, v, is_causal=True)

    def adam(w, g, m, v):
        m, v = 0.9 * m + 0.1 * g, 0.999 * v + 0.001 * g * g
        return w - 0.01 * m / (jnp.sqrt(v) + 1e-8), m, v

    return {
        "special.beta": (special.betaln, [positive(9), positive(9)]),
        "special.betainc": (special.betainc, [positive(9), positive(9), real(9, low=0.1, high=0.9)]),
        "special.gammainc": (lambda a, x: (special.gammainc(a, x), special.gammaincc(a, x)), [positive(9), positive(9)]),
        "special.polygamma": (lambda x: (special.polygamma(2, x), special.zeta(x + 1, x)), [positive(9)]),
        "special.rel_entr": (lambda x, y: (special.rel_entr(x, y), special.kl_div(x, y)), [positive(9), positive(9)]),
        "special.xlogy": (lambda x, y: (special.xlogy(x, y), special.xlog1py(x, y)), [positive(9), positive(9)]),
        "special.multigammaln": (lambda x: special.multigammaln(x + 3, 3), [positive(9)]),
        "jnp.nextafter": (jnp.nextafter, [f(9), f(9)]),
        "jnp.heaviside": (jnp.heaviside, [f(9), f(9)]),
        "jnp.float_power": (jnp.float_power, [positive(9), f(9)]),
        "jnp.arctan2": (jnp.arctan2, [f(9), f(9)]),
        "jnp.select": (lambda x, y: jnp.select([x > 1, x > 0], [x, y], 5.0), [f(9), f(9)]),
        "jnp.piecewise": (lambda x: jnp.piecewise(x, [x < 0, x > 1], [-1.0, 1.0, lambda y: y * y]), [f(9)]),
        "jnp.lcm": (lambda x, y: (jnp.lcm(x, y), jnp.gcd(x, y)), [whole(60, 9), whole(60, 9)]),
        "jnp.bits": (lambda x, y: (x & y, x | y, x ^ y, ~x, x << 2, x >> 1), [whole(999, 9), whole(999, 9)]),
        "jnp.integers": (lambda x, y: (x // (y + 1), x % (y + 1), x ** 2), [whole(60, 9), whole(9, 9)]),
        "jnp.cov": (lambda x: (jnp.cov(x), jnp.corrcoef(x)), [f(3, 9)]),
        "jnp.percentile": (lambda x: jnp.percentile(x, jnp.array([10.0, 50.0]), axis=0), [f(9, 3)]),
        "jnp.apply_along_axis": (lambda x: jnp.apply_along_axis(jnp.sort, 0, x), [f(5, 3)]),
        "jnp.put_along_axis": (lambda x: jnp.put_along_axis(x, x.argmax(1)[:, None], 9.0, 1, inplace=False), [f(5, 3)]),
        "jnp.tensordot": (lambda x, y: jnp.tensordot(x, y, ((1, 2), (0, 1))), [f(3, 4, 5), f(4, 5, 2)]),
        "jnp.block": (lambda x: jnp.block([[x, x * 2], [x.T, x]]), [f(3, 3)]),
        "jnp.where": (lambda x, y: jnp.where(x > y, x, y), [f(9), f(9)]),
        "jnp.insert": (lambda x: (jnp.insert(x, 2, 5.0), jnp.delete(x, 3), jnp.append(x, x)), [f(9)]),
        "jnp.indexing": (lambda x, i: (x[i, :], x[:, i], x[i, i], x[::2, 1:-1], x[..., None]), [f(5, 5), whole(5, 4)]),
        "jnp.at": (lambda x, i: (x.at[i].set(0), x.at[i].add(1), x.at[i, i].multiply(2), x.at[i].get(mode="fill")),
                   [f(5, 5), whole(5, 4)]),
        "lax.reduce": (lambda x: lax.reduce((x, x * 2), (np.float32(0), np.float32(1)),
                                            lambda a, b: (a[0] + b[0], jnp.maximum(a[1], b[1])), (0,)), [f(5, 3)]),
        "lax.reduce_window": (lambda x: lax.reduce_window(x, 0.0, lax.add, (2, 3), (1, 2), "SAME"), [f(6, 7)]),
        "lax.sort": (lambda x, y: lax.sort((x, y), num_keys=2), [whole(4, 20), f(20)]),
        "lax.pad": (lambda x: lax.pad(x, np.float32(9), ((1, 2, 1), (-1, 0, 0))), [f(4, 5)]),
        "lax.gather": (lambda x, i: jnp.take(x, i, axis=0, mode="fill", fill_value=7.0), [f(5, 2), whole(9, 6)]),
        "lax.dynamic_slice": (lambda x, i: lax.dynamic_slice(x, (i[0], i[1]), (2, 3)), [f(5, 5), whole(6, 2)]),
        "lax.dynamic_update": (lambda x, y, i: lax.dynamic_update_slice(x, y, (i[0], i[1])), [f(5, 5), f(2, 2), whole(6, 2)]),
        "lax.conv": (lambda x, w: lax.conv_general_dilated(x, w, (2, 1), ((1, 2), (0, 1)), (1, 2), (2, 1),
                                                           ("NHWC", "HWIO", "NHWC")), [f(2, 7, 6, 2), f(3, 2, 2, 3)]),
        "lax.conv-groups": (lambda x, w: lax.conv_general_dilated(x, w, (1,), "SAME", feature_group_count=2), [f(1, 4, 9), f(6, 2, 3)]),
        "lax.dot_general": (lambda x, y: lax.dot_general(x, y, (((2,), (1,)), ((0,), (0,)))), [f(3, 4, 5), f(3, 5, 2)]),
        "lax.ragged_dot": (lax.ragged_dot, [f(9, 4), f(3, 4, 2), lambda _: np.array([2, 3, 4], np.int32)]),
        "lax.top_k": (lambda x: lax.top_k(x, 3), [f(4, 9)]),
        "lax.mulhi": (lambda x, y: lax.mulhi(x, y) if hasattr(lax, "mulhi") else x, [whole(2**31 - 1, 9), whole(2**31 - 1, 9)]),
        "lax.reduce_precision": (lambda x: lax.reduce_precision(x, 5, 7), [f(9)]),
        "lax.cumulative": (lambda x: (lax.cumsum(x, 0, True), lax.cummax(x, 1), lax.cumlogsumexp(x, 0)), [f(4, 5)]),
        "lax.select_n": (lambda i, x, y, z: lax.select_n(i, x, y, z), [whole(3, 9), f(9), f(9), f(9)]),
        "lax.iota": (lambda x: x + lax.broadcasted_iota(jnp.float32, (4, 5), 1), [f(4, 5)]),
        "lax.clamp": (lambda x: lax.clamp(np.float32(-1), x, np.float32(1)), [f(4, 5)]),
        "lax.switch": (lambda i, x: lax.switch(i[0], [jnp.sin, jnp.cos, lambda y: y + x[0]], x), [whole(4, 1), f(9)]),
        "lax.map": (lambda x: lax.map(lambda r: jnp.outer(r, r).sum(), x), [f(4, 5)]),
        "calls": (nested, [f(9)]),
        "while-captures": (captured_while, [f(9), whole(5, 1)]),
        "cond-captures": (captured_cond, [f(9), f(9)]),
        "scan-in-scan": (double_scan, [f(4, 5)]),
        "custom-vjp": (custom_rule, [f(9)]),
        "checkpoint": (jax.grad(jax.checkpoint(lambda x: jnp.sin(jnp.cos(x)).sum())), [f(9)]),
        "attention": (attention, [f(1, 5, 2, 4), f(1, 5, 2, 4), f(1, 5, 2, 4)]),
        "adam": (adam, [f(9), f(9), f(9), positive(9)]),
        "empty": (lambda x: (x[:0], jnp.zeros((0, 3)) @ jnp.zeros((3, 2)), x[:0].sum()), [f(9)]),
        "scalars": (lambda x: (x * 2, x > 0, x.astype(jnp.int32), x.astype(jnp.bfloat16)), [f()]),
        "constants": (lambda x: (x + np.arange(24, dtype=np.float32).reshape(4, 6) / 7, jnp.full((3,), np.nan),
                                 jnp.array([True, False]), jnp.array([1 + 2j, 3]), jnp.bfloat16(3.5)), [f(4, 6)]),
        "same-twice": (lambda x, y: (x, x, y), [f(3), f(2)]),
    }


def compare(arguments, name, path, values, wants, folder):
    """What differs between XLA's results and those of `kashi run` on the file."""
    inputs, results = [], os.path.join(folder, "ours")
    for i, value in enumerate(values):
        file = f"{folder}/in{i}.npy"
        np.save(file, value if value.dtype.isbuiltin == 1 else value.view(f"V{value.itemsize}"))
        inputs += ["--input", file]
    shutil.rmtree(results, ignore_errors=True)
    done = subprocess.run([arguments.kashi, "run", path, *inputs, "--output-dir", results], capture_output=True,
                          text=True, timeout=TIMEOUT_S, check=False)
    if done.returncode:
        return [f"exit {done.returncode}: {done.stderr.strip()[-400:]}"]
    why = []
    for i, want in enumerate(wants):
        got = load(f"{results}/out{i}.npy", want.dtype.name)
        reason = difference(want, got, LOOSE)
        if reason:
            why.append(f"output {i}: {reason}\n  XLA   {want.ravel()[:20]}\n  Kashi {got.ravel()[:20]}")
    return why


def check(arguments, name, function, inputs):
    """All that differs; None if JAX cannot export the function."""
    numbers = np.random.default_rng([arguments.seed, sum(name.encode())])
    values = [np.asarray(make(numbers)) for make in inputs]
    flat = jax.jit(lambda *x: tuple(jax.tree_util.tree_leaves(function(*x))), keep_unused=True)
    try:
        exported = export.export(flat)(*values)
        wants = [np.asarray(x) for x in flat(*values)]
    except (NotImplementedError, TypeError, ValueError) as error:
        print(f"{name}: JAX does not export it: {str(error)[:150]}")
        return None
    why = []
    with tempfile.TemporaryDirectory() as folder:
        with open(f"{folder}/module.mlirbc", "wb") as file:
            file.write(exported.mlir_module_serialized)
        with open(f"{folder}/module.mlir", "w", encoding="utf-8") as file:
            file.write(exported.mlir_module())
        for form in ("module.mlirbc", "module.mlir"):
            why += [f"{form}: {reason}" for reason in
                    compare(arguments, name, os.path.join(folder, form), values, wants, folder)]
        if why and arguments.keep:
            shutil.copytree(folder, os.path.join(arguments.keep, name), dirs_exist_ok=True)
    return why


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kashi", default="build/kashi")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", default="", help="functions whose names contain one of these words, with commas")
    parser.add_argument("--keep", help="folder for programs that differ")
    arguments = parser.parse_args()
    table = {**unary(), **others(), **{f"jax-{name}": case for name, case in oracle_jax.functions().items()}}
    run, differing = 0, 0
    for name, (function, inputs) in table.items():
        if not any(word in name for word in arguments.only.split(",")):
            continue
        why = check(arguments, name, function, inputs)
        if why is None:
            continue
        run, differing = run + 1, differing + bool(why)
        if why:
            print(f"{name}: " + "\n".join(why), flush=True)
    print(f"{run} functions as artifact and as text, {differing} differ")
    sys.exit(1 if differing or not run else 0)


if __name__ == "__main__":
    main()
