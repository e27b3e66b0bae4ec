#!/usr/bin/env python3
"""The Python package beside the command, and beside jax.jit, in turns: import, calls, untile, reading HLO text.

    bench/transformer_step.py -o step.hlo            # needs jax
    PYTHONPATH=build/python bench/python.py --kashi build/kashi --hlo step.hlo [--rounds 5]

Prints a table: the time of each, best of all rounds, and the ratio. Needs jax for the row of jax.jit.
"""
import argparse
import json
import os
import pathlib
import subprocess
import sys
import time
import timeit

os.environ.setdefault("JAX_PLATFORMS", "cpu")

import numpy as np  # noqa: E402

import kashi  # noqa: E402

TINY = "HloModule m\nENTRY e {\n  x = f32[3] parameter(0)\n  ROOT y = f32[3] add(x, x)\n}\n"
IMPORT = "import numpy, ml_dtypes, time; begin = time.perf_counter(); import kashi; print(time.perf_counter() - begin)"


def once(work, number=1):
    """Seconds of one call: the best of some, as the command measures."""
    return min(timeit.repeat(work, number=number, repeat=5)) / number


def parse_seconds(text):
    """Without the destruction of the module, which the command does not count either."""
    best = float("inf")
    for _ in range(10):
        begin = time.perf_counter()
        module = kashi.parse(text)
        best = min(best, time.perf_counter() - begin)
        del module
    return best


def command(*arguments):
    return json.loads(subprocess.run(arguments, check=True, capture_output=True, text=True).stdout)


def import_seconds():
    return float(subprocess.run([sys.executable, "-c", IMPORT], check=True, capture_output=True, text=True).stdout)


def jax_calls():
    """Of the same function by jax.jit, and by kashi.jax.jit."""
    import jax
    import kashi.jax
    x = jax.numpy.zeros(3, np.float32)

    def call_of(jit):
        call = jit(lambda x: x + x)
        call(x)
        return lambda: call(x).block_until_ready()

    return call_of(jax.jit), call_of(kashi.jax.jit)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kashi", default="build/kashi")
    parser.add_argument("--hlo", type=pathlib.Path, help="HLO text to read")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--gigabytes", type=float, default=1, help="of the array to untile")
    options = parser.parse_args()
    best = {}

    def note(name, seconds):
        best[name] = min(best.get(name, seconds), seconds)

    x = np.zeros(3, np.float32)
    program = kashi.compile(kashi.parse(TINY))
    call, (in_jax, by_kashi) = program.run, jax_calls()
    rows = max(16, int(options.gigabytes * 1e9 / 2 / 8192) // 16 * 16)
    shape = kashi.Shape(f"bf16[{rows},8192]{{1,0:T(8,128)(2,1)}}")
    buffer = np.full(shape.buffer_bytes, 1, np.uint8)  # memory of its own: zeros would all be one page
    out = np.zeros(shape.dimensions, shape.dtype)
    text = options.hlo.read_text() if options.hlo else None
    for _ in range(options.rounds):
        note("import", import_seconds())
        note("call", once(lambda: call(x), 10000))
        note("call of jax.jit", once(in_jax, 2000))
        note("call of kashi.jax.jit", once(by_kashi, 2000))
        note("untile", once(lambda: kashi.untile(buffer, shape, out)))
        made = command(options.kashi, "relayout", "--bench", "--json", "--min-time", "0.3", "--from", str(shape), "--to",
                       f"bf16[{rows},8192]{{1,0}}")
        note("untile in C++", made["execute_ns_min"] / 1e9)
        if text:
            note("parse", parse_seconds(text))
            made = command(options.kashi, "convert", str(options.hlo), "--bench", "--json")
            note("parse in C++", made["text_bytes"] / made["parse_mb_per_s"] / 1e6)
    print("| work | Python | beside | ratio |\n| --- | --- | --- | --- |")
    print(f"| import kashi, after NumPy and ml_dtypes | {best['import'] * 1e3:.0f} ms | | |")
    rows = [("call of a program on f32[3]", "call", "call of jax.jit", 1e6, "µs"),
            ("the same by kashi.jax.jit", "call of kashi.jax.jit", "call of jax.jit", 1e6, "µs"),
            (f"untile {shape.bytes / 1e9:.2f} GB of bf16, T(8,128)(2,1)", "untile", "untile in C++", 1e3, "ms")]
    if text:
        rows.append((f"read {len(text) / 1e6:.1f} MB of HLO text", "parse", "parse in C++", 1e3, "ms"))
    for title, ours, other, scale, unit in rows:
        print(f"| {title} | {best[ours] * scale:.3g} {unit} | {other}: {best[other] * scale:.3g} {unit} "
              f"| {best[ours] / best[other]:.2f} |")


if __name__ == "__main__":
    main()
