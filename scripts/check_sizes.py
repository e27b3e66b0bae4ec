#!/usr/bin/env python3
"""Holds what keeps the code easy to read: no file over 600 lines, no line over 120 columns, no function over 60 lines, and no
ladder of `case HloOpcode::` but where the table of operations and the evaluator's dispatch are.

Rows of a table are not counted in a function. Columns are held in C++ and in ./dev; HLO in tests may be wider.
"""
import argparse
import pathlib
import re
import sys

from declared_names import blank_noise

MAX_FILE, MAX_FUNCTION, MAX_COLUMNS, MAX_CASES = 600, 60, 120, 3
CODE = ("kashi", "cli", "compat", "fuzz", "examples", "python")
TEXT = (*CODE, "scripts", "tests", "bench", "cmake")
# Where opcodes may be told apart one by one.
OPCODE_FILES = re.compile(r"^(kashi/hlo/ir/hlo_opcode|kashi/evaluator/operation_table|kashi/kernels/element_kernel)")
OPENS_SCOPE = re.compile(r"^(?:template\s*<.*>\s*)?(?:inline )?(?:namespace|class|struct|union|enum|extern\s*\"C\")\b")
TABLE_ROW = re.compile(r"^\s*(?:\{.*\},?|[A-Z_]+\(.*\)[;,]?)$")


def functions(text):
    """(line, lines) of each function's body, rows of tables not counted."""
    lines = text.splitlines()
    text = blank_noise(text)
    scopes, start = [], 0
    for at, letter in enumerate(text):
        if letter not in "{};":
            continue
        statement = re.sub(r"\s+", " ", text[start:at]).strip()
        if letter == "{":
            is_scope = bool(OPENS_SCOPE.match(statement))
            inside = any(kind != "scope" for kind, _ in scopes)
            is_function = not is_scope and not inside and "(" in statement and not statement.endswith(("=", ","))
            scopes.append(("scope" if is_scope else "function" if is_function else "other", text.count("\n", 0, at) + 1))
        elif letter == "}" and scopes:
            kind, first = scopes.pop()
            last = text.count("\n", 0, at) + 1
            if kind == "function":
                yield first, sum(1 for line in lines[first:last] if not TABLE_ROW.match(line)) + 1
        start = at + 1


def judge_code(name, text):
    for line, length in functions(text):
        if length > MAX_FUNCTION:
            yield f"{name}:{line}: a function of {length} lines; {MAX_FUNCTION} at most"
    cases = text.count("case HloOpcode::")
    if cases > MAX_CASES and not OPCODE_FILES.match(name) and not re.search(r"_test\.cc$", name):
        yield f"{name}: {cases} `case HloOpcode::`; ask the table of operations (kashi/hlo/ir/ops.def) instead"


def may_be_wide(name, line):
    """Text that nobody can break: addresses; in tests, HLO; in CMake and Python, where no formatter holds the rest either."""
    if name.startswith("tests/") or name.endswith(("_test.cc", "_testing.h")):
        return not line.lstrip().startswith("//")
    return "http" in line or name.endswith((".py", ".cmake", ".txt", ".def"))


def judge_file(root, path):
    name = path.relative_to(root).as_posix()
    text = path.read_text()
    lines = text.splitlines()
    if len(lines) > MAX_FILE:
        yield f"{name}: {len(lines)} lines; {MAX_FILE} at most"
    for number, line in enumerate(lines, 1):
        if len(line) > MAX_COLUMNS and not may_be_wide(name, line):
            yield f"{name}:{number}: {len(line)} columns; {MAX_COLUMNS} at most"
    if path.suffix in (".h", ".cc"):
        yield from judge_code(name, text)


def files_to_judge(root):
    for folder in TEXT:
        for path in sorted((root / folder).rglob("*")):
            parts = path.relative_to(root).parts
            if parts[:2] in (("tests", "data"), ("tests", "golden")) or "corpus" in parts:
                continue
            if path.suffix in (".h", ".cc", ".def", ".py", ".cmake") or path.name == "CMakeLists.txt":
                yield path
    yield root / "dev"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--root", type=pathlib.Path, default=pathlib.Path(__file__).resolve().parent.parent)
    root = parser.parse_args().root
    files = list(files_to_judge(root))
    findings = [finding for path in files for finding in judge_file(root, path)]
    for finding in findings:
        print(finding)
    print(f"{len(files)} files: {len(findings) or 'none'} too long, too wide, or with a ladder of opcodes")
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
