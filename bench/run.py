#!/usr/bin/env python3
"""Programs of real size (bench/programs.py) Kashi's engines and real XLA side by side.

    bench/run.py --kashi build/kashi [--rounds 3] [--repeat 5] [--only sort]

Prints a table: the time of a run of each engine of Kashi as a part of XLA's, best of all rounds, taken in turns on the
same inputs, and the milliseconds of compilation. Needs jax.
"""
import argparse
import math
import os
import re
import sys
import tempfile

import evaluate
import jax
import numpy as np
import programs

TYPES = {"f32": "float32", "bf16": "bfloat16", "s32": "int32", "u32": "uint32", "s8": "int8", "c64": "complex64"}


def abstract(argument):
    dtype, sizes = re.match(r"(\w+)\[([\d,]*)\]", argument).groups()
    return jax.ShapeDtypeStruct([int(size) for size in sizes.split(",") if size], jax.numpy.dtype(TYPES[dtype]))


def array(argument, generator):
    shape = abstract(argument)
    if "<" in argument:
        return generator.integers(0, int(argument.split("<")[1]), shape.shape).astype(shape.dtype)
    numbers = generator.standard_normal(shape.shape)
    if np.issubdtype(shape.dtype, np.complexfloating):
        numbers = numbers + 1j * generator.standard_normal(shape.shape)
    return numbers.astype(shape.dtype)


def entries(options, folder):
    """Name, module and files of the arguments of each program."""
    found = [(name, *program) for name, program in programs.PROGRAMS.items() if options.only in name]
    for number, (name, function, arguments) in enumerate(found):
        generator = np.random.default_rng(42)
        place = os.path.join(folder, f"{number:02}")
        os.makedirs(place, exist_ok=True)
        lowered = jax.jit(function, keep_unused=True).lower(*map(abstract, arguments))
        with open(f"{place}/module.hlo", "w") as file:
            file.write(lowered.compiler_ir("hlo").as_hlo_text())
        arrays = [array(argument, generator) for argument in arguments]
        for i, value in enumerate(arrays):
            np.save(f"{place}/in{i}.npy", value)
        yield name, place, arrays


def measure(place, arrays, options):
    xla = evaluate.Xla(f"{place}/module.hlo", arrays)
    inputs = [word for i in range(len(arrays)) for word in ("--input", f"{place}/in{i}.npy")]
    ours = dict.fromkeys(evaluate.engines(options.kashi) if options.evaluator else ["cpu"], float("inf"))
    theirs = our_compile_ms = float("inf")
    for _ in range(options.rounds):
        for engine in ours:
            report = evaluate.kashi_report(options.kashi, engine, f"{place}/module.hlo", options.repeat, inputs)
            ours[engine] = min(ours[engine], report["run_ms_min"])
        our_compile_ms = min(our_compile_ms, report["compile_ms"])
        theirs = min(theirs, xla.run_ms(options.repeat))
    return ours, theirs, our_compile_ms, xla.compile_ms


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kashi", default="build/kashi")
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--repeat", type=int, default=3, help="runs a round, behind one that does not count")
    parser.add_argument("--only", default="", help="programs with this in their name")
    parser.add_argument("--evaluator", action="store_true", help="the evaluator too")
    parser.add_argument("--keep", help="write the programs and their arguments into this folder, and leave them there")
    options = parser.parse_args()
    columns = evaluate.engines(options.kashi) if options.evaluator else ["cpu"]
    print("| program |", *(f"{engine} / XLA |" for engine in columns), "XLA, ms | Kashi compiles, ms | XLA compiles, ms |")
    print("| --- |" + " --- |" * (len(columns) + 3))
    logarithms = {engine: [] for engine in columns}
    with tempfile.TemporaryDirectory() as temporary:
        for name, place, arrays in entries(options, options.keep or temporary):
            try:
                ours, theirs, our_compile_ms, compile_ms = measure(place, arrays, options)
            except Exception as error:  # one program that does not run must not hide the others
                print(f"| {name} | failed: {(str(error).splitlines() or [repr(error)])[-1][:100]} |", flush=True)
                continue
            for engine in columns:
                logarithms[engine].append(math.log(ours[engine] / theirs))
            ratios = " | ".join(f"{ours[engine] / theirs:.2g}" for engine in columns)
            print(f"| {name} | {ratios} | {theirs:.3g} | {our_compile_ms:.0f} | {compile_ms:.0f} |", flush=True)
    means = " | ".join(f"{math.exp(sum(values) / max(1, len(values))):.2g}" for values in logarithms.values())
    print(f"| geometric mean | {means} | | | |")
    return 0


if __name__ == "__main__":
    sys.exit(main())
