#!/usr/bin/env python3
"""Recomputes hlo_protos.tsv with real XLA (a Python with jaxlib): the columns behind the text are made from it.

Columns, separated by tabs: name; HLO text; hex of the HloModuleProto that XLA makes of it, without `id`; what XLA
prints of that proto. Texts have \\n for a newline, \\t for a tab and \\\\ for a backslash. New rows: name and text are
enough.
"""
import os
import pathlib

os.environ["JAX_PLATFORMS"] = "cpu"
import jaxlib._hlo as hlo

FILE = pathlib.Path(__file__).with_name("hlo_protos.tsv")


def unescape(text):
    return text.replace("\\\\", "\0").replace("\\n", "\n").replace("\\t", "\t").replace("\0", "\\")


def escape(text):
    return text.replace("\\", "\\\\").replace("\n", "\\n").replace("\t", "\\t")


def varint_end(data, at):
    while data[at] & 0x80:
        at += 1
    return at + 1


def without_id(data):
    """Without field 5 of the outermost message, a number that counts the modules of the process."""
    at, kept = 0, b""
    while at < len(data):
        begin, tag = at, data[at]
        tag_end = varint_end(data, at)
        at = varint_end(data, tag_end)
        if tag & 7 == 2:
            size = sum((byte & 0x7F) << (7 * i) for i, byte in enumerate(data[tag_end:at]))
            at += size
        if tag != 5 << 3:
            kept += data[begin:at]
    return kept


def main():
    rows = []
    for line in FILE.read_text().splitlines():
        name, text = line.split("\t")[:2]
        proto = hlo.hlo_module_from_text(unescape(text)).as_serialized_hlo_module_proto()
        printed = hlo.HloModule.from_serialized_hlo_module_proto(proto).to_string()
        rows.append("\t".join((name, text, without_id(proto).hex(), escape(printed))))
    FILE.write_text("\n".join(rows) + "\n")


if __name__ == "__main__":
    main()
