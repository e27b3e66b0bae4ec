#!/usr/bin/env python3
"""How the time of the compiled engine's compiler grows with the size of a program.

    bench/compile_time.py [--kashi build/kashi] [--sizes 5000,20000,100000] [KIND ...]

A row is a kind of program; for each size it has the seconds to compile, and the peak memory. Straight-line programs of
random operations, the same in each run:

    chain    elementwise operations on f32[64,64]
    small    elementwise operations on f32[8]: one native function after the other
    blocks   dots, functions and slices of equal sizes: equal fusions share a kernel
    unlike   slices, exponentials and sums, each of its own size: a kernel for every five instructions
    loops    loops of a few iterations on f32[16], one after the other
"""
import argparse
import json
import pathlib
import random
import subprocess
import sys
import tempfile

OPERATIONS = ("multiply", "add", "subtract", "maximum")


def elementwise(shape, count, reach):
    r = random.Random(1)
    lines = [f"v0 = {shape} parameter(0)"]
    for i in range(1, count):
        lines.append(f"v{i} = {shape} {r.choice(OPERATIONS)}(v{i - 1}, v{max(0, i - 1 - r.randrange(reach))})")
    return "", lines


def blocks(count):
    lines = ["w = f32[64,64] parameter(0)", "v0 = f32[32,64] parameter(1)"]
    for i in range(1, count // 4):
        lines += [
            f"d{i} = f32[32,64] dot(v{i - 1}, w), lhs_contracting_dims={{1}}, rhs_contracting_dims={{0}}",
            f"t{i} = f32[32,64] tanh(d{i})",
            f"part{i} = f32[32,64] slice(t{i}), slice={{[0:32],[0:64]}}",
            f"v{i} = f32[32,64] add(part{i}, v{i - 1})",
        ]
    return "", lines


def unlike(count):
    r = random.Random(1)
    lines = ["v0 = f32[128,128] parameter(0)", "zero = f32[] constant(0)"]
    for i in range(1, count // 5):
        rows = r.randrange(1, 128)
        lines += [
            f"a{i} = f32[{rows},128] slice(v{i - 1}), slice={{[0:{rows}],[0:128]}}",
            f"m{i} = f32[{rows},128] exponential(a{i})",
            f"r{i} = f32[128] reduce(m{i}, zero), dimensions={{0}}, to_apply=sum",
            f"b{i} = f32[128,128] broadcast(r{i}), dimensions={{1}}",
            f"v{i} = f32[128,128] subtract(b{i}, v{i - 1})",
        ]
    return "sum { a = f32[] parameter(0) b = f32[] parameter(1) ROOT c = f32[] add(a, b) }\n", lines


def loops(count):
    state = "(s32[], f32[16])"
    computations, lines = "", ["v0 = f32[16] parameter(0)", "zero = s32[] constant(0)"]
    for i in range(count // 10):
        take = "i = s32[] get-tuple-element(p), index=0"
        computations += (
            f"cond{i} {{ p = {state} parameter(0) {take} k = s32[] constant({3 + i % 4})"
            " ROOT r = pred[] compare(i, k), direction=LT }\n"
            f"body{i} {{ p = {state} parameter(0) {take} o = s32[] constant(1) j = s32[] add(i, o)"
            f" x = f32[16] get-tuple-element(p), index=1 y = f32[16] {'sine' if i % 2 else 'tanh'}(x)"
            f" ROOT r = {state} tuple(j, y) }}\n"
        )
        lines += [
            f"t{i} = {state} tuple(zero, v{i})",
            f"w{i} = {state} while(t{i}), condition=cond{i}, body=body{i}",
            f"v{i + 1} = f32[16] get-tuple-element(w{i}), index=1",
        ]
    return computations, lines


KINDS = {
    "chain": lambda count: elementwise("f32[64,64]", count, 5),
    "small": lambda count: elementwise("f32[8]", count, 50),
    "blocks": blocks,
    "unlike": unlike,
    "loops": loops,
}


def program(kind, count):
    computations, lines = KINDS[kind](count)
    body = "\n".join("  " + line for line in lines[:-1] + ["ROOT " + lines[-1]])
    return f"HloModule {kind}\n\n{computations}\nENTRY e {{\n{body}\n}}\n"


def measure(kashi, path):
    run = subprocess.run([kashi, "run", path, "--engine", "cpu", "--json"], capture_output=True, text=True)
    if run.returncode != 0:
        sys.exit(run.stderr)
    result = json.loads(run.stdout)
    return result["compile_ms"] / 1000, result["peak_rss_bytes"] / 2**20


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("kinds", nargs="*", metavar="KIND", help=f"of {', '.join(KINDS)} (default: all)")
    parser.add_argument("--kashi", default="build/kashi", help="the command (default: build/kashi)")
    parser.add_argument("--sizes", default="5000,20000,100000", help="instructions, about (default: 5000,20000,100000)")
    arguments = parser.parse_args()
    for kind in arguments.kinds:
        if kind not in KINDS:
            parser.error(f"unknown kind {kind}; the kinds are: {', '.join(KINDS)}")
    sizes = [int(size) for size in arguments.sizes.split(",")]
    print("| program | " + " | ".join(f"{size:,}" for size in sizes) + " |")
    print("| --- |" + " ---: |" * len(sizes))
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "program.hlo"
        for kind in arguments.kinds or KINDS:
            cells = []
            for size in sizes:
                path.write_text(program(kind, size))
                cells.append("%.2f s, %.0f MiB" % measure(arguments.kashi, path))
            print(f"| {kind} | " + " | ".join(cells) + " |", flush=True)


if __name__ == "__main__":
    main()
