"""A relayout problem of the lists beside this file, and what NumPy, XLA and oneDNN have to know of it.

    f32[1000,1001] -> {1,0:T(8,128)}            row-major to tiled
    swap: f32[8,16]{1,0:T(2,128)} -> {0,1}      with a name

A side of a problem is its list of digits, the slowest first: of which dimension, worth how much, how many values.

    f32[64,256]{1,0:T(8,128)}    (0, 8, 8) (1, 128, 2) (0, 1, 8) (1, 1, 128)
"""
import re

BITS = {"pred": 8, "s4": 8, "u4": 8, "s8": 8, "u8": 8, "s16": 16, "u16": 16, "f16": 16, "bf16": 16, "s32": 32,
        "u32": 32, "f32": 32, "s64": 64, "u64": 64, "f64": 64, "c64": 64, "c128": 128}
SHAPE = re.compile(r"(\w+)\[([\d,]*)\]\s*(\{.*\})?$")


class Unsupported(Exception):
    """A peer cannot express this; the message says why."""


def product(values):
    result = 1
    for value in values:
        result *= value
    return result


class Side:
    def __init__(self, element_type, dims, layout):
        self.dims = dims
        order, _, rest = (layout or "").strip("{}").partition(":")
        self.minor_to_major = [int(d) for d in order.split(",") if d]
        if not layout:
            self.minor_to_major = list(reversed(range(len(dims))))
        tiles = re.match(r"T((?:\([\d,*]+\))+)", rest)
        self.tiles = [tile.split(",") for tile in re.findall(r"\(([\d,*]+)\)", tiles[1])] if tiles else []
        packed = re.search(r"E\((\d+)\)", rest)
        self.element_bits = int(packed[1]) if packed else BITS[element_type]
        self.digits, self.padded = self._digits()

    def _digits(self):
        """Digits, and how many values each dimension has with its padding."""
        digits = [(d, 1, self.dims[d]) for d in reversed(self.minor_to_major)]
        for level, tile in enumerate(self.tiles):
            if "*" in tile or len(tile) > len(digits):
                raise Unsupported("a tile that merges dimensions, or is longer than the rank")
            sizes = [int(size) for size in tile]
            tiled = digits[-len(sizes):]
            if level and any(values % size for (_, _, values), size in zip(tiled, sizes)):
                raise Unsupported("a tile that does not divide the one around it")
            outer = [(d, weight * size, -(-values // size)) for (d, weight, values), size in zip(tiled, sizes)]
            inner = [(d, weight, size) for (d, weight, _), size in zip(tiled, sizes)]
            digits = digits[:-len(sizes)] + outer + inner
        padded = [product(v for dim, _, v in digits if dim == d) for d in range(len(self.dims))]
        return digits, padded

    @property
    def is_padded(self):
        return self.padded != self.dims

    @property
    def elements(self):
        """Places for elements, padding included."""
        return product(self.padded)

    @property
    def bytes(self):
        return -(-self.elements * self.element_bits // 8)


class Problem:
    def __init__(self, line):
        self.line = line
        head, colon, rest = line.partition(":")
        self.has_name = bool(colon) and re.fullmatch(r"[^\[{]+", head) is not None
        source, arrow, target = (rest if self.has_name else line).partition("->")
        shape = SHAPE.match(source.strip())
        if not shape or not arrow:
            raise ValueError(f"no problem: {line!r}")
        self.name = head.strip() if self.has_name else line
        self.type = shape[1]
        dims = [int(size) for size in shape[2].split(",") if size]
        target = target.strip()
        whole = SHAPE.match(target)
        self.target_type = whole[1] if whole else self.type
        self.source = Side(self.type, dims, shape[3])
        self.target = Side(self.target_type, dims, whole[3] if whole else target)

    @property
    def bytes(self):
        """Read and written."""
        return self.source.bytes + self.target.bytes

    def element_bytes(self):
        """The element size in both buffers, for peers that only move whole elements."""
        bits = self.source.element_bits
        if self.type != self.target_type:
            raise Unsupported("converts elements")
        if bits != self.target.element_bits or bits < 8:
            raise Unsupported("packed elements")
        return bits // 8

    def transpose(self):
        """(sizes, permutation): the source as an array of these sizes, transposed so, is the target.

        As few dimensions as possible. Unsupported where padding is in the way."""
        if self.source.is_padded or self.target.is_padded:
            raise Unsupported("padding")
        source, target = [self._refine(side) for side in (self.source, self.target)]
        order = [source.index(digit) for digit in target]
        return fuse([size for _, _, size in source], order)

    def _refine(self, side):
        """The digits of a side, cut where the other side's digits begin."""
        refined = []
        for dim, weight, values in side.digits:
            cuts = sorted({w for other in (self.source, self.target) for d, w, v in other.digits
                           if d == dim and weight < w < weight * values} | {weight, weight * values})
            for low, high in reversed(list(zip(cuts, cuts[1:]))):
                if high % low:
                    raise Unsupported("tiles that do not divide one another")
                refined.append((dim, low, high // low))
        return [digit for digit in refined if digit[2] > 1]


def fuse(sizes, order):
    """Merges dimensions that stay neighbours: ([2, 3, 4], [2, 0, 1]) is ([6, 4], [1, 0])."""
    runs = []
    for dim in order:
        if runs and runs[-1][-1] + 1 == dim:
            runs[-1].append(dim)
        else:
            runs.append([dim])
    in_source = sorted(runs)
    return [product(sizes[d] for d in run) for run in in_source], [in_source.index(run) for run in runs]


def read_problems(path):
    with open(path) as file:
        lines = [line.split("#")[0].strip() for line in file]
    return [Problem(line) for line in lines if line]
