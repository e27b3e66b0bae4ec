"""Functions of jax.numpy, jax.lax, jax.nn, jax.scipy and jax.random: Kashi's values are those of jax.jit."""
import functools

import numpy as np
import pytest

jax = pytest.importorskip("jax")
import jax.numpy as jnp
from jax import lax

import kashi.jax

RANDOM = np.random.default_rng(3)
X = RANDOM.normal(size=7).astype(np.float32)
POSITIVE, PART = np.abs(X) + np.float32(.1), (RANDOM.random(7) * .9 + .05).astype(np.float32)
A, B = RANDOM.normal(size=(4, 5)).astype(np.float32), RANDOM.normal(size=(5, 3)).astype(np.float32)
SQUARE = (RANDOM.normal(size=(5, 5)) + 5 * np.eye(5)).astype(np.float32)
I, J = RANDOM.integers(-9, 9, 6).astype(np.int32), RANDOM.integers(1, 9, 6).astype(np.int32)


def named(package, names, *arguments):
    """The functions of these names, called with the same arguments in one program."""
    functions = [functools.reduce(getattr, name.split("."), package) for name in names.split()]
    return (lambda *a: [f(*a) for f in functions]), arguments


def scan_and_branch(x):
    total, parts = lax.scan(lambda c, y: (c * y + 1, c), 0., x)
    grown = lax.while_loop(lambda s: s[0] < 5, lambda s: (s[0] + 1, s[1] * 1.1), (0, x))
    return total, parts, grown, lax.cond(total > 0, jnp.sin, jnp.cos, x), lax.associative_scan(jnp.multiply, x)


def indexing(x, i):
    return (x.at[i % 7].add(1.), x.at[i % 7].max(.5), x.at[i + 5].get(mode="fill", fill_value=-1), x[i], jnp.unique(i, size=6),
            jnp.nonzero(x > 0, size=5), jnp.searchsorted(jnp.sort(x), x), lax.top_k(x, 3), jnp.percentile(x, 30), jnp.argsort(x))


def shuffles(a):
    return (jnp.roll(a, 2, 1), jnp.rot90(a), jnp.tile(a, (2, 3)), jnp.repeat(a, 3, 0), jnp.pad(a, ((1, 2), (3, 0)), mode="reflect"),
            jnp.split(a, [2, 3], 1), jnp.tril(a), jnp.kron(a, a), jnp.cov(a), jax.image.resize(a, (7, 3), "bicubic"),
            lax.reduce_window(a, -jnp.inf, lax.max, (2, 2), (1, 2), "SAME"))


def draws(key):
    one, two = jax.random.split(key)
    return (jax.random.normal(one, (5, )), jax.random.gamma(two, 2., (5, )), jax.random.poisson(one, 3., (5, )),
            jax.random.permutation(two, 9), jax.random.categorical(one, jnp.zeros(6), shape=(5, )), jax.random.bits(two, (5, )),
            jax.random.binomial(one, 10., .3, (5, )), jax.random.truncated_normal(two, -1, 1, (5, )))


CASES = {
    "unary": named(jnp, "abs arcsinh arctan cbrt ceil cos cosh exp exp2 expm1 floor rint sign sin sinc sinh square tan tanh trunc "
                        "cumsum cumprod sort median std var ptp argmax argmin max min prod sum i0 signbit isfinite fft.fft fft.rfft "
                        "linalg.norm diff gradient flip spacing nan_to_num frexp", X),
    "positive": named(jnp, "log log10 log1p log2 sqrt reciprocal arccosh", POSITIVE + 1),
    "part": named(jnp, "arccos arcsin arctanh", PART),
    "binary": named(jnp, "add subtract multiply divide power maximum arctan2 hypot logaddexp logaddexp2 fmod remainder copysign "
                         "nextafter heaviside floor_divide less equal isclose", POSITIVE, PART),
    "integers": named(jnp, "bitwise_and bitwise_or bitwise_xor left_shift right_shift gcd lcm floor_divide remainder divmod power", I, J),
    "nn": named(jax.nn, "relu relu6 sigmoid softplus silu log_sigmoid leaky_relu hard_tanh elu celu selu gelu softmax log_softmax "
                        "logsumexp standardize mish", X),
    "special": named(jax.scipy.special, "erf erfc erfinv gammaln digamma ndtri ndtr log_ndtr expit logit entr i0e i1 i1e exp1 expi", PART),
    "special of two": named(jax.scipy.special, "gammainc gammaincc xlogy rel_entr kl_div betaln poch", POSITIVE, PART),
    "linear algebra": named(jnp.linalg, "inv det slogdet pinv cond", SQUARE),
    "symmetric": named(jnp.linalg, "cholesky eigvalsh", SQUARE @ SQUARE.T),
    "products": (lambda a, b: (a @ b, jnp.einsum("ij,jk->ki", a, b), jnp.tensordot(a, b, 1), jnp.outer(a, b)), (A, B)),
    "control flow": (scan_and_branch, (X, )),
    "indexing": (indexing, (X, I)),
    "shuffles": (shuffles, (A, )),
    "random": (draws, (jax.random.key(5), )),
}


@pytest.mark.parametrize("name", CASES)
def test_functions(name):
    f, arguments = CASES[name]
    got, want = kashi.jax.jit(f)(*arguments), jax.jit(f)(*arguments)
    assert jax.tree_util.tree_structure(got) == jax.tree_util.tree_structure(want)
    for number, (g, w) in enumerate(zip(jax.tree_util.tree_leaves(got), jax.tree_util.tree_leaves(want))):
        assert jax.typeof(g) == jax.typeof(w)
        w = np.asarray(w)
        size = np.max(np.abs(w[np.isfinite(w)]), initial=1)
        np.testing.assert_allclose(np.asarray(g), w, rtol=2e-4, atol=2e-5 * size, err_msg=f"leaf {number}")
