#!/usr/bin/env python3
"""Compares the roofline model of `kashi cost --target cpu` with measured times of `kashi run` on this machine.

    bench/roofline.py --kashi build/kashi [MODULE...]

Prints a line of a Markdown table for each module: the least time by the model for the program as Kashi's compiled engine
runs it (after its passes), what bounds it, the fastest of many runs, and their ratio.
"""
import argparse
import json
import pathlib
import subprocess
import sys
import tempfile

SQUARE = """HloModule {name}
ENTRY e {{
  a = f32[{n},{n}] parameter(0)
  b = f32[{n},{n}] parameter(1)
  ROOT d = f32[{n},{n}] dot(a, b), lhs_contracting_dims={{1}}, rhs_contracting_dims={{0}}
}}
"""
SUM = """HloModule add
ENTRY e {
  a = f32[33554432] parameter(0)
  b = f32[33554432] parameter(1)
  ROOT c = f32[33554432] add(a, b)
}
"""
TANH = """HloModule tanh
ENTRY e {
  a = f32[4194304] parameter(0)
  ROOT t = f32[4194304] tanh(a)
}
"""
CONVOLUTION = """HloModule convolution
ENTRY e {
  x = f32[16,56,56,64] parameter(0)
  k = f32[3,3,64,64] parameter(1)
  ROOT y = f32[16,56,56,64] convolution(x, k), window={size=3x3 pad=1_1x1_1}, dim_labels=b01f_01io->b01f
}
"""
SOFTMAX = """HloModule softmax
max { a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT m = f32[] maximum(a, b) }
sum { a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT s = f32[] add(a, b) }
ENTRY e {
  x = f32[4096,4096] parameter(0)
  lowest = f32[] constant(-inf)
  zero = f32[] constant(0)
  m = f32[4096] reduce(x, lowest), dimensions={1}, to_apply=max
  mb = f32[4096,4096] broadcast(m), dimensions={0}
  d = f32[4096,4096] subtract(x, mb)
  e = f32[4096,4096] exponential(d)
  s = f32[4096] reduce(e, zero), dimensions={1}, to_apply=sum
  sb = f32[4096,4096] broadcast(s), dimensions={0}
  ROOT y = f32[4096,4096] divide(e, sb)
}
"""


def small_modules(folder):
    texts = {"dot of 256": SQUARE.format(name="dot", n=256), "dot of 2048": SQUARE.format(name="dot", n=2048),
             "convolution 3x3": CONVOLUTION, "add of 128 MiB arrays": SUM, "tanh of 16 MiB": TANH,
             "softmax of 64 MiB": SOFTMAX}
    for name, text in texts.items():
        path = pathlib.Path(folder) / f"{name}.hlo"
        path.write_text(text)
        yield name, path


def run(command):
    return json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


def compiled(kashi, module, folder):
    """The module after the passes of the compiled engine."""
    out = pathlib.Path(folder) / "compiled.hlo"
    subprocess.run([kashi, "opt", module, "-o", out], check=True, capture_output=True)
    return out


def text_of(seconds):
    for unit, size in (("s", 1), ("ms", 1e-3), ("us", 1e-6)):
        if seconds >= size:
            return f"{seconds / size:.3g} {unit}"
    return f"{seconds * 1e9:.3g} ns"


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n", maxsplit=1)[0])
    parser.add_argument("--kashi", default="build/kashi")
    parser.add_argument("--repeat", default="30")
    parser.add_argument("modules", nargs="*")
    options = parser.parse_args()
    print("| program | flops | bytes | model | bound by | measured | measured / model |")
    print("| --- | --- | --- | --- | --- | --- | --- |")
    with tempfile.TemporaryDirectory() as folder:
        modules = list(small_modules(folder)) + [(pathlib.Path(m).stem, m) for m in options.modules]
        for name, path in modules:
            cost = run([options.kashi, "cost", "--json", "--target", "cpu", compiled(options.kashi, path, folder)])
            times = run([options.kashi, "run", path, "--engine", "cpu", "--repeat", options.repeat, "--json"])
            model, measured = cost["target"]["seconds"], times["run_ms_min"] / 1e3
            target = cost["target"]
            bound = "memory" if target["memory_seconds"] > target["compute_seconds"] else "arithmetic"
            flops = cost["flops"] + cost["transcendentals"]
            print(f"| {name} | {flops / 1e6:.4g} M | {cost['bytes_accessed'] / 1e6:.4g} MB | {text_of(model)} | {bound} | "
                  f"{text_of(measured)} | {measured / model:.2f} |", flush=True)


if __name__ == "__main__":
    sys.exit(main())
