#!/usr/bin/env python3
"""Makes what this folder holds: trains a small classifier of handwritten digits with JAX, and writes it down as HLO.

  python3 -m venv .venv
  .venv/bin/pip install jax==0.10.2 libtpu==0.0.52 scikit-learn
  .venv/bin/python make.py

The digits are those of UCI's "Optical Recognition of Handwritten Digits" that scikit-learn ships: 1797 pictures of 8x8
pixels, 0 (paper) to 16 (ink). They are shuffled; 360 are held back for the test, the others are for training.

Written are, besides data and weights as .npy: the module that answers (model.hlo), the same optimised by XLA's compiler
for a TPU, which needs no TPU (model-tpu.hlo; left alone if libtpu is not installed), the module of one step of training
(train.hlo), and what XLA itself computes of them (xla_logits.npy, xla_losses.npy), to compare with. All is seeded: the
same versions of JAX and libtpu write the same files again.
"""
import importlib.util
import os
import pathlib

os.environ["JAX_PLATFORMS"] = "cpu"
os.environ["TPU_SKIP_MDS_QUERY"] = "1"  # libtpu is to compile for a TPU, not to look for one

import jax
import jax.numpy as jnp
import numpy as np
from jax.experimental import topologies
from sklearn.datasets import load_digits

FOLDER = pathlib.Path(__file__).resolve().parent
SEED = 0
HELD_BACK = 360  # of 1797 digits
BATCH = 32
LEARNING_RATE = 0.2
STEPS = 2000
DEMO_STEPS = 300  # of which we keep XLA's losses
TPU = "v5e:2x2"

# The model: convolution, pooling, convolution, dense. The names are those of the .npy files, in the parameters' order.
WEIGHTS = {
    "conv1_filter": (3, 3, 1, 8),
    "conv1_bias": (8,),
    "conv2_filter": (3, 3, 8, 16),
    "conv2_bias": (16,),
    "dense_matrix": (4 * 4 * 16, 10),
    "dense_bias": (10,),
}


def convolve(images, filter, bias):
    convolved = jax.lax.conv_general_dilated(images, filter, (1, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC"))
    return jax.nn.relu(convolved + bias)


def pool(images):
    return jax.lax.reduce_window(images, -jnp.inf, jax.lax.max, (1, 2, 2, 1), (1, 2, 2, 1), "VALID")


def model(conv1_filter, conv1_bias, conv2_filter, conv2_bias, dense_matrix, dense_bias, images):
    """Logits f32[N,10] of images u8[N,8,8]."""
    x = images[..., None].astype(jnp.float32) / 16
    x = pool(convolve(x, conv1_filter, conv1_bias))
    x = convolve(x, conv2_filter, conv2_bias)
    return x.reshape(len(x), -1) @ dense_matrix + dense_bias


def loss(weights, images, labels):
    """Mean cross entropy."""
    log_probabilities = jax.nn.log_softmax(model(*weights, images))
    return -jnp.take_along_axis(log_probabilities, labels[:, None], axis=1).mean()


def train(conv1_filter, conv1_bias, conv2_filter, conv2_bias, dense_matrix, dense_bias, step, images, labels):
    """One step of gradient descent on batch number `step`: the new weights, and the loss before."""
    weights = (conv1_filter, conv1_bias, conv2_filter, conv2_bias, dense_matrix, dense_bias)
    begin = step % (len(images) // BATCH) * BATCH
    batch = [jax.lax.dynamic_slice_in_dim(all, begin, BATCH) for all in (images, labels)]
    value, gradients = jax.value_and_grad(loss)(weights, *batch)
    return *(w - LEARNING_RATE * g for w, g in zip(weights, gradients)), value


def load_data():
    """Training images and labels, then those of the test."""
    images, labels = load_digits(return_X_y=True)
    images, labels = images.reshape(-1, 8, 8).astype(np.uint8), labels.astype(np.int32)
    order = np.random.default_rng(SEED).permutation(len(images))
    test, train = order[:HELD_BACK], order[HELD_BACK:]
    return images[train], labels[train], images[test], labels[test]


def initial_weights():
    random = np.random.default_rng(SEED)
    fan_in = {name: int(np.prod(shape[:-1])) for name, shape in WEIGHTS.items()}
    return [np.zeros(shape, np.float32) if name.endswith("bias")
            else (random.standard_normal(shape) * np.sqrt(2 / fan_in[name])).astype(np.float32)
            for name, shape in WEIGHTS.items()]


def shapes_of(arguments, sharding=None):
    return [jax.ShapeDtypeStruct(np.shape(a), np.asarray(a).dtype, sharding=sharding) for a in arguments]


def write_module(name, function, arguments):
    hlo = jax.jit(function).lower(*shapes_of(arguments)).compiler_ir("hlo")
    (FOLDER / name).write_text(hlo.as_hlo_module().to_string())


def write_tpu_module(name, function, arguments):
    if not importlib.util.find_spec("libtpu"):
        print(f"no libtpu: {name} stays as it is")
        return
    device = topologies.get_topology_desc(TPU, "tpu").devices[0]
    shapes = shapes_of(arguments, jax.sharding.SingleDeviceSharding(device))
    (FOLDER / name).write_text(jax.jit(function).lower(*shapes).compile().as_text())


def write_weights(folder, weights):
    (FOLDER / folder).mkdir(exist_ok=True)
    for name, array in zip(WEIGHTS, weights):
        np.save(FOLDER / folder / f"{name}.npy", np.asarray(array))


def main():
    # No file names and lines in the modules: they would be those of this machine.
    jax.config.update("jax_traceback_in_locations_limit", 0)
    train_images, train_labels, test_images, test_labels = load_data()
    weights = initial_weights()
    write_weights("untrained", weights)
    write_module("train.hlo", train, [*weights, np.int32(0), train_images, train_labels])

    step_function = jax.jit(train)
    losses = []
    for step in range(STEPS):
        *weights, value = step_function(*weights, np.int32(step), train_images, train_labels)
        losses.append(np.float32(value))
    write_weights("trained", weights)
    write_module("model.hlo", model, [*weights, test_images])
    write_tpu_module("model-tpu.hlo", model, [*weights, test_images])

    logits = np.asarray(jax.jit(model)(*weights, test_images))
    arrays = {"train_images": train_images, "train_labels": train_labels, "test_images": test_images,
              "test_labels": test_labels, "xla_logits": logits, "xla_losses": np.array(losses[:DEMO_STEPS])}
    for name, array in arrays.items():
        np.save(FOLDER / f"{name}.npy", array)
    right = (logits.argmax(axis=1) == test_labels).sum()
    print(f"{right} of {len(test_labels)} held-back digits are read right ({right / len(test_labels):.1%})")


if __name__ == "__main__":
    main()
