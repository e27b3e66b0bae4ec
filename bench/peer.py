#!/usr/bin/env python3
"""Runs one program with a peer of Kashi, in a process of its own, for bench/run.py.

    bench/peer.py xla|iree FOLDER

FOLDER has the program, module.hlo for XLA or module.mlir for IREE, its arguments in0.npy, in1.npy and so on, and
types.json, a list of their types. The process prints one line of JSON with the times of compilation and of the first
run. Then it reads numbers of runs from standard input, and answers each with the times of the runs and with the peak of
its memory. The peak is counted from the start of compilation, without what Python and the imported packages took
before.
"""
import json
import os
import re
import sys
import time

os.environ["JAX_PLATFORMS"] = "cpu"

import ml_dtypes  # noqa: E402, F401: gives NumPy bfloat16 and other types
import numpy as np  # noqa: E402


class Xla:
    """XLA's compiler and runtime, as jaxlib has them."""

    def __init__(self):
        import jax
        import jaxlib._hlo
        import jaxlib._jax
        self.jax, self.hlo, self.runtime = jax, jaxlib._hlo, jaxlib._jax
        self.device = jax.devices("cpu")[0]

    def compile(self, folder):
        with open(f"{folder}/module.hlo") as file:
            proto = self.hlo.hlo_module_from_text(file.read()).as_serialized_hlo_module_proto()
        module = self.runtime.mlir.xla_computation_to_mlir_module(self.hlo.XlaComputation(proto))
        self.program = self.device.client.compile_and_load(module, self.runtime.DeviceList((self.device,)))

    def take(self, arrays):
        self.arguments = [self.jax.device_put(array) for array in arrays]

    def run(self):
        for outputs in self.program.execute_sharded(self.arguments).disassemble_into_single_device_arrays():
            outputs[0].block_until_ready()


class Iree:
    """IREE's compiler for CPUs, and its runtime with a thread on each processor."""

    def __init__(self):
        import iree.compiler
        import iree.runtime
        self.compiler, self.runtime = iree.compiler, iree.runtime
        self.config = iree.runtime.Config("local-task")

    def compile(self, folder):
        with open(f"{folder}/module.mlir") as file:
            code = self.compiler.compile_str(file.read(), target_backends=["llvm-cpu"], input_type="stablehlo",
                                             extra_args=["--iree-llvmcpu-target-cpu=host"])
        context = self.runtime.SystemContext(config=self.config)
        context.add_vm_module(self.runtime.VmModule.copy_buffer(context.instance, code))
        self.program = context.modules[list(context.modules.keys())[-1]]["main"]

    def take(self, arrays):
        self.arguments = [self.runtime.asdevicearray(self.config.device, array) for array in arrays]

    def run(self):
        self.program(*self.arguments)


def memory_bytes(key):
    """VmRSS, what the process has in memory now, or VmHWM, the most that it had since it was reset."""
    with open("/proc/self/status") as file:
        return int(re.search(rf"{key}:\s+(\d+) kB", file.read()).group(1)) * 1024


def milliseconds(work, *arguments):
    begin = time.perf_counter()
    work(*arguments)
    return (time.perf_counter() - begin) * 1e3


def main():
    kind, folder = sys.argv[1:]
    peer = {"xla": Xla, "iree": Iree}[kind]()
    before = memory_bytes("VmRSS")
    with open("/proc/self/clear_refs", "w") as file:
        file.write("5")  # resets VmHWM
    compile_ms = milliseconds(peer.compile, folder)
    with open(f"{folder}/types.json") as file:
        types = json.load(file)
    peer.take([np.load(f"{folder}/in{i}.npy").view(np.dtype(name)) for i, name in enumerate(types)])
    print(json.dumps({"compile_ms": compile_ms, "first_ms": milliseconds(peer.run)}), flush=True)
    for line in sys.stdin:
        times = [milliseconds(peer.run) for _ in range(int(line))]
        print(json.dumps({"run_ms": times, "peak_bytes": memory_bytes("VmHWM") - before}), flush=True)


if __name__ == "__main__":
    main()
