#!/usr/bin/env python3
r"""Runs the commands that the documents show, and compares what they print.

In a fenced block of a Markdown file, a line that begins with `$ kashi` is a command. Below it stands what the command
prints, to standard output or standard error; a blank line before the next command does not count. A line `...` stands
for any lines. A block whose language is followed by a name holds a file that later commands of the document read:

    ```hlo step.hlo
    HloModule step
    ...
    ```

All commands of a document run one after the other in one empty folder, which has the repository's `examples`. They are
split into words as a shell would, without a shell; ` # ` begins a comment, and a backslash at the end of a line
continues the command on the next one. A command that shows output ends with status 0 or 1, one that shows none with 0.
A file that a command writes to a path that the repository has, such as docs/figures/x.svg, must be equal to the file
there. A block below the line `<!-- not run: REASON -->` is skipped.

An option that a document names in backticks must be one of a verb, or of a script of this repository. After `kashi
VERB` it must be one of that verb.

    tests/documents_test.py --kashi build/kashi                 all documents: "N passed, N failed"
    tests/documents_test.py --kashi build/kashi concepts        only those that have "concepts" in their path
    tests/documents_test.py --kashi build/kashi --update        writes what the commands print now
"""
import argparse
import dataclasses
import difflib
import os
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
FOLDERS = ("docs", "examples", "kashi", "compat", "cli")
NOT_RUN = re.compile(r"<!-- not run: .+ -->")
ANY_LINES = "..."
OTHER_PROGRAMS = ("cmake ", "g++ ", "srun ", "timeout ", "xprof ")  # their options are not ours
TIMEOUT_S = 120


class FormatError(Exception):
    pass


@dataclasses.dataclass
class Block:
    """A fenced block: its information string, the number of its first line (from 0), its lines, whether it is run."""

    information: str
    begin: int
    lines: list
    is_run: bool


@dataclasses.dataclass
class Command:
    text: str
    line: int  # where it begins, from 0
    output_line: int
    output: list


def find_documents(root):
    paths = sorted(root.glob("*.md"))
    for folder in FOLDERS:
        paths += sorted((root / folder).rglob("*.md"))
    return paths


def find_blocks(lines):
    blocks, fence, not_run = [], None, False
    for number, line in enumerate(lines):
        stripped = line.strip()
        if fence is None and (match := re.fullmatch(r"(`{3,})(.*)", stripped)):
            fence = match[1]
            blocks.append(Block(match[2].strip(), number + 1, [], not not_run))
        elif fence is not None and stripped == fence:
            fence, not_run = None, False
        elif fence is not None:
            blocks[-1].lines.append(line)
        elif stripped:
            not_run = NOT_RUN.fullmatch(stripped) is not None
    if fence is not None:
        raise FormatError(f"line {blocks[-1].begin}: this block has no end")
    return blocks


def prose_lines(text):
    """What stands outside of fenced blocks."""
    lines, fenced = text.split("\n"), set()
    for block in find_blocks(lines):
        fenced.update(range(block.begin - 1, block.begin + len(block.lines) + 1))
    return [line for number, line in enumerate(lines) if number not in fenced]


def find_commands(block):
    commands, continues = [], False
    for number, line in enumerate(block.lines, block.begin):
        if continues:
            commands[-1].text = commands[-1].text[:-1] + line.strip()
            commands[-1].output_line = number + 1
        elif line.startswith("$ "):
            if commands and commands[-1].output[-1:] == [""]:
                commands[-1].output.pop()
            commands.append(Command(line[2:], number, number + 1, []))
        elif commands:
            commands[-1].output.append(line)
        continues = bool(commands) and not commands[-1].output and commands[-1].text.endswith("\\")
    return [command for command in commands if command.text.startswith("kashi ")]


def agree(expected, actual):
    """Whether the lines are equal, where `...` stands for any lines."""
    if not expected:
        return not actual
    if expected[0] == ANY_LINES:
        return any(agree(expected[1:], actual[skipped:]) for skipped in range(len(actual) + 1))
    return bool(actual) and expected[0] == actual[0] and agree(expected[1:], actual[1:])


def environment():
    return {**os.environ, "LC_ALL": "C.UTF-8", "TERM": "dumb", "COLUMNS": "80", "TZ": "UTC"}


def run_command(command, kashi, folder):
    """The status of the command and the lines that it prints."""
    words = shlex.split(command.text, comments=True)
    process = subprocess.run([kashi] + words[1:], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                             stderr=subprocess.STDOUT, cwd=folder, env=environment(), timeout=TIMEOUT_S, check=False)
    return process.returncode, process.stdout.decode(errors="backslashreplace").splitlines()


def complaint_about(command, status, actual):
    if not 0 <= status <= (1 if command.output else 0):
        return f"exit status {status}\n" + "\n".join(actual)
    if command.output and not agree(command.output, actual):
        return "\n".join(difflib.unified_diff(command.output, actual, "shown", "printed", lineterm="", n=3))
    return ""


def compare_files(folder, root):
    """Complaints about files that the commands wrote and that the repository has in another form."""
    written = [path for path in folder.rglob("*") if path.is_file() and not path.is_symlink()]
    names = [path.relative_to(folder) for path in written]
    return [f"{name}: the repository has another one" for name in names
            if (root / name).is_file() and (root / name).read_bytes() != (folder / name).read_bytes()]


def prepare(folder, root):
    (folder / "docs/figures").mkdir(parents=True)
    if (root / "examples").is_dir():
        (folder / "examples").symlink_to(root / "examples")


def run_block(block, kashi, folder):
    """Each command of the block, what it prints, and what is wrong with that."""
    name = block.information.partition(" ")[2].strip()
    if name:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text("\n".join(block.lines) + "\n")
        return []
    outcomes = []
    for command in find_commands(block):
        status, actual = run_command(command, kashi, folder)
        outcomes.append((command, actual, complaint_about(command, status, actual)))
    return outcomes


def run_document(path, kashi, root):
    """(commands with what they print and what is wrong with that, complaints about files)."""
    lines = path.read_text().split("\n")
    with tempfile.TemporaryDirectory(prefix="kashi-documents-") as name:
        folder = pathlib.Path(name)
        prepare(folder, root)
        outcomes = []
        for block in find_blocks(lines):
            if block.is_run:
                outcomes += run_block(block, kashi, folder)
        return outcomes, compare_files(folder, root)


def update(path, outcomes):
    """Puts what the commands print in the place of what the document shows, where the two differ."""
    lines = path.read_text().split("\n")
    for command, actual, complaint in reversed(outcomes):
        if complaint and command.output:
            lines[command.output_line:command.output_line + len(command.output)] = actual
    path.write_text("\n".join(lines))


def flags_in(text):
    return re.findall(r"(?<![\w-])--[a-z][\w-]*", text)


def read_flags(kashi, root):
    """The options of each verb; under "" those of all verbs and scripts."""
    def help_of(*words):
        return subprocess.run([kashi, *words, "--help"], stdout=subprocess.PIPE, env=environment(), text=True,
                              timeout=TIMEOUT_S, check=False).stdout

    verbs = re.findall(r"^  ([a-z-]+) {2,}\S", help_of().partition("Options:")[0], re.M)
    flags = {verb: set(flags_in(help_of(verb))) for verb in verbs}
    scripts = [root / "dev", *(path for folder in ("scripts", "bench", "tests", "examples")
                               for kind in ("*.py", "*.sh") for path in (root / folder).rglob(kind))]
    texts = [path.read_text() for path in scripts if path.is_file()] + [help_of()]
    flags[""] = set().union(*flags.values(), *(flags_in(text) for text in texts))
    return flags


def check_flags(lines, flags):
    """Complaints about options that the document names and that do not exist."""
    complaints = []
    for code in re.findall(r"`([^`]+)`", " ".join(line.strip() for line in lines)):
        verb = re.match(r"kashi ([a-z-]+)\b", code)
        known = flags.get(verb[1] if verb else "", flags[""])
        complaints += [f"`{code}`: there is no option {flag}" for flag in flags_in(code)
                       if flag not in known and not flag.startswith("--xla_") and not code.startswith(OTHER_PROGRAMS)]
    return complaints


def check_document(path, options, flags):
    """(how many commands passed, how many things are wrong); prints the latter."""
    name = path.relative_to(options.root)
    outcomes, complaints = run_document(path, options.kashi, options.root)
    if "docs/spec" not in str(name):
        complaints += check_flags(prose_lines(path.read_text()), flags)
    if options.update:
        update(path, outcomes)
    failed = [(command, complaint) for command, _, complaint in outcomes if complaint]
    for command, complaint in failed:
        print(f"FAILED {name}:{command.line + 1}: $ {command.text}\n{complaint}\n")
    for complaint in complaints:
        print(f"FAILED {name}: {complaint}\n")
    return len(outcomes) - len(failed), len(failed) + len(complaints)


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kashi", required=True, type=os.path.abspath, help="the command under test")
    parser.add_argument("--root", default=ROOT, type=pathlib.Path, help="the repository")
    parser.add_argument("--update", action="store_true", help="write what the commands print now")
    parser.add_argument("filter", nargs="?", default="", help="a part of the path of the documents to check")
    options = parser.parse_args(arguments)
    flags = read_flags(options.kashi, options.root)
    passed = failed = 0
    for path in find_documents(options.root):
        if options.filter in str(path.relative_to(options.root)):
            try:
                good, bad = check_document(path, options, flags)
            except (FormatError, ValueError, OSError, subprocess.TimeoutExpired) as error:
                print(f"FAILED {path.relative_to(options.root)}: {error}\n")
                good, bad = 0, 1
            passed, failed = passed + good, failed + bad
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
