"""Kashi: XLA's array model and HLO in Python.

>>> kashi.Shape('bf16[500,6144]{1,0:T(8,128)(2,1)}').padding_bytes
49152
"""
import os

from kashi._kashi import (HAS_COMPILED_ENGINE, HAS_MPI, TPU_GENERATIONS, Computation, CustomCall, Error, Instruction,
                          Layout, Module, ParseError, Program, ProgramShape, Ranks, Shape, Tile, XlaBuilder, XlaOp,
                          broadcast_shapes, compile, deserialize, dtype, evaluate, evaluate_on_devices, ops,
                          parse_bytes, primitive_type, register_custom_call, relayout, relayout_plan, tile, untile)
from kashi._kashi import VERSION as __version__

__all__ = [
    "HAS_COMPILED_ENGINE", "HAS_MPI", "TPU_GENERATIONS", "__version__", "Computation", "CustomCall", "Error", "Instruction", "Layout",
    "Module", "ParseError", "Program", "ProgramShape", "Ranks", "Shape", "Tile", "XlaBuilder", "XlaOp",
    "broadcast_shapes", "compile", "deserialize", "dtype", "evaluate", "evaluate_on_devices", "ops", "parse", "primitive_type",
    "register_custom_call", "relayout", "relayout_plan", "tile", "untile"
]


def _unpacked(packed, name):
    import gzip
    import zlib
    try:
        return gzip.decompress(packed)
    except (EOFError, OSError, zlib.error) as error:
        raise ParseError(f"{os.fsdecode(name)}: not a file packed by gzip: {error}") from error


def parse(source) -> Module:
    """Reads a module: HLO or StableHLO text (str), the bytes of text, of a proto, of JSON or of a portable artifact of
    StableHLO, or a file of any of these. StableHLO becomes HLO.

    A path is an os.PathLike, or a str of one line without a brace. Files may be packed by gzip.

    >>> kashi.parse('HloModule m\\nENTRY e {\\n  ROOT x = f32[2] parameter(0)\\n}\\n')
    <kashi.Module m: 1 computation, 1 instruction>

    Raises ParseError, whose text has line, column and a caret; OSError for a file that cannot be read.
    """
    name = "hlo"
    is_path = isinstance(source, str) and source.strip() and "\n" not in source and "{" not in source
    if isinstance(source, os.PathLike) or is_path:
        name = os.fspath(source)
        with open(name, "rb") as file:
            source = file.read()
    if isinstance(source, (bytearray, memoryview)):
        source = bytes(source)
    if isinstance(source, bytes) and source[:2] == b"\x1f\x8b":
        source = _unpacked(source, name)
    if not isinstance(source, (str, bytes)):
        raise TypeError(f"expected str, bytes or a path, got {type(source).__name__}")
    return parse_bytes(source, str(name))
