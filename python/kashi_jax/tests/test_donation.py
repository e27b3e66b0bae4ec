"""Donated arrays: results have their memory wherever XLA gives it to them, and the numbers stay right."""
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax
from jax.sharding import NamedSharding, PartitionSpec as P

PROGRAMS = {
    "identity": lambda x: x,
    "elementwise": lambda x: x * 2 + 1,
    "several": lambda x, y: (x * y, x - y),
    "changes places": lambda x, y: (y, x),
    "twice": lambda x: (x, x),
    "and the argument": lambda x: (x + 1, x),
    "and a sum": lambda x: (jnp.sin(x), x.sum()),
    "equal results": lambda x, y: (x + y, x + y),
    "transpose": lambda x: x.T,
    "reshape": lambda x: x.reshape(-1),
    "another type": lambda x: (x * 3).astype(jnp.int32),
    "bits": lambda x: lax.bitcast_convert_type(x, jnp.int32),
    "product": lambda x: x @ x,
    "read late": lambda x: jnp.sin(x) @ x + x,
    "sort": lambda x: jnp.sort(x, axis=0),
    "transform": lambda x: jnp.fft.fft(x).real,
    "roll": lambda x: jnp.roll(x, 1, 0),
    "update": lambda x: x.at[0].set(2.0),
    "branch": lambda x: lax.cond(x[0, 0] > 0, lambda x: x + 1, lambda x: x.T, x),
    "loop": lambda x: lax.fori_loop(0, 3, lambda i, x: jnp.sin(x), x),
    "loop that copies": lambda x: lax.fori_loop(0, 3, lambda i, x: jnp.roll(x, 1, 0), x),
    "scan": lambda x: lax.scan(lambda c, row: (c + row, c * row), x[0], x),
}


def _arguments(function, n, place):
    count = function.__code__.co_argcount
    numbers = np.random.RandomState(n).rand(count, n, n).astype(np.float32)
    # Arrays that a program made: JAX may lend the memory of NumPy's.
    return [jax.device_put(x, place) * 1.0 for x in numbers]


def _run(function, n, place):
    arguments = _arguments(function, n, place)
    before = [_pointers(x) for x in arguments]
    program = jax.jit(function, donate_argnums=tuple(range(len(arguments))))
    results = jax.block_until_ready(jax.tree.leaves(program(*arguments)))
    places = [before.index(_pointers(y)) if _pointers(y) in before else None for y in results]
    return places, [np.asarray(y) for y in results], [x.is_deleted() for x in arguments]


def _pointers(array):
    return [shard.data.unsafe_buffer_pointer() for shard in array.addressable_shards]


@pytest.mark.parametrize("n", [1, 3, 8, 200])
@pytest.mark.parametrize("name", PROGRAMS)
@pytest.mark.filterwarnings("ignore:Some donated buffers were not usable")
def test_results_lie_where_those_of_xla_do(both, name, n):
    expected = _run(PROGRAMS[name], n, both.cpu)
    actual = _run(PROGRAMS[name], n, both.kashi)
    assert expected[0] == actual[0] and expected[2] == actual[2]
    for x, y in zip(expected[1], actual[1]):
        np.testing.assert_allclose(x, y, rtol=2e-5, atol=2e-4)


@pytest.mark.parametrize("name", ["elementwise", "product", "changes places", "transpose"])
def test_on_several_devices(devices, name):
    places = []
    for on in (devices, np.array(jax.devices("cpu"))):
        rows = NamedSharding(jax.sharding.Mesh(on, "i"), P("i"))
        arguments = _arguments(PROGRAMS[name], 16, rows)
        before = [_pointers(x) for x in arguments]
        program = jax.jit(PROGRAMS[name], donate_argnums=tuple(range(len(arguments))), out_shardings=rows)
        results = jax.tree.leaves(program(*arguments))
        places.append([before.index(_pointers(y)) for y in results])
    assert places[0] == places[1]


# What others still see keeps its numbers, and its memory.
def test_an_array_that_somebody_else_has():
    x = jnp.arange(1000.0) * 1
    view = np.asarray(x)
    expected = view.copy()
    y = jax.jit(lambda x: jnp.sqrt(x), donate_argnums=0)(x)
    np.testing.assert_array_equal(view, expected)
    assert y.unsafe_buffer_pointer() != view.ctypes.data
    np.testing.assert_allclose(np.asarray(y), np.sqrt(expected), rtol=1e-6)


def test_the_same_memory_for_many_steps():
    step = jax.jit(lambda w, x: w - 0.1 * (x.T @ (x @ w)), donate_argnums=0)
    w, x = jnp.ones(300) * 1, jnp.full((50, 300), 0.01)
    pointer = w.unsafe_buffer_pointer()
    expected = np.ones(300)
    for _ in range(5):
        w = step(w, x)
        expected = expected - 0.1 * (np.asarray(x).T @ (np.asarray(x) @ expected))
        assert w.unsafe_buffer_pointer() == pointer
    np.testing.assert_allclose(np.asarray(w), expected, rtol=1e-5)
