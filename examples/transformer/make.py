#!/usr/bin/env python3
"""Writes the files of this example with JAX: a small transformer, trained on 8 devices.

  step.hlo          100 training steps, partitioned by XLA for 4 (data) times 2 (tensor) devices
  dev<k>/in<i>.npy  arguments of device k: its rows of the text, its parts of the weights
  dev<k>/out0.npy   the losses of all steps, as JAX computes them on one device

Needs jax. `step.hlo` and the arrays are in the repository: this is only to make them again.
"""
import os
import pathlib
import re
import shutil
import tempfile

DUMP = tempfile.mkdtemp()
os.environ["XLA_FLAGS"] = ("--xla_force_host_platform_device_count=8 --xla_dump_hlo_as_text "
                           f"--xla_dump_to={DUMP} --xla_dump_hlo_pass_re=.*partition.*")
os.environ["JAX_PLATFORMS"] = "cpu"

import jax  # noqa: E402
import jax.numpy as jnp  # noqa: E402
import numpy as np  # noqa: E402
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P  # noqa: E402

HERE = pathlib.Path(__file__).resolve().parent
VOCABULARY, WIDTH, HEADS, HIDDEN, LAYERS, LENGTH, BATCH, STEPS, RATE = 32, 32, 4, 64, 2, 16, 8, 100, 0.1
TEXT = "the tiles of a mosque are cut by hand and set one by one into a pattern that has no end; " * 4

# Where each weight is split: over "tensor", or whole on each device.
SPLITS = {"embedding": P(), "qkv": P(None, None, None, "tensor"), "out": P(None, "tensor", None),
          "up": P(None, None, "tensor"), "down": P(None, "tensor", None), "last": P()}


def make_weights():
    rng = np.random.default_rng(1)

    def normal(*sizes):
        return (rng.standard_normal(sizes) / np.sqrt(sizes[-2])).astype(np.float32)
    return {"embedding": normal(VOCABULARY, WIDTH), "qkv": normal(LAYERS, 3, WIDTH, WIDTH),
            "out": normal(LAYERS, WIDTH, WIDTH), "up": normal(LAYERS, WIDTH, HIDDEN),
            "down": normal(LAYERS, HIDDEN, WIDTH), "last": normal(WIDTH, VOCABULARY)}


def make_text():
    letters = sorted(set(TEXT))
    numbers = np.array([letters.index(letter) for letter in TEXT], np.int32)
    return np.stack([numbers[i * 29:i * 29 + LENGTH + 1] for i in range(BATCH)])


def normalise(x):
    return x * jax.lax.rsqrt(jnp.mean(x * x, axis=-1, keepdims=True) + 1e-6)


def loss_of(weights, text):
    x = weights["embedding"][text[:, :-1]]
    positions = jnp.arange(LENGTH)
    for layer in range(LAYERS):
        h = normalise(x)
        q, k, v = jnp.einsum("bsd,tde->tbse", h, weights["qkv"][layer]).reshape(3, -1, LENGTH, HEADS, WIDTH // HEADS)
        scores = jnp.einsum("bqhd,bkhd->bhqk", q, k) / np.sqrt(WIDTH // HEADS)
        scores = jnp.where(positions[:, None] >= positions[None, :], scores, -1e9)
        mixed = jnp.einsum("bhqk,bkhd->bqhd", jax.nn.softmax(scores), v).reshape(-1, LENGTH, WIDTH)
        x = x + mixed @ weights["out"][layer]
        x = x + jax.nn.relu(normalise(x) @ weights["up"][layer]) @ weights["down"][layer]
    logits = jax.nn.log_softmax(normalise(x) @ weights["last"])
    wanted = jax.nn.one_hot(text[:, 1:], VOCABULARY)
    return -jnp.mean(jnp.sum(logits * wanted, axis=-1))


def train(weights, text):
    def step(i, state):
        weights, losses = state
        loss, gradients = jax.value_and_grad(loss_of)(weights, text)
        weights = jax.tree.map(lambda w, g: w - RATE * g, weights, gradients)
        return weights, losses.at[i].set(loss)
    return jax.lax.fori_loop(0, STEPS, step, (weights, jnp.zeros(STEPS)))[1]


def main():
    weights, text = make_weights(), make_text()
    losses = np.asarray(jax.jit(train)(weights, text))
    print("losses of one device:", losses[[0, 1, 10, 50, 99]])

    devices = np.array(jax.devices()).reshape(4, 2)
    mesh = Mesh(devices, ("data", "tensor"))
    shardings = {name: NamedSharding(mesh, split) for name, split in SPLITS.items()}
    rows = NamedSharding(mesh, P("data"))
    shutil.rmtree(DUMP)
    step = jax.jit(train, in_shardings=(shardings, rows), out_shardings=NamedSharding(mesh, P()))
    compiled = step.lower(weights, text).compile()
    on_devices = np.asarray(compiled(jax.device_put(weights, shardings), jax.device_put(text, rows)))
    print("losses of 8 devices: ", on_devices[[0, 1, 10, 50, 99]])

    dump = max(pathlib.Path(DUMP).rglob("*after_spmd-partitioning*"))
    # Without the tables of source lines, which name paths of this machine.
    module = re.sub(r"(?m)^(FileNames|FunctionNames|FileLocations|StackFrames)\n(.+\n)*\n*", "", dump.read_text())
    module = re.sub(r", metadata=\{[^}]*\}", "", module)
    (HERE / "step.hlo").write_text(module)
    names = sorted(weights)
    for k in range(8):
        folder = HERE / f"dev{k}"
        folder.mkdir(exist_ok=True)
        index = [shardings[name].devices_indices_map(weights[name].shape)[jax.devices()[k]] for name in names]
        arrays = [weights[name][at] for name, at in zip(names, index)]
        arrays.append(text[rows.devices_indices_map(text.shape)[jax.devices()[k]]])
        for i, array in enumerate(arrays):
            np.save(folder / f"in{i}.npy", np.ascontiguousarray(array))
        np.save(folder / "out0.npy", losses)
    shutil.rmtree(DUMP)


if __name__ == "__main__":
    main()
