#!/usr/bin/env python3
"""Runs random chains of operations on short floats through real XLA's CPU compiler and through `kashi run`, bit by bit.

  .venv/bin/python scripts/oracle_rounding.py --kashi build/kashi [--count 300] [--seed 1] [--keep DIR]
  .venv/bin/python scripts/oracle_rounding.py --store tests/data/cpu/rounding.txt --count 80 --seed 1

Needs a Python with jax (`./dev oracle` makes one in .venv). A program is a chain of operations that are exactly defined
(sums, products, converts, choices, moves; some of them in a loop) on one short type and f32. It is run five times:

  real XLA                                                     must be equal to both engines
  kashi run --engine cpu
  kashi run --engine evaluator                                 (only chains without fused multiply-adds)
  kashi run --engine … --excess-precision off                  both must be equal to NumPy's, which rounds after
                                                               each operation

--store writes programs, inputs, XLA's outputs and NumPy's as text, for the unit tests."""
import argparse
import os
import random
import subprocess
import sys
import tempfile

import numpy as np

from oracle_makers.program import EIGHT_BIT_FLOATS, dtype_of
from oracle_makers.xla import Xla, load
from oracle_programs import literal_text

SHORT = ["bf16"] * 6 + ["f16"] * 2 + EIGHT_BIT_FLOATS


class Node:
    """A value of the chain: its name in the text, its type, and what NumPy makes of it."""

    def __init__(self, name, kind, array, has_product=False):
        self.name, self.kind, self.array = name, kind, array
        self.has_product = has_product  # a sum may take it unrounded, by a fused multiply-add


class Chain:
    def __init__(self, seed, fuses_products, half_sizes=(6, 20)):
        self.random, self.numbers = random.Random(seed), np.random.default_rng(seed)
        self.short = self.random.choice(SHORT)
        self.fuses_products = fuses_products
        self.size = 2 * self.random.randint(*half_sizes)
        self.lines, self.loops, self.inputs, self.input_kinds, self.nodes = [], [], [], [], []
        for _ in range(self.random.randint(2, 3)):
            self.parameter(self.short)
        for _ in range(self.random.randint(3, 12)):
            self.step()
        self.results = self.nodes[-1:] + [x for x in self.nodes[:-1] if self.random.random() < 0.25]

    # ---- the text and its values
    def shape(self, kind):
        return f"{kind}[{self.size}]"

    def emit(self, kind, expression, array, has_product=False):
        name = f"v{len(self.lines)}"
        self.lines.append(f"{name} = {self.shape(kind)} {expression}")
        node = Node(name, kind, np.asarray(array).astype(dtype_of(kind)), has_product)
        self.nodes.append(node)
        return node

    def parameter(self, kind):
        x = self.numbers.uniform(0.5, 2, self.size) * self.numbers.choice([-1, 1], self.size)
        array = x.astype("float32").astype(dtype_of(kind))
        self.inputs.append(array)
        self.input_kinds.append(kind)
        return self.emit(kind, f"parameter({len(self.inputs) - 1})", array)

    def value(self, kind=None):
        """A value of this type: an earlier one, or one that is converted."""
        x = self.random.choice(self.nodes[-4:] if self.random.random() < 0.7 else self.nodes)
        return x if kind in (None, x.kind) else self.convert(x, kind)

    def term(self, kind):
        """An operand of a sum. The bits of a sum of products depend on the processor: XLA uses fused multiply-adds of
        f16 where there is AVX512-FP16, also for f32 products of numbers that are f16."""
        for _ in range(8):
            x = self.value(kind)
            if not x.has_product or (self.fuses_products and kind == "f32" and self.short != "f16"):
                return x
        return self.parameter(kind)

    def convert(self, x, kind):
        return self.emit(kind, f"convert({x.name})", x.array, x.has_product)

    def text(self):
        shapes, names = (", ".join(f(x) for x in self.results) for f in (lambda x: self.shape(x.kind), lambda x: x.name))
        entry = "\n  ".join(self.lines + [f"ROOT root = ({shapes}) tuple({names})"])
        return "\n\n".join(["HloModule rounding"] + self.loops + [f"ENTRY main {{\n  {entry}\n}}\n"])

    # ---- the operations
    def step(self):
        kind = self.random.choice([self.short] * 3 + ["f32"])
        steps = [self.sum, self.product, self.quotient, self.unary, self.choice, self.move, self.to_other, self.loop]
        with np.errstate(all="ignore"):
            self.random.choices(steps, [5, 4, 1, 2, 1, 2, 3, 0.5])[0](kind)
        if self.nodes[-1].kind == self.short and self.random.random() < 0.35:
            self.convert(self.nodes[-1], "f32")

    def sum(self, kind):
        x, y = self.term(kind), self.term(kind)
        op = self.random.choice(["add", "subtract"])
        self.emit(kind, f"{op}({x.name}, {y.name})", x.array + y.array if op == "add" else x.array - y.array)

    def product(self, kind):
        x, y = self.value(kind), self.value(kind)
        return self.emit(kind, f"multiply({x.name}, {y.name})", x.array * y.array, has_product=True)

    def quotient(self, kind):
        # Of a product, not of a quotient: XLA makes a / (b * c) of (a / b) / c.
        x, y = self.product(kind), self.parameter(kind)
        self.emit(kind, f"divide({x.name}, {y.name})", x.array / y.array)

    def unary(self, kind):
        x = self.value(kind)
        # XLA's roots of f8e3m4 are f16 first, which is too short to be rounded again.
        op = self.random.choice(["negate", "abs"] + ["sqrt"] * (kind != "f8e3m4"))
        if op == "sqrt":
            x = self.emit(kind, f"abs({x.name})", np.abs(x.array), x.has_product)
        function = {"negate": np.negative, "abs": np.abs, "sqrt": np.sqrt}[op]
        self.emit(kind, f"{op}({x.name})", function(x.array), x.has_product and op != "sqrt")

    def choice(self, kind):
        x, y = self.value(kind), self.value(kind)
        p = f"p{len(self.lines)}"
        self.lines.append(f"{p} = pred[{self.size}] compare({x.name}, {y.name}), direction=LT")
        self.emit(kind, f"select({p}, {x.name}, {y.name})", np.where(x.array < y.array, x.array, y.array),
                  x.has_product or y.has_product)

    def move(self, kind):
        x, half = self.value(kind), self.size // 2
        what = self.random.choice(["reverse", "transpose", "concatenate", "copy"])
        if what == "reverse":
            self.emit(kind, f"reverse({x.name}), dimensions={{0}}", x.array[::-1], x.has_product)
        elif what == "copy":
            self.emit(kind, f"copy({x.name})", x.array, x.has_product)
        elif what == "transpose":
            a, b = f"a{len(self.lines)}", f"b{len(self.lines)}"
            self.lines += [f"{a} = {kind}[2,{half}] reshape({x.name})",
                           f"{b} = {kind}[{half},2] transpose({a}), dimensions={{1,0}}"]
            self.emit(kind, f"reshape({b})", x.array.reshape(2, half).T.reshape(-1), x.has_product)
        else:
            a, b = f"a{len(self.lines)}", f"b{len(self.lines)}"
            self.lines += [f"{a} = {kind}[{half}] slice({x.name}), slice={{[{half}:{self.size}]}}",
                           f"{b} = {kind}[{half}] slice({x.name}), slice={{[0:{half}]}}"]
            self.emit(kind, f"concatenate({a}, {b}), dimensions={{0}}", np.concatenate([x.array[half:], x.array[:half]]),
                      x.has_product)

    def to_other(self, kind):
        x = self.value(kind)
        others = [k for k in (self.short, "f32", "bf16", "f64") if k != x.kind and (k, x.kind) != ("bf16", "f64")]
        other = self.random.choice(others)
        x = self.convert(x, other)
        if other not in (self.short, "f32"):
            self.convert(x, self.random.choice([self.short, "f32"]) if other != "f64" else "f32")

    def loop(self, kind):
        """x = x * y - z, or x * y / z, three times."""
        x, y, z = self.value(kind), self.value(kind), self.parameter(kind)
        n, s = len(self.lines), self.shape(kind)
        state = f"(s32[], {s}, {s}, {s})"
        array = x.array
        if kind != self.short or kind == "f16":  # no sum of products
            body, update = "divide(m, z)", lambda a: a * y.array / z.array
        else:
            body, update = "subtract(m, z)", lambda a: a * y.array - z.array
        for _ in range(3):
            array = update(array)
        self.loops += [
            f"""body{n} {{
  s = {state} parameter(0)
  i = s32[] get-tuple-element(s), index=0
  x = {s} get-tuple-element(s), index=1
  y = {s} get-tuple-element(s), index=2
  z = {s} get-tuple-element(s), index=3
  one = s32[] constant(1)
  j = s32[] add(i, one)
  m = {s} multiply(x, y)
  r = {s} {body}
  ROOT t = {state} tuple(j, r, y, z)
}}""", f"""condition{n} {{
  s = {state} parameter(0)
  i = s32[] get-tuple-element(s), index=0
  most = s32[] constant(3)
  ROOT goes_on = pred[] compare(i, most), direction=LT
}}"""]
        self.lines += [f"zero{n} = s32[] constant(0)",
                       f"before{n} = {state} tuple(zero{n}, {x.name}, {y.name}, {z.name})",
                       f"after{n} = {state} while(before{n}), condition=condition{n}, body=body{n}"]
        self.emit(kind, f"get-tuple-element(after{n}), index=1", array)


def bits_differ(want, got):
    """How many elements; NaNs are equal."""
    if want.dtype != got.dtype or want.shape != got.shape:
        return want.size
    same = (want.view(f"u{want.itemsize}") == got.view(f"u{got.itemsize}")) | ((want != want) & (got != got))
    return int((~same).sum())


def save(path, array):
    np.save(path, array if array.dtype.isbuiltin == 1 else array.view(f"V{array.itemsize}"))


class Comparison:
    def __init__(self, kashi, show, keep):
        self.kashi, self.show, self.keep, self.differing = kashi, show, keep, 0

    def run(self, folder, chain, options, wants, who):
        """An error, or None."""
        arguments = [word for i in range(len(chain.inputs)) for word in ("--input", f"{folder}/in{i}.npy")]
        command = [self.kashi, "run", f"{folder}/module.hlo", *options, *arguments, "--output-dir", f"{folder}/ours"]
        run = subprocess.run(command, capture_output=True, text=True, timeout=60)
        if run.returncode != 0:
            return f"{' '.join(options)}: exit {run.returncode}: {run.stderr.strip()[-300:]}"
        for i, want in enumerate(wants):
            got = load(f"{folder}/ours/out{i}.npy", want.dtype.name)
            if count := bits_differ(want, got):
                at = np.flatnonzero(want.view(f"u{want.itemsize}") != got.view(f"u{got.itemsize}"))[:4]
                return (f"{' '.join(options)}: output {i}: {count} of {want.size} differ from {who}; "
                        f"at {at}: {want[at]} there, {got[at]} here")
        return None

    def compare(self, seed, folder, chain, xla):
        answers = []
        if xla is not None:
            answers += [("--engine cpu", xla, "XLA")]
            if not chain.fuses_products:
                answers += [("--engine evaluator", xla, "XLA")]
        model = [x.array for x in chain.results]
        answers += [(f"--engine {engine} --excess-precision off", model, "NumPy") for engine in ("cpu", "evaluator")]
        errors = [e for options, wants, who in answers if (e := self.run(folder, chain, options.split(), wants, who))]
        if not errors:
            return
        self.differing += 1
        if self.differing <= self.show:
            print(f"seed {seed}:", *errors, chain.text(), sep="\n")
        if self.keep:
            subprocess.run(["cp", "-r", folder, f"{self.keep}/{seed}"], check=True)


def store(file, seed, chain, outputs):
    file.write(f"=== {seed}\n{chain.text()}")
    for x, kind in zip(chain.inputs, chain.input_kinds):
        file.write(f"--- input\n{literal_text(x, kind)}\n")
    for x, node in zip(outputs, chain.results):
        file.write(f"--- output xla\n{literal_text(x, node.kind)}\n")
    for node in chain.results:
        file.write(f"--- output rounded\n{literal_text(node.array, node.kind)}\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kashi", default="build/kashi")
    parser.add_argument("--count", type=int, default=300)
    parser.add_argument("--seed", type=int, default=random.randrange(1 << 30))
    parser.add_argument("--keep", help="folder for programs that differ")
    parser.add_argument("--store", help="write the programs and their outputs to this file instead of asking Kashi")
    parser.add_argument("--show", type=int, default=10)
    a = parser.parse_args()
    print(f"{a.count} chains, seed {a.seed}")
    xla, silent, comparison = Xla(), 0, Comparison(a.kashi, a.show, a.keep)
    file = open(a.store, "w") if a.store else None
    for seed in range(a.seed, a.seed + a.count):
        # Half of the chains have sums of products, which XLA and the compiled engine round once.
        chain = Chain(seed, fuses_products=seed % 2 == 0) if file is None else Chain(seed, False, half_sizes=(3, 5))
        with tempfile.TemporaryDirectory() as folder:
            with open(f"{folder}/module.hlo", "w") as f:
                f.write(chain.text())
            for i, x in enumerate(chain.inputs):
                save(f"{folder}/in{i}.npy", x)
            names = xla.run(folder, len(chain.inputs))
            outputs = None
            if isinstance(names, str):
                silent += 1
                if os.environ.get("VERBOSE"):
                    print(f"seed {seed}: XLA has no answer: {names}\n{chain.text()}")
            else:
                outputs = [load(f"{folder}/xla{i}.npy", name) for i, name in enumerate(names)]
            if file is None:
                comparison.compare(seed, folder, chain, outputs)
            elif outputs is not None:
                store(file, seed, chain, outputs)
    print(f"{a.count - silent} answered by XLA, {comparison.differing} differ")
    sys.exit(1 if comparison.differing else 0)


if __name__ == "__main__":
    main()
