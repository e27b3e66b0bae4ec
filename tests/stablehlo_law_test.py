#!/usr/bin/env python3
"""HLO to StableHLO and back is the same program: `kashi convert --to mlir`, and then the text as any other program.

    tests/stablehlo_law_test.py --kashi build/kashi [--cases DIR] [NAME…]

A case is a module before XLA's passes, NAME/before.hlo. The header's aliases and donors and the outputs on the same
random arguments must be equal. Where the outputs cannot be computed, the multisets of instructions that have effects
outside the program must be. Modules with operations that StableHLO lacks are counted; they must say so by an error. The
default folder is tests/data/corpus.
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


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kashi", required=True)
    parser.add_argument("--cases", type=pathlib.Path, default=DATA)
    parser.add_argument("--every", type=int, default=1, metavar="N", help="only every N-th of them")
    parser.add_argument("names", nargs="*", help="only folders that have one of these in their name")
    arguments = parser.parse_args()
    kashi = os.path.abspath(arguments.kashi)
    paths = [path for path in sorted(arguments.cases.glob("*/before.hlo"))
             if not arguments.names or any(name in path.parent.name for name in arguments.names)][::arguments.every]
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        results = list(pool.map(lambda path: check(kashi, path), paths))
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
