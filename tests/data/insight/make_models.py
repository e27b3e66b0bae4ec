#!/usr/bin/env python3
"""Writes tests/data/insight/models and examples/two_layers.hlo: a small transformer, its layers unrolled or in a scan, in
HLO text of JAX.

  .venv/bin/python tests/data/insight/make_models.py

`NAME.hlo` is the module as JAX lowers it, `NAME.cpu.hlo` what XLA's CPU compiler makes of some of them.
"""
import functools
import pathlib
import re

import jax
import jax.numpy as jnp

BATCH, TOKENS, WIDTH, HEADS = 2, 32, 64, 4
OUT = pathlib.Path(__file__).parent / "models"
EXAMPLE = pathlib.Path(__file__).parents[3] / "examples/two_layers.hlo"


def attention(x, w):
    q, k, v = (jnp.reshape(x @ w[name], (BATCH, TOKENS, HEADS, -1)) for name in ("q", "k", "v"))
    scores = jnp.einsum("bthd,bshd->bhts", q, k)
    mixed = jnp.einsum("bhts,bshd->bthd", jax.nn.softmax(scores), v)
    return jnp.reshape(mixed, x.shape) @ w["out"]


def layer(x, w):
    with jax.named_scope("attention"):
        x = x + attention(x, w)
    with jax.named_scope("mlp"):
        return x + jnp.tanh(x @ w["up"]) @ w["down"]


def unrolled(weights, x, wrap=lambda f: f):
    for i in range(weights["q"].shape[0]):
        with jax.named_scope(f"layer_{i}"):
            x = wrap(layer)(x, jax.tree.map(lambda w: w[i], weights))
    return x


def scanned(weights, x, wrap=lambda f: f):
    def body(x, w):
        with jax.named_scope("layer"):
            return wrap(layer)(x, w), None

    return jax.lax.scan(body, x, weights)[0]


def loss(model, weights, x):
    with jax.named_scope("loss"):
        return jnp.sum(model(weights, x) ** 2)


def called(weights, x):
    return unrolled(weights, x, wrap=jax.jit)


def shapes(layers):
    square = jax.ShapeDtypeStruct((layers, WIDTH, WIDTH), jnp.float32)
    weights = dict(q=square, k=square, v=square, out=square,
                   up=jax.ShapeDtypeStruct((layers, WIDTH, 4 * WIDTH), jnp.float32),
                   down=jax.ShapeDtypeStruct((layers, 4 * WIDTH, WIDTH), jnp.float32))
    return weights, jax.ShapeDtypeStruct((BATCH, TOKENS, WIDTH), jnp.float32)


def without_paths(text):
    """No tables of stack frames, and no names of files of this machine."""
    text = re.sub(r"(?m)^(FileNames|FunctionNames|FileLocations|StackFrames)\n(.+\n)*\n?", "", text)
    return re.sub(r" ?(source_file=\"[^\"]*\"|source_line=\d+|source_end_line=\d+|source_column=\d+|"
                  r"source_end_column=\d+|stack_frame_id=\d+)", "", text)


def text_of(lowered):
    return without_paths(lowered.compiler_ir("hlo").as_hlo_module().to_string())


def write(name, function, compiles=False):
    lowered = jax.jit(function).lower(*shapes(layers=6))
    (OUT / f"{name}.hlo").write_text(text_of(lowered))
    if compiles:
        (OUT / f"{name}.cpu.hlo").write_text(without_paths(lowered.compile().as_text()))


def main():
    OUT.mkdir(exist_ok=True)
    write("unrolled", unrolled, compiles=True)
    write("scanned", scanned, compiles=True)
    write("called", called)
    write("unrolled_grad", jax.grad(functools.partial(loss, unrolled)))
    EXAMPLE.write_text(text_of(jax.jit(jax.grad(functools.partial(loss, unrolled))).lower(*shapes(layers=2))))
    write("scanned_grad", jax.grad(functools.partial(loss, scanned)))
    write("scanned_remat_grad", jax.grad(functools.partial(loss, functools.partial(scanned, wrap=jax.checkpoint))))


main()
