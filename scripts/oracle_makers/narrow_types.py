"""Makers of elementwise operations on extremes and on all types, those below a byte among them."""
import numpy as np

from oracle_makers.program import (COMPLEX, EIGHT_BIT_FLOATS, EXACT, FLOAT_KINDS, FLUSHED, INTEGER_KINDS, LOOSE,
                                   NARROW, NEAR, SUB_BYTE, ULP, dtype_of, maker)


def extremes(p, kind, sizes, reach=1.0):
    """Numbers of all magnitudes but denormal ones, and special values. `reach`: how much of the exponents."""
    d, n = dtype_of(kind), p.numbers
    if kind in COMPLEX:
        half = {"c64": "f32", "c128": "f64"}[kind]
        return (extremes(p, half, sizes, reach) + 1j * extremes(p, half, sizes, reach)).astype(d)
    if kind == "pred" or kind[0] in "su":
        old, p.special = p.special, True
        x = p.data(kind, sizes)
        p.special = old
        return x
    import ml_dtypes

    info = ml_dtypes.finfo(d)
    low, high = np.log2(float(info.smallest_normal)) * reach, np.log2(float(info.max)) * reach
    x = np.exp2(n.uniform(low, high, sizes)) * n.choice([-1.0, 1.0], sizes)
    special = [0.0, -0.0, 1.0, -1.0, 0.5, 1.5, 2.5, -2.5, 3.0, 7.0]
    if reach == 1.0:
        special += [np.nan, np.inf, -np.inf, float(info.max), -float(info.max), float(info.smallest_normal)]
    x = np.where(n.random(sizes) < 0.3, n.choice(special, sizes), x)
    x = np.where(n.random(sizes) < 0.2, np.round(n.normal(size=sizes) * 8) / 2, x)
    with np.errstate(all="ignore"):
        return np.asarray(np.asarray(x, "float64" if kind == "f64" else "float32").astype(d), d)


def wide(p, kind, reach=1.0):
    sizes = [p.pick([7, 16, 33, 64])]
    return p.parameter(kind, sizes, array=extremes(p, kind, sizes, reach))


@maker("wide-unary")
def wide_unary(p, _):
    op = p.pick(["abs", "negate", "sign", "ceil", "floor", "round-nearest-afz", "round-nearest-even", "exponential", "log", "cbrt",
                 "exponential-minus-one", "log-plus-one", "logistic", "sqrt", "rsqrt", "sine", "cosine", "tan", "tanh", "erf"])
    exact = op in ("abs", "negate", "sign", "ceil", "floor", "round-nearest-afz", "round-nearest-even")
    x = wide(p, p.pick(FLOAT_KINDS), 0.9)
    p.loosen(EXACT if exact else NEAR)
    p.emit(x.kind, x.sizes, f"{op}({x.name})")


@maker("wide-binary")
def wide_binary(p, _):
    op = p.pick(["add", "subtract", "multiply", "divide", "remainder", "power", "atan2"])
    x = wide(p, p.pick(FLOAT_KINDS), p.pick([0.1, 0.45]))
    y = p.parameter(x.kind, x.sizes, array=extremes(p, x.kind, x.sizes, 0.45 if op != "power" else 0.05))
    p.loosen(NEAR)
    p.emit(x.kind, x.sizes, f"{op}({x.name}, {y.name})")


@maker("wide-special")
def wide_special(p, _):
    op = p.pick(["atan2", "divide", "remainder", "power", "multiply", "add", "subtract"])
    kind, sizes = p.pick(FLOAT_KINDS), [40]
    x, y = (
        p.parameter(
            kind, sizes, array=p.numbers.choice(
                [0.0, -0.0, 1.0, -1.0, np.inf, -np.inf, np.nan, 2.0, -2.0, 0.5, 3.0, -3.0],
                sizes).astype(dtype_of(kind))) for _ in range(2))
    p.loosen(NEAR)
    p.emit(kind, sizes, f"{op}({x.name}, {y.name})")


@maker("wide-integer")
def wide_integer(p, _):
    kind = p.pick(INTEGER_KINDS + SUB_BYTE)
    op = p.pick(["add", "subtract", "multiply", "divide", "remainder", "maximum", "minimum", "and", "or", "xor",
                 "shift-left", "shift-right-arithmetic", "shift-right-logical", "not", "negate", "abs", "sign",
                  "popcnt", "count-leading-zeros", "power", "clamp", "compare"])
    if kind[0] == "u" and op in ("abs", "sign") or kind[0] == "s" and op == "power":
        op = "negate"
    if kind in SUB_BYTE and op in ("popcnt", "count-leading-zeros"):
        op = "not"  # compiled code counts bits of a whole byte
    x = wide(p, kind)
    others = {"clamp": 2}.get(op, 0 if op in ("not", "negate", "abs", "sign", "popcnt", "count-leading-zeros") else 1)
    most = 63 if op == "power" else None  # compiled code reads the low six bits of an exponent
    ys = [p.parameter(kind, x.sizes, array=np.minimum(extremes(p, kind, x.sizes), most)
                      if most else extremes(p, kind, x.sizes)).name for _ in range(others)]
    if op == "clamp":
        p.emit(kind, x.sizes, f"clamp({ys[0]}, {x.name}, {ys[1]})")
    elif op == "compare":
        p.emit("pred", x.sizes, f"compare({x.name}, {ys[0]}), direction={p.pick(['EQ', 'NE', 'LT', 'LE', 'GT', 'GE'])}")
    else:
        p.emit(kind, x.sizes, f"{op}({', '.join([x.name] + ys)})")


@maker("wide-convert")
def wide_convert(p, _):
    every = INTEGER_KINDS + SUB_BYTE + FLOAT_KINDS + EIGHT_BIT_FLOATS + ["pred", "c64", "c128"]
    kind, to = p.pick(every), p.pick(every)
    if kind in COMPLEX and to not in COMPLEX:
        to = p.pick(COMPLEX)  # the process dies
    if kind in ("f64", "s32", "u32", "s64", "u64", "c128") and to in ["f16", "bf16"] + EIGHT_BIT_FLOATS:
        to = p.pick(["f32", "s16"]) if kind not in COMPLEX else "c64"  # compiled code rounds twice
    x = wide(p, kind, 1.0 if kind in FLOAT_KINDS + EIGHT_BIT_FLOATS else 0.5)
    p.loosen(FLUSHED)
    p.emit(to, x.sizes, f"convert({x.name})")


@maker("wide-reduce-precision")
def wide_reduce_precision(p, _):
    x = wide(p, p.pick(FLOAT_KINDS))
    p.loosen(FLUSHED)
    p.emit(
        x.kind, x.sizes,
        f"reduce-precision({x.name}), exponent_bits={p.random.randint(1, 11)}, mantissa_bits={p.random.randint(1, 52)}")


@maker("wide-compare")
def wide_compare(p, _):
    kind = p.pick(FLOAT_KINDS + EIGHT_BIT_FLOATS)
    x, y = (p.parameter(kind, [64], array=p.numbers.choice([0.0, -0.0, 1.0, -1.0, np.nan,
            2.0, np.inf, -np.inf], [64]).astype(dtype_of(kind))) for _ in range(2))
    order = p.pick(["", ", type=TOTALORDER"]) if kind in FLOAT_KINDS else ""
    p.emit(
        "pred", [64],
        f"compare({x.name}, {y.name}), direction={p.pick(['EQ', 'NE', 'LT', 'LE', 'GT', 'GE'])}{order}")


@maker("wide-complex")
def wide_complex(p, _):
    kind = p.pick(COMPLEX)
    op = p.pick(["exponential", "log", "sqrt", "rsqrt", "tanh", "sine", "cosine", "log-plus-one",
                 "exponential-minus-one", "logistic", "tan", "sign", "negate", "abs", "power", "divide", "atan2",
                 "multiply", "real", "imag"])
    sizes = [p.pick([7, 33])]
    def draw():
        x = p.numbers.normal(size=sizes) * 2.0 ** p.numbers.integers(-6, 4, sizes)
        return np.where(p.numbers.random(sizes) < 0.2, p.numbers.choice([0.0, 1.0, -1.0, 2.0], sizes), x)
    x, y = (p.parameter(kind, sizes, array=draw() + 1j * draw()) for _ in range(2))
    p.loosen(ULP if op == "atan2" else NEAR)  # log of a quotient near 1 cancels
    out = {"c64": "f32", "c128": "f64"}[kind] if op in ("abs", "real", "imag") else kind
    p.emit(out, sizes, f"{op}({x.name}{', ' + y.name if op in ('power', 'divide', 'atan2', 'multiply') else ''})")


@maker("narrow-arithmetic")
def narrow_arithmetic(p, _):
    kind = p.pick(EIGHT_BIT_FLOATS)
    op = p.pick(["add", "subtract", "multiply", "divide", "negate", "abs",
                "exponential", "tanh", "sign", "floor", "sqrt", "is-finite"])
    x, y = (wide(p, kind) for _ in range(2))
    y = p.parameter(kind, x.sizes, array=extremes(p, kind, x.sizes))
    binary = op in ("add", "subtract", "multiply", "divide")
    p.loosen(EXACT if binary else LOOSE)
    p.emit("pred" if op == "is-finite" else kind, x.sizes, f"{op}({x.name}{', ' + y.name if binary else ''})")


@maker("narrow-moves")
def narrow_moves(p, _):
    kind = p.pick(["s4", "u4"] + EIGHT_BIT_FLOATS + ["c128", "pred"])
    a, b = p.random.randint(1, 9), p.random.randint(1, 9)
    x, v, s = p.parameter(kind, [a, b]), p.parameter(kind, []), p.parameter(kind, [2, b])
    p.emit(kind, [b, a], f"transpose({x.name}), dimensions={{1,0}}")
    p.emit(kind, [a * b], f"reshape({x.name})")
    p.emit(kind, [a, b], f"reverse({x.name}), dimensions={{1}}")
    p.emit(kind, [a + 1, 2 * b - 1 + 1], f"pad({x.name}, {v.name}), padding=1_0x0_1_1")
    p.emit(kind, [a, (b + 1) // 2], f"slice({x.name}), slice={{[0:{a}], [0:{b}:2]}}")
    p.emit(kind, [a + 2, b], f"concatenate({x.name}, {s.name}), dimensions={{0}}")
    p.emit(kind, [3, a, b], f"broadcast({x.name}), dimensions={{1,2}}")


@maker("narrow-bitcast")
def narrow_bitcast(p, _):
    one, many, ratio = p.pick(
        [("u8", "u4", 2),
         ("s8", "s4", 2),
         ("u16", "s4", 4),
         ("f32", "u4", 8),
         ("f16", "u8", 2),
         ("f64", "s16", 4),
         ("u8", "f8e5m2", 1),
         ("u16", "f8e5m2", 2),
         ("u8", "u2", 4),
         ("f32", "bf16", 2)])
    sizes = p.sizes(0, 2, zero=0)
    if p.chance(0.5):
        x = p.parameter(one, sizes, array=extremes(p, one, sizes))
        p.emit(many, sizes + ([ratio] if ratio > 1 else []), f"bitcast-convert({x.name})")
    else:
        sizes = sizes + ([ratio] if ratio > 1 else [])
        x = p.parameter(many, sizes)
        p.emit(one, sizes[:-1] if ratio > 1 else sizes, f"bitcast-convert({x.name})")


@maker("narrow-iota")
def narrow_iota(p, _):
    sizes = [p.random.randint(1, 5), p.random.randint(1, 3)]
    p.emit(p.pick(SUB_BYTE + NARROW + COMPLEX + INTEGER_KINDS), sizes, f"iota(), iota_dimension={p.below(2)}")
