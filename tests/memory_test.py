#!/usr/bin/env python3
"""Compares `kashi memory` with XLA's compilers for the modules of tests/data/corpus.

    tests/memory_test.py --kashi build/kashi            checks, prints the figures
    tests/memory_test.py --kashi build/kashi --table    prints the table of docs/memory.md
    tests/memory_test.py --kashi build/kashi --far 15   lists modules with a deviation of more than 15 %

    … --cases DIR    the same for the larger corpus that tests/data/corpus is taken from, by its case.json and *.buffers.tsv

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


class StoredFacts:
    """XLA's figures for tests/data/corpus: memory_totals.tsv and memory_values.tsv."""

    def totals(self):
        return rows(TEST_DATA / "memory_totals.tsv")

    def values(self):
        return rows(TEST_DATA / "memory_values.tsv")


class CaseFacts:
    """The same for a corpus with case.json and *.buffers.tsv."""

    KEYS = {"argument": "argument_size_in_bytes", "output": "output_size_in_bytes", "alias": "alias_size_in_bytes",
            "temp": "temp_size_in_bytes", "peak": "peak_memory_in_bytes"}

    def __init__(self, folder):
        self.folder = folder

    def modules(self):
        """(file, target, the figures of its compiler)."""
        for path in sorted(self.folder.glob("*/case.json")):
            case = json.loads(path.read_text(encoding="utf-8"))
            name = path.parent.name
            if name == "no_inputs":  # has no device code, so the TPU's compiler leaves it to the host's
                continue
            yield f"{name}/cpu.hlo", "host", case.get("cpu_memory")
            for topology, memory in (case.get("tpu_memory") or {}).items():
                yield f"{name}/tpu-{topology.replace(':', '-')}.hlo", topology.split(":")[0], memory

    def totals(self):
        for file, target, memory in self.modules():
            if memory and (self.folder / file).exists():
                yield {"file": file, "target": target, **{name: memory[key] for name, key in self.KEYS.items()}}

    def values(self):
        for file, _, _ in self.modules():
            path = (self.folder / file).with_suffix(".buffers.tsv")
            for row in rows(path) if path.exists() else ():
                if "thread-local" not in row["flags"]:
                    yield {"file": file, "value": row["value"].replace(" (phi)", ""), "bytes": row["size"],
                           "memory_space": row["color"]}


class Comparison:
    def __init__(self, kashi, corpus, facts):
        self.totals = []  # (row, answer)
        self.wrong = []
        self.values_both = 0
        self.values_equal = 0
        expected = collections.defaultdict(dict)
        for row in facts.values():
            expected[row["file"]][row["value"]] = (int(row["bytes"]), int(row["memory_space"]))
        for row in facts.totals():
            answer = ask(kashi, corpus / row["file"], row["target"])
            self.totals.append((row, answer))
            self.compare_totals(row, answer)
            self.compare_values(expected[row["file"]], values_of(answer))

    def compare_totals(self, row, answer):
        for key in ("argument", "output", "alias"):
            if int(row[key]) != answer[f"{key}_bytes"]:
                self.wrong.append(f"{row['file']}: {key} bytes {answer[f'{key}_bytes']}, XLA says {row[key]}")
        if row["target"] == "host" and int(row["temp"]) != answer["temp_bytes"]:
            self.wrong.append(f"{row['file']}: temp bytes {answer['temp_bytes']}, XLA says {row['temp']}")
        if int(row["peak"]) != answer["xla_peak_bytes"]:
            self.wrong.append(f"{row['file']}: peak {answer['xla_peak_bytes']}, XLA says {row['peak']}")

    def compare_values(self, expected, values):
        for name, value in expected.items():
            ours = values.get(name, values.get(name.removesuffix("{}")))
            if ours is not None:
                self.values_both += 1
                self.values_equal += ours == value

    def deviations(self, target, measure):
        """(signed deviation of our number from XLA's, our number, XLA's, file), the smallest first."""
        found = []
        for row, answer in self.totals:
            if target in (None, row["target"]):
                ours, xlas = measure(row, answer)
                found.append(((ours - xlas) / max(xlas, 1), ours, xlas, row["file"]))
        return sorted(found, key=lambda each: abs(each[0]))


def peak(row, answer):
    return answer["xla_peak_bytes"], int(row["peak"])


def with_temporaries(row, answer):
    """The sum of arguments, outputs and temporaries of a host: the memory that XLA:CPU needs, which is not its reported
    peak."""
    resident = int(row["argument"]) + int(row["output"]) - int(row["alias"])
    return resident + answer["temp_bytes"], resident + int(row["temp"])


def table(comparison):
    print("| compared | target | modules | exact | within 1 % | within 5 % | over 15 % | median deviation |")
    print("| --- | --- | --- | --- | --- | --- | --- | --- |")
    targets = [("peak", each, peak) for each in ("v2", "v3", "v4", "v5e", "v5p", "v6e", "tpu7x", "host")]
    for name, target, measure in [*targets, ("with temporaries", "host", with_temporaries)]:
        deviations = [abs(each[0]) for each in comparison.deviations(target, measure)]
        if not deviations:
            continue
        count = [sum(d <= limit for d in deviations) for limit in (0, .01, .05)]
        print(f"| {name} | {target} | {len(deviations)} | {count[0]} | {count[1]} | {count[2]} | "
              f"{sum(d > .15 for d in deviations)} | {100 * statistics.median(deviations):.1f} % |")


def far(comparison, percent):
    for name, target, measure in (("peak", None, peak), ("with temporaries", "host", with_temporaries)):
        for deviation, ours, xlas, file in comparison.deviations(target, measure):
            if abs(deviation) > percent / 100:
                print(f"{file}: {name} {ours} ({100 * deviation:+.1f} %), XLA says {xlas}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kashi", required=True)
    parser.add_argument("--table", action="store_true", help="print the table of docs/memory.md")
    parser.add_argument("--far", type=float, metavar="PERCENT", help="list modules that are further off")
    parser.add_argument("--cases", type=pathlib.Path, metavar="DIR", help="another corpus, with its case.json")
    arguments = parser.parse_args()
    corpus, facts = TEST_DATA / "corpus", StoredFacts()
    if arguments.cases:
        corpus, facts = arguments.cases, CaseFacts(arguments.cases)
    comparison = Comparison(arguments.kashi, corpus, facts)
    if arguments.table:
        table(comparison)
    if arguments.far is not None:
        far(comparison, arguments.far)
    equal = comparison.values_equal / max(comparison.values_both, 1)
    for line in comparison.wrong:
        print(line)
    print(f"{len(comparison.totals)} modules, {len(comparison.wrong)} totals differ; {comparison.values_equal} of "
          f"{comparison.values_both} values have XLA's size and space")
    return 1 if comparison.wrong or equal < MIN_VALUES_EQUAL else 0


if __name__ == "__main__":
    sys.exit(main())
