#!/usr/bin/env python3
"""Writes the HLO of a transformer's train step, unrolled: about 4 MB of text with 64 layers. Needs jax.

    bench/transformer_step.py -o step.hlo [--layers 64]
"""
import argparse
import os

os.environ["JAX_PLATFORMS"] = "cpu"

import jax  # noqa: E402
import jax.numpy as jnp  # noqa: E402

WIDTH, HEADS, LENGTH, BATCH, WORDS = 64, 4, 32, 2, 128


def make_parameters(layers):
    shapes = {"q": (WIDTH, WIDTH), "k": (WIDTH, WIDTH), "v": (WIDTH, WIDTH), "o": (WIDTH, WIDTH),
              "w1": (WIDTH, 4 * WIDTH), "w2": (4 * WIDTH, WIDTH),
              "g1": (WIDTH,), "g2": (WIDTH,), "b1": (WIDTH,), "b2": (WIDTH,)}
    return {"embedding": jnp.zeros((WORDS, WIDTH)),
            "layers": [{name: jnp.zeros(shape) for name, shape in shapes.items()} for _ in range(layers)]}


def normalise(x, gain, bias):
    mean = x.mean(-1, keepdims=True)
    variance = ((x - mean) ** 2).mean(-1, keepdims=True)
    return (x - mean) * jax.lax.rsqrt(variance + 1e-5) * gain + bias


def block(x, p):
    h = normalise(x, p["g1"], p["b1"])
    q, k, v = [(h @ p[name]).reshape(BATCH, LENGTH, HEADS, WIDTH // HEADS).transpose(0, 2, 1, 3) for name in "qkv"]
    scores = q @ k.transpose(0, 1, 3, 2) / 4.0
    scores = jnp.where(jnp.tril(jnp.ones((LENGTH, LENGTH), bool)), scores, -1e9)
    mixed = (jax.nn.softmax(scores, -1) @ v).transpose(0, 2, 1, 3).reshape(BATCH, LENGTH, WIDTH)
    x = x + mixed @ p["o"]
    return x + jax.nn.gelu(normalise(x, p["g2"], p["b2"]) @ p["w1"]) @ p["w2"]


def loss(p, tokens):
    x = p["embedding"][tokens]
    for layer in p["layers"]:
        x = block(x, layer)
    logits = jax.nn.log_softmax(x @ p["embedding"].T)
    return -jnp.take_along_axis(logits[:, :-1], tokens[:, 1:, None], -1).mean()


def step(p, m, v, tokens):
    value, grad = jax.value_and_grad(loss)(p, tokens)
    m = jax.tree.map(lambda a, b: 0.9 * a + 0.1 * b, m, grad)
    v = jax.tree.map(lambda a, b: 0.99 * a + 0.01 * b * b, v, grad)
    p = jax.tree.map(lambda a, b, c: a - 1e-3 * b / (jnp.sqrt(c) + 1e-8), p, m, v)
    return value, p, m, v


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-o", "--output", required=True)
    parser.add_argument("--layers", type=int, default=64)
    options = parser.parse_args()
    p = make_parameters(options.layers)
    lowered = jax.jit(step).lower(p, p, p, jnp.zeros((BATCH, LENGTH), jnp.int32))
    text = lowered.compiler_ir("hlo").get_hlo_module().to_string()
    with open(options.output, "w") as file:
        file.write(text)
    print(f"{options.output}: {len(text) / 1e6:.1f} MB")


if __name__ == "__main__":
    main()
