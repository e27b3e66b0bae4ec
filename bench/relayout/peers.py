#!/usr/bin/env python3
"""NumPy and XLA, for run.py: reads commands from standard input, answers each with a line of JSON.

    problem LINE       makes what each peer needs; {"numpy": null or why it cannot, "jit": …, "put": …}
    run PEER SECONDS   runs one for about that long; {"seconds": median of one run}
    write PEER PATH    writes what the peer's last run made to a file; {}

All time what a caller waits for, into memory that is there already: NumPy into the same array again (a piece a
thread), jit with the output's buffer given back as a donated argument, put (jax.device_put of a transposed view: XLA's
own TransposePlan) into what malloc kept from the run before.
"""
import json
import os
import sys
import time
from concurrent.futures import ThreadPoolExecutor

os.environ["JAX_PLATFORMS"] = "cpu"
sys.dont_write_bytecode = True

import problem as problems  # noqa: E402
from problem import Unsupported  # noqa: E402

try:
    import numpy
except ImportError:
    numpy = None
try:
    import jax
    jax.config.update("jax_enable_x64", True)
except ImportError:
    jax = None

THREADS = len(os.sched_getaffinity(0))
LEAST_BYTES_TO_SPLIT = 1 << 18

# Element bytes to the type that stands for it: XLA's CPU code moves unsigned integers five to ten times slower.
DTYPES = {1: "int8", 2: "int16", 4: "int32", 8: "int64", 16: "complex128"}


def element_dtype(problem):
    if numpy is None:
        raise Unsupported("no NumPy here")
    return numpy.dtype(DTYPES[problem.element_bytes()])


def source_array(problem, dtype):
    """The whole source buffer, flat; the same bytes as onednn_reorder.cc makes."""
    count = problem.source.elements * dtype.itemsize
    return numpy.resize(numpy.arange(1, 127, dtype=numpy.uint8), count).view(dtype)


class Numpy:
    def __init__(self, problem):
        dtype = element_dtype(problem)
        sizes, order = problem.transpose()
        self.view = source_array(problem, dtype).reshape(sizes).transpose(order)
        self.target = numpy.zeros(self.view.shape, dtype)
        self.pool = ThreadPoolExecutor(THREADS)
        self.parts = self._parts()

    def _parts(self):
        """Pairs of views, one a thread: the array cut along its longest dimension."""
        if THREADS == 1 or self.target.nbytes < LEAST_BYTES_TO_SPLIT:
            return [(self.target, self.view)]
        shape = self.target.shape
        axis = 0 if shape[0] >= 4 * THREADS else shape.index(max(shape))
        cuts = [shape[axis] * t // THREADS for t in range(THREADS + 1)]
        pieces = [(slice(None),) * axis + (slice(low, high),) for low, high in zip(cuts, cuts[1:])]
        return [(self.target[piece], self.view[piece]) for piece in pieces]

    def run(self):
        if len(self.parts) == 1:
            numpy.copyto(*self.parts[0])
        else:
            list(self.pool.map(lambda part: numpy.copyto(*part), self.parts))

    def result(self):
        return self.target


class Jit:
    """jax.jit of pads, reshapes and one or two transposes: any digits on either side, padding as well."""

    def __init__(self, problem):
        if jax is None:
            raise Unsupported("no jax here")
        dtype = element_dtype(problem)
        try:
            sizes, order = problem.transpose()
            work = lambda x: jax.numpy.transpose(x, order)  # noqa: E731
        except Unsupported:
            sizes = [values for _, _, values in problem.source.digits]
            work = lambda x: tiled(untiled(x, problem.source), problem.target)  # noqa: E731
        self.source = jax.device_put(source_array(problem, dtype).reshape(sizes))
        self.function = jax.jit(lambda source, target: work(source), donate_argnums=1, keep_unused=True)
        shape = jax.eval_shape(work, self.source).shape
        self.target = jax.device_put(numpy.zeros(shape, dtype))
        self.run()

    def run(self):
        self.target = self.function(self.source, self.target)
        self.target.block_until_ready()

    def result(self):
        return numpy.asarray(self.target)


def by_dimension(digits):
    """The positions of the digits, those of a dimension together, the most valuable first."""
    return sorted(range(len(digits)), key=lambda i: (digits[i][0], -digits[i][1], digits[i][2]))


def untiled(x, side):
    x = jax.numpy.transpose(x, by_dimension(side.digits)).reshape(side.padded)
    return x[tuple(slice(0, size) for size in side.dims)]


def tiled(x, side):
    x = jax.numpy.pad(x, [(0, padded - size) for padded, size in zip(side.padded, side.dims)])
    order = by_dimension(side.digits)
    x = x.reshape([side.digits[i][2] for i in order])
    return jax.numpy.transpose(x, [order.index(i) for i in range(len(order))])


class Put:
    def __init__(self, problem):
        if jax is None:
            raise Unsupported("no jax here")
        dtype = element_dtype(problem)
        sizes, order = problem.transpose()
        if len(order) < 2:
            raise Unsupported("a plain copy, which device_put may leave out")
        self.view = source_array(problem, dtype).reshape(sizes).transpose(order)
        self.target = None

    def run(self):
        self.target = None
        self.target = jax.device_put(self.view)
        self.target.block_until_ready()

    def result(self):
        return numpy.asarray(self.target)


def median_seconds(run, seconds):
    """Small problems are timed many at a time, so that the clock does not count; those that take seconds, once."""
    run()
    begin = time.perf_counter()
    run()
    once = time.perf_counter() - begin
    if once > 1:
        return once
    batch = max(1, int(1e-3 / once))
    times = []
    while len(times) < 3 or time.perf_counter() - begin < seconds:
        start = time.perf_counter()
        for _ in range(batch):
            run()
        times.append((time.perf_counter() - start) / batch)
    return sorted(times)[len(times) // 2]


PEERS = {"numpy": Numpy, "jit": Jit, "put": Put}


def prepare(line):
    """The peers that can, and for all of them null or why not."""
    ready, answer = {}, {}
    for name, peer in PEERS.items():
        try:
            ready[name] = peer(problems.Problem(line))
            answer[name] = None
        except Unsupported as reason:
            answer[name] = str(reason)
        except Exception as error:  # what a peer cannot do must not hide the others
            answer[name] = f"{type(error).__name__}: {error}".splitlines()[0][:200]
    return ready, answer


def main():
    ready = {}
    for line in sys.stdin:
        command, _, rest = line.strip().partition(" ")
        if command == "problem":
            ready, answer = prepare(rest)
        elif command == "run":
            name, seconds = rest.split()
            answer = {"seconds": median_seconds(ready[name].run, float(seconds))}
        else:
            name, path = rest.split(" ", 1)
            ready[name].run()
            numpy.ascontiguousarray(ready[name].result()).tofile(path)
            answer = {}
        print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    main()
