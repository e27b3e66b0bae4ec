#!/usr/bin/env python3
"""Collective operations in two halves beside those in one piece: how much of an operation other work hides.

  bench/mpi/overlap.py --kashi build/kashi --repeat 12

Two ranks, each on a core of its own (with --shared on all cores):

  equal     an all-reduce of 64 MiB, and two dots that do not need it
  uneven    two dots on rank 1 before an all-reduce of 4 MiB, two dots on rank 0 after it: one waits for the other, unless
            the operation has two halves

Prints milliseconds of a run, and of it the time that is hidden, as `kashi run --profile` has them.
"""
import argparse
import json
import os
import pathlib
import subprocess
import tempfile

ADD = "add { a = f32[] parameter(0)\n b = f32[] parameter(1)\n ROOT c = f32[] add(a, b) }\n"
DOT = ", lhs_contracting_dims={1}, rhs_contracting_dims={0}\n"


def operation(size, halves, between):
    array = f"f32[{size}]"
    rest = "(p), replica_groups={}, to_apply=add\n"
    if not halves:
        return f" d = {array} all-reduce{rest}" + between
    return f" s = {array} all-reduce-start{rest}" + between + f" d = {array} all-reduce-done(s)\n"


def equal(halves):
    size, square = 1 << 24, "f32[1536,1536]"
    dots = f" y = {square} dot(x, x){DOT} z = {square} dot(y, x){DOT}"
    return ("HloModule equal, replica_count=2\n" + ADD +
            f"ENTRY e {{ p = f32[{size}] parameter(0)\n x = {square} parameter(1)\n" + operation(size, halves, dots) +
            f" ROOT r = (f32[{size}], {square}) tuple(d, z) }}\n")


def uneven(halves):
    size, square = 1 << 20, "f32[1024,1024]"
    return ("HloModule uneven, replica_count=2, is_scheduled=true\n" + ADD +
            f"work {{ x = {square} parameter(0)\n y = {square} dot(x, x){DOT} ROOT z = {square} dot(y, x){DOT}}}\n"
            f"none {{ x = {square} parameter(0)\n ROOT c = {square} copy(x) }}\n"
            f"ENTRY e {{ p = f32[{size}] parameter(0)\n x = {square} parameter(1)\n id = u32[] replica-id()\n"
            f" i = s32[] convert(id)\n b = {square} conditional(i, x, x), branch_computations={{none, work}}\n" +
            operation(size, halves, f" a = {square} conditional(i, x, x), branch_computations={{work, none}}\n") +
            f" ROOT r = (f32[{size}], {square}, {square}) tuple(d, b, a) }}\n")


def measure(options, program):
    environment = dict(os.environ, OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1",
                       OMPI_MCA_hwloc_base_binding_policy="none")
    place = "" if options.shared else "taskset -c $OMPI_COMM_WORLD_RANK"
    # The evaluator keeps the order of a schedule.
    command = f"exec {place} {options.kashi} run {program} --engine evaluator --repeat {options.repeat} --profile --json"
    run = subprocess.run(["mpirun", "-n", "2", "bash", "-c", command], env=environment, check=True,
                         stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    profile = json.loads(run.stdout)["profile"]
    return profile["run_ms"], profile["collectives"][0].get("hidden_ms", 0)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kashi", default="build/kashi")
    parser.add_argument("--repeat", type=int, default=12)
    parser.add_argument("--shared", action="store_true", help="let each rank use all cores")
    options = parser.parse_args()
    print(f"{'program':8} {'one piece':>10} {'two halves':>10} {'hidden':>8}   ms")
    with tempfile.TemporaryDirectory() as folder:
        for make in (equal, uneven):
            times = []
            for halves in (False, True):
                program = pathlib.Path(folder) / f"{make.__name__}{halves}.hlo"
                program.write_text(make(halves))
                times.append(measure(options, program))
            print(f"{make.__name__:8} {times[0][0]:10.1f} {times[1][0]:10.1f} {times[1][1]:8.1f}")


if __name__ == "__main__":
    main()
