#!/usr/bin/env python3
"""Runs clang-tidy on the sources of kashi/ and cli/ with the compile commands of a build folder.

clang-tidy spends most of its time on the headers that every file includes: ten seconds per file, and less than one on
the file itself. So files with the same flags are checked in groups, as one file that contains them all. Files that
define the same name go into different groups. A finding in a group only tells which files to check: these are checked
alone, and the others once more as a group.

--recent N checks the files that differ from the commit N commits ago, including uncommitted edits: the sources, and for
a header its own source or one that includes it. All sources are checked if .clang-tidy differs, and if git does not
have that commit, as in a shallow clone. --most M checks at most M of these: the most recently changed ones.
"""
import argparse
import bisect
import concurrent.futures
import itertools
import json
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile

TIDY = ["clang-tidy-14", "--quiet"]
EXTRA = ["-Wno-unknown-warning-option"]
GROUP_SIZE = 32
INCLUDED = (".h", ".def")
# What stands at the beginning of a line, in a namespace, and defines a name: a function, a type, a constant, a macro.
DEFINITION = re.compile(
    r"^(?:#define +(\w+)|(?:template <[^\n]*>\n)?(?:struct|class|enum class|enum) (\w+)|using (\w+) ="
    r"|(?!namespace )[A-Za-z_][\w:<>,*& ]*?[ *&](\w+)(?:\[[^\n]*\])? ?[({=])", re.MULTILINE)


def flags_of(command):
    """The flags of a compile command that clang-tidy needs; `-isystem X` is two words."""
    words = shlex.split(command)
    return tuple(word for before, word in zip(["", *words], words)
                 if before == "-isystem" or word.startswith(("-I", "-D", "-std", "-isystem")))


def sources_of(file):
    """The file itself, or the files that a file of a unity build includes."""
    if file.parent.name != "Unity":
        return [file]
    names = re.findall(r'^#include "([^"]+)"', file.read_text(), re.MULTILINE)
    return [(file.parent / name).resolve() for name in names]


def flags_of_all(build):
    """The flags of each source that the build compiles."""
    return {source: flags_of(entry["command"])
            for entry in json.loads((build / "compile_commands.json").read_text())
            for source in sources_of(pathlib.Path(entry["file"]))}


def read_commands(build, sources):
    """The flags of each of these sources, as one word list."""
    commands = flags_of_all(build)
    missing = [str(source) for source in sources if source not in commands]
    if missing:
        sys.exit(f"check_tidy: not in {build}/compile_commands.json: {' '.join(missing)}")
    return {source: commands[source] for source in sources}


def all_sources(root):
    return sorted(path for folder in ("kashi", "cli") for path in (root / folder).rglob("*.cc")
                  if not path.stem.endswith(("_test", "_bench")))


def files_changed(root, commits):
    """The files that differ from the commit that many commits ago, also files that git does not know yet. No deleted
    files.

    None if git cannot answer: this clone lacks the commit, there is no repository, or no git.
    """
    def ask(*words):
        return subprocess.run(["git", "-C", str(root), *words], capture_output=True, text=True, check=True).stdout

    try:
        base = ask("rev-parse", "--verify", f"HEAD~{commits}^{{commit}}").strip()
        names = ask("diff", "--name-only", "-z", "--diff-filter=d",
                    base) + ask("ls-files", "-z", "--others", "--exclude-standard")
    except (OSError, subprocess.CalledProcessError):
        return None
    return [root / name for name in names.split("\0") if name]


def newest_first(root, files):
    """The files, those first that changed last."""
    git = ["git", "-C", str(root)]
    edited = subprocess.run([*git, "ls-files", "-z", "--modified", "--others", "--exclude-standard"],
                            capture_output=True, text=True, check=False).stdout.split("\0")
    committed = subprocess.run([*git, "log", "-z", "--name-only", "--format="],
                               capture_output=True, text=True, check=False).stdout.split("\0")
    rank = {}  # 0: changed last
    for name in edited + committed:
        rank.setdefault(name.strip(), len(rank))
    return sorted(files, key=lambda file: rank.get(str(file.relative_to(root)), len(rank)))


def newest(root, files, most):
    """At most `most` of the files (None: all), in their order: the ones that changed last. Prints how many are left out."""
    if most is None or len(files) <= most:
        return files
    kept = set(newest_first(root, files)[:most])
    print(f"the {most} files that changed last; {len(files) - most} others are left to --all")
    return [file for file in files if file in kept]


def source_that_includes(header, sources, root):
    """The source of the same name, else the first that includes the header; None if only tests include it."""
    include = re.compile(r'^#include "%s"' % re.escape(str(header.relative_to(root))), re.MULTILINE)
    own = header.with_suffix(".cc")
    return next((source for source in sorted(sources, key=lambda source: source != own)
                 if source == own or include.search(source.read_text())), None)


def sources_to_look_at(changed, sources, root):
    """The sources to check for these changed files."""
    if root / ".clang-tidy" in changed:
        return sources
    chosen = {source_that_includes(file, sources, root) for file in changed if file.suffix in INCLUDED}
    return [source for source in sources if source in chosen or source in changed]


def choose_sources(options, root):
    """The sources to check by the command line; prints how many."""
    if options.files:
        return [source.resolve() for source in options.files]
    sources = all_sources(root)
    if options.recent is None:
        return sources
    changed = files_changed(root, options.recent)
    if changed is None:
        print(f"all {len(sources)} files: this clone does not have the commit {options.recent} commits ago")
        return newest(root, sources, options.most)
    chosen = sources_to_look_at(changed, sources, root)
    print(f"{len(chosen)} of {len(sources)} files: those that differ from {options.recent} commits ago (--all checks all)")
    return newest(root, chosen, options.most)


def names_in(source):
    """The names that only one file of a group may define. A macro that the file undefines does not count."""
    text = source.read_text()
    names = {next(filter(None, match)) for match in DEFINITION.findall(text)}
    return {name for name in names if text.rfind(f"\n#undef {name}\n") <= text.find(f"\n#define {name}")}


def make_groups(commands):
    """Groups of files with the same flags, without a name that two of them define."""
    groups = []
    for source, flags in commands.items():
        names = names_in(source)
        for group in groups:
            if group["flags"] == flags and len(group["files"]) < GROUP_SIZE and not names & group["names"]:
                break
        else:
            group = {"flags": flags, "files": [], "names": set()}
            groups.append(group)
        group["files"].append(source)
        group["names"] |= names
    return [group["files"] for group in groups]


def run_one(source, flags):
    command = [*TIDY, str(source), "--", *flags, *EXTRA]
    process = subprocess.run(command, capture_output=True, text=True, check=False)
    return "" if process.returncode == 0 else process.stdout + process.stderr


def files_to_blame(report, name, files):
    """The files that have the findings of a report about the joined file."""
    ends = list(itertools.accumulate(len(file.read_text().splitlines()) for file in files))
    lines = re.findall(rf"^{re.escape(name)}:(\d+):\d+: (?:warning|error)", report, re.MULTILINE)
    return {files[bisect.bisect_left(ends, int(line))] for line in lines}


def run_together(files, flags, root):
    """Whether the group has findings, and the files with findings: none if they are in a header."""
    with tempfile.NamedTemporaryFile("w", suffix=".cc") as joined:
        joined.writelines(line + "\n" for file in files for line in file.read_text().splitlines())
        joined.flush()
        command = [*TIDY, f"--config-file={root / '.clang-tidy'}", joined.name, "--", *flags, *EXTRA]
        process = subprocess.run(command, capture_output=True, text=True, check=False)
        return process.returncode != 0, files_to_blame(process.stdout + process.stderr, joined.name, files)


def check_group(files, commands, root):
    """The reports of the files with findings. If no file is known to have them, the group is halved."""
    if len(files) == 1:
        report = run_one(files[0], commands[files[0]])
        return [report] if report else []
    found, blamed = run_together(files, commands[files[0]], root)
    if not found:
        return []
    if blamed:
        parts = [[file] for file in files if file in blamed] + [[file for file in files if file not in blamed]]
    else:
        parts = [files[:len(files) // 2], files[len(files) // 2:]]
    return [report for part in parts if part for report in check_group(part, commands, root)]


def parse_options(description, root, which_files):
    """The command line: --build, --jobs, --recent and files. `which_files` is the help about the files."""
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, default=root / "build",
                        help="a folder with compile_commands.json")
    parser.add_argument("--jobs", type=int, default=2, help="the number of processes at a time")
    parser.add_argument("--recent", type=int, metavar="COMMITS",
                        help="only files that differ from that many commits ago")
    parser.add_argument("--most", type=int, metavar="FILES", help="at most that many files, those that changed last")
    parser.add_argument("files", nargs="*", type=pathlib.Path, help=which_files)
    return parser.parse_args()


def main():
    root = pathlib.Path(__file__).resolve().parent.parent
    options = parse_options(__doc__, root, "only these sources (default: all but tests)")
    build = options.build.resolve()
    sources = choose_sources(options, root)
    commands = read_commands(build, sources)
    groups = make_groups(commands)
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        found = list(pool.map(lambda files: check_group(files, commands, root), groups))
    reports = [report for group in found for report in group]
    print("".join(reports), end="")
    print(f"{len(sources)} files: {len(reports)} have findings")
    return 1 if reports else 0


if __name__ == "__main__":
    sys.exit(main())
