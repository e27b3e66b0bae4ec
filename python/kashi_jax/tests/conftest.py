"""JAX with two backends in one process: kashi, the default, and JAX's own cpu, each with 8 devices."""
import os

os.environ["JAX_PLATFORMS"] = "kashi,cpu"
os.environ["KASHI_DEVICES"] = "8"
os.environ["XLA_FLAGS"] = "--xla_force_host_platform_device_count=8"

import jax
import numpy as np
import pytest


class Both:
    """Runs a function on both backends and compares the results."""

    @property
    def kashi(self):
        return jax.devices("kashi")[0]

    @property
    def cpu(self):
        return jax.devices("cpu")[0]

    def __call__(self, function, *arguments, tolerance=None, jit=True, **options):
        results = []
        for device in (self.cpu, self.kashi):
            with jax.default_device(device):
                given = jax.device_put(arguments, device)
                result = (jax.jit(function, **options) if jit else function)(*given)
                results.append(jax.block_until_ready(result))
        assert_same(*results, tolerance=tolerance)
        return results[1]


def _numbers(array):
    if jax.dtypes.issubdtype(array.dtype, jax.dtypes.prng_key):
        array = jax.random.key_data(array)
    return np.asarray(array)


def assert_same(expected, actual, tolerance=None):
    """Both are pytrees of arrays with the same types; numbers agree up to a tolerance that suits the type."""
    assert jax.tree.structure(expected) == jax.tree.structure(actual)
    for x, y in zip(jax.tree.leaves(expected), jax.tree.leaves(actual)):
        x, y = _numbers(x), _numbers(y)
        assert x.dtype == y.dtype and x.shape == y.shape
        if not jax.numpy.issubdtype(x.dtype, jax.numpy.inexact):
            np.testing.assert_array_equal(x, y)
            continue
        wide = np.complex128 if np.iscomplexobj(x) else np.float64
        usual = max(1e-6, 30 * float(jax.numpy.finfo(x.dtype).eps)) if x.dtype.itemsize != 8 or np.iscomplexobj(x) else 1e-10
        limit = usual if tolerance is None else tolerance
        np.testing.assert_allclose(x.astype(wide), y.astype(wide), rtol=limit, atol=limit)


@pytest.fixture
def both():
    return Both()


@pytest.fixture
def x64():
    with jax.enable_x64(True) if hasattr(jax, "enable_x64") else jax.experimental.enable_x64():
        yield


@pytest.fixture
def devices():
    found = jax.devices("kashi")
    assert len(found) == 8
    return np.array(found)
