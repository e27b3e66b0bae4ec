"""What variables of the environment change: each in a process of its own."""
import os
import subprocess
import sys

PROGRAM = """
import jax, jax.numpy as jnp
from jax._src import monitoring
events = []
monitoring.register_event_listener(lambda event, **_: events.append(event))
print(jax.devices(), "Kashi" in jax.devices("cpu")[0].client.platform_version)
print(float(jax.jit(lambda x: jnp.sin(x) @ x)(jnp.ones((8, 8)))[0, 0]))
print("hits", events.count("/jax/compilation_cache/cache_hits"), "misses", events.count("/jax/compilation_cache/cache_misses"))
"""


# custom_partitioning is imported when the backend is there already.
PARTITIONED = """
import jax, numpy as np
mesh = jax.sharding.Mesh(np.array(jax.devices()), ("x",))
from jax.experimental.custom_partitioning import custom_partitioning
from jaxlib import xla_client
f = custom_partitioning(lambda x: x * 2)
f.def_partition(lambda mesh, arguments, result: (mesh, lambda x: x * 2, result.sharding, (result.sharding,)),
                sharding_rule="i -> i")
rows = jax.sharding.NamedSharding(mesh, jax.sharding.PartitionSpec("x"))
print("Kashi" in jax.devices()[0].client.platform_version, xla_client.pjrt_plugin_loaded("kashi"))
print(jax.jit(f, in_shardings=rows, out_shardings=rows)(np.arange(4.0)))
"""


def run(program=PROGRAM, **variables):
    environment = {**os.environ, "KASHI_DEVICES": "", "XLA_FLAGS": "", "JAX_PLATFORMS": "kashi,cpu", **variables}
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=120, env=environment)
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


def test_kashi_beside_cpu():
    devices, value, _ = run()
    assert devices == "[CpuDevice(id=0)] False"
    assert abs(float(value) - 6.7317677) < 1e-4


def test_kashi_in_the_place_of_cpu():
    assert run(KASHI_JAX_AS_CPU="1", JAX_PLATFORMS="cpu")[0] == "[CpuDevice(id=0)] True"


def test_partitioners_of_custom_calls():
    for platforms in ("kashi,cpu", "kashi", ""):
        assert run(PARTITIONED, KASHI_DEVICES="4", JAX_PLATFORMS=platforms) == ["True True", "[0. 2. 4. 6.]"]
    in_place_of_cpu = run(PARTITIONED, KASHI_DEVICES="4", KASHI_JAX_AS_CPU="1", JAX_PLATFORMS="cpu")
    assert in_place_of_cpu == ["True False", "[0. 2. 4. 6.]"]


def test_library_is_not_loaded_without_need():
    assert run(PARTITIONED, JAX_PLATFORMS="cpu") == ["False False", "[0. 2. 4. 6.]"]


def test_number_of_devices():
    assert run(KASHI_DEVICES="3")[0] == "[CpuDevice(id=0), CpuDevice(id=1), CpuDevice(id=2)] False"


def test_compilation_cache_of_jax(tmp_path):
    settings = {"JAX_COMPILATION_CACHE_DIR": str(tmp_path), "JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS": "0",
                "JAX_PERSISTENT_CACHE_MIN_ENTRY_SIZE_BYTES": "-1"}
    first, second = run(**settings), run(**settings)
    assert first[1] == second[1]
    assert first[2].startswith("hits 0 ") and second[2].endswith("misses 0") and "hits 0" not in second[2]


def test_report(tmp_path):
    run(KASHI_REPORT=str(tmp_path))
    folder, = tmp_path.glob("*-jit__lambda")
    assert {path.name for path in folder.iterdir()} == {"module.hlo", "optimized.hlo", "memory.txt", "cost.txt"}
    assert "HloModule jit__lambda" in (folder / "module.hlo").read_text()
    assert "flops" in (folder / "cost.txt").read_text()


def test_check():
    assert abs(float(run(KASHI_CHECK="1")[1]) - 6.7317677) < 1e-4
