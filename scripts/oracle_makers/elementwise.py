"""Makers of elementwise operations."""
from oracle_makers.program import COMPLEX, FLOATS, INTEGERS, LOOSE, NARROW, NUMBERS, SIGNED, ULP, UNSIGNED, maker


@maker("abs", "negate", "sign")
def signed_unary(p, op):
    x = p.operand(FLOATS + SIGNED + (["c64"] if op == "negate" else []))
    p.emit(x.kind, x.sizes, f"{op}({x.name})")


@maker("ceil", "floor", "round-nearest-afz", "round-nearest-even")
def rounding(p, op):
    x = p.operand(FLOATS)
    p.emit(x.kind, x.sizes, f"{op}({x.name})")


@maker("exponential", "exponential-minus-one", "log", "log-plus-one", "logistic", "sqrt", "rsqrt", "cbrt", "sine",
       "cosine", "tan", "tanh", "erf")
def transcendental(p, op):
    complex_too = ["c64"] if op in ("exponential", "log", "sqrt", "sine", "cosine", "tanh") and not p.special else []
    x = p.operand(FLOATS + complex_too) if op != "log" else p.parameter(p.pick(FLOATS + complex_too), p.sizes())
    p.loosen(LOOSE)  # XLA makes y * log(x) of log(power(x, y)), also where that is another number
    p.emit(x.kind, x.sizes, f"{op}({x.name})")


@maker("not", "popcnt", "count-leading-zeros")
def bits_unary(p, op):
    x = p.operand(INTEGERS + (["pred"] if op == "not" else []))
    p.emit(x.kind, x.sizes, f"{op}({x.name})")


@maker("is-finite")
def is_finite(p, op):
    x = p.operand(FLOATS)
    p.emit("pred", x.sizes, f"is-finite({x.name})")


@maker("real", "imag")
def complex_part(p, op):
    x = p.operand(COMPLEX)
    p.emit({"c64": "f32", "c128": "f64"}[x.kind], x.sizes, f"{op}({x.name})")


@maker("complex")
def make_complex(p, op):
    x = p.operand(["f32", "f64"])
    p.emit({"f32": "c64", "f64": "c128"}[x.kind], x.sizes, f"complex({x.name}, {p.like(x).name})")


@maker("add", "subtract", "multiply")
def arithmetic(p, op):
    x = p.operand(NUMBERS + ([] if p.special else ["c64"]) + (["pred"] if op != "subtract" else []))
    if x.kind in COMPLEX:
        p.loosen(ULP)
    p.emit(x.kind, x.sizes, f"{op}({x.name}, {p.like(x).name})")


@maker("divide", "remainder", "power", "atan2")
def division(p, op):
    kinds = FLOATS if op == "atan2" else NUMBERS
    if op == "power":
        kinds = FLOATS + UNSIGNED
        p.loosen(LOOSE)
    if op == "atan2":  # of new numbers: the sign of a 0 that a product made may be another
        p.loosen(ULP)
        x = p.parameter(p.pick(kinds), p.sizes())
        y = p.parameter(x.kind, x.sizes)
    else:
        x = p.operand(kinds)
        y = p.like(x)
    p.emit(x.kind, x.sizes, f"{op}({x.name}, {y.name})")


@maker("maximum", "minimum")
def extreme(p, op):
    # Compiled code loses a NaN on the right, and keeps the left of 0 and -0.
    x = p.operand(INTEGERS + ["pred"] + ([] if p.special else FLOATS))
    p.emit(x.kind, x.sizes, f"{op}({x.name}, {p.like(x).name})")


@maker("and", "or", "xor")
def bitwise(p, op):
    x = p.operand(INTEGERS + ["pred"])
    p.emit(x.kind, x.sizes, f"{op}({x.name}, {p.like(x).name})")


@maker("shift-left", "shift-right-arithmetic", "shift-right-logical")
def shift(p, op):
    x = p.operand(INTEGERS)
    p.emit(x.kind, x.sizes, f"{op}({x.name}, {p.like(x).name})")


@maker("compare")
def compare(p, op):
    x = p.operand(NUMBERS + ["pred"])
    order = ", type=TOTALORDER" if x.kind in FLOATS and p.chance(0.3) else ""
    p.emit(
        "pred", x.sizes,
        f"compare({x.name}, {p.like(x).name}), direction={p.pick(['EQ', 'NE', 'LT', 'LE', 'GT', 'GE'])}{order}")


@maker("select")
def select(p, op):
    x = p.operand(NUMBERS + ["c64", "pred"])
    condition = p.parameter("pred", x.sizes if p.chance(0.7) else [])
    p.emit(x.kind, x.sizes, f"select({condition.name}, {x.name}, {p.like(x).name})")


@maker("clamp")
def clamp(p, op):
    x = p.operand(NUMBERS if not p.special else INTEGERS)
    bounds = [p.parameter(x.kind, [] if p.chance(0.5) else x.sizes) for _ in range(2)]
    if bounds[0].sizes != bounds[1].sizes:
        bounds[1] = p.parameter(x.kind, bounds[0].sizes)
    p.emit(x.kind, x.sizes, f"clamp({bounds[0].name}, {x.name}, {bounds[1].name})")


@maker("convert")
def convert(p, op):
    x = p.operand(NUMBERS + NARROW + ["pred"])
    to = p.pick(NUMBERS + NARROW + ["pred", "c64"])
    if x.kind == "f64" and to in ("bf16", "f16") + tuple(NARROW):
        to = "f32"  # compiled code rounds twice
    p.emit(to, x.sizes, f"convert({x.name})")


@maker("bitcast-convert")
def bitcast_convert(p, op):
    same = {8: ["s8", "u8"], 16: ["s16", "u16", "f16", "bf16"], 32: ["s32", "u32", "f32"], 64: ["s64", "u64", "f64"]}
    width = p.pick(same)
    x = p.parameter(p.pick(same[width]), p.sizes())
    other = p.pick(same)
    sizes = x.sizes[:]
    if other < width:
        sizes = sizes + [width // other]
    elif other > width:
        x = p.parameter(x.kind, x.sizes + [other // width])
    p.emit(p.pick(same[other]), sizes, f"bitcast-convert({x.name})")


@maker("reduce-precision")
def reduce_precision(p, op):
    x = p.operand(["f32", "bf16", "f64"])
    p.emit(
        x.kind, x.sizes,
        f"reduce-precision({x.name}), exponent_bits={p.pick([2, 5, 8])}, mantissa_bits={p.pick([1, 3, 7, 10])}")
