#!/usr/bin/env python3
"""Writes modules that real XLA compiles for GPUs, on a machine without one: see README.md in this folder."""
import argparse
import os
import re
import shutil
import tempfile
from pathlib import Path

import jax
import jax.numpy as jnp
from jax import lax
from jax._src.cudnn import fused_attention_stablehlo as fused_attention
from jax.sharding import SingleDeviceSharding
from jaxlib import xla_client

H100 = """
gpu_device_info {
  threads_per_block_limit: 1024
  threads_per_warp: 32
  shared_memory_per_block: 49152
  shared_memory_per_core: 233472
  threads_per_core_limit: 2048
  core_count: 132
  fpus_per_core: 128
  block_dim_limit_x: 2147483647
  block_dim_limit_y: 65535
  block_dim_limit_z: 65535
  memory_bandwidth: 3352320000000
  l2_cache_size: 52428800
  clock_rate_ghz: 1.98
  device_memory_size: 84978434048
  shared_memory_per_block_optin: 232448
  cuda_compute_capability { major: 9 minor: 0 }
  registers_per_core_limit: 65536
  registers_per_block_limit: 65536
}
platform_name: "CUDA"
dnn_version_info { major: 9 minor: 10 patch: 1 }
runtime_version { major: 12 minor: 8 patch: 0 }
device_description_str: "NVIDIA H100 80GB HBM3"
"""

f16, f32, f64, bf16, c64, s8, s32 = (jnp.float16, jnp.float32, jnp.float64, jnp.bfloat16, jnp.complex64, jnp.int8,
                                     jnp.int32)
e4m3, e5m2 = jnp.float8_e4m3fn, jnp.float8_e5m2

CASES = []
LIBRARY = {"xla_gpu_enable_triton_gemm": False}  # products by cuBLAS, not by Triton


def case(*arguments, reference=None, **options):
    """A program. `reference`: a program with the same meaning, whose text stands for it before compilation."""

    def add(function):
        CASES.append((function, arguments, options, reference or function))
        return function

    return add


# ---- Products of matrices.

A, B = ((32, 64), f32), ((64, 48), f32)


@case(A, B, **LIBRARY)
def gemm(a, b):
    return a @ b


@case(A, B, ((32, 48), f32), **LIBRARY)
def gemm_alpha_c(a, b, c):
    return 3 * (a @ b) + c


@case(A, B, ((32, 48), f32), ((48,), f32), **LIBRARY)
def gemm_c_bias(a, b, c, bias):
    return 0.5 * (a @ b) + c + bias


@case(A, B, ((48,), f32), **LIBRARY)
def gemm_bias_relu(a, b, bias):
    return jnp.maximum(a @ b + bias, 0)


@case(A, B, **LIBRARY)
def gemm_gelu(a, b):
    return jax.nn.gelu(a @ b)


@case(A, B, ((48,), f32), **LIBRARY)
def gemm_bias_gelu_aux(a, b, bias):
    x = a @ b + bias
    return jax.nn.gelu(x), x


@case(((32, 64), f16), ((64, 48), f16), ((48,), f16), **LIBRARY)
def gemm_f16_bias_relu(a, b, bias):
    return jnp.maximum(a @ b + bias, 0)


@case(((32, 64), bf16), ((64, 48), bf16), **LIBRARY)
def gemm_bf16_to_f32(a, b):
    return jnp.dot(a, b, preferred_element_type=f32)


@case(((32, 64), f64), ((64, 48), f64), **LIBRARY)
def gemm_f64(a, b):
    return a @ b


@case(((32, 64), c64), ((64, 48), c64), **LIBRARY)
def gemm_c64(a, b):
    return (1 + 2j) * (a @ b)


@case(((32, 64), s8), ((64, 48), s8), **LIBRARY)
def gemm_s8(a, b):
    return jnp.dot(a, b, preferred_element_type=s32)


@case(((64, 4, 32), f32), ((48, 64, 4), f32), **LIBRARY)
def gemm_batch(a, b):
    return jnp.einsum("kbm,nkb->bmn", a, b)


@case(((32, 64), e4m3), ((64, 48), e4m3), ((), f32), ((), f32), ((32, 48), bf16), **LIBRARY)
def gemm_f8_c(a, b, a_scale, b_scale, c):
    return lax.dot(a.astype(bf16) * a_scale.astype(bf16), b.astype(bf16) * b_scale.astype(bf16)) + c


@case(((32, 64), e4m3), ((64, 48), e5m2), ((), f32), ((), f32), ((), f32), ((48,), f32), **LIBRARY)
def gemm_f8_bias_relu_amax(a, b, a_scale, b_scale, d_scale, bias):
    x = lax.dot(a.astype(f32) * a_scale, b.astype(f32) * b_scale)
    x = jnp.maximum(x + bias.astype(bf16).astype(f32), 0)
    return jnp.clip(x / d_scale, -448, 448).astype(e4m3), jnp.max(jnp.abs(x))


@case(((4, 128, 64), bf16), ((4, 64, 128), bf16), **LIBRARY)
def gemm_in_scan(a, b):
    return lax.scan(lambda carry, x: (carry, x[0] @ x[1]), 0, (a, b))[1]


@case(((4, 128, 64), f32), ((4, 64, 128), f32), xla_gpu_enable_dynamic_slice_fusion=True, **LIBRARY)
def gemm_of_slices(a, b):
    return a[2] @ b[1]


# ---- Convolutions.

X, W, BIAS = ((2, 8, 8, 16), f32), ((3, 3, 16, 32), f32), ((32,), f32)
LABELS = ("NHWC", "HWIO", "NHWC")


def convolution(x, w, strides=(1, 1), padding="SAME", **more):
    return lax.conv_general_dilated(x, w, strides, padding, dimension_numbers=LABELS, **more)


def half(*shapes):
    return [(shape, f16) for shape, _ in shapes]


@case(X, W)
def conv(x, w):
    return convolution(x, w)


@case(*half(X, W, BIAS))
def conv_f16_dilated_bias(x, w, bias):
    return convolution(x, w, padding=((1, 2), (0, 1)), rhs_dilation=(2, 1)) + bias


@case(X, W, BIAS, ((2, 8, 8, 32), f32))
def conv_bias_side_relu(x, w, bias, side):
    return jnp.maximum(2 * convolution(x, w) + 0.5 * side + bias, 0)


@case(X, W, ((2, 8, 8, 32), f32))
def conv_gradients(x, w, dy):
    return jax.vjp(convolution, x, w)[1](dy)


@case(X, W, ((2, 4, 4, 32), f32))
def conv_gradients_strided(x, w, dy):
    return jax.vjp(lambda x, w: convolution(x, w, (2, 2), ((1, 0), (1, 0))), x, w)[1](dy)


@case(((2, 16, 8, 8), f32), ((32, 4, 3, 3), f32), ((2, 32, 8, 8), f32))
def conv_gradients_groups(x, w, dy):
    function = lambda x, w: lax.conv_general_dilated(x, w, (1, 1), "SAME", feature_group_count=4)
    return jax.vjp(function, x, w)[1](dy)


@case(((2, 6, 6, 6, 8), f32), ((3, 3, 3, 8, 16), f32))
def conv_3d(x, w):
    return lax.conv_general_dilated(x, w, (1, 1, 1), "SAME", dimension_numbers=("NDHWC", "DHWIO", "NDHWC"))


@case(((2, 8, 8, 32), s8), ((3, 3, 32, 32), s8), BIAS)
def conv_s8_bias_relu(x, w, bias):
    y = convolution(x, w, preferred_element_type=s32).astype(f32) * 0.25 + bias
    return jnp.clip(jnp.maximum(y, 0), -128, 127).astype(s8)


@case(((2, 8, 8, 16), e4m3), ((3, 3, 16, 32), e4m3), ((), f32), ((), f32), ((2, 8, 8, 32), f32), ((), f32))
def conv_f8_graph(x, w, x_scale, w_scale, side, y_scale):
    y = convolution(x.astype(f32) * x_scale, w.astype(f32) * w_scale)
    y = jnp.maximum(y + side, 0)
    return jnp.clip(y / y_scale, -448, 448).astype(e4m3), jnp.max(jnp.abs(y))


# ---- Norms and attention.


@case(((128, 1024), f32), ((1024,), f32), ((1024,), f32), xla_gpu_enable_cudnn_layer_norm=True)
def layer_norm(x, scale, bias):
    mean = x.mean(-1, keepdims=True)
    variance = ((x - mean) ** 2).mean(-1, keepdims=True)
    return (x - mean) * lax.rsqrt(variance + 1e-5) * scale + bias


def plain_attention(q, k, v, bias=None, mask=None):
    heads = q.shape[2] // k.shape[2]
    k, v = jnp.repeat(k, heads, 2).astype(f32), jnp.repeat(v, heads, 2).astype(f32)
    logits = 0.125 * jnp.einsum("btnh,bsnh->bnts", q.astype(f32), k)
    if bias is not None:
        logits += bias.astype(f32)
    if mask is not None:
        logits = jnp.where(mask, logits, -1e30)
    weights = jax.nn.softmax(logits)
    if mask is not None:
        weights = jnp.where(mask, weights, 0)
    return jnp.einsum("bnts,bsnh->btnh", weights, v).astype(q.dtype)


def fused(q, k, v, *more, **options):
    return fused_attention.dot_product_attention(q, k, v, *more, scale=0.125, **options)


Q, K = ((2, 64, 4, 32), bf16), ((2, 64, 2, 32), bf16)
CAUSAL, PADDING = fused_attention.MaskType.CAUSAL, fused_attention.MaskType.PADDING
TRIANGLE = lambda: jnp.tril(jnp.ones((64, 64), bool))


@case(Q, Q, Q, ((2, 4, 64, 64), bf16), Q,
      reference=lambda q, k, v, bias, do: jax.vjp(plain_attention, q, k, v, bias)[1](do))
def attention_bias_gradients(q, k, v, bias, do):
    return jax.vjp(fused, q, k, v, bias)[1](do)


@case(Q, K, K, Q, reference=lambda q, k, v, do: jax.vjp(
    lambda q, k, v: plain_attention(q, k, v, mask=TRIANGLE()), q, k, v)[1](do))
def attention_causal_groups_gradients(q, k, v, do):
    return jax.vjp(lambda q, k, v: fused(q, k, v, mask_type=CAUSAL), q, k, v)[1](do)


def padding_mask(q_lengths, k_lengths):
    queries, keys = jnp.arange(64)[None, :] < q_lengths[:, None], jnp.arange(64)[None, :] < k_lengths[:, None]
    return (queries[:, :, None] & keys[:, None, :])[:, None]


@case(Q, Q, Q, ((2,), s32), ((2,), s32),
      reference=lambda q, k, v, n, m: plain_attention(q, k, v, mask=padding_mask(n, m)))
def attention_padding(q, k, v, q_lengths, k_lengths):
    return fused(q, k, v, None, None, q_lengths, k_lengths, mask_type=PADDING)


# ---- Fusions whose computation is in the text.


@case(((128, 64), bf16), ((64, 128), bf16), ((128,), bf16))
def triton_gemm(a, b, bias):
    return jnp.tanh(a @ b + bias)


@case(((128, 1000), f32))
def triton_softmax(x):
    return jax.nn.softmax(x)


def loss(parameters, x, y):
    for w, b in parameters[:-1]:
        x = jax.nn.gelu(x @ w + b)
    w, b = parameters[-1]
    return ((x @ w + b - y) ** 2).mean()


@case(((64, 128), f32), ((128,), f32), ((128, 32), f32), ((32,), f32), ((16, 64), f32), ((16, 32), f32), **LIBRARY)
def training_step(w1, b1, w2, b2, x, y):
    parameters = [(w1, b1), (w2, b2)]
    value, gradients = jax.value_and_grad(loss)(parameters, x, y)
    return value, jax.tree.map(lambda p, g: p - 0.1 * g, parameters, gradients)


def load_plugin(path):
    """A device that is not there, and for which programs can be compiled."""
    api = xla_client.load_pjrt_plugin_dynamically("cuda", path)
    xla_client.initialize_pjrt_plugin("cuda")
    topology = xla_client.make_c_api_device_topology(api, "h100", target_config=H100, topology="1x1x1")
    return topology._make_compile_only_devices()[0]


def clean(text):
    """Without tables of source lines, which name paths, and without what does not matter here."""
    text = re.sub(r"\n(FileNames|FunctionNames|FileLocations|StackFrames)\n.*?(?=\n\n)", "", text, flags=re.S)
    text = re.sub(r", metadata={[^{}]*}", "", text)
    text = re.sub(r", sharding={[^{}]*}", "", text)
    text = re.sub(r', frontend_attributes={xla\.sdy\.sharding="[^"]*"}', "", text)
    text = re.sub(r",?xla\.sdy\.meshes={[^=]*= #sdy\.mesh<\[\]>}", "", text)
    text = re.sub(r", frontend_attributes={}", "", text)
    text = re.sub(r", allow_spmd_sharding_propagation_to_\w+={[^{}]*}", "", text)
    return re.sub(r"\n{3,}", "\n\n", text)


def compile_to(folder, device, function, arguments, options):
    sharding = SingleDeviceSharding(device)
    shapes = [jax.ShapeDtypeStruct(shape, dtype, sharding=sharding) for shape, dtype in arguments]
    options = {"xla_dump_to": folder, "xla_gpu_autotune_level": 0, "xla_dump_hlo_as_text": True, **options}
    try:
        jax.jit(function).lower(*shapes).compile(compiler_options=options)
    except jax.errors.JaxRuntimeError as error:  # machine code is not needed
        print(f"{function.__name__}: {error}")


def text_of(folder, pattern):
    return next(Path(folder).glob(pattern)).read_text()


def make(out, device, function, arguments, options, reference):
    name = function.__name__
    with tempfile.TemporaryDirectory() as folder:
        compile_to(folder, device, function, arguments, options)
        after = text_of(folder, "*.sm_*gpu_after_optimizations.txt")
        report = text_of(folder, "*memory-usage-report.txt")
        if reference is not function:
            reference.__name__ = name
            shutil.rmtree(folder)
            compile_to(folder, device, reference, arguments, options)
        before = text_of(folder, "*.before_optimizations.txt")
    (out / f"{name}.hlo").write_text(clean(before))
    (out / f"{name}.gpu.hlo").write_text(clean(after))
    return name, re.search(r"Total bytes: (\d+)", report).group(1)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("plugin", help="xla_cuda_plugin.so of the package jax-cuda12-pjrt")
    parser.add_argument("cases", nargs="*", help="names of programs (default: all)")
    options = parser.parse_args()
    jax.config.update("jax_enable_x64", True)
    fused_attention.check_cudnn_version = lambda: 91000  # there is no cuDNN to ask
    fused_attention.check_compute_capability = lambda *_: True
    device = load_plugin(options.plugin)
    out = Path(__file__).parent
    totals = []
    for function, arguments, flags, reference in CASES:
        if not options.cases or function.__name__ in options.cases:
            totals.append(make(out, device, function, arguments, flags, reference))
    if not options.cases:
        lines = [f"{name}\t{total}\n" for name, total in sorted(totals)]
        (out / "totals.tsv").write_text("".join(lines))


if __name__ == "__main__":
    main()
