#!/usr/bin/env python3
"""Exports JAX functions with symbolic sizes (jax.export.symbolic_shape), as portable artifacts and as text, runs each
for several sizes through JAX (real XLA) and through `kashi run`, and prints the differences.

  .venv/bin/python scripts/oracle_symbolic.py --kashi build/kashi [--seed 1] [--only cumsum,conv] [--keep DIR]

Kashi gets the program with its open sizes, and the sizes from the inputs. JAX refines it by StableHLO's passes."""
import argparse
import os
import shutil
import sys
import tempfile

os.environ["JAX_PLATFORMS"] = "cpu"
import jax
import jax.numpy as jnp
import numpy as np
from jax import export, lax, nn
from jax._src.core import max_dim, min_dim
from jax.scipy import special

from oracle_stablehlo import compare

F = np.float32
SMALLEST = {"a": 1, "b": 2, "c": 1}
SIZES = ({"a": 3, "b": 4, "c": 5}, {"a": 1, "b": 2, "c": 8}, {"a": 6, "b": 3, "c": 7})


def unary():
    """Functions of one array of type f32[a,b]: name -> function."""
    names = {
        jnp: ("abs", "arcsinh", "argmax", "argsort", "average", "ceil", "cosh", "cumprod", "cumsum", "diff", "exp",
              "expm1", "fliplr", "flipud", "isnan", "log1p", "max", "mean", "min", "nanmean", "nansum", "ones_like",
              "prod", "ravel", "rint", "sign", "sin", "sinc", "sort", "sqrt", "square", "std", "sum", "tan", "tanh",
              "tril", "triu", "var", "zeros_like", "ptp", "median", "any", "all", "count_nonzero", "signbit",
              "nan_to_num", "trace", "rot90", "transpose", "argmin", "nanmax"),
        nn: ("celu", "elu", "gelu", "log_softmax", "relu", "selu", "sigmoid", "silu", "softmax", "softplus",
             "standardize", "logsumexp"),
        special: ("erf", "erfc", "expit", "gammaln", "digamma", "logsumexp", "ndtr", "i0", "i1e"),
    }
    table = {}
    for module, words in names.items():
        for word in words:
            function = module
            for part in word.split("."):
                function = getattr(function, part, None)
            if function is not None:
                table[f"{module.__name__.split('.')[-1]}.{word}"] = function
    return table


def others():
    """name -> (function, symbolic shapes, types)."""
    def scan_rows(x):
        return lax.scan(lambda c, r: (c + r, c * r), jnp.zeros(x.shape[1], F), x)

    def padded_loop(x):
        add = lambda i, s: s + jnp.full((x.shape[1],), i, F) * x[i]
        return lax.fori_loop(0, x.shape[0], add, jnp.zeros(x.shape[1], F))

    def while_of_size(x):
        return lax.while_loop(lambda s: s[0] < x.shape[1], lambda s: (s[0] + 1, s[1] + jnp.ones(x.shape, F)), (0, x))[1]

    def cond_of_size(x):
        return lax.cond(x.sum() > 0, lambda: jnp.zeros((x.shape[0] * 2,), F) + x.shape[1],
                        lambda: jnp.ones((x.shape[0] * 2,), F))

    def attention(q, k, v):
        return nn.dot_product_attention(q, k, v, is_causal=True)

    def layer_norm(x, g):
        return (x - x.mean(-1, keepdims=True)) / jnp.sqrt(x.var(-1, keepdims=True) + 1e-5) * g

    def calls(x):
        inner = jax.jit(lambda y: jnp.reshape(y, (-1,)) * y.shape[0])
        return inner(x).sum() + inner(x.T).sum() + inner(jnp.concatenate([x, x])).sum()

    def exported_call(x):
        inner = export.export(jax.jit(lambda y: jnp.cumsum(y, 0) + y.shape[1]))(
            jax.ShapeDtypeStruct(export.symbolic_shape("n, m"), F))
        return inner.call(x) + inner.call(x.T).T + inner.call(x)

    one, two, three = ["a, b"], ["a, b", "b, c"], ["a, b", "a, b"]
    square = ["b, b"]
    return {
        "size": (lambda x: (x.shape[0] + 2 * x.shape[1], jnp.float32(x.shape[0] // 2 + x.shape[1] % 2)), one),
        "floordiv": (lambda x: jnp.ones(((x.shape[0] + 5) // 2, x.shape[1] % 3 + 1)), one),
        "floordiv-negative": (lambda x: jnp.ones((max_dim((2 - x.shape[0]) // 2 + 1, 1),)), one),
        "max-size": (lambda x: jnp.zeros((max_dim(x.shape[0], x.shape[1]), min_dim(x.shape[0], 3))), one),
        "reshape": (lambda x: x.reshape(-1), one),
        "reshape-merge": (lambda x: x.reshape(x.shape[0], 2, -1), ["a, 2*b"]),
        "reshape-split": (lambda x: x.reshape(-1, 2), ["a, 2*b"]),
        "expand": (lambda x: x[:, None, :] * x[None, :, :], one),
        "broadcast": (lambda x, y: x[:, :, None] + y[None], two),
        "broadcast_to": (lambda x: jnp.broadcast_to(x, (3, *x.shape)), one),
        "tile": (lambda x: jnp.tile(x, (2, 3)), one),
        "repeat": (lambda x: jnp.repeat(x, 3, axis=1), one),
        "concatenate": (lambda x, y: jnp.concatenate([x, y, x], 1), three),
        "stack": (lambda x, y: jnp.stack([x, y]), three),
        "split": (lambda x: jnp.split(x, 2, axis=1), ["a, 2*b"]),
        "pad": (lambda x: jnp.pad(x, ((1, 2), (0, x.shape[0]))), one),
        "pad-reflect": (lambda x: jnp.pad(x, ((0, 0), (1, 1)), mode="edge"), one),
        "lax.pad": (lambda x: lax.pad(x, F(9), ((1, 2, 1), (-1, 0, 0))), one),
        "slice": (lambda x: (x[1:], x[:, :-1], x[::2], x[::-1], x[-1]), ["a + 1, b + 1"]),
        "slice-size": (lambda x: x[: x.shape[0] // 2 + 1], one),
        "dynamic_slice": (lambda x, i: lax.dynamic_slice(x, (i, i * 0), (1, x.shape[1])), ["a, b", ""], [F, np.int32]),
        "dynamic_update": (lambda x, y: lax.dynamic_update_slice(x, y, (1, 0)), ["a + 1, b", "a, b"]),
        "index": (lambda x, i: (x[i], x[:, i], x[i, i]), ["b, b", "c"], [F, np.int32]),
        "take": (lambda x, i: jnp.take(x, i, axis=1, mode="clip"), ["a, b", "c"], [F, np.int32]),
        "take_along_axis": (lambda x: jnp.take_along_axis(x, jnp.argsort(x, 1), 1), one),
        "at-set": (lambda x, i: (x.at[i].set(0), x.at[i].add(1)), ["a, b", "c"], [F, np.int32]),
        "scatter-slice": (lambda x: x.at[:, 0].set(1.0).at[0].multiply(2), one),
        "one_hot": (lambda i: nn.one_hot(i, 5), ["a"], [np.int32]),
        "one_hot-size": (lambda x, i: nn.one_hot(i, x.shape[0]), ["a, b", "c"], [F, np.int32]),
        "embedding": (lambda x, i: x[i].sum(0), ["9, b", "a, c"], [F, np.int32]),
        "iota": (lambda x: lax.broadcasted_iota(jnp.int32, x.shape, 1), one),
        "arange": (lambda x: jnp.arange(x.shape[0] * 2) + 1, one),
        "linspace": (lambda x: jnp.linspace(0, 1, 7) * x.max(), one),
        "eye": (lambda x: jnp.eye(x.shape[0], x.shape[1]) + x, one),
        "tri": (lambda x: jnp.tri(x.shape[0]) @ x, one),
        "meshgrid": (lambda x: jnp.meshgrid(jnp.arange(x.shape[0]), jnp.arange(x.shape[1])), one),
        "full": (lambda x: jnp.full((x.shape[0], 4), 3), one),
        "matmul": (lambda x, y: x @ y, two),
        "matmul-T": (lambda x: x @ x.T, one),
        "einsum": (lambda x, y: jnp.einsum("ij,jk->ki", x, y), two),
        "batch-matmul": (lambda x, y: x @ y, ["a, b, c", "a, c, b"]),
        "dot_general": (lambda x, y: lax.dot_general(x, y, (((1,), (2,)), ((0,), (0,)))), ["a, b, c", "a, c, b"]),
        "outer": (jnp.outer, ["a", "b"]),
        "kron": (jnp.kron, ["a, b", "2, 3"]),
        "tensordot": (lambda x, y: jnp.tensordot(x, y, 1), two),
        "conv": (lambda x, w: lax.conv_general_dilated(x, w, (1, 2), "SAME"), ["a, 3, c + 2, b + 3", "4, 3, 3, 2"]),
        "conv-valid": (lambda x, w: lax.conv_general_dilated(x, w, (1, 1), ((1, 2), (0, 1))),
                       ["a, 3, c, b + 3", "4, 3, 3, 2"]),
        "conv-dilated": (lambda x, w: lax.conv_general_dilated(x, w, (1,), ((1, 1),), (2,), (2,)),
                         ["a, 3, c + 5", "4, 3, 3"]),
        "max_pool": (lambda x: lax.reduce_window(x, -jnp.inf, lax.max, (1, 2), (1, 2), "SAME"), one),
        "avg_pool": (lambda x: lax.reduce_window(x, 0.0, lax.add, (2, 2), (1, 1), "VALID"), ["a + 1, b"]),
        "window-of-size": (lambda x: lax.reduce_window(x, 0.0, lax.add, (x.shape[0], 1), (1, 1), "SAME"), one),
        "cumsum": (lambda x: (jnp.cumsum(x, 0), lax.cummax(x, 1), lax.cumlogsumexp(x, 0)), one),
        "reduce": (lambda x: (x.sum(0), x.max(1), x.mean(), x.argmax(0), x.all(), x.prod(1)), one),
        "norm": (lambda x: (jnp.linalg.norm(x), jnp.linalg.norm(x, axis=1)), one),
        "softmax-T": (lambda x: nn.softmax(x, axis=0), one),
        "layer-norm": (layer_norm, ["a, b", "b"]),
        "attention": (attention, ["a, b, 2, 4", "a, b, 2, 4", "a, b, 2, 4"]),
        "sort": (lambda x: (jnp.sort(x, 0), jnp.argsort(x, 1)), one),
        "top_k": (lambda x: lax.top_k(x, 2), ["a, b"]),
        "top_k-of-size": (lambda x: lax.top_k(x, x.shape[1] - 1), one),
        "approx_max_k": (lambda x: lax.approx_max_k(x, 2), one),
        "approx_max_k-of-size": (lambda x: lax.approx_max_k(x, x.shape[1]), one),
        "where": (lambda x, y: jnp.where(x > y, x, y * 2), three),
        "clip": (lambda x: jnp.clip(x, -1, 1), one),
        "select": (lambda x: jnp.select([x > 1, x > 0], [x, x * x], 5.0), one),
        "random": (lambda x: jax.random.uniform(jax.random.PRNGKey(3), x.shape), one),
        "random-normal": (lambda x: jax.random.normal(jax.random.PRNGKey(3), (x.shape[0] * 2,)), one),
        "random-rbg": (lambda x: jax.random.uniform(jax.random.key(3, impl="rbg"), x.shape), one),
        "random-unsafe-rbg": (lambda x: jax.random.bits(jax.random.key(3, impl="unsafe_rbg"), (x.shape[1],)), one),
        "grad": (jax.grad(lambda x: (jnp.sin(x) * x.shape[0]).sum()), one),
        "grad-matmul": (jax.grad(lambda x, y: jnp.tanh(x @ y).sum(), (0, 1)), two),
        "grad-pool": (jax.grad(lambda x: lax.reduce_window(x, -jnp.inf, lax.max, (1, 2), (1, 2), "VALID").sum()),
                      ["a, 2*b"]),
        "grad-mean": (jax.grad(lambda x: (x.mean() + x.max() + x[0].var())), one),
        "vmap": (jax.vmap(lambda r: jnp.outer(r, r)), one),
        "map": (lambda x: lax.map(lambda r: r.sum() * r, x), one),
        "scan": (scan_rows, one),
        "fori": (padded_loop, one),
        "while": (while_of_size, one),
        "cond": (cond_of_size, one),
        "calls": (calls, one),
        "exported-call": (exported_call, one),
        "fft": (lambda x: jnp.fft.fft(x).real, ["a, 8"]),
        "cholesky": (lambda x: jnp.linalg.cholesky(x @ jnp.swapaxes(x, -1, -2) + 9 * jnp.eye(3)), ["a, 3, 3"]),
        "solve_triangular": (lambda x: jax.scipy.linalg.solve_triangular(jnp.tril(x) + 9 * jnp.eye(x.shape[0]), x,
                                                                         lower=True), square),
        "histogram": (lambda x: jnp.bincount((x.ravel() > 0).astype(jnp.int32), length=3), one),
        "unused": (lambda x, y: x * 2, three),
        "same-size": (lambda x, y: x + y.T, ["a, b", "b, a"]),
        "bool": (lambda x: (x > 0) & (x < 1), one),
        "bf16": (lambda x: (x * x.shape[0]).sum(1), one, [jnp.bfloat16]),
        "int": (lambda x: (x * 3 + x.shape[1], x // 2, x.sum(0)), one, [np.int32]),
        "complex": (lambda x: jnp.abs(lax.complex(x, x * 2)), one),
        "segment_sum": (lambda x, i: jax.ops.segment_sum(x, i, 4), ["a, b", "a"], [F, np.int32]),
        "roll": (lambda x: jnp.roll(x, 1, axis=0), one),
        "triangle": (lambda x: jnp.where(jnp.tril(jnp.ones((x.shape[0], x.shape[0]), bool)), x @ x.T, -jnp.inf), one),
        "insert": (lambda x: jnp.append(x, x), one),
        "dynamic-index": (lambda x: lax.dynamic_index_in_dim(x, x.shape[0] - 1, 0), one),
        "mixed-type": (lambda x: x.astype(jnp.int32).astype(jnp.float16), one),
        "swapaxes": (lambda x: jnp.moveaxis(x, 0, -1), ["a, b, c"]),
        "image-resize": (lambda x: jax.image.resize(x, (x.shape[0] * 2, x.shape[1]), "nearest"), one),
    }


def table():
    cases = {name: (function, ["a, b"], [F]) for name, function in unary().items()}
    for name, case in others().items():
        function, shapes = case[:2]
        cases[name] = (function, shapes, case[2] if len(case) > 2 else [F] * len(shapes))
    return cases


def concrete(shape, sizes):
    return tuple(int(eval(part, {}, dict(sizes))) for part in shape.split(",") if part.strip())


def values_of(shapes, types, sizes, numbers):
    values = []
    for shape, kind in zip(shapes, types):
        dims = concrete(shape, sizes)
        whole = np.issubdtype(kind, np.integer)
        values.append(numbers.integers(0, 3, dims).astype(kind) if whole else
                      np.asarray(numbers.uniform(-2, 2, dims)).astype(kind))
    return values


def check(arguments, name, function, shapes, types):
    """All that differs; None if JAX cannot export the function."""
    flat = jax.jit(lambda *x: tuple(jnp.asarray(y) for y in jax.tree_util.tree_leaves(function(*x))), keep_unused=True)
    used = [f"{name} >= {SMALLEST[name]}" for name in SMALLEST if any(name in shape for shape in shapes)]
    scope = export.SymbolicScope(tuple(used))
    symbolic = [jax.ShapeDtypeStruct(export.symbolic_shape(shape, scope=scope), kind)
                for shape, kind in zip(shapes, types)]
    numbers = np.random.default_rng([arguments.seed, sum(name.encode())])
    try:
        exported = export.export(flat)(*symbolic)
    except Exception as error:  # JAX has many reasons
        print(f"{name}: JAX does not export it: {str(error)[:150]}")
        return None
    why = []
    with tempfile.TemporaryDirectory() as folder:
        with open(f"{folder}/module.mlirbc", "wb") as file:
            file.write(exported.mlir_module_serialized)
        with open(f"{folder}/module.mlir", "w", encoding="utf-8") as file:
            file.write(exported.mlir_module())
        for sizes in SIZES:
            values = values_of(shapes, types, sizes, numbers)
            wants = [np.asarray(x) for x in exported.call(*values)]
            for form in ("module.mlirbc", "module.mlir"):
                why += [f"{form} {sizes}: {reason}" for reason in
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
    run, differing = 0, 0
    for name, (function, shapes, types) in table().items():
        if not any(word in name for word in arguments.only.split(",")):
            continue
        why = check(arguments, name, function, shapes, types)
        if why is None:
            continue
        run, differing = run + 1, differing + bool(why)
        if why:
            print(f"{name}: " + "\n".join(why), flush=True)
    print(f"{run} functions for {len(SIZES)} sizes each, as artifact and as text; {differing} differ")
    sys.exit(1 if differing or not run else 0)


if __name__ == "__main__":
    main()
