#!/usr/bin/env python3
"""Finds broken references and long lines in Markdown files.

    scripts/check_documents.py          prints the findings; exit status 1 if there are any

A relative link must lead to a file or folder, and its anchor to a heading of that document. A file name in
backticks (`kashi/array/shape.h`, `shape.h`, `tests/golden.py`) must exist relative to the repository's root, to the
document's folder or to compat/; a name without a folder may be anywhere. Examples are named `app.cc`, `x.cc`,
`x_test.cc` and the like. Lines have 120 columns at most; rows of tables and fenced blocks may be longer. Pages in
docs/spec name XLA's files: there, only names that begin with `kashi/` and links to Markdown files are checked.
"""
import pathlib
import re
import subprocess
import sys

COLUMNS = 120
LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")
CODE = re.compile(r"`([^`]+)`")
EXAMPLE = re.compile(r"(.*/)?(app|x(_\w+)?)\.\w+")
FILE_NAME = re.compile(r"[\w./-]*\w\.(?:h|cc|def|proto|py|md|cmake|txt|sh)")


def tracked_files(root):
    """The files that git tracks or does not ignore; all files without git."""
    listed = subprocess.run(["git", "-C", str(root), "ls-files", "--cached", "--others", "--exclude-standard"],
                            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, check=False)
    names = listed.stdout.splitlines() if listed.returncode == 0 else [
        str(path.relative_to(root)) for path in root.rglob("*") if path.is_file()]
    return {name for name in names if (root / name).is_file()}


def prose_lines(text):
    """(number, line) of the lines outside of fenced blocks."""
    fence = None
    for number, line in enumerate(text.split("\n"), 1):
        mark = re.match(r"\s*(`{3,})", line)
        if fence is None and mark:
            fence = mark[1]
        elif fence is not None and line.strip() == fence:
            fence = None
        elif fence is None:
            yield number, line


def anchors_of(text):
    """The anchors that GitHub gives to the headings of a document."""
    headings = [re.sub(r"^#+ ", "", line) for _, line in prose_lines(text) if re.match(r"#+ ", line)]
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def check_link(target, document, root):
    """An error message about a link of the document; empty if it is valid."""
    if re.match(r"[a-z]+:", target):
        return ""
    name, _, anchor = target.partition("#")
    path = (document.parent / name).resolve() if name else document
    if not path.is_relative_to(root) or not path.exists():
        return f"the link {target} has no target"
    if anchor and path.suffix == ".md" and anchor not in anchors_of(path.read_text()):
        return f"the link {target}: there is no such heading"
    return ""


def is_known(name, document, root, files, base_names):
    if "/" not in name:
        return name in base_names
    folders = (root, document.parent, root / "compat")
    return any((folder / name).is_file() for folder in folders) or any(file.endswith("/" + name) for file in files)


def names_in(line, in_spec):
    """The files that the line names in backticks."""
    for code in CODE.findall(line):
        for word in code.split():
            if FILE_NAME.fullmatch(word) and not EXAMPLE.fullmatch(word) and (word.startswith("kashi/") or not in_spec):
                yield word


def check_document(document, root, files, base_names):
    """Findings, each with its place."""
    in_spec = document.is_relative_to(root / "docs/spec")
    findings = []
    for number, line in prose_lines(document.read_text()):
        complaints = [check_link(target, document, root) for target in LINK.findall(line)
                      if not in_spec or ".md" in target]
        complaints += [f"there is no file {name}" for name in names_in(line, in_spec)
                       if not is_known(name, document, root, files, base_names)]
        if len(line) > COLUMNS and not in_spec and not line.lstrip().startswith("|"):
            complaints.append(f"{len(line)} columns, {COLUMNS} at most")
        findings += [f"{document.relative_to(root)}:{number}: {complaint}" for complaint in complaints if complaint]
    return findings


def check(root):
    files = tracked_files(root)
    base_names = {pathlib.PurePath(name).name for name in files}
    documents = [root / name for name in sorted(files) if name.endswith(".md")]
    return [finding for document in documents for finding in check_document(document, root, files, base_names)]


def main():
    findings = check(pathlib.Path(__file__).resolve().parent.parent)
    print("\n".join(findings) if findings else "all references of the documents are valid")
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
