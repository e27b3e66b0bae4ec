#!/usr/bin/env python3
"""Times `kashi cost --mesh` on a training step that is partitioned over many devices.

    bench/scale.py --kashi build/kashi
    bench/scale.py --mesh 16x16 --layers 96 -o step.hlo      only writes the module

The step has two collectives a layer along each dimension of the grid: weights are gathered along columns while the layer
before computes, and partial sums are reduced along rows.
"""
import argparse
import subprocess
import sys
import tempfile
import time

HEAD = """HloModule step, num_partitions={devices}, is_scheduled=true

sum {{
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT c = f32[] add(a, b)
}}

ENTRY step_spmd {{
  x.0 = f32[1024,{width}] parameter(0)
"""
# Weights are gathered one layer ahead.
LAYER = """\
  full.{i} = f32[{width},{width}] all-gather-done(start.{i})
  start.{next} = (f32[{part},{width}], f32[{width},{width}]) all-gather-start(weights.{next}), channel_id={gather}, \
replica_groups={columns}, use_global_device_ids=true, dimensions={{0}}
  part.{i} = f32[1024,{width}] dot(x.{i}, full.{i}), lhs_contracting_dims={{1}}, rhs_contracting_dims={{0}}
  x.{next} = f32[1024,{width}] all-reduce(part.{i}), channel_id={reduce}, replica_groups={rows}, \
use_global_device_ids=true, to_apply=sum
"""


def module(rows, columns, layers, width=4096):
    part = width // rows
    # Devices of a row are neighbours; those of a column are `columns` apart.
    in_rows = f"[{rows},{columns}]<=[{rows * columns}]"
    in_columns = f"[{columns},{rows}]<=[{rows},{columns}]T(1,0)"
    lines = [HEAD.format(devices=rows * columns, width=width)]
    for i in range(layers + 1):
        lines.append(f"  weights.{i} = f32[{part},{width}] parameter({i + 1})\n")
    lines.append(f"  start.0 = (f32[{part},{width}], f32[{width},{width}]) all-gather-start(weights.0), channel_id=1, "
                 f"replica_groups={in_columns}, use_global_device_ids=true, dimensions={{0}}\n")
    for i in range(layers):
        lines.append(LAYER.format(i=i, next=i + 1, width=width, part=part, gather=2 * i + 2, reduce=2 * i + 3,
                                  rows=in_rows, columns=in_columns))
    lines.append(f"  last = f32[{width},{width}] all-gather-done(start.{layers})\n")
    lines.append(f"  ROOT y = f32[1024,{width}] negate(x.{layers})\n}}\n")
    return "".join(lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kashi", default="build/kashi")
    parser.add_argument("--mesh", help="one grid, such as 16x16 (default: several)")
    parser.add_argument("--layers", type=int, default=1000)
    parser.add_argument("-o", "--output", help="write the module of --mesh to this file, and stop")
    options = parser.parse_args()
    grids = [options.mesh] if options.mesh else ["4x4", "16x16", "32x32", "64x64"]
    if options.output:
        with open(options.output, "w") as file:
            file.write(module(*map(int, grids[0].split("x")), options.layers))
        return 0
    print("| devices | collectives | seconds of `kashi cost --mesh` |\n| --- | --- | --- |")
    for grid in grids:
        with tempfile.NamedTemporaryFile("w", suffix=".hlo") as file:
            rows, columns = map(int, grid.split("x"))
            file.write(module(rows, columns, options.layers))
            file.flush()
            command = [options.kashi, "cost", "--mesh", grid, "--target", "v5e", file.name]
            times = []
            for _ in range(3):
                begin = time.perf_counter()
                subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
                times.append(time.perf_counter() - begin)
            print(f"| {rows * columns} | {2 * options.layers + 1} | {min(times):.3f} |", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
