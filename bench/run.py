#!/usr/bin/env python3
"""Runs programs with Kashi, XLA and IREE side by side, and prints a table in Markdown. Needs jax; IREE is optional.

    bench/run.py --kashi build/kashi                 the programs of real size (bench/programs.py)
    bench/run.py --set small                         one operation each (bench/small_programs.py)
    bench/run.py --set corpus                        the modules of tests/data/corpus that one device runs
    bench/run.py --only sort --rounds 5              programs with this in their name
    bench/run.py module.hlo                          your own, with random arguments

Each program runs in turns with each peer, on the same arguments, each in a process of its own. A time is the median of
the runs of a round, and then the least of all rounds. A ratio below 1 says that Kashi is faster or takes less. "Of
limit" is what Kashi reaches of the machine's limit, which `kashi run --profile` measures: the rate of a copy for bytes,
that of a large dot for arithmetic; it is the mean over the steps, by their time. Steps within the caches exceed a copy.
Memory is the peak of a process without what it took before it read the program.
"""
import argparse
import functools
import glob
import importlib.util
import json
import math
import os
import re
import select
import subprocess
import sys
import tempfile

os.environ["JAX_PLATFORMS"] = "cpu"

import jax  # noqa: E402
import jaxlib._hlo  # noqa: E402
import numpy as np  # noqa: E402
import programs  # noqa: E402
import small_programs  # noqa: E402

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(HERE)
TYPES = {"f32": "float32", "bf16": "bfloat16", "s32": "int32", "u32": "uint32", "s8": "int8", "c64": "complex64"}
HEAD = ["program", "Kashi / XLA", "Kashi / IREE", "of limit", "Kashi, ms", "XLA, ms", "IREE, ms", "first call / XLA",
        "Kashi compiles, ms", "XLA compiles, ms", "IREE compiles, ms", "memory / XLA"]
SEVERAL_DEVICES = re.compile(r"num_partitions=|replica_count=|devices=\[")
# IREE's compiler needs minutes for some programs.
LONGEST_COMPILATION_S = 180


# ---- Programs and their arguments. Each becomes a folder, as bench/peer.py wants it.

def random_array(dtype, sizes, generator, bound=None):
    """Normal numbers; integers from 0 to `bound`."""
    dtype = np.dtype(dtype)
    if dtype == bool or jax.dtypes.issubdtype(dtype, np.integer):
        return generator.integers(0, bound or (2 if dtype == bool else 127), sizes).astype(dtype)
    numbers = generator.standard_normal(sizes)
    if np.issubdtype(dtype, np.complexfloating):
        numbers = numbers + 1j * generator.standard_normal(sizes)
    return numbers.astype(dtype)


def write_arguments(folder, arrays):
    for i, array in enumerate(arrays):
        np.save(f"{folder}/in{i}.npy", array)
    with open(f"{folder}/types.json", "w") as file:
        json.dump([array.dtype.name for array in arrays], file)


def write_jax_program(folder, function, arguments):
    generator = np.random.default_rng(42)
    arrays = []
    for argument in arguments:
        name, sizes, bound = re.match(r"(\w+)\[([\d,]*)\](?:<(\d+))?", argument).groups()
        sizes = [int(size) for size in sizes.split(",") if size]
        arrays.append(random_array(jax.numpy.dtype(TYPES[name]), sizes, generator, bound and int(bound)))
    lowered = jax.jit(function, keep_unused=True).lower(*arrays)
    for name, text in (("hlo", lowered.compiler_ir("hlo").as_hlo_text()), ("mlir", lowered.as_text())):
        with open(f"{folder}/module.{name}", "w") as file:
            file.write(text)
    write_arguments(folder, arrays)


def write_hlo_program(folder, text, options):
    with open(f"{folder}/module.hlo", "w") as file:
        file.write(text)
    # Not every module has a StableHLO form. Then IREE has no figure.
    subprocess.run([options.kashi, "convert", f"{folder}/module.hlo", "--to", "mlir", "-o", f"{folder}/module.mlir"],
                   capture_output=True)
    computation = jaxlib._hlo.XlaComputation(jaxlib._hlo.hlo_module_from_text(text).as_serialized_hlo_module_proto())
    generator = np.random.default_rng(42)
    write_arguments(folder, [random_array(shape.numpy_dtype(), shape.dimensions(), generator)
                             for shape in computation.program_shape().parameter_shapes()])


def text_of(path):
    with open(path) as file:
        return file.read()


def entries(options):
    """Pairs of a name and a function that writes the program into a folder."""
    if options.files:
        found = [(path, text_of(path)) for path in options.files]
    elif options.set == "real":
        return [(name, lambda folder, program=program: write_jax_program(folder, *program))
                for name, program in programs.PROGRAMS.items()]
    elif options.set == "small":
        found = list(small_programs.PROGRAMS.items())
    else:
        paths = sorted(glob.glob(f"{options.corpus}/*/before.hlo"))
        found = [(path.split("/")[-2], text_of(path)) for path in paths]
        found = [(name, text) for name, text in found if not SEVERAL_DEVICES.search(text)]
    return [(name, lambda folder, text=text: write_hlo_program(folder, text, options)) for name, text in found]


# ---- Peers.

class Peer:
    """A process of bench/peer.py. Raises RuntimeError if it cannot compile or run the program."""

    def __init__(self, kind, folder):
        self.process = subprocess.Popen([sys.executable, f"{HERE}/peer.py", kind, folder], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        try:
            started = self.answer()
        except RuntimeError:
            self.end()
            raise
        self.compile_ms, self.first_ms = started["compile_ms"], started["first_ms"]
        self.run_ms = self.peak_bytes = math.inf

    def answer(self):
        if not select.select([self.process.stdout], [], [], LONGEST_COMPILATION_S)[0]:
            raise RuntimeError(f"no answer for {LONGEST_COMPILATION_S} s")
        line = self.process.stdout.readline()
        if not line:
            raise RuntimeError((self.process.stderr.read().strip().splitlines() or ["ended"])[-1])
        return json.loads(line)

    def run(self, repeat):
        self.process.stdin.write(f"{repeat}\n")
        self.process.stdin.flush()
        answer = self.answer()
        self.run_ms = min(self.run_ms, float(np.median(answer["run_ms"])))
        self.peak_bytes = answer["peak_bytes"]

    def end(self):
        self.process.kill()
        self.process.communicate()


@functools.lru_cache
def peak_of_nothing(kashi):
    """What the command takes for a program without work."""
    text = "HloModule m\nENTRY main { ROOT x = f32[] parameter(0) }\n"
    return json.loads(subprocess.run([kashi, "run", "-", "--engine", "evaluator", "--json"], input=text, text=True,
                                     capture_output=True, check=True).stdout)["peak_rss_bytes"]


class Kashi:
    """Each round is a new process of the command."""

    def __init__(self, folder, options):
        arguments = len(json.loads(text_of(f"{folder}/types.json")))
        self.command = [options.kashi, "run", f"{folder}/module.hlo", "--engine", options.engine, "--json"]
        self.command += [word for i in range(arguments) for word in ("--input", f"{folder}/in{i}.npy")]
        self.run_ms = self.compile_ms = self.first_ms = self.peak_bytes = math.inf
        self.before_bytes = peak_of_nothing(options.kashi)

    def report(self, repeat, *more):
        process = subprocess.run([*self.command, "--repeat", str(repeat + 1), *more], capture_output=True, text=True)
        if process.returncode != 0:
            raise RuntimeError(process.stderr.strip()[-300:] or f"exit status {process.returncode}")
        return json.loads(process.stdout)

    def run(self, repeat):
        report = self.report(repeat)
        self.run_ms = min(self.run_ms, report["run_ms_median"])
        self.compile_ms = min(self.compile_ms, report["compile_ms"])
        self.first_ms = min(self.first_ms, report["first_ms"])
        self.peak_bytes = min(self.peak_bytes, report["peak_rss_bytes"] - self.before_bytes)

    def of_limit(self, repeat):
        steps = self.report(repeat, "--profile")["profile"]["steps"]
        return sum(step["share"] * max(step.get("of_copy") or 0, step.get("of_dot") or 0) for step in steps)


def start(kind, folder, options):
    """None if the peer is not wanted or does not take the program."""
    if kind not in options.peers.split(","):
        return None
    try:
        return Peer(kind, folder)
    except RuntimeError as error:
        print(f"run.py: {kind}: {error}", file=sys.stderr)
        return None


def measure(folder, options):
    """The figures of a row, without its name; None where a peer has none."""
    kashi = Kashi(folder, options)
    xla, iree = (start(kind, folder, options) for kind in ("xla", "iree"))
    peers = [peer for peer in (kashi, xla, iree) if peer]
    try:
        for _ in range(options.rounds):
            for peer in peers:
                peer.run(options.repeat)
    finally:
        for peer in peers[1:]:
            peer.end()

    def ratio(peer, field):
        return getattr(kashi, field) / getattr(peer, field) if peer else None

    def field(peer, name):
        return getattr(peer, name) if peer else None

    return [ratio(xla, "run_ms"), ratio(iree, "run_ms"), kashi.of_limit(options.repeat), kashi.run_ms,
            field(xla, "run_ms"), field(iree, "run_ms"), ratio(xla, "first_ms"), kashi.compile_ms,
            field(xla, "compile_ms"), field(iree, "compile_ms"), ratio(xla, "peak_bytes")]


# ---- The table.

def number(value):
    return "–" if value is None else f"{value:.2g}" if value < 100 else f"{value:.0f}"


def geometric_mean(values):
    logarithms = [math.log(value) for value in values if value and value > 0]  # memory may be less than of nothing
    return math.exp(sum(logarithms) / len(logarithms)) if logarithms else None


def print_means(rows):
    """Means of ratios. That of compilation is the mean of Kashi's time divided by that of the peer."""
    def of_compilation(peer):
        return geometric_mean([row[7] / row[peer] for row in rows if row[peer]])
    columns = list(zip(*rows))
    means = {column: number(geometric_mean(columns[column])) for column in (0, 1, 6, 10)}
    means[8] = f"Kashi / XLA {number(of_compilation(8))}"
    means[9] = f"Kashi / IREE {number(of_compilation(9))}"
    print("| geometric mean |", " | ".join(means.get(column, "") for column in range(len(HEAD) - 1)), "|")


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="*", help="modules of HLO text")
    parser.add_argument("--kashi", default="build/kashi")
    parser.add_argument("--set", choices=["real", "small", "corpus"], default="real")
    parser.add_argument("--corpus", default=f"{ROOT}/tests/data/corpus", help="the folder of --set corpus")
    parser.add_argument("--engine", default="cpu", help="Kashi's engine")
    parser.add_argument("--peers", default="xla,iree", help="IREE's compiler takes most of the time")
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--repeat", type=int, default=3, help="runs a round, behind the first, which does not count")
    parser.add_argument("--only", default="", help="programs with this in their name")
    parser.add_argument("--keep", help="write the programs and their arguments into this folder, and leave them there")
    options = parser.parse_args()
    if "iree" in options.peers and not importlib.util.find_spec("iree"):
        print("run.py: without IREE: pip install iree-base-compiler iree-base-runtime", file=sys.stderr)
        options.peers = "xla"
    return options


def main():
    options = arguments()
    print("|", " | ".join(HEAD), "|")
    print("|", " | ".join(["---"] * len(HEAD)), "|")
    rows = []
    with tempfile.TemporaryDirectory() as temporary:
        for number_of_program, (name, write) in enumerate(entries(options)):
            if options.only not in name:
                continue
            folder = os.path.join(options.keep or temporary, f"{number_of_program:02}")
            os.makedirs(folder, exist_ok=True)
            try:
                write(folder)
                row = measure(folder, options)
            except Exception as error:  # one program that does not run must not hide the others
                print(f"| {name} | failed: {(str(error).splitlines() or [repr(error)])[-1][:100]} |", flush=True)
                continue
            rows.append(row)
            print(f"| {name} |", " | ".join(map(number, row)), "|", flush=True)
    if rows:
        print_means(rows)
    return 0 if rows else 1


if __name__ == "__main__":
    sys.exit(main())
