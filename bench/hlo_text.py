#!/usr/bin/env python3
"""Reading and printing HLO text: Kashi and real XLA (jaxlib) side by side, in turns, on the same file. Needs jax.

    bench/transformer_step.py -o step.hlo
    bench/hlo_text.py step.hlo --kashi build-bench/kashi [--rounds 5]

Prints a table: MB/s of each, best of all rounds, the ratio, and, as the machine's limit, what copying the text takes.
"""
import argparse
import json
import os
import subprocess
import sys
import time

os.environ["JAX_PLATFORMS"] = "cpu"

import jaxlib._hlo as xla  # noqa: E402


def seconds(work):
    begin = time.perf_counter()
    result = work()
    return time.perf_counter() - begin, result


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file")
    parser.add_argument("--kashi", default="build-bench/kashi")
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    text = open(options.file).read()
    size = len(text) / 1e6
    best = {}

    def note(name, speed):
        best[name] = max(best.get(name, 0), speed)

    for _ in range(options.rounds):
        ours = json.loads(subprocess.run([options.kashi, "convert", options.file, "--bench", "--json"],
                                         capture_output=True, check=True).stdout)
        note(("read", "kashi"), ours["parse_mb_per_s"])
        note(("print", "kashi"), ours["print_mb_per_s"])
        took, module = seconds(lambda: xla.hlo_module_from_text(text))
        note(("read", "xla"), size / took)
        for _ in range(3):
            took, printed = seconds(module.to_string)
            note(("print", "xla"), len(printed) / 1e6 / took)
        data = bytearray(text, "utf-8")
        took, _ = seconds(lambda: bytes(data))
        note(("copy", "memory"), size / took)

    print(f"{options.file}: {size:.1f} MB, best of {options.rounds} rounds in turns")
    print(f"{'':8}{'kashi':>12}{'xla':>12}{'ratio':>9}")
    for what in ("read", "print"):
        ours, theirs = best[what, "kashi"], best[what, "xla"]
        print(f"{what:8}{ours:>7.0f} MB/s{theirs:>7.0f} MB/s{ours / theirs:>8.1f}x")
    print(f"{'copy':8}{best['copy', 'memory']:>7.0f} MB/s")
    return 0


if __name__ == "__main__":
    sys.exit(main())
