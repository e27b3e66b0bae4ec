#!/usr/bin/env python3
"""What `kashi memory` says of the modules of tests/data/corpus, beside what XLA's own compilers said of them.

    tests/memory_test.py --kashi build/kashi            checks, prints the figures
    tests/memory_test.py --kashi build/kashi --table    prints the table of docs/memory.md
    tests/memory_test.py --kashi build/kashi --far 15   lists modules whose peak is further off than 15 %

memory_totals.tsv: XLA's argument, output, alias and temporary bytes and its peak, for each compiled module.
memory_values.tsv: size and memory space of values, from the TPU compiler's buffer assignment.
"""
import argparse
import collections
import json
import pathlib
import statistics
import subprocess
import sys

TIMEOUT_S = 120
TEST_DATA = pathlib.Path(__file__).parent / "data"
MIN_VALUES_EQUAL = 0.99
MAX_MEDIAN_DEVIATION = 0.05


def rows(path):
    with open(path, encoding="utf-8") as file:
        names = file.readline().rstrip("\n").split("\t")
        for line in file:
            yield dict(zip(names, line.rstrip("\n").split("\t")))


def ask(kashi, path, target):
    process = subprocess.run([kashi, "memory", "--json", "--target", target, path], capture_output=True,
                             timeout=TIMEOUT_S, check=False)
    if process.returncode:
        raise RuntimeError(f"{path}: exit {process.returncode}: {process.stderr[:300]!r}")
    return json.loads(process.stdout)


def values_of(answer):
    """(bytes, memory space) of all values by name."""
    values = {}
    for buffer in answer["buffers"]:
        for value in [buffer, *buffer.get("other_values", [])]:
            values[value["value"]] = (value["bytes"], value["memory_space"])
    return values


class Comparison:
    def __init__(self, kashi, corpus, data):
        self.totals = []  # (row, answer)
        self.wrong = []
        self.values_both = 0
        self.values_equal = 0
        expected = collections.defaultdict(dict)
        for row in rows(data / "memory_values.tsv"):
            expected[row["file"]][row["value"]] = (int(row["bytes"]), int(row["memory_space"]))
        for row in rows(data / "memory_totals.tsv"):
            answer = ask(kashi, corpus / row["file"], row["target"])
            self.totals.append((row, answer))
            self.compare_totals(row, answer)
            self.compare_values(expected[row["file"]], values_of(answer))

    def compare_totals(self, row, answer):
        for key in ("argument", "output", "alias"):
            if int(row[key]) != answer[f"{key}_bytes"]:
                self.wrong.append(f"{row['file']}: {key} bytes {answer[f'{key}_bytes']}, XLA says {row[key]}")

    def compare_values(self, expected, values):
        for name, value in expected.items():
            ours = values.get(name, values.get(name.removesuffix("{}")))
            if ours is not None:
                self.values_both += 1
                self.values_equal += ours == value

    def deviations(self, target):
        """(signed deviation of our peak from XLA's, row, answer), the smallest first."""
        found = [((answer["xla_peak_bytes"] - int(row["peak"])) / max(int(row["peak"]), 1), row, answer)
                 for row, answer in self.totals if target in (None, row["target"])]
        return sorted(found, key=lambda each: abs(each[0]))


def table(comparison):
    print("| target | modules | exact | within 1 % | within 5 % | over 15 % | median deviation |")
    print("| --- | --- | --- | --- | --- | --- | --- |")
    for target in ("v2", "v3", "v4", "v5e", "v5p", "v6e", "tpu7x", "host"):
        deviations = [abs(each[0]) for each in comparison.deviations(target)]
        if not deviations:
            continue
        count = [sum(d <= limit for d in deviations) for limit in (0, .01, .05)]
        print(f"| {target} | {len(deviations)} | {count[0]} | {count[1]} | {count[2]} | "
              f"{sum(d > .15 for d in deviations)} | {100 * statistics.median(deviations):.2f} % |")


def far(comparison, percent):
    for deviation, row, answer in comparison.deviations(None):
        if abs(deviation) > percent / 100:
            print(f"{row['file']}: {answer['xla_peak_bytes']} ({100 * deviation:+.1f} %), XLA says {row['peak']}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kashi", required=True)
    parser.add_argument("--table", action="store_true", help="print the table of docs/memory.md")
    parser.add_argument("--far", type=float, metavar="PERCENT", help="list modules whose peak is further off")
    parser.add_argument("--corpus", type=pathlib.Path, default=TEST_DATA / "corpus")
    parser.add_argument("--data", type=pathlib.Path, default=TEST_DATA, help="where the two .tsv lie")
    arguments = parser.parse_args()
    comparison = Comparison(arguments.kashi, arguments.corpus, arguments.data)
    if arguments.table:
        table(comparison)
    if arguments.far is not None:
        far(comparison, arguments.far)
    median = statistics.median(abs(each[0]) for each in comparison.deviations(None))
    equal = comparison.values_equal / max(comparison.values_both, 1)
    for line in comparison.wrong:
        print(line)
    print(f"{len(comparison.totals)} modules, {len(comparison.wrong)} totals differ; {comparison.values_equal} of "
          f"{comparison.values_both} values have XLA's size and space; median deviation of the peak {100 * median:.2f} %")
    return 1 if comparison.wrong or equal < MIN_VALUES_EQUAL or median > MAX_MEDIAN_DEVIATION else 0


if __name__ == "__main__":
    sys.exit(main())
