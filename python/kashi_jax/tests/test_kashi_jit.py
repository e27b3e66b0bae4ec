"""kashi.jax.jit with this package: jax.jit on a device of Kashi's. Needs the package kashi as well."""
import functools

import jax
import jax.numpy as jnp
import numpy as np
import pytest

kashi_jax = pytest.importorskip("kashi.jax", reason="the package kashi is not here")
jit = kashi_jax.jit


def _platforms(x):
    return {device.client.platform_version.split()[-2] for device in x.devices()}


def test_callbacks():
    shape = jax.ShapeDtypeStruct((3, ), np.float32)
    f = jit(lambda x: jax.pure_callback(lambda x: np.asarray(x) * 2, shape, x) + 1)
    np.testing.assert_array_equal(f(jnp.arange(3.0)), [1, 3, 5])
    assert f._cache_size() == 1


def test_arguments_of_another_device():
    x = jax.device_put(np.arange(3.0, dtype=np.float32), jax.devices("cpu")[0])
    for default in (jax.devices("cpu")[0], jax.devices("kashi")[0]):
        with jax.default_device(default):
            y = jit(lambda p, n: p["x"] * n, static_argnums=1)({"x": x}, 2)
            assert y.devices() <= set(jax.devices("kashi"))
            np.testing.assert_array_equal(y, [0, 2, 4])


def test_options():
    place = jax.sharding.SingleDeviceSharding(jax.devices("kashi")[1])
    f = jit(lambda x: x + 1, out_shardings=place, compiler_options={"xla_embed_ir_in_executable": True})
    assert f(jnp.zeros(3)).devices() == {jax.devices("kashi")[1]}
    with pytest.raises(Exception, match="No such compile option"):
        jit(lambda x: x, compiler_options={"no_such": 1})(1.0)


def test_within_transformations():
    f = jit(lambda x: jnp.sin(x) * x)
    assert float(jax.grad(f)(0.0)) == 0
    np.testing.assert_allclose(jax.vmap(f)(jnp.arange(3.0)), np.sin(np.arange(3)) * np.arange(3), rtol=1e-6)
    assert "sine" in str(f.module(jnp.ones(3)))
    assert f.lower(1.0).compile() is not None


def test_methods():
    class Scale:
        by = 3

        @functools.partial(jit, static_argnums=0)
        def times(self, x):
            return x * self.by

    assert float(Scale().times(2.0)) == 6
