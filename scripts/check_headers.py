#!/usr/bin/env python3
"""Compiles each header of kashi/, cli/ and compat/ alone, and each source of kashi/ and cli/, with the compiler and
include paths of a build folder.

So each file must include what it uses. --recent N checks only files that differ from the commit N commits ago; if git
does not have that commit, as in a shallow clone, it checks all headers. --most M checks at most M of these: the most
recently changed ones.
"""
import concurrent.futures
import json
import pathlib
import shlex
import subprocess
import sys

from check_tidy import files_changed, flags_of_all, newest, parse_options

FLAGS = ["-std=c++17", "-Wall", "-Wextra", "-Wno-sign-compare", "-Wno-unused-function", "-Werror", "-fsyntax-only"]
FOR_HEADERS = ['-DKASHI_TEST_DATA=""']  # headers for tests use the folder of tests/data
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
    """The compiler of the build, and the include flags of all its files."""
    commands = json.loads((folder / "compile_commands.json").read_text())
    words = [shlex.split(command["command"]) for command in commands]
    flags = dict.fromkeys(flag for line in words for flag in include_flags(line))
    compiler = next(word for word in words[0] if "ccache" not in word)
    return compiler, [word for flag in flags for word in flag]


def include_name(root, header):
    """How code names a file: kashi/array/shape.h, but xla/shape_util.h for compat/xla/shape_util.h."""
    path = header.relative_to(root)
    return str(path.relative_to("compat")) if path.parts[0] == "compat" else str(path)


def compile_alone(root, file, compiler, flags):
    source = f'#include "{include_name(root, file)}"\n'
    command = [compiler, *FLAGS, f"-I{root}", f"-I{root / 'compat'}", *flags, "-x", "c++", "-"]
    process = subprocess.run(command, input=source, capture_output=True, text=True, check=False)
    return process.stderr if process.returncode else ""


def all_files(root, built):
    """All headers, and the sources in the build: benchmarks are not, because they need another library."""
    return sorted([path for folder in ("kashi", "cli", "compat") for path in (root / folder).rglob("*.h")] +
                  [path for folder in ("kashi", "cli") for path in (root / folder).rglob("*.cc") if path in built])


def choose_files(root, everything, recent):
    if recent is None:
        return everything
    changed = files_changed(root, recent)
    if changed is None:
        return [file for file in everything if file.suffix == ".h"]
    return [file for file in everything if file in changed]


def main():
    root = pathlib.Path(__file__).resolve().parent.parent
    options = parse_options(__doc__, root, "only these files (default: all)")
    compiler, flags = read_build(options.build)
    flags_of_source = flags_of_all(options.build)
    everything = all_files(root, flags_of_source)
    files = [file.resolve() for file in options.files] or newest(
        root, choose_files(root, everything, options.recent), options.most)
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        errors = list(
            pool.map(
                lambda file: compile_alone(
                    root, file, compiler, flags_of_source.get(file, [*flags, *FOR_HEADERS])),
                files))
    bad = [(file, error) for file, error in zip(files, errors) if error]
    for file, error in bad:
        print(f"{file.relative_to(root)} does not compile alone:\n{error}")
    print(f"{len(files)} of {len(everything)} files: {len(bad)} do not compile alone")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
