#!/usr/bin/env python3
"""Compares Kashi with real XLA on random shape texts, also sloppy and broken ones, and prints the differences.

  .venv/bin/python scripts/oracle.py --kashi build/kashi [--count 20000] [--seed 1]

Needs a Python with jax (`./dev oracle` makes one in .venv). XLA runs in forked children, because it may abort; Kashi
must report an error for such a text. Every run prints its seed."""
import argparse
import json
import os
import random
import subprocess
import sys

os.environ["JAX_PLATFORMS"] = "cpu"

TYPES = """pred s1 s2 s4 s8 s16 s32 s64 u1 u2 u4 u8 u16 u32 u64 f16 bf16 f32 f64 c64 c128 f8e5m2 f8e4m3fn f4e2m1fn f8e8m0fnu
f6e2m3fn""".split()
NO_TYPES = "token opaque tuple buffer F32 f33 x".split()
SIZES = [1, 2, 3, 4, 5, 8, 16, 128, 1024]
EXTREMES = """0 -1 007 -0 9223372036854775807 9223372036854775808 18446744073709551615 18446744073709551616
-9223372036854775808 -9223372036854775809 2.5 1e5 2x3 1_0 <=3 ? * 4294967296 4611686018427387904""".split()
ALPHABET = "()[]{}:,<=?*#+~-TLESMPDSCb0123456789f32us/ \t."


class Shapes:
    """Random shape texts: valid ones of every kind, some of them mutated."""

    def __init__(self, seed):
        self.random = random.Random(seed)

    def chance(self, p):
        return self.random.random() < p

    def size(self):
        return str(self.random.choice(SIZES))

    def number(self, p_extreme):
        return self.random.choice(EXTREMES) if self.chance(p_extreme) else self.size()

    def items(self, make, low, high):
        return ",".join(make() for _ in range(self.random.randint(low, high)))

    def dimension(self):
        return self.random.choice(
            ["", "", "", "<="]) +self.number(0.05) if self.chance(0.85) else self.random.choice("?0")

    def tile(self):
        return "(" + self.items(lambda: "*" if self.chance(0.15) else self.number(0.05), 0, 3) + ")"

    def split(self):
        return f"({self.random.randint(0, 2)}:{self.items(self.size, 0, 3)})"

    def level(self):
        return self.random.choice("DCSH") + self.random.choice(["", "", "+", "~", "+~", "~+"])

    def attributes(self):
        type_or_not = lambda: self.random.choice(TYPES + NO_TYPES)
        parts = [
            (0.08, lambda: f"D({self.items(self.level, 0, 3)})"),
            (0.5, lambda: "T" + "".join(self.tile() for _ in range(self.random.randint(1, 3)))),
            (0.15, lambda: f"L({self.number(0.2)})"),
            (0.08, lambda: f"#({type_or_not()})"),
            (0.08, lambda: f"*({type_or_not()})"),
            (0.2, lambda: f"E({self.number(0.2)})"),
            (0.2, lambda: f"S({self.number(0.3)})"),
            (0.12, lambda: "SC" + "".join(self.split() for _ in range(self.random.randint(1, 2)))),
            (0.03, lambda: f"P({self.array()})"),
            (0.12, lambda: f"M({self.number(0.2)})"),
            (0.05, lambda: f"{self.random.choice('XTLESM')}({self.size()})"),
        ]
        return "".join(make() for p, make in parts if self.chance(p))

    def layout(self, rank):
        order = list(range(rank))
        self.random.shuffle(order)
        if order and self.chance(0.05):
            order[0] = self.random.randint(-1, rank)
        if self.chance(0.04):
            order = order[:-1]
        return "{" + ",".join(map(str, order)) + (":" + self.attributes() if self.chance(0.7) else "") + "}"

    def array(self):
        rank = self.random.randint(0, 4)
        name = self.random.choice(TYPES if self.chance(0.96) else NO_TYPES)
        sizes = ",".join(self.dimension() for _ in range(rank))
        return f"{name}[{sizes}]" + (self.layout(rank) if self.chance(0.75) else "")

    def shape(self, depth=0):
        p = self.random.random()
        if p < 0.12 and depth < 4:
            return "(" + ",".join(self.shape(depth + 1) for _ in range(self.random.randint(0, 3))) + ")"
        if p < 0.17:
            return f"b({self.array()})"
        if p < 0.2:
            return self.random.choice(["token[]", "opaque[]", "token[1]", "token[]{0}", "opaque[]{:}"])
        return self.array()

    def mutated(self, text):
        at = self.random.randint(0, len(text))
        other = self.random.randint(at, len(text))
        change = self.random.choice(["drop", "insert", "replace", "cut", "space"])
        if change == "insert":
            return text[:at] + self.random.choice(ALPHABET) + text[at:]
        if change == "replace":
            return text[:at] + self.random.choice(ALPHABET) + text[at + 1 :]
        if change == "space":
            return text[:at] + self.random.choice([" ", "/*x*/", "  "]) + text[at:]
        return text[:at] + text[other if change == "cut" else at + 1 :]

    def text(self):
        text = self.shape()
        for _ in range(self.random.choice([0, 0, 1, 2])):
            text = self.mutated(text)
        return text


def ask_xla(texts):
    """The canonical text of each, or None. A child answers until it dies. The text that killed it gets None, and
    another child continues."""
    import jaxlib._hlo as hlo

    answers = []
    while len(answers) < len(texts):
        read_end, write_end = os.pipe()
        child = os.fork()
        if child == 0:
            os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
            with os.fdopen(write_end, "w") as out:
                for text in texts[len(answers) :]:
                    try:
                        answer = str(hlo.Shape(text))
                    except Exception:  # whatever XLA raises, it has refused the text
                        answer = None
                    out.write(json.dumps(answer) + "\n")
                    out.flush()
            os._exit(0)
        os.close(write_end)
        with os.fdopen(read_end) as lines:
            answers += [json.loads(line) for line in lines]
        if os.waitpid(child, 0)[1] != 0:
            answers.append(None)
    return answers


def ask_kashi(kashi, texts):
    process = subprocess.run(
        [kashi, "shape", "--json", "-"],
        input="".join(text +"\n" for text in texts),
        capture_output=True, text=True, check=False)
    return [json.loads(line).get("shape") for line in process.stdout.splitlines()]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kashi", default="build/kashi")
    parser.add_argument("--count", type=int, default=20000)
    parser.add_argument("--seed", type=int, default=random.randrange(1 << 30))
    options = parser.parse_args()
    shapes = Shapes(options.seed)
    texts = [shapes.text() for _ in range(options.count)]
    wanted = ask_xla(texts)
    got = ask_kashi(options.kashi, texts)
    if len(got) != len(texts):
        sys.exit(f"oracle: {len(got)} answers to {len(texts)} texts")
    different = [(text, w, g) for text, w, g in zip(texts, wanted, got) if w != g]
    for text, want, have in different[:20]:
        print(f"{text!r}: XLA {want!r}, ours {have!r}")
    accepted = sum(answer is not None for answer in wanted)
    print(f"seed {options.seed}: {len(texts)} texts, {accepted} of them accepted by XLA, {len(different)} differences")
    return 1 if different else 0


if __name__ == "__main__":
    sys.exit(main())
