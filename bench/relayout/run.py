#!/usr/bin/env python3
"""Relayouts: `kashi relayout` beside a copy of the same bytes, NumPy, oneDNN's reorder and XLA, in turns.

    bench/relayout/run.py                                  all lists, about an hour
    bench/relayout/run.py bench/relayout/tpu.txt --quick   one list, one short round
    bench/relayout/run.py --peers none                     Kashi and the copy alone
    bench/relayout/run.py --check                          whether the peers make the same bytes; no times

A list has one problem a line, `FROM -> TO` or `name: FROM -> TO`; `#` begins a comment. TO may be a layout alone.

Prints GB/s: bytes of the elements read, and of elements and padding written, over the median time. Kashi's and the
copy's come from one process (`kashi relayout --bench`); ratio is their quotient. `!` marks a peer that is faster than
Kashi, `-` one that cannot. All have the same processors (--threads); rounds alternate between them, and the median of
the rounds counts. Behind each list: the geometric mean of the ratios, the least of them, and how each peer compares.

  numpy    numpy.copyto from a transposed view into the same array again, cut into one piece a thread
  onednn   reorder between memory descriptors, the fastest of: tiles as inner blocks, every digit a dimension, and
           elements of 2, 8 and 16 bytes as arrays of bytes or words; small problems with one thread too
  jit      XLA: jax.jit(transpose) on the CPU, tiles by pad and reshape; output buffer donated
  put      XLA: jax.device_put of a transposed NumPy view: its TransposePlan

Peers that are not installed are left out, and that is said. oneDNN needs libdnnl-dev and a C++ compiler; NumPy and
jax are looked for in --python.
"""
import argparse
import glob
import json
import math
import os
import re
import select
import statistics
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True

from problem import Unsupported, product, read_problems  # noqa: E402

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
PEERS = ["numpy", "onednn", "jit", "put"]
TINY_BYTES = 1 << 17  # lists of nothing larger are told in nanoseconds
SMALL_BYTES = 1 << 24
LONG_SECONDS = 2  # of one run: enough of it
PREPARE_SECONDS, RUN_SECONDS = 100, 20  # limits of an answer: some reorders of 100 MB take minutes

# For all: what malloc gave back stays here, so that arrays of the next run are no fresh pages.
ENVIRONMENT = dict(os.environ, MALLOC_MMAP_MAX_="0", MALLOC_TRIM_THRESHOLD_="100000000000")


# ---------------------------------------------------------------------------------------------------------------------
# The peers' processes
# ---------------------------------------------------------------------------------------------------------------------


class Process:
    """A program that answers each line with a line, on the processors `cpus`."""

    def __init__(self, command, cpus):
        environment = dict(ENVIRONMENT, OMP_NUM_THREADS=str(len(cpus)))
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
                                        stderr=subprocess.DEVNULL, env=environment,
                                        preexec_fn=lambda: os.sched_setaffinity(0, cpus))

    def ask(self, line):
        """The answer. Unsupported where the program dies, or takes so long that its speed is no question."""
        limit = RUN_SECONDS if line.startswith("run") else PREPARE_SECONDS
        try:
            self.process.stdin.write(line + "\n")
            self.process.stdin.flush()
            if not select.select([self.process.stdout], [], [], limit)[0]:
                self.process.kill()
                raise Unsupported(f"took more than {limit} seconds")
            answer = self.process.stdout.readline()
        except BrokenPipeError:
            answer = ""
        if not answer:
            raise Unsupported(f"died with {self.process.wait()}")
        return answer.strip()

    def is_alive(self):
        return self.process.poll() is None

    def close(self):
        self.process.kill()
        self.process.communicate()


class PythonPeers:
    """NumPy and XLA: peers.py. Small problems share a process, for jax takes a second to start."""

    idle = None

    def __init__(self, problem, options):
        self.may_be_shared = problem.bytes <= SMALL_BYTES
        self.process = PythonPeers.idle or Process([options.python, f"{HERE}/peers.py"], options.cpus)
        PythonPeers.idle = None
        try:
            self.peers = json.loads(self.process.ask(f"problem {problem.line}"))
        except Unsupported as death:
            self.peers = dict.fromkeys(("numpy", "jit", "put"), str(death))

    def seconds(self, peer, seconds):
        return json.loads(self.process.ask(f"run {peer} {seconds}"))["seconds"]

    def write(self, peer, path):
        self.process.ask(f"write {peer} {path}")

    def close(self):
        if self.may_be_shared and self.process.is_alive():
            PythonPeers.idle = self.process
        else:
            self.process.close()


class OneDnn:
    """onednn_reorder.cc. Where a problem can be told in several ways, all are made, and the fastest counts."""

    TYPES = {1: "s8", 2: "bf16", 4: "f32"}

    def __init__(self, problem, options):
        self.processes = []
        self.peers = {"onednn": None}
        try:
            # Waiting for one another costs threads more than a small problem by itself.
            counts = {1, options.threads} if problem.bytes <= SMALL_BYTES else {options.threads}
            refusals = [self._start(text, options.cpus[:count], options)
                        for text in self._descriptions(problem) for count in counts]
            if not self.processes:
                raise Unsupported(refusals[0])
        except Unsupported as reason:
            self.peers = {"onednn": str(reason)}

    def _start(self, text, cpus, options):
        """What the program says; it is kept when that is "ok"."""
        process = Process([options.onednn], cpus)
        answer = process.ask(f"problem {text}")
        if answer == "ok":
            self.processes.append(process)
        else:
            process.close()
        return answer

    def _descriptions(self, problem):
        """Texts for onednn_reorder.cc."""
        size = problem.element_bytes()
        ways, reason = [], None
        for way in (self._by_digits, self._by_parts, self._by_blocks):
            try:
                ways.append(way(problem, size))
            except Unsupported as error:
                reason = reason or error
        if not ways:
            raise reason
        return ways

    def _by_digits(self, problem, size):
        """Every digit is a dimension."""
        if size not in self.TYPES:
            raise Unsupported(f"elements of {size} bytes")
        return self._plain(self.TYPES[size], *problem.transpose())

    def _by_parts(self, problem, size):
        """The bytes, or words, of an element are its last dimension. (bf16 by itself goes through f32.)"""
        if size in (1, 4):
            raise Unsupported("elements of one part")
        part = 1 if size == 2 else 4
        sizes, order = problem.transpose()
        return self._plain(self.TYPES[part], [*sizes, size // part], [*order, len(order)])

    @staticmethod
    def _plain(element_type, sizes, order):
        strides = [product(sizes[d + 1:]) for d in range(len(sizes))]
        target = [product(sizes[d] for d in order[order.index(i) + 1:]) for i in range(len(sizes))]
        numbers = [len(sizes), *sizes, *sizes, *strides, 0, *sizes, *target, 0]
        return " ".join(map(str, [element_type, *numbers]))

    def _by_blocks(self, problem, size):
        """Tiles are oneDNN's inner blocks, which may pad."""
        if size not in self.TYPES:
            raise Unsupported(f"elements of {size} bytes")
        if not problem.source.tiles and not problem.target.tiles:
            raise Unsupported("the same as by digits")
        dims = problem.source.dims
        numbers = [len(dims), *dims, *blocked(problem.source), *blocked(problem.target)]
        return " ".join(map(str, [self.TYPES[size], *numbers]))

    def seconds(self, _, seconds):
        times, refusal = [], None
        for process in self.processes:
            try:
                times.append(float(process.ask(f"run {seconds}").split()[1]))
            except Unsupported as death:
                refusal = death
        if not times:
            raise refusal
        return min(times)

    def write(self, _, path):
        """What all ways make, one after the other if they differ, so that it equals nothing."""
        made = []
        for process in self.processes:
            process.ask("run 0")
            process.ask(f"write {path}")
            with open(path, "rb") as file:
                made.append(file.read())
        with open(path, "wb") as file:
            file.write(b"".join(sorted(set(made))))

    def close(self):
        for process in self.processes:
            process.close()


def blocked(side):
    """Padded sizes, strides, blocks: a side of onednn_reorder.cc."""
    digits, rank = side.digits, len(side.dims)
    strides, blocks, least = [0] * rank, [], {}
    for position, (dim, weight, values) in enumerate(digits):
        if dim not in least:
            strides[dim] = product(v for _, _, v in digits[position + 1:])
        elif weight > least[dim]:
            raise Unsupported("digits that are no blocks in order")
        elif values > 1:
            blocks.append((values, dim))
        least[dim] = weight
    if product(values for values, _ in blocks) != min([s for s in strides] + [side.elements]):
        raise Unsupported("blocks that are not innermost")
    return [*side.padded, *strides, len(blocks), *[v for v, _ in blocks], *[d for _, d in blocks]]


def build_onednn(options):
    """Path of the program, compiled when it is missing or old; None and a word where that fails."""
    program, source = f"{ROOT}/build-bench/onednn_reorder", f"{HERE}/onednn_reorder.cc"
    if os.path.exists(program) and os.path.getmtime(program) > os.path.getmtime(source):
        return program
    os.makedirs(os.path.dirname(program), exist_ok=True)
    compiler = os.environ.get("CXX", "g++")
    try:
        made = subprocess.run([compiler, "-std=c++17", "-O2", source, "-ldnnl", "-o", program], capture_output=True)
    except OSError:
        made = None
    if made is None or made.returncode:
        options.missing["onednn"] = "onednn_reorder.cc does not compile: libdnnl-dev and a C++ compiler are needed"
        return None
    return program


def find_peers(options):
    """Leaves out of options.peers what is not installed, and notes why."""
    options.missing = {}
    if "onednn" in options.peers:
        options.onednn = build_onednn(options)
    for peer, module in (("numpy", "numpy"), ("jit", "jax"), ("put", "jax")):
        if peer in options.peers and subprocess.run([options.python, "-c", f"import {module}"],
                                                    capture_output=True).returncode:
            options.missing[peer] = f"{options.python} has no {module}"
    options.peers = [peer for peer in options.peers if peer not in options.missing]
    for peer, reason in options.missing.items():
        print(f"# no {peer}: {reason}", file=sys.stderr)


# ---------------------------------------------------------------------------------------------------------------------
# Measuring
# ---------------------------------------------------------------------------------------------------------------------


def run_kashi(problems, options):
    """What `kashi relayout` says of each: a list of objects with gbps, copy_gbps, ratio. An error of one ends all."""
    with tempfile.NamedTemporaryFile("w", suffix=".txt") as file:
        file.write("".join(problem.line + "\n" for problem in problems))
        file.flush()
        process = subprocess.run([options.kashi, "relayout", "--bench", "--json", "--problems", file.name,
                                  "--threads", str(options.threads), "--min-time", str(options.seconds)],
                                 capture_output=True, text=True,
                                 preexec_fn=lambda: os.sched_setaffinity(0, options.cpus))
    records = [json.loads(line) for line in process.stdout.splitlines()]
    if len(records) != len(problems):
        raise RuntimeError(f"kashi answered {len(records)} of {len(problems)} problems, and: {process.stderr[-500:]}")
    for problem, record in zip(problems, records):
        if "error" in record:
            raise RuntimeError(f"{problem.line}: {record['error']}")
    return records


def start_peers(problem, options):
    """The peers that can, name to its process; and why the others cannot."""
    started, ready, refusals, names = [], {}, {}, set(options.peers)
    if names & {"numpy", "jit", "put"}:
        started.append(PythonPeers(problem, options))
    if "onednn" in names:
        started.append(OneDnn(problem, options))
    for process in started:
        for peer, refusal in process.peers.items():
            if peer in names and refusal is None:
                ready[peer] = process
            elif peer in names:
                refusals[peer] = refusal
    return started, ready, refusals


def measure(problem, options):
    """A record of the table. Rounds: Kashi, then each peer, then Kashi again; the slowest peers have one turn."""
    started, ready, refusals = start_peers(problem, options)
    ours, times = [], {peer: [] for peer in ready}
    for _ in range(options.rounds):
        ours.append(run_kashi([problem], options)[0])
        for peer, taken in times.items():
            if peer in refusals or (taken and taken[0] > LONG_SECONDS):
                continue
            try:
                taken.append(ready[peer].seconds(peer, options.seconds))
            except Unsupported as death:
                refusals[peer] = str(death)
    for process in started:
        process.close()
    medians = {peer: statistics.median(taken) for peer, taken in times.items() if peer not in refusals}
    return make_record(problem, ours, medians, refusals)


def make_record(problem, ours, seconds, refusals):
    bytes_moved = ours[0].get("bytes", problem.bytes)
    peers = {peer: bytes_moved / taken / 1e9 for peer, taken in seconds.items()}
    middle = {key: statistics.median(record[key] for record in ours) for key in ("gbps", "copy_gbps", "ratio")}
    return {"name": problem.name, "problem": problem.line, "bytes": bytes_moved, **middle, "peers": peers,
            "refusals": refusals, "kashi": ours[0]}


def measure_list(problems, options):
    """Yields the records of a list, each as soon as it is there."""
    if options.peers:
        for problem in problems:
            yield measure(problem, options)
        return
    rounds = [run_kashi(problems, options) for _ in range(options.rounds)]
    for problem, *ours in zip(problems, *rounds):
        yield make_record(problem, ours, {}, {})


# ---------------------------------------------------------------------------------------------------------------------
# Telling
# ---------------------------------------------------------------------------------------------------------------------


class Table:
    def __init__(self, problems, options):
        self.markdown = options.markdown
        self.peers = options.peers
        self.in_nanoseconds = max(problem.bytes for problem in problems) <= TINY_BYTES
        self.widths = [max(len(problem.name) for problem in problems), 9, 9, 6] + [9] * len(self.peers)

    def head(self, title):
        unit = "ns a call" if self.in_nanoseconds else "GB/s"
        print(f"\n{'## ' if self.markdown else ''}{title}, {unit}\n")
        self._line(["problem", "kashi", "copy", "ratio", *self.peers])
        if self.markdown:
            print("|" + " --- |" * len(self.widths))

    def row(self, record):
        cells = [record["name"], self._speed(record, record["gbps"]), self._speed(record, record["copy_gbps"]),
                 f"{record['ratio']:.2f}"]
        for peer in self.peers:
            speed = record["peers"].get(peer)
            mark = "!" if speed and speed > record["gbps"] else ""
            cells.append(self._speed(record, speed) + mark if speed else "-")
        self._line(cells)

    def _speed(self, record, gbps):
        if self.in_nanoseconds:
            return f"{record['bytes'] / gbps:.0f}"
        return f"{gbps:.2f}" if gbps < 10 else f"{gbps:.1f}"

    def _line(self, cells):
        if self.markdown:
            print("| " + " | ".join(cells) + " |", flush=True)
        else:
            first = cells[0].ljust(self.widths[0])
            print(first + "".join(cell.rjust(width) for cell, width in zip(cells[1:], self.widths[1:])), flush=True)


def geometric_mean(values):
    return math.exp(sum(map(math.log, values)) / len(values))


def summary(records, peers):
    """Lines about a list."""
    ratios = [record["ratio"] for record in records]
    worst = sorted(records, key=lambda record: record["ratio"])[:3]
    yield f"problems: {len(records)}; ratio to the copy: geometric mean {geometric_mean(ratios):.2f}"
    yield "least: " + ", ".join(f"{record['ratio']:.2f} ({record['name']})" for record in worst)
    for peer in peers:
        quotients = [(record["gbps"] / record["peers"][peer], record["name"]) for record in records
                     if peer in record["peers"]]
        if not quotients:
            yield f"{peer}: cannot express any"
            continue
        mean = geometric_mean([quotient for quotient, _ in quotients])
        slower = sorted(quotient for quotient in quotients if quotient[0] < 1)
        text = f"{peer}: of {len(quotients)}, Kashi is {mean:.1f} times as fast; slower in {len(slower)}"
        yield text + "".join(f", {quotient:.2f} ({name})" for quotient, name in slower)


def first_line(command):
    try:
        return subprocess.run(command, capture_output=True, text=True, cwd=ROOT).stdout.splitlines()[0]
    except (OSError, IndexError):
        return "unknown"


def machine(options):
    text = open("/proc/cpuinfo").read()
    model = re.search(r"model name\s*: (.*)", text)
    changed = subprocess.run(["git", "diff", "--quiet", "HEAD"], cwd=ROOT, capture_output=True).returncode
    return {"cpu": model[1] if model else "unknown", "cores": os.cpu_count(), "threads": options.threads,
            "compiler": first_line([os.environ.get("CXX", "g++"), "--version"]),
            "commit": first_line(["git", "rev-parse", "--short", "HEAD"]) + (" and changes" if changed else ""),
            "rounds": options.rounds}


# ---------------------------------------------------------------------------------------------------------------------
# --check
# ---------------------------------------------------------------------------------------------------------------------


def check(problem, options):
    """Prints a line; whether all peers that can made the same bytes."""
    started, ready, refusals = start_peers(problem, options)
    digests = {}
    with tempfile.TemporaryDirectory() as folder:
        for peer, process in ready.items():
            path = f"{folder}/{peer}"
            try:
                process.write(peer, path)
                digests[peer] = first_line(["sha256sum", path]).split()[0]
            except Unsupported as death:
                refusals[peer] = str(death)
    for process in started:
        process.close()
    same = len(set(digests.values())) <= 1
    agree = " ".join(f"{peer} {digest[:8]}" for peer, digest in digests.items())
    print(f"{'same' if same else 'DIFFERENT'}  {problem.name}  {agree}  {refusals or ''}", flush=True)
    return same


# ---------------------------------------------------------------------------------------------------------------------


def parse_options():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("lists", nargs="*", help="files of problems; all beside this script when none is given")
    parser.add_argument("--kashi", default=f"{ROOT}/build/kashi")
    parser.add_argument("--python", default=next(filter(os.path.exists, [f"{ROOT}/.venv/bin/python"]), sys.executable),
                        help="the interpreter that has NumPy and jax (default: .venv, else this one)")
    parser.add_argument("--threads", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=0.3, help="of measuring a peer in one round, about")
    parser.add_argument("--only", default="", metavar="REGEX", help="problems whose line matches")
    parser.add_argument("--peers", default=",".join(PEERS), help=f"of {','.join(PEERS)}, or none")
    parser.add_argument("--quick", action="store_true", help="one round of 0.05 seconds")
    parser.add_argument("--markdown", action="store_true")
    parser.add_argument("--json", metavar="FILE", help="writes all records there as well")
    parser.add_argument("--check", action="store_true", help="compare what the peers make instead of timing")
    options = parser.parse_args()
    options.peers = [] if options.peers == "none" else options.peers.split(",")
    if not set(options.peers) <= set(PEERS):
        parser.error(f"--peers: of {','.join(PEERS)}")
    options.cpus = sorted(os.sched_getaffinity(0))[:options.threads]
    if options.quick:
        options.rounds, options.seconds = 1, 0.05
    options.lists = options.lists or sorted(glob.glob(f"{HERE}/*.txt"))
    return options


def selected(path, options):
    return [problem for problem in read_problems(path) if re.search(options.only, problem.line)]


def main():
    options = parse_options()
    find_peers(options)
    if options.check:
        return 0 if all([check(p, options) for path in options.lists for p in selected(path, options)]) else 1
    report = {"machine": machine(options), "missing": options.missing, "lists": {}}
    print(", ".join(f"{key}: {value}" for key, value in report["machine"].items()))
    for path in options.lists:
        problems, records = selected(path, options), []
        if not problems:
            continue
        table = Table(problems, options)
        table.head(os.path.basename(path))
        for record in measure_list(problems, options):
            records.append(record)
            table.row(record)
        report["lists"][os.path.basename(path)] = records
        print()
        for line in summary(records, options.peers):
            print(("- " if options.markdown else "") + line)
        if options.json:
            with open(options.json, "w") as file:
                json.dump(report, file, indent=1)
    return 0


if __name__ == "__main__":
    sys.exit(main())
