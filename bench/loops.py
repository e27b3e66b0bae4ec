#!/usr/bin/env python3
"""Times loops that read and write elements of arrays, with Kashi and XLA side by side, and prints a table in Markdown.

    bench/loops.py --kashi build/kashi               all programs of bench/loops/, which bench/loop_programs.py wrote
    bench/loops.py --only swap --no-xla              programs with this in their name; without XLA, which needs jax

Each program takes the same number of steps on small and on large arrays. Its time should grow with the steps alone. So a
row has, for each engine, the time of a step on small and on large arrays. A run also copies its arguments once. So the
time of a step is the difference between all steps and half of them. (Of the sieve and the insertion sort, whose steps
grow longer, the figures only tell small from large arrays.)
"""
import argparse
import glob
import json
import os
import re
import subprocess
import sys
import tempfile
import time

import numpy as np

HERE = os.path.dirname(os.path.abspath(__file__))
WRITTEN_SIZE, STEPS = 50000, 20000  # as in bench/loop_programs.py
SIZES = (50000, 800000)
TYPES = {"f32": np.float32, "s32": np.int32, "u32": np.uint32}


def text_of(path, size):
    with open(path) as file:
        text = file.read()
    text = re.sub(rf"\b{WRITTEN_SIZE - 1}\b", str(size - 1), text)
    return re.sub(rf"\b{WRITTEN_SIZE}\b", str(size), text)


def arguments_of(text):
    """Normal numbers, and integers that are indices of the small arrays."""
    generator = np.random.default_rng(42)
    arrays = []
    layout = re.search(r"entry_computation_layout=\{\((.*?)\)->", text).group(1)
    for dtype, sizes in re.findall(r"(\w+)\[([\d,]+)\]", layout):
        sizes = [int(size) for size in sizes.split(",")]
        if dtype == "f32":
            arrays.append(generator.standard_normal(sizes).astype(np.float32))
        else:
            arrays.append(generator.integers(0, WRITTEN_SIZE, sizes).astype(TYPES[dtype]))
    return arrays


def kashi_ms(options, engine, text, arrays):
    with tempfile.TemporaryDirectory() as folder:
        with open(f"{folder}/module.hlo", "w") as file:
            file.write(text)
        command = [options.kashi, "run", f"{folder}/module.hlo", "--engine", engine, "--json", "--repeat",
                   str(options.repeat + 1)]
        for i, array in enumerate(arrays):
            np.save(f"{folder}/in{i}.npy", array)
            command += ["--input", f"{folder}/in{i}.npy"]
        try:
            run = subprocess.run(command, capture_output=True, text=True, timeout=options.timeout)
        except subprocess.TimeoutExpired:
            return None
        if run.returncode != 0:
            sys.exit(run.stderr)
        return json.loads(run.stdout)["run_ms_min"]


class Xla:
    """XLA's compiler and runtime, as jaxlib has them."""

    def __init__(self):
        os.environ["JAX_PLATFORMS"] = "cpu"
        import jax
        import jaxlib._hlo
        import jaxlib._jax
        self.jax, self.hlo, self.runtime = jax, jaxlib._hlo, jaxlib._jax
        self.device = jax.devices("cpu")[0]

    def ms(self, options, text, arrays):
        proto = self.hlo.hlo_module_from_text(text).as_serialized_hlo_module_proto()
        module = self.runtime.mlir.xla_computation_to_mlir_module(self.hlo.XlaComputation(proto))
        program = self.device.client.compile_and_load(module, self.runtime.DeviceList((self.device,)))
        arguments = [self.jax.device_put(array) for array in arrays]
        times = []
        for _ in range(options.repeat + 1):
            begin = time.perf_counter()
            for outputs in program.execute_sharded(arguments).disassemble_into_single_device_arrays():
                outputs[0].block_until_ready()
            times.append((time.perf_counter() - begin) * 1e3)
        return min(times[1:])


def ns_of_step(time_of, path, size):
    """None if it takes too long."""
    text = text_of(path, size)
    arrays = arguments_of(text)
    counts = rf"(constant\()({STEPS}|{STEPS - 1}|{STEPS // 10}|{STEPS // 200}|280|142)\)"
    half = re.sub(counts, lambda found: f"{found[1]}{int(found[2]) // 2})", text)
    times = [time_of(text, arrays), time_of(half, arrays)]
    return None if None in times else max(0.0, times[0] - times[1]) * 1e6 / (STEPS / 2)


def row_of(path, engines):
    row = [os.path.basename(path)[:-len(".hlo")]]
    for time_of in engines.values():
        for size in SIZES:
            ns = ns_of_step(time_of, path, size)
            row.append("too long" if ns is None else f"{ns:.0f}" if ns >= 10 else f"{ns:.1f}")
    return row


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kashi", default="build/kashi")
    parser.add_argument("--no-xla", action="store_true")
    parser.add_argument("--repeat", type=int, default=5, help="runs, behind the first, which does not count; the fastest counts")
    parser.add_argument("--timeout", type=float, default=60, help="seconds for the runs of one program")
    parser.add_argument("--only", default="", help="programs with this in their name")
    options = parser.parse_args()
    engines = {}
    if not options.no_xla:
        xla = Xla()
        engines["XLA"] = lambda text, arrays: xla.ms(options, text, arrays)
    for engine in ("cpu", "evaluator"):
        engines[engine] = lambda text, arrays, engine=engine: kashi_ms(options, engine, text, arrays)
    head = ["ns a step"] + [f"{name}, {size:,}" for name in engines for size in SIZES]
    print("| " + " | ".join(head) + " |\n|" + " --- |" * len(head))
    for path in sorted(glob.glob(f"{HERE}/loops/*{options.only}*.hlo")):
        print("| " + " | ".join(row_of(path, engines)) + " |", flush=True)


if __name__ == "__main__":
    main()
