#!/usr/bin/env python3
"""Turns JAX's primitive harnesses into StableHLO programs that check themselves, and runs each through `kashi run`.

  .venv/bin/python scripts/oracle_harnesses.py --kashi build/kashi [--only cumsum,sort] [--keep DIR] [--each 1]

Needs a Python with jax and absl-py (`./dev oracle` makes one in .venv). A program has the form of those in StableHLO's
folder `testdata`: @main calls @inputs and @expected, which give constants, then the traced function, and compares by
check.expect_close (floating-point numbers), check.expect_eq (others) or, where XLA rounds in an order of its own,
check.expect_almost_eq. The expected values are those of real XLA. The artifact that jax.export writes for the same
function runs on the same inputs, and its results are compared by the same rule."""
import argparse
import collections
import os
import re
import subprocess
import sys
import tempfile
import warnings

os.environ["JAX_PLATFORMS"] = "cpu"
import jax
import jax.numpy as jnp
import numpy as np
from jax import export
from jax._src.internal_test_util import test_harnesses

from oracle_makers.xla import load

TIMEOUT_S = 120  # of one program
MAX_ULPS = 3  # what check.expect_close allows
# Where XLA sums in another order, or fuses products into sums: so many times the rounding error of the largest element.
ROUNDED = {"cholesky", "conv_general_dilated", "cumlogsumexp", "cumprod", "custom_linear_solve", "dot_general", "eig",
           "eigh", "fft", "igamma", "igammac", "lu", "qr", "random_gamma", "reduce", "reduce_window_add", "svd",
           "triangular_solve", "tridiagonal_solve"}
ROUNDING_ERRORS = 1024

MLIR_TYPES = {"bool": "i1", "float16": "f16", "bfloat16": "bf16", "float32": "f32", "float64": "f64",
              "complex64": "complex<f32>", "complex128": "complex<f64>"}


def element_type(dtype):
    name = dtype.name
    if name in MLIR_TYPES:
        return MLIR_TYPES[name]
    if name.startswith("float8_"):
        return "f8" + name[len("float8_"):].upper()
    return name.replace("uint", "ui").replace("int", "i") if name.startswith("u") else name.replace("int", "i")


def tensor_type(array):
    return "tensor<" + "".join(f"{size}x" for size in array.shape) + element_type(array.dtype) + ">"


def dense(array):
    """The constant as MLIR prints large ones: the bytes in hexadecimal digits."""
    if array.size == 0:
        return "dense<>"
    if array.dtype == bool or array.dtype.name.endswith("int4") or array.dtype.name.endswith("int2"):
        words = [str(x).lower() for x in array.ravel().astype(object)]
        if array.ndim == 0:
            return f"dense<{words[0]}>"
        for size in reversed(array.shape):
            words = ["[" + ", ".join(words[i:i + size]) + "]" for i in range(0, len(words), size)]
        return f"dense<{words[0]}>"
    return f'dense<"0x{np.ascontiguousarray(array).tobytes().hex().upper()}">'


def constants(name, arrays):
    """A private function without arguments that gives the arrays."""
    types = [tensor_type(x) for x in arrays]
    lines = [f"    %{i} = stablehlo.constant {dense(x)} : {types[i]}" for i, x in enumerate(arrays)]
    values = ", ".join(f"%{i}" for i in range(len(arrays)))
    end = f"    return {values} : {', '.join(types)}" if arrays else "    return"
    return "\n".join([f"  func.func private @{name}() -> ({', '.join(types)}) {{", *lines, end, "  }"])


def call(result, function, operands, arguments, results):
    """The call, and the names of its results."""
    count = f":{len(results)}" if len(results) != 1 else ""
    names = [f"%{result}#{i}" if count else f"%{result}" for i in range(len(results))]
    left = f"%{result}{count} = " if results else ""
    types = f"({', '.join(map(tensor_type, arguments))}) -> ({', '.join(map(tensor_type, results))})"
    return f"    {left}func.call @{function}({', '.join(operands)}) : {types}", names


def is_real(array):
    return jnp.issubdtype(array.dtype, jnp.floating)


def tolerance(group, array):
    """Of check.expect_almost_eq; None where the array is compared by units in the last place, or exactly."""
    if array.dtype.kind != "c" and not (is_real(array) and group in ROUNDED):
        return None
    finite = array[np.isfinite(array)]
    largest = float(np.max(np.abs(finite), initial=0))
    return max(ROUNDING_ERRORS * float(jnp.finfo(array.dtype).eps) * largest, 1e-30)


def checking_program(text, group, inputs, wants):
    """The text of a module whose @main takes `inputs`, as a program that checks that it gives `wants`."""
    text = text.replace("func.func public @main(", "func.func private @program(", 1)
    first, names = call("inputs", "inputs", [], [], inputs)
    second, expected = call("expected", "expected", [], [], wants)
    third, results = call("results", "program", names, inputs, wants)
    lines = ([first] if inputs else []) + [second, third]
    for result, want, array in zip(results, expected, wants):
        limit = tolerance(group, array)
        kind = "almost_eq" if limit else "close" if is_real(array) else "eq"
        attributes = "has_side_effect = true" + (f", tolerance = {limit:e} : f64" if limit else "")
        lines.append(f"    stablehlo.custom_call @check.expect_{kind}({result}, {want}) {{{attributes}}} : "
                     f"({tensor_type(array)}, {tensor_type(array)}) -> ()")
    lines.append("    return")
    new = "\n".join(["  func.func public @main() {", *lines, "  }", constants("inputs", inputs),
                     constants("expected", wants), ""])
    end = re.search(r"^module @[^\n]*\{\n", text, re.MULTILINE).end()
    return text[:end] + new + text[end:]


def ulps(want, got):
    """The largest distance of floating-point numbers in units in the last place; NaN is equal to NaN."""
    bits, low = np.dtype(f"i{want.dtype.itemsize}"), -(1 << (8 * want.dtype.itemsize - 1))
    keys = [np.ascontiguousarray(x).view(bits).astype(object) for x in (want, got)]
    keys = [np.where(key < 0, low - key, key) for key in keys]
    same = (want == got) | (np.isnan(want) & np.isnan(got))
    odd = ~same & ~(np.isfinite(want) & np.isfinite(got))
    return int(np.max(np.where(same, 0, np.where(odd, 1 << 64, np.abs(keys[0] - keys[1]))), initial=0))


def difference(group, want, got):
    """None, or what differs, by the rule of the program in text form."""
    if want.shape != got.shape or want.dtype != got.dtype:
        return f"{got.dtype}{list(got.shape)} for {want.dtype}{list(want.shape)}"
    limit = tolerance(group, want)
    if limit:
        wide = np.complex128 if want.dtype.kind == "c" else np.float64
        x, y = want.astype(wide), got.astype(wide)
        apart = ~((x == y) | (np.isnan(x) & np.isnan(y)) | (np.abs(x - y) <= limit))
        return f"{int(apart.sum())} of {apart.size} elements differ by more than {limit}" if apart.any() else None
    if is_real(want):
        distance = ulps(want, got)
        return f"{distance} units in the last place" if distance > MAX_ULPS else None
    return f"{int((want != got).sum())} of {want.size} elements differ" if (want != got).any() else None


def plain(array):
    """Keys of random numbers are the integers that they hold."""
    return np.asarray(jax.random.key_data(array) if jnp.issubdtype(array.dtype, jax.dtypes.prng_key) else array)


def unique_leaves(group, tree):
    """The results, in a form that the function determines: eigenvectors have any phase, so the matrix that they make."""
    leaves = jax.tree_util.tree_leaves(tree)
    if group == "eigh" and len(leaves) == 2:
        vectors, values = leaves
        product = jnp.matmul(vectors * values[..., None, :], jnp.conj(jnp.swapaxes(vectors, -1, -2)), precision="highest")
        return product, values
    return tuple(leaves)


class Case:
    """A harness with its inputs, its program in two forms and XLA's results."""

    def __init__(self, harness):
        arguments = harness.dyn_args_maker(np.random.RandomState(1))
        self.group = harness.group_name
        function = jax.jit(lambda *x: unique_leaves(self.group, harness.dyn_fun(*x)), keep_unused=True)
        lowered = function.lower(*arguments)
        self.wants = [plain(x) for x in lowered.compile()(*arguments)]
        self.inputs = [plain(jnp.asarray(x)) for x in jax.tree_util.tree_leaves(arguments)]
        self.text = checking_program(lowered.as_text(), self.group, self.inputs, self.wants)
        self.artifact = export.export(function)(*arguments).mlir_module_serialized


def run_text(arguments, path):
    done = subprocess.run([arguments.kashi, "run", path], capture_output=True, text=True, timeout=TIMEOUT_S,
                          check=False)
    return done.stderr.strip()[-400:] if done.returncode else None


def run_artifact(arguments, case, path, folder):
    inputs = []
    for i, value in enumerate(case.inputs):
        file = f"{folder}/in{i}.npy"
        np.save(file, value if value.dtype.isbuiltin == 1 else value.view(f"V{value.itemsize}"))
        inputs += ["--input", file]
    done = subprocess.run([arguments.kashi, "run", path, *inputs, "--output-dir", folder], capture_output=True,
                          text=True, timeout=TIMEOUT_S, check=False)
    if done.returncode:
        return done.stderr.strip()[-400:]
    for i, want in enumerate(case.wants):
        path = f"{folder}/out{i}.npy"
        why = difference(case.group, want, load(path, want.dtype.name)) if os.path.exists(path) else "missing"
        if why:
            return f"output {i}: {why}"
    return None


def check(arguments, harness, number):
    """Why the program fails, in both forms; None if JAX does not run the harness."""
    try:
        case = Case(harness)
    except Exception as error:  # whatever JAX throws: the harness is not for this version or platform
        if arguments.verbose:
            print(f"{harness.fullname}: JAX: {type(error).__name__}: {str(error)[:200]}")
        return None
    with tempfile.TemporaryDirectory() as folder:
        base = os.path.join(arguments.keep or folder, f"{number:04d}-" + re.sub(r"\W+", "_", harness.fullname)[:100])
        with open(base + ".mlir", "w", encoding="utf-8") as file:
            file.write(case.text)
        with open(base + ".mlirbc", "wb") as file:
            file.write(case.artifact)
        why = [run_text(arguments, base + ".mlir"), run_artifact(arguments, case, base + ".mlirbc", folder)]
    return [f"{form}: {reason}" for form, reason in zip(("text", "artifact"), why) if reason]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kashi", default="build/kashi")
    parser.add_argument("--only", default="", help="harnesses whose names contain one of these words, with commas")
    parser.add_argument("--each", type=int, default=10, help="only each N-th harness of a group; 1: all, for hours")
    parser.add_argument("--x32", action="store_true", help="without types of 64 bits, as JAX is by default")
    parser.add_argument("--keep", help="folder for all programs")
    parser.add_argument("--verbose", action="store_true", help="say which harnesses JAX does not run")
    arguments = parser.parse_args()
    jax.config.update("jax_enable_x64", not arguments.x32)
    warnings.simplefilter("ignore")
    seen, run, differing = collections.Counter(), collections.Counter(), collections.Counter()
    for number, harness in enumerate(test_harnesses.all_harnesses):
        if not harness.filter("cpu") or not any(word in harness.fullname for word in arguments.only.split(",")):
            continue
        seen[harness.group_name] += 1
        if (seen[harness.group_name] - 1) % arguments.each:
            continue
        why = check(arguments, harness, number)
        if why is None:
            continue
        run[harness.group_name] += 1
        if why:
            differing[harness.group_name] += 1
            print(f"{number} {harness.fullname}: " + "\n".join(why), flush=True)
    for group, count in sorted(differing.items()):
        print(f"{group}: {count} of {run[group]} differ")
    print(f"{sum(run.values())} harnesses as text and as artifact, {sum(differing.values())} differ")
    sys.exit(1 if differing or not run else 0)


if __name__ == "__main__":
    main()
