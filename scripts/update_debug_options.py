#!/usr/bin/env python3
"""Writes kashi/pjrt/debug_options.def: the options of XLA (DebugOptions), which programs may set for a compilation.

  scripts/update_debug_options.py LIBRARY... > kashi/pjrt/debug_options.def

LIBRARY is jaxlib's libjax_common.so. It holds the description of its messages; the options of all given versions are
joined. An option whose type changed between versions has the type of the last one given.
"""
import pathlib
import sys
import textwrap

from google.protobuf import descriptor_pb2
from google.protobuf.message import DecodeError

NAME = b"xla/xla.proto"
KINDS = {
    "TYPE_BOOL": "kBool", "TYPE_INT32": "kInt32", "TYPE_INT64": "kInt64", "TYPE_FLOAT": "kFloat",
    "TYPE_STRING": "kString", "TYPE_ENUM": "kEnum", "TYPE_MESSAGE": "kMessage",
}


def varint(data, at):
    value = shift = 0
    while True:
        value |= (data[at] & 0x7F) << shift
        shift += 7
        at += 1
        if data[at - 1] < 0x80:
            return value, at


def description(library):
    """The FileDescriptorProto in the bytes: a run of fields that begins with the name of the file."""
    data = pathlib.Path(library).read_bytes()
    begin = data.find(b"\x0a" + bytes([len(NAME)]) + NAME)
    if begin < 0:
        sys.exit(f"{library} does not describe {NAME.decode()}")
    at = begin
    while 1 <= data[at] >> 3 <= 14 and data[at] & 7 in (0, 2):
        value, end = varint(data, at + 1)
        at = end + value if data[at] & 7 == 2 else end
    try:
        return descriptor_pb2.FileDescriptorProto.FromString(data[begin:at])
    except DecodeError as error:
        sys.exit(f"{library}: {error}")


def enum_names(message, prefix):
    for enum in message.enum_type:
        yield f"{prefix}.{enum.name}", [value.name for value in enum.value]
    for nested in message.nested_type:
        yield from enum_names(nested, f"{prefix}.{nested.name}")


def main():
    if len(sys.argv) < 2 or sys.argv[1].startswith("-"):
        sys.exit(__doc__)
    rows = {}
    types = descriptor_pb2.FieldDescriptorProto.Type
    for library in sys.argv[1:]:
        file = description(library)
        options = next(message for message in file.message_type if message.name == "DebugOptions")
        names = {}
        for message in file.message_type:
            names.update(enum_names(message, f".xla.{message.name}"))
        for field in options.field:
            repeated = "true" if field.label == field.LABEL_REPEATED else "false"
            rows[field.name] = (KINDS[types.Name(field.type)], repeated, ",".join(names.get(field.type_name, [])))
    print("// The options of XLA's DebugOptions: name, type, whether it is a list, the names of an enum's values. Made by")
    print("// scripts/update_debug_options.py.")
    for name, row in sorted(rows.items()):
        kind, repeated, values = row
        names = textwrap.wrap(values.replace(",", ", "), 100) or [""]
        lines = [f'"{line.replace(", ", ",")}"' for line in names]
        row_text = f"DEBUG_OPTION({name}, {kind}, {repeated}, "
        joined = " ".join(lines)
        if len(row_text) + len(joined) > 119:
            joined = "".join(f"\n             {line}" for line in lines).rstrip()
            row_text = row_text.rstrip()
        print(f"{row_text}{joined})")


if __name__ == "__main__":
    main()
