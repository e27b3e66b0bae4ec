#!/usr/bin/env python3
"""Runs the command on the modules of tests/data/corpus, text and protos: it must print the text of real XLA.

    tests/corpus.py --kashi build/kashi [NAME…]

For each file of canonical.tsv: `kashi convert` prints the text with that hash. For each text besides: text to binary
proto, to text proto, to JSON and back print the same with all constants, and `kashi verify` finds nothing.
"""
import argparse
import concurrent.futures
import hashlib
import os
import pathlib
import subprocess
import sys
import tempfile

TIMEOUT_S = 120
DATA = pathlib.Path(__file__).parent / "data" / "corpus"


def run(kashi, *arguments, data=None):
    process = subprocess.run([kashi, *arguments], input=data, capture_output=True, timeout=TIMEOUT_S, check=False)
    if process.returncode:
        raise RuntimeError(f"{' '.join(map(str, arguments))}: exit {process.returncode}: {process.stderr[:300]!r}")
    return process.stdout


def check(kashi, name, expected):
    """Error messages about one file."""
    path = DATA / name
    try:
        printed = run(kashi, "convert", path)
        if hashlib.sha256(printed.rstrip(b"\n")).hexdigest() != expected:
            return [f"{name}: the text differs from XLA's"]
        if path.suffix != ".hlo":
            return []
        wrong = []
        full = run(kashi, "convert", "--large-constants", path)
        with tempfile.TemporaryDirectory() as folder:
            for kind in ("pb", "pbtxt", "json"):
                file = os.path.join(folder, "module." + kind)
                run(kashi, "convert", path, "-o", file)
                if run(kashi, "convert", "--large-constants", file) != full:
                    wrong.append(f"{name}: text, {kind}, text is not the identity")
        # Tables of stack frames are in the order of the text that was read, so the first print may move them (as XLA's
        # does).
        second = run(kashi, "convert", "--large-constants", "-", data=full)
        if run(kashi, "convert", "--large-constants", "-", data=second) != second:
            wrong.append(f"{name}: the printed text prints differently")
        run(kashi, "verify", path)
        return wrong
    except (RuntimeError, subprocess.TimeoutExpired) as error:
        return [f"{name}: {error}"]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kashi", required=True)
    parser.add_argument("--every", type=int, default=1, metavar="N", help="only every N-th of them")
    parser.add_argument("names", nargs="*", help="only files that have one of these in their path")
    options = parser.parse_args()
    rows = [line.split("\t") for line in (DATA / "canonical.tsv").read_text().splitlines()[1:]]
    rows = [row for row in rows if not options.names or any(name in row[0] for name in options.names)]
    rows = rows[::options.every]
    kashi = os.path.abspath(options.kashi)
    with concurrent.futures.ThreadPoolExecutor(max_workers=os.cpu_count()) as pool:
        results = list(pool.map(lambda row: check(kashi, row[0], row[1]), rows))
    wrong = [line for result in results for line in result]
    for line in wrong:
        print(line)
    print(f"{sum(not result for result in results)} passed, {sum(bool(result) for result in results)} failed")
    return 1 if wrong or not rows else 0


if __name__ == "__main__":
    sys.exit(main())
