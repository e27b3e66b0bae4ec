#!/usr/bin/env python3
"""Collective operations as `kashi cost --mesh --network` predicts them, beside what `kashi mpi-bench` measures.

  bench/mpi/model.py --kashi build/kashi --ranks 1,2,4,8,16

For each number of ranks: the link of collective-permute is measured, and the model predicts the other operations with it.
"""
import argparse
import json
import os
import pathlib
import subprocess
import tempfile

RATES = "1000TF/s,1000TB/s,0us"  # nothing but the collective takes time
GROUPS = "replica_groups={{%s}}"


def run(command):
    environment = dict(os.environ, OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1",
                       OMPI_MCA_rmaps_base_oversubscribe="1", OMPI_MCA_hwloc_base_binding_policy="none")
    return json.loads(subprocess.run(list(map(str, command)), env=environment, check=True, stdout=subprocess.PIPE,
                                     text=True).stdout)


# The program whose operation mpi-bench measures, for n elements of each rank.
def program(name, n, ranks):
    groups = GROUPS % ",".join(map(str, range(ranks)))
    results = {"all-gather": n * ranks, "reduce-scatter": n // ranks}.get(name, n)
    more = ", to_apply=add" if name in ("all-reduce", "reduce-scatter") else ""
    if name in ("all-gather", "reduce-scatter", "all-to-all"):
        more += ", dimensions={0}"
    return (f"HloModule m, replica_count={ranks}\n"
            "add { a = f32[] parameter(0)\n b = f32[] parameter(1)\n ROOT c = f32[] add(a, b) }\n"
            f"ENTRY e {{ p = f32[{n}] parameter(0)\n ROOT r = f32[{results}] {name}(p), {groups}{more} }}\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kashi", default="build/kashi")
    parser.add_argument("--ranks", default="1,2,4,8,16")
    parser.add_argument("--least", default="1K")
    parser.add_argument("--most", default="1M")
    options = parser.parse_args()
    print("| ranks | operation | bytes | measured us | predicted us | measured / predicted |")
    print("| --- | --- | --- | --- | --- | --- |")
    with tempfile.TemporaryDirectory() as name:
        network, module = pathlib.Path(name) / "network.json", pathlib.Path(name) / "m.hlo"
        for ranks in map(int, options.ranks.split(",")):
            measured = run(["mpirun", "-n", ranks, options.kashi, "mpi-bench", "--json", "--least", options.least, "--most",
                            options.most])
            network.write_text(json.dumps(measured))
            for collective in measured["collectives"]:
                if collective["name"] == "collective-permute":
                    print(f"| {ranks} | *link* |  | {collective['alpha_us']:.1f} us + "
                          f"{collective['beta_ns_per_byte']:.3f} ns a byte |  |  |")
                    continue
                for point in collective["points"]:
                    if ranks == 1:  # no messages: this is what an operation costs anyway
                        print(f"| 1 | {collective['name']} | {point['bytes']:,} | {point['us']:.1f} |  |  |")
                        continue
                    module.write_text(program(collective["name"], point["bytes"] // 4, ranks))
                    step = run([options.kashi, "cost", "--mesh", ranks, "--network", network, "--rates", RATES, "--json",
                                module])
                    predicted = step["collective_seconds"] * 1e6
                    ratio = f"{point['us'] / predicted:.2f}" if predicted > 0 else ""
                    print(f"| {ranks} | {collective['name']} | {point['bytes']:,} | {point['us']:.1f} | {predicted:.1f} | "
                          f"{ratio} |")


if __name__ == "__main__":
    main()
