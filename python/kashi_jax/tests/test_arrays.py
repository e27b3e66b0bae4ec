"""Arrays: memory, donation, copies; compiled programs as objects."""
import gc
import os
import pickle
import resource
import subprocess
import sys

import jax
import jax.numpy as jnp
import numpy as np
import pytest


def test_conversions():
    source = np.arange(12, dtype=np.float32).reshape(3, 4)
    for view in (source, source.T, source[:, ::-1], source[::2], source[:0]):
        x = jax.device_put(view)
        np.testing.assert_array_equal(x, view)
        np.testing.assert_array_equal(jnp.array(view) + 1, view + 1)
    assert jnp.float32(3).item() == 3
    assert np.asarray(jnp.array([1, 2], jnp.int4)).tolist() == [1, 2]


@pytest.mark.parametrize("alignment", [16, 64])
def test_copies_do_not_follow_their_source(alignment):
    memory = np.zeros(8192, np.uint8)
    begin = -memory.ctypes.data % 64 + alignment % 64
    source = memory[begin:begin + 4000].view(np.float32)
    x, y = jnp.array(source), jax.device_put(source) + 0
    source[:] = 1
    assert float(x.sum()) == 0 and float(y.sum()) == 0


def test_donation():
    program = jax.jit(lambda x: x.at[3].set(1), donate_argnums=0)
    x = jnp.zeros(100_000)
    before = x.unsafe_buffer_pointer()
    y = program(x)
    assert x.is_deleted() and y.unsafe_buffer_pointer() == before
    with pytest.raises(RuntimeError, match="deleted"):
        x + 1


def test_a_donated_array_that_numpy_sees_is_copied():
    program = jax.jit(lambda x: x + 1, donate_argnums=0)
    x = jnp.zeros(100_000)
    seen = np.asarray(x)
    y = program(x)
    assert x.is_deleted() and (seen == 0).all() and float(y[0]) == 1


def test_delete():
    x = jnp.zeros(3)
    x.delete()
    assert x.is_deleted()
    with pytest.raises(RuntimeError, match="deleted"):
        np.asarray(x)


def test_dlpack():
    x = jnp.arange(6.0).reshape(2, 3)
    np.testing.assert_array_equal(np.from_dlpack(x), x)
    y = jax.dlpack.from_dlpack(np.arange(5.0, dtype=np.float32))
    np.testing.assert_array_equal(y, np.arange(5))


def test_memories():
    device = jax.devices("kashi")[0]
    assert {m.kind for m in device.addressable_memories()} == {"device", "pinned_host", "unpinned_host"}
    x = jax.device_put(np.arange(3.0), jax.sharding.SingleDeviceSharding(device, memory_kind="pinned_host"))
    assert x.sharding.memory_kind == "pinned_host"
    np.testing.assert_array_equal(x, np.arange(3))


def test_devices():
    first, second = jax.devices("kashi")[:2]
    x = jax.device_put(jnp.arange(3.0), second)
    assert x.devices() == {second}
    assert jax.jit(lambda x: x * 2)(x).devices() == {second}
    with pytest.raises(ValueError):
        jax.jit(jnp.add)(x, jax.device_put(x, first))


def test_pickle():
    x = jnp.arange(5, dtype=jnp.bfloat16)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(x)), x)


def test_compiled_programs():
    x = jnp.ones((4, 4))
    compiled = jax.jit(lambda x: jnp.sin(x) @ x).lower(x).compile()
    assert "HloModule jit__lambda" in compiled.as_text()
    assert compiled.cost_analysis()["flops"] >= 128
    memory = compiled.memory_analysis()
    assert (memory.argument_size_in_bytes, memory.output_size_in_bytes) == (64, 64)
    np.testing.assert_allclose(compiled(x), np.sin(np.ones((4, 4))) @ np.ones((4, 4)), rtol=1e-6)


def test_serialized_programs():
    from jax.experimental import serialize_executable
    x = jnp.arange(4.0)
    compiled = jax.jit(lambda x: {"y": x * 2}).lower(x).compile()
    bytes_of, tree_in, tree_out = serialize_executable.serialize(compiled)
    loaded = serialize_executable.deserialize_and_load(bytes_of, tree_in, tree_out, backend="kashi", execution_devices=jax.devices("kashi")[:1])
    np.testing.assert_array_equal(loaded(x)["y"], x * 2)


def test_export():
    exported = jax.export.export(jax.jit(jnp.sin), platforms=["cpu"])(jax.ShapeDtypeStruct((3,), np.float32))
    again = jax.export.deserialize(exported.serialize())
    np.testing.assert_allclose(again.call(jnp.arange(3.0)), np.sin(np.arange(3.0)), rtol=1e-6, atol=1e-7)


def test_export_with_symbolic_sizes():
    n, = jax.export.symbolic_shape("n")
    exported = jax.export.export(jax.jit(lambda x: x.sum() * x.shape[0]))(jax.ShapeDtypeStruct((n,), np.float32))
    assert jax.export.deserialize(exported.serialize()).call(jnp.ones(5)) == 25


def test_errors_are_exceptions():
    with pytest.raises(Exception, match="No such compile option: 'no_such'"):
        jax.jit(lambda x: x, compiler_options={"no_such": 1})(1.0)
    with pytest.raises(Exception, match="(?i)no.*handler.*no_such_target"):
        jax.jit(lambda x: jax.ffi.ffi_call("no_such_target", jax.ShapeDtypeStruct((), np.float32))(x))(1.0).block_until_ready()


def test_an_error_travels_to_what_depends_on_it():
    # A program that calls Python, and has its arguments, runs within the call, as on JAX's own backend, and fails there.
    later = jax.jit(lambda x: jnp.sort(jnp.sin(x)))(jnp.ones(4_000_000))
    failed = jax.jit(lambda x: jax.pure_callback(lambda x: 1 / 0, jax.ShapeDtypeStruct((), np.float32), x[7]))(later)
    with pytest.raises(jax.errors.JaxRuntimeError, match="ZeroDivisionError"):
        jax.block_until_ready(jax.jit(lambda x: x + 1)(failed))


def test_trace(tmp_path):
    with jax.profiler.trace(str(tmp_path)):
        jax.jit(lambda x: x @ x)(jnp.ones((50, 50))).block_until_ready()
    [profile] = tmp_path.rglob("*.xplane.pb")
    assert b"Kashi CPU 0" in profile.read_bytes()


def _rss():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * resource.getpagesize()


def test_many_runs_keep_nothing():
    program = jax.jit(lambda x: (x + 1, jnp.sin(x)))
    x = jnp.ones(10_000)
    for _ in range(200):
        program(x)
    gc.collect()
    before = _rss()
    for _ in range(5_000):
        program(x)
    gc.collect()
    assert _rss() - before < 20e6


def test_many_programs_keep_little():
    def compile_one(i):
        jax.jit(lambda x: x * i + jnp.cos(x)).lower(jnp.ones(10)).compile()(jnp.ones(10)).block_until_ready()

    for i in range(30):
        compile_one(i)
    jax.clear_caches()
    gc.collect()
    before = _rss()
    for i in range(150):
        compile_one(i)
    jax.clear_caches()
    gc.collect()
    assert _rss() - before < 150 * 150e3


def test_copies_have_memory_of_their_own():
    x = jnp.arange(1024.0)
    address = x.unsafe_buffer_pointer()
    for copy in (jnp.array, jnp.copy, lambda x: x.copy(), jax.jit(lambda x: x), lambda x: jax.device_put(x, x.device, may_alias=False)):
        y = copy(x)
        assert y.unsafe_buffer_pointer() != address
        np.testing.assert_array_equal(x, y)


@pytest.mark.parametrize("size", [1, 2, 4, 7, 16, 100])
def test_arrays_are_aligned(size):
    made = jnp.arange(size, dtype=jnp.float32)
    for array in (made, made + 1, jnp.asarray(np.ones(size)), made.reshape(-1, 1)):
        assert array.unsafe_buffer_pointer() % 64 == 0


def test_names_are_those_of_jax():
    for kashi, cpu in zip(jax.devices("kashi"), jax.devices("cpu")):
        assert (str(kashi), repr(kashi)) == (str(cpu), repr(cpu))
        for memory, of_cpu in zip(kashi.addressable_memories(), cpu.addressable_memories()):
            assert (str(memory), repr(memory)) == (str(of_cpu), repr(of_cpu))


def test_the_errors_of_small_programs_are_those_of_the_call():
    shape = jax.ShapeDtypeStruct((), np.float32)

    def fail(x):
        raise RuntimeError("not today")

    def in_loop(x):
        return jax.lax.fori_loop(0, 3, lambda i, x: jax.pure_callback(fail, shape, x), x)

    for f in (lambda x: jax.pure_callback(fail, shape, x), in_loop):
        with pytest.raises(jax.errors.JaxRuntimeError, match="not today"):
            jax.jit(f)(1.0)
    seen = []
    jax.jit(lambda x: jax.debug.callback(seen.append, x))(3.0)
    assert [float(x) for x in seen] == [3]


def test_handlers_come_before_programs():
    f = jax.jit(lambda x: jax.ffi.ffi_call("no_such_target", jax.ShapeDtypeStruct((), np.float32))(x))
    with pytest.raises(jax.errors.JaxRuntimeError, match="No FFI handler registered for no_such_target on a platform Host"):
        f.lower(1.0).compile()


def test_a_buffer_is_not_donated_twice():
    x = jnp.arange(8.0)
    with pytest.raises(jax.errors.JaxRuntimeError, match="previously donated in the same call"):
        jax.jit(lambda a, b: a + b, donate_argnums=(0, 1))(x, x)


def test_donors_become_aliases():
    text = jax.jit(lambda x, y: (x + 1, y.sum()), donate_argnums=(0, 1)).lower(jnp.ones(8), jnp.ones(9)).compile().as_text()
    assert "input_output_alias={ {0}: (0, {}, may-alias) }" in text


def test_arrays_in_a_layout_by_dlpack():
    layout = pytest.importorskip("jax.experimental.layout")
    if not hasattr(layout, "Format"):
        pytest.skip("this version of JAX has other names for layouts")
    x = np.arange(24, dtype=np.float32).reshape(2, 3, 4)
    place = jax.sharding.SingleDeviceSharding(jax.devices("kashi")[0])
    y = jax.device_put(x, layout.Format(layout.Layout((2, 0, 1)), place))
    np.testing.assert_array_equal(np.from_dlpack(y), x)


@pytest.mark.parametrize("settings,count", [({"JAX_NUM_CPU_DEVICES": "3"}, 3), ({"KASHI_DEVICES": "2"}, 2), ({}, 1),
                                            ({"XLA_FLAGS": "--xla_force_host_platform_device_count=5"}, 5),
                                            ({"XLA_FLAGS": "--xla_force_host_platform_device_count=5", "KASHI_DEVICES": "4"}, 4)])
def test_the_number_of_devices(settings, count):
    environment = {key: value for key, value in os.environ.items() if key not in ("XLA_FLAGS", "KASHI_DEVICES", "JAX_NUM_CPU_DEVICES")}
    environment.update(settings, KASHI_JAX_AS_CPU="1", JAX_PLATFORMS="cpu")
    program = "import jax; print(jax.device_count(), jax.devices()[0].client.platform_version.split()[-2])"
    done = subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, text=True)
    assert done.stdout.split() == [str(count), "Kashi"], done.stderr
