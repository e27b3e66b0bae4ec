#!/usr/bin/env python3
"""Converts StableHLO programs to HLO and compares each with the HLO that real XLA makes of it.

    tests/stablehlo_cases_test.py --kashi build/kashi [--cases DIR] [NAME…]

A case is a program NAME.mlirbc, NAME.vX.Y.Z.mlirbc or NAME.mlir, and XLA's NAME.hlo (or NAME.vX.Y.Z.hlo for this version
alone). The texts differ, since XLA names and folds in its own way. Equal must be the signature of the entry, the aliases
and donors, and the outputs on the same random arguments. Where the outputs cannot be computed, as for a custom call, the
multisets of instructions that have effects outside the program must be equal, with their attributes.
A program without a .hlo is not compared. NAME.arguments has options of the command: the sizes of arguments whose types
leave them open. The default folder is tests/data/stablehlo/artifacts.
"""
import argparse
import collections
import concurrent.futures
import os
import pathlib
import re
import subprocess
import sys
import tempfile

TIMEOUT_S = 120
DATA = pathlib.Path(__file__).parent / "data" / "stablehlo" / "artifacts"
SEED = "7"
# A difference in these is a difference in what the program does outside of itself.
EFFECTS = ("custom-call", "infeed", "outfeed", "send", "send-done", "recv", "recv-done", "all-reduce", "all-gather",
           "all-to-all", "reduce-scatter", "collective-permute", "collective-broadcast", "collective-reduce",
           "ragged-all-to-all", "partition-id", "replica-id", "after-all", "rng")
HEADER_KEYS = ("entry_computation_layout", "input_output_alias", "buffer_donor")


class Difference(Exception):
    """What is wrong with one program."""


def run(kashi, *arguments):
    return subprocess.run([kashi, *arguments], capture_output=True, text=True, timeout=TIMEOUT_S, check=False)


def options_of(path):
    """What NAME.arguments says."""
    file = path.with_name(path.name.split(".")[0] + ".arguments")
    return file.read_text().split() if file.exists() else []


def text_of(kashi, path):
    done = run(kashi, "convert", "--no-metadata", path, *options_of(path))
    if done.returncode:
        raise Difference(f"convert {path.name}: {done.stderr.strip()[:400]}")
    return done.stdout


def closing(text, start):
    """The index after the bracket that closes the one at `start`."""
    depth = 0
    for index in range(start, len(text)):
        depth += (text[index] in "({[") - (text[index] in ")}]")
        if depth == 0:
            return index + 1
    raise Difference(f"no closing bracket in {text[start:start + 80]}")


def header(text):
    """The values of HEADER_KEYS in the first line of a module."""
    line, found = text.split("\n", 1)[0], {}
    line = re.sub(r"/\*index=\d+\*/", "", line)
    for key in HEADER_KEYS:
        place = line.find(f" {key}=")
        if place >= 0:
            start = place + len(key) + 2
            is_bracket = start < len(line) and line[start] in "({["
            end = closing(line, start) if is_bracket else (line + ",").find(",", start)
            found[key] = line[start:end]
    # XLA gives a transposed result a transposed layout, and a compiler then the layout that it likes.
    parameters, results = found["entry_computation_layout"].rsplit("->", 1)
    found["entry_computation_layout"] = parameters + "->" + re.sub(r"\{[\d,]*\}", "", results)
    return found


def effects(text):
    """The multiset of the instructions with effects, without names."""
    found = collections.Counter()
    for line in text.split("\n"):
        match = re.match(r"\s+(?:ROOT )?\S+ = (.*)", line)
        opcode = match and re.search(r"(?:^|\s)([a-z][a-z0-9-]*)\(", match[1])
        if opcode and opcode[1].removesuffix("-start").removesuffix("-done") in EFFECTS:
            call = re.sub(r"/\*index=\d+\*/", "", match[1])
            call = re.sub(r"(to_apply|called_computations|calls)=(%\S+|\{[^}]*\})", r"\1", call)
            found[re.sub(r"%[\w.-]+", "%", call)] += 1
    return found


def ranges(stderr):
    """The ranges of random arguments, without names."""
    return [re.sub(r"\([^)]*\) (.*?)( for \S+)?$", r"\1", line)
            for line in stderr.split("\n") if line.startswith("  parameter")]


def compare_outputs(kashi, path, expected):
    """True if both ran and have equal outputs; False if one of them cannot run."""
    with tempfile.TemporaryDirectory() as folder:
        mine = run(kashi, "run", "--seed", SEED, "--engine", "evaluator", "--output-dir", folder, path,
                   *options_of(path))
        files = sorted(pathlib.Path(folder).rglob("out*.npy"), key=lambda file: (file.parent, len(file.name), file))
        several = any(file.parent.name.startswith("dev") for file in files)
        expect = ["--expect-devices", folder] if several else [x for file in files for x in ("--expect", file)]
        if mine.returncode:
            theirs = run(kashi, "run", "--seed", SEED, "--engine", "evaluator", expected)
            if theirs.returncode == 0:
                raise Difference(f"XLA's HLO runs, this one does not: {mine.stderr.strip()[-400:]}")
            return False
        theirs = run(kashi, "run", "--seed", SEED, "--engine", "evaluator", "--allow-nan", *expect, expected)
        if theirs.returncode and "out0" not in theirs.stdout:
            return False
        if ranges(mine.stderr) != ranges(theirs.stderr):
            raise Difference(f"the random arguments differ:\n{mine.stderr}\n{theirs.stderr}")
        if theirs.returncode:
            raise Difference(f"outputs differ: {theirs.stdout.strip()[:600]} {theirs.stderr.strip()[:400]}")
        return True


def check(kashi, path, expected):
    """An error message, or None, and how the program was compared."""
    try:
        mine, theirs = text_of(kashi, path), text_of(kashi, expected)
        verified = run(kashi, "verify", path, *options_of(path))
        if verified.returncode:
            raise Difference(f"verify: {(verified.stdout + verified.stderr).strip()[:400]}")
        for key in HEADER_KEYS:
            if header(mine).get(key) != header(theirs).get(key):
                raise Difference(f"{key}: {header(mine).get(key)} instead of {header(theirs).get(key)}")
        if compare_outputs(kashi, path, expected):
            return None, "outputs"
        if effects(mine) != effects(theirs):
            more, less = effects(mine) - effects(theirs), effects(theirs) - effects(mine)
            raise Difference("instructions differ:\n" + "\n".join(
                [f"    ours: {call}" for call in more] + [f"    XLA's: {call}" for call in less]))
        return None, "instructions"
    except (Difference, subprocess.TimeoutExpired) as error:
        return f"{path.name}: {error}", "none"


def expected_of(path):
    """XLA's HLO of a program, or None."""
    stem = re.sub(r"\.mlir(bc)?$", "", path.name)
    for name in (stem, re.sub(r"\.v\d+\.\d+\.\d+$", "", stem)):
        if (path.parent / f"{name}.hlo").exists():
            return path.parent / f"{name}.hlo"
    return None


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kashi", required=True)
    parser.add_argument("--cases", type=pathlib.Path, default=DATA)
    parser.add_argument("--every", type=int, default=1, metavar="N", help="only every N-th of them")
    parser.add_argument("names", nargs="*", help="only files that have one of these in their name")
    arguments = parser.parse_args()
    kashi = os.path.abspath(arguments.kashi)
    paths = [path for path in sorted(arguments.cases.iterdir()) if path.suffix in (".mlir", ".mlirbc")]
    pairs = [(path, expected_of(path)) for path in paths
             if not arguments.names or any(name in path.name for name in arguments.names)]
    pairs = [(path, expected) for path, expected in pairs if expected][::arguments.every]
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        results = list(pool.map(lambda pair: check(kashi, *pair), pairs))
    for error, _ in results:
        if error:
            print(error)
    how = collections.Counter(kind for _, kind in results)
    print(f"compared {how['outputs']} programs by their outputs and {how['instructions']} by their instructions")
    print(f"{len(pairs) - how['none']} passed, {how['none']} failed")
    sys.exit(1 if how["none"] or not pairs else 0)


if __name__ == "__main__":
    main()
