"""Arrays: memory, donation, copies; compiled programs as objects."""
import gc
import pickle
import resource

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
    failed = jax.jit(lambda x: jax.pure_callback(lambda x: 1 / 0, jax.ShapeDtypeStruct((), np.float32), x))(1.0)
    with pytest.raises(jax.errors.JaxRuntimeError, match="ZeroDivisionError"):
        jax.block_until_ready(jax.jit(lambda x: x + 1)(failed))


def test_trace(tmp_path):
    with jax.profiler.trace(str(tmp_path)):
        jax.jit(lambda x: x @ x)(jnp.ones((50, 50))).block_until_ready()
    assert list(tmp_path.rglob("*.xplane.pb"))


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
