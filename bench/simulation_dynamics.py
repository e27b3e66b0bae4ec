"""Differential equations, orbits and physics engines, for bench/simulations.py."""
import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from simulation_registry import PROGRAMS, program, variants, numbers

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
