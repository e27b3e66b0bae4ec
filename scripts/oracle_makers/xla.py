"""Real XLA in a process of its own, and how its outputs are compared."""
import json
import subprocess
import sys

import numpy as np

from oracle_makers.program import EXACT, FLUSHED, LOOSE, NEAR, ULP


def difference(want, got, tolerance):
    """None, or what differs."""
    if want.shape != got.shape or want.dtype != got.dtype:
        return f"{got.dtype}{list(got.shape)} for {want.dtype}{list(want.shape)}"
    if want.size == 0:
        return None
    if want.dtype.kind in "biu":
        n = int((want != got).sum())
        return f"{n} of {want.size} differ" if n else None
    wide = np.complex128 if want.dtype.kind == "c" else np.float64
    x, y = want.astype(wide), got.astype(wide)
    with np.errstate(all="ignore"):
        same = (x == y) | (np.isnan(x) & np.isnan(y))
        eps = {"float64": 2.3e-16, "complex128": 2.3e-16, "float32": 1.2e-7,
            "complex64": 1.2e-7, "float16": 1e-3, "bfloat16": 8e-3}.get( want.dtype.name, 0.13)
        k = {EXACT: 0, FLUSHED: 0, NEAR: 64, ULP: 64, LOOSE: 4096}[tolerance]
        k = min(k, 2 if tolerance == NEAR else 16) if eps > 1e-4 else k
        scale = np.nanmax(np.where(np.isfinite(x), np.abs(x), 0), initial=0) if tolerance in (ULP, LOOSE) else 0
        if tolerance in (FLUSHED, NEAR):
            tiny = {"float64": 2.3e-308, "complex128": 2.3e-308, "float16": 6.2e-5}.get(want.dtype.name, 1.2e-38)
            parts = [(np.where(np.abs(z.real) < tiny, 0, z.real), np.where(np.abs(z.imag) < tiny, 0, z.imag))
                      for z in (x, y)]
            same |= (parts[0][0] == parts[1][0]) & (parts[0][1] == parts[1][1])
        same |= np.abs(x - y) <= k * eps * (np.abs(x) + 0.05 * scale)
    n = int((~same).sum())
    return f"{n} of {want.size} differ" if n else None


class Xla:
    """Real XLA in a child process that may die; one question a line."""

    CHILD = r"""
import json, os, sys
os.environ["JAX_PLATFORMS"] = "cpu"
import jax, numpy as np, ml_dtypes, jaxlib._hlo as h, jaxlib._jax as j
jax.config.update("jax_enable_x64", True)
device = jax.devices("cpu")[0]
for line in sys.stdin:
    folder, count = json.loads(line)
    try:
        module = h.hlo_module_from_text(open(folder + "/module.hlo").read())
        c = h.XlaComputation(module.as_serialized_hlo_module_proto())
        program = device.client.compile_and_load(j.mlir.xla_computation_to_mlir_module(c), j.DeviceList((device,)))
        arguments = []
        for i in range(count):
            x = np.load(f"{folder}/in{i}.npy")
            d = np.dtype(c.program_shape().parameter_shapes()[i].numpy_dtype())
            arguments.append(jax.device_put(x if x.dtype == d else x.view(d)))
        outs = [np.asarray(o[0]) for o in program.execute_sharded(arguments).disassemble_into_single_device_arrays()]
        for i, x in enumerate(outs): np.save(f"{folder}/xla{i}.npy", x if x.dtype.kind != "V" and x.dtype.isbuiltin == 1 else x.view(f"V{x.itemsize}"))
        print(json.dumps([x.dtype.name for x in outs]), flush=True)
    except Exception as e:
        print(json.dumps(str(e)[:300]), flush=True)
"""

    def __init__(self):
        self.child = None

    def run(self, folder, count):
        """The types of the outputs, or why there are none."""
        if self.child is None:
            self.child = subprocess.Popen(
                [sys.executable, "-c", self.CHILD],
                stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        self.child.stdin.write(json.dumps([folder, count]) + "\n")
        self.child.stdin.flush()
        answer = self.child.stdout.readline()
        if not answer:
            self.child = None
            return "XLA aborts"
        return json.loads(answer)


def load(path, name):
    """An array of ml_dtypes' types, which files hold as void, too."""
    import ml_dtypes

    x = np.load(path)
    return x.view(np.dtype(getattr(ml_dtypes, name, name))) if x.dtype.kind == "V" else x
