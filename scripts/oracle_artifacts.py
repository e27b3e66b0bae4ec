#!/usr/bin/env python3
"""Runs the artifacts of past years that JAX keeps to prove that it still reads them, and compares with the outputs that
JAX recorded when it wrote them.

  .venv/bin/python scripts/oracle_artifacts.py --kashi build/kashi [--only lapack,tpu] [--keep DIR]

Needs a Python with jax. Artifacts whose custom calls Kashi does not compute (docs/custom-calls.md), and those whose
sizes depend on their arguments, are counted, not compared; an error of another kind is a failure. Eigenvectors, Schur
vectors and singular vectors are not unique: there, the matrices that they are factors of are compared."""
import argparse
import collections
import importlib
import os
import pkgutil
import re
import subprocess
import sys
import tempfile

os.environ["JAX_PLATFORMS"] = "cpu"
import numpy as np
from jax._src.internal_test_util import export_back_compat_test_data

from oracle_makers.xla import load

TIMEOUT_S = 120  # of one program
RELATIVE = 2e-3  # to the largest element: some outputs are f32 results of a TPU
# Recorded on a TPU, which adds an initial value that is not zero more than once.
OTHER_VALUES = {"tpu_stablehlo_dynamic_reduce_window.data_variadic_2023_06_17"}
# Errors about what a program needs, not about how it was read.
REFUSED = re.compile(r"custom-call target|the size of dimension \d+ of .* is not known")


def artifacts(value, name):
    """All records in the module's nested dictionaries and lists: (name, record)."""
    if isinstance(value, dict) and "mlir_module_serialized" in value:
        yield name, value
    elif isinstance(value, dict):
        for key, part in value.items():
            yield from artifacts(part, f"{name}.{key}")
    elif isinstance(value, (list, tuple)):
        for i, part in enumerate(value):
            yield from artifacts(part, f"{name}.{i}")


def all_artifacts():
    package = export_back_compat_test_data
    for found in pkgutil.walk_packages(package.__path__, package.__name__ + "."):
        if found.ispkg:
            continue
        module = importlib.import_module(found.name)
        short = found.name[len(package.__name__) + 1:]
        for name, value in vars(module).items():
            if not name.startswith("__"):
                yield from artifacts(value, f"{short}.{name}")


def save(path, value):
    value = np.asarray(value)
    np.save(path, value if value.dtype.isbuiltin == 1 else value.view(f"V{value.itemsize}"))


def hermitian(x):
    return np.conj(np.swapaxes(x, -1, -2))


def products(name, outputs):
    """What decompositions are unique in: their values and the matrix that they make; other outputs as they are."""
    if not re.search("_eigh_|_Eigh|_eig_|_schur_|_svd_", name):
        return outputs
    x = [np.asarray(output, np.complex128) for output in outputs]
    if "_schur_" in name:
        return [x[1] @ x[0] @ hermitian(x[1])]
    if "_eig_" in name:  # values, left and right vectors
        values = np.diag(x[0])
        left = hermitian(x[1])
        return [x[0], np.linalg.inv(left) @ values @ left, x[2] @ values @ np.linalg.inv(x[2])]
    if "_svd_" in name:  # U, values, V^H
        count = x[1].shape[-1]
        return [x[1], x[0][..., :count] * x[1][..., None, :] @ x[2][..., :count, :]]
    return [x[1], x[0] * x[1][..., None, :] @ hermitian(x[0])]  # vectors, values


def difference(want, got):
    if want.shape != got.shape or want.dtype != got.dtype:
        return f"{got.dtype}{list(got.shape)} for {want.dtype}{list(want.shape)}"
    if want.dtype.kind in "biu":
        return f"{int((want != got).sum())} elements differ" if (want != got).any() else None
    want, got = (np.asarray(x, np.complex128) for x in (want, got))
    distance, largest = np.abs(want - got), np.max(np.abs(want), initial=0)
    return None if (distance <= RELATIVE * largest).all() else f"distance {distance.max()}, largest {largest}"


def check(arguments, name, record):
    """What is wrong; "" if it cannot run, None if all is right."""
    with tempfile.TemporaryDirectory() as temporary:
        folder = os.path.join(arguments.keep or temporary, name)
        os.makedirs(folder, exist_ok=True)
        with open(f"{folder}/module.mlirbc", "wb") as file:
            file.write(record["mlir_module_serialized"])
        inputs = []
        for i, value in enumerate(record["inputs"]):
            save(f"{folder}/in{i}.npy", value)
            inputs += ["--input", f"{folder}/in{i}.npy"]
        done = subprocess.run([arguments.kashi, "run", f"{folder}/module.mlirbc", *inputs, "--output-dir", folder],
                              capture_output=True, text=True, timeout=TIMEOUT_S, check=False)
        if done.returncode:
            return "" if REFUSED.search(done.stderr) else done.stderr.strip()[-400:]
        wants = [np.asarray(want) for want in record["expected_outputs"]]
        outputs = [load(f"{folder}/out{i}.npy", want.dtype.name) for i, want in enumerate(wants)]
        for i, (want, got) in enumerate(zip(products(name, wants), products(name, outputs))):
            why = difference(want, got)
            if why:
                return f"output {i}: {why}"
    return None


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kashi", default="build/kashi")
    parser.add_argument("--only", default="", help="artifacts whose names contain one of these words, with commas")
    parser.add_argument("--keep", help="folder for the artifacts, their inputs and outputs")
    arguments = parser.parse_args()
    counts, refused = collections.Counter(), collections.Counter()
    for name, record in all_artifacts():
        if not any(word in name for word in arguments.only.split(",")):
            continue
        why = check(arguments, name, record)
        if why == "":
            refused.update(record["custom_call_targets"])
        elif why is not None:
            note = "known: " if name in OTHER_VALUES else ""
            print(f"{note}{name}: {why}", flush=True)
        counts["refused" if why == "" else "equal" if why is None else "known" if note else "differ"] += 1
    print("not computed: " + ", ".join(f"{target} ({n})" for target, n in sorted(refused.items())))
    print(f"{sum(counts.values())} artifacts: {counts['equal']} equal, {counts['differ']} differ, "
          f"{counts['known']} known to differ, "
          f"{counts['refused']} have calls or sizes that Kashi refuses")
    sys.exit(1 if counts["differ"] or not counts["equal"] else 0)


if __name__ == "__main__":
    main()
