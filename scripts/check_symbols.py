#!/usr/bin/env python3
"""Finds functions and variables that two rooms define under one name, in the libraries of a build.

The linker reports two strong definitions only if it needs both objects, and it takes a strong one in the place of an inline
function of the same name without a word: callers of the inline function then run other code. Inline functions that several rooms
compile from one header are not reported.
"""
import argparse
import collections
import pathlib
import subprocess
import sys

STRONG, WEAK = set("TDBR"), set("WV")


def symbols_of(library):
    """(name, kind) of the symbols that the library defines and others see."""
    lines = subprocess.run(["nm", "--defined-only", "--extern-only", str(library)], capture_output=True, text=True, check=True).stdout
    for line in lines.splitlines():
        fields = line.split()
        if len(fields) == 3 and fields[1] in STRONG | WEAK:
            yield fields[2], fields[1]


def findings(libraries):
    """(name, libraries that define it) where one of them has a strong definition and another one any. libraries: name to symbols."""
    strong, every = collections.defaultdict(set), collections.defaultdict(set)
    for library, symbols in libraries.items():
        for name, kind in symbols:
            every[name].add(library)
            if kind in STRONG:
                strong[name].add(library)
    return sorted((name, sorted(every[name])) for name in strong if len(every[name]) > 1)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, required=True)
    libraries = sorted(parser.parse_args().build.glob("rooms/libkashi_*.a"))
    if not libraries:
        print("there are no libraries in the build")
        return 1
    found = findings({library.name: list(symbols_of(library)) for library in libraries})
    for name, where in found:
        readable = subprocess.run(["c++filt", name], capture_output=True, text=True, check=True).stdout.strip()
        print(f"{readable} is defined in {' and in '.join(where)}: to the linker all are one")
    print(f"{len(libraries)} libraries: {len(found) or 'no'} symbols of several rooms")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
