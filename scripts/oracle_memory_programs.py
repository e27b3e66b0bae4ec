"""Training steps and other programs of real size, for scripts/oracle_memory.py: JAX compiles them, but does not run
them."""
import jax
import jax.numpy as jnp
from jax import lax, nn


def f32(*sizes):
    return jax.ShapeDtypeStruct(sizes, jnp.float32)


def s32(*sizes):
    return jax.ShapeDtypeStruct(sizes, jnp.int32)


def key():
    return jax.ShapeDtypeStruct((2,), jnp.uint32)


def like(tree):
    return jax.tree.map(lambda leaf: jax.ShapeDtypeStruct(leaf.shape, leaf.dtype), tree)


def sgd(loss):
    def step(parameters, *batch):
        value, gradients = jax.value_and_grad(loss)(parameters, *batch)
        return value, jax.tree.map(lambda p, g: p - 1e-2 * g, parameters, gradients)

    return step


def adam(loss):
    def step(parameters, m, v, count, *batch):
        value, gradients = jax.value_and_grad(loss)(parameters, *batch)
        m = jax.tree.map(lambda a, g: 0.9 * a + 0.1 * g, m, gradients)
        v = jax.tree.map(lambda a, g: 0.999 * a + 0.001 * g * g, v, gradients)
        scale = jnp.sqrt(1 - 0.999 ** (count + 1)) / (1 - 0.9 ** (count + 1))
        new = jax.tree.map(lambda p, a, b: p - 1e-3 * scale * a / (jnp.sqrt(b) + 1e-8), parameters, m, v)
        return value, new, m, v, count + 1

    return step


def layer_norm(x, scale, bias):
    mean = x.mean(-1, keepdims=True)
    return (x - mean) * lax.rsqrt(((x - mean) ** 2).mean(-1, keepdims=True) + 1e-5) * scale + bias


def attention(q, k, v, mask):
    scores = jnp.einsum("bqhd,bkhd->bhqk", q, k) / q.shape[-1] ** 0.5
    return jnp.einsum("bhqk,bkhd->bqhd", nn.softmax(jnp.where(mask, scores, -1e9)), v)


def block_parameters(width, hidden):
    return {"qkv": f32(width, 3 * width), "out": f32(width, width), "up": f32(width, hidden), "down": f32(hidden, width),
            "s1": f32(width), "b1": f32(width), "s2": f32(width), "b2": f32(width)}


def block(p, x, heads):
    batch, length, width = x.shape
    q, k, v = jnp.split(layer_norm(x, p["s1"], p["b1"]) @ p["qkv"], 3, -1)
    split = lambda a: a.reshape(batch, length, heads, width // heads)
    mixed = attention(split(q), split(k), split(v), jnp.tril(jnp.ones((length, length), bool)))
    x = x + mixed.reshape(x.shape) @ p["out"]
    return x + nn.gelu(layer_norm(x, p["s2"], p["b2"]) @ p["up"]) @ p["down"]


def language_model_loss(p, tokens):
    x = p["embed"][tokens[:, :-1]]
    for each in p["blocks"]:
        x = block(each, x, 4)
    logits = x @ p["embed"].T
    return -jnp.take_along_axis(nn.log_softmax(logits), tokens[:, 1:, None], -1).mean()


def language_model_parameters(layers, width, words):
    return {"embed": f32(words, width), "blocks": [block_parameters(width, 4 * width) for _ in range(layers)]}


def scanned_model_loss(p, tokens):
    x = p["embed"][tokens[:, :-1]]
    x, _ = lax.scan(lambda x, each: (jax.checkpoint(lambda p, x: block(p, x, 4))(each, x), None), x, p["blocks"])
    return -jnp.take_along_axis(nn.log_softmax(x @ p["embed"].T), tokens[:, 1:, None], -1).mean()


def stacked(tree, count):
    return jax.tree.map(lambda leaf: f32(count, *leaf.shape), tree)


def conv(x, w, stride=1):
    return lax.conv_general_dilated(x, w, (stride, stride), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC"))


def batch_norm(x, scale, bias):
    mean, square = x.mean((0, 1, 2)), (x * x).mean((0, 1, 2))
    return (x - mean) * lax.rsqrt(square - mean * mean + 1e-5) * scale + bias


def residual_loss(p, x, labels):
    x = nn.relu(batch_norm(conv(x, p["stem"]), p["s0"], p["c0"]))
    for w1, w2, s1, c1, s2, c2 in p["blocks"]:
        y = nn.relu(batch_norm(conv(x, w1), s1, c1))
        x = nn.relu(x + batch_norm(conv(y, w2), s2, c2))
    x = lax.reduce_window(x, -jnp.inf, lax.max, (1, 2, 2, 1), (1, 2, 2, 1), "SAME")
    logits = x.mean((1, 2)) @ p["head"]
    return -jnp.take_along_axis(nn.log_softmax(logits), labels[:, None], -1).mean()


def residual_parameters(blocks, width):
    of_block = (f32(3, 3, width, width), f32(3, 3, width, width), f32(width), f32(width), f32(width), f32(width))
    return {"stem": f32(3, 3, 3, width), "s0": f32(width), "c0": f32(width), "blocks": [of_block] * blocks,
            "head": f32(width, 10)}


def lenet_loss(p, x, labels):
    for w in (p["w1"], p["w2"]):
        x = nn.relu(conv(x, w))
        x = lax.reduce_window(x, 0.0, lax.add, (1, 2, 2, 1), (1, 2, 2, 1), "VALID") / 4
    x = nn.relu(x.reshape(x.shape[0], -1) @ p["d1"])
    return -jnp.take_along_axis(nn.log_softmax(x @ p["d2"]), labels[:, None], -1).mean()


def lstm_loss(p, xs, ys):
    def cell(state, x):
        h, c = state
        i, f, g, o = jnp.split(x @ p["wx"] + h @ p["wh"] + p["b"], 4, -1)
        c = nn.sigmoid(f) * c + nn.sigmoid(i) * jnp.tanh(g)
        h = nn.sigmoid(o) * jnp.tanh(c)
        return (h, c), h

    zeros = jnp.zeros((xs.shape[1], p["wh"].shape[0]))
    _, hs = lax.scan(cell, (zeros, zeros), xs)
    return ((hs @ p["out"] - ys) ** 2).mean()


def gru_forward(p, xs):
    def cell(h, x):
        z, r = jnp.split(nn.sigmoid(jnp.concatenate([x, h], -1) @ p["gates"]), 2, -1)
        return (1 - z) * h + z * jnp.tanh(jnp.concatenate([x, r * h], -1) @ p["new"]), h

    return lax.scan(cell, jnp.zeros((xs.shape[1], 128)), xs)


def mlp_loss(p, x, y):
    for w, b in p[:-1]:
        x = nn.relu(x @ w + b)
    return ((x @ p[-1][0] + p[-1][1] - y) ** 2).mean()


def mlp_parameters(*widths):
    return [(f32(a, b), f32(b)) for a, b in zip(widths, widths[1:])]


def vae_loss(p, k, x):
    h = nn.relu(x @ p["e1"])
    mean, log_variance = jnp.split(h @ p["e2"], 2, -1)
    z = mean + jnp.exp(log_variance / 2) * jax.random.normal(jax.random.wrap_key_data(k), mean.shape)
    out = nn.relu(z @ p["d1"]) @ p["d2"]
    divergence = -0.5 * (1 + log_variance - mean**2 - jnp.exp(log_variance)).sum(-1)
    return ((out - x) ** 2).sum(-1).mean() + divergence.mean()


def experts_loss(p, x, y):
    gates, chosen = lax.top_k(nn.softmax(x @ p["router"]), 2)
    weights = (nn.one_hot(chosen, p["router"].shape[1]) * gates[..., None]).sum(1)
    hidden = nn.relu(jnp.einsum("td,edh->teh", x, p["up"]))
    out = jnp.einsum("teh,ehd,te->td", hidden, p["down"], weights)
    return ((out - y) ** 2).mean()


def dropout_mlp_loss(p, k, x, y):
    h = nn.relu(x @ p["a"])
    h = jnp.where(jax.random.bernoulli(jax.random.wrap_key_data(k), 0.9, h.shape), h / 0.9, 0)
    return ((h @ p["b"] - y) ** 2).mean()


def graph_convolution(p, x, source, target):
    for w in p:
        x = nn.relu(jax.ops.segment_sum((x @ w)[source], target, x.shape[0]))
    return (x**2).mean()


def decode_step(p, cache_k, cache_v, x, position):
    new_k, new_v = [], []
    for i, each in enumerate(p):
        q, k, v = jnp.split(x @ each["qkv"], 3, -1)
        shape = (x.shape[0], 1, 4, x.shape[-1] // 4)
        ks = lax.dynamic_update_slice(cache_k[i], k.reshape(shape), (0, position, 0, 0))
        vs = lax.dynamic_update_slice(cache_v[i], v.reshape(shape), (0, position, 0, 0))
        seen = jnp.arange(ks.shape[1]) <= position
        x = x + attention(q.reshape(shape), ks, vs, seen).reshape(x.shape) @ each["out"]
        x = x + nn.gelu(x @ each["up"]) @ each["down"]
        new_k.append(ks)
        new_v.append(vs)
    return x, new_k, new_v


def runge_kutta(x):
    def force(s):
        r = s[None, :, :2] - s[:, None, :2]
        return jnp.concatenate([s[:, 2:], (r / (1e-3 + (r * r).sum(-1, keepdims=True)) ** 1.5).sum(1)], -1)

    def step(_, s):
        a = force(s)
        b = force(s + 0.005 * a)
        c = force(s + 0.005 * b)
        d = force(s + 0.01 * c)
        return s + 0.01 / 6 * (a + 2 * b + 2 * c + d)

    return lax.fori_loop(0, 100, step, x)


def conjugate_gradient(a, b):
    def body(state):
        x, r, p, old, i = state
        ap = a @ p
        alpha = old / (p @ ap)
        r = r - alpha * ap
        new = r @ r
        return x + alpha * p, r, r + new / old * p, new, i + 1

    return lax.while_loop(lambda s: (s[3] > 1e-6) & (s[4] < 100), body, (jnp.zeros_like(b), b, b, b @ b, 0))[0]


def branches(i, x, w):
    return lax.switch(i, [lambda x: jnp.tanh(x @ w), lambda x: nn.relu(x) @ w + x, lambda x: jnp.sort(x, 0)], x) * 2


def ddpm_loss(p, k, x):
    noise = jax.random.normal(jax.random.wrap_key_data(k), x.shape)
    y = conv(0.7 * x + 0.7 * noise, p["down"], 2)
    y = nn.silu(conv(y, p["middle"]))
    y = conv(jax.image.resize(y, (*x.shape[:3], y.shape[-1]), "nearest"), p["up"])
    return ((y - noise) ** 2).mean()


def k_means(points, centres):
    def step(_, centres):
        nearest = ((points[:, None] - centres[None]) ** 2).sum(-1).argmin(1)
        one_hot = nn.one_hot(nearest, centres.shape[0])
        return one_hot.T @ points / (1e-6 + one_hot.sum(0)[:, None])

    return lax.fori_loop(0, 20, step, centres)


def game_of_life(board):
    def step(b, _):
        n = sum(jnp.roll(b, (i, j), (0, 1)) for i in (-1, 0, 1) for j in (-1, 0, 1)) - b
        return ((n == 3) | ((n == 2) & (b == 1))).astype(jnp.int32), b.sum()

    return lax.scan(step, board, None, length=50)


def programs():
    """name -> (function, shapes of its arguments, numbers of the donated ones)."""
    model = language_model_parameters(2, 128, 512)
    mlp = mlp_parameters(784, 512, 256, 10)
    layers = [block_parameters(128, 512) for _ in range(2)]
    cache = [f32(8, 64, 4, 32)] * 2
    vae = {"e1": f32(784, 256), "e2": f32(256, 64), "d1": f32(32, 256), "d2": f32(256, 784)}
    lstm = {"wx": f32(64, 512), "wh": f32(128, 512), "b": f32(512), "out": f32(128, 16)}
    return {
        "transformer_sgd": (sgd(language_model_loss), (model, s32(8, 65)), ()),
        "transformer_adam": (adam(language_model_loss), (model, model, model, s32(), s32(8, 65)), ()),
        "transformer_adam_donated": (adam(language_model_loss), (model, model, model, s32(), s32(8, 65)), (0, 1, 2)),
        "transformer_forward": (language_model_loss, (model, s32(8, 65)), ()),
        "transformer_scan_remat": (sgd(scanned_model_loss), ({"embed": f32(512, 128), "blocks": stacked(layers[0], 4)},
                                                             s32(4, 65)), ()),
        "decode_step": (decode_step, (layers, cache, cache, f32(8, 128), s32()), ()),
        "decode_step_donated": (decode_step, (layers, cache, cache, f32(8, 128), s32()), (1, 2)),
        "attention": (lambda q, k, v: attention(q, k, v, True), (f32(4, 128, 8, 32),) * 3, ()),
        "attention_gradient": (jax.grad(lambda q, k, v: attention(q, k, v, True).sum(), (0, 1, 2)),
                               (f32(4, 128, 8, 32),) * 3, ()),
        "resnet_gradient": (jax.grad(residual_loss), (residual_parameters(3, 32), f32(8, 32, 32, 3), s32(8)), ()),
        "resnet_sgd": (sgd(residual_loss), (residual_parameters(2, 16), f32(16, 28, 28, 3), s32(16)), (0,)),
        "resnet_forward": (residual_loss, (residual_parameters(3, 32), f32(8, 32, 32, 3), s32(8)), ()),
        "lenet_sgd": (sgd(lenet_loss), ({"w1": f32(5, 5, 1, 8), "w2": f32(5, 5, 8, 16), "d1": f32(784, 120),
                                         "d2": f32(120, 10)}, f32(32, 28, 28, 1), s32(32)), ()),
        "lstm_sgd": (sgd(lstm_loss), (lstm, f32(20, 16, 64), f32(20, 16, 16)), ()),
        "lstm_forward": (lstm_loss, (lstm, f32(20, 16, 64), f32(20, 16, 16)), ()),
        "gru_scan": (gru_forward, ({"gates": f32(192, 256), "new": f32(192, 128)}, f32(30, 16, 64)), ()),
        "mlp_adam": (adam(mlp_loss), (mlp, mlp, mlp, s32(), f32(64, 784), f32(64, 10)), ()),
        "mlp_sgd_donated": (sgd(mlp_loss), (mlp, f32(64, 784), f32(64, 10)), (0,)),
        "mlp_forward": (mlp_loss, (mlp, f32(64, 784), f32(64, 10)), ()),
        "mlp_hessian": (jax.hessian(lambda x: (jnp.tanh(x * 3) ** 3).sum() ** 2), (f32(64),), ()),
        "per_example_gradients": (lambda p, x, y: jax.vmap(jax.grad(mlp_loss), (None, 0, 0))(p, x, y),
                                  (mlp_parameters(64, 32, 8), f32(16, 1, 64), f32(16, 1, 8)), ()),
        "vae_sgd": (sgd(vae_loss), (vae, key(), f32(32, 784)), ()),
        "experts_sgd": (sgd(experts_loss), ({"router": f32(64, 8), "up": f32(8, 64, 256), "down": f32(8, 256, 64)},
                                            f32(128, 64), f32(128, 64)), ()),
        "dropout_sgd": (sgd(dropout_mlp_loss), ({"a": f32(256, 512), "b": f32(512, 64)}, key(), f32(64, 256),
                                                f32(64, 64)), ()),
        "graph_gradient": (jax.grad(graph_convolution), ([f32(64, 64)] * 2, f32(500, 64), s32(4000), s32(4000)), ()),
        "ddpm_sgd": (sgd(ddpm_loss), ({"down": f32(3, 3, 3, 32), "middle": f32(3, 3, 32, 32), "up": f32(3, 3, 32, 3)},
                                      key(), f32(4, 32, 32, 3)), ()),
        "sort_rows": (lambda x: (jnp.sort(x), jnp.argsort(x, 0), lax.top_k(x, 5)), (f32(200, 300),), ()),
        "sort_keys_values": (lambda k, v: lax.sort((k, v), num_keys=1), (f32(10000), f32(10000)), ()),
        "unique_median": (lambda x: (jnp.unique(x, size=64), jnp.median(x), jnp.percentile(x, 90)), (f32(4096),), ()),
        "fft_convolution": (lambda x, w: jnp.fft.irfft2(jnp.fft.rfft2(x) * jnp.fft.rfft2(w, x.shape[-2:])),
                            (f32(8, 64, 64), f32(9, 9)), ()),
        "fft_spectrum": (lambda x: jnp.abs(jnp.fft.fft(x)) ** 2, (f32(64, 1000),), ()),
        "runge_kutta": (runge_kutta, (f32(128, 4),), ()),
        "conjugate_gradient": (conjugate_gradient, (f32(300, 300), f32(300)), ()),
        "branches": (branches, (s32(), f32(128, 128), f32(128, 128)), ()),
        "k_means": (k_means, (f32(2000, 16), f32(10, 16)), ()),
        "game_of_life": (game_of_life, (s32(100, 100),), ()),
        "cholesky_solve": (lambda a, b: jax.scipy.linalg.cho_solve(jax.scipy.linalg.cho_factor(a @ a.T), b),
                           (f32(100, 100), f32(100, 7)), ()),
        "svd_pinv": (jnp.linalg.pinv, (f32(60, 40),), ()),
        "eigh_function": (lambda a: jnp.linalg.eigh(a + a.T), (f32(64, 64),), ()),
        "cumulative": (lambda x: (jnp.cumsum(x, 0), jnp.cumprod(x, 1), lax.cummax(x)), (f32(300, 200),), ()),
        "normal_samples": (lambda k: jax.random.normal(jax.random.wrap_key_data(k), (500, 300)), (key(),), ()),
        "permutation_categorical": (lambda k, p: (jax.random.permutation(jax.random.wrap_key_data(k), 1000),
                                                  jax.random.categorical(jax.random.wrap_key_data(k), p)),
                                    (key(), f32(100, 50)), ()),
        "image_augment": (lambda x: jax.image.resize(x[:, ::-1], (4, 96, 96, 3), "bilinear").astype(jnp.bfloat16),
                          (f32(4, 64, 64, 3),), ()),
        "interpolate_gather": (lambda t, i: jnp.interp(i, jnp.arange(1000.0), t), (f32(1000), f32(20000)), ()),
        "embedding_bag_gradient": (jax.grad(lambda e, i: (e[i].sum(1) ** 2).sum()), (f32(5000, 32), s32(64, 20)), ()),
    }
