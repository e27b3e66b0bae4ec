#!/usr/bin/env python3
"""Dots with Kashi and with oneDNN's sgemm side by side, in turns, and prints a table in Markdown. Needs libdnnl.

    bench/dots.py --kashi build/kashi [--sizes 256,512,1024,2048] [--rounds 5]

Row-major f32[n,n] times f32[n,n], with as many threads as the process has processors. A time is the median of the runs
of a round, and then the least of all rounds. A ratio above 1 says that Kashi is faster.
"""
import argparse
import ctypes
import ctypes.util
import json
import math
import os
import statistics
import subprocess
import sys
import time

MODULE = """HloModule dot
ENTRY main {{ a = f32[{n},{n}] parameter(0)  b = f32[{n},{n}] parameter(1)
  ROOT c = f32[{n},{n}] dot(a, b), lhs_contracting_dims={{1}}, rhs_contracting_dims={{0}} }}
"""


class OneDnn:
    """sgemm of one size, on memory of its own."""

    def __init__(self, library, n):
        floats = ctypes.c_float * (n * n)
        # No denormals and nothing that grows: both sides multiply ordinary numbers.
        values = [((i * 2654435761) % 1024 - 512) / 4096 for i in range(n * n)]
        self.a, self.b, self.c = floats(*values), floats(*reversed(values)), floats()
        size, one, zero = ctypes.c_int64(n), ctypes.c_float(1), ctypes.c_float(0)
        self.arguments = [ctypes.c_char(b"N"), ctypes.c_char(b"N"), size, size, size, one, self.a, size, self.b, size,
                          zero, self.c, size]
        self.call = library.dnnl_sgemm

    def run_ms(self, repeat):
        times = []
        for _ in range(repeat + 1):
            begin = time.perf_counter()
            if self.call(*self.arguments) != 0:
                sys.exit("dots.py: dnnl_sgemm failed")
            times.append((time.perf_counter() - begin) * 1e3)
        return statistics.median(times[1:])


def kashi_ms(kashi, n, repeat):
    command = [kashi, "run", "-", "--engine", "cpu", "--json", "--repeat", str(repeat + 1)]
    done = subprocess.run(command, input=MODULE.format(n=n), capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"dots.py: {done.stderr.strip()}")
    return json.loads(done.stdout)["run_ms_median"]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kashi", default="build/kashi")
    parser.add_argument("--sizes", default="256,512,1024,2048")
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    path = ctypes.util.find_library("dnnl")
    if path is None:
        sys.exit("dots.py: libdnnl is not installed (Debian: libdnnl-dev)")
    os.environ.setdefault("OMP_NUM_THREADS", str(len(os.sched_getaffinity(0))))
    library = ctypes.CDLL(path)
    print("| f32[n,n] | oneDNN / Kashi, times | Kashi, GFLOP/s | oneDNN, GFLOP/s |\n| --- | --- | --- | --- |")
    ratios = []
    for n in map(int, options.sizes.split(",")):
        repeat, theirs, ours, peer = max(3, 10**9 // n**3), math.inf, math.inf, OneDnn(library, n)
        for _ in range(options.rounds):
            ours, theirs = min(ours, kashi_ms(options.kashi, n, repeat)), min(theirs, peer.run_ms(repeat))
        ratios.append(theirs / ours)
        print(f"| {n} | {theirs / ours:.2f} | {2e-6 * n**3 / ours:.0f} | {2e-6 * n**3 / theirs:.0f} |", flush=True)
    print(f"| geometric mean | {statistics.geometric_mean(ratios):.2f} | | |")


if __name__ == "__main__":
    main()
