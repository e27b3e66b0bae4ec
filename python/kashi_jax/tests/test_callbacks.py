"""Functions of Python within programs."""
import threading

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax
from jax.experimental import io_callback


def _sine(x):
    return np.sin(x)


def _pure(x, **options):
    return jax.pure_callback(_sine, jax.ShapeDtypeStruct(x.shape, x.dtype), x, **options)


def test_pure_callback(both):
    both(lambda x: _pure(x) * 2, np.float32([1, 2, 3]))


@pytest.mark.parametrize("method", ["sequential", "expand_dims", "broadcast_all"])
def test_pure_callback_in_vmap(both, method):
    both(jax.vmap(lambda x: _pure(x, vmap_method=method)), np.float32([1, 2, 3]))


def test_pure_callback_with_a_derivative(both):
    @jax.custom_jvp
    def sine(x):
        return _pure(x)

    sine.defjvp(lambda primals, tangents: (sine(*primals), jnp.cos(primals[0]) * tangents[0]))
    both(jax.value_and_grad(lambda x: sine(x).sum()), np.float32([1, 2, 3]))


@pytest.mark.parametrize("dtype", ["bfloat16", "int4", "bool", "complex64", "float8_e5m2", "uint16"])
def test_types(both, dtype):
    x = jnp.asarray([0, 1, 1, 0], dtype)
    result = both(lambda x: jax.pure_callback(lambda x: x[::-1], jax.ShapeDtypeStruct(x.shape, x.dtype), x), x)
    assert result.dtype == x.dtype


def test_debug_print(capfd):
    jax.jit(lambda x: jax.debug.print("x is {x}", x=x))(jnp.float32([1, 2]))
    jax.effects_barrier()
    assert "x is [1. 2.]" in capfd.readouterr().out


def test_order():
    seen = []

    @jax.jit
    def program(x):
        def body(i, x):
            jax.debug.callback(lambda i: seen.append(int(i)), i, ordered=True)
            return io_callback(lambda x: np.float32(x + 1), jax.ShapeDtypeStruct((), np.float32), x, ordered=True)

        return lax.fori_loop(0, 20, body, x)

    assert program(0.0) == 20
    jax.effects_barrier()
    assert seen == list(range(20))


def test_unordered_calls_all_happen():
    seen = []

    @jax.jit
    def program(x):
        lax.fori_loop(0, 5, lambda i, _: (jax.debug.callback(lambda i: seen.append(int(i)), i), 0)[1], 0)
        lax.cond(x > 0, lambda: jax.debug.callback(lambda: seen.append(100)), lambda: jax.debug.callback(lambda: seen.append(200)))
        return x

    program(1.0).block_until_ready()
    jax.effects_barrier()
    assert sorted(seen) == [0, 1, 2, 3, 4, 100]


def test_error_of_a_callback():
    def fail(x):
        raise ValueError("no such number")

    with pytest.raises(jax.errors.JaxRuntimeError, match="no such number"):
        jax.jit(lambda x: jax.pure_callback(fail, jax.ShapeDtypeStruct((), np.float32), x))(1.0).block_until_ready()
    assert jax.jit(lambda x: x + 1)(1.0) == 2  # the backend goes on


def test_callback_that_runs_programs():
    def outer(x):
        with jax.default_device(jax.devices("kashi")[0]):
            return np.asarray(jax.jit(lambda x: jnp.dot(x, x))(jnp.asarray(np.asarray(x))))

    program = jax.jit(lambda x: jax.pure_callback(outer, jax.ShapeDtypeStruct((), np.float32), x))
    assert program(jnp.arange(100.0)) == np.arange(100.0) @ np.arange(100.0)


def test_several_threads():
    program = jax.jit(lambda x: _pure(x) + 1)
    results = {}

    def run(i):
        results[i] = [float(program(jnp.float32(i))) for _ in range(20)]

    threads = [threading.Thread(target=run, args=(i,)) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for i in range(4):
        np.testing.assert_allclose(results[i], np.sin(i) + 1, rtol=1e-6)


def test_buffer_callbacks(both):
    module = pytest.importorskip("jax.experimental.buffer_callback")

    def fill(context, out, x, *, scale):
        assert context.stage == module.ExecutionStage.EXECUTE
        assert out["a"].writeable and not x.writeable
        assert (x.shape, x.dtype, x.ndim) == ((3,), np.float32, 1)
        np.asarray(out["a"])[...] = np.asarray(x) * np.asarray(scale)
        np.asarray(out["b"])[...] = 7

    shapes = {"a": jax.ShapeDtypeStruct((3,), np.float32), "b": jax.ShapeDtypeStruct((), np.int8)}
    call = module.buffer_callback(fill, shapes)
    both(lambda x: call(x, scale=jnp.float32(3)), np.arange(3, dtype=np.float32))


def test_a_buffer_callback_that_fails():
    module = pytest.importorskip("jax.experimental.buffer_callback")

    def fail(context, out, x):
        raise ValueError("no such number")

    call = module.buffer_callback(fail, jax.ShapeDtypeStruct((), np.float32))
    with pytest.raises(Exception, match="no such number"):
        jax.block_until_ready(jax.jit(call)(jnp.float32(1)))
