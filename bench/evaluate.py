#!/usr/bin/env python3
"""Running programs: `kashi run` and real XLA (jax on the CPU) side by side, in turns, on the same modules. Needs jax.

    bench/evaluate.py --kashi build/kashi [--rounds 3] [--repeat 5] [--only sort] [FILE...]

Without files: the digits example, programs of tests/data/corpus, and small ones that stress one operation each. Prints
a table: the time of each engine of Kashi (evaluator, which compiles nothing, and cpu, if it is built in) as a part of
XLA's, best of all rounds. Compilation is not counted; the last columns have its milliseconds.
"""
import argparse
import json
import math
import os
import subprocess
import sys
import tempfile
import time

os.environ["JAX_PLATFORMS"] = "cpu"

import jax  # noqa: E402
import jaxlib._hlo as hlo  # noqa: E402
import jaxlib._jax as runtime  # noqa: E402
import numpy as np  # noqa: E402

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(HERE)
CORPUS = ["model_mlp_forward", "model_mandelbrot", "model_conjugate_gradient", "big_conv_nchw_nhwc", "big_transposes"]

ADD = """add { a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT sum = f32[] add(a, b) }
"""
MAX = """max { a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT larger = f32[] maximum(a, b) }
"""
LESS = """less { a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT is_less = pred[] compare(a, b), direction=LT }
"""
# Sorts by |a|, which is no plain comparison of its operands.
LESS_MAGNITUDE = """less { a = f32[] parameter(0)  b = f32[] parameter(1)  x = f32[] abs(a)  y = f32[] abs(b)
  ROOT is_less = pred[] compare(x, y), direction=LT }
"""


def entry(body, computations=""):
    return f"HloModule m\n{computations}ENTRY main {{\n{body}\n}}\n"


# Name: text of the module. One operation, or one kind of them, each.
PROGRAMS = {
    "chain of 6 elementwise, f32[16M]": entry("""
  x = f32[16777216] parameter(0)  y = f32[16777216] parameter(1)
  a = f32[16777216] multiply(x, y)  b = f32[16777216] add(a, x)  c = f32[16777216] subtract(b, y)
  d = f32[16777216] abs(c)  e = f32[16777216] negate(d)  ROOT f = f32[16777216] add(e, x)"""),
    "maximum, minimum, clamp, select, f32[4M]": entry("""
  x = f32[4194304] parameter(0)  y = f32[4194304] parameter(1)  lo = f32[] constant(-0.5)  hi = f32[] constant(0.5)
  a = f32[4194304] maximum(x, y)  b = f32[4194304] minimum(a, x)  c = f32[4194304] clamp(lo, b, hi)
  p = pred[4194304] compare(c, y), direction=LT  ROOT s = f32[4194304] select(p, x, c)"""),
    "exp, tanh, log, f32[1M]": entry("""
  x = f32[1048576] parameter(0)  a = f32[1048576] exponential(x)  b = f32[1048576] tanh(a)
  ROOT c = f32[1048576] log(b)"""),
    "bf16[4M] multiply, add": entry("""
  x = bf16[4194304] parameter(0)  y = bf16[4194304] parameter(1)  a = bf16[4194304] multiply(x, y)
  ROOT b = bf16[4194304] add(a, x)"""),
    "convert f32 to bf16 and f16, f32[4M]": entry("""
  x = f32[4194304] parameter(0)  a = bf16[4194304] convert(x)  b = f16[4194304] convert(x)
  ROOT t = (bf16[4194304], f16[4194304]) tuple(a, b)"""),
    "broadcast rows and columns, f32[2048,2048]": entry("""
  x = f32[2048] parameter(0)  a = f32[2048,2048] broadcast(x), dimensions={0}
  b = f32[2048,2048] broadcast(x), dimensions={1}  ROOT c = f32[2048,2048] add(a, b)"""),
    "reduce rows, f32[4096,1024]": entry("""
  x = f32[4096,1024] parameter(0)  zero = f32[] constant(0)
  ROOT r = f32[4096] reduce(x, zero), dimensions={1}, to_apply=add""", ADD),
    "reduce columns, f32[4096,1024]": entry("""
  x = f32[4096,1024] parameter(0)  zero = f32[] constant(0)
  ROOT r = f32[1024] reduce(x, zero), dimensions={0}, to_apply=add""", ADD),
    "softmax, f32[1024,1024]": entry("""
  x = f32[1024,1024] parameter(0)  zero = f32[] constant(0)  least = f32[] constant(-inf)
  m = f32[1024] reduce(x, least), dimensions={1}, to_apply=max  n = f32[1024,1024] broadcast(m), dimensions={0}
  d = f32[1024,1024] subtract(x, n)  e = f32[1024,1024] exponential(d)
  s = f32[1024] reduce(e, zero), dimensions={1}, to_apply=add  t = f32[1024,1024] broadcast(s), dimensions={0}
  ROOT q = f32[1024,1024] divide(e, t)""", ADD + MAX),
    "layer norm, f32[2048,1024]": entry("""
  x = f32[2048,1024] parameter(0)  g = f32[1024] parameter(1)  zero = f32[] constant(0)  n = f32[] constant(1024)
  s = f32[2048] reduce(x, zero), dimensions={1}, to_apply=add  nb = f32[2048] broadcast(n), dimensions={}
  m = f32[2048] divide(s, nb)  mb = f32[2048,1024] broadcast(m), dimensions={0}
  d = f32[2048,1024] subtract(x, mb)  q = f32[2048,1024] multiply(d, d)
  t = f32[2048] reduce(q, zero), dimensions={1}, to_apply=add  v = f32[2048] divide(t, nb)
  e = f32[] constant(1e-5)  eb = f32[2048] broadcast(e), dimensions={}  w = f32[2048] add(v, eb)  r = f32[2048] rsqrt(w)
  rb = f32[2048,1024] broadcast(r), dimensions={0}  gb = f32[2048,1024] broadcast(g), dimensions={1}
  y = f32[2048,1024] multiply(d, rb)  ROOT z = f32[2048,1024] multiply(y, gb)""", ADD),
    "gelu, f32[2048,1024]": entry("""
  x = f32[2048,1024] parameter(0)  c = f32[] constant(0.70710678)  cb = f32[2048,1024] broadcast(c), dimensions={}
  a = f32[2048,1024] multiply(x, cb)  e = f32[2048,1024] erf(a)  one = f32[] constant(1)
  ob = f32[2048,1024] broadcast(one), dimensions={}  f = f32[2048,1024] add(e, ob)
  h = f32[] constant(0.5)  hb = f32[2048,1024] broadcast(h), dimensions={}  g = f32[2048,1024] multiply(x, hb)
  ROOT y = f32[2048,1024] multiply(f, g)"""),
    "transpose, f32[2048,2048]": entry("""
  x = f32[2048,2048] parameter(0)  ROOT t = f32[2048,2048]{1,0} transpose(x), dimensions={1,0}"""),
    "slice, pad, concatenate narrow rows, f32[262144,3]": entry("""
  x = f32[262144,4] parameter(0)  y = f32[262144,3] slice(x), slice={[0:262144],[0:3]}  zero = f32[] constant(0)
  p = f32[262144,5] pad(y, zero), padding=0_0x1_1  ROOT c = f32[262144,8] concatenate(p, y), dimensions={1}"""),
    "dot 1024^3, f32": entry("""
  x = f32[1024,1024] parameter(0)  y = f32[1024,1024] parameter(1)
  ROOT d = f32[1024,1024] dot(x, y), lhs_contracting_dims={1}, rhs_contracting_dims={0}"""),
    "dot 1024^3, bf16": entry("""
  x = bf16[1024,1024] parameter(0)  y = bf16[1024,1024] parameter(1)
  ROOT d = bf16[1024,1024] dot(x, y), lhs_contracting_dims={1}, rhs_contracting_dims={0}"""),
    "convolution 3x3, 64 to 64 channels, 56x56, f32": entry("""
  x = f32[1,56,56,64] parameter(0)  k = f32[3,3,64,64] parameter(1)
  ROOT c = f32[1,56,56,64] convolution(x, k), window={size=3x3 pad=1_1x1_1}, dim_labels=b01f_01io->b01f"""),
    "sort, f32[1M]": entry("""
  x = f32[1048576] parameter(0)  ROOT s = f32[1048576] sort(x), dimensions={0}, to_apply=less""", LESS),
    "sort by magnitude, f32[256K]": entry("""
  x = f32[262144] parameter(0)  ROOT s = f32[262144] sort(x), dimensions={0}, to_apply=less""", LESS_MAGNITUDE),
    "cumulative sum (reduce-window), f32[64,8192]": entry("""
  x = f32[64,8192] parameter(0)  zero = f32[] constant(0)
  ROOT w = f32[64,8192] reduce-window(x, zero), window={size=1x8192 pad=0_0x8191_0}, to_apply=add""", ADD),
    "while, 10,000 iterations of 10 small instructions": entry("""
  x = f32[4] parameter(0)  zero = s32[] constant(0)  begin = (s32[], f32[4]) tuple(zero, x)
  loop = (s32[], f32[4]) while(begin), condition=condition, body=body
  ROOT r = f32[4] get-tuple-element(loop), index=1""", """
condition { s = (s32[], f32[4]) parameter(0)  i = s32[] get-tuple-element(s), index=0  n = s32[] constant(10000)
  ROOT goes_on = pred[] compare(i, n), direction=LT }
body { s = (s32[], f32[4]) parameter(0)  i = s32[] get-tuple-element(s), index=0
  v = f32[4] get-tuple-element(s), index=1  one = s32[] constant(1)  j = s32[] add(i, one)
  half = f32[4] constant({0.5, 0.5, 0.5, 0.5})  a = f32[4] multiply(v, half)  f = f32[] convert(i)
  b = f32[4] broadcast(f), dimensions={}  c = f32[4] add(a, b)  d = f32[4] maximum(c, half)
  ROOT t = (s32[], f32[4]) tuple(j, d) }
"""),
    "gather 1M elements, f32[1M]": entry("""
  x = f32[1048576] parameter(0)  i = s32[1048576] parameter(1)  k = s32[] constant(8191)
  b = s32[1048576] broadcast(k), dimensions={}  m = s32[1048576] multiply(i, b)
  ROOT g = f32[1048576] gather(x, m), offset_dims={}, collapsed_slice_dims={0}, start_index_map={0},
      index_vector_dim=1, slice_sizes={1}"""),
    "gather 16K rows of 64, f32[128,64]": entry("""
  x = f32[128,64] parameter(0)  i = s32[16384] parameter(1)
  ROOT g = f32[16384,64] gather(x, i), offset_dims={1}, collapsed_slice_dims={0}, start_index_map={0},
      index_vector_dim=1, slice_sizes={1,64}"""),
    "scatter-add 1M elements, f32[1M]": entry("""
  x = f32[1048576] parameter(0)  i = s32[1048576] parameter(1)  u = f32[1048576] parameter(2)
  k = s32[] constant(8191)  b = s32[1048576] broadcast(k), dimensions={}  m = s32[1048576] multiply(i, b)
  ROOT s = f32[1048576] scatter(x, m, u), update_window_dims={}, inserted_window_dims={0},
      scatter_dims_to_operand_dims={0}, index_vector_dim=1, to_apply=add""", ADD),
}


def random_argument(shape, generator):
    """As `kashi run` makes them: numbers about zero; small integers."""
    dtype = np.dtype(shape.numpy_dtype())
    if dtype == bool or np.issubdtype(dtype, np.integer):
        return generator.integers(0, 2 if dtype == bool else 127, shape.dimensions()).astype(dtype)
    return generator.standard_normal(shape.dimensions()).astype(dtype)


class Xla:
    def __init__(self, path, arguments=None):
        """Without arguments: random ones."""
        device = jax.devices("cpu")[0]
        computation = hlo.XlaComputation(
            hlo.hlo_module_from_text(open(path).read()).as_serialized_hlo_module_proto())
        begin = time.perf_counter()
        self.program = device.client.compile_and_load(runtime.mlir.xla_computation_to_mlir_module(computation),
                                                      runtime.DeviceList((device,)))
        self.compile_ms = (time.perf_counter() - begin) * 1e3
        if arguments is None:
            generator = np.random.default_rng(42)
            shapes = computation.program_shape().parameter_shapes()
            arguments = [random_argument(shape, generator) for shape in shapes]
        self.arguments = [jax.device_put(argument) for argument in arguments]

    def run_ms(self, repeat):
        best = float("inf")
        for _ in range(repeat + 1):
            begin = time.perf_counter()
            for outputs in self.program.execute_sharded(self.arguments).disassemble_into_single_device_arrays():
                outputs[0].block_until_ready()
            best = min(best, (time.perf_counter() - begin) * 1e3)
        return best


def engines(kashi):
    features = json.loads(subprocess.run([kashi, "version", "--json"], capture_output=True, check=True).stdout)["features"]
    return ["evaluator", "cpu"] if "cpu" in features else ["evaluator"]


def kashi_report(kashi, engine, path, repeat, more=()):
    command = [kashi, "run", path, "--engine", engine, "--repeat", str(repeat + 1), "--json", *more]
    process = subprocess.run(command, capture_output=True)
    if process.returncode != 0:
        raise RuntimeError(process.stderr.decode()[-300:] or f"exit status {process.returncode}")
    return json.loads(process.stdout)


def measure(path, options):
    """Milliseconds of a run of each engine, of a run of XLA, of our compilation, of XLA's."""
    xla = Xla(path)
    ours = dict.fromkeys(engines(options.kashi), float("inf"))
    theirs = our_compile_ms = float("inf")
    for _ in range(options.rounds):
        for engine in ours:
            report = kashi_report(options.kashi, engine, path, options.repeat)
            ours[engine] = min(ours[engine], report["run_ms_min"])
        our_compile_ms = min(our_compile_ms, report["compile_ms"])
        theirs = min(theirs, xla.run_ms(options.repeat))
    return ours, theirs, our_compile_ms, xla.compile_ms


def programs(options, folder):
    """Pairs of name and path."""
    if options.files:
        return [(path, path) for path in options.files]
    found = [("examples/digits", f"{ROOT}/examples/digits/model.hlo")]
    found += [(f"corpus {name}", f"{ROOT}/tests/data/corpus/{name}/before.hlo") for name in CORPUS]
    for number, (name, text) in enumerate(PROGRAMS.items()):
        path = f"{folder}/{number}.hlo"
        with open(path, "w") as file:
            file.write(text)
        found.append((name, path))
    return [(name, path) for name, path in found if options.only in name]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="*")
    parser.add_argument("--kashi", default="build/kashi")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--repeat", type=int, default=5, help="runs a round, behind one that does not count")
    parser.add_argument("--only", default="", help="programs with this in their name")
    parser.add_argument("--keep", help="write the programs into this folder, and leave them there")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        folder = options.keep or temporary
        os.makedirs(folder, exist_ok=True)
        columns = engines(options.kashi)
        print("| program |", *(f"{engine} / XLA |" for engine in columns), "XLA, ms | Kashi compiles, ms | XLA compiles, ms |")
        print("| --- |" + " --- |" * (len(columns) + 3))
        logarithms = {engine: [] for engine in columns}
        for name, path in programs(options, folder):
            try:
                ours, theirs, our_compile_ms, compile_ms = measure(path, options)
            except Exception as error:  # one program that does not run must not hide the others
                print(f"| {name} | failed: {str(error).splitlines()[0][:100]} |")
                continue
            for engine in columns:
                logarithms[engine].append(math.log(ours[engine] / theirs))
            ratios = " | ".join(f"{ours[engine] / theirs:.2g}" for engine in columns)
            print(f"| {name} | {ratios} | {theirs:.3g} | {our_compile_ms:.0f} | {compile_ms:.0f} |", flush=True)
        means = " | ".join(f"{math.exp(sum(values) / max(1, len(values))):.2g}" for values in logarithms.values())
        print(f"| geometric mean | {means} | | | |")
    return 0


if __name__ == "__main__":
    sys.exit(main())
