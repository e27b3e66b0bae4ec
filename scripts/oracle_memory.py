#!/usr/bin/env python3
"""Compiles programs of real size with JAX for the CPU, and compares `kashi memory` of the compiled modules with the
buffer assignment that XLA writes beside them.

  .venv/bin/python scripts/oracle_memory.py --kashi build/kashi [--only lstm] [--keep DIR]

Needs a Python with jax (`./dev oracle` makes one in .venv). The programs are not run. `kashi memory --no-xla` does not
read XLA's files."""
import argparse
import json
import os
import pathlib
import re
import statistics
import subprocess
import sys
import tempfile

MODULE_ENDING = ".cpu_after_optimizations.txt"
MAX_MEDIAN_DEVIATION = 0.05


def compile_programs(only):
    """Runs in a child process, whose XLA_FLAGS name the dump directory."""
    import jax
    import oracle_memory_programs

    for name, (function, arguments, donated) in oracle_memory_programs.programs().items():
        if only in name:
            program = lambda *a, function=function: function(*a)
            program.__name__ = name
            jax.jit(program, donate_argnums=donated).lower(*arguments).compile()
            print(f"compiled {name}", file=sys.stderr, flush=True)


class XlasAnswer:
    """An allocation is (bytes, flags, {value: offset})."""

    def __init__(self, path):
        self.allocations = []
        for line in path.read_text(encoding="utf-8").splitlines():
            allocation = re.match(r"allocation \d+: size (\d+)(.*):$", line)
            value = re.match(r" value: <\d+ (.*?)(?: \(phi\))? @\d+> \(size=\d+,offset=(\d+)\)", line)
            if allocation:
                self.allocations.append((int(allocation[1]), allocation[2], {}))
            elif value:
                self.allocations[-1][2][value[1]] = int(value[2])
        self.total = sum(size for size, _, _ in self.allocations)
        self.temporaries = sum(size for size, flags, _ in self.allocations if "preallocated-temp" in flags)

    def places(self):
        """value -> its offset in the block of temporaries, or the values in its allocation."""
        for _, flags, values in self.allocations:
            if "thread-local" not in flags:
                for value, offset in values.items():
                    yield value, offset if "preallocated-temp" in flags else set(values)


def misplaced(answer, xlas):
    """The number of temporaries that are not in XLA's place."""
    buffers = {}
    for buffer in answer["buffers"]:
        for value in [buffer, *buffer.get("other_values", [])]:
            buffers[value["value"]] = buffer
    count = 0
    for value, place in xlas.places():
        buffer = buffers.get(value)
        if buffer is None:
            count += 1
        elif buffer["kind"] == "temporary":
            inside = buffer.get("lies_in")
            count += (inside not in place) if isinstance(place,
                      set) else (inside is not None or buffer["offset"] != place)
    return count


def compare(kashi, module):
    xlas = XlasAnswer(module.with_name(module.name.replace(".txt", "-buffer-assignment.txt")))
    process = subprocess.run([kashi, "memory", "--json", "--no-xla", "--target", "host", module], capture_output=True,
                             text=True, check=True)
    answer = json.loads(process.stdout)
    total = answer["peak_bytes"] + answer["thread_local_bytes"]
    return total, xlas.total, answer["temp_bytes"], xlas.temporaries, misplaced(answer, xlas)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kashi", default="build/kashi")
    parser.add_argument("--only", default="", help="programs whose names contain this")
    parser.add_argument("--keep", type=pathlib.Path,
                        help="keep the dumps in this directory, and use dumps that exist there")
    parser.add_argument("--compile", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.compile:
        return compile_programs(options.only)
    folder = options.keep or pathlib.Path(tempfile.mkdtemp(prefix="oracle_memory."))

    def modules():
        return sorted(each for each in folder.glob(f"*.jit_*{MODULE_ENDING}") if options.only in each.name)

    if not modules():
        flags = f"{os.environ.get('XLA_FLAGS', '')} --xla_dump_to={folder} --xla_dump_hlo_as_text"
        subprocess.run([sys.executable, __file__, "--compile", "--only", options.only], check=True,
                       env={**os.environ, "JAX_PLATFORMS": "cpu", "XLA_FLAGS": flags})
    deviations = []
    print(f"{'module':34}{'XLA':>12}{'kashi':>12}{'':>8}{'XLA temp':>12}{'kashi temp':>12}  misplaced")
    for module in modules():
        total, xlas_total, temp, xlas_temp, wrong = compare(options.kashi, module)
        deviations.append((total - xlas_total) / max(xlas_total, 1))
        print(
            f"{module.name.split('.')[1][4:]:34}{xlas_total:12}{total:12}{deviations[-1]:+8.1%}{xlas_temp:12}{temp:12}  {wrong}")
    if not deviations:
        sys.exit("no program was compiled")
    median = statistics.median(map(abs, deviations))
    print(f"{len(deviations)} modules, {sum(each == 0 for each in deviations)} totals equal, median deviation {median:.2%}")
    return 1 if median > MAX_MEDIAN_DEVIATION else 0


if __name__ == "__main__":
    sys.exit(main())
