"""Programs of 8 devices."""
import inspect

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax
from jax.experimental import io_callback
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P


def _shard_map(*args, **kwargs):
    return (jax.shard_map if hasattr(jax, "shard_map") else jax.experimental.shard_map.shard_map)(*args, **kwargs)


# Regions whose results may differ from what their types say: the option has another name in each version of JAX.
_UNCHECKED = {"check_vma": False} if hasattr(jax, "shard_map") else {"check_rep": False}


@pytest.fixture
def mesh(devices):
    return Mesh(devices.reshape(4, 2), ("x", "y"))


@pytest.fixture
def array():
    return np.arange(64, dtype=np.float32).reshape(8, 8)


def test_placed_arrays(mesh, array):
    x = jax.device_put(array, NamedSharding(mesh, P("x", "y")))
    assert x.addressable_shards[0].data.shape == (2, 4)
    np.testing.assert_array_equal(x, array)
    np.testing.assert_array_equal(jax.device_put(x, NamedSharding(mesh, P(None, "x"))), array)


def test_results_of_open_sharding(mesh, array):
    x = jax.device_put(array, NamedSharding(mesh, P("x", "y")))
    np.testing.assert_allclose(jax.jit(lambda x: x @ x.T)(x), array @ array.T)
    assert x[3, 5] == array[3, 5]


def test_results_that_cannot_be_cut_evenly(mesh, array):
    x = jax.device_put(array, NamedSharding(mesh, P("x")))
    y = jax.jit(lambda x: (x[1:], jnp.pad(x, 1)))(x)
    np.testing.assert_array_equal(y[0], array[1:])
    np.testing.assert_array_equal(y[1], np.pad(array, 1))
    constrained = jax.jit(lambda x: lax.with_sharding_constraint(x * 2, NamedSharding(mesh, P("x"))))(jnp.ones((7, 3)))
    np.testing.assert_array_equal(constrained, np.full((7, 3), 2))


def test_open_results_have_shardings_of_the_mesh(mesh, array):
    x = jax.device_put(array, NamedSharding(mesh, P("x", "y")))
    w = jax.device_put(array, NamedSharding(mesh, P(("x", "y"))))
    for sizes, of_x, of_w in (((2, 32), P(), P()), ((2, 4, 8), P(None, None, "y"), P()), ((64,), P("x"), P(("x", "y")))):
        y, z = jax.jit(lambda x, w: (x.reshape(sizes), w.reshape(sizes)))(x, w)
        assert (y.sharding.spec, z.sharding.spec) == (of_x, of_w)
        np.testing.assert_array_equal(y, array.reshape(sizes))
        np.testing.assert_array_equal(z, array.reshape(sizes))


def test_open_dimensions_take_what_comes(mesh, array):
    x = jax.device_put(array, NamedSharding(mesh, P("x")))
    y = jax.jit(lambda x: lax.with_sharding_constraint(x, NamedSharding(mesh, P(P.UNCONSTRAINED, "y"))))(x)
    assert y.sharding.spec == P("x", "y")
    y = jax.jit(jax.vmap(lambda x: lax.with_sharding_constraint(x, NamedSharding(mesh, P("y")))))(x)
    assert y.sharding.spec == P("x", "y")
    np.testing.assert_array_equal(y, array)
    keys = jax.device_put(jax.random.split(jax.random.key(0), 8), NamedSharding(mesh, P("x")))
    assert jax.jit(lambda keys: keys)(keys).sharding.is_equivalent_to(NamedSharding(mesh, P("x")), 1)


SPREADING = {
    "reverse": lambda x: x[::-1],
    "concatenate": lambda x: jnp.concatenate([x, x]),
    "pad": lambda x: jnp.pad(x, 4),
    "set": lambda x: x.at[2].set(1.0),
    "add": lambda x: x.at[jnp.array([2, 3, 3, 2])].add(x[:4]),
    "sort": lambda x: jnp.sort(x, 0),
    "argsort": lambda x: jnp.argsort(x, 0),
    "cumsum": lambda x: jnp.cumsum(x, 0),
    "roll": lambda x: jnp.roll(x, 1, 0),
    "update": lambda x: lax.dynamic_update_slice_in_dim(x, x[:2] * 3, 1, 0),
    "take": lambda x: jnp.take_along_axis(x, jnp.argsort(x, 0), 0),
    "fft": lambda x: jnp.fft.fft(x, axis=0).real,
    "windows": lambda x: lax.reduce_window(x, 0.0, lax.add, (3, 1), (1, 1), "SAME"),
    "bits": lambda x: lax.bitcast_convert_type(x, jnp.uint8),
}


@pytest.mark.parametrize("name", SPREADING)
def test_shardings_spread_through(mesh, array, name):
    program = jax.jit(SPREADING[name])
    array = array[::-1] * np.float32(7) % 31
    y = program(jax.device_put(array, NamedSharding(mesh, P("x", "y"))))
    assert y.sharding.spec == P("x", "y")
    np.testing.assert_allclose(y, program(array), atol=1e-4)


def test_one_sorted_line_is_whole(mesh):
    x = jax.device_put(np.arange(8.0)[::-1], NamedSharding(mesh, P("x")))
    y = jax.jit(jnp.sort)(x)
    assert y.sharding.spec == P()
    np.testing.assert_array_equal(y, np.arange(8))


def test_partitioned_callbacks_get_shards(mesh, array):
    if "partitioned" not in inspect.signature(jax.debug.callback).parameters:
        pytest.skip("this version of JAX calls back with whole arrays only")
    seen = []

    @jax.jit
    def program(x):
        jax.debug.callback(lambda x, total: seen.append((x.shape, float(x[0, 0]), float(total))), x, x.sum(), partitioned=True)
        return x * 2

    np.testing.assert_array_equal(program(jax.device_put(array, NamedSharding(mesh, P("x", "y")))), array * 2)
    jax.effects_barrier()
    assert sorted(seen) == [((2, 4), 16.0 * i + 4 * k, array.sum()) for i in range(4) for k in range(2)]


def test_arrays_that_are_sharded_alike(mesh, array):
    shard_alike = pytest.importorskip("jax.experimental.shard_alike").shard_alike  # not in JAX 0.12
    x = jax.device_put(array, NamedSharding(mesh, P("x", "y")))
    whole = jax.device_put(array, NamedSharding(mesh, P()))
    for like in (*jax.jit(shard_alike)(x, array), *jax.jit(shard_alike)(whole, x)):
        assert like.sharding.spec == P("x", "y")
        np.testing.assert_array_equal(like, array)
    _, like = jax.jit(lambda x: shard_alike(x, jnp.ones_like(x)))(x)
    assert like.sharding.spec == P("x", "y")


def test_arguments_without_a_sharding_take_what_comes(mesh, array):
    x = jax.device_put(array, NamedSharding(mesh, P("x", "y")))
    compiled = jax.jit(lambda x, y: x + y[:8]).lower(x, np.ones((16, 8), np.float32)).compile()
    assert compiled.input_shardings[0][1].spec == P("x", "y")
    np.testing.assert_array_equal(compiled(x, np.ones((16, 8), np.float32)), array + 1)


@pytest.mark.skipif("unreduced" not in inspect.signature(P.__new__).parameters, reason="this version of JAX has no unreduced arrays")
def test_parts_of_sums(devices, array):
    mesh = Mesh(devices[:4].reshape(2, 2), ("x", "y"), axis_types=(jax.sharding.AxisType.Explicit, ) * 2)
    a, b = array[:4, :4], array[:4]
    sums, whole = P(None, None, unreduced={"x"}), P(None, None)
    with jax.sharding.use_mesh(mesh) if not hasattr(jax, "set_mesh") else jax.set_mesh(mesh):
        x, w = jax.device_put(a, P(None, "x")), jax.device_put(b, P("x", None))
        z = jax.jit(lambda x, w: jnp.einsum("xy,yz->xz", x, w, out_sharding=sums))(x, w)
        assert z.sharding.spec == sums
        np.testing.assert_array_equal(z.addressable_shards[0].data, a[:, :2] @ b[:2])
        np.testing.assert_array_equal(jax.sharding.reshard(z, whole), a @ b)
        np.testing.assert_array_equal(jax.jit(lambda z: jax.sharding.reshard(z + z, P("x", None)))(z), 2 * a @ b)
        assert jax.jit(lambda z: z.sum(0))(z).sharding.spec == P(None, unreduced={"x"})
        z = jax.jit(lambda x: jax.sharding.reshard(x, sums))(jax.device_put(a, whole))
        np.testing.assert_array_equal([np.asarray(shard.data).sum() for shard in z.addressable_shards], [a.sum(), a.sum(), 0, 0])
        region = jax.jit(jax.shard_map(lambda x: lax.psum(x, "x"), in_specs=sums, out_specs=whole))
        np.testing.assert_array_equal(region(z), a)
        region = jax.jit(jax.shard_map(jnp.dot, in_specs=(P(None, "x"), P("x", None)), out_specs=sums))
        np.testing.assert_array_equal(jax.sharding.reshard(region(x, w), whole), a @ b)
        reduced = jax.device_put(a, P(None, None, reduced={"x"}))
        rows = jax.device_put(array[:, :4], P("x", None))
        gradient = jax.jit(jax.grad(lambda w, x: jnp.sum(jnp.dot(x, w))))(reduced, rows)
        assert gradient.sharding.spec == sums
        np.testing.assert_array_equal(jax.sharding.reshard(gradient, whole), array[:, :4].T @ np.ones((8, 4)))


def test_a_region_that_gives_its_argument_back(devices, array):
    mesh = Mesh(devices[:4], ("i",))
    program = jax.jit(_shard_map(lambda x: x, mesh=mesh, in_specs=P(), out_specs=P("i"), **_UNCHECKED))
    np.testing.assert_array_equal(program(array), np.concatenate([array] * 4))


def test_a_region_that_is_manual_along_one_axis(mesh, array):
    if not hasattr(jax, "shard_map"):
        pytest.skip("this version of JAX has no jax.shard_map")
    program = jax.jit(jax.shard_map(lambda x: lax.psum(x, "x"), mesh=mesh, in_specs=P("x"), out_specs=P(), axis_names={"x"}))
    np.testing.assert_array_equal(program(array), array.reshape(4, 2, 8).sum(0))


def test_shardings_of_arguments_and_results(mesh, array):
    program = jax.jit(jnp.matmul, in_shardings=(NamedSharding(mesh, P("x", None)), NamedSharding(mesh, P(None, "y"))),
                      out_shardings=NamedSharding(mesh, P("x", "y")))
    result = program(array, array)
    assert result.sharding.spec == P("x", "y")
    np.testing.assert_allclose(result, array @ array)


def test_constraints(mesh, array):
    def program(x):
        x = lax.with_sharding_constraint(x * 2, NamedSharding(mesh, P("y", "x")))
        return jnp.sort(x, 0)[::-1] + lax.with_sharding_constraint(x.T, NamedSharding(mesh, P()))

    np.testing.assert_array_equal(jax.jit(program)(array), np.sort(array * 2, 0)[::-1] + array.T * 2)


COLLECTIVES = {
    "psum": (lambda x: lax.psum(x, "i"), P()),
    "pmean": (lambda x: lax.pmean(x, "i"), P()),
    "pmax": (lambda x: lax.pmax(x, "i"), P()),
    "all_gather": (lambda x: lax.all_gather(x, "i").sum(0), P()),
    "psum_scatter": (lambda x: lax.psum_scatter(jnp.tile(x, (8, 1)), "i", tiled=True), P("i")),
    "ppermute": (lambda x: lax.ppermute(x, "i", [(k, (k + 3) % 8) for k in range(8)]), P("i")),
    "all_to_all": (lambda x: lax.all_to_all(x, "i", 1, 0, tiled=True), P("i")),
    "axis_index": (lambda x: x + lax.axis_index("i"), P("i")),
}


@pytest.mark.parametrize("name", COLLECTIVES)
def test_collectives(array, name):
    function, result = COLLECTIVES[name]
    answers = []
    for platform in ("cpu", "kashi"):
        mesh = Mesh(np.array(jax.devices(platform)), ("i",))
        program = jax.jit(_shard_map(function, mesh=mesh, in_specs=P("i"), out_specs=result, check_vma=False))
        answers.append(np.asarray(program(jax.device_put(array, NamedSharding(mesh, P("i"))))))
    np.testing.assert_allclose(*answers)


def test_pmap():
    result = jax.pmap(lambda x: x / lax.psum(x, "i"), axis_name="i", devices=jax.devices("kashi"))(jnp.arange(1.0, 9.0))
    np.testing.assert_allclose(result, np.arange(1, 9) / 36, rtol=1e-6)


def test_training(mesh):
    rng = np.random.RandomState(0)
    x, y = rng.randn(32, 8).astype(np.float32), rng.randn(32, 4).astype(np.float32)
    params = {"a": rng.randn(8, 16).astype(np.float32) / 4, "b": rng.randn(16, 4).astype(np.float32) / 4}

    def step(params, x, y):
        def loss(params):
            return jnp.mean((jnp.tanh(x @ params["a"]) @ params["b"] - y) ** 2)

        value, gradients = jax.value_and_grad(loss)(params)
        return jax.tree.map(lambda p, g: p - 0.1 * g, params, gradients), value

    with jax.default_device(jax.devices("cpu")[0]):
        expected = params
        for _ in range(5):
            expected, value = jax.jit(step)(expected, x, y)
    placed = {"a": NamedSharding(mesh, P(None, "y")), "b": NamedSharding(mesh, P("y", None))}
    rows = NamedSharding(mesh, P("x"))
    program = jax.jit(step, in_shardings=(placed, rows, rows), out_shardings=(placed, NamedSharding(mesh, P())), donate_argnums=0)
    actual = jax.device_put(params, placed)
    for _ in range(5):
        actual, sharded = program(actual, jax.device_put(x, rows), jax.device_put(y, rows))
    np.testing.assert_allclose(sharded, value, rtol=1e-5)
    for name in params:
        np.testing.assert_allclose(actual[name], expected[name], rtol=1e-4, atol=1e-5)


def test_callbacks_happen_once(mesh, array):
    seen = []

    def count(x):
        seen.append(x.shape)
        return np.float32(x.sum())

    x = jax.device_put(array, NamedSharding(mesh, P("x", "y")))
    result = jax.jit(lambda x: io_callback(count, jax.ShapeDtypeStruct((), np.float32), x) + x)(x)
    np.testing.assert_allclose(result, array + array.sum())
    assert seen == [(8, 8)]


def test_callbacks_of_each_device(mesh, array):
    seen = []
    program = _shard_map(lambda x: (jax.debug.callback(lambda x: seen.append(x.shape), x), x)[1], mesh=mesh, in_specs=P("x", "y"),
                         out_specs=P("x", "y"))
    jax.jit(program)(array).block_until_ready()
    jax.effects_barrier()
    assert seen == [(2, 4)] * 8


def test_array_from_callback(mesh, array):
    x = jax.make_array_from_callback((8, 8), NamedSharding(mesh, P("x")), lambda index: array[index])
    np.testing.assert_array_equal(x, array)


def test_explicit_axes(devices, array):
    if not hasattr(jax.sharding, "AxisType"):
        pytest.skip("this version of JAX has no explicit axes")
    mesh = jax.sharding.Mesh(devices.reshape(4, 2), ("x", "y"), axis_types=(jax.sharding.AxisType.Explicit,) * 2)
    x = jax.device_put(array, NamedSharding(mesh, P("x", "y")))
    assert jax.typeof(x).sharding.spec == P("x", "y")
    y = jax.jit(lambda x: jnp.sin(x) * 2)(x)
    assert jax.typeof(y).sharding.spec == P("x", "y")
    np.testing.assert_allclose(y, np.sin(array) * 2, rtol=1e-5, atol=1e-6)


def test_inspect_array_sharding(mesh, array):
    seen = []

    @jax.jit
    def f(x):
        y = x @ x.T
        jax.debug.inspect_array_sharding(y, callback=seen.append)
        jax.debug.inspect_array_sharding(x, callback=seen.append)
        return jnp.sin(y) + 1

    result = f(jax.device_put(array, NamedSharding(mesh, P("x", None))))
    np.testing.assert_allclose(result, np.sin(array @ array.T) + 1, rtol=1e-4, atol=1e-4)
    assert len(seen) == 2
    assert any(s.is_equivalent_to(NamedSharding(mesh, P("x", None)), 2) for s in seen)

    def fail(sharding):
        raise ValueError("not this one")

    @jax.jit
    def g(x):
        jax.debug.inspect_array_sharding(x, callback=fail)
        return x

    with pytest.raises(Exception, match="not this one"):
        g(jax.device_put(array, NamedSharding(mesh, P("x", None))))


@pytest.mark.parametrize("name", ["float8_e5m2", "float8_e4m3", "float8_e4m3fn", "float8_e5m2fnuz", "float8_e4m3fnuz",
                                  "float8_e4m3b11fnuz", "float8_e3m4", "float8_e8m0fnu", "float4_e2m1fn"])
def test_small_floats_in_manual_regions(mesh, name):
    x = jnp.array([1, 2, 0.5, 4]).astype(name)
    y = jax.jit(_shard_map(lambda x: x, mesh=mesh, in_specs=P("x"), out_specs=P("x")))(x)
    np.testing.assert_array_equal(np.asarray(y.astype("float32")), np.asarray(x.astype("float32")))


def test_ordered_callbacks_in_manual_regions(devices):
    mesh, seen = Mesh(devices[:4], ("x", )), []

    def f(x):
        io_callback(lambda x: seen.append(np.asarray(x)), None, x, ordered=True)
        return x + 1

    y = jax.jit(_shard_map(f, mesh=mesh, in_specs=P("x"), out_specs=P("x")))(jnp.arange(8.0))
    np.testing.assert_array_equal(y, np.arange(8) + 1)
    jax.effects_barrier()
    np.testing.assert_array_equal(sorted(x[0] for x in seen), [0, 2, 4, 6])
