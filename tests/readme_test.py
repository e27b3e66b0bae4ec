#!/usr/bin/env python3
"""Does what README.md says, as a reader would: its commands, its C++ program, its Python session.

    tests/readme_test.py install                      prints the commands of "Install", for a shell
    tests/readme_test.py cpp [--prefix FOLDER]        builds and runs the program of "In C++" with an installed Kashi
    tests/readme_test.py python [--python PROGRAM]    runs the session of "In Python" in a Python that has the package

The texts are taken from README.md, so that nothing runs here that a reader does not see. The last line of `cpp` and
`python` is "N passed, M failed"."""
import argparse
import os
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT / "tests")]
sys.dont_write_bytecode = True

import documents_test  # noqa: E402

# Reads a session from standard input.
SESSION = """
import doctest, sys
test = doctest.DocTestParser().get_doctest(sys.stdin.read(), {}, "README.md", "README.md", 0)
if not test.examples: sys.exit("no examples")
sys.exit(doctest.DocTestRunner().run(test).failed != 0)
"""


def section(text, title):
    found = re.search(rf"^## {re.escape(title)}\n(.*?)(?=^## |\Z)", text, re.M | re.S)
    if found is None:
        raise SystemExit(f"readme_test.py: README.md has no section {title}")
    return found[1]


def blocks(text, information=""):
    """The lines of each fenced block with this word behind its fence."""
    return [block.lines for block in documents_test.find_blocks(text.split("\n")) if block.information == information]


def install_commands(text):
    """The commands of "Install", in their order, without the comments."""
    lines = [re.sub(r"\s+#.*", "", line) for line in blocks(section(text, "Install"))[0]]
    return [line for line in lines if line]


def files_of_program(text):
    """Of "In C++": each block that follows a line "`NAME`:"."""
    files = re.findall(r"^`([\w.]+)`:\n\n```\w+\n(.*?)^```", section(text, "In C++"), re.M | re.S)
    return dict(files)


def session_of_program(text):
    """Of "In C++": the commands that build and run the program, each with what it prints, if that is shown."""
    session = []
    for line in blocks(section(text, "In C++"))[0]:
        if line.startswith("$ "):
            session.append((line[2:], []))
        else:
            session[-1][1].append(line)
    return session


def try_program(text, prefix):
    """The complaints."""
    environment = dict(os.environ)
    if prefix:
        environment["CMAKE_PREFIX_PATH"] = str(pathlib.Path(prefix).resolve())
    with tempfile.TemporaryDirectory() as folder:
        for name, content in files_of_program(text).items():
            (pathlib.Path(folder) / name).write_text(content)
        for command, shown in session_of_program(text):
            done = subprocess.run(command, shell=True, cwd=folder, env=environment, text=True, stdout=subprocess.PIPE,
                                  stderr=subprocess.STDOUT)
            if done.returncode != 0:
                return [f"{command}: status {done.returncode}\n{done.stdout}"]
            if shown and done.stdout.splitlines() != shown:
                return [f"{command}: printed\n{done.stdout}and README.md shows\n" + "\n".join(shown)]
    return []


def try_session(text, python):
    session = "\n".join(line for lines in blocks(section(text, "In Python"), "python") for line in [*lines, ""])
    done = subprocess.run([python, "-c", SESSION], input=session, text=True, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT)
    return [] if done.returncode == 0 else [done.stdout]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("part", choices=["install", "cpp", "python"])
    parser.add_argument("--prefix", help="where Kashi is installed, if CMake does not look there by itself")
    parser.add_argument("--python", default=sys.executable)
    arguments = parser.parse_args()
    text = (ROOT / "README.md").read_text()
    if arguments.part == "install":
        print("\n".join(install_commands(text)))
        return 0
    complaints = try_program(text, arguments.prefix) if arguments.part == "cpp" else try_session(text, arguments.python)
    print("".join(f"FAILED {complaint}\n" for complaint in complaints), end="")
    print(f"{1 - len(complaints)} passed, {len(complaints)} failed")
    return 1 if complaints else 0


if __name__ == "__main__":
    sys.exit(main())
