#!/usr/bin/env python3
"""Runs random small programs through real XLA (its CPU compiler) and through `kashi run`, and prints where they differ.

  .venv/bin/python scripts/oracle_programs.py --kashi build/kashi [--count 500] [--seed 1] [--only dot] [--keep DIR]
  .venv/bin/python scripts/oracle_programs.py --store tests/data/evaluator/programs.txt --count 400

Needs a Python with jax (`./dev oracle` makes one in .venv). Each program is one to six operations on fresh or earlier values;
every operation of the op table that XLA's CPU compiler takes has a maker below. XLA is asked in a child process, because it may
abort. Where XLA's compiled code differs from IEEE on purpose (docs/fidelity.md), makers avoid the inputs that show it.
--store writes programs, inputs and XLA's outputs as text: the sample that the unit tests run."""
import argparse
import json
import os
import random
import re
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
# FLUSHED: as EXACT, but denormal numbers and 0 are the same. NEAR: so many units in the last place, however small the number.
EXACT, FLUSHED, NEAR, ULP, LOOSE = "exact", "flushed", "near", "ulp", "loose"
RANK = {EXACT: 0, FLUSHED: 1, NEAR: 2, ULP: 3, LOOSE: 4}


def dtype_of(name):
    import ml_dtypes

    plain = {"pred": "bool", "c64": "complex64", "c128": "complex128"}
    if name in plain:
        return np.dtype(plain[name])
    if name[0] in "su" and name[1:].isdigit() and int(name[1:]) >= 8:
        return np.dtype(("int" if name[0] == "s" else "uint") + name[1:])
    if name in ("f16", "f32", "f64"):
        return np.dtype("float" + name[1:])
    return np.dtype(getattr(ml_dtypes, {"bf16": "bfloat16", "s2": "int2", "u2": "uint2", "s4": "int4", "u4": "uint4"}.get(name, "float8_" + name[2:])))


class Value:
    def __init__(self, name, kind, sizes, tolerance=EXACT):
        self.name, self.kind, self.sizes, self.tolerance = name, kind, list(sizes), tolerance

    @property
    def text(self):
        return f"{self.kind}[{','.join(map(str, self.sizes))}]"


class Program:
    """A module in the making: lines of its entry, other computations, inputs."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.numbers = np.random.default_rng(seed)
        self.lines, self.computations, self.inputs, self.values = [], [], [], []
        self.tolerance = EXACT  # of what is emitted next
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

    def reuse(self, fitting):
        """One of these values; what is made of it is no closer than it is."""
        value = self.pick(fitting)
        self.loosen(value.tolerance)
        return value

    # ---- values
    def data(self, kind, sizes, values="any"):
        """values: any; whole: all numbers may be whole; positive; finite: no NaN, no infinity."""
        d, n = dtype_of(kind), self.numbers
        if kind == "pred":
            return n.integers(0, 2, sizes).astype(bool)
        if kind[0] in "su":
            bits = int(kind[1:])
            low, high = (-(1 << (bits - 1)), (1 << (bits - 1)) - 1) if kind[0] == "s" else (0, (1 << bits) - 1)
            small = n.integers(max(low, -9), min(high, 9) + 1, sizes)
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

    def distinct(self, sizes):
        """None for a vector. Of several dimensions, numbers without ties: XLA:CPU visits the elements of some padded windows
        by columns, so that the tie of a compare is decided otherwise (docs/fidelity.md)."""
        return None if len(sizes) < 2 else 20 + self.numbers.permutation(int(np.prod(sizes))).reshape(sizes)

    def parameter(self, kind, sizes, values="any", array=None):
        value = Value(f"p{len(self.inputs)}", kind, sizes)
        self.inputs.append(np.asarray(self.data(kind, sizes, values) if array is None else array, dtype_of(kind)))
        self.lines.append(f"{value.name} = {value.text} parameter({len(self.inputs) - 1})")
        return value

    def operand(self, kinds, low=0, high=3, values="any", top=6, zero=0.03):
        """An earlier value of one of these types, or a new parameter."""
        fitting = [v for v in self.values if v.kind in kinds and low <= len(v.sizes) <= high and (zero or 0 not in v.sizes)]
        if fitting and values == "any" and self.chance(0.7):
            return self.reuse(fitting)
        return self.parameter(self.pick(kinds), self.sizes(low, high, top, zero), values)

    def like(self, other, values="any"):
        fitting = [v for v in self.values if v.kind == other.kind and v.sizes == other.sizes]
        if fitting and values == "any" and self.chance(0.4):
            return self.reuse(fitting)
        return self.parameter(other.kind, other.sizes, values)

    def emit(self, kind, sizes, expression):
        value = Value(f"v{len(self.lines)}", kind, sizes, self.tolerance)
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

ANY = NUMBERS + ["pred", "c64", "c128", "s4"]


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
    kind, sizes = p.pick(["s32", "f32"]), p.sizes(1, 2, zero=0)
    window, out = window_text(p, sizes, allow_dilation=False)
    if "-" in window or 0 in out:
        return
    x = p.parameter(kind, sizes, "whole", array=p.distinct(sizes))
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
    if re.search(r"-\d+_[1-9]|[1-9]_-", window):
        return  # compiled code reads beyond the array
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


# --------------------------------------------------------------------------------------- extremes, narrow types, widening

SUB_BYTE = ["s2", "u2", "s4", "u4"]
EIGHT_BIT_FLOATS = ["f8e4m3fn", "f8e5m2", "f8e4m3b11fnuz", "f8e4m3fnuz", "f8e5m2fnuz", "f8e3m4", "f8e4m3"]
FLOAT_KINDS = ["f16", "bf16", "f32", "f64"]
INTEGER_KINDS = ["s8", "s16", "s32", "s64", "u8", "u16", "u32", "u64"]


def join(items):
    return "{" + ",".join(map(str, items)) + "}"


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
    x, y = (p.parameter(kind, sizes, array=p.numbers.choice([0.0, -0.0, 1.0, -1.0, np.inf, -np.inf, np.nan, 2.0, -2.0, 0.5, 3.0, -3.0], sizes)
                        .astype(dtype_of(kind))) for _ in range(2))
    p.loosen(NEAR)
    p.emit(kind, sizes, f"{op}({x.name}, {y.name})")


@maker("wide-integer")
def wide_integer(p, _):
    kind = p.pick(INTEGER_KINDS + SUB_BYTE)
    op = p.pick(["add", "subtract", "multiply", "divide", "remainder", "maximum", "minimum", "and", "or", "xor", "shift-left",
                 "shift-right-arithmetic", "shift-right-logical", "not", "negate", "abs", "sign", "popcnt", "count-leading-zeros",
                 "power", "clamp", "compare"])
    if kind[0] == "u" and op in ("abs", "sign") or kind[0] == "s" and op == "power":
        op = "negate"
    if kind in SUB_BYTE and op in ("popcnt", "count-leading-zeros"):
        op = "not"  # compiled code counts bits of a whole byte
    x = wide(p, kind)
    others = {"clamp": 2}.get(op, 0 if op in ("not", "negate", "abs", "sign", "popcnt", "count-leading-zeros") else 1)
    most = 63 if op == "power" else None  # compiled code reads the low six bits of an exponent
    ys = [p.parameter(kind, x.sizes, array=np.minimum(extremes(p, kind, x.sizes), most) if most else extremes(p, kind, x.sizes)).name
          for _ in range(others)]
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
    p.emit(x.kind, x.sizes, f"reduce-precision({x.name}), exponent_bits={p.random.randint(1, 11)}, mantissa_bits={p.random.randint(1, 52)}")


@maker("wide-compare")
def wide_compare(p, _):
    kind = p.pick(FLOAT_KINDS + EIGHT_BIT_FLOATS)
    x, y = (p.parameter(kind, [64], array=p.numbers.choice([0.0, -0.0, 1.0, -1.0, np.nan, 2.0, np.inf, -np.inf], [64]).astype(dtype_of(kind)))
            for _ in range(2))
    order = p.pick(["", ", type=TOTALORDER"]) if kind in FLOAT_KINDS else ""
    p.emit("pred", [64], f"compare({x.name}, {y.name}), direction={p.pick(['EQ', 'NE', 'LT', 'LE', 'GT', 'GE'])}{order}")


@maker("wide-complex")
def wide_complex(p, _):
    kind = p.pick(COMPLEX)
    op = p.pick(["exponential", "log", "sqrt", "rsqrt", "tanh", "sine", "cosine", "log-plus-one", "exponential-minus-one", "logistic",
                 "tan", "sign", "negate", "abs", "power", "divide", "atan2", "multiply", "real", "imag"])
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
    op = p.pick(["add", "subtract", "multiply", "divide", "negate", "abs", "exponential", "tanh", "sign", "floor", "sqrt", "is-finite"])
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
    one, many, ratio = p.pick([("u8", "u4", 2), ("s8", "s4", 2), ("u16", "s4", 4), ("f32", "u4", 8), ("f16", "u8", 2), ("f64", "s16", 4),
                               ("u8", "f8e5m2", 1), ("u16", "f8e5m2", 2), ("u8", "u2", 4), ("f32", "bf16", 2)])
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


# ------------------------------------------------------------------------------------------------ larger arrays: fast paths

@maker("big-elementwise")
def big_elementwise(p, _):
    kind = p.pick(FLOAT_KINDS + INTEGER_KINDS)
    sizes = [p.pick([3, 17]), p.random.randint(17, 300)]
    x, y, r = p.parameter(kind, sizes, "whole"), p.parameter(kind, sizes, "whole"), p.parameter(kind, [sizes[1]], "whole")
    b = p.emit(kind, sizes, f"broadcast({r.name}), dimensions={{1}}")
    m = p.emit(kind, sizes, f"multiply({x.name}, {b.name})")
    a = p.emit(kind, sizes, f"{p.pick(['add', 'subtract'])}({m.name}, {y.name})")
    p.loosen(LOOSE)  # fused multiply-add
    c = p.emit("pred", sizes, f"compare({a.name}, {x.name}), direction=LT")
    p.emit(kind, sizes, f"select({c.name}, {a.name}, {x.name})")


@maker("big-moves")
def big_moves(p, _):
    kind = p.pick(["f32", "s8", "bf16", "f64", "pred", "c128"])
    a, b, c = p.random.randint(1, 5), p.random.randint(17, 70), p.random.randint(17, 70)
    x = p.parameter(kind, [a, b, c])
    order = p.random.sample(range(3), 3)
    t = p.emit(kind, [x.sizes[d] for d in order], f"transpose({x.name}), dimensions={join(order)}")
    p.emit(kind, [a * b, c], f"reshape({x.name})")
    p.emit(kind, t.sizes, f"reverse({t.name}), dimensions={{{p.pick(['0', '1', '2', '1,2', '0,2'])}}}")
    p.emit(kind, [a, b - 3, (c - 5 + 1) // 2], f"slice({x.name}), slice={{[0:{a}], [3:{b}], [5:{c}:2]}}")


@maker("big-reduce")
def big_reduce(p, _):
    kind = p.pick(INTEGER_KINDS + FLOAT_KINDS + COMPLEX)
    op = p.pick(["add"] + (["maximum", "minimum"] if kind not in COMPLEX else []) + (["multiply", "xor", "and", "or"] if kind in INTEGER_KINDS else []))
    sizes = p.pick([[p.random.randint(300, 4000)], [p.random.randint(2, 70), p.random.randint(17, 300)], [5, p.random.randint(2, 40), 17]])
    x = p.parameter(kind, sizes, array=p.numbers.integers(0 if kind[0] == "u" else -2, 3, sizes).astype(dtype_of(kind)))
    # XLA's compiler starts every piece of a long reduction from the initial value: only neutral ones agree.
    neutral = {"add": 0, "xor": 0, "or": 0, "multiply": 1, "maximum": -2 if kind[0] != "u" else 0, "minimum": 2, "and": -1 if kind[0] == "s" else 0}[op]
    init = p.parameter(kind, [], array=np.asarray(neutral).astype(dtype_of(kind)))
    which = sorted(p.random.sample(range(len(sizes)), p.random.randint(1, len(sizes))))
    p.emit(kind, [n for d, n in enumerate(sizes) if d not in which],
           f"reduce({x.name}, {init.name}), dimensions={join(which)}, to_apply={p.scalar_function(op, kind)}")


@maker("big-sort")
def big_sort(p, _):
    kind = p.pick(INTEGER_KINDS + FLOAT_KINDS)
    sizes = p.pick([[p.random.randint(100, 700)], [3, p.random.randint(20, 300)], [p.random.randint(20, 300), 3]])
    x, i = p.parameter(kind, sizes, "whole"), p.parameter("s32", sizes, array=np.arange(np.prod(sizes)).reshape(sizes))
    f = p.computation([kind, kind, "s32", "s32"], [f"r = pred[] compare({p.pick(['a0, a1', 'a1, a0'])}), direction={p.pick(['LT', 'GT'])}"], "r")
    p.emit_tuple([(kind, sizes), ("s32", sizes)],
                 f"sort({x.name}, {i.name}), dimensions={{{p.below(len(sizes))}}}, is_stable=true, to_apply={f}")


@maker("big-dot")
def big_dot(p, _):
    kind = p.pick(FLOAT_KINDS + ["s32", "s8", "u8", "s64", "c64", "c128"])
    m, k, n = (p.pick([1, 2, 7, 17, 33, 65, 129]) for _ in range(3))
    batch = p.pick([[], [], [3]])
    left, right = p.chance(0.5), p.chance(0.5)
    x = p.parameter(kind, batch + ([m, k] if left else [k, m]), array=None, values="whole")
    y = p.parameter(kind, batch + ([k, n] if right else [n, k]), values="whole")
    r = len(batch)
    attributes = f", lhs_batch_dims={{0}}, rhs_batch_dims={{0}}" if batch else ""
    out = {"s8": "s32", "u8": "u32", "bf16": p.pick(["bf16", "f32"]), "f16": p.pick(["f16", "f32"])}.get(kind, kind)
    p.loosen(LOOSE)
    p.emit(out, batch + [m, n], f"dot({x.name}, {y.name}){attributes}, lhs_contracting_dims={{{r + left}}}, "
           f"rhs_contracting_dims={{{r + (not right)}}}")


@maker("dot-kinds")
def dot_kinds(p, _):
    kind, other, out = p.pick([("s8", "u8", "s32"), ("s8", "s8", "s64"), ("u8", "u8", "u8"), ("s16", "s16", "s32"), ("u32", "u32", "u32"),
                               ("f16", "f16", "f32"), ("f8e4m3fn", "f8e5m2", "f32"), ("bf16", "f32", "f32"), ("f32", "f32", "f64"),
                               ("c128", "c128", "c128"), ("pred", "pred", "pred"), ("f8e5m2", "f8e5m2", "f8e5m2"),
                               ("u64", "u64", "u64")])
    m, k, n = (p.random.randint(1, 9) for _ in range(3))
    x, y = p.parameter(kind, [m, k], "whole"), p.parameter(other, [k, n], "whole")
    p.loosen(LOOSE)
    p.emit(out, [m, n], f"dot({x.name}, {y.name}), lhs_contracting_dims={{1}}, rhs_contracting_dims={{0}}")


@maker("convolution-kinds")
def convolution_kinds(p, _):
    kind, out = p.pick([("s8", "s32"), ("u8", "u32"), ("s32", "s32"), ("s64", "s64"), ("f16", "f16"), ("f16", "f32"), ("bf16", "f32"), ("c64", "c64"),
                        ("c128", "c128"), ("f64", "f64"), ("f32", "f32"), ("u8", "s32"), ("f8e5m2", "f32")])
    n, h, w, i, o, g = 1, p.random.randint(5, 20), p.random.randint(5, 20), p.random.randint(1, 9), p.random.randint(1, 9), p.pick([1, 1, 1, 4])
    a, b, s = p.random.randint(1, 4), p.random.randint(1, 4), p.random.randint(1, 2)
    x, y = p.parameter(kind, [n, h, w, i * g], "whole"), p.parameter(kind, [a, b, i, o * g], "whole")
    p.loosen(LOOSE)
    p.emit(
        out, [n, (h + 2 - a) // s + 1, w + 1 - b + 1, o * g],
        f"convolution({x.name}, {y.name}), window={{size={a}x{b} stride={s}x1 pad=1_1x0_1}}, dim_labels=b01f_01io->b01f"
        + (f", feature_group_count={g}" if g > 1 else ""))


# ------------------------------------------------------------------------------------------------------- called functions

@maker("reduce-kinds")
def reduce_kinds(p, _):
    kind = p.pick(["f16", "bf16", "c64", "c128", "s4", "u4", "f8e5m2"])
    op = p.pick(["add"] + (["maximum", "minimum"] if kind not in COMPLEX else []) + (["multiply"] if kind[0] in "suc" else []))
    sizes = p.sizes(1, 3, zero=0)
    which = sorted(p.random.sample(range(len(sizes)), p.random.randint(1, len(sizes))))
    if np.prod([sizes[d] for d in which]) == 1:
        return
    x, init = p.parameter(kind, sizes, "whole"), p.parameter(kind, [], "whole")
    p.loosen(LOOSE)
    p.emit(kind, [n for d, n in enumerate(sizes) if d not in which],
           f"reduce({x.name}, {init.name}), dimensions={join(which)}, to_apply={p.scalar_function(op, kind)}")


@maker("reduce-ordered")
def reduce_ordered(p, _):
    """A function that does not commute: XLA folds from the left, the initial value first."""
    kind = p.pick(["s32", "u8", "s64", "u16"])
    sizes = p.sizes(1, 3, 7, zero=0)
    which = sorted(p.random.sample(range(len(sizes)), p.random.randint(1, len(sizes))))
    if np.prod([sizes[d] for d in which]) == 1:
        return
    x, init = p.parameter(kind, sizes, "whole"), p.parameter(kind, [], "whole")
    f = p.computation([kind, kind], [f"c = {kind}[] constant(3)", f"m = {kind}[] multiply(a0, c)", f"r = {kind}[] {p.pick(['add', 'subtract'])}(m, a1)"], "r")
    p.emit(kind, [n for d, n in enumerate(sizes) if d not in which],
           f"reduce({x.name}, {init.name}), dimensions={join(which)}, to_apply={f}")


@maker("reduce-several")
def reduce_several(p, _):
    sizes = p.sizes(1, 3, 6, zero=0)
    which = sorted(p.random.sample(range(len(sizes)), p.random.randint(1, len(sizes))))
    if np.prod([sizes[d] for d in which]) == 1:
        return
    real = p.pick(["f32", "f64"])
    kinds = [p.pick(["s32", real, "u8", "s64"]) for _ in range(p.random.randint(2, 3))]
    n = len(kinds)
    xs, inits = [p.parameter(k, sizes, "whole") for k in kinds], [p.parameter(k, [], "whole") for k in kinds]
    body = [f"c = pred[] compare(a0, a{n}), direction={p.pick(['LT', 'GE'])}"]
    for i, k in enumerate(kinds):
        body.append(f"r{i} = {k}[] " + (f"select(c, a{i}, a{n + i})" if i == 0 else p.pick([f"add(a{i}, a{n + i})", f"subtract(a{n + i}, a{i})", f"select(c, a{i}, a{n + i})"])))
    shape = "(" + ", ".join(k + "[]" for k in kinds) + ")"
    body.append(f"r = {shape} tuple({', '.join(f'r{i}' for i in range(n))})")
    f = p.computation(kinds * 2, body, "r")
    out = [s for d, s in enumerate(sizes) if d not in which]
    p.emit_tuple([(k, out) for k in kinds], f"reduce({', '.join(v.name for v in xs + inits)}), dimensions={join(which)}, to_apply={f}")


@maker("reduce-calls")
def reduce_calls(p, _):
    kind = p.pick(["s32", "f32"])
    sizes = [p.random.randint(2, 5), p.random.randint(2, 7)]
    g = p.computation([kind, kind], [f"m = {kind}[] maximum(a0, a1)", f"c = {kind}[] constant(2)", f"r = {kind}[] add(m, c)"], "r")
    f = p.computation([kind, kind], [f"r = {kind}[] call(a0, a1), to_apply={g}"], "r")
    x, init = p.parameter(kind, sizes, values="finite"), p.parameter(kind, [], "whole")
    p.emit(kind, [sizes[0]], f"reduce({x.name}, {init.name}), dimensions={{1}}, to_apply={f}")


@maker("cumulative")
def cumulative(p, _):
    kind = p.pick(["f32", "s32", "f64", "bf16", "f16", "s8", "u32", "c64"])
    op = p.pick(["add"] + (["maximum", "minimum"] if kind != "c64" else []) + (["multiply"] if kind in INTEGER_KINDS else []))
    n, m, d = p.pick([3, 9, 33, 130]), p.pick([1, 3, 17]), p.below(2)
    sizes = [n, m] if d == 0 else [m, n]
    x = p.parameter(kind, sizes, array=p.numbers.integers(0 if kind[0] == "u" else -2, 3, sizes).astype(dtype_of(kind)))
    init = p.parameter(kind, [], array=np.asarray(0 if op == "add" else 1).astype(dtype_of(kind)))
    size, pad = ([n, 1], f"{n - 1}_0x0_0") if d == 0 else ([1, n], f"0_0x{n - 1}_0")
    if p.chance(0.3):
        pad = f"0_{n - 1}x0_0" if d == 0 else f"0_0x0_{n - 1}"
    p.loosen(LOOSE)
    p.emit(kind, sizes, f"reduce-window({x.name}, {init.name}), window={{size={size[0]}x{size[1]} pad={pad}}}, to_apply={p.scalar_function(op, kind)}")


@maker("reduce-window-kinds")
def reduce_window_kinds(p, _):
    kind = p.pick(["f64", "bf16", "f16", "s16", "u8", "s64", "c64", "pred"])
    x = p.parameter(kind, p.sizes(1, 4, 7), "whole")
    # Compiled code folds f16 in f32: products that are too large for f16 on the way are not there.
    _, f = reducer(p, kind) if kind not in ("c64", "f16") else ("", p.scalar_function("add", kind))
    init = p.parameter(kind, [], "whole")
    window, out = window_text(p, x.sizes)
    p.loosen(LOOSE)
    p.emit(kind, out, f"reduce-window({x.name}, {init.name}), {window}, to_apply={f}")


@maker("reduce-window-several")
def reduce_window_several(p, _):
    kind = p.pick(["f32", "s32", "s64"])
    sizes = p.sizes(1, 2, 7, zero=0)
    x = p.parameter(kind, sizes, "whole", array=p.distinct(sizes))
    i = p.parameter("s32", sizes)
    inits = [p.parameter(kind, [], "whole"), p.parameter("s32", [])]
    f = p.computation([kind, "s32", kind, "s32"], [
        f"c = pred[] compare(a0, a2), direction={p.pick(['GE', 'LT'])}", f"v = {kind}[] select(c, a0, a2)", "w = s32[] select(c, a1, a3)",
        f"r = ({kind}[], s32[]) tuple(v, w)"], "r")
    window, out = window_text(p, x.sizes)
    p.emit_tuple([(kind, out), ("s32", out)], f"reduce-window({x.name}, {i.name}, {inits[0].name}, {inits[1].name}), {window}, to_apply={f}")


@maker("select-and-scatter-padded")
def select_and_scatter_padded(p, _):
    kind = p.pick(["f32", "s32", "f64", "bf16", "s64"])
    n, size, stride = p.random.randint(4, 12), p.random.randint(2, 4), p.random.randint(1, 3)
    lo, hi = p.below(size), p.below(size)
    out = (n + lo + hi - size) // stride + 1
    m = p.random.randint(1, 3)
    x, source, init = p.parameter(kind, [n, m], "whole"), p.parameter(kind, [out, m], "whole"), p.parameter(kind, [], "whole")
    s = p.computation([kind, kind], [f"r = pred[] compare(a0, a1), direction={p.pick(['GE', 'LE', 'GT'])}"], "r")
    p.loosen(LOOSE)
    p.emit(kind, [n, m], f"select-and-scatter({x.name}, {source.name}, {init.name}), window={{size={size}x1 stride={stride}x1 pad={lo}_{hi}x0_0}}, "
           f"select={s}, scatter={p.scalar_function('add', kind)}")


@maker("gather-batching")
def gather_batching(p, _):
    kind = p.pick(["f32", "s8", "c64", "s64", "pred"])
    b, n, m, k = (p.random.randint(1, 5) for _ in range(4))
    x = p.parameter(kind, [b, n, m])
    indices = p.parameter(p.pick(["s32", "u8", "s64", "u32"]), [b, k], array=p.numbers.integers(0, 7, [b, k]))
    w = p.random.randint(1, m)
    p.emit(kind, [b, k, w], f"gather({x.name}, {indices.name}), offset_dims={{2}}, collapsed_slice_dims={{1}}, start_index_map={{1}}, "
           f"operand_batching_dims={{0}}, start_indices_batching_dims={{0}}, index_vector_dim=2, slice_sizes={{1,1,{w}}}")


@maker("gather-rows")
def gather_rows(p, _):
    kind = p.pick(["f32", "bf16", "s8", "f64", "c128"])
    n, m, k = p.random.randint(3, 40), p.pick([1, 3, 17, 65]), p.random.randint(1, 40)
    x = p.parameter(kind, [n, m])
    index = p.pick(["s32", "s64", "u16", "s8"])
    indices = p.parameter(index, [k], array=p.numbers.integers(0 if index[0] == "u" else -3, n + 3, [k]))
    p.emit(kind, [k, m], f"gather({x.name}, {indices.name}), offset_dims={{1}}, collapsed_slice_dims={{0}}, start_index_map={{0}}, "
           f"index_vector_dim=1, slice_sizes={{1,{m}}}")


@maker("scatter-batching")
def scatter_batching(p, _):
    kind = p.pick(["s32", "f32", "u8", "s64"])
    b, n, m, k = (p.random.randint(1, 5) for _ in range(4))
    x, u = p.parameter(kind, [b, n, m], "whole"), p.parameter(kind, [b, k, m], "whole")
    indices = p.parameter("s32", [b, k], array=p.numbers.integers(-1, n + 1, [b, k]))
    p.emit(kind, x.sizes, f"scatter({x.name}, {indices.name}, {u.name}), update_window_dims={{2}}, inserted_window_dims={{1}}, "
           f"scatter_dims_to_operand_dims={{1}}, input_batching_dims={{0}}, scatter_indices_batching_dims={{0}}, index_vector_dim=2, "
           f"to_apply={p.scalar_function(p.pick(['add', 'multiply', 'maximum']), kind)}")


@maker("scatter-assign")
def scatter_assign(p, _):
    kind = p.pick(["s32", "f32", "bf16", "f64", "u8", "pred", "c64", "s4"])
    n, m = p.random.randint(2, 40), p.pick([1, 3, 17])
    k = p.random.randint(1, n)
    x, u = p.parameter(kind, [n, m]), p.parameter(kind, [k, m])
    indices = p.parameter("s32", [k, 1], array=p.numbers.permutation(n)[:k].reshape(k, 1))
    f = f"f{len(p.computations)}"
    p.computations.append(f"{f} {{\n  a0 = {kind}[] parameter(0)\n  ROOT a1 = {kind}[] parameter(1)\n}}")
    p.emit(kind, [n, m], f"scatter({x.name}, {indices.name}, {u.name}), update_window_dims={{1}}, inserted_window_dims={{0}}, "
           f"scatter_dims_to_operand_dims={{0}}, index_vector_dim=1, unique_indices={p.pick(['true', 'false'])}, to_apply={f}")


@maker("scatter-ordered")
def scatter_ordered(p, _):
    kind = p.pick(["s32", "s64", "u8"])
    n, k = p.random.randint(2, 9), p.random.randint(1, 20)
    x, u = p.parameter(kind, [n], "whole"), p.parameter(kind, [k], "whole")
    indices = p.parameter("s32", [k], array=p.numbers.integers(-1, n + 1, [k]))
    f = p.computation([kind, kind], [f"c = {kind}[] constant(3)", f"m = {kind}[] multiply(a0, c)", f"r = {kind}[] subtract(m, a1)"], "r")
    p.emit(kind, [n], f"scatter({x.name}, {indices.name}, {u.name}), update_window_dims={{}}, inserted_window_dims={{0}}, "
           f"scatter_dims_to_operand_dims={{0}}, index_vector_dim=1, to_apply={f}")


@maker("scatter-several")
def scatter_several(p, _):
    n, k = p.random.randint(2, 9), p.random.randint(1, 12)
    kinds = [p.pick(["s32", "f32", "u8"]) for _ in range(2)]
    xs, us = [p.parameter(t, [n], "whole") for t in kinds], [p.parameter(t, [k], "whole") for t in kinds]
    indices = p.parameter("s32", [k], array=p.numbers.integers(-1, n + 1, [k]))
    shape = f"({kinds[0]}[], {kinds[1]}[])"
    f = p.computation(kinds * 2, [f"x = {kinds[0]}[] add(a0, a2)", f"y = {kinds[1]}[] maximum(a1, a3)", f"r = {shape} tuple(x, y)"], "r")
    p.emit_tuple([(t, [n]) for t in kinds],
                 f"scatter({xs[0].name}, {xs[1].name}, {indices.name}, {us[0].name}, {us[1].name}), update_window_dims={{}}, "
                 f"inserted_window_dims={{0}}, scatter_dims_to_operand_dims={{0}}, index_vector_dim=1, to_apply={f}")


@maker("sort-jax")
def sort_jax(p, _):
    """JAX's comparator of floating point: 0 and -0 are equal, NaNs too and last; then by the next key."""
    kind, sizes = p.pick(FLOAT_KINDS), p.pick([[p.random.randint(2, 40)], [3, p.random.randint(2, 20)]])
    x = p.parameter(kind, sizes, array=p.numbers.choice([0.0, -0.0, np.nan, np.inf, -np.inf, 1.0, 2.0, -1.0], sizes).astype(dtype_of(kind)))
    y, i = p.parameter("s32", sizes), p.parameter("u8", sizes)
    two = p.chance(0.5)
    body = [f"zero = {kind}[] constant(0)", f"none = {kind}[] constant(nan)"]
    for a, b in (("a0", "x"), ("a1", "y")):
        body += [f"{b}z = pred[] compare({a}, zero), direction=EQ", f"{b}s = {kind}[] select({b}z, zero, {a})",
                 f"{b}n = pred[] compare({a}, {a}), direction=NE", f"{b} = {kind}[] select({b}n, none, {b}s)"]
    body.append(f"lt = pred[] compare(x, y), direction=LT, type=TOTALORDER")
    if two:
        body += ["eq = pred[] compare(x, y), direction=EQ, type=TOTALORDER", "lt2 = pred[] compare(a2, a3), direction=LT", "r = pred[] select(eq, lt2, lt)"]
    f = p.computation([kind, kind, "s32", "s32", "u8", "u8"], body, "r" if two else "lt")
    p.emit_tuple([(kind, sizes), ("s32", sizes), ("u8", sizes)],
                 f"sort({x.name}, {y.name}, {i.name}), dimensions={{{len(sizes) - 1}}}, is_stable=true, to_apply={f}")


@maker("topk-ties")
def topk_ties(p, _):
    kind, sizes = p.pick(["f32", "f32", "bf16", "f16", "s32"]), p.pick([[p.random.randint(2, 70)], [3, p.random.randint(2, 40)]])
    values = [0.0, -0.0, np.nan, np.inf, -np.inf, 1.0, 2.0, -1.0] if kind != "s32" else [0, 1, 2, -1]
    x = p.parameter(kind, sizes, array=p.numbers.choice(values, sizes).astype(dtype_of(kind)))
    k = p.random.randint(1, sizes[-1])
    p.emit_tuple([(kind, sizes[:-1] + [k]), ("s32", sizes[:-1] + [k])], f"topk({x.name}), k={k}, largest={p.pick(['true', 'false'])}")


# ------------------------------------------------------------------------------------------------------------ mathematics

@maker("fft-wide")
def fft_wide(p, _):
    kind, n, b = p.pick(["FFT", "IFFT", "RFFT", "IRFFT"]), p.pick([1, 2, 7, 16, 17, 30, 64, 97, 128, 360]), p.random.randint(1, 3)
    p.special = False
    real, full = p.pick([("f32", "c64"), ("f64", "c128")])
    half = [b, n // 2 + 1]
    x = p.parameter(real if kind == "RFFT" else full, half if kind == "IRFFT" else [b, n])
    p.loosen(LOOSE)
    p.emit(real if kind == "IRFFT" else full, half if kind == "RFFT" else [b, n], f"fft({x.name}), fft_type={kind}, fft_length={{{n}}}")


@maker("cholesky-wide")
def cholesky_wide(p, _):
    kind, n = p.pick(["f32", "f64", "c64", "c128"]), p.pick([1, 3, 9, 33])
    batch = p.sizes(0, 2, 3, zero=0)
    a = p.numbers.normal(size=batch + [n, n]) + (1j * p.numbers.normal(size=batch + [n, n]) if kind in COMPLEX else 0)
    x = p.parameter(kind, batch + [n, n], array=a @ np.swapaxes(a, -1, -2).conj() + n * np.eye(n))
    lower = p.chance(0.5)
    p.loosen(LOOSE)
    p.emit(kind, x.sizes, f"cholesky({x.name}), lower={str(lower).lower()}")


@maker("triangular-solve-wide")
def triangular_solve_wide(p, _):
    kind, n, m = p.pick(["f32", "f64", "c64", "c128"]), p.pick([1, 3, 9, 33]), p.pick([1, 2, 17])
    batch, left = p.sizes(0, 2, 3, zero=0), p.chance(0.5)
    def draw(sizes):
        return p.numbers.normal(size=sizes) + (1j * p.numbers.normal(size=sizes) if kind in COMPLEX else 0)
    a = p.parameter(kind, batch + [n, n], array=draw(batch + [n, n]) / n + 4 * np.eye(n))
    b = p.parameter(kind, batch + ([n, m] if left else [m, n]), array=draw(batch + ([n, m] if left else [m, n])))
    p.loosen(LOOSE)
    p.emit(kind, b.sizes, f"triangular-solve({a.name}, {b.name}), left_side={str(left).lower()}, lower={p.pick(['true', 'false'])}, "
           f"unit_diagonal={p.pick(['true', 'false'])}, transpose_a={p.pick(['NO_TRANSPOSE', 'TRANSPOSE', 'ADJOINT'])}")


@maker("rng-bit-generator-kinds")
def rng_bit_generator_kinds(p, _):
    algorithm = p.pick(["rng_three_fry", "rng_philox", "rng_default"])
    n = 2 if algorithm == "rng_three_fry" else p.pick([2, 3])
    state = p.parameter("u64", [n], array=p.numbers.integers(0, 2**63, [n], dtype=np.uint64) * np.uint64(2) + np.uint64(p.below(2)))
    out = (p.pick(["u8", "u16", "u32", "u64", "u4", "u2"]), p.pick([[], [1], [5], [17], [3, 4], [4, 3], [7, 3], [2, 3, 5], [300], [0]]))
    p.emit_tuple([("u64", [n]), out], f"rng-bit-generator({state.name}), algorithm={algorithm}")


@maker("stochastic-convert")
def stochastic_convert(p, _):
    kind, to = p.pick([("f32", "s32"), ("f64", "s64"), ("bf16", "s16"), ("f16", "s16")])
    bits = {"f32": "u32", "f64": "u64", "bf16": "u16", "f16": "u16"}[kind]
    x = p.parameter(kind, [20], "whole")
    r = p.parameter(bits, [20], array=p.numbers.integers(0, 2 ** int(bits[1:]), [20], dtype=np.uint64))
    p.emit(to, [20], f"stochastic-convert({x.name}, {r.name})")


# ----------------------------------------------------------------------------------------------------------- control flow

@maker("while-update")
def while_update(p, _):
    """What a scan becomes: a row a turn, written into the state."""
    kind, n, m = p.pick(["s32", "f32", "s64"]), p.random.randint(1, 9), p.random.randint(1, 6)
    shape = f"(s32[], {kind}[{m}], {kind}[{n},{m}], {kind}[{n},{m}])"
    condition = p.computation([shape], ["i = s32[] get-tuple-element(a0), index=0", f"n = s32[] constant({n})", "r = pred[] compare(i, n), direction=LT"], "r")
    body = p.computation([shape], [
        "i = s32[] get-tuple-element(a0), index=0", f"c = {kind}[{m}] get-tuple-element(a0), index=1",
        f"xs = {kind}[{n},{m}] get-tuple-element(a0), index=2", f"ys = {kind}[{n},{m}] get-tuple-element(a0), index=3",
        "zero = s32[] constant(0)", "one = s32[] constant(1)", f"x = {kind}[1,{m}] dynamic-slice(xs, i, zero), dynamic_slice_sizes={{1,{m}}}",
        f"row = {kind}[{m}] reshape(x)", f"d = {kind}[{m}] subtract(row, c)", f"y = {kind}[1,{m}] reshape(d)",
        f"out = {kind}[{n},{m}] dynamic-update-slice(ys, y, i, zero)", "j = s32[] add(i, one)", f"r = {shape} tuple(j, d, xs, out)"], "r")
    i, c, xs, ys = (p.parameter("s32", [], array=np.int32(p.below(2))), p.parameter(kind, [m], "whole"), p.parameter(kind, [n, m], "whole"),
                    p.parameter(kind, [n, m], "whole"))
    name = f"v{len(p.lines)}"
    p.lines.append(f"{name}t = {shape} tuple({i.name}, {c.name}, {xs.name}, {ys.name})")
    p.lines.append(f"{name} = {shape} while({name}t), condition={condition}, body={body}")
    p.emit(kind, [m], f"get-tuple-element({name}), index=1")
    p.emit(kind, [n, m], f"get-tuple-element({name}), index=3")
    p.emit(kind, [n, m], f"add({xs.name}, {ys.name})")  # the inputs are as they were


@maker("while-nested")
def while_nested(p, _):
    m = p.random.randint(1, 5)
    shape = f"(s32[], s32[], s32[{m}])"
    def loop(index, limit, inner):
        condition = p.computation([shape], [f"i = s32[] get-tuple-element(a0), index={index}", f"n = s32[] constant({limit})", "r = pred[] compare(i, n), direction=LT"], "r")
        get = [f"i = s32[] get-tuple-element(s), index=0", "j = s32[] get-tuple-element(s), index=1", f"x = s32[{m}] get-tuple-element(s), index=2",
               "one = s32[] constant(1)", "zero = s32[] constant(0)"]
        if inner:
            lines = [f"s = {shape} while(a0), condition={inner[0]}, body={inner[1]}"] + get + ["k = s32[] add(i, one)", f"r = {shape} tuple(k, zero, x)"]
        else:
            lines = [f"s = {shape} copy(a0)"] + get + [f"b = s32[{m}] broadcast(i), dimensions={{}}", f"t = s32[{m}] add(x, x)", f"y = s32[{m}] subtract(t, b)",
                                                      "k = s32[] add(j, one)", f"r = {shape} tuple(i, k, y)"]
        return condition, p.computation([shape], lines, "r")
    condition, body = loop(0, p.random.randint(0, 3), loop(1, p.random.randint(0, 3), None))
    i, j, x = p.parameter("s32", [], array=np.int32(0)), p.parameter("s32", [], array=np.int32(p.below(2))), p.parameter("s32", [m])
    name = f"v{len(p.lines)}"
    p.lines.append(f"{name}t = {shape} tuple({i.name}, {j.name}, {x.name})")
    p.lines.append(f"{name} = {shape} while({name}t), condition={condition}, body={body}")
    for k, sizes in enumerate([[], [], [m]]):
        p.emit("s32", sizes, f"get-tuple-element({name}), index={k}")


@maker("conditional-tuple")
def conditional_tuple(p, _):
    n = p.random.randint(1, 6)
    shape = f"(s32[{n}], f32[])"
    branches = []
    for op in p.random.sample(["add", "subtract", "multiply"], 2):
        branches.append(p.computation([shape], [f"x = s32[{n}] get-tuple-element(a0), index=0", "y = f32[] get-tuple-element(a0), index=1",
                                                f"z = s32[{n}] {op}(x, x)", f"w = f32[] {op}(y, y)", f"r = {shape} tuple(z, w)"], "r"))
    condition, x, y = p.parameter("pred", []), p.parameter("s32", [n]), p.parameter("f32", [])
    name = f"v{len(p.lines)}"
    p.lines.append(f"{name}t = {shape} tuple({x.name}, {y.name})")
    p.emit_tuple([("s32", [n]), ("f32", [])],
                 f"conditional({condition.name}, {name}t, {name}t), true_computation={branches[0]}, false_computation={branches[1]}")


@maker("nested-tuple")
def nested_tuple(p, _):
    x, y = p.parameter("s32", p.sizes()), p.parameter("f32", p.sizes())
    inner, outer = f"({y.text}, {x.text})", f"({x.text}, ({y.text}, {x.text}))"
    f = p.computation([outer], [f"x = {x.text} get-tuple-element(a0), index=0", f"t = {inner} get-tuple-element(a0), index=1",
                                f"z = {x.text} get-tuple-element(t), index=1", f"y = {y.text} get-tuple-element(t), index=0",
                                f"s = {x.text} subtract(z, x)", f"t2 = {inner} tuple(y, s)", f"r = {outer} tuple(z, t2)"], "r")
    name = f"v{len(p.lines)}"
    p.lines += [f"{name}n = {x.text} negate({x.name})", f"{name}i = {inner} tuple({y.name}, {name}n)", f"{name}o = {outer} tuple({x.name}, {name}i)",
                f"{name}c = {outer} call({name}o), to_apply={f}", f"{name}b = {outer} opt-barrier({name}c)",
                f"{name}t = {inner} get-tuple-element({name}b), index=1"]
    p.emit(x.kind, x.sizes, f"get-tuple-element({name}b), index=0")
    p.emit(x.kind, x.sizes, f"get-tuple-element({name}t), index=1")
    p.emit(y.kind, y.sizes, f"get-tuple-element({name}t), index=0")


@maker("dynamic")
def dynamic(p, _):
    """A bounded array, something on it, and what a sum and its size say."""
    n, m, kind = p.random.randint(1, 7), p.random.randint(1, 4), p.pick(["s32", "f32"])
    size = p.random.randint(0, n)
    x, s, zero = p.parameter(kind, [n, m], "finite"), p.parameter("s32", [], array=np.int32(size)), p.parameter(kind, [], array=np.zeros([]))
    name = f"v{len(p.lines)}"
    shape = f"{kind}[<={n},{m}]"
    line = lambda text: p.lines.append(f"{name}{text}")
    line(f"d = {shape} set-dimension-size({x.name}, {s.name}), dimensions={{0}}")
    which = p.pick(["none", "negate", "reverse", "pad", "concatenate", "slice", "transpose", "broadcast", "sort", "dot", "select", "reshape"])
    out, axis, rank = shape, 0, 2
    if which == "negate":
        line(f"e = {shape} negate({name}d)")
    elif which == "reverse":
        line(f"e = {shape} reverse({name}d), dimensions={{0}}")
    elif which == "pad":
        lo, hi = p.below(3), p.below(3)
        out = f"{kind}[<={n + lo + hi},{m}]"
        line(f"e = {out} pad({name}d, {zero.name}), padding={lo}_{hi}x0_0")
    elif which == "concatenate":
        y, k = p.parameter(kind, [2, m], "finite"), 0
        out = f"{kind}[<={n + 2},{m}]"
        line(f"e = {out} concatenate({name}d, {y.name}), dimensions={{0}}")
    elif which == "slice":
        out = f"{kind}[<={n},1]"
        line(f"e = {out} slice({name}d), slice={{[0:{n}], [0:1]}}")
    elif which == "transpose":
        out, axis = f"{kind}[{m},<={n}]", 1
        line(f"e = {out} transpose({name}d), dimensions={{1,0}}")
    elif which == "broadcast":
        out, axis, rank = f"{kind}[2,<={n},{m}]", 1, 3
        line(f"e = {out} broadcast({name}d), dimensions={{1,2}}")
    elif which == "sort":
        f = p.computation([kind, kind], ["r = pred[] compare(a0, a1), direction=LT"], "r")
        line(f"e = {out} sort({name}d), dimensions={{0}}, to_apply={f}, is_stable=true")
    elif which == "dot":
        y = p.parameter(kind, [m, 3], "finite")
        out = f"{kind}[<={n},3]"
        line(f"e = {out} dot({name}d, {y.name}), lhs_contracting_dims={{1}}, rhs_contracting_dims={{0}}")
    elif which == "select":
        line(f"c = pred[<={n},{m}] compare({name}d, {name}d), direction=EQ")
        line(f"e = {out} select({name}c, {name}d, {name}d)")
    elif which == "reshape":
        out, axis, rank = f"{kind}[<={n},1,{m}]", 0, 3
        line(f"e = {out} reshape({name}d)")
    else:
        line(f"e = {out} add({name}d, {name}d)")
    f = p.scalar_function("add", kind)
    p.loosen(LOOSE)
    p.emit(kind, [], f"reduce({name}e, {zero.name}), dimensions={join(range(rank))}, to_apply={f}")
    p.emit("s32", [], f"get-dimension-size({name}e), dimensions={{{axis}}}")
    if p.chance(0.5):
        others = [d for d in range(rank) if d != axis]
        sizes = [int(t) for d, t in enumerate(out[len(kind) + 1:-1].split(",")) if d != axis]
        p.emit(kind, sizes, f"reduce({name}e, {zero.name}), dimensions={{{axis}}}, to_apply={f}")


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
        k = {EXACT: 0, FLUSHED: 0, NEAR: 64, ULP: 64, LOOSE: 4096}[tolerance]
        k = min(k, 2 if tolerance == NEAR else 16) if eps > 1e-4 else k
        scale = np.nanmax(np.where(np.isfinite(x), np.abs(x), 0), initial=0) if tolerance in (ULP, LOOSE) else 0
        if tolerance in (FLUSHED, NEAR):
            tiny = {"float64": 2.3e-308, "complex128": 2.3e-308, "float16": 6.2e-5}.get(want.dtype.name, 1.2e-38)
            parts = [(np.where(np.abs(z.real) < tiny, 0, z.real), np.where(np.abs(z.imag) < tiny, 0, z.imag)) for z in (x, y)]
            same |= (parts[0][0] == parts[1][0]) & (parts[0][1] == parts[1][1])
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
    return x.view(np.dtype(getattr(ml_dtypes, name, name))) if x.dtype.kind == "V" else x


def make(seed, only):
    p = Program(seed)
    for _ in range(p.random.randint(1, 6)):
        p.tolerance = EXACT
        MAKERS[p.pick([m for m in MAKERS if any(word in m for word in only.split(","))])](p)
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
    for kind in set(ANY + NARROW + COMPLEX + SUB_BYTE + EIGHT_BIT_FLOATS):
        if dtype_of(kind) == dtype:
            return kind
    return None


def stored_text(seed, p, wants):
    """The program, its inputs and outputs as programs_test.cc reads them; nothing if they are large."""
    kinds = [kind_of(x.dtype) for x in p.inputs + wants]
    # Text has no NaN as a real part that leaves the imaginary part alone.
    has_nan = any(x.dtype.kind == "c" and np.isnan(x).any() for x in p.inputs + wants)
    if None in kinds or has_nan or sum(x.size for x in p.inputs + wants) > 600:
        return ""
    text = f"=== {seed}\n{p.text()}"
    parts = ["input"] * len(p.inputs) + [f"output {v.tolerance}" for v in p.values]
    for part, x, kind in zip(parts, p.inputs + wants, kinds):
        text += f"--- {part}\n{literal_text(x, kind)}\n"
    return text if len(text) <= 5200 else ""


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kashi", default="build/kashi")
    parser.add_argument("--count", type=int, default=500)
    parser.add_argument("--seed", type=int, default=random.randrange(1 << 30))
    parser.add_argument("--only", default="", help="makers whose name contains one of these words, commas between")
    parser.add_argument("--keep", help="folder for programs that differ")
    parser.add_argument("--store", help="write the programs and XLA's outputs to this file instead of asking Kashi")
    parser.add_argument("--show", type=int, default=20)
    a = parser.parse_args()
    print(f"{a.count} programs, seed {a.seed}, {len(MAKERS)} makers")
    if a.store:
        open(a.store, "w").close()
    xla, silent, differing = Xla(), 0, 0
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
                with open(a.store, "a") as f:
                    f.write(stored_text(a.seed + n, p, wants))
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
                    why = difference(want, got, p.values[i].tolerance)
                    if why and want.size <= 40:
                        why += f" ({p.values[i].tolerance})\n  XLA   {want.ravel()}\n  Kashi {got.ravel()}"
            if why:
                differing += 1
                if differing <= a.show:
                    inputs = "\n".join(f"  p{i} = {x.ravel()[:40]}" for i, x in enumerate(p.inputs))
                    print(f"seed {a.seed + n}: {why}\n{p.text()}{inputs}\n")
                if a.keep:
                    os.makedirs(f"{a.keep}/{a.seed + n}", exist_ok=True)
                    subprocess.run(["cp", "-r", f"{folder}/.", f"{a.keep}/{a.seed + n}"], check=True)
    print(f"{a.count - silent} answered by XLA, {differing} differ")
    sys.exit(1 if differing else 0)


if __name__ == "__main__":
    main()
