#!/usr/bin/env python3
"""Collective operations of Kashi beside MPI's own calls, in one run: `mpirun kashi mpi-bench --bare`.

  bench/mpi/run.py --kashi build/kashi --ranks 2 --most 64M

For each operation and size: the time in a program, that of MPI's nonblocking call (which Kashi makes, because a
blocking one could not end when a rank fails) and of the blocking one, and what Kashi adds to the nonblocking one.
"""
import argparse
import json
import os
import subprocess


def measure(options):
    environment = dict(os.environ, OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1")
    command = ["mpirun", "-n", str(options.ranks), *options.mpirun.split(), options.kashi, "mpi-bench", "--bare", "--json",
               "--least", options.least, "--most", options.most]
    for name in options.collective:
        command += ["--collective", name]
    return json.loads(subprocess.run(command, env=environment, check=True, stdout=subprocess.PIPE, text=True).stdout)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kashi", default="build/kashi")
    parser.add_argument("--ranks", type=int, default=2)
    parser.add_argument("--least", default="1K")
    parser.add_argument("--most", default="64M")
    parser.add_argument("--mpirun", default="", help="more options of mpirun")
    parser.add_argument("--collective", action="append", default=[])
    options = parser.parse_args()
    measured = measure(options)
    print(f"{measured['ranks']} ranks, {measured['ranks_of_machine']} on this machine; microseconds\n")
    print("| operation | bytes | Kashi | nonblocking | blocking | more than nonblocking |")
    print("| --- | --- | --- | --- | --- | --- |")
    for collective in measured["collectives"]:
        for point in collective["points"]:
            own, bare = point["us"], point["nonblocking_us"]
            more = f"{own - bare:+.1f} us" if point["bytes"] < 65536 else f"{own / bare:.2f} times"
            print(f"| {collective['name']} | {point['bytes']:,} | {own:.1f} | {bare:.1f} | {point['blocking_us']:.1f} | "
                  f"{more} |")


if __name__ == "__main__":
    main()
