#!/usr/bin/env python3
"""Whether compiling and running programs of JAX on Kashi keeps memory: unlike programs, each compiled once and run twice.

    PYTHONPATH=build/jax:build/python bench/plugin_memory.py [--programs 10000]

Prints every 1,000 programs the resident memory, the threads, the open files and Python's objects. Needs jax.
"""
import argparse
import gc
import os
import pathlib
import time

os.environ.setdefault("JAX_PLATFORMS", "kashi,cpu")

import jax  # noqa: E402
import numpy as np  # noqa: E402
from jax import numpy as jnp  # noqa: E402

KINDS = (
    lambda i: lambda x: jnp.sin(x) * i + x.sum(),
    lambda i: lambda x: jax.lax.fori_loop(0, 3, lambda k, y: y * 1.5 + i, x),
    lambda i: lambda x: (x @ x.T + i).sort(axis=0),
    lambda i: lambda x: jnp.where(x > i, x, jnp.cumsum(x, axis=1)),
    lambda i: lambda x: jax.random.normal(jax.random.key(i), (4, 4)) @ x,
)


def resident_mib():
    lines = pathlib.Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmRSS")) / 1024


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--programs", type=int, default=10_000)
    programs = parser.parse_args().programs
    x = jnp.arange(16, dtype=np.float32).reshape(4, 4)
    begin = time.perf_counter()
    print("programs  MiB resident  threads  files  Python objects  seconds")
    for i in range(programs + 1):
        f = jax.jit(KINDS[i % len(KINDS)](i))
        jax.block_until_ready(f(x))
        jax.block_until_ready(f(x))
        if i % 500 == 0:
            jax.clear_caches()  # JAX keeps what it compiled
            gc.collect()
        if i % 1000 == 0:
            counts = (len(os.listdir("/proc/self/task")), len(os.listdir("/proc/self/fd")), len(gc.get_objects()))
            print(f"{i:8}  {resident_mib():12.1f}  {counts[0]:7}  {counts[1]:5}  {counts[2]:14}  {time.perf_counter() - begin:7.0f}", flush=True)


if __name__ == "__main__":
    main()
