"""Optimisation, small networks, plain loops and larger arrays, for bench/simulations.py."""
import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from simulation_registry import log_density, logistic_data, program, variants, numbers, spd

# ---- Optimisation and learning ---------------------------------------------------------------------------------------

@program
def logistic_regression():
    x, y = logistic_data()
    gradient = jax.grad(lambda w: -log_density(x, y)(w))
    return (lambda w: lax.fori_loop(0, 1000, lambda _, w: w - 0.01 * gradient(w), w)), (np.zeros(5, np.float32),)


@program
def power_iteration():
    return (lambda a, v: lax.fori_loop(0, 500, lambda _, v: (lambda w: w / jnp.linalg.norm(w))(a @ v), v)), (spd(64), numbers(64))


@program
def optax_adam_rosenbrock():
    import optax
    optimiser = optax.adam(1e-2)
    gradient = jax.grad(lambda x: jnp.sum(100 * (x[1:] - x[:-1]**2)**2 + (1 - x[:-1])**2))

    def run(x):
        def step(state, _):
            x, s = state
            updates, s = optimiser.update(gradient(x), s)
            return (optax.apply_updates(x, updates), s), None
        return lax.scan(step, (x, optimiser.init(x)), None, length=1000)[0][0]
    return run, (np.zeros(8, np.float32),)


@program
def optimistix_newton():
    import optimistix
    start, goal = numbers(6), numbers(6, seed=1)

    def run(x, goal):
        return optimistix.root_find(lambda x, _: x + 0.3 * jnp.sin(x.sum() * x) - goal, optimistix.Newton(1e-5, 1e-5), x, max_steps=64,
                                    throw=False).value
    return run, (start, goal)


@program
def optimistix_levenberg_marquardt():
    import optimistix
    t = np.linspace(0, 1, 20, dtype=np.float32)
    y = np.exp(-2 * t) * 1.5

    def run(p):
        return optimistix.least_squares(lambda p, _: p[0] * jnp.exp(-p[1] * t) - y, optimistix.LevenbergMarquardt(1e-5, 1e-5), p,
                                        max_steps=64, throw=False).value
    return run, (np.ones(2, np.float32),)


@program
def jaxopt_lbfgs():
    import jaxopt
    x, y = logistic_data()
    solver = jaxopt.LBFGS(lambda w: -log_density(x, y)(w), maxiter=20)
    return (lambda w: solver.run(w).params), (np.zeros(5, np.float32),)


def lstm():
    from flax import linen as nn
    model = nn.RNN(nn.OptimizedLSTMCell(32))
    x = numbers(4, 50, 16)
    leaves, form = jax.tree.flatten(model.init(jax.random.PRNGKey(0), x))

    def run(x, *leaves):
        return model.apply(jax.tree.unflatten(form, leaves), x)
    return run, (x, *[np.asarray(leaf) for leaf in leaves])


variants("flax_lstm", lstm, loss=lambda y: y)


def gru_equinox():
    import equinox as eqx
    cell = eqx.nn.GRUCell(8, 16, key=jax.random.PRNGKey(0))
    arrays, rest = eqx.partition(cell, eqx.is_array)
    leaves, form = jax.tree.flatten(arrays)

    def run(x, *leaves):
        cell = eqx.combine(jax.tree.unflatten(form, leaves), rest)
        return lax.scan(lambda h, x: (cell(x, h), None), jnp.zeros(16), x)[0]
    return run, (numbers(100, 8), *[np.asarray(leaf) for leaf in leaves])


variants("equinox_gru", gru_equinox, loss=lambda y: y)


@program
def small_network_training():
    """200 steps of a network of 2 layers on 32 examples."""
    x, y = numbers(32, 4), numbers(32, 1)

    def loss(p):
        h = jnp.tanh(x @ p[0] + p[1])
        return jnp.mean((h @ p[2] + p[3] - y)**2)

    def run(*p):
        return lax.fori_loop(0, 200, lambda _, p: jax.tree.map(lambda w, g: w - 0.05 * g, p, jax.grad(loss)(p)), p)
    return run, (numbers(4, 16), np.zeros(16, np.float32), numbers(16, 1), np.zeros(1, np.float32))


# ---- Plain loops and larger arrays -----------------------------------------------------------------------------------

@program
def scan_that_writes():
    return (lambda x: lax.scan(lambda c, x: (c * 0.9 + x, c * x), jnp.float32(0), x)[1]), (numbers(100000),)


@program
def garch():
    def run(p, r):
        def step(v, r):
            v = p[0] + p[1] * r * r + p[2] * v
            return v, jnp.log(v) + r * r / v
        return lax.scan(step, jnp.float32(1), r)[1].sum()
    return jax.value_and_grad(run), (np.array([0.1, 0.1, 0.8], np.float32), numbers(2000))


@program
def mandelbrot():
    y, x = np.mgrid[-1.5:1.5:800j, -2:1:800j].astype(np.float32)

    def run(x, y):
        c = x + 1j * y

        def step(_, state):
            z, n = state
            z = jnp.where(jnp.abs(z) < 2, z * z + c, z)
            return z, n + (jnp.abs(z) < 2)
        return lax.fori_loop(0, 200, step, (jnp.zeros_like(c), jnp.zeros(c.shape, jnp.int32)))[1]
    return run, (x, y)


@program
def game_of_life():
    def run(x):
        def step(_, x):
            near = sum(jnp.roll(x, (i, j), (0, 1)) for i in (-1, 0, 1) for j in (-1, 0, 1)) - x
            return ((near == 3) | ((near == 2) & (x == 1))).astype(jnp.int32)
        return lax.fori_loop(0, 200, step, x)
    return run, ((numbers(48, 48) > 0).astype(np.int32),)


@program
def scatter_add_1M():
    indices = np.random.default_rng(0).integers(0, 10000, 1000000).astype(np.int32)
    return (lambda x, i, y: x.at[i].add(y)), (np.zeros(10000, np.float32), indices, numbers(1000000))


@program
def histogram():
    return (lambda x: jnp.histogram(x, bins=100, range=(-4, 4))[0]), (numbers(1000000),)


@program
def transposed_convolution():
    return (lambda x, w: lax.conv_transpose(x, w, (8,), "SAME", dimension_numbers=("NWC", "WIO", "NWC"))), (numbers(1, 2048, 8), numbers(16, 8, 8))


@program
def black_scholes_paths():
    def run(key, s):
        def step(x, key):
            return x * jnp.exp(0.01 * jax.random.normal(key, x.shape)), None
        return jnp.maximum(lax.scan(step, jnp.full(1000, s), jax.random.split(key, 50))[0] - 1, 0).mean()
    return jax.value_and_grad(run, argnums=1), (jax.random.PRNGKey(0), np.float32(1))
