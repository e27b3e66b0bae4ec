"""A random program in the making, and the list of makers, which add operations to it."""
import random

import numpy as np

FLOATS = ["f32", "f32", "f32", "f64", "bf16", "f16"]
NARROW = ["f8e4m3fn", "f8e5m2"]
SIGNED = ["s32", "s32", "s8", "s16", "s64"]
UNSIGNED = ["u32", "u8", "u16", "u64"]
COMPLEX = ["c64", "c128"]
INTEGERS = SIGNED + UNSIGNED
NUMBERS = FLOATS + INTEGERS
ANY = NUMBERS + ["pred", "c64", "c128", "s4"]
SUB_BYTE = ["s2", "u2", "s4", "u4"]
EIGHT_BIT_FLOATS = ["f8e4m3fn", "f8e5m2", "f8e4m3b11fnuz", "f8e4m3fnuz", "f8e5m2fnuz", "f8e3m4", "f8e4m3"]
FLOAT_KINDS = ["f16", "bf16", "f32", "f64"]
INTEGER_KINDS = ["s8", "s16", "s32", "s64", "u8", "u16", "u32", "u64"]
# FLUSHED: as EXACT, but denormal numbers and 0 are the same. NEAR: so many units in the last place, however small the
# number.
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
    return np.dtype(
        getattr(
            ml_dtypes, {"bf16": "bfloat16", "s2": "int2", "u2": "uint2", "s4": "int4", "u4": "uint4"}.get(
                name, "float8_" +name[2:])))


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
            return np.asarray(np.asarray(x).astype(np.float32).astype(d)
                              if kind not in COMPLEX +["f64"] else np.asarray(x).astype(d), d)

    def distinct(self, sizes):
        """None for a vector. Of several dimensions, numbers without ties: XLA:CPU visits the elements of some padded
        windows by columns, so that the tie of a compare is decided otherwise (docs/fidelity.md)."""
        return None if len(sizes) < 2 else 20 + self.numbers.permutation(int(np.prod(sizes))).reshape(sizes)

    def parameter(self, kind, sizes, values="any", array=None):
        value = Value(f"p{len(self.inputs)}", kind, sizes)
        self.inputs.append(np.asarray(self.data(kind, sizes, values) if array is None else array, dtype_of(kind)))
        self.lines.append(f"{value.name} = {value.text} parameter({len(self.inputs) - 1})")
        return value

    def operand(self, kinds, low=0, high=3, values="any", top=6, zero=0.03):
        """An earlier value of one of these types, or a new parameter."""
        fitting = [v for v in self.values if v.kind in kinds and low <=
            len(v.sizes) <= high and (zero or 0 not in v.sizes)]
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


def join(items):
    return "{" + ",".join(map(str, items)) + "}"
