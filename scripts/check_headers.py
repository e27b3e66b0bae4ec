#!/usr/bin/env python3
"""Compiles each header of kashi/, cli/ and compat/ alone, with the compiler and include paths of a build folder.

What is behind a header in a file cannot help it: --built leaves out the headers that a file of that build, which must be
up to date, includes before anything else, as x.cc does with x.h. Their files have proved them.
"""
import argparse
import concurrent.futures
import json
import pathlib
import re
import shlex
import subprocess
import sys

FLAGS = ["-std=c++17", "-Wall", "-Wextra", "-Wno-sign-compare", "-Wno-unused-function", "-Werror", "-fsyntax-only",
         '-DKASHI_TEST_DATA=""']  # headers for tests name the folder of tests/data
INCLUDE_FLAGS = ("-I", "-isystem", "-iquote")


def include_flags(words):
    """The include flags of one compile command; `-isystem X` is two words."""
    flags = []
    words = iter(words)
    for word in words:
        if word in INCLUDE_FLAGS:
            flags.append((word, next(words)))
        elif word.startswith(INCLUDE_FLAGS):
            flags.append((word,))
    return flags


def read_build(folder):
    """The compiler of the build, and every include flag that any of its files has, once."""
    commands = json.loads((folder / "compile_commands.json").read_text())
    words = [shlex.split(command["command"]) for command in commands]
    flags = dict.fromkeys(flag for line in words for flag in include_flags(line))
    compiler = next(word for word in words[0] if "ccache" not in word)
    return compiler, [word for flag in flags for word in flag]


def include_name(root, header):
    """How code names a header: kashi/array/shape.h, but xla/shape_util.h for compat/xla/shape_util.h."""
    path = header.relative_to(root)
    return str(path.relative_to("compat")) if path.parts[0] == "compat" else str(path)


def headers_proved_by(folder, root):
    """The headers that files of the build include first: nothing but comments stands before them."""
    first = re.compile(r'(?:\s|//[^\n]*\n)*#include "([^"]+)"')
    proved = set()
    for entry in json.loads((folder / "compile_commands.json").read_text()):
        found = first.match(pathlib.Path(entry["file"]).read_text())
        if found:
            proved.update(root / place / found.group(1) for place in (".", "compat"))
    return proved


def compile_header(root, header, compiler, flags):
    source = f'#include "{include_name(root, header)}"\n'
    command = [compiler, *FLAGS, f"-I{root}", f"-I{root / 'compat'}", *flags, "-x", "c++", "-"]
    process = subprocess.run(command, input=source, capture_output=True, text=True, check=False)
    return process.stderr if process.returncode else ""


def main():
    root = pathlib.Path(__file__).resolve().parent.parent
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", type=pathlib.Path, default=root / "build", help="a folder with compile_commands.json")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--built", action="store_true", help="leave out the headers that the build has proved")
    parser.add_argument("headers", nargs="*", type=pathlib.Path, help="only these; all if none is named")
    options = parser.parse_args()
    compiler, flags = read_build(options.build)
    headers = [header.resolve() for header in options.headers] or sorted(
        path for folder in ("kashi", "cli", "compat") for path in (root / folder).rglob("*.h"))
    proved = headers_proved_by(options.build, root) if options.built else set()
    left_out = sum(header in proved for header in headers)
    headers = [header for header in headers if header not in proved]
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        errors = list(pool.map(lambda header: compile_header(root, header, compiler, flags), headers))
    bad = [(header, error) for header, error in zip(headers, errors) if error]
    for header, error in bad:
        print(f"{header.relative_to(root)} does not compile alone:\n{error}")
    print(f"{len(headers)} headers: {len(bad)} do not compile alone" +
          (f"; {left_out} more, which files of the build include first, do" if left_out else ""))
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
