#!/usr/bin/env python3
"""Holds what keeps the code easy to read: no file over 600 lines, no line over 120 columns, no function or macro over 60
lines, no class over 200 lines of code, and no ladder of `case HloOpcode::` but where the table of operations and the evaluator's
dispatch are.

Rows of a table are not counted in a function. Comments, blank lines and, in a public header, declarations without a body are not
counted in a class: XLA's interfaces are long lists of them. Columns are held in C++ and in ./dev; HLO in tests may be wider.
"""
import argparse
import bisect
import functools
import itertools
import pathlib
import re
import sys

from declared_names import blank_comments, blank_noise

MAX_FILE, MAX_CLASS, MAX_FUNCTION, MAX_COLUMNS, MAX_CASES = 600, 200, 60, 120, 3
CODE = ("kashi", "cli", "compat", "fuzz", "examples", "python")
TEXT = (*CODE, "scripts", "tests", "bench", "cmake")
# Where opcodes may be told apart one by one.
OPCODE_FILES = re.compile(r"^(kashi/hlo/ir/hlo_opcode|kashi/evaluator/operation_table|kashi/kernels/element_kernel)")
OPENS_SCOPE = re.compile(
    r"^(?:template ?<.*> ?)?(?:inline )?(?:(class|struct|union)|namespace|enum|extern$)\b(?:\[\[\w+\]\]|[A-Z_]+\(.*?\)|[ ])*(\w*)")
BODIES = ("function", "other")
LABELS = re.compile(r"^(?:(?:public|protected|private): ?)+")
# A row of a table. `NAME(…);` is none: a macro that is called as a statement is code.
TABLE_ROW = re.compile(r"^\s*(?:\{.*\},?|[A-Z_]+\(.*\),?)$")
CALLS_MACRO = re.compile(r"^[A-Z][A-Z0-9_]* ?\(")
MACRO = re.compile(r"^[ \t]*#[ \t]*define[ \t]+(\w+)(?:\\\n|[^\n])*", re.M)


def after_macros(statement):
    """The statement without its access labels, and without the calls of macros before it, which need no semicolon."""
    statement = LABELS.sub("", statement)
    while CALLS_MACRO.match(statement):
        at = depth = 0
        for at, letter in enumerate(statement):
            depth += {"(": 1, ")": -1}.get(letter, 0)
            if letter == ")" and depth == 0:
                break
        rest = LABELS.sub("", statement[at + 1:].strip())
        if not rest:
            return statement  # TEST(Suite, Name) {
        statement = rest
    return statement


class Scope:
    """A pair of braces: the lines that it opens and closes on, and the lines of the declarations without a body in it."""

    def __init__(self, kind, name, first, start):
        self.kind = kind  # "class", "scope" (a namespace, an enum), "function" or "other"
        self.name = name
        self.first = first
        self.last = first
        self.start = start  # of the statement that opens it
        self.declared = set()


def open_scope(statement, outer, line, start):
    """The scope that the brace after the statement opens."""
    opens = OPENS_SCOPE.match(statement)
    if opens:
        return Scope("class" if opens[1] else "scope", opens[2], line, start)
    inside = any(scope.kind in BODIES for scope in outer)
    is_argument = statement.count("(") > statement.count(")")
    is_function = not inside and "(" in statement and not is_argument and not statement.endswith(("=", ","))
    return Scope("function" if is_function else "other", "", line, start)


@functools.lru_cache(maxsize=2)
def find_scopes(text):
    """Every pair of braces, in the order in which they close."""
    text = blank_noise(text)
    starts = [0, *(match.end() for match in re.finditer("\n", text))]
    scopes, closed, start = [], [], 0
    for match in re.finditer(r"[{};]", text):
        at, letter = match.start(), match[0]
        line = bisect.bisect_right(starts, at)
        statement = after_macros(" ".join(text[start:at].split()))
        scope = scopes[-1] if scopes else None
        if letter == "{":
            scopes.append(open_scope(statement, scopes, line, start))
        elif letter == "}" and scope:
            scope.last = line
            closed.append(scopes.pop())
        elif scope and scope.kind == "class" and statement:
            first = bisect.bisect_right(starts, at - len(text[start:at].lstrip()))
            for outer in itertools.takewhile(lambda outer: outer.kind == "class", reversed(scopes)):
                outer.declared.update(range(first, line + 1))
        # A value in braces, such as an argument's default, is a part of its statement.
        is_value = letter == "}" and scope and scope.kind == "other" and not any(outer.kind in BODIES for outer in scopes)
        start = scope.start if is_value else at + 1
    return closed


def functions(text):
    """(line, lines) of each function's body, rows of tables not counted."""
    lines = text.splitlines()
    for scope in find_scopes(text):
        if scope.kind == "function":
            yield scope.first, sum(1 for line in lines[scope.first:scope.last] if not TABLE_ROW.match(line)) + 1


def classes(text, is_public):
    """(line, name, lines of code) of each class."""
    lines = blank_comments(text).splitlines()
    for scope in find_scopes(text):
        if scope.kind == "class":
            body = {number for number in range(scope.first + 1, scope.last) if lines[number - 1].strip()}
            yield scope.first, scope.name, len(body - scope.declared if is_public else body)


def macros(text):
    """(line, name, lines) of each definition of a macro."""
    for match in MACRO.finditer(text):
        yield text.count("\n", 0, match.start()) + 1, match[1], match[0].count("\n") + 1


def judge_code(name, text, is_public):
    for line, length in functions(text):
        if length > MAX_FUNCTION:
            yield f"{name}:{line}: a function of {length} lines; {MAX_FUNCTION} at most"
    for line, macro, length in macros(text):
        if length > MAX_FUNCTION:
            yield f"{name}:{line}: the macro {macro} has {length} lines; {MAX_FUNCTION} at most"
    for line, kind, length in classes(text, is_public):
        if length > MAX_CLASS:
            yield f"{name}:{line}: {kind} has {length} lines of code; {MAX_CLASS} at most"
    cases = text.count("case HloOpcode::")
    if cases > MAX_CASES and not OPCODE_FILES.match(name) and not re.search(r"_test\.cc$", name):
        yield f"{name}: {cases} `case HloOpcode::`; ask the table of operations (kashi/hlo/ir/ops.def) instead"


def may_be_wide(name, line):
    """Text that nobody can break: addresses; in tests, HLO; in CMake and Python, where no formatter holds the rest either."""
    if name.startswith("tests/") or name.endswith(("_test.cc", "_testing.h")):
        return not line.lstrip().startswith("//")
    return "http" in line or name.endswith((".py", ".cmake", ".txt", ".def"))


def judge_file(root, path, public):
    name = path.relative_to(root).as_posix()
    text = path.read_text()
    lines = text.splitlines()
    if len(lines) > MAX_FILE:
        yield f"{name}: {len(lines)} lines; {MAX_FILE} at most"
    for number, line in enumerate(lines, 1):
        if len(line) > MAX_COLUMNS and not may_be_wide(name, line):
            yield f"{name}:{number}: {len(line)} columns; {MAX_COLUMNS} at most"
    if path.suffix in (".h", ".cc"):
        yield from judge_code(name, text, name in public)


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
    public = {f"kashi/{name}" for name in (root / "kashi/public_headers.txt").read_text().split()}
    findings = [finding for path in files for finding in judge_file(root, path, public)]
    for finding in findings:
        print(finding)
    print(f"{len(files)} files: {len(findings) or 'none'} too long, too wide, or with a ladder of opcodes")
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
