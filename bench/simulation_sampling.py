"""Chains of samples, filters, and small linear algebra, for bench/simulations.py."""
import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from simulation_registry import log_density, logistic_data, PROGRAMS, program, variants, numbers, spd

# ---- Sampling --------------------------------------------------------------------------------------------------------

def blackjax_chain(algorithm, steps, **settings):
    import blackjax
    kernel = getattr(blackjax, algorithm)(log_density(*logistic_data()), **settings)

    def sample(start, key):
        def step(state, key):
            state, _ = kernel.step(key, state)
            return state, state.position
        return lax.scan(step, kernel.init(start), jax.random.split(key, steps))[1]
    return sample, (np.zeros(5, np.float32), jax.random.PRNGKey(0))


MASS = np.ones(5, np.float32)
PROGRAMS["blackjax_nuts"] = lambda: blackjax_chain("nuts", 100, step_size=0.1, inverse_mass_matrix=MASS)
PROGRAMS["blackjax_hmc"] = lambda: blackjax_chain("hmc", 200, step_size=0.1, inverse_mass_matrix=MASS, num_integration_steps=20)


@program
def numpyro_nuts():
    import numpyro
    import numpyro.distributions as dist
    from numpyro.infer.hmc import hmc
    from numpyro.infer.util import initialize_model
    effects = np.array([28, 8, -3, 7, -1, 1, 18, 12], np.float32)
    errors = np.array([15, 10, 16, 11, 9, 11, 10, 18], np.float32)

    def model():
        mu = numpyro.sample("mu", dist.Normal(0, 5))
        tau = numpyro.sample("tau", dist.HalfCauchy(5))
        with numpyro.plate("schools", 8):
            theta = numpyro.sample("theta", dist.Normal(0, 1))
            numpyro.sample("y", dist.Normal(mu + tau * theta, errors), obs=effects)
    info = initialize_model(jax.random.PRNGKey(0), model)
    start, kernel = hmc(info.potential_fn, algo="NUTS")
    state = start(info.param_info, num_warmup=0, step_size=0.1, adapt_step_size=False, adapt_mass_matrix=False)
    leaves, form = jax.tree.flatten(state.z)

    def sample(*leaves):
        first = state._replace(z=jax.tree.unflatten(form, leaves))
        last, zs = lax.scan(lambda s, _: (lambda t: (t, t.z["mu"]))(kernel(s)), first, None, length=100)
        return zs, last.num_steps
    return sample, tuple(np.asarray(leaf) for leaf in leaves)


@program
def metropolis():
    """Random walk Metropolis in 2 dimensions."""
    def sample(start, key):
        def log_p(x):
            return -(1 - x[0])**2 / 4 - (x[1] - x[0]**2)**2

        def step(carry, key):
            x, p = carry
            a, b = jax.random.split(key)
            y = x + 0.5 * jax.random.normal(a, (2,))
            q = log_p(y)
            take = jnp.log(jax.random.uniform(b)) < q - p
            return (jnp.where(take, y, x), jnp.where(take, q, p)), x
        return lax.scan(step, (start, log_p(start)), jax.random.split(key, 2000))[1]
    return sample, (np.zeros(2, np.float32), jax.random.PRNGKey(0))


@program
def ising():
    """Checkerboard updates of a 16x16 magnet."""
    mask = (np.indices((16, 16)).sum(0) % 2).astype(bool)

    def simulate(spins, key):
        def step(spins, key):
            for half, k in zip((mask, ~mask), jax.random.split(key)):
                near = sum(jnp.roll(spins, s, a) for s in (1, -1) for a in (0, 1))
                flip = jax.random.uniform(k, spins.shape) < jnp.exp(-0.8 * spins * near)
                spins = jnp.where(flip & half, -spins, spins)
            return spins, spins.mean()
        return lax.scan(step, spins, jax.random.split(key, 500))[1]
    return simulate, (np.sign(numbers(16, 16)), jax.random.PRNGKey(0))


@program
def particle_filter():
    def run(observations, key):
        def step(x, inputs):
            y, key = inputs
            a, b = jax.random.split(key)
            x = 0.9 * x + jax.random.normal(a, x.shape)
            w = jax.nn.softmax(-0.5 * (y - x)**2)
            u = (jnp.arange(128) + jax.random.uniform(b)) / 128
            return x[jnp.clip(jnp.searchsorted(jnp.cumsum(w), u), 0, 127)], jnp.sum(w * x)
        return lax.scan(step, jnp.zeros(128), (observations, jax.random.split(key, 200)))[1]
    return run, (numbers(200), jax.random.PRNGKey(0))


# ---- Filters and control: small linear algebra -----------------------------------------------------------------------

def kalman():
    a = (np.eye(4) + 0.1 * np.eye(4, k=1)).astype(np.float32)
    c = np.eye(2, 4, dtype=np.float32)

    def run(observations, noise):
        def step(state, y):
            x, p = state
            x, p = a @ x, a @ p @ a.T + noise * jnp.eye(4)
            s = c @ p @ c.T + jnp.eye(2)
            gain = jnp.linalg.solve(s, c @ p).T
            r = y - c @ x
            like = -0.5 * (r @ jnp.linalg.solve(s, r) + jnp.linalg.slogdet(s)[1])
            return (x + gain @ r, (jnp.eye(4) - gain @ c) @ p), like
        return lax.scan(step, (jnp.zeros(4), jnp.eye(4)), observations)[1].sum()
    return run, (numbers(500, 2), np.float32(0.1))


variants("kalman_filter", kalman, loss=lambda y: y, many=64)


@program
def hmm_forward():
    def run(logits, observations):
        trans = jax.nn.log_softmax(logits)

        def step(alpha, y):
            alpha = jax.nn.logsumexp(alpha[:, None] + trans, axis=0) - 0.5 * (y - jnp.arange(8.0))**2
            return alpha, None
        return jax.nn.logsumexp(lax.scan(step, jnp.zeros(8), observations)[0])
    return jax.value_and_grad(run), (numbers(8, 8), np.abs(numbers(500)) * 4)


@program
def riccati():
    def run(a, b):
        q, r = jnp.eye(6), jnp.eye(2)

        def step(p, _):
            k = jnp.linalg.solve(r + b.T @ p @ b, b.T @ p @ a)
            return q + a.T @ p @ (a - b @ k), None
        return lax.scan(step, q, None, length=200)[0]
    return run, (np.eye(6, dtype=np.float32) + 0.1 * numbers(6, 6), numbers(6, 2))


@program
def gaussian_process():
    """The likelihood of 12 points, and its gradient, 50 steps of descent."""
    x, y = np.linspace(0, 1, 12, dtype=np.float32), numbers(12)

    def loss(p):
        k = jnp.exp(p[0]) * jnp.exp(-0.5 * (x[:, None] - x[None])**2 * jnp.exp(p[1])) + (jnp.exp(p[2]) + 1e-3) * jnp.eye(12)
        l = jnp.linalg.cholesky(k)
        z = jax.scipy.linalg.solve_triangular(l, y, lower=True)
        return 0.5 * z @ z + jnp.log(jnp.diag(l)).sum()
    return (lambda p: lax.fori_loop(0, 50, lambda _, p: p - 0.05 * jax.grad(loss)(p), p)), (np.zeros(3, np.float32),)


def loop_of(body, *arguments, steps=1000):
    return lambda: ((lambda *xs: lax.fori_loop(0, steps, lambda i, xs: body(i, *xs), xs)), arguments)


PROGRAMS["loop_stack_of_10_scalars"] = loop_of(
    lambda i, x: (jnp.stack([jnp.sin(x[k]) * 0.5 + x[(k + 3) % 10] for k in range(10)]),), numbers(10))
PROGRAMS["loop_solve_triangular_10x10"] = loop_of(
    lambda i, a, b: (a, jax.scipy.linalg.solve_triangular(a, b, lower=True) + 1), np.tril(spd(10)), numbers(10))
PROGRAMS["loop_cholesky_6x6"] = loop_of(lambda i, a: (jnp.linalg.cholesky(a) + 6 * jnp.eye(6),), spd(6))
PROGRAMS["loop_solve_10x10"] = loop_of(lambda i, a, b: (a, jnp.linalg.solve(a, b) + 1), spd(10), numbers(10))
PROGRAMS["loop_inverse_4x4"] = loop_of(lambda i, a: (jnp.linalg.inv(a) + 4 * jnp.eye(4),), spd(4))
PROGRAMS["loop_eigh_4x4"] = loop_of(lambda i, a: (a + 1e-3 * jnp.linalg.eigh(a)[1],), spd(4), steps=200)
PROGRAMS["loop_qr_5x5"] = loop_of(lambda i, a: (jnp.linalg.qr(a)[0] + 0.1 * a,), numbers(5, 5), steps=200)
PROGRAMS["loop_two_scatters"] = loop_of(
    lambda i, x, y: (x.at[i % 16].add(y[3]), y.at[jnp.array([1, 3, 5])].multiply(0.9)), numbers(16), numbers(16))
PROGRAMS["loop_dot_5x100"] = loop_of(lambda i, w, x: (w - 0.01 * x.T @ jnp.tanh(x @ w), x), numbers(5), numbers(100, 5))
PROGRAMS["loop_sort_16"] = loop_of(lambda i, x: (jnp.sort(x)[::-1] * 0.9 + jnp.sin(x),), numbers(16))
PROGRAMS["loop_of_scalars_1M"] = loop_of(lambda i, x: (x * 0.999 + jnp.sin(i.astype(jnp.float32)),), np.float32(0), steps=1000000)
PROGRAMS["loop_conditional"] = loop_of(
    lambda i, x: (lax.cond(x[0] > 0, lambda x: x * 0.5 - 1, lambda x: jnp.tanh(x) + 1, x),), numbers(8), steps=2000)


@program
def many_solves_3x3():
    return jnp.linalg.solve, (spd(86000, 3), numbers(86000, 3, 1))


@program
def many_solves_3x3_grad():
    return jax.grad(lambda a, b: jnp.linalg.solve(a, b).sum(), argnums=(0, 1)), (spd(86000, 3), numbers(86000, 3, 1))


@program
def many_choleskys_8x8():
    return jnp.linalg.cholesky, (spd(2000, 8),)
