#!/usr/bin/env python3
"""Runs StableHLO programs with quantized types through StableHLO's reference interpreter (in jaxlib) and through
`kashi run`, and prints the differences.

  .venv/bin/python scripts/oracle_quantized.py --kashi build/kashi [--seed 1] [--only add,conv] [--keep DIR]

The interpreter gets the program after StableHLO's pass stablehlo-legalize-quantized-op-to-qdq, which writes the
specification's dequantize, compute, quantize out. Without it, it computes add, dot_general and convolution by sums of
integers. Unsigned storage is left out: the interpreter takes it for signed."""
import argparse
import os
import pathlib
import subprocess
import sys
import tempfile

os.environ["JAX_PLATFORMS"] = "cpu"
import numpy as np
from jax._src.interpreters import mlir
from jax._src.lib.mlir import ir, passmanager
from jax._src.lib.mlir.dialects import hlo

DATA = pathlib.Path(__file__).parent.parent / "tests" / "data" / "stablehlo" / "artifacts"
PASS = "builtin.module(func.func(stablehlo-legalize-quantized-op-to-qdq))"
I8, I16, ZERO = "i8:f32, 0.5:3", "i16:f32, 0.001", "i8:f32, 0.3"
NARROW, I32, I4 = "i8<-100:100>:f32, 0.1:-5", "i32:f32, 0.01", "i4:f32, 0.7:1"
AXIS = "i8:f32:1, {0.5:3, 0.1, 0.25:-7}"


def quantized(sizes, quantization):
    return f"tensor<{sizes}x!quant.uniform<{quantization}>>"


def program(sizes, types, result, body):
    """Arguments are f32; each is quantized if its type is not None. The result is dequantized. `body` has {0}, {1} and
    {r} for types, and gives %r."""
    floats = [f"tensor<{size}xf32>" for size in sizes]
    q = [quantized(size, kind) if kind else floats[i] for i, (size, kind) in enumerate(zip(sizes, types))]
    out, kind = result
    r, plain = (quantized(out, kind) if kind else f"tensor<{out}xf32>"), f"tensor<{out}xf32>"
    lines = [f"func.func @main({', '.join(f'%x{i}: {t}' for i, t in enumerate(floats))}) -> {plain} {{"]
    for i, given in enumerate(types):
        if given:
            lines.append(f"  %q{i} = stablehlo.uniform_quantize %x{i} : ({floats[i]}) -> {q[i]}")
        else:
            body = body.replace(f"%q{i}", f"%x{i}")
    lines += ["  " + line for line in body.format(*q, r=r).strip().split("\n")]
    if kind:
        lines += [f"  %out = stablehlo.uniform_dequantize %r : ({r}) -> {plain}", f"  return %out : {plain}", "}"]
    else:
        lines += [f"  return %r : {plain}", "}"]
    return "\n".join(lines)


def cases():
    table = {}

    def add(name, sizes, *rest):
        table[name] = sizes, program(sizes, *rest)

    for kind, words in (("i8", I8), ("i16", I16), ("narrow", NARROW), ("i32", I32), ("i4", I4), ("axis", AXIS)):
        add(f"quantize-{kind}", ("9x3",), (words,), ("9x3", words), "%r = stablehlo.reshape %q0 : ({0}) -> {r}")
    kinds = {"i8": I8, "narrow": NARROW, "i16": I16, "i4": I4, "i32": I32}
    for op in ("add", "subtract", "multiply", "divide", "maximum", "minimum", "power", "atan2"):
        for kind, q in kinds.items():
            add(f"{op}-{kind}", ("9x3", "9x3"), (q, q), ("9x3", q),
                f"%r = stablehlo.{op} %q0, %q1 : ({{0}}, {{1}}) -> {{r}}")
    for op in ("abs", "negate", "sine", "cosine", "tanh", "exponential", "logistic", "floor", "ceil", "sign", "cbrt",
               "exponential_minus_one", "round_nearest_even", "round_nearest_afz"):
        for kind, (a, r) in {"i8": (I8, I8), "i16": (I16, I16), "narrow": (NARROW, NARROW)}.items():
            add(f"{op}-{kind}", ("9x3",), (a,), ("9x3", r), f"%r = stablehlo.{op} %q0 : ({{0}}) -> {{r}}")
    add("requantize", ("9x3",), (I8,), ("9x3", NARROW), "%r = stablehlo.uniform_quantize %q0 : ({0}) -> {r}")
    add("dot", ("4x5", "5x3"), (I8, ZERO), ("4x3", I32),
        "%r = stablehlo.dot_general %q0, %q1, contracting_dims = [1] x [0] : ({0}, {1}) -> {r}")
    add("dot-i8", ("4x5", "5x3"), (NARROW, ZERO), ("4x3", I8),
        "%r = stablehlo.dot_general %q0, %q1, contracting_dims = [1] x [0] : ({0}, {1}) -> {r}")
    add("dot-axis", ("4x5", "5x3"), (I8, "i8:f32:1, {0.5, 0.1, 0.25}"), ("4x3", "i32:f32:1, {0.25, 0.05, 0.125}"),
        "%r = stablehlo.dot_general %q0, %q1, contracting_dims = [1] x [0] : ({0}, {1}) -> {r}")
    add("dot-hybrid", ("4x5", "5x3"), (None, ZERO), ("4x3", None),
        "%r = stablehlo.dot_general %q0, %q1, contracting_dims = [1] x [0] : ({0}, {1}) -> {r}")
    conv = ("dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f], window = {{stride = [1], pad = [[1, 1]]}} "
            "{{batch_group_count = 1 : i64, feature_group_count = 1 : i64}}")
    add("conv", ("1x9x2", "3x2x3"), (I8, "i8:f32, 0.25"), ("1x9x3", I32),
        f"%r = stablehlo.convolution(%q0, %q1) {conv} : ({{0}}, {{1}}) -> {{r}}")
    add("conv-hybrid", ("1x9x2", "3x2x3"), (None, "i8:f32, 0.25"), ("1x9x3", None),
        f"%r = stablehlo.convolution(%q0, %q1) {conv} : ({{0}}, {{1}}) -> {{r}}")
    add("clamp", ("9x3", "9x3", "9x3"), (I8, I8, I8), ("9x3", I8),
        "%r = stablehlo.clamp %q0, %q1, %q2 : ({0}, {1}, {2}) -> {r}")
    add("broadcast", ("9",), (I8,), ("9x3", I8),
        "%r = stablehlo.broadcast_in_dim %q0, dims = [0] : ({0}) -> {r}")
    add("concatenate", ("9x3", "2x3"), (I8, I8), ("11x3", I8),
        "%r = stablehlo.concatenate %q0, %q1, dim = 0 : ({0}, {1}) -> {r}")
    add("slice", ("9x3",), (I8,), ("4x3", I8), "%r = stablehlo.slice %q0 [0:8:2, 0:3] : ({0}) -> {r}")
    add("select", ("9x3", "9x3"), (I8, I8), ("9x3", I8),
        "%p = stablehlo.compare GT, %q0, %q1 : ({0}, {1}) -> tensor<9x3xi1>\n"
        "%r = stablehlo.select %p, %q0, %q1 : tensor<9x3xi1>, {r}")
    add("chain", ("9x3", "9x3"), (I8, I8), ("9x3", I8),
        "%a = stablehlo.multiply %q0, %q1 : ({0}, {1}) -> {r}\n"
        "%b = stablehlo.tanh %a : {r}\n%r = stablehlo.add %b, %q0 : ({r}, {0}) -> {r}")
    return table


def interpreted(text, values):
    context = mlir.make_ir_context()
    with context, ir.Location.unknown():
        # Reading an artifact with quantized types loads their dialect.
        hlo.deserialize_portable_artifact(context, (DATA / "quantized.mlirbc").read_bytes())
        module = ir.Module.parse(text)
        passmanager.PassManager.parse(PASS).run(module.operation)
        return np.array(hlo.eval_module(module, [ir.DenseElementsAttr.get(value) for value in values])[0])


def check(arguments, name, sizes, text):
    numbers = np.random.default_rng([arguments.seed, sum(name.encode())])
    values = [numbers.uniform(-20, 20, [int(x) for x in size.split("x")]).astype(np.float32) for size in sizes if size]
    try:
        want = interpreted(text, values)
    except Exception as error:  # what the interpreter does not do
        print(f"{name}: StableHLO does not run it: {str(error)[:150]}")
        return None
    with tempfile.TemporaryDirectory() as folder:
        pathlib.Path(folder, "m.mlir").write_text(text, encoding="utf-8")
        command = [arguments.kashi, "run", f"{folder}/m.mlir", "--output-dir", folder]
        for i, value in enumerate(values):
            np.save(f"{folder}/in{i}.npy", value)
            command += ["--input", f"{folder}/in{i}.npy"]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            return f"{name}: {done.stderr.strip()[-500:]}"
        got = np.load(f"{folder}/out0.npy")
    if arguments.keep:
        pathlib.Path(arguments.keep, f"{name}.mlir").write_text(text, encoding="utf-8")
    # A result that is not quantized has sums of another order.
    rtol, atol = (1e-5, 1e-4) if "hybrid" in name else (0, 0)
    differing = ~np.isclose(got, want, rtol=rtol, atol=atol, equal_nan=True)
    if not differing.any():
        return ""
    return f"{name}: {differing.sum()} of {want.size} differ: {got[differing][:5]} instead of {want[differing][:5]}"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kashi", default="build/kashi")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", default="", help="programs whose names contain one of these words, with commas")
    parser.add_argument("--keep", help="folder for the programs")
    arguments = parser.parse_args()
    hlo.register_stablehlo_passes()
    run, differing = 0, 0
    for name, (sizes, text) in cases().items():
        if not any(word in name for word in arguments.only.split(",")):
            continue
        why = check(arguments, name, sizes, text)
        if why is None:
            continue
        run, differing = run + 1, differing + bool(why)
        if why:
            print(why, flush=True)
    print(f"{run} programs, {differing} differ")
    sys.exit(1 if differing or not run else 0)


if __name__ == "__main__":
    main()
