"""Programs of one device: their results are those of JAX's own backend."""
import functools

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax


def test_backend_is_the_default():
    assert jax.default_backend() == "cpu"
    assert jnp.zeros(3).devices() == {jax.devices("kashi")[0]}
    assert jax.devices("kashi")[0] != jax.devices("cpu")[0]
    assert "Kashi" in jax.devices("kashi")[0].client.platform_version


def _mlp(params, x):
    for w, b in params[:-1]:
        x = jnp.tanh(x @ w + b)
    w, b = params[-1]
    return x @ w + b


def _mlp_params(sizes, key=0):
    keys = jax.random.split(jax.random.key(key), len(sizes))
    return [(jax.random.normal(k, (m, n)) / np.sqrt(m), jnp.zeros(n)) for k, m, n in zip(keys, sizes[:-1], sizes[1:])]


def test_training_of_a_network(both):
    def train(x, y):
        def loss(params):
            return jnp.mean((_mlp(params, x) - y) ** 2)

        def step(params, _):
            value, gradients = jax.value_and_grad(loss)(params)
            return jax.tree.map(lambda p, g: p - 0.1 * g, params, gradients), value

        return lax.scan(step, _mlp_params([3, 16, 16, 1]), length=50)

    x = np.random.RandomState(0).randn(64, 3).astype(np.float32)
    both(train, x, np.sin(x.sum(1, keepdims=True)), tolerance=1e-3)


def test_convolutional_network_and_its_gradient(both):
    def loss(kernels, images):
        x = images
        for kernel in kernels:
            x = jax.nn.relu(lax.conv_general_dilated(x, kernel, (2, 2), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC")))
        return jnp.mean(lax.reduce_window(x, -jnp.inf, lax.max, (1, 2, 2, 1), (1, 2, 2, 1), "VALID") ** 2)

    rng = np.random.RandomState(0)
    kernels = [rng.randn(3, 3, 3, 8).astype(np.float32), rng.randn(3, 3, 8, 8).astype(np.float32)]
    both(jax.value_and_grad(loss), kernels, rng.randn(4, 16, 16, 3).astype(np.float32), tolerance=1e-3)


def test_attention(both):
    def attend(q, k, v):
        scores = jnp.einsum("bqhd,bkhd->bhqk", q, k) / jnp.sqrt(q.shape[-1])
        scores = jnp.where(jnp.tril(jnp.ones(scores.shape[-2:], bool)), scores, -jnp.inf)
        return jnp.einsum("bhqk,bkhd->bqhd", jax.nn.softmax(scores), v)

    rng = np.random.RandomState(0)
    both(attend, *(rng.randn(2, 10, 4, 8).astype(np.float32) for _ in range(3)), tolerance=1e-5)


@pytest.mark.parametrize("dtype", ["float32", "bfloat16", "float16", "int32", "uint8", "bool", "complex64", "float8_e4m3fn", "int4"])
def test_types(both, dtype):
    rng = np.random.RandomState(0)
    x = jnp.asarray(rng.randint(0, 5, (5, 7)), dtype) if dtype != "complex64" else rng.randn(5, 7).astype(dtype)

    def program(x):
        wide = x.astype(jnp.complex64 if dtype == "complex64" else jnp.float32)
        return x, x[::-1, 1:3], jnp.concatenate([x, x], 1), wide * 2, x.T, jnp.where(wide.real > 1, x, jnp.zeros_like(x))

    both(program, x)


def test_x64(both, x64):
    x = np.random.RandomState(0).randn(20)
    both(lambda x: (jnp.sin(x).sum(), jnp.cumsum(x), x.astype(jnp.int64), jnp.arange(5), x.astype(jnp.complex128) ** 2), x)


def test_numpy_functions(both):
    x = np.random.RandomState(1).randn(6, 5).astype(np.float32)

    def program(x):
        return (jnp.sort(x, 1), jnp.argsort(x, 0), jnp.median(x), jnp.percentile(x, 30), jnp.cumsum(x, 1), jnp.var(x, 0),
                jnp.linalg.norm(x), jnp.histogram(x, 5)[0], jnp.searchsorted(jnp.sort(x[:, 0]), x[:, 1]), jnp.roll(x, 2, 1),
                jnp.interp(x[0], jnp.arange(5.), x[1]), jnp.take_along_axis(x, jnp.argmax(x, 1)[:, None], 1), jnp.unique(
                    x.astype(int), size=4), jnp.convolve(x[0], x[1]), jnp.clip(x, -1, 1), jnp.round(x, 1), jnp.nan_to_num(x / 0))

    both(program, x, tolerance=1e-5)


@pytest.mark.parametrize("name", ["cholesky", "qr", "svd", "eigh", "inv", "det", "slogdet", "pinv", "eigvals", "matrix_rank"])
def test_linear_algebra(both, name):
    rng = np.random.RandomState(0)
    a = rng.randn(3, 6, 6).astype(np.float32)
    if name in ("cholesky", "eigh"):
        a = a @ a.transpose(0, 2, 1) + 6 * np.eye(6, dtype=np.float32)

    def program(a):
        result = getattr(jnp.linalg, name)(a)
        if name == "eigvals":
            return jnp.sort(jnp.abs(result), -1)
        if name in ("qr", "svd", "eigh"):  # vectors have any sign
            return jax.tree.map(jnp.abs, tuple(result))
        return result

    both(program, a, tolerance=1e-3)


def test_solvers(both):
    rng = np.random.RandomState(0)
    a, b = rng.randn(5, 5).astype(np.float32) + 5 * np.eye(5, dtype=np.float32), rng.randn(5, 2).astype(np.float32)
    both(lambda a, b: (jnp.linalg.solve(a, b), jnp.linalg.lstsq(a, b)[0], jax.scipy.linalg.solve_triangular(a, b),
                       jax.scipy.linalg.expm(a / 5), jax.scipy.linalg.lu(a)), a, b, tolerance=1e-3)


def test_fft(both):
    x = np.random.RandomState(0).randn(4, 12).astype(np.float32)
    both(lambda x: (jnp.fft.fft(x), jnp.fft.rfft2(x), jnp.fft.irfft(jnp.fft.rfft(x)), jnp.fft.fftshift(x)), x, tolerance=1e-4)


@pytest.mark.parametrize("name, arguments", [("normal", ()), ("uniform", ()), ("gamma", (2.0,)), ("beta", (2.0, 3.0)), ("poisson", (4.0,)),
                                             ("exponential", ()), ("categorical", (np.log(np.float32([.2, .3, .5])),)),
                                             ("gumbel", ()), ("bernoulli", (0.3,)), ("truncated_normal", (-1.0, 1.0))])
def test_random(both, name, arguments):
    both(lambda: getattr(jax.random, name)(jax.random.key(7), *arguments, shape=(100,)), tolerance=1e-5)


def test_random_keys(both):
    def program(seed):
        key = jax.random.key(seed)
        first, second = jax.random.split(key)
        return first, jax.random.fold_in(second, 3), jax.random.permutation(first, 20), jax.random.bits(second, (3,))

    both(program, np.int32(5))


def test_special_functions(both):
    x = np.float32(np.linspace(0.1, 5, 50))
    both(lambda x: (jax.scipy.special.gammaln(x), jax.scipy.special.erf(x), jax.scipy.special.digamma(x), jax.nn.gelu(x),
                    jax.scipy.special.i0e(x), jax.nn.logsumexp(x), jax.scipy.stats.norm.logpdf(x)), x, tolerance=1e-4)


def test_while_in_vmap(both):
    def collatz(n):
        def step(state):
            n, count = state
            return jnp.where(n % 2 == 0, n // 2, 3 * n + 1), count + 1

        return lax.while_loop(lambda state: state[0] != 1, step, (n, 0))[1]

    both(jax.vmap(collatz), np.arange(1, 30))


def test_conditions(both):
    def program(x):
        y = lax.cond(x.sum() > 0, jnp.sin, jnp.cos, x)
        return y, lax.switch(jnp.int32(x[0] * 3) % 3, [jnp.sin, jnp.cos, jnp.tan], y), jnp.piecewise(x, [x < 0, x > 1], [0., 1., lambda x: x])

    both(program, np.float32([0.4, -1.0, 2.0]))
    both(jax.vmap(jax.grad(lambda x: lax.cond(x > 0, jnp.exp, lambda x: x ** 3, x))), np.float32([-1, 2, 3]))


def test_scans(both):
    x = np.random.RandomState(0).randn(30, 4).astype(np.float32)
    both(lambda x: (lax.scan(lambda c, v: (c * 0.5 + v, c.sum()), jnp.zeros(4), x), lax.associative_scan(jnp.multiply, x),
                    lax.fori_loop(0, 5, lambda i, c: c.at[i].set(c[i - 1] + 1), x), lax.map(jnp.sum, x)), x, tolerance=1e-5)


def test_gradients(both):
    def f(x):
        return jnp.sum(jnp.sin(x) * jnp.exp(-x ** 2)) + jnp.prod(x[:3])

    x = np.float32(np.linspace(-1, 1, 6))
    both(lambda x: (jax.grad(f)(x), jax.hessian(f)(x), jax.jacfwd(jnp.cumsum)(x), jax.jvp(f, (x,), (x,)), jax.checkpoint(jax.grad(f))(x)), x,
         tolerance=1e-4)


def test_custom_derivatives(both):
    @jax.custom_vjp
    def clipped(x):
        return x * 2

    clipped.defvjp(lambda x: (x * 2, x), lambda x, g: (jnp.clip(g * x, -1, 1),))

    @jax.custom_jvp
    def log1pexp(x):
        return jnp.log1p(jnp.exp(x))

    log1pexp.defjvp(lambda primals, tangents: (log1pexp(*primals), jax.nn.sigmoid(primals[0]) * tangents[0]))
    x = np.float32([-2, 0.5, 3])
    both(lambda x: (jax.grad(lambda x: clipped(x).sum())(x), jax.grad(lambda x: log1pexp(x).sum())(x)), x)


def test_gather_and_scatter(both):
    rng = np.random.RandomState(0)
    x, i = rng.randn(10, 4).astype(np.float32), rng.randint(0, 10, 20)
    both(lambda x, i: (x[i], x.at[i].add(1.0), x.at[i, 1].max(0.0), x.at[::2].multiply(3), jax.ops.segment_sum(x[i], i, 10),
                       lax.dynamic_slice(x, (i[0], 1), (2, 2)), lax.dynamic_update_slice(x, x[:2, :2], (i[1], i[2])),
                       x.at[i[0]].get(mode="fill", fill_value=7.0), lax.top_k(x, 2)), x, i, tolerance=1e-5)


def test_ode(both):
    from jax.experimental.ode import odeint
    both(lambda y, t: odeint(lambda y, t: jnp.stack([y[1], -jnp.sin(y[0])]), y, t), np.float32([1, 0]), np.float32(np.linspace(0, 3, 7)),
         tolerance=1e-4)


def test_n_body(both):
    def step(state, _):
        x, v = state
        d = x[:, None] - x[None]
        force = -(d / ((d ** 2).sum(-1, keepdims=True) + 0.1) ** 1.5).sum(1)
        v = v + 0.01 * force
        return (x + 0.01 * v, v), None

    rng = np.random.RandomState(0)
    both(lambda x, v: lax.scan(step, (x, v), length=100)[0], rng.randn(8, 3).astype(np.float32), rng.randn(8, 3).astype(np.float32), tolerance=1e-3)


def test_minimize(both):
    from jax.scipy.optimize import minimize

    def rosenbrock(x):
        return jnp.sum(100 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2)

    both(lambda x: minimize(rosenbrock, x, method="BFGS", options={"maxiter": 20}).fun < 1.0, np.float32([0.5, 0.5]))


def test_kalman_filter(both):
    def run(observed):
        a, q, r = jnp.float32([[1, 0.1], [0, 1]]), 0.01 * jnp.eye(2), 0.1

        def step(state, z):
            mean, cov = a @ state[0], a @ state[1] @ a.T + q
            gain = cov[:, 0] / (cov[0, 0] + r)
            mean, cov = mean + gain * (z - mean[0]), cov - jnp.outer(gain, cov[0])
            return (mean, cov), mean

        return lax.scan(step, (jnp.zeros(2), jnp.eye(2)), observed)

    both(run, np.float32(np.sin(np.arange(40) / 5)), tolerance=1e-5)


def test_metropolis(both):
    def sample(key):
        def step(x, key):
            proposal, accept = jax.random.split(key)
            y = x + jax.random.normal(proposal)
            x = jnp.where(jnp.log(jax.random.uniform(accept)) < (x ** 2 - y ** 2) / 2, y, x)
            return x, x

        return lax.scan(step, 0.0, jax.random.split(key, 200))[1]

    both(lambda: jax.vmap(sample)(jax.random.split(jax.random.key(0), 4)), tolerance=1e-5)


def test_sparse(both):
    from jax.experimental import sparse
    x = np.float32(np.eye(5) * [1, 0, 2, 0, 3])
    both(lambda v: sparse.BCOO.fromdense(x, nse=3) @ v, np.float32(np.arange(5)))


def test_images(both):
    x = np.random.RandomState(0).rand(8, 8, 3).astype(np.float32)
    both(lambda x: (jax.image.resize(x, (5, 11, 3), "bilinear"), jax.image.resize(x, (4, 4, 3), "nearest")), x, tolerance=1e-5)


def test_checkify():
    from jax.experimental import checkify
    error, _ = jax.jit(checkify.checkify(lambda x: (checkify.check(x > 0, "negative: {}", x), jnp.sqrt(x))[1]))(-1.0)
    with pytest.raises(checkify.JaxRuntimeError, match="negative: -1"):
        error.throw()


def test_debug_nans():
    with jax.debug_nans(True), pytest.raises(FloatingPointError):
        jax.jit(lambda x: jnp.log(x))(-1.0).block_until_ready()


def test_empty_and_scalar_shapes(both):
    both(lambda x: (x, x + 1, x.sum(), jnp.concatenate([x, x]), jnp.zeros((0, 3)) @ jnp.ones((3, 2)), x.reshape(3, 0)), np.zeros((0, 3), np.float32))
    both(lambda x: (x, x * 2, x[None], jnp.broadcast_to(x, (2, 3))), np.float32(3))


def test_large_results_of_partial_programs(both):
    both(functools.partial(lambda n, x: jnp.outer(x, x)[:n] @ jnp.outer(x, x)[:, :n], 50), np.float32(np.linspace(0, 1, 300)), tolerance=1e-4)
