"""Writes narrow_floats.txt: what ml_dtypes (numpy for f16) makes of every code of at most 8 bits, and of corner cases.

A line `f8e4m3fn decode 0 0.00195312 ...` holds the numbers of codes 0, 1, 2 ...; a line `f8e4m3fn encode 3f800000=38
...` holds pairs of a float (its bits, hexadecimal) and the code that it becomes. kashi/array/types_test.cc reads it.
Run: python make_narrow_floats.py > narrow_floats.txt
"""

import ml_dtypes
import numpy as np

TYPES = {
    "f16": np.float16, "bf16": ml_dtypes.bfloat16,
    "f8e5m2": ml_dtypes.float8_e5m2, "f8e4m3": ml_dtypes.float8_e4m3, "f8e4m3fn": ml_dtypes.float8_e4m3fn,
    "f8e4m3b11fnuz": ml_dtypes.float8_e4m3b11fnuz, "f8e5m2fnuz": ml_dtypes.float8_e5m2fnuz,
    "f8e4m3fnuz": ml_dtypes.float8_e4m3fnuz, "f8e3m4": ml_dtypes.float8_e3m4, "f8e8m0fnu": ml_dtypes.float8_e8m0fnu,
    "f6e3m2fn": ml_dtypes.float6_e3m2fn, "f6e2m3fn": ml_dtypes.float6_e2m3fn, "f4e2m1fn": ml_dtypes.float4_e2m1fn,
}
BITS = {"f16": 16, "bf16": 16, "f6e3m2fn": 6, "f6e2m3fn": 6, "f4e2m1fn": 4}


def exact(value):
    """Shortest text that reads back as the same float; the sign of NaN is kept."""
    if np.isnan(value):
        return "-nan" if np.signbit(value) else "nan"
    short = f"{value:.6g}"
    return short if np.float32(short) == value else f"{value:.9g}"


def corners(values):
    """Zero, infinity, NaN, and, around largest, smallest and one: numbers, ties, and the floats beside the ties."""
    special = [0.0, np.inf, np.nan, 1e-45, 3.4028235e38, 1.5, 3.0]
    finite = np.unique(np.abs(values[np.isfinite(values)])).astype(np.float64)
    near = []
    for place in (0, 1, len(finite) // 2, len(finite) - 2):
        low, high = finite[place], finite[place + 1]
        near += [low, (low + high) / 2, high]
    near.append(finite[-1] + (finite[-1] - finite[-2]) / 2)
    near = np.array(near, np.float32)
    beside = np.concatenate([np.nextafter(near, np.float32(0)), near, np.nextafter(near, np.float32(np.inf))])
    positive = np.concatenate([np.array(special, np.float32), beside])
    return np.unique(np.concatenate([positive, -positive]).view(np.uint32))


def main():
    np.seterr(all="ignore")
    for name, dtype in TYPES.items():
        bits = BITS.get(name, 8)
        code_type = np.uint16 if bits == 16 else np.uint8
        values = np.arange(1 << bits).astype(code_type).view(dtype).astype(np.float32)
        if bits <= 8:
            print(name, "decode", *map(exact, values))
        inputs = corners(values)
        codes = inputs.view(np.float32).astype(dtype).view(code_type)
        print(name, "encode", *(f"{float_bits:08x}={code:x}" for float_bits, code in zip(inputs, codes)))


if __name__ == "__main__":
    main()
