#!/usr/bin/env python3
"""Has XLA write the modules of a corpus as StableHLO artifacts and as text, and compares what Kashi makes of them with
what it makes of the HLO: the values on the same random inputs.

  .venv/bin/python scripts/oracle_corpus.py --kashi build/kashi [--corpus tests/data/corpus] [--only conv]

Needs a Python with jax (`./dev oracle` makes one in .venv). Modules that the evaluator cannot run alone, because of
their custom calls, must be read; they are counted apart."""
import argparse
import collections
import json
import os
import pathlib
import subprocess
import sys
import tempfile

os.environ["JAX_PLATFORMS"] = "cpu"
import jaxlib._hlo as xla_hlo
import jaxlib._jax as runtime
from jax.errors import JaxRuntimeError
from jax._src.interpreters import mlir
from jax._src.lib.mlir.dialects import hlo

ROOT = pathlib.Path(__file__).resolve().parent.parent
TIMEOUT_S = 300  # of one program
VERSION = "1.17.0"  # of the artifacts


def write_stablehlo(source, folder):
    """The paths of the module in both forms."""
    module = xla_hlo.hlo_module_from_text(source.read_text())
    computation = xla_hlo.XlaComputation(module.as_serialized_hlo_module_proto())
    text = runtime.mlir.xla_computation_to_mlir_module(computation)
    paths = pathlib.Path(folder) / "module.mlirbc", pathlib.Path(folder) / "module.mlir"
    paths[0].write_bytes(runtime.mlir.serialize_portable_artifact(text, VERSION))
    # As text from the artifact, which has no operations of MHLO.
    with mlir.make_ir_context() as context:
        module = hlo.deserialize_portable_artifact(context, paths[0].read_bytes())
        paths[1].write_text(module.operation.get_asm())
    return paths


def compare(kashi, source, path):
    """("equal" | "read" | "differ", why)."""
    def run(*words):
        return subprocess.run([kashi, *words], capture_output=True, text=True, timeout=TIMEOUT_S, check=False)

    read = run("convert", path, "-o", os.devnull, "--to", "text")
    if read.returncode:
        return "differ", read.stderr.strip()[-400:]
    report = run("diff", source, path, "--json", "--allow-nan").stdout
    outputs = json.loads(report).get("outputs") if report else None
    if outputs is not None:
        bad = [f"output {i}: {output}" for i, output in enumerate(outputs) if not output["agrees"]]
        return ("differ", bad[0]) if bad else ("equal", None)
    alone = run("run", source)
    return ("differ", "it does not run, and the HLO does") if alone.returncode == 0 else ("read", None)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kashi", default="build/kashi")
    parser.add_argument("--corpus", type=pathlib.Path, default=ROOT / "tests/data/corpus")
    parser.add_argument("--only", default="", help="modules whose names contain this")
    arguments = parser.parse_args()
    counts = collections.Counter()
    for source in sorted(arguments.corpus.glob("*/before.hlo")):
        name = source.parent.name
        if arguments.only not in name:
            continue
        with tempfile.TemporaryDirectory() as folder:
            try:
                paths = write_stablehlo(source, folder)
            except (ValueError, JaxRuntimeError) as error:
                print(f"{name}: XLA does not write it: {str(error)[:200]}", flush=True)
                counts["not written"] += 1
                continue
            for path in paths:
                kind, why = compare(arguments.kashi, source, path)
                counts[kind] += 1
                if why:
                    print(f"{name} as {path.suffix}: {why}", flush=True)
    print(", ".join(f"{count} {kind}" for kind, count in sorted(counts.items())))
    sys.exit(1 if counts["differ"] or not counts["equal"] else 0)


if __name__ == "__main__":
    main()
