#!/usr/bin/env python3
"""HLO to StableHLO and back is the same program: `kashi convert --to mlir`, and then the text as any other program.

    tests/stablehlo_law_test.py --kashi build/kashi [--cases DIR] [NAME…]

A case is a module before XLA's passes, NAME/before.hlo, or one that a compiler has optimised, NAME/cpu.hlo and
NAME/tpu-….hlo. Of the former, the header's aliases and donors and the outputs on the same random arguments must be
equal. Where the outputs cannot be computed, the multisets of instructions that have effects outside the program must
be. Of optimised modules the outputs are compared, on the arguments NAME/in0.npy, … or on random ones. Modules with
operations that StableHLO lacks are counted; they must say so by an error. The default folder is tests/data/corpus.
"""
import argparse
import collections
import concurrent.futures
import os
import pathlib
import re
import sys
import tempfile

from stablehlo_cases_test import Difference, compare_outputs, effects, header, run, text_of

DATA = pathlib.Path(__file__).parent / "data" / "corpus"
# How the error begins that says what StableHLO lacks.
REFUSED = r"StableHLO (has|takes|needs|gives|finds|reverses) "


def check(kashi, path):
    """An error message, or None, and how the program was compared."""
    name = f"{path.parent.name}/{path.name}"
    try:
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder, "module.mlir")
            done = run(kashi, "convert", path, "-o", file)
            if done.returncode:
                if re.search(REFUSED, done.stderr):
                    return None, "refused"
                raise Difference(f"convert: {done.stderr.strip()[:400]}")
            mine, theirs = text_of(kashi, file), text_of(kashi, path)
            for key in ("input_output_alias", "buffer_donor"):
                if header(mine).get(key) != header(theirs).get(key):
                    raise Difference(f"{key}: {header(mine).get(key)} instead of {header(theirs).get(key)}")
            if compare_outputs(kashi, file, path):
                return None, "outputs"
            if effects(mine) != effects(theirs):
                more, less = effects(mine) - effects(theirs), effects(theirs) - effects(mine)
                raise Difference(f"instructions differ: {list(more)[:3]} instead of {list(less)[:3]}")
            return None, "instructions"
    except Difference as error:
        return f"{name}: {error}", "none"


def outputs_of(kashi, path, inputs, folder):
    """The files of its outputs, or None if it cannot run."""
    done = run(kashi, "run", "--engine", "evaluator", "--seed", "42", "--random", "normal", "--output-dir", folder,
               *inputs, path)
    if done.returncode < 0 or not done.stderr and done.returncode:
        raise Difference(f"run: status {done.returncode}")
    return sorted(pathlib.Path(folder).glob("out*.npy")) if done.returncode == 0 else None


def check_optimised(kashi, path):
    """The same for a module that a compiler has optimised."""
    name = f"{path.parent.name}/{path.name}"
    inputs = [part for file in sorted(path.parent.glob("in*.npy"), key=lambda file: int(file.stem[2:]))
              for part in ("--input", file)]
    try:
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder, "module.mlir")
            done = run(kashi, "convert", path, "-o", file)
            if done.returncode:
                if re.search(REFUSED, done.stderr):
                    return None, "refused"
                raise Difference(f"convert: {done.stderr.strip()[:400]}")
            text_of(kashi, file)
            for arguments in (inputs, []):
                theirs = outputs_of(kashi, path, arguments, os.path.join(folder, "theirs"))
                if theirs is not None:
                    break
            if theirs is None:
                return None, "instructions"
            mine = outputs_of(kashi, file, arguments, os.path.join(folder, "mine"))
            if mine is None or len(mine) != len(theirs):
                raise Difference("the StableHLO does not run, or has other outputs")
            for a, b in zip(mine, theirs):
                if a.read_bytes() != b.read_bytes():
                    raise Difference(f"{a.name} differs")
            return None, "outputs"
    except Difference as error:
        return f"{name}: {error}", "none"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kashi", required=True)
    parser.add_argument("--cases", type=pathlib.Path, default=DATA)
    parser.add_argument("--every", type=int, default=1, metavar="N", help="only every N-th of them")
    parser.add_argument("names", nargs="*", help="only folders that have one of these in their name")
    arguments = parser.parse_args()
    kashi = os.path.abspath(arguments.kashi)
    paths = [path for path in sorted(arguments.cases.glob("*/*.hlo"))
             if path.name in ("before.hlo", "cpu.hlo") or path.name.startswith("tpu-") and "unreadable" not in path.name
             ]
    paths = [path for path in paths
             if not arguments.names or any(name in path.parent.name for name in arguments.names)][::arguments.every]
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        results = list(pool.map(lambda path: (check if path.name == "before.hlo" else check_optimised)(kashi, path),
                                paths))
    for error, _ in results:
        if error:
            print(error)
    how = collections.Counter(kind for _, kind in results)
    print(f"compared {how['outputs']} programs by their outputs and {how['instructions']} by their instructions; "
          f"{how['refused']} have what StableHLO lacks")
    print(f"{len(paths) - how['none']} passed, {how['none']} failed")
    sys.exit(1 if how["none"] or not paths else 0)


if __name__ == "__main__":
    main()
