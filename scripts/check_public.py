#!/usr/bin/env python3
"""Holds the boundary between what users of the library see and what is ours.

kashi/public_headers.txt names the headers that users include. They, and the headers that those include, are installed; nothing
else is. Every other header of a room puts its names into the namespace of that room: kashi::cpu in kashi/cpu. No file defines
a name in the namespace of another room; it may announce one (`class X;`). What the public headers declare in namespace kashi is
listed in kashi/public_names.txt, so that a new name there is a decision: --update writes that list anew. Names that macros make of
a table's rows are not seen.

No two of our files define a type of one name in one namespace: to the linker both are one, and a program that uses the
one runs code of the other.

--installed FOLDER checks the headers that are installed there (a folder that has include/): that each file they include
is installed, and that all public headers compile together, and each alone. --recent N compiles only those alone that
differ from the commit N commits ago, and --most M at most M of these.
"""
import argparse
import collections
import concurrent.futures
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

from check_tidy import files_changed, newest
from declared_names import declarations

INCLUDE = re.compile(r'^\s*#\s*include\s+"(kashi/[^"]+)"', re.M)
FLAGS = ["-std=c++17", "-Wall", "-Wextra", "-Wno-sign-compare", "-Wno-unused-function", "-Werror", "-O0"]


def public_headers(root):
    lines = (root / "kashi" / "public_headers.txt").read_text().splitlines()
    return [f"kashi/{line.strip()}" for line in lines if line.strip() and not line.startswith("#")]


def included_by(root, headers):
    """The headers, and all of ours that they include."""
    found, todo = set(), list(headers)
    while todo:
        path = todo.pop()
        if path not in found and (root / path).is_file():
            found.add(path)
            todo += INCLUDE.findall((root / path).read_text())
    return found


def names_of(root, path):
    """Names that the header defines in namespace kashi itself; what it announces (`class X;`) is another header's."""
    return sorted({d.name for d in declarations((root / path).read_text())
                   if d.namespace == "kashi" and not d.is_forward and "::" not in d.name})


def check_headers(root, public):
    """Findings about headers that are not public, or are listed and missing."""
    for path in public:
        if not (root / path).is_file():
            yield f"kashi/public_headers.txt: there is no {path}"
    for path in sorted(root.glob("kashi/**/*.h")):
        name = path.relative_to(root).as_posix()
        if name in public:
            continue
        for found in names_of(root, name):
            yield f"{name}: {found} stands in namespace kashi, and the header is not public: put it into kashi::{path.relative_to(root).parts[1]}"


def check_namespaces(root, public):
    """Findings about names in the namespace of another room, or in kashi::internal, which is for names of XLA's own
    xla::internal in public headers and their sources."""
    sources = {str(pathlib.Path(header).with_suffix(suffix)) for header in public for suffix in (".h", ".cc")}
    rooms = {path.name for path in (root / "kashi").iterdir() if path.is_dir()}
    for path in sorted((root / "kashi").rglob("*")):
        if path.suffix not in (".h", ".cc"):
            continue
        where = path.relative_to(root)
        for found in declarations(path.read_text()):
            first = found.namespace.split("::")[1:2]
            if (first == ["internal"] and where.as_posix() not in sources) or (first and first[0] in rooms - {where.parts[1]} and not found.is_forward):
                yield (f"{where.as_posix()}:{found.line}: {found.name} stands in namespace kashi::{first[0]}, and the file in "
                       f"room {where.parts[1]}")


def check_types(root):
    """Findings about types of one name and namespace in several files. Specialisations of others' templates are no such types."""
    files = collections.defaultdict(set)
    for folder in ("kashi", "cli", "compat", "python/src"):
        for path in sorted((root / folder).rglob("*")):
            if path.suffix not in (".h", ".cc") or path.name.endswith(("_test.cc", "_bench.cc", "_testing.h")):
                continue
            for found in declarations(path.read_text()):
                if found.kind == "type" and not found.is_forward and found.namespace != "std":
                    files[f"{found.namespace}::{found.name}"].add(path.relative_to(root).as_posix())
    for name, where in sorted(files.items()):
        if len(where) > 1:
            yield f"{name} is defined in {' and in '.join(sorted(where))}: to the linker both are one"


def list_of_names(root, public):
    lines = ["# What namespace kashi holds for users, by header. Written by scripts/check_public.py --update."]
    for path in public:
        names = names_of(root, path)
        if names:
            lines += [f"{path.removeprefix('kashi/')}:", *(f"  {name}" for name in names)]
    return "\n".join(lines) + "\n"


def errors_of(include, headers, flags):
    """What the compiler says of a file that includes only these headers; "" if it compiles."""
    with tempfile.TemporaryDirectory() as folder:
        (pathlib.Path(folder) / "alone.cc").write_text("".join(f'#include "{header}"\n' for header in headers))
        launcher = ["ccache"] if shutil.which("ccache") else []
        command = [*launcher, "g++", *FLAGS, *flags, f"-I{include}", "-c", "alone.cc", "-o", "alone.o"]
        result = subprocess.run(command, cwd=folder, capture_output=True, text=True)
        return result.stderr if result.returncode else ""


def headers_to_compile(options, public):
    """The public headers that are compiled alone."""
    changed = None if options.recent is None else files_changed(options.root, options.recent)
    if changed is not None:
        public = [header for header in public if options.root / header in changed]
    return [str(file.relative_to(options.root))
            for file in newest(options.root, [options.root / header for header in public], options.most)]


def check_installed(options, public):
    include = (options.installed / "include").resolve()
    flags = subprocess.run(["pkg-config", "--cflags", "absl_base", "libhwy", "protobuf"], capture_output=True, text=True).stdout.split()
    present = [header for header in public if (include / header).is_file()]
    for header in sorted(set(public) - set(present)):
        yield f"{header} is public and not installed"
    for header in sorted(included_by(include, present)):
        for name in INCLUDE.findall((include / header).read_text()):
            if not (include / name).is_file():
                yield f"{header} includes {name}, which is not installed"
    alone = [header for header in headers_to_compile(options, public) if header in present]
    units = [present, *([header, header] for header in alone)]
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        for headers, errors in zip(units, pool.map(lambda unit: errors_of(include, unit, flags), units)):
            if errors:
                yield f"{headers[0]} does not compile alone:\n{errors}" if headers is not present else errors
    print(f"{len(alone)} of {len(present)} public headers compiled alone, and all together")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--root", type=pathlib.Path, default=pathlib.Path(__file__).resolve().parent.parent)
    parser.add_argument("--update", action="store_true")
    parser.add_argument("--installed", type=pathlib.Path)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--recent", type=int, metavar="COMMITS")
    parser.add_argument("--most", type=int, metavar="FILES")
    options = parser.parse_args()
    options.root = options.root.resolve()
    public = public_headers(options.root)
    names = options.root / "kashi" / "public_names.txt"
    if options.update:
        names.write_text(list_of_names(options.root, public))
    findings = [*check_headers(options.root, public), *check_namespaces(options.root, public), *check_types(options.root)]
    if not names.is_file() or names.read_text() != list_of_names(options.root, public):
        findings.append("kashi/public_names.txt is not what the public headers declare: see what changed with --update")
    if options.installed:
        findings += check_installed(options, public)
    for finding in findings:
        print(finding)
    shared = included_by(options.root, public) - set(public)
    print(f"{len(public)} public headers, {len(shared)} files that they include: {len(findings) or 'no'} findings")
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
