#!/usr/bin/env python3
"""Tests of the scripts that run tests (golden files, documents, the case counter) and of the check of references. The
documents of this repository are checked here too. checks_test.py has the checks of the sources."""
import contextlib
import functools
import io
import pathlib
import re
import shutil
import stat
import sys
import tempfile
import unittest
import unittest.mock
import xml.etree.ElementTree as ElementTree

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT / "scripts"), str(ROOT / "tests")]
sys.dont_write_bytecode = True

import check_documents  # noqa: E402
import count_tests  # noqa: E402
import documents_test  # noqa: E402
import golden  # noqa: E402
import readme_test  # noqa: E402

# Stands in for the command: `echo WORDS`, `cat` (standard input), `copy FROM TO`, `fail`.
FAKE_KASHI = r"""#!/usr/bin/env python3
import shutil, sys
verb, arguments = sys.argv[1], sys.argv[2:]
if verb == "echo": print(*arguments)
elif verb == "print": sys.stdout.write(" ".join(arguments))
elif verb == "cat": sys.stdout.write(sys.stdin.read())
elif verb == "copy": shutil.copy(*arguments)
else: sys.exit("no verb " + verb)
"""

GOLDEN_FILE = r"""# Everything that a golden file can hold.

$ kashi echo 'two  blanks' there
two  blanks there

$ kashi cat
\$ no command
\--- no section
\\ a backslash

--- stdin
\$ no command
\--- no section
\\ a backslash


$ kashi print 'without newline'
without newline
\ no newline

$ kashi copy in.txt out.txt
--- input in.txt
moved
--- file out.txt
moved

$ kashi fail
--- stderr
no verb fail
--- exit 1
"""


class GoldenTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.kashi = self.folder / "kashi"
        self.kashi.write_text(FAKE_KASHI)
        self.kashi.chmod(self.kashi.stat().st_mode | stat.S_IXUSR)

    def outcomes(self, text):
        head, cases = golden.parse(text, "test")
        return head, [golden.try_case(case, str(self.kashi)) for case in cases]

    def test_reading_and_writing_is_a_round_trip(self):
        self.assertEqual(golden.render(*golden.parse(GOLDEN_FILE, "test")), GOLDEN_FILE)

    def test_true_expectations_pass(self):
        self.assertEqual([why for _, why in self.outcomes(GOLDEN_FILE)[1]], [""] * 5)

    def test_update_of_true_expectations_changes_nothing(self):
        head, outcomes = self.outcomes(GOLDEN_FILE)
        self.assertEqual(golden.render(head, [case for case, _ in outcomes]), GOLDEN_FILE)

    def test_each_wrong_expectation_is_seen(self):
        for right, wrong in [("two  blanks there", "two blanks there"), ("exit 1", "exit 2"), ("no verb fail", "no"),
                             ("--- file out.txt\nmoved", "--- file out.txt\nlost"), ("\\ no newline\n", ""),
                             ("\n--- stdin", "--- stdin"), ("--- file out.txt", "--- file other.txt")]:
            with self.subTest(wrong=wrong):
                self.assertIn(right, GOLDEN_FILE)
                outcomes = self.outcomes(GOLDEN_FILE.replace(right, wrong, 1))[1]
                self.assertEqual(sum(why != "" for _, why in outcomes), 1)

    def test_a_missing_exit_section_means_success(self):
        self.assertIn("exit 1", self.outcomes("$ kashi fail\n--- stderr\nno verb fail\n")[1][0][1])

    def test_update_writes_what_the_command_does(self):
        head, outcomes = self.outcomes("$ kashi fail\nold text\n")
        self.assertEqual(golden.render(head, [case for case, _ in outcomes]),
                         "$ kashi fail\n--- stderr\nno verb fail\n--- exit 1\n")

    def test_bad_files_are_refused(self):
        for text in ["", "# comment only\n", "stray\n$ kashi echo\n", "$ kashi echo\n--- nonsense\n"]:
            with self.subTest(text=text), self.assertRaises(golden.FormatError):
                golden.parse(text, "test")

    def test_only_kashi_is_run(self):
        self.assertIn("begins with 'kashi'", self.outcomes("$ rm -rf .\n")[1][0][1])


def program(output, status="run"):
    case = ElementTree.Element("testcase", name="x", time="0", status=status)
    ElementTree.SubElement(case, "system-out").text = output
    return count_tests.count_program(case)


class CountTest(unittest.TestCase):
    def test_gtest(self):
        self.assertEqual(program("[==========] 7 tests from 2 test suites ran. (3 ms total)\n[  PASSED  ] 7 tests.\n"),
                         (7, 0, 0))

    def test_gtest_with_failures_counts_each_once(self):
        text = ("[  FAILED  ] A.b (0 ms)\n[  FAILED  ] A.c/1, where GetParam() = 3 (12 ms)\n"
                "[==========] 9 tests from 1 test suite ran. (3 ms total)\n[  PASSED  ] 6 tests.\n"
                "[  SKIPPED ] 1 test, listed below:\n[  SKIPPED ] A.d\n"
                "[  FAILED  ] 2 tests, listed below:\n[  FAILED  ] A.b\n[  FAILED  ] A.c/1, where GetParam() = 3\n")
        self.assertEqual(program(text, "fail"), (6, 2, 1))

    def test_a_crash_is_a_failed_case(self):
        self.assertEqual(program("Segmentation fault\n", "fail"), (0, 1, 0))
        self.assertEqual(program("[==========] 7 tests ran.\n[  PASSED  ] 7 tests.\nleak\n", "fail"), (7, 1, 0))

    def test_golden_and_unittest_and_silent_programs(self):
        self.assertEqual(program("FAILED x\n3 passed, 1 failed\n", "fail"), (3, 1, 0))
        self.assertEqual(program("Ran 5 tests in 0.1s\n\nOK (skipped=1)\n"), (4, 0, 1))
        self.assertEqual(program("Ran 5 tests in 0.1s\n\nFAILED (failures=2, errors=1)\n", "fail"), (2, 3, 0))
        self.assertEqual(program("fine\n"), (1, 0, 0))

    def test_pytest(self):
        self.assertEqual(program("..s\n68 passed in 15.20s\n"), (68, 0, 0))
        self.assertEqual(program("2 failed, 67 passed, 1 skipped, 1 warning, 1 error in 75.20s (0:01:15)\n", "fail"),
                         (67, 3, 1))
        self.assertEqual(program("1 error in 0.20s\n", "fail"), (0, 1, 0))


DOCUMENT = r"""# What a document can hold
```
$ kashi echo 'two  blanks'  # a comment
two  blanks

$ kashi echo a \
    b
a b
$ kashi copy in.txt figure.txt
$ other command
```

```text in.txt
first
```

```
$ kashi copy in.txt figure.txt
$ kashi fail
...
```

<!-- not run: it cannot -->

```
$ kashi fail
```
"""


class DocumentsTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name)
        self.kashi = self.root / "kashi"
        self.kashi.write_text(FAKE_KASHI)
        self.kashi.chmod(self.kashi.stat().st_mode | stat.S_IXUSR)
        (self.root / "figure.txt").write_text("first\n")

    def findings(self, text):
        """The findings about each command, and about files."""
        path = self.root / "README.md"
        path.write_text(text)
        outcomes, complaints = documents_test.run_document(path, str(self.kashi), self.root)
        return [complaint for _, _, complaint in outcomes], complaints

    def count(self, text):
        commands, files = self.findings(text)
        return sum(complaint != "" for complaint in commands) + len(files)

    def test_a_document(self):
        text = DOCUMENT.replace("$ kashi copy in.txt figure.txt\n$ other", "$ other")
        self.assertEqual(self.findings(text), ([""] * 4, []))

    def test_each_wrong_document_is_seen(self):
        self.assertEqual(self.count(DOCUMENT), 1)  # the first copy: there is no in.txt yet
        text = DOCUMENT.replace("$ kashi copy in.txt figure.txt\n$ other", "$ other")
        for right, wrong in [
            ("two  blanks\n\n", "two blanks\n\n"),
            ("a b\n", "a b\nc\n"),
            ("first", "second"),
            ("in.txt figure.txt\n", "out.txt figure.txt\n"),
            ("...", "no verb\n..."),
            ("<!-- not run: it cannot -->", "")]:
            with self.subTest(wrong=wrong):
                self.assertIn(right, text)
                self.assertEqual(self.count(text.replace(right, wrong, 1)), 1)

    def test_update_writes_what_is_printed(self):
        path = self.root / "README.md"
        path.write_text("```\n$ kashi echo a \\\n  b\n?\n?\n\n$ kashi echo c\nc\n```\n")
        with contextlib.redirect_stdout(io.StringIO()):
            self.assertEqual(documents_test.main(["--kashi", str(self.kashi), "--root", str(self.root), "--update"]), 1)
        self.assertEqual(path.read_text(), "```\n$ kashi echo a \\\n  b\na b\n\n$ kashi echo c\nc\n```\n")
        with contextlib.redirect_stdout(io.StringIO()) as printed:
            self.assertEqual(documents_test.main(["--kashi", str(self.kashi), "--root", str(self.root)]), 0)
        self.assertEqual(printed.getvalue(), "2 passed, 0 failed\n")

    def test_a_block_without_end_is_an_error(self):
        with self.assertRaises(documents_test.FormatError):
            self.findings("```\n$ kashi echo\n")

    def test_options_that_do_not_exist(self):
        flags = {"draw": {"--dark"}, "run": {"--as"}, "": {"--dark", "--as", "--all"}}
        self.assertEqual(
            documents_test.check_flags(
                ["`kashi draw --dark`, `kashi run --as",
                 "global`, `./dev tidy --all`,"
                 " --gone, `--xla_dump_to`, `kashi FILE --dark`"],
                flags),
            [])
        self.assertEqual(documents_test.check_flags(["`kashi draw --as x`, `--gone`"], flags),
                         ["`kashi draw --as x`: there is no option --as", "`--gone`: there is no option --gone"])

    def test_dots_stand_for_any_lines(self):
        for shown, printed, want in [("... b", "a b", True), ("a ...", "a", True), ("a ... c", "a b", False),
                                     ("a ... c ...", "a x y c d", True), ("", "a", False), ("a", "", False)]:
            self.assertEqual(documents_test.agree(shown.split(), printed.split()), want, (shown, printed))


class ReferencesTest(unittest.TestCase):
    def findings(self, text, name="docs/a.md"):
        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder).resolve()
            files = {name: text, "docs/b.md": "# One Thing: `x` and more\n",
                "kashi/array/shape.h": "", "compat/xla/types.h": ""}
            for path, content in files.items():
                (root / path).parent.mkdir(parents=True, exist_ok=True)
                (root / path).write_text(content)
            return check_documents.check(root)

    def test_what_is_right(self):
        self.assertEqual(
            self.findings(
                "[b](b.md#one-thing-x-and-more) [there](../kashi/array) [web](https://x.org/y)\n"
                "`kashi/array/shape.h`, `shape.h`, `array/shape.h`, `xla/types.h`, `app.cc`, `x_test.cc`\n"
                "```\n`kashi/array/gone.h`\n```\n| " +"x" * 200 +" |\n"),
            [])

    def test_what_is_wrong(self):
        for text, part in [
            ("[b](c.md)", "has no target"),
            ("[b](b.md#two)", "no such heading"),
            ("`gone.h`", "no file gone.h"),
            ("[b](../../..)", "has no target"),
            ("x `kashi/gone/shape.h` y", "no file"),
            ("x" * 121, "121 columns")]:
            with self.subTest(text=text):
                found = self.findings("\n" + text + "\n")
                self.assertEqual(len(found), 1, found)
                self.assertTrue(found[0].startswith("docs/a.md:2: "), found)
                self.assertIn(part, found[0])

    def test_pages_of_facts(self):
        self.assertEqual(self.findings("`gone.h` f[x](int) " + "x" * 120 + "\n", "docs/spec/a.md"), [])
        self.assertEqual(len(self.findings("`kashi/gone.h` [b](gone.md)\n", "docs/spec/a.md")), 2)

    def test_the_documents_of_this_repository(self):
        self.assertEqual(check_documents.check(ROOT), [])


README = """# Thing
## Install
```
./dev demo    # all
apt-get install ./x.deb
```
## In C++
`a.txt`:

```cmake
hello
```

```
$ cat a.txt >b.txt
$ cat b.txt
hello
```
## In Python
```python
>>> [1,
...  2]
[1, 2]
```
"""


class ReadersTest(unittest.TestCase):
    """readme_test.py does what a README says, and sees what is wrong."""

    def test_install(self):
        self.assertEqual(readme_test.install_commands(README), ["./dev demo", "apt-get install ./x.deb"])

    def test_the_program(self):
        self.assertEqual(readme_test.try_program(README, None), [])
        for right, wrong in [("hello\n```\n\n", "hallo\n```\n\n"), ("$ cat b.txt", "$ cat c.txt"), ("`a.txt`", "`c.txt`")]:
            with self.subTest(wrong=wrong):
                self.assertIn(right, README)
                self.assertEqual(len(readme_test.try_program(README.replace(right, wrong, 1), None)), 1)

    def test_the_session(self):
        self.assertEqual(readme_test.try_session(README, sys.executable), [])
        for right, wrong in [("[1, 2]\n", "[1, 3]\n"), (">>> [1", ">>> [x"), (">>> ", "")]:
            with self.subTest(wrong=wrong):
                self.assertEqual(len(readme_test.try_session(README.replace(right, wrong, 1), sys.executable)), 1)

    def test_the_readme_has_what_is_tried(self):
        text = (ROOT / "README.md").read_text()
        self.assertEqual(set(readme_test.files_of_program(text)), {"CMakeLists.txt", "app.cc"})
        self.assertTrue(any(shown for _, shown in readme_test.session_of_program(text)))
        self.assertIn("./dev demo", readme_test.install_commands(text))


class ReadmeTest(unittest.TestCase):
    def test_the_examples_of_the_api_are_compiled(self):
        blocks = documents_test.find_blocks((ROOT / "docs/api.md").read_text().split("\n"))
        examples = [block.lines for block in blocks if block.information == "cpp"]
        self.assertGreater(len(examples), 4)
        compiled = "".join((ROOT / "tests/install" / file).read_text() for file in ("api.cc", "uses_cpu.cc"))
        for lines in examples:
            self.assertIn("\n".join("  " + line if line else "" for line in lines), compiled)

    def test_its_figures_are_those_of_the_page_of_figures(self):
        table = (ROOT / "README.md").read_text().partition("## How fast")[2].partition("\n## ")[0]
        figures = re.findall(r"(?<![\d.])\d+(?:[.,]\d+)*", "".join(re.findall(r"^\|.*\|$", table, re.M)))
        self.assertGreater(len(figures), 10)
        known = (ROOT / "docs/performance.md").read_text()
        self.assertEqual([figure for figure in figures if not re.search(rf"(?<![\d.]){figure}(?![\d])", known)], [])

    def test_versions_agree(self):
        version = re.search(r"project\(kashi VERSION (\S+) ", (ROOT / "CMakeLists.txt").read_text())[1]
        self.assertIn(f"## {version} (", (ROOT / "CHANGELOG.md").read_text())
        for name in ("README.md", "docs/building.md"):
            self.assertEqual(set(re.findall(r"kashi[_-](\d+\.\d+\.\d+)", (ROOT / name).read_text())), {version}, name)
        needed = re.search(r"find_package\(kashi (\S+) ", (ROOT / "README.md").read_text())[1]
        self.assertTrue(version.startswith(needed + "."))


class VerbsTest(unittest.TestCase):
    """Each verb of cli/verbs.def is documented, and fuzzed if it reads files."""

    ABOUT_THE_COMMAND = {"version", "completions", "man"}

    def setUp(self):
        names = re.findall(r"^KASHI_VERB\((\w+)\)", (ROOT / "cli/verbs.def").read_text(), re.M)
        self.verbs = [re.sub(r"(?<=[a-z])(?=[A-Z])", "-", name).lower() for name in names]  # MpiBench: mpi-bench
        self.assertGreater(len(self.verbs), 10)

    def missing_from(self, file, line_of_verb):
        text = (ROOT / file).read_text()
        return {verb for verb in self.verbs if not re.search(line_of_verb.format(verb), text, re.M)}

    def test_the_readme_has_all_that_work_on_arrays_and_programs(self):
        self.assertEqual(self.missing_from("README.md", r"^\|.*`kashi {}`"), self.ABOUT_THE_COMMAND)

    def test_the_reference_has_all(self):
        self.assertEqual(self.missing_from("docs/command.md", r"kashi {}\b"), set())

    def test_the_golden_file_has_the_help_of_all(self):
        self.assertEqual(self.missing_from("tests/golden/help.txt", r"^\$ kashi {} --help$"), set())

    def test_the_fuzzer_runs_all_that_read_files(self):
        not_fuzzed = self.ABOUT_THE_COMMAND | {"ops", "serve"}  # the pages of serve are those of report
        self.assertEqual(self.missing_from("fuzz/verbs_fuzz.cc", r'^    "{}[ "]'), not_fuzzed)


class CountsTest(unittest.TestCase):
    """One of a thing is in the singular: "1 buffer", never "1 buffers"."""

    @staticmethod
    @functools.lru_cache(maxsize=None)
    def plurals():
        """The plurals of the nouns that the sources pass to Count (kashi/base/text.h)."""
        found = set()
        for folder in ("kashi", "cli", "python/src"):
            for path in (ROOT / folder).rglob("*.cc"):
                text = path.read_text()
                found.update(re.findall(r'\bCount\((?:[^;"]|\n)*?"(?:[a-z]+ )*([a-z]+)"\)', text))
        return {noun[:-1] + "ies" if re.search("[^aeo]y$", noun) else noun + "s" for noun in found}

    def findings(self, text):
        pattern = re.compile(r"(?<![\w.,])1 (?:[a-z]+ )?(?:%s)\b" % "|".join(sorted(self.plurals())))
        return [line for line in text.splitlines() if pattern.search(line)]

    def test_the_pattern(self):
        self.assertLess({"bytes", "buffers", "entries", "instructions", "modules", "values"}, self.plurals())
        wrong = ["has 1 bytes there", "1 more buffers", "(1 computations, 2 instructions)"]
        self.assertEqual(self.findings("\n".join(wrong)), wrong)
        self.assertEqual(self.findings("1 byte\n11 bytes\n0.1 bytes\nf32[1] bytes\n2 bytes\n"), [])

    def test_golden_files(self):
        for path in sorted((ROOT / "tests" / "golden").rglob("*.txt")):
            for case in golden.parse(path.read_text(), path)[1]:
                for (kind, _), text in case.sections.items():
                    if kind not in golden.GIVEN:
                        self.assertEqual(self.findings(text), [], f"{path.name}:{case.line}")

    def test_documents(self):
        for path in [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]:
            self.assertEqual(self.findings(path.read_text()), [], path.name)


if __name__ == "__main__":
    unittest.main()
