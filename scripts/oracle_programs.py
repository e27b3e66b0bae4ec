#!/usr/bin/env python3
"""Runs random small programs through real XLA (its CPU compiler) and through `kashi run`, and prints where they differ.

  .venv/bin/python scripts/oracle_programs.py --kashi build/kashi [--count 500] [--seed 1] [--only dot] [--keep DIR]
  .venv/bin/python scripts/oracle_programs.py --store tests/data/evaluator/programs.txt --count 400

Needs a Python with jax (`./dev oracle` makes one in .venv). Each program is one to four operations on fresh or earlier values;
every operation of the op table that XLA's CPU compiler takes has a maker below. XLA is asked in a child process, because it may
abort. Where XLA's compiled code differs from IEEE on purpose (docs/fidelity.md), makers avoid the inputs that show it.
--store writes programs, inputs and XLA's outputs as text: the sample that the unit tests run."""
import argparse
import json
import os
import random
import subprocess
import sys
import tempfile

import numpy as np

FLOATS = ["f32", "f32", "f32", "f64", "bf16", "f16"]
NARROW = ["f8e4m3fn", "f8e5m2"]
SIGNED = ["s32", "s32", "s8", "s16", "s64"]
UNSIGNED = ["u32", "u8", "u16", "u64"]
COMPLEX = ["c64", "c128"]
INTEGERS = SIGNED + UNSIGNED
NUMBERS = FLOATS + INTEGERS
EXACT, ULP, LOOSE = "exact", "ulp", "loose"
RANK = {EXACT: 0, ULP: 1, LOOSE: 2}


def dtype_of(name):
    import ml_dtypes

    plain = {"pred": "bool", "c64": "complex64", "c128": "complex128"}
    if name in plain:
        return np.dtype(plain[name])
    if name[0] in "su" and name[1:].isdigit() and int(name[1:]) >= 8:
        return np.dtype(("int" if name[0] == "s" else "uint") + name[1:])
    if name in ("f16", "f32", "f64"):
        return np.dtype("float" + name[1:])
    return np.dtype(getattr(ml_dtypes, {"bf16": "bfloat16", "s4": "int4", "u4": "uint4"}.get(name, "float8_" + name[2:])))


class Value:
    def __init__(self, name, kind, sizes):
        self.name, self.kind, self.sizes = name, kind, list(sizes)

    @property
    def text(self):
        return f"{self.kind}[{','.join(map(str, self.sizes))}]"


class Program:
    """A module in the making: lines of its entry, other computations, inputs."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.numbers = np.random.default_rng(seed)
        self.lines, self.computations, self.inputs, self.values = [], [], [], []
        self.tolerance = EXACT
        self.special = self.random.random() < 0.25  # NaN, infinities and extremes among the inputs

    # ---- small choices
    def pick(self, items):
        return self.random.choice(list(items))

    def below(self, n):
        return self.random.randrange(n)

    def chance(self, p):
        return self.random.random() < p

    def sizes(self, low=0, high=3, top=6, zero=0.03):
        return [0 if self.chance(zero) else self.random.randint(1, top) for _ in range(self.random.randint(low, high))]

    def loosen(self, tolerance):
        if RANK[tolerance] > RANK[self.tolerance]:
            self.tolerance = tolerance

    # ---- values
    def data(self, kind, sizes, values="any"):
        d, n = dtype_of(kind), self.numbers
        if kind == "pred":
            return n.integers(0, 2, sizes).astype(bool)
        if kind[0] in "su":
            bits = int(kind[1:])
            low, high = (-(1 << (bits - 1)), (1 << (bits - 1)) - 1) if kind[0] == "s" else (0, (1 << bits) - 1)
            small = n.integers(max(low, -9), 10, sizes) if kind[0] == "s" else n.integers(0, 10, sizes)
            x = small.astype(d)
            if values == "any" and self.special and x.size:
                where = n.random(sizes) < 0.3
                x = np.where(where, n.choice(np.array([low, high, high // 2, 0, 1], dtype=object), sizes).astype(d), x)
            return np.asarray(x, d)
        scale = 3.0
        def real():
            x = n.normal(size=sizes) * scale
            if values == "whole" or self.chance(0.3):
                x = np.round(x)
            if values == "any" and self.special and x.size:
                where = n.random(sizes) < 0.3
                x = np.where(where, n.choice([np.nan, np.inf, -np.inf, 0.0, -0.0, 1e5, -1e5, 1.0], sizes), x)
            return np.abs(x) + 0.25 if values == "positive" else x
        with np.errstate(all="ignore"):
            x = real() + 1j * real() if kind in COMPLEX else real()
            return np.asarray(np.asarray(x).astype(np.float32).astype(d) if kind not in COMPLEX + ["f64"] else np.asarray(x).astype(d), d)

    def parameter(self, kind, sizes, values="any", array=None):
        value = Value(f"p{len(self.inputs)}", kind, sizes)
        self.inputs.append(np.asarray(self.data(kind, sizes, values) if array is None else array, dtype_of(kind)))
        self.lines.append(f"{value.name} = {value.text} parameter({len(self.inputs) - 1})")
        return value

    def operand(self, kinds, low=0, high=3, values="any", top=6, zero=0.03):
        """An earlier value of one of these types, or a new parameter."""
        fitting = [v for v in self.values if v.kind in kinds and low <= len(v.sizes) <= high and (zero or 0 not in v.sizes)]
        if fitting and values == "any" and self.chance(0.7):
            return self.pick(fitting)
        return self.parameter(self.pick(kinds), self.sizes(low, high, top, zero), values)

    def like(self, other, values="any"):
        fitting = [v for v in self.values if v.kind == other.kind and v.sizes == other.sizes]
        if fitting and values == "any" and self.chance(0.4):
            return self.pick(fitting)
        return self.parameter(other.kind, other.sizes, values)

    def emit(self, kind, sizes, expression):
        value = Value(f"v{len(self.lines)}", kind, sizes)
        self.lines.append(f"{value.name} = {value.text} {expression}")
        self.values.append(value)
        return value

    def emit_tuple(self, parts, expression):
        """parts: (type, sizes) of the elements."""
        name = f"v{len(self.lines)}"
        texts = [Value("", k, s).text for k, s in parts]
        self.lines.append(f"{name} = ({', '.join(texts)}) {expression}")
        return [self.emit(k, s, f"get-tuple-element({name}), index={i}") for i, (k, s) in enumerate(parts)]

    def computation(self, parameters, body, root):
        """parameters: types of scalars, or texts of shapes."""
        name = f"f{len(self.computations)}"
        shapes = [p if "[" in p else p + "[]" for p in parameters]
        lines = [f"  a{i} = {s} parameter({i})" for i, s in enumerate(shapes)] + ["  " + line for line in body]
        lines[-1 if root is None else [line.split()[0] for line in lines].index(root)] = (
            "  ROOT " + lines[-1 if root is None else [line.split()[0] for line in lines].index(root)].strip())
        self.computations.append(f"{name} {{\n" + "\n".join(lines) + "\n}")
        return name

    def scalar_function(self, op, kind):
        return self.computation([kind, kind], [f"r = {kind}[] {op}(a0, a1)"], "r")

    def text(self):
        shapes, names = ", ".join(v.text for v in self.values), ", ".join(v.name for v in self.values)
        lines = self.lines + [f"ROOT root = ({shapes}) tuple({names})"]
        entry = "ENTRY main {\n  " + "\n  ".join(lines) + "\n}\n"
        return "\n\n".join(["HloModule random"] + self.computations + [entry])


MAKERS = {}


def maker(*names):
    def note(function):
        for name in names:
            MAKERS[name] = lambda p, name=name: function(p, name)
        return function
    return note


# ---------------------------------------------------------------------------------------------------------- elementwise

@maker("abs", "negate", "sign")
def signed_unary(p, op):
    x = p.operand(FLOATS + SIGNED + (["c64"] if op == "negate" else []))
    p.emit(x.kind, x.sizes, f"{op}({x.name})")


@maker("ceil", "floor", "round-nearest-afz", "round-nearest-even")
def rounding(p, op):
    x = p.operand(FLOATS)
    p.emit(x.kind, x.sizes, f"{op}({x.name})")


@maker("exponential", "exponential-minus-one", "log", "log-plus-one", "logistic", "sqrt", "rsqrt", "cbrt", "sine", "cosine", "tan",
       "tanh", "erf")
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
    if op == "atan2":
        p.loosen(ULP)
    x = p.operand(kinds)
    p.emit(x.kind, x.sizes, f"{op}({x.name}, {p.like(x).name})")


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
    p.emit("pred", x.sizes, f"compare({x.name}, {p.like(x).name}), direction={p.pick(['EQ', 'NE', 'LT', 'LE', 'GT', 'GE'])}{order}")


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
    p.emit(x.kind, x.sizes, f"reduce-precision({x.name}), exponent_bits={p.pick([2, 5, 8])}, mantissa_bits={p.pick([1, 3, 7, 10])}")


# -------------------------------------------------------------------------------------------------------- data movement

ANY = NUMBERS + ["pred", "c64"]


@maker("iota")
def iota(p, op):
    sizes = p.sizes(1, 3)
    p.emit(p.pick(NUMBERS), sizes, f"iota(), iota_dimension={p.below(len(sizes))}")


@maker("broadcast")
def broadcast(p, op):
    x = p.operand(ANY, 0, 2)
    rank = len(x.sizes) + p.below(3)
    places = sorted(p.random.sample(range(rank), len(x.sizes)))
    sizes = [p.random.randint(1, 4) for _ in range(rank)]
    for place, size in zip(places, x.sizes):
        sizes[place] = size
    p.emit(x.kind, sizes, f"broadcast({x.name}), dimensions={{{','.join(map(str, places))}}}")


@maker("reshape")
def reshape(p, op):
    x = p.operand(ANY)
    sizes = x.sizes[:]
    if len(sizes) > 1 and p.chance(0.5):
        i = p.below(len(sizes) - 1)
        sizes[i:i + 2] = [sizes[i] * sizes[i + 1]]
    else:
        sizes.insert(p.below(len(sizes) + 1), 1)
    p.emit(x.kind, sizes, f"reshape({x.name})")


@maker("transpose")
def transpose(p, op):
    x = p.operand(ANY, 1, 4)
    order = list(range(len(x.sizes)))
    p.random.shuffle(order)
    p.emit(x.kind, [x.sizes[i] for i in order], f"transpose({x.name}), dimensions={{{','.join(map(str, order))}}}")


@maker("reverse")
def reverse(p, op):
    x = p.operand(ANY, 1)
    which = p.random.sample(range(len(x.sizes)), p.random.randint(1, len(x.sizes)))
    p.emit(x.kind, x.sizes, f"reverse({x.name}), dimensions={{{','.join(map(str, which))}}}")


@maker("slice")
def slice_(p, op):
    x = p.operand(ANY, 1)
    ranges, sizes = [], []
    for n in x.sizes:
        start = p.below(n + 1)
        limit, stride = p.random.randint(start, n), p.random.randint(1, 3)
        ranges.append(f"[{start}:{limit}:{stride}]")
        sizes.append((limit - start + stride - 1) // stride)
    p.emit(x.kind, sizes, f"slice({x.name}), slice={{{', '.join(ranges)}}}")


def starts(p, rank):
    kind = p.pick(["s32", "u32", "s64"])
    array = lambda: np.asarray(p.random.randint(-3 if kind[0] == "s" else 0, 7), dtype_of(kind))
    return [p.parameter(kind, [], array=array()) for _ in range(rank)]


@maker("dynamic-slice")
def dynamic_slice(p, op):
    x = p.operand(ANY, 1, zero=0)
    sizes = [p.random.randint(1, n) for n in x.sizes]
    names = ", ".join(v.name for v in [x] + starts(p, len(sizes)))
    p.emit(x.kind, sizes, f"dynamic-slice({names}), dynamic_slice_sizes={{{','.join(map(str, sizes))}}}")


@maker("dynamic-update-slice")
def dynamic_update_slice(p, op):
    x = p.operand(ANY, 1, zero=0)
    u = p.parameter(x.kind, [p.random.randint(1, n) for n in x.sizes])
    p.emit(x.kind, x.sizes, f"dynamic-update-slice({', '.join(v.name for v in [x, u] + starts(p, len(x.sizes)))})")


@maker("concatenate")
def concatenate(p, op):
    x = p.operand(ANY, 1)
    d, parts = p.below(len(x.sizes)), [x]
    for _ in range(p.below(3)):
        parts.append(p.parameter(x.kind, x.sizes[:d] + [p.below(4)] + x.sizes[d + 1:]))
    sizes = x.sizes[:d] + [sum(v.sizes[d] for v in parts)] + x.sizes[d + 1:]
    p.emit(x.kind, sizes, f"concatenate({', '.join(v.name for v in parts)}), dimensions={{{d}}}")


@maker("pad")
def pad(p, op):
    x = p.operand(ANY, 1)
    while True:
        padding = [(p.random.randint(-2, 3), p.random.randint(-2, 3), p.pick([0, 0, 1, 2])) for _ in x.sizes]
        sizes = [n + lo + hi + max(n - 1, 0) * inner for n, (lo, hi, inner) in zip(x.sizes, padding)]
        if min(sizes) >= 0:
            break
    v = p.parameter(x.kind, [])
    p.emit(x.kind, sizes, f"pad({x.name}, {v.name}), padding={'x'.join('_'.join(map(str, t)) for t in padding)}")


@maker("gather")
def gather(p, op):
    x = p.operand(ANY, 1, 3, zero=0)
    rank = len(x.sizes)
    mapped = p.random.sample(range(rank), p.random.randint(1, rank))
    slices = [p.random.randint(1, n) for n in x.sizes]
    collapsed = [d for d in range(rank) if p.chance(0.4)]
    for d in collapsed:
        slices[d] = 1
    batch = p.sizes(0, 2, 4)
    vector_dim = p.random.randint(0, len(batch))
    index_sizes = batch[:vector_dim] + [len(mapped)] + batch[vector_dim:]
    kind = p.pick(["s32", "u32", "s64"])
    indices = p.parameter(kind, index_sizes, array=p.numbers.integers(-2 if kind[0] == "s" else 0, 7, index_sizes))
    window = [d for d in range(rank) if d not in collapsed]
    out_rank = len(batch) + len(window)
    offsets = sorted(p.random.sample(range(out_rank), len(window)))
    sizes, b, w = [], iter(batch), iter(window)
    for d in range(out_rank):
        sizes.append(slices[next(w)] if d in offsets else next(b))
    join = lambda items: "{" + ",".join(map(str, items)) + "}"
    p.emit(x.kind, sizes, f"gather({x.name}, {indices.name}), offset_dims={join(offsets)}, collapsed_slice_dims={join(collapsed)}, "
           f"start_index_map={join(mapped)}, index_vector_dim={vector_dim}, slice_sizes={join(slices)}")


@maker("scatter")
def scatter(p, op):
    x = p.operand(INTEGERS + ["f32"], 1, 3, zero=0, values="whole")
    rank = len(x.sizes)
    mapped = p.random.sample(range(rank), p.random.randint(1, rank))
    inserted = [d for d in range(rank) if p.chance(0.5)]
    window = [d for d in range(rank) if d not in inserted]
    batch = p.sizes(0, 2, 4)
    vector_dim = p.random.randint(0, len(batch))
    index_sizes = batch[:vector_dim] + [len(mapped)] + batch[vector_dim:]
    indices = p.parameter("s32", index_sizes, array=p.numbers.integers(-2, 7, index_sizes))
    out_rank = len(batch) + len(window)
    places = sorted(p.random.sample(range(out_rank), len(window)))
    sizes, b, w = [], iter(batch), iter(window)
    for d in range(out_rank):
        sizes.append(p.random.randint(1, x.sizes[next(w)]) if d in places else next(b))
    updates = p.parameter(x.kind, sizes, "whole")
    f = p.scalar_function(p.pick(["add", "multiply", "maximum", "minimum"]), x.kind)
    join = lambda items: "{" + ",".join(map(str, items)) + "}"
    p.emit(x.kind, x.sizes, f"scatter({x.name}, {indices.name}, {updates.name}), update_window_dims={join(places)}, "
           f"inserted_window_dims={join(inserted)}, scatter_dims_to_operand_dims={join(mapped)}, index_vector_dim={vector_dim}, to_apply={f}")


# ----------------------------------------------------------------------------------------------------------- reductions

def reducer(p, kind):
    ops = ["add", "multiply", "maximum", "minimum"] if kind not in ("pred",) else ["and", "or"]
    if kind in INTEGERS:
        ops += ["and", "or", "xor"]
    op = p.pick(ops)
    if kind in FLOATS and op in ("add", "multiply"):
        p.loosen(LOOSE)
    return op, p.scalar_function(op, kind)


@maker("reduce")
def reduce_(p, op):
    x = p.operand(INTEGERS + ["pred", "f32", "f64"], values="whole")
    _, f = reducer(p, x.kind)
    init = p.parameter(x.kind, [], "whole")
    # XLA's compiler forgets the initial value where there is one element to reduce.
    which = [d for d in range(len(x.sizes)) if p.chance(0.6)] or list(range(len(x.sizes)))
    if np.prod([x.sizes[d] for d in which]) == 1:
        return
    p.emit(x.kind, [n for d, n in enumerate(x.sizes) if d not in which],
           f"reduce({x.name}, {init.name}), dimensions={{{','.join(map(str, which))}}}, to_apply={f}")


@maker("reduce-argmax")
def reduce_variadic(p, op):
    x = p.operand(SIGNED + ["f32"], 1, values="whole", zero=0)
    i = p.parameter("s32", x.sizes)
    k = x.kind
    f = p.computation([k, "s32", k, "s32"], [
        "c = pred[] compare(a0, a2), direction=GE", f"v = {k}[] select(c, a0, a2)", "w = s32[] select(c, a1, a3)",
        f"r = ({k}[], s32[]) tuple(v, w)"], "r")
    inits = [p.parameter(k, [], "whole"), p.parameter("s32", [])]
    which = [p.below(len(x.sizes))]
    if x.sizes[which[0]] == 1:
        return
    sizes = [n for d, n in enumerate(x.sizes) if d not in which]
    p.emit_tuple([(k, sizes), ("s32", sizes)],
                 f"reduce({x.name}, {i.name}, {inits[0].name}, {inits[1].name}), dimensions={{{which[0]}}}, to_apply={f}")


def window_text(p, sizes, allow_dilation=True):
    while True:
        fields = {"size": [], "stride": [], "pad": [], "lhs_dilate": [], "rhs_dilate": []}
        out = []
        for n in sizes:
            size, stride = p.random.randint(1, 3), p.random.randint(1, 2)
            lo, hi = p.random.randint(-1, 2), p.random.randint(-1, 2)
            base, dilation = (p.pick([1, 1, 2]), p.pick([1, 1, 2])) if allow_dilation else (1, 1)
            padded = lo + (0 if n == 0 else (n - 1) * base + 1) + hi
            width = (size - 1) * dilation + 1
            out.append(0 if padded < width else (padded - width) // stride + 1)
            for key, value in zip(fields, (size, stride, f"{lo}_{hi}", base, dilation)):
                fields[key].append(str(value))
            if padded < 0:
                out.append(-1)
        if min(out, default=0) >= 0:
            break
    if not sizes:
        return "", []
    return "window={" + " ".join(f"{k}={'x'.join(v)}" for k, v in fields.items()) + "}", out


@maker("reduce-window")
def reduce_window(p, op):
    x = p.operand(["s32", "f32", "s8"], 1, values="whole")
    _, f = reducer(p, x.kind)
    init = p.parameter(x.kind, [], "whole")
    window, out = window_text(p, x.sizes)
    p.emit(x.kind, out, f"reduce-window({x.name}, {init.name}), {window}, to_apply={f}")


@maker("select-and-scatter")
def select_and_scatter(p, op):
    x = p.operand(["s32", "f32"], 1, 2, values="whole", zero=0)
    window, out = window_text(p, x.sizes, allow_dilation=False)
    if "-" in window or 0 in out:
        return
    source, init = p.parameter(x.kind, out, "whole"), p.parameter(x.kind, [], "whole")
    s = p.computation([x.kind, x.kind], [f"r = pred[] compare(a0, a1), direction={p.pick(['GE', 'LE', 'GT'])}"], "r")
    f = p.scalar_function("add", x.kind)
    p.emit(x.kind, x.sizes, f"select-and-scatter({x.name}, {source.name}, {init.name}), {window}, select={s}, scatter={f}")


@maker("map")
def map_(p, op):
    x = p.operand(["s32", "f32"], 1)
    f = p.computation([x.kind, x.kind], [f"m = {x.kind}[] multiply(a0, a1)", f"r = {x.kind}[] subtract(m, a0)"], "r")
    p.loosen(ULP)
    p.emit(x.kind, x.sizes, f"map({x.name}, {p.like(x).name}), dimensions={{{','.join(map(str, range(len(x.sizes))))}}}, to_apply={f}")


@maker("sort")
def sort(p, op):
    x = p.operand(INTEGERS + ["f32"], 1, values="whole")
    f = p.computation([x.kind, x.kind], [f"r = pred[] compare(a0, a1), direction={p.pick(['LT', 'GT'])}"], "r")
    p.emit(x.kind, x.sizes, f"sort({x.name}), dimensions={{{p.below(len(x.sizes))}}}, is_stable=true, to_apply={f}")


@maker("sort-pairs")
def sort_pairs(p, op):
    x = p.operand(["s32", "s8"], 1)
    y = p.parameter("f32", x.sizes)
    f = p.computation([x.kind, x.kind, "f32", "f32"], [f"r = pred[] compare(a{p.pick(['0, a1', '1, a0'])}), direction=LT"], "r")
    p.emit_tuple([(x.kind, x.sizes), ("f32", x.sizes)],
                 f"sort({x.name}, {y.name}), dimensions={{{p.below(len(x.sizes))}}}, is_stable=true, to_apply={f}")


@maker("topk")
def topk(p, op):
    x = p.operand(["f32"], 1, 2, zero=0)
    k = p.random.randint(1, x.sizes[-1])
    sizes = x.sizes[:-1] + [k]
    p.emit_tuple([(x.kind, sizes), ("s32", sizes)], f"topk({x.name}), k={k}, largest=true")


# --------------------------------------------------------------------------------------------------------- contractions

@maker("dot")
def dot(p, op):
    kind = p.pick(["f32", "f32", "f64", "s32", "bf16", "c64", "s8"])
    batch, contracting = p.sizes(0, 2, 3), p.sizes(0, 2, 4)
    free = [p.sizes(0, 2, 4), p.sizes(0, 2, 4)]
    names, dims = [], []
    for side in range(2):
        tagged = [("b", i, n) for i, n in enumerate(batch)] + [("c", i, n) for i, n in enumerate(contracting)]
        tagged += [("f", i, n) for i, n in enumerate(free[side])]
        p.random.shuffle(tagged)
        places = {t: [next(k for k, v in enumerate(tagged) if v[:2] == (t, i)) for i in range(len(group))]
                  for t, group in (("b", batch), ("c", contracting))}
        v = p.parameter(kind, [n for _, _, n in tagged], "whole")
        free[side] = [n for t, _, n in tagged if t == "f"]
        names.append(v.name)
        dims.append(places)
    join = lambda items: "{" + ",".join(map(str, items)) + "}"
    attributes = ""
    for side, word in enumerate(("lhs", "rhs")):
        if batch:
            attributes += f", {word}_batch_dims={join(dims[side]['b'])}"
        attributes += f", {word}_contracting_dims={join(dims[side]['c'])}"
    out = {"s8": p.pick(["s8", "s32"]), "bf16": p.pick(["bf16", "f32"])}.get(kind, kind)
    p.loosen(LOOSE)
    p.emit(out, batch + free[0] + free[1], f"dot({', '.join(names)}){attributes}")


@maker("convolution")
def convolution(p, op):
    rank = p.random.randint(0, 2)
    kind = p.pick(["f32", "f32", "f64", "bf16"])
    groups = p.pick([1, 1, 2])
    by_batch = groups > 1 and p.chance(0.4)
    n, i, o = p.random.randint(1, 3), p.random.randint(1, 3), p.random.randint(1, 3)
    spatial = [p.random.randint(1, 6) for _ in range(rank)]
    window, out = window_text(p, spatial)
    reversal = ""
    kernel = []
    if rank:
        kernel = [int(s) for s in window.split("size=")[1].split()[0].split("x")]
        if p.chance(0.3):
            reversal = " rhs_reversal=" + "x".join(p.pick("01") for _ in range(rank))
            window = window[:-1] + reversal + "}"
    lhs = {"b": n * (groups if by_batch else 1), "f": i * (1 if by_batch else groups), **{str(d): s for d, s in enumerate(spatial)}}
    rhs = {"i": i, "o": o * groups, **{str(d): s for d, s in enumerate(kernel)}}
    result = {"b": n, "f": o * groups, **{str(d): s for d, s in enumerate(out)}}
    texts = []
    for sizes in (lhs, rhs, result):
        order = list(sizes)
        p.random.shuffle(order)
        texts.append("".join(order))
    x = p.parameter(kind, [lhs[c] for c in texts[0]], "whole")
    w = p.parameter(kind, [rhs[c] for c in texts[1]], "whole")
    extra = "" if groups == 1 else f", {'batch' if by_batch else 'feature'}_group_count={groups}"
    p.loosen(LOOSE)
    p.emit(kind, [result[c] for c in texts[2]],
           f"convolution({x.name}, {w.name}), {window + ', ' if window else ''}dim_labels={texts[0]}_{texts[1]}->{texts[2]}{extra}")


# ---------------------------------------------------------------------------------------------------------- mathematics

@maker("fft")
def fft(p, op):
    kind = p.pick(["FFT", "IFFT", "RFFT", "IRFFT"])
    sizes = p.sizes(1, 3, 9, zero=0)
    axes = p.random.randint(1, len(sizes))
    length = sizes[-axes:]
    half = sizes[:-1] + [sizes[-1] // 2 + 1]
    p.loosen(LOOSE)
    p.special = False
    x = p.parameter("f32" if kind == "RFFT" else "c64", half if kind == "IRFFT" else sizes)
    out = ("c64", half) if kind == "RFFT" else ("f32", sizes) if kind == "IRFFT" else ("c64", sizes)
    p.emit(*out, f"fft({x.name}), fft_type={kind}, fft_length={{{','.join(map(str, length))}}}")


@maker("cholesky")
def cholesky(p, op):
    n, kind = p.random.randint(1, 5), p.pick(["f32", "f64"])
    batch = p.sizes(0, 1, 3, zero=0)
    a = p.numbers.normal(size=batch + [n, n])
    x = p.parameter(kind, batch + [n, n], array=a @ np.swapaxes(a, -1, -2) + 2 * np.eye(n))
    p.loosen(LOOSE)
    p.emit(kind, x.sizes, f"cholesky({x.name}), lower={p.pick(['true', 'false'])}")


@maker("triangular-solve")
def triangular_solve(p, op):
    n, m, kind = p.random.randint(1, 5), p.random.randint(1, 4), p.pick(["f32", "f64"])
    left = p.chance(0.5)
    a = p.parameter(kind, [n, n], array=p.numbers.normal(size=[n, n]) + 4 * np.eye(n))
    b = p.parameter(kind, [n, m] if left else [m, n], "whole")
    p.loosen(LOOSE)
    p.emit(kind, b.sizes, f"triangular-solve({a.name}, {b.name}), left_side={str(left).lower()}, lower={p.pick(['true', 'false'])}, "
           f"unit_diagonal={p.pick(['true', 'false'])}, transpose_a={p.pick(['NO_TRANSPOSE', 'TRANSPOSE', 'ADJOINT'])}")


@maker("rng-bit-generator")
def rng_bit_generator(p, op):
    algorithm = p.pick(["rng_three_fry", "rng_philox", "rng_default"])
    n = 2 if algorithm == "rng_three_fry" else p.pick([2, 3])
    state = p.parameter("u64", [n], array=p.numbers.integers(0, 2**63, [n], dtype=np.uint64))
    out = (p.pick(["u32", "u8", "u16", "u64"]), p.sizes(0, 3))
    p.emit_tuple([("u64", [n]), out], f"rng-bit-generator({state.name}), algorithm={algorithm}")


@maker("batch-norm-training", "batch-norm-inference")
def batch_norm(p, op):
    p.special = False
    x = p.operand(["f32"], 2, 3, zero=0, values="whole")
    f = p.below(len(x.sizes))
    c = x.sizes[f]
    extra = [p.parameter("f32", [c], "positive") for _ in range(2 if op.endswith("training") else 4)]
    names = ", ".join(v.name for v in [x] + extra)
    p.loosen(LOOSE)
    if op.endswith("training"):
        p.emit_tuple([("f32", x.sizes), ("f32", [c]), ("f32", [c])], f"{op}({names}), epsilon=0.5, feature_index={f}")
    else:
        p.emit("f32", x.sizes, f"{op}({names}), epsilon=0.5, feature_index={f}")


# --------------------------------------------------------------------------------------------------------- control flow

@maker("while")
def while_(p, op):
    x = p.operand(["s32", "f32"], 0, 2, values="whole")
    shape = f"(s32[], {x.text})"
    i = p.parameter("s32", [], array=np.int32(p.random.randint(0, 3)))
    condition = p.computation([shape], ["i = s32[] get-tuple-element(a0), index=0", "n = s32[] constant(4)",
                                        "r = pred[] compare(i, n), direction=LT"], "r")
    body = p.computation([shape], [
        "i = s32[] get-tuple-element(a0), index=0", f"x = {x.text} get-tuple-element(a0), index=1", "one = s32[] constant(1)",
        "j = s32[] add(i, one)", f"y = {x.text} add(x, x)", f"r = {shape} tuple(j, y)"], "r")
    name = f"v{len(p.lines)}"
    p.lines.append(f"{name}t = {shape} tuple({i.name}, {x.name})")
    p.lines.append(f"{name} = {shape} while({name}t), condition={condition}, body={body}")
    p.emit("s32", [], f"get-tuple-element({name}), index=0")
    p.emit(x.kind, x.sizes, f"get-tuple-element({name}), index=1")


@maker("conditional")
def conditional(p, op):
    x = p.operand(["s32", "f32"], 0, 2)
    branches = [p.computation([x.text], [f"r = {x.text} {name}(a0)"], "r") for name in p.random.sample(["negate", "abs", "copy"], 3)]
    index = p.parameter("s32", [], array=np.int32(p.random.randint(-2, 4)))
    p.emit(x.kind, x.sizes, f"conditional({index.name}, {x.name}, {x.name}, {x.name}), branch_computations={{{', '.join(branches)}}}")


@maker("call")
def call(p, op):
    x = p.operand(["s32", "f32"], 0, 2)
    f = p.computation([x.text, x.text], [f"r = {x.text} subtract(a1, a0)"], "r")
    p.emit(x.kind, x.sizes, f"call({x.name}, {p.like(x).name}), to_apply={f}")


# ------------------------------------------------------------------------------------------------------------ comparing

def difference(want, got, tolerance):
    """None, or what differs."""
    if want.shape != got.shape or want.dtype != got.dtype:
        return f"{got.dtype}{list(got.shape)} for {want.dtype}{list(want.shape)}"
    if want.size == 0:
        return None
    if want.dtype.kind in "biu":
        n = int((want != got).sum())
        return f"{n} of {want.size} differ" if n else None
    wide = np.complex128 if want.dtype.kind == "c" else np.float64
    x, y = want.astype(wide), got.astype(wide)
    with np.errstate(all="ignore"):
        same = (x == y) | (np.isnan(x) & np.isnan(y))
        eps = {"float64": 2.3e-16, "complex128": 2.3e-16, "float32": 1.2e-7, "complex64": 1.2e-7, "float16": 1e-3, "bfloat16": 8e-3}.get(
            want.dtype.name, 0.13)
        k = {EXACT: 0, ULP: 64, LOOSE: 4096}[tolerance]
        k = min(k, 16) if eps > 1e-4 else k
        scale = np.nanmax(np.where(np.isfinite(x), np.abs(x), 0), initial=0)
        same |= np.abs(x - y) <= k * eps * (np.abs(x) + 0.05 * scale)
    n = int((~same).sum())
    return f"{n} of {want.size} differ" if n else None


class Xla:
    """Real XLA in a child process that may die; one question a line."""

    CHILD = r"""
import json, os, sys
os.environ["JAX_PLATFORMS"] = "cpu"
import jax, numpy as np, ml_dtypes, jaxlib._hlo as h, jaxlib._jax as j
jax.config.update("jax_enable_x64", True)
device = jax.devices("cpu")[0]
for line in sys.stdin:
    folder, count = json.loads(line)
    try:
        module = h.hlo_module_from_text(open(folder + "/module.hlo").read())
        c = h.XlaComputation(module.as_serialized_hlo_module_proto())
        program = device.client.compile_and_load(j.mlir.xla_computation_to_mlir_module(c), j.DeviceList((device,)))
        arguments = []
        for i in range(count):
            x = np.load(f"{folder}/in{i}.npy")
            d = np.dtype(c.program_shape().parameter_shapes()[i].numpy_dtype())
            arguments.append(jax.device_put(x if x.dtype == d else x.view(d)))
        outs = [np.asarray(o[0]) for o in program.execute_sharded(arguments).disassemble_into_single_device_arrays()]
        for i, x in enumerate(outs): np.save(f"{folder}/xla{i}.npy", x if x.dtype.kind != "V" and x.dtype.isbuiltin == 1 else x.view(f"V{x.itemsize}"))
        print(json.dumps([x.dtype.name for x in outs]), flush=True)
    except Exception as e:
        print(json.dumps(str(e)[:300]), flush=True)
"""

    def __init__(self):
        self.child = None

    def run(self, folder, count):
        """The types of the outputs, or why there are none."""
        if self.child is None:
            self.child = subprocess.Popen([sys.executable, "-c", self.CHILD], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                          stderr=subprocess.DEVNULL, text=True)
        self.child.stdin.write(json.dumps([folder, count]) + "\n")
        self.child.stdin.flush()
        answer = self.child.stdout.readline()
        if not answer:
            self.child = None
            return "XLA aborts"
        return json.loads(answer)


def load(path, name):
    """An array of ml_dtypes' types, which files hold as void, too."""
    import ml_dtypes

    x = np.load(path)
    return x.view(np.dtype(getattr(ml_dtypes, name))) if x.dtype.kind == "V" else x


def make(seed, only):
    p = Program(seed)
    for _ in range(p.random.randint(1, 4)):
        MAKERS[p.pick([m for m in MAKERS if only in m])](p)
    return p if p.values else make(seed + 1000003, only)


def literal_text(array, kind):
    """The array as HLO text has literals."""
    def one(x):
        if kind == "pred":
            return str(bool(x)).lower()
        if kind in COMPLEX:
            return f"({one_real(x.real)}, {one_real(x.imag)})"
        return str(int(x)) if kind[0] in "su" else one_real(x)
    def one_real(x):
        return repr(float(x)).replace("inf", "inf").replace("nan", "nan")
    def nest(a):
        return "{" + ", ".join(nest(x) for x in a) + "}" if a.ndim else one(a[()])
    return f"{kind}[{','.join(map(str, array.shape))}] {nest(array)}"


def kind_of(dtype):
    for kind in set(ANY + NARROW + COMPLEX):
        if dtype_of(kind) == dtype:
            return kind
    return None


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kashi", default="build/kashi")
    parser.add_argument("--count", type=int, default=500)
    parser.add_argument("--seed", type=int, default=random.randrange(1 << 30))
    parser.add_argument("--only", default="", help="makers whose name contains this")
    parser.add_argument("--keep", help="folder for programs that differ")
    parser.add_argument("--store", help="write the programs and XLA's outputs to this file instead of asking Kashi")
    parser.add_argument("--show", type=int, default=20)
    a = parser.parse_args()
    print(f"{a.count} programs, seed {a.seed}, {len(MAKERS)} makers")
    xla, silent, differing, stored = Xla(), 0, 0, []
    for n in range(a.count):
        p = make(a.seed + n, a.only)
        with tempfile.TemporaryDirectory() as folder:
            with open(f"{folder}/module.hlo", "w") as f:
                f.write(p.text())
            for i, x in enumerate(p.inputs):
                np.save(f"{folder}/in{i}.npy", x if x.dtype.isbuiltin == 1 else x.view(f"V{x.itemsize}"))
            outs = xla.run(folder, len(p.inputs))
            if isinstance(outs, str):
                silent += 1
                if os.environ.get("VERBOSE"):
                    print(f"seed {a.seed + n}: XLA has no answer: {outs}\n{p.text()}")
                continue
            wants = [load(f"{folder}/xla{i}.npy", name) for i, name in enumerate(outs)]
            if a.store:
                stored.append((a.seed + n, p, wants))
                continue
            arguments = [word for i in range(len(p.inputs)) for word in ("--input", f"{folder}/in{i}.npy")]
            run = subprocess.run([a.kashi, "run", f"{folder}/module.hlo", *arguments, "--output-dir", f"{folder}/ours"],
                                 capture_output=True, text=True, timeout=60)
            why = None
            if run.returncode != 0:
                why = f"exit {run.returncode}: {run.stderr.strip()[-300:]}"
            for i, want in enumerate(wants):
                if why is None:
                    got = load(f"{folder}/ours/out{i}.npy", want.dtype.name)
                    why = difference(want, got, p.tolerance)
                    if why and want.size <= 40:
                        why += f" ({p.tolerance})\n  XLA   {want.ravel()}\n  Kashi {got.ravel()}"
            if why:
                differing += 1
                if differing <= a.show:
                    inputs = "\n".join(f"  p{i} = {x.ravel()[:40]}" for i, x in enumerate(p.inputs))
                    print(f"seed {a.seed + n}: {why}\n{p.text()}{inputs}\n")
                if a.keep:
                    os.makedirs(f"{a.keep}/{a.seed + n}", exist_ok=True)
                    subprocess.run(["cp", "-r", f"{folder}/.", f"{a.keep}/{a.seed + n}"], check=True)
    if a.store:
        with open(a.store, "w") as f:
            for seed, p, wants in stored:
                kinds = [kind_of(x.dtype) for x in p.inputs + wants]
                # Text has no NaN as a real part that leaves the imaginary part alone.
                has_nan = any(x.dtype.kind == "c" and np.isnan(x).any() for x in p.inputs + wants)
                if None in kinds or has_nan or sum(x.size for x in p.inputs + wants) > 600:
                    continue
                f.write(f"=== {seed} {p.tolerance}\n{p.text()}")
                for i, x in enumerate(p.inputs + wants):
                    f.write(f"--- {'input' if i < len(p.inputs) else 'output'}\n{literal_text(x, kinds[i])}\n")
    print(f"{a.count - silent} answered by XLA, {differing} differ")
    sys.exit(1 if differing else 0)


if __name__ == "__main__":
    main()
