#!/usr/bin/env python3
"""Runs random small programs through real XLA (its CPU compiler) and through `kashi run`, and prints the differences.

  .venv/bin/python scripts/oracle_programs.py --kashi build/kashi [--count 500] [--seed 1] [--only dot] [--keep DIR]
  .venv/bin/python scripts/oracle_programs.py --store tests/data/evaluator/programs.txt --count 400

Needs a Python with jax (`./dev oracle` makes one in .venv). Each program is one to six operations on fresh or earlier
values; every operation of the op table that XLA's CPU compiler supports has a maker in oracle_makers/. XLA runs in a
child process, because it may abort. Where XLA's compiled code differs from IEEE on purpose (docs/fidelity.md), the
makers avoid such inputs. --store writes programs, inputs and XLA's outputs as text, for the unit tests."""
import argparse
import os
import random
import subprocess
import sys
import tempfile

import numpy as np

from oracle_makers.program import ANY, COMPLEX, EIGHT_BIT_FLOATS, EXACT, MAKERS, NARROW, Program, SUB_BYTE, dtype_of
from oracle_makers.xla import Xla, difference, load


def make(seed, only):
    p = Program(seed)
    for _ in range(p.random.randint(1, 6)):
        p.tolerance = EXACT
        MAKERS[p.pick([m for m in MAKERS if any(word in m for word in only.split(","))])](p)
    return p if p.values else make(seed + 1000003, only)


def literal_text(array, kind):
    """The array as a literal in HLO text."""
    def one(x):
        if kind == "pred":
            return str(bool(x)).lower()
        if kind in COMPLEX:
            return f"({one_real(x.real)}, {one_real(x.imag)})"
        return str(int(x)) if kind[0] in "su" else one_real(x)
    def one_real(x):
        return repr(float(x)).replace("inf", "inf").replace("nan", "nan")
    def nest(a):
        return "{" + ", ".join(nest(x) for x in a) + "}" if a.ndim else one(a[()])
    return f"{kind}[{','.join(map(str, array.shape))}] {nest(array)}"


def kind_of(dtype):
    for kind in set(ANY + NARROW + COMPLEX + SUB_BYTE + EIGHT_BIT_FLOATS):
        if dtype_of(kind) == dtype:
            return kind
    return None


def stored_text(seed, p, wants):
    """The program, its inputs and outputs in the format of programs_test.cc; empty if they are large."""
    kinds = [kind_of(x.dtype) for x in p.inputs + wants]
    # Text has no NaN as a real part that leaves the imaginary part alone.
    has_nan = any(x.dtype.kind == "c" and np.isnan(x).any() for x in p.inputs + wants)
    if None in kinds or has_nan or sum(x.size for x in p.inputs + wants) > 600:
        return ""
    text = f"=== {seed}\n{p.text()}"
    parts = ["input"] * len(p.inputs) + [f"output {v.tolerance}" for v in p.values]
    for part, x, kind in zip(parts, p.inputs + wants, kinds):
        text += f"--- {part}\n{literal_text(x, kind)}\n"
    return text if len(text) <= 5200 else ""


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kashi", default="build/kashi")
    parser.add_argument("--engine", default="auto", help="auto, cpu or evaluator")
    parser.add_argument("--count", type=int, default=500)
    parser.add_argument("--seed", type=int, default=random.randrange(1 << 30))
    parser.add_argument("--only", default="", help="makers whose names contain one of these words, separated by commas")
    parser.add_argument("--keep", help="folder for programs that differ")
    parser.add_argument("--store", help="write the programs and XLA's outputs to this file instead of asking Kashi")
    parser.add_argument("--show", type=int, default=20)
    a = parser.parse_args()
    print(f"{a.count} programs, seed {a.seed}, {len(MAKERS)} makers")
    if a.store:
        open(a.store, "w").close()
    xla, silent, differing = Xla(), 0, 0
    for n in range(a.count):
        p = make(a.seed + n, a.only)
        with tempfile.TemporaryDirectory() as folder:
            with open(f"{folder}/module.hlo", "w") as f:
                f.write(p.text())
            for i, x in enumerate(p.inputs):
                np.save(f"{folder}/in{i}.npy", x if x.dtype.isbuiltin == 1 else x.view(f"V{x.itemsize}"))
            outs = xla.run(folder, len(p.inputs))
            if isinstance(outs, str):
                silent += 1
                if os.environ.get("VERBOSE"):
                    print(f"seed {a.seed + n}: XLA has no answer: {outs}\n{p.text()}")
                continue
            wants = [load(f"{folder}/xla{i}.npy", name) for i, name in enumerate(outs)]
            if a.store:
                with open(a.store, "a") as f:
                    f.write(stored_text(a.seed + n, p, wants))
                continue
            arguments = [word for i in range(len(p.inputs)) for word in ("--input", f"{folder}/in{i}.npy")]
            run = subprocess.run([a.kashi, "run", f"{folder}/module.hlo", "--engine", a.engine, *arguments,
                                  "--output-dir", f"{folder}/ours"],
                                 capture_output=True, text=True, timeout=60)
            why = None
            if run.returncode != 0:
                why = f"exit {run.returncode}: {run.stderr.strip()[-300:]}"
            for i, want in enumerate(wants):
                if why is None:
                    got = load(f"{folder}/ours/out{i}.npy", want.dtype.name)
                    why = difference(want, got, p.values[i].tolerance)
                    if why and want.size <= 40:
                        why += f" ({p.values[i].tolerance})\n  XLA   {want.ravel()}\n  Kashi {got.ravel()}"
            if why:
                differing += 1
                if differing <= a.show:
                    inputs = "\n".join(f"  p{i} = {x.ravel()[:40]}" for i, x in enumerate(p.inputs))
                    print(f"seed {a.seed + n}: {why}\n{p.text()}{inputs}\n")
                if a.keep:
                    os.makedirs(f"{a.keep}/{a.seed + n}", exist_ok=True)
                    subprocess.run(["cp", "-r", f"{folder}/.", f"{a.keep}/{a.seed + n}"], check=True)
    print(f"{a.count - silent} answered by XLA, {differing} differ")
    sys.exit(1 if differing else 0)


if __name__ == "__main__":
    main()
