"""Programs of real size, written in JAX, for bench/run.py: what people run, not one operation each.

A program is a function and the shapes of its arguments: "f32[8,256]" with random normal numbers, "s32[100]<50" with
integers from 0 to 49.
"""
import functools

import jax
import jax.numpy as jnp
from jax import lax, nn

PROGRAMS = {}


def program(name, *arguments):
    """Registers a function under a name."""
    def register(function):
        PROGRAMS[name] = (function, arguments)
        return function
    return register


# ---- Models.

def normalize(x, scale):
    mean = x.mean(-1, keepdims=True)
    variance = ((x - mean) ** 2).mean(-1, keepdims=True)
    return (x - mean) * lax.rsqrt(variance + 1e-5) * scale


def attend(q, k, v):
    """q, k, v: [batch, time, head, width]. Each time sees itself and what is before."""
    scores = jnp.einsum("bqhd,bkhd->bhqk", q, k) / (q.shape[-1] ** 0.5)
    time = q.shape[1]
    scores = jnp.where(jnp.tril(jnp.ones((time, time), bool)), scores, jnp.finfo(scores.dtype).min)
    return jnp.einsum("bhqk,bkhd->bqhd", nn.softmax(scores), v)


def gpt_block(x, scale_1, qkv, out, scale_2, up, down):
    batch, time, width = x.shape
    h = normalize(x, scale_1) @ qkv
    q, k, v = (part.reshape(batch, time, 8, width // 8) for part in jnp.split(h, 3, -1))
    x = x + attend(q, k, v).reshape(batch, time, width) @ out
    return x + nn.gelu(normalize(x, scale_2) @ up) @ down


def block_arguments(dtype, batch=4, time=256, width=512):
    return [f"{dtype}[{sizes}]" for sizes in (f"{batch},{time},{width}", f"{width}", f"{width},{3 * width}",
                                              f"{width},{width}", f"{width}", f"{width},{4 * width}",
                                              f"{4 * width},{width}")]


def gradient(function):
    def total(*arguments):
        return function(*arguments).astype(jnp.float32).sum()
    return lambda *arguments: jax.grad(total, argnums=tuple(range(len(arguments))))(*arguments)


for dtype in ("f32", "bf16"):
    program(f"GPT block, forward, {dtype}", *block_arguments(dtype))(gpt_block)
    program(f"GPT block, gradient, {dtype}", *block_arguments(dtype))(gradient(gpt_block))
    program(f"attention, {dtype}", *[f"{dtype}[2,512,8,64]"] * 3)(attend)


@program("LSTM, 64 steps", "f32[64,32,256]", "f32[512,1024]", "f32[1024]")
def lstm(inputs, weights, bias):
    def step(state, x):
        h, c = state
        i, f, g, o = jnp.split(jnp.concatenate([x, h], -1) @ weights + bias, 4, -1)
        c = nn.sigmoid(f) * c + nn.sigmoid(i) * jnp.tanh(g)
        h = nn.sigmoid(o) * jnp.tanh(c)
        return (h, c), h
    zero = jnp.zeros((32, 256))
    return lax.scan(step, (zero, zero), inputs)[1]


@program("GRU, 64 steps", "f32[64,32,256]", "f32[256,768]", "f32[256,768]")
def gru(inputs, w, u):
    def step(h, x):
        a, b = x @ w, h @ u
        r = nn.sigmoid(a[:, :256] + b[:, :256])
        z = nn.sigmoid(a[:, 256:512] + b[:, 256:512])
        h = (1 - z) * jnp.tanh(a[:, 512:] + r * b[:, 512:]) + z * h
        return h, h
    return lax.scan(step, jnp.zeros((32, 256)), inputs)[1]


def convolve(x, kernel, stride=1, groups=1):
    return lax.conv_general_dilated(x, kernel, (stride, stride), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC"),
                                    feature_group_count=groups)


def resnet_block(x, k1, k2, s1, s2):
    def norm(x, scale):
        mean = x.mean((0, 1, 2))
        return (x - mean) * lax.rsqrt(((x - mean) ** 2).mean((0, 1, 2)) + 1e-5) * scale
    return nn.relu(x + norm(convolve(nn.relu(norm(convolve(x, k1), s1)), k2), s2))


RESNET = ["f32[4,56,56,64]", "f32[3,3,64,64]", "f32[3,3,64,64]", "f32[64]", "f32[64]"]
program("ResNet block, forward", *RESNET)(resnet_block)
program("ResNet block, gradient", *RESNET)(gradient(resnet_block))
program("depthwise convolution", "f32[4,56,56,128]", "f32[3,3,1,128]")(functools.partial(convolve, groups=128))
program("convolution 1x1, stride 2", "f32[4,56,56,64]", "f32[1,1,64,128]")(functools.partial(convolve, stride=2))


def max_pool(x):
    return lax.reduce_window(x, -jnp.inf, lax.max, (1, 3, 3, 1), (1, 2, 2, 1), "SAME")


program("max pooling", "f32[8,112,112,64]")(max_pool)
program("max pooling, gradient", "f32[2,112,112,64]")(gradient(max_pool))


@program("average pooling", "f32[8,112,112,64]")
def average_pool(x):
    return lax.reduce_window(x, 0., lax.add, (1, 2, 2, 1), (1, 2, 2, 1), "VALID") / 4


@program("MLP, training step", "f32[128,784]", "s32[128]<10", "f32[784,512]", "f32[512]", "f32[512,10]", "f32[10]")
def mlp_step(x, labels, *weights):
    def loss(weights):
        w1, b1, w2, b2 = weights
        logits = nn.log_softmax(nn.relu(x @ w1 + b1) @ w2 + b2)
        return -(nn.one_hot(labels, 10) * logits).sum(-1).mean()
    value, slopes = jax.value_and_grad(loss)(weights)
    return value, [w - 0.1 * slope for w, slope in zip(weights, slopes)]


@program("Adam, 4M parameters", *["f32[4194304]"] * 4)
def adam(w, g, m, v):
    m = 0.9 * m + 0.1 * g
    v = 0.999 * v + 0.001 * g * g
    return w - 1e-3 * (m / 0.1) / (jnp.sqrt(jnp.abs(v) / 0.001) + 1e-8), m, v


@program("cross entropy", "f32[512,8192]", "s32[512]<8192")
def cross_entropy(logits, labels):
    return -jnp.take_along_axis(nn.log_softmax(logits), labels[:, None], 1).mean()


# ---- Numerical work.

@program("Black-Scholes, 1M options", *["f32[1048576]"] * 3)
def black_scholes(spot, strike, time):
    spot, strike, time = (jnp.abs(x) + 0.1 for x in (spot, strike, time))
    d1 = (jnp.log(spot / strike) + (0.05 + 0.02) * time) / (0.2 * jnp.sqrt(time))
    d2 = d1 - 0.2 * jnp.sqrt(time)
    cdf = lambda x: 0.5 * (1 + lax.erf(x * 0.70710678))
    return spot * cdf(d1) - strike * jnp.exp(-0.05 * time) * cdf(d2)


program("STREAM triad, 16M", "f32[16777216]", "f32[16777216]")(lambda x, y: x + 3.0 * y)
for axis in range(3):
    program(f"sum along axis {axis} of 3", "f32[128,256,512]")(lambda x, axis=axis: x.sum(axis))
program("sum of all", "f32[16777216]")(lambda x: x.sum())
program("variance of rows", "f32[4096,1024]")(lambda x: x.var(-1))
program("log-sum-exp of rows", "f32[4096,1024]")(lambda x: nn.logsumexp(x, -1))
program("argmax of rows", "f32[4096,1024]")(lambda x: x.argmax(-1))


@program("k-means, 10 iterations", "f32[16384,16]", "f32[32,16]")
def k_means(points, centers):
    def step(_, centers):
        nearest = ((points[:, None] - centers) ** 2).sum(-1).argmin(-1)
        members = nn.one_hot(nearest, 32)
        return (members.T @ points) / (members.sum(0)[:, None] + 1e-6)
    return lax.fori_loop(0, 10, step, centers)


@program("N-body, 1,024 bodies, 10 steps", "f32[1024,3]", "f32[1024,3]", "f32[1024]")
def n_body(position, velocity, mass):
    def step(_, state):
        position, velocity = state
        d = position[None] - position[:, None]
        force = (d * ((d ** 2).sum(-1) + 0.01)[..., None] ** -1.5 * jnp.abs(mass)[:, None]).sum(1)
        velocity = velocity + 0.01 * force
        return position + 0.01 * velocity, velocity
    return lax.fori_loop(0, 10, step, (position, velocity))


program("pairwise distances", "f32[1024,64]", "f32[1024,64]")(
    lambda x, y: jnp.sqrt(jnp.maximum((x * x).sum(1)[:, None] + (y * y).sum(1) - 2 * x @ y.T, 0)))
program("sort, 1M", "f32[1048576]")(jnp.sort)
program("argsort, 256K", "f32[262144]")(jnp.argsort)
program("top 64 of rows", "f32[256,16384]")(lambda x: lax.top_k(x, 64))
program("cumulative sum, 10M", "f32[10000000]")(jnp.cumsum)
program("cumulative maximum of rows", "f32[256,8192]")(lambda x: lax.cummax(x, 1))
program("embedding rows", "f32[32000,256]", "s32[4096]<32000")(lambda table, i: table[i])
program("embedding gradient", "f32[32000,256]", "s32[4096]<32000", "f32[4096,256]")(
    lambda table, i, x: jnp.zeros_like(table).at[i].add(x))
program("segment sum", "f32[262144]", "s32[262144]<1000")(lambda x, i: jax.ops.segment_sum(x, i, 1000))
program("histogram", "f32[1048576]")(lambda x: jnp.histogram(x, 64, (-4, 4))[0])
program("gather of elements", "f32[1048576]", "s32[1048576]<1048576")(lambda x, i: x[i])
program("FFT, 256 rows of 4,096", "c64[256,4096]")(jnp.fft.fft)


@program("Jacobi stencil, 100 steps", "f32[512,512]")
def jacobi(x):
    def step(_, x):
        inner = 0.25 * (x[:-2, 1:-1] + x[2:, 1:-1] + x[1:-1, :-2] + x[1:-1, 2:])
        return x.at[1:-1, 1:-1].set(inner)
    return lax.fori_loop(0, 100, step, x)


@program("heat equation by roll, 100 steps", "f32[512,512]")
def heat(x):
    roll = jnp.roll
    return lax.fori_loop(0, 100, lambda _, x: x + 0.1 * (roll(x, 1, 0) + roll(x, -1, 0) + roll(x, 1, 1) +
                                                        roll(x, -1, 1) - 4 * x), x)


@program("Mandelbrot 512x512, 50 iterations", "f32[512]", "f32[512]")
def mandelbrot(x, y):
    re, im = jnp.meshgrid(jnp.sort(x), jnp.sort(y))
    def step(_, state):
        zr, zi, count = state
        inside = zr * zr + zi * zi < 4
        return (jnp.where(inside, zr * zr - zi * zi + re, zr), jnp.where(inside, 2 * zr * zi + im, zi),
                count + inside)
    return lax.fori_loop(0, 50, step, (jnp.zeros_like(re), jnp.zeros_like(re), jnp.zeros(re.shape, jnp.int32)))[2]


@program("game of life, 50 steps", "s32[512,512]<2")
def life(x):
    def step(_, x):
        around = sum(jnp.roll(x, (i, j), (0, 1)) for i in (-1, 0, 1) for j in (-1, 0, 1)) - x
        return ((around == 3) | ((x == 1) & (around == 2))).astype(jnp.int32)
    return lax.fori_loop(0, 50, step, x)


program("random normals, 1M", "u32[2]<100")(lambda key: jax.random.normal(key, (1048576,)))
program("dot f32, 1024", "f32[1024,1024]", "f32[1024,1024]")(jnp.matmul)
program("dot bf16, 1024", "bf16[1024,1024]", "bf16[1024,1024]")(jnp.matmul)
program("dot int8 to int32, 1024", "s8[1024,1024]<100", "s8[1024,1024]<100")(
    lambda x, y: lax.dot(x, y, preferred_element_type=jnp.int32))
program("dot of a transpose", "f32[768,1024]", "f32[512,1024]")(lambda x, y: x @ y.T)
program("matrix x vector", "f32[4096,4096]", "f32[4096]")(jnp.matmul)
program("1,024 small dots", "f32[1024,32,32]", "f32[1024,32,32]")(jnp.matmul)
program("dot, bias, gelu", "f32[512,512]", "f32[512,2048]", "f32[2048]")(lambda x, w, b: nn.gelu(x @ w + b))
program("transpose of axes", "f32[64,128,256]")(lambda x: x.transpose(2, 0, 1) * 2)


@program("3,000 tiny instructions", "f32[8,8]", "f32[8]")
def tiny(a, x):
    # A dot in each step keeps XLA from fusing all of it, which takes its compiler minutes.
    for _ in range(1000):
        x = jnp.sin(a @ x) + 1
    return x


@program("loop of 100,000 scalar steps", "f32[]")
def scalar_loop(x):
    return lax.fori_loop(0, 100000, lambda i, x: jnp.where(x > 1, x * 0.5, x * 1.5 + i * 1e-9), x)


@program("conjugate gradient, 50 iterations", "f32[512,512]", "f32[512]")
def conjugate_gradient(a, b):
    a = a @ a.T + 512 * jnp.eye(512)
    def step(_, state):
        x, r, p, rr = state
        ap = a @ p
        alpha = rr / (p @ ap)
        x, r = x + alpha * p, r - alpha * ap
        new = r @ r
        return x, r, r + new / rr * p, new
    return lax.fori_loop(0, 50, step, (jnp.zeros(512), b, b, b @ b))[0]


@program("while of small steps: logistic regression", "f32[64,8]", "f32[64]")
def logistic(x, y):
    def step(_, w):
        return w - 0.1 * ((nn.sigmoid(x @ w) - y) @ x) / 64
    return lax.fori_loop(0, 200, step, jnp.zeros(8))
