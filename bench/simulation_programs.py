"""Programs of many operations on small arrays, as people who simulate write them in JAX, for bench/simulations.py.

    PROGRAMS[name]() -> (function, arguments)

Each call makes the function anew, so that nothing is compiled yet. A library from PyPI is only imported by the programs
that use it: bench/requirements-simulations.txt lists them all.
"""
import functools

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

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


# ---- Differential equations ------------------------------------------------------------------------------------------

def species(n, seed=0):
    """A generalised Lotka-Volterra field of n species, and where it starts."""
    rng = np.random.default_rng(seed)
    growth = rng.uniform(0.5, 1.5, n).astype(np.float32)
    matrix = (-np.eye(n) + 0.1 * rng.standard_normal((n, n))).astype(np.float32)
    return growth, matrix, rng.uniform(0.5, 1.5, n).astype(np.float32)


def lotka_volterra_rk4():
    growth, matrix, start = species(10)

    def field(y, growth):
        return y * (growth + matrix @ y)

    def solve(start, growth):
        def step(y, _):
            h = 0.02
            k1 = field(y, growth)
            k2 = field(y + h / 2 * k1, growth)
            k3 = field(y + h / 2 * k2, growth)
            k4 = field(y + h * k3, growth)
            return y + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4), None
        return lax.scan(step, start, None, length=500)[0]
    return solve, (start, growth)


variants("rk4_10_species", lotka_volterra_rk4, loss=lambda y: y, many=256)


def diffrax_solve(solver, n, controller=True, steps=4096, end=10.0):
    import diffrax
    growth, matrix, start = species(n)

    def field(t, y, args):
        return y * (args + matrix @ y)

    def solve(start, growth):
        step_size = diffrax.PIDController(rtol=1e-4, atol=1e-6) if controller else diffrax.ConstantStepSize()
        return diffrax.diffeqsolve(diffrax.ODETerm(field), getattr(diffrax, solver)(), t0=0.0, t1=end, dt0=0.01, y0=start, args=growth,
                                   stepsize_controller=step_size, max_steps=steps).ys[-1]
    return solve, (start, growth)


variants("tsit5_10_species", lambda: diffrax_solve("Tsit5", 10), loss=lambda y: y, many=256)
variants("tsit5_2_species", lambda: diffrax_solve("Tsit5", 2), loss=lambda y: y)
variants("dopri8_10_species", lambda: diffrax_solve("Dopri8", 10))
variants("kvaerno5_10_species", lambda: diffrax_solve("Kvaerno5", 10, end=5.0), loss=lambda y: y)


@program
def heun_sde():
    """Geometric Brownian motions, Euler-Maruyama and Heun by hand."""
    def simulate(key, volatility):
        def step(x, key):
            noise = jax.random.normal(key, x.shape) * 0.1
            drift = lambda x: 0.05 * x
            guess = x + drift(x) * 0.01 + volatility * x * noise
            return x + 0.5 * (drift(x) + drift(guess)) * 0.01 + 0.5 * volatility * (x + guess) * noise, x.mean()
        return lax.scan(step, jnp.ones(16), jax.random.split(key, 1000))
    return simulate, (jax.random.PRNGKey(0), np.float32(0.2))


def hodgkin_huxley():
    def simulate(current, v):
        def rates(v):
            am = 0.1 * (v + 40) / (1 - jnp.exp(-(v + 40) / 10))
            bm = 4 * jnp.exp(-(v + 65) / 18)
            ah = 0.07 * jnp.exp(-(v + 65) / 20)
            bh = 1 / (1 + jnp.exp(-(v + 35) / 10))
            an = 0.01 * (v + 55) / (1 - jnp.exp(-(v + 55) / 10))
            bn = 0.125 * jnp.exp(-(v + 65) / 80)
            return am, bm, ah, bh, an, bn

        def step(state, _):
            v, m, h, n = state
            am, bm, ah, bh, an, bn = rates(v)
            flow = current - 120 * m**3 * h * (v - 50) - 36 * n**4 * (v + 77) - 0.3 * (v + 54.4)
            dt = 0.01
            return (v + dt * flow, m + dt * (am * (1 - m) - bm * m), h + dt * (ah * (1 - h) - bh * h), n + dt * (an * (1 - n) - bn * n)), v
        zero = jnp.zeros_like(v)
        return lax.scan(step, (v, zero + 0.05, zero + 0.6, zero + 0.32), None, length=5000)[1]
    return simulate, (np.float32(10), np.full(8, -65.5, np.float32))


variants("hodgkin_huxley", hodgkin_huxley, loss=lambda v: v * 1e-3)


def kepler_leapfrog():
    """Orbits: Kepler's equation by Newton, and a kick-drift-kick integrator of two planets."""
    def eccentric(mean, e):
        return lax.fori_loop(0, 8, lambda _, x: x - (x - e * jnp.sin(x) - mean) / (1 - e * jnp.cos(x)), mean)

    def simulate(masses, e):
        position = jnp.array([[1.0, 0.0], [0.0, 1.7]])
        velocity = jnp.array([[0.0, 1.0], [-0.75, 0.0]])

        def pull(x):
            r = jnp.sqrt(jnp.sum(x * x, -1, keepdims=True))
            d = x[0] - x[1]
            mutual = d / (jnp.sum(d * d) + 1e-3)**1.5
            return -x / r**3 + jnp.stack([-masses[1] * mutual, masses[0] * mutual])

        def step(state, i):
            x, v = state
            v = v + 0.005 * pull(x)
            x = x + 0.01 * v
            v = v + 0.005 * pull(x)
            phase = eccentric(0.01 * i, e)
            return (x, v), jnp.cos(phase) + x[0, 0]
        return lax.scan(step, (position, velocity), jnp.arange(1000.0))[1]
    return simulate, (np.array([1e-3, 5e-4], np.float32), np.float32(0.3))


variants("kepler_leapfrog", kepler_leapfrog, loss=lambda y: y)


@program
def n_body():
    def simulate(x, v):
        def step(state, _):
            x, v = state
            d = x[:, None] - x[None]
            a = -(d / (jnp.sum(d * d, -1, keepdims=True) + 0.01)**1.5).sum(1) / 64
            return (x + 0.01 * v, v + 0.01 * a), None
        return lax.scan(step, (x, v), None, length=200)[0]
    return simulate, (numbers(64, 3), numbers(64, 3, seed=1) * 0.1)


@program
def double_pendulum():
    def simulate(state):
        def field(s):
            a, b, p, q = s
            d = a - b
            den = 3 - jnp.cos(2 * d)
            return jnp.stack([p, q, (-3 * 9.81 * jnp.sin(a) - 9.81 * jnp.sin(a - 2 * b) - 2 * jnp.sin(d) * (q * q + p * p * jnp.cos(d))) / den,
                              (2 * jnp.sin(d) * (2 * p * p + 2 * 9.81 * jnp.cos(a) + q * q * jnp.cos(d))) / den])

        def step(s, _):
            k1 = field(s)
            k2 = field(s + 0.005 * k1)
            return s + 0.01 * k2, s
        return lax.scan(step, state, None, length=2000)[1]
    return simulate, (np.array([2.0, 1.0, 0.0, 0.0], np.float32),)


@program
def spring_chain():
    """A chain of masses with fixed ends: Verlet, neighbours by slices."""
    def simulate(x, v):
        def step(state, _):
            x, v = state
            padded = jnp.pad(x, 1)
            f = padded[2:] - 2 * x + padded[:-2] - 0.1 * x**3
            v = v + 0.05 * f
            return (x + 0.05 * v, v), 0.5 * jnp.sum(v * v)
        return lax.scan(step, (x, v), None, length=2000)
    return simulate, (numbers(64), np.zeros(64, np.float32))


@program
def heat_equation():
    def simulate(u):
        return lax.fori_loop(0, 1000, lambda _, u: u + 0.1 * (jnp.roll(u, 1, 0) + jnp.roll(u, -1, 0) + jnp.roll(u, 1, 1) + jnp.roll(u, -1, 1) - 4 * u), u)
    return simulate, (numbers(32, 32),)


@program
def rigid_body():
    """Quaternions and a torque-free top."""
    def simulate(q, w):
        inertia = jnp.array([1.0, 2.0, 3.0])

        def step(state, _):
            q, w = state
            a, b, c, d = q
            dw = -jnp.cross(w, inertia * w) / inertia
            x, y, z = w
            dq = 0.5 * jnp.stack([-b * x - c * y - d * z, a * x + c * z - d * y, a * y - b * z + d * x, a * z + b * y - c * x])
            q = q + 0.01 * dq
            return (q / jnp.linalg.norm(q), w + 0.01 * dw), q
        return lax.scan(step, (q, w), None, length=2000)[1]
    return simulate, (np.array([1, 0, 0, 0], np.float32), np.array([0.1, 2, 0.1], np.float32))


# ---- Physics engines -------------------------------------------------------------------------------------------------

CARTPOLE = """<mujoco><option timestep="0.01"/><worldbody><body name="cart"><joint name="slide" type="slide" axis="1 0 0"/>
<geom type="box" size=".2 .1 .1" mass="1"/><body pos="0 0 .1"><joint type="hinge" axis="0 1 0"/>
<geom type="capsule" fromto="0 0 0 0 0 .6" size=".04" mass=".2"/></body></body></worldbody>
<actuator><motor joint="slide" gear="10"/></actuator></mujoco>"""
BALL_AND_BOX = """<mujoco><worldbody><geom type="plane" size="5 5 .1"/><body pos="0 0 1"><freejoint/><geom type="sphere" size=".1"/></body>
<body pos=".5 0 1"><freejoint/><geom type="box" size=".1 .1 .1"/></body></worldbody></mujoco>"""


def mjx_steps(xml, steps, many=None):
    import mujoco
    from mujoco import mjx
    model = mujoco.MjModel.from_xml_string(xml)
    data = mujoco.MjData(model)
    on_device, state = mjx.put_model(model), mjx.put_data(model, data)

    def advance(qpos, qvel):
        d = state.replace(qpos=qpos, qvel=qvel)
        if steps == 1:
            d = mjx.step(on_device, d)
        else:
            d = lax.fori_loop(0, steps, lambda _, d: mjx.step(on_device, d), d)
        return d.qpos, d.qvel
    qpos, qvel = np.asarray(data.qpos, np.float32), np.full(model.nv, 0.1, np.float32)
    if many is None:
        return advance, (qpos, qvel)
    return jax.vmap(advance), (np.tile(qpos, (many, 1)), np.tile(qvel, (many, 1)) * np.linspace(0, 1, many, dtype=np.float32)[:, None])


PROGRAMS["mjx_cartpole_step"] = lambda: mjx_steps(CARTPOLE, 1)
PROGRAMS["mjx_cartpole_100_steps"] = lambda: mjx_steps(CARTPOLE, 100)
PROGRAMS["mjx_cartpole_128_at_once"] = lambda: mjx_steps(CARTPOLE, 10, many=128)
PROGRAMS["mjx_ball_and_box_step"] = lambda: mjx_steps(BALL_AND_BOX, 1)
PROGRAMS["mjx_ball_and_box_100_steps"] = lambda: mjx_steps(BALL_AND_BOX, 100)


@program
def brax_steps():
    from brax import envs
    environment = envs.get_environment("inverted_pendulum", backend="generalized")
    state = jax.jit(environment.reset)(jax.random.PRNGKey(0))

    def advance(q, qd, action):
        s = state.replace(pipeline_state=state.pipeline_state.replace(q=q, qd=qd))
        s = lax.fori_loop(0, 20, lambda _, s: environment.step(s, action), s)
        return s.pipeline_state.q, s.reward
    return advance, (np.asarray(state.pipeline_state.q), np.asarray(state.pipeline_state.qd), np.zeros(environment.action_size, np.float32))


@program
def cartpole_environment():
    """A reinforcement learning environment in plain JAX: 64 at once, resets by where."""
    def simulate(state, policy):
        def step(carry, key):
            s, total = carry
            x, xd, a, ad = s.T
            force = jnp.where(s @ policy > 0, 10.0, -10.0)
            temporary = (force + 0.05 * ad**2 * jnp.sin(a)) / 1.1
            acc = (9.8 * jnp.sin(a) - jnp.cos(a) * temporary) / (0.5 * (4 / 3 - 0.1 * jnp.cos(a)**2 / 1.1))
            xacc = temporary - 0.05 * acc * jnp.cos(a) / 1.1
            new = jnp.stack([x + 0.02 * xd, xd + 0.02 * xacc, a + 0.02 * ad, ad + 0.02 * acc], 1)
            done = (jnp.abs(new[:, 0]) > 2.4) | (jnp.abs(new[:, 2]) > 0.2)
            fresh = jax.random.uniform(key, new.shape, minval=-0.05, maxval=0.05)
            return (jnp.where(done[:, None], fresh, new), total + 1 - done), done.sum()
        return lax.scan(step, (state, jnp.zeros(64)), jax.random.split(jax.random.PRNGKey(0), 500))
    return simulate, (numbers(64, 4) * 0.05, numbers(4))


# ---- Sampling --------------------------------------------------------------------------------------------------------

def logistic_data():
    rng = np.random.default_rng(0)
    x = rng.standard_normal((100, 5)).astype(np.float32)
    return x, (x @ np.arange(5) + rng.standard_normal(100) > 0).astype(np.float32)


def log_density(x, y):
    return lambda w: -jnp.sum(jnp.logaddexp(0.0, (1 - 2 * y) * (x @ w))) - 0.5 * jnp.sum(w * w)


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
    solver = jaxopt.LBFGS(lambda w: -log_density(x, y)(w), maxiter=20, jit=False, unroll=False)
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
