#!/usr/bin/env python3
"""Times simulations in JAX (bench/simulation_*.py): on Kashi and on JAX's own processor, in turns, in one process for each.

    pip install -r bench/requirements-simulations.txt
    PYTHONPATH=build/jax bench/simulations.py --plugin              # a table in Markdown: jax.jit on the backend kashi
    PYTHONPATH=build/python bench/simulations.py                    # the same with kashi.jax.jit
    PYTHONPATH=build/python bench/simulations.py kalman mjx         # programs with one of these in their name
    PYTHONPATH=build/python bench/simulations.py --profile kalman   # which steps take Kashi's time
    PYTHONPATH=build/python bench/simulations.py --json out.jsonl   # one object a line; a name that is there is not run again

A row has the ratio of Kashi's time to XLA's for a call (the best of several), for the first call with its compilation,
and how far the results are apart, relative to the largest number. Programs that amplify the last bit, such as chains of
samples, are far apart although both are right.
"""
import argparse
import json
import os
import pathlib
import subprocess
import sys
import time

if "--plugin" in sys.argv:
    os.environ.setdefault("JAX_PLATFORMS", "kashi,cpu")
else:
    os.environ.setdefault("JAX_PLATFORMS", "cpu")
    os.environ.setdefault("EQX_ON_ERROR", "nan")  # equinox's checks else call back into Python

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))


def programs():
    import simulation_dynamics  # noqa: F401
    import simulation_learning  # noqa: F401
    import simulation_sampling  # noqa: F401
    from simulation_registry import PROGRAMS
    return PROGRAMS


def seconds_of(call):
    begin = time.perf_counter()
    call()
    return time.perf_counter() - begin


def distance(a, b):
    """The largest difference of two results, relative to the largest finite number of each array."""
    import jax
    import numpy as np
    worst = 0.0
    for x, y in zip(jax.tree.leaves(a), jax.tree.leaves(b), strict=True):
        x, y = np.asarray(x).astype(np.float64), np.asarray(y).astype(np.float64)
        if not np.array_equal(np.isfinite(x), np.isfinite(y)):
            return float("inf")
        finite = np.isfinite(x)
        if finite.any():
            worst = max(worst, float(np.abs(x - y)[finite].max() / max(1e-30, np.abs(x[finite]).max())))
    return worst


def calls_of(name, plugin):
    """A call of the program for each engine."""
    import jax

    def call(jit, device):
        with jax.default_device(device):
            function, arguments = programs()[name]()
            arguments = jax.device_put(arguments, device)
            return lambda compiled=jit(function): jax.block_until_ready(compiled(*arguments))

    processor = jax.devices("cpu")[0]
    if plugin:
        return {"xla": call(jax.jit, processor), "kashi": call(jax.jit, jax.devices("kashi")[0])}
    import kashi.jax
    return {"xla": call(jax.jit, processor), "kashi": call(kashi.jax.jit, processor)}


def measure(name, seconds, plugin):
    """The row of one program."""
    calls = calls_of(name, plugin)
    first = {engine: seconds_of(call) for engine, call in calls.items()}
    best = {engine: seconds_of(call) for engine, call in calls.items()}
    repeats = max(1, min(1000, int(1e-3 / max(1e-7, min(best.values())))))
    end = time.perf_counter() + seconds
    rounds = 0
    while rounds < 3 or time.perf_counter() < end:
        for engine, call in calls.items():
            best[engine] = min(best[engine], seconds_of(lambda: [call() for _ in range(repeats)]) / repeats)
        rounds += 1
    return {"name": name, "xla_ms": best["xla"] * 1e3, "ratio": best["kashi"] / best["xla"], "first_xla_ms": first["xla"] * 1e3,
            "first_ratio": first["kashi"] / first["xla"], "distance": distance(calls["xla"](), calls["kashi"]())}


def write_module(name, path):
    """The program as StableHLO, and its arguments."""
    import jax
    import numpy as np
    function, arguments = programs()[name]()
    path.mkdir(parents=True, exist_ok=True)
    (path / "module.mlir").write_text(jax.jit(function, keep_unused=True).lower(*arguments).as_text())
    for i, argument in enumerate(arguments):
        np.save(path / f"in{i}.npy", np.asarray(argument))


def child(options, *arguments):
    command = [sys.executable, __file__, *arguments]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=options.timeout)
    except subprocess.TimeoutExpired:
        return None, f"did not end in {options.timeout} s"
    last = (done.stderr.strip().splitlines() or ["no message"])[-1]
    return (done.stdout, None) if done.returncode == 0 else (None, f"exit {done.returncode}: {last}")


def mean(ratios):
    product = 1.0
    for ratio in ratios:
        product *= ratio ** (1 / len(ratios))
    return product


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("filter", nargs="*", help="parts of names")
    parser.add_argument("--seconds", type=float, default=1.0, help="of measurement, for each program")
    parser.add_argument("--timeout", type=float, default=300, help="seconds for one program")
    parser.add_argument("--json", type=pathlib.Path)
    parser.add_argument("--kashi", default="build/kashi", help="the command, for --profile")
    parser.add_argument("--profile", action="store_true")
    parser.add_argument("--plugin", action="store_true", help="jax.jit on the backend kashi of the package kashi_jax")
    parser.add_argument("--write", type=pathlib.Path, metavar="DIR", help="only write each program as StableHLO, with its arguments")
    parser.add_argument("--one", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one:
        print(json.dumps(measure(options.one, options.seconds, options.plugin)))
        return 0
    names = [name for name in programs() if not options.filter or any(part in name for part in options.filter)]
    folder = options.write or pathlib.Path("/tmp/kashi-simulations")
    if options.write or options.profile:
        for name in names:
            write_module(name, folder / name)
            if options.profile:
                inputs = [word for i in range(len(list((folder / name).glob("in*.npy")))) for word in ("--input", folder / name / f"in{i}.npy")]
                subprocess.run([options.kashi, "run", folder / name / "module.mlir", *inputs, "--engine", "cpu", "--profile", "--repeat", "20"], check=False)
        return 0
    done = {}
    if options.json and options.json.is_file():
        done = {row["name"]: row for row in map(json.loads, options.json.read_text().splitlines())}
    print("| program | XLA, ms | ours / XLA's | first call | distance |\n| --- | ---: | ---: | ---: | ---: |")
    rows, failed = [], 0
    for name in names:
        row = done.get(name)
        if row is None:
            text, error = child(options, "--one", name, "--seconds", str(options.seconds), *["--plugin"] * options.plugin)
            if error:
                print(f"| {name} | {error} | | | |", flush=True)
                failed += 1
                continue
            row = json.loads(text.strip().splitlines()[-1])
            if options.json:
                with open(options.json, "a") as file:
                    file.write(json.dumps(row) + "\n")
        rows.append(row)
        print(f"| {name} | {row['xla_ms']:.3g} | {row['ratio']:.2f} | {row['first_ratio']:.2f} | {row['distance']:.0e} |", flush=True)
    if rows:
        print(f"\n{len(rows)} programs: geometric mean {mean([row['ratio'] for row in rows]):.2f}, first call "
              f"{mean([row['first_ratio'] for row in rows]):.2f}; {sum(row['ratio'] > 1 for row in rows)} above 1.0; {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
