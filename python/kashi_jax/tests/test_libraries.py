"""Programs that use the libraries of the field, unchanged. Those that are not installed are skipped."""
import jax
import jax.numpy as jnp
import numpy as np
import pytest


def _data(n=64):
    rng = np.random.RandomState(0)
    x = rng.randn(n, 4).astype(np.float32)
    return x, np.sin(x.sum(1, keepdims=True))


@pytest.mark.parametrize("name", ["adam", "adamw", "sgd", "lion", "rmsprop"])
def test_optax(both, name):
    optax = pytest.importorskip("optax")

    def train(x, y):
        optimizer = getattr(optax, name)(1e-2)
        params = {"a": jnp.full((4, 16), 0.1), "b": jnp.full((16, 1), 0.1)}

        def loss(params):
            return jnp.mean((jnp.tanh(x @ params["a"]) @ params["b"] - y) ** 2)

        def step(state, _):
            params, inner = state
            value, gradients = jax.value_and_grad(loss)(params)
            updates, inner = optimizer.update(gradients, inner, params)
            return (optax.apply_updates(params, updates), inner), value

        return jax.lax.scan(step, (params, optimizer.init(params)), length=30)[1]

    both(train, *_data(), tolerance=2e-3)


def test_flax(both):
    nn = pytest.importorskip("flax.linen")
    optax = pytest.importorskip("optax")

    class Model(nn.Module):
        @nn.compact
        def __call__(self, x):
            x = nn.relu(nn.Conv(8, (3, 3))(x))
            x = nn.LayerNorm()(nn.avg_pool(x, (2, 2), (2, 2)))
            return nn.Dense(10)(x.reshape(x.shape[0], -1))

    def train(images, labels):
        model = Model()
        params = model.init(jax.random.key(0), images)
        optimizer = optax.adam(1e-3)

        def loss(params):
            return optax.softmax_cross_entropy_with_integer_labels(model.apply(params, images), labels).mean()

        def step(state, _):
            params, inner = state
            value, gradients = jax.value_and_grad(loss)(params)
            updates, inner = optimizer.update(gradients, inner)
            return (optax.apply_updates(params, updates), inner), value

        return jax.lax.scan(step, (params, optimizer.init(params)), length=5)[1]

    rng = np.random.RandomState(0)
    both(train, rng.rand(8, 8, 8, 3).astype(np.float32), rng.randint(0, 10, 8), tolerance=5e-3)


def test_equinox(both):
    eqx = pytest.importorskip("equinox")

    def run(x):
        model = eqx.nn.MLP(4, 2, 8, 2, key=jax.random.key(0))
        loss = eqx.filter_value_and_grad(lambda model, x: jnp.sum(jax.vmap(model)(x) ** 2))
        value, gradients = loss(model, x)
        return value, jax.tree.leaves(eqx.filter(gradients, eqx.is_array))

    both(run, _data()[0], tolerance=1e-4)


def test_equinox_raises():
    eqx = pytest.importorskip("equinox")

    @eqx.filter_jit
    def root(x):
        return jnp.sqrt(eqx.error_if(x, x < 0, "must not be negative"))

    assert root(jnp.float32(4)) == 2
    with pytest.raises(Exception, match="must not be negative"):
        jax.block_until_ready(root(jnp.float32(-1)))


@pytest.mark.parametrize("solver", ["Tsit5", "Dopri5", "Kvaerno3"])
def test_diffrax(both, solver):
    diffrax = pytest.importorskip("diffrax")

    def solve(y):
        solution = diffrax.diffeqsolve(
            diffrax.ODETerm(lambda t, y, args: jnp.stack([y[0] - y[0] * y[1], y[0] * y[1] - y[1]])), getattr(diffrax, solver)(),
            t0=0, t1=3, dt0=0.1, y0=y, stepsize_controller=diffrax.PIDController(rtol=1e-4, atol=1e-5))
        return solution.ys

    both(solve, np.float32([1.0, 2.0]), tolerance=1e-3)


def test_blackjax(both):
    blackjax = pytest.importorskip("blackjax")

    def sample(key):
        kernel = blackjax.hmc(lambda x: -0.5 * jnp.sum(x ** 2), step_size=0.1, inverse_mass_matrix=jnp.ones(3), num_integration_steps=5)
        state = kernel.init(jnp.ones(3))
        return jax.lax.scan(lambda state, key: (kernel.step(key, state)[0], state.position), state, jax.random.split(key, 20))[1]

    both(lambda: sample(jax.random.key(0)), tolerance=1e-3)


def test_orbax(tmp_path):
    ocp = pytest.importorskip("orbax.checkpoint")
    tree = {"a": jnp.arange(6.0).reshape(2, 3), "b": [jnp.int32(3), jnp.ones(4, jnp.bfloat16)]}
    with ocp.StandardCheckpointer() as checkpointer:
        checkpointer.save(tmp_path / "tree", tree)
        checkpointer.wait_until_finished()
        restored = checkpointer.restore(tmp_path / "tree", tree)
    jax.tree.map(np.testing.assert_array_equal, restored, tree)
    assert restored["a"].devices() == {jax.devices("kashi")[0]}


def test_mjx(both):
    mujoco, mjx = pytest.importorskip("mujoco"), pytest.importorskip("mujoco.mjx")
    model = mujoco.MjModel.from_xml_string("""<mujoco><worldbody><body><joint name="hinge" type="hinge" axis="0 1 0"/>
        <geom type="capsule" size=".05" fromto="0 0 0 0 0 -.5"/></body></worldbody></mujoco>""")
    model.opt.iterations = 3

    def fall(angle):
        place = mjx.put_model(model)
        state = mjx.make_data(model).replace(qpos=jnp.array([angle]))
        return jax.lax.scan(lambda state, _: (mjx.step(place, state), state.qpos), state, length=10)[1]

    both(fall, np.float32(1.0), tolerance=1e-4)
