#!/usr/bin/env python3
"""Runs clang-tidy on the sources of kashi/ and cli/ with the compile commands of a build folder.

Nearly all of clang-tidy's time goes into the headers that every file includes. So files of one target are looked at several
at a time, written one after the other into one file; files that define a name twice between them are put into different
groups. A group that has a finding, or does not compile, is halved until the file is alone: only that counts.
"""
import argparse
import concurrent.futures
import json
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile

TIDY = ["clang-tidy-14", "--quiet"]
EXTRA = ["-Wno-unknown-warning-option"]
GROUP_SIZE = 8
# What stands at the beginning of a line, in a namespace, and defines a name: a function, a type, a constant, a macro.
DEFINITION = re.compile(
    r"^(?:#define +(\w+)|(?:template <[^\n]*>\n)?(?:struct|class|enum class|enum|using) (\w+)"
    r"|(?!namespace )[A-Za-z_][\w:<>,*& ]*?[ *&](\w+)(?:\[[^\n]*\])? ?[({=])", re.MULTILINE)


def read_commands(build, sources):
    """The flags of each source, as one word list."""
    commands = {}
    for entry in json.loads((build / "compile_commands.json").read_text()):
        words = shlex.split(entry["command"])
        flags = [w for w in words if w.startswith(("-I", "-D", "-std", "-isystem"))]
        for i, word in enumerate(words):
            if word == "-isystem":
                flags += [words[i + 1]]
        commands[pathlib.Path(entry["file"])] = tuple(flags)
    missing = [str(source) for source in sources if source not in commands]
    if missing:
        sys.exit(f"check_tidy: not in {build}/compile_commands.json: {' '.join(missing)}")
    return {source: commands[source] for source in sources}


def names_in(source):
    return {next(filter(None, match)) for match in DEFINITION.findall(source.read_text())}


def make_groups(commands):
    """Lists of files: of one folder, with the same flags, no name twice."""
    groups = []
    for source, flags in commands.items():
        names = names_in(source)
        key = (source.parent, flags)
        for group in groups:
            if group["key"] == key and len(group["files"]) < GROUP_SIZE and not names & group["names"]:
                break
        else:
            group = {"key": key, "files": [], "names": set()}
            groups.append(group)
        group["files"].append(source)
        group["names"] |= names
    return [group["files"] for group in groups]


def run_one(source, build):
    command = [*TIDY, "-p", str(build), *(f"--extra-arg={flag}" for flag in EXTRA), str(source)]
    process = subprocess.run(command, capture_output=True, text=True, check=False)
    return "" if process.returncode == 0 else process.stdout + process.stderr


def is_clean(files, flags, root):
    """Whether nothing is found in all of them at once."""
    with tempfile.NamedTemporaryFile("w", suffix=".cc") as joined:
        joined.write("\n".join(file.read_text() for file in files))
        joined.flush()
        command = [*TIDY, f"--config-file={root / '.clang-tidy'}", joined.name, "--", *flags, *EXTRA]
        return subprocess.run(command, capture_output=True, check=False).returncode == 0


def check_group(files, commands, root, build):
    """The reports of the files that have findings. A group that is not clean is halved, down to single files."""
    if len(files) == 1:
        report = run_one(files[0], build)
        return [report] if report else []
    if is_clean(files, commands[files[0]], root):
        return []
    half = len(files) // 2
    return [report for part in (files[:half], files[half:]) for report in check_group(part, commands, root, build)]


def main():
    root = pathlib.Path(__file__).resolve().parent.parent
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, default=root / "build", help="a folder with compile_commands.json")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("sources", nargs="*", type=pathlib.Path, help="only these; all but tests if none is named")
    options = parser.parse_args()
    build = options.build.resolve()
    sources = [source.resolve() for source in options.sources] or sorted(
        path for folder in ("kashi", "cli") for path in (root / folder).rglob("*.cc")
        if not path.stem.endswith(("_test", "_bench")))
    commands = read_commands(build, sources)
    groups = make_groups(commands)
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        found = list(pool.map(lambda files: check_group(files, commands, root, build), groups))
    reports = [report for group in found for report in group]
    print("".join(reports), end="")
    print(f"{len(sources)} files: {len(reports)} have findings")
    return 1 if reports else 0


if __name__ == "__main__":
    sys.exit(main())
