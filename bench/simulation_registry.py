"""Where the programs of bench/simulations.py are registered: many operations on small arrays, as people write them in JAX.

    PROGRAMS[name]() -> (function, arguments)

Each call makes the function anew, so that nothing is compiled yet. A library from PyPI is only imported by the programs
that use it: bench/requirements-simulations.txt lists them all.
"""
import jax
import jax.numpy as jnp
import numpy as np

PROGRAMS = {}


def program(make):
    """Registers a function that makes (function, arguments)."""
    PROGRAMS[make.__name__] = make
    return make


def variants(name, make, loss=None, many=None):
    """Registers name, name_grad (of the sum of what loss picks of the result), and name_many (vmap over copies)."""
    def register(suffix, change):
        def made():
            function, arguments = make()
            return change(function, arguments)
        made.__name__ = name + suffix
        PROGRAMS[name + suffix] = made

    def gradient(function, arguments):
        return jax.grad(lambda *xs: jnp.sum((loss or (lambda y: y))(function(*xs)))), arguments

    def copies(function, arguments):
        rng = np.random.default_rng(1)
        stacked = tuple(np.asarray(x)[None] * (1 + 0.01 * rng.standard_normal((many,) + (1,) * np.ndim(x))) for x in arguments)
        return jax.vmap(function), tuple(x.astype(np.asarray(y).dtype) for x, y in zip(stacked, arguments))

    register("", lambda function, arguments: (function, arguments))
    if loss is not None:
        register("_grad", gradient)
    if many is not None:
        register("_many", copies)


def numbers(*sizes, seed=0):
    return np.random.default_rng(seed).standard_normal(sizes).astype(np.float32)


def spd(*sizes, seed=0):
    """Symmetric positive definite matrices."""
    a = numbers(*sizes, sizes[-1], seed=seed)
    return a @ np.swapaxes(a, -1, -2) + sizes[-1] * np.eye(sizes[-1], dtype=np.float32)


def logistic_data():
    rng = np.random.default_rng(0)
    x = rng.standard_normal((100, 5)).astype(np.float32)
    return x, (x @ np.arange(5) + rng.standard_normal(100) > 0).astype(np.float32)


def log_density(x, y):
    return lambda w: -jnp.sum(jnp.logaddexp(0.0, (1 - 2 * y) * (x @ w))) - 0.5 * jnp.sum(w * w)
