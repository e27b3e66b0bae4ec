#!/usr/bin/env python3
"""Reading StableHLO: Kashi and MLIR (jaxlib) side by side, in turns, on the same program. Needs jax.

    bench/stablehlo.py --bench build-bench/rooms/kashi_stablehlo_bench [--layers 64] [--rounds 3]

The program is a transformer's train step (transformer_step.py), as text and as a portable artifact. Prints MB/s of
each, best of all rounds, and the ratio. Kashi's reader of artifacts gives StableHLO, as MLIR's does with its
upgrades. The partner of BM_ReadAndConvert is XLA's function that reads the artifact and makes HLO.
"""
import argparse
import json
import os
import pathlib
import subprocess
import tempfile
import time

os.environ["JAX_PLATFORMS"] = "cpu"

import jax  # noqa: E402
import jax.numpy as jnp  # noqa: E402
from jax import export  # noqa: E402
from jax._src.interpreters import mlir  # noqa: E402
from jax._src.lib import _jax  # noqa: E402
from jax._src.lib.mlir import ir  # noqa: E402
from jax._src.lib.mlir.dialects import hlo  # noqa: E402

import transformer_step  # noqa: E402


def make_program(layers):
    """The train step as text, with the locations that JAX gives, and as an artifact."""
    p = transformer_step.make_parameters(layers)
    tokens = jnp.zeros((transformer_step.BATCH, transformer_step.LENGTH), jnp.int32)
    exported = export.export(jax.jit(transformer_step.step))(p, p, p, tokens)
    with mlir.make_ir_context():
        module = ir.Module.parse(exported.mlir_module())
        text = module.operation.get_asm(enable_debug_info=True)
    return text, exported.mlir_module_serialized


def mlir_seconds(text, artifact):
    """What MLIR takes to parse the text and to read the artifact, and XLA to make HLO of the artifact."""
    with mlir.make_ir_context() as context:
        begin = time.perf_counter()
        module = ir.Module.parse(text)
        parsed = time.perf_counter() - begin
        begin = time.perf_counter()
        read = hlo.deserialize_portable_artifact(context, artifact)
        took = time.perf_counter() - begin
        del module, read
    begin = time.perf_counter()
    computation = _jax.mlir.mlir_module_to_xla_computation(artifact, use_tuple_args=False, return_tuple=False)
    converted = time.perf_counter() - begin
    del computation
    return parsed, took, converted


def kashi_speeds(bench, name):
    done = subprocess.run([bench, "--benchmark_format=json"], capture_output=True, check=True,
                          env={**os.environ, "KASHI_STABLEHLO_PROGRAM": name})
    return {row["name"]: row["bytes_per_second"] / 1e6 for row in json.loads(done.stdout)["benchmarks"]}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bench", default="build-bench/rooms/kashi_stablehlo_bench")
    parser.add_argument("--layers", type=int, default=64)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--keep", help="write the program to this path with the endings .mlir and .mlirbc, and stop")
    options = parser.parse_args()
    text, artifact = make_program(options.layers)
    with tempfile.TemporaryDirectory() as folder:
        name = options.keep or f"{folder}/step"
        pathlib.Path(f"{name}.mlir").write_text(text, encoding="utf-8")
        pathlib.Path(f"{name}.mlirbc").write_bytes(artifact)
        if options.keep:
            return
        best = {}
        for _ in range(options.rounds):
            parsed, read, converted = mlir_seconds(text, artifact)
            theirs = {"BM_ReadText": len(text) / 1e6 / parsed, "BM_ReadBytecode": len(artifact) / 1e6 / read,
                      "BM_ReadAndConvert": len(artifact) / 1e6 / converted}
            for row, speed in kashi_speeds(options.bench, name).items():
                ours, other = best.get(row, (0, 0))
                best[row] = max(ours, speed), max(other, theirs.get(row, 0))
    print(f"text {len(text) / 1e6:.1f} MB, artifact {len(artifact) / 1e6:.1f} MB; best of {options.rounds} rounds")
    print(f"{'':18}{'kashi':>12}{'mlir':>12}{'ratio':>8}")
    for row, (ours, other) in best.items():
        theirs = f"{other:>7.1f} MB/s{ours / other:>7.1f}x" if other else ""
        print(f"{row:18}{ours:>7.1f} MB/s{theirs}")


if __name__ == "__main__":
    main()
