"""Twenty small JAX programs, which XLA compiles: for scripts/plant_faults.py. Needs JAX.

    XLA_FLAGS="--xla_dump_to=out --xla_dump_hlo_pass_re=.* --xla_dump_hlo_as_proto" python scripts/dump_programs.py
"""
import jax
import jax.numpy as jnp
from jax import lax

PROGRAMS = []


def floats(*sizes):
    return jax.ShapeDtypeStruct(sizes, jnp.float32)


def integers(*sizes):
    return jax.ShapeDtypeStruct(sizes, jnp.int32)


def program(*arguments):
    def add(function):
        PROGRAMS.append((function, arguments))
        return function
    return add


@program(floats(16, 32), floats(32), floats(32, 8), floats(8), floats(4, 16), floats(4, 8))
def mlp_step(w1, b1, w2, b2, x, y):
    def loss(w1, b1, w2, b2):
        return jnp.mean((jnp.tanh(x @ w1 + b1) @ w2 + b2 - y)**2)
    gradients = jax.grad(loss, argnums=(0, 1, 2, 3))(w1, b1, w2, b2)
    return [p - 0.1 * g for p, g in zip((w1, b1, w2, b2), gradients)]


@program(floats(8, 8), floats(8, 8))
def attention(q, v):
    scores = jnp.where(jnp.tril(jnp.ones((8, 8))) > 0, q @ v.T / jnp.sqrt(8.0), -1e9)
    return jax.nn.softmax(scores, axis=-1) @ v


@program(floats(6, 10))
def slices_and_pads(x):
    padded = jnp.pad(x[1:5, 2:8], ((1, 2), (0, 1)))
    return jnp.concatenate([padded[:3], padded[4:]], axis=0), lax.slice(x, (0, 1), (6, 9), (2, 2)).sum(0)


@program(floats(12), floats(12))
def clip_and_compare(x, y):
    z = jnp.clip(x * 3, -1.0, 2.0) - jnp.minimum(y, 0.5)
    return jnp.where(z > y, z, -y), jnp.where(x <= y, jnp.exp(x), z * z)


@program(floats(5, 5), floats(5, 5))
def transposes(x, y):
    return (x.T @ y - y.T @ x).sum(0), jnp.broadcast_to(x.sum(1), (5, 5)) - x.T


@program(floats(10, 4))
def update_slices(x):
    y = x.at[2:5].set(x[0:3] * 2)
    z = lax.dynamic_update_slice(y, x[:2, :2] + 1, (4, 1))
    return y - z, z.sum(0) - x[3]


@program(floats(7, 3))
def normalise(x):
    mean = x.mean(0)
    return (x - mean) / jnp.sqrt(((x - mean)**2).mean(0) + 1e-3)


@program(floats(4, 6), integers(4, 6), jax.ShapeDtypeStruct((4, 6), jnp.bfloat16))
def converts(x, i, h):
    return h.astype(jnp.float32) - i.astype(jnp.float32), (x * 10).astype(jnp.int32) + i, jnp.pad(-h, ((1, 0), (0, 2)))


@program(floats(3, 4), floats(5, 4), floats(2, 4))
def concatenates(a, b, c):
    d = jnp.concatenate([a, b, c], axis=0)
    return -d, jnp.concatenate([c, d[:2]], axis=1) - 1


@program(floats(6, 6))
def loop(x):
    return lax.fori_loop(0, 4, lambda i, s: jnp.tanh(s @ x) - 0.5 * s, x)


@program(floats(8, 5), floats(5))
def scan_rnn(xs, h):
    def step(h, x):
        h = jnp.tanh(0.5 * h - x)
        return h, h * 2
    return lax.scan(step, h, xs)


@program(floats(9, 9))
def reductions(x):
    return x.max(0) - x.min(1), (x > 0).sum(), jnp.argmax(x, axis=1)


@program(floats(2, 8, 8, 3), floats(3, 3, 3, 4))
def convolution(x, w):
    dimensions = ("NHWC", "HWIO", "NHWC")
    return jax.nn.relu(lax.conv_general_dilated(x, w, (1, 1), "SAME", dimension_numbers=dimensions) - 0.1)


@program(floats(20), integers(5))
def gathers(x, i):
    return x[i] - x[i + 2], jnp.zeros(20).at[i].add(x[:5])


@program(floats(4, 4))
def cumulative(x):
    return jnp.cumsum(x, axis=0) - jnp.cumsum(x[::-1], axis=1)


@program(floats(16), floats(16))
def polynomial(x, y):
    return ((x - 2.0) * x + 3.5) * y - y / (1 + x * x), jnp.sin(x) - jnp.cos(y)


@program(floats(3, 8), floats(8, 3), floats(3, 3))
def products(a, b, c):
    return (a @ b - c) @ c, jnp.einsum("ij,jk->ik", b, c).T


@program(floats(11))
def sorts(x):
    y = jnp.sort(x)
    return y - x, y[::-1][:4], jnp.where(y < 0, -y, y)


@program(floats(6, 4), integers())
def branches(x, i):
    return lax.cond(i > 1, lambda x: -x + 1, lambda x: x * 2, x), lax.dynamic_slice(x, (i, 0), (2, 3))


@program(floats(4, 3), floats(4, 3), floats(4, 3))
def adam(p, g, m):
    first = 0.9 * m + 0.1 * g
    second = 0.999 * m * m + 0.001 * g * g
    return p - 0.01 * first / (jnp.sqrt(second) + 1e-8), jnp.clip(first, -0.2, 0.2)


def main():
    for function, arguments in PROGRAMS:
        jax.jit(function).lower(*arguments).compile()


if __name__ == "__main__":
    main()
