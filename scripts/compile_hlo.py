#!/usr/bin/env python3
"""Compiles a module with XLA's compiler for the CPU, to see what XLA writes about it. Needs JAX.

    XLA_FLAGS="--xla_dump_to=out --xla_dump_hlo_pass_re=.*" python scripts/compile_hlo.py module.pb

The module is an HloModuleProto (`kashi convert module.hlo --to pb`) without fusions.
"""
import sys

from jax._src import xla_bridge
from jax._src.lib import xla_client
from jaxlib import _jax


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    with open(sys.argv[1], "rb") as file:
        computation = xla_client.XlaComputation(file.read())
    module = _jax.mlir.xla_computation_to_mlir_module(computation)
    backend = xla_bridge.get_backend("cpu")
    devices = _jax.DeviceList(tuple(backend.local_devices()[:1]))
    backend.compile_and_load(module, devices, xla_client.CompileOptions())


if __name__ == "__main__":
    main()
