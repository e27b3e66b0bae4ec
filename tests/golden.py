#!/usr/bin/env python3
r"""Golden tests of the command: a file of tests/golden/**/*.txt has commands, their inputs and their expected outputs.

    # Lines before the first command are a comment.
    $ kashi shape 'f32[2'
    --- stderr
    <argument>:1:6: error: …
    --- exit 1

    $ kashi draw 'f32[3,5]' -o out.svg
    --- file out.svg
    <svg …

A file has one or more commands. A command is followed by its standard output, then, in any order, the sections

    --- stdin         its standard input
    --- input NAME    a file that exists before the command starts
    --- stderr        its standard error (absent: nothing)
    --- exit N        its exit status (absent: 0)
    --- file NAME     a file that it writes

Each command runs in its own empty folder. It is split into words as by a shell, but without a shell. One blank line
before a command is not part of the text above it. A line of text that begins with `$ `, `--- ` or a backslash gets a
backslash in front. Text without a newline at its end is followed by the line `\ no newline`.

    tests/golden.py --kashi build/kashi              runs all, shows differences, prints "N passed, N failed"
    tests/golden.py --kashi build/kashi draw         only the files that have "draw" in their path
    tests/golden.py --kashi build/kashi --update     writes the present outputs to the files
"""
import argparse
import concurrent.futures
import dataclasses
import difflib
import os
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile

NO_NEWLINE = r"\ no newline"
GIVEN = ("stdin", "input")  # sections that the author writes; all others are what the command made
TIMEOUT_S = 120


@dataclasses.dataclass
class Case:
    """One command of a golden file. A section's key is (kind, name): ("stdout", ""), ("file", "out.svg")."""

    command: str
    sections: dict
    line: int


class FormatError(Exception):
    pass


def to_lines(text):
    lines = text.split("\n")
    if lines[-1] == "":
        lines.pop()
    else:
        lines.append(None)  # stands for NO_NEWLINE until the lines are escaped
    return [NO_NEWLINE if line is None else escape(line) for line in lines]


def escape(line):
    return "\\" + line if line.startswith(("$ ", "--- ", "\\")) else line


def from_lines(lines):
    newline = "\n"
    if lines and lines[-1] == NO_NEWLINE:
        lines, newline = lines[:-1], ""
    if not lines:
        return ""
    return "\n".join(line[1:] if line.startswith("\\") else line for line in lines) + newline


def parse_heading(line, where):
    match = re.fullmatch(r"--- (?:(stdin|stderr)|(input|file|exit) (\S+))", line)
    if not match:
        raise FormatError(f"{where}: no such section: {line}")
    return (match[1], "") if match[1] else (match[2], match[3])


def parse(text, path):
    """The comment lines before the first command, and the list of cases."""
    lines = text.split("\n")
    if lines[-1] == "":
        lines.pop()
    starts = [i for i, line in enumerate(lines) if line.startswith("$ ")]
    if not starts:
        raise FormatError(f"{path}: no command (a line that begins with '$ ')")
    head = lines[: starts[0]]
    for i, line in enumerate(head):
        if line and not line.startswith("#"):
            raise FormatError(f"{path}:{i + 1}: neither a comment (#) nor a command ($)")
    ends = starts[1:] + [len(lines)]
    return head, [parse_case(lines, begin, end, path) for begin, end in zip(starts, ends)]


def parse_case(lines, begin, end, path):
    body = lines[begin + 1 : end]
    if end < len(lines) and body and body[-1] == "":
        body.pop()
    key = ("stdout", "")
    collected = {key: []}
    for i, line in enumerate(body):
        if line.startswith("--- "):
            key = parse_heading(line, f"{path}:{begin + 2 + i}")
            collected[key] = []
        else:
            collected[key].append(line)
    sections = {key: from_lines(section) for key, section in collected.items()}
    return Case(lines[begin][2:], sections, begin + 1)


def render_case(case):
    lines = ["$ " + case.command] + to_lines(case.sections.get(("stdout", ""), ""))
    for (kind, name), text in case.sections.items():
        if kind != "stdout":
            lines += [f"--- {kind} {name}".rstrip()] + to_lines(text)
    return lines


def render(head, cases):
    blocks = [render_case(case) for case in cases]
    lines = head + blocks[0]
    for block in blocks[1:]:
        lines += [""] + block
    return "\n".join(lines) + "\n"


def environment():
    return {**os.environ, "LC_ALL": "C.UTF-8", "TERM": "dumb", "COLUMNS": "80", "TZ": "UTC"}


def run(case, kashi):
    """The case with the present outputs of the command."""
    words = shlex.split(case.command)
    if words[0] != "kashi":
        raise FormatError(f"a command begins with 'kashi', not with '{words[0]}'")
    with tempfile.TemporaryDirectory(prefix="kashi-golden-") as folder:
        for (kind, name), text in case.sections.items():
            if kind == "input":
                write_text(pathlib.Path(folder, name), text)
        process = subprocess.run(
            [kashi] + words[1:], input=case.sections.get(("stdin", ""), "").encode(), stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, cwd=folder, env=environment(), timeout=TIMEOUT_S, check=False)
        return Case(case.command, collect(case, process, pathlib.Path(folder)), case.line)


def collect(case, process, folder):
    sections = {("stdout", ""): process.stdout.decode(errors="backslashreplace")}
    sections.update({key: text for key, text in case.sections.items() if key[0] in GIVEN})
    if process.stderr:
        sections[("stderr", "")] = process.stderr.decode(errors="backslashreplace")
    if process.returncode != 0:
        sections[("exit", str(process.returncode))] = ""
    for kind, name in case.sections:
        if kind == "file":
            sections[(kind, name)] = read_text(folder / name)
    return sections


def read_text(path):
    return path.read_bytes().decode(errors="backslashreplace") if path.is_file() else "(no such file)\n"


def write_text(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text.encode())


def difference(expected, actual):
    """A text with the differences; empty if there are none. The order of sections does not matter."""
    if {**expected.sections, ("exit", "0"): ""} == {**actual.sections, ("exit", "0"): ""}:
        return ""
    order = list(expected.sections)
    position = lambda item: order.index(item[0]) if item[0] in order else len(order)
    sections = dict(sorted(actual.sections.items(), key=position))
    ordered = Case(actual.command, sections, actual.line)
    lines = difflib.unified_diff(render_case(expected), render_case(ordered), "expected", "actual", lineterm="", n=3)
    return "\n".join(lines)


def try_case(case, kashi):
    """(the case with the present outputs, the difference). There is a difference too if the command did not finish."""
    try:
        actual = run(case, kashi)
        return actual, difference(case, actual)
    except subprocess.TimeoutExpired:
        return case, f"ran longer than {TIMEOUT_S} s"
    except (FormatError, ValueError, OSError) as error:
        return case, str(error)


def select(folder, filter_text):
    paths = sorted(folder.rglob("*.txt"))
    return [path for path in paths if filter_text in str(path.relative_to(folder))]


def run_file(path, options, pool):
    head, cases = parse(path.read_bytes().decode(), path)
    outcomes = list(pool.map(lambda case: try_case(case, options.kashi), cases))
    if options.update:
        text = render(head, [actual for actual, _ in outcomes])
        if text != path.read_bytes().decode():
            write_text(path, text)
            print(f"updated {path}")
    failed = 0
    for case, (actual, why) in zip(cases, outcomes):
        could_not_run = actual is case
        if why and (could_not_run or not options.update):
            failed += 1
            print(f"FAILED {path}:{case.line}: $ {case.command}\n{why}\n")
    return len(cases) - failed, failed


def main():
    here = pathlib.Path(__file__).resolve().parent
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kashi", required=True, type=os.path.abspath, help="the command under test")
    parser.add_argument("--folder", default=here / "golden", type=pathlib.Path, help="the folder of the golden files")
    parser.add_argument("--update", action="store_true", help="write the present outputs to the files")
    parser.add_argument("filter", nargs="?", default=os.environ.get("KASHI_GOLDEN_FILTER", ""),
                        help="a part of the path of the files to run (or KASHI_GOLDEN_FILTER)")
    options = parser.parse_args()
    passed = failed = 0
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for path in select(options.folder, options.filter):
            try:
                ok, bad = run_file(path, options, pool)
            except (FormatError, UnicodeDecodeError) as error:
                print(f"FAILED {error}\n")
                ok, bad = 0, 1
            passed, failed = passed + ok, failed + bad
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
