#!/usr/bin/env python3
"""Tests of the scripts that check everything else: the golden runner, the runner of documents, the case counter, the
include arrows, the references of documents. The documents of this repository are checked here too."""
import contextlib
import io
import json
import pathlib
import re
import shutil
import stat
import subprocess
import sys
import tempfile
import unittest
import unittest.mock
import xml.etree.ElementTree as ElementTree

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT / "scripts"), str(ROOT / "tests")]
sys.dont_write_bytecode = True

import check_documents  # noqa: E402
import check_headers  # noqa: E402
import check_includes  # noqa: E402
import check_public  # noqa: E402
import check_sizes  # noqa: E402
import check_tidy  # noqa: E402
import count_tests  # noqa: E402
import documents_test  # noqa: E402
import golden  # noqa: E402

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


class ReadmeTest(unittest.TestCase):
    def block(self, language):
        blocks = documents_test.find_blocks((ROOT / "README.md").read_text().split("\n"))
        found = [block.lines for block in blocks if block.information == language]
        self.assertEqual(len(found), 1, language)
        return found[0]

    def test_its_program_is_the_one_that_is_compiled(self):
        self.assertEqual("\n".join(self.block("cpp")) + "\n", (ROOT / "tests/install/app.cc").read_text())
        compiled = (ROOT / "tests/install/CMakeLists.txt").read_text().split("\n")
        for line in self.block("cmake"):
            self.assertIn(line, compiled)

    def test_the_examples_of_the_api_are_compiled(self):
        blocks = documents_test.find_blocks((ROOT / "docs/api.md").read_text().split("\n"))
        examples = [block.lines for block in blocks if block.information == "cpp"]
        self.assertGreater(len(examples), 4)
        compiled = (ROOT / "tests/install/api.cc").read_text()
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
        self.verbs = [name.lower() for name in re.findall(r"^KASHI_VERB\((\w+)\)", (ROOT / "cli/verbs.def").read_text(), re.M)]
        self.assertGreater(len(self.verbs), 10)

    def missing_from(self, file, line_of_verb):
        text = (ROOT / file).read_text()
        return {verb for verb in self.verbs if not re.search(line_of_verb.format(verb), text, re.M)}

    def test_the_readme_has_all_that_work_on_arrays_and_programs(self):
        self.assertEqual(self.missing_from("README.md", r"^\|.*`kashi {}`"), self.ABOUT_THE_COMMAND)

    def test_the_reference_has_all(self):
        self.assertEqual(self.missing_from("docs/command.md", r"kashi {}\b"), set())

    def test_the_fuzzer_runs_all_that_read_files(self):
        self.assertEqual(self.missing_from("fuzz/verbs_fuzz.cc", r'^    "{} '), self.ABOUT_THE_COMMAND | {"ops"})


class IncludesTest(unittest.TestCase):
    CMAKE = """set(ABSL absl::base absl::strings)  # kashi_room(none)
kashi_room(base LIBRARIES ${ABSL} Threads::Threads)
kashi_room(array DEPENDS base)
kashi_room(draw ALONE "a_(b|(c|d)_e)|array" DEPENDS array)
"""
    TABLE = "| `kashi/base` | x | – |\n| `kashi/array` | x | `base` |\n| `kashi/draw` | x | `array` |\n"

    def findings(self, **files):
        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder)
            files = {"kashi/CMakeLists.txt": self.CMAKE, "ARCHITECTURE.md": self.TABLE, "kashi/base/b.h": "#ifndef B\n",
                     "kashi/array/a.h": "#ifndef A\n", "kashi/draw/d.h": "#ifndef D\n", **files}
            for name, text in files.items():
                (root / name).parent.mkdir(parents=True, exist_ok=True)
                (root / name).write_text(text)
            return check_includes.check(root)[2]

    def assert_finding(self, name, text, part):
        found = self.findings(**{name: text})
        self.assertEqual(len(found), 1, found)
        self.assertIn(part, found[0])

    def test_arrows_point_down(self):
        self.assertEqual(self.findings(**{
            "kashi/draw/x.cc": '#include "kashi/draw/d.h"\n#include "kashi/array/a.h"\n#include "kashi/base/b.h"\n'
                               '#include "absl/strings/str_cat.h"\n#include <vector>\n',
            "cli/main.cc": '#include "kashi/draw/d.h"\n#include "CLI/CLI.hpp"\n'}), [])
        self.assert_finding("kashi/array/x.cc", '#include "kashi/draw/d.h"\n', "array may use base")
        self.assert_finding("kashi/base/x.cc", '#include "kashi/array/a.h"\n', "base may use no other room")

    def test_only_named_libraries(self):
        self.assert_finding("kashi/array/x.cc", "#include <omp.h>\n", "neither the standard library")
        self.assert_finding("kashi/array/x.cc", '#include "google/protobuf/message.h"\n', "neither")
        self.assert_finding("kashi/array/x.cc", '#include "gtest/gtest.h"\n', "neither")
        self.assertEqual(self.findings(**{"kashi/array/x_test.cc": '#include "gtest/gtest.h"\n'}), [])

    def test_system_headers_in_their_files_alone(self):
        self.assertEqual(self.findings(**{"kashi/base/page_buffer.cc": "#include <sys/mman.h>\n"}), [])
        self.assert_finding("kashi/base/x.cc", "#include <sys/mman.h>\n", "neither the standard library")

    def test_headers(self):
        self.assert_finding("kashi/array/x.h", "#ifndef X\nusing namespace std;\n", "using namespace")
        self.assert_finding("kashi/array/x.h", "int x;\n", "include guard")
        self.assert_finding("kashi/array/x.cc", '#include "kashi/base/gone.h"\n', "no such file")
        self.assert_finding("kashi/attic/x.cc", "", "room of kashi/CMakeLists.txt")


    def test_the_table_says_what_cmake_says(self):
        self.assert_finding("ARCHITECTURE.md", self.TABLE.replace(
            "`array` |\n", "`base` |\n"), "draw may use ['array']")
        self.assert_finding("ARCHITECTURE.md", self.TABLE + "| `kashi/attic` | x | – |\n", "no room attic")
        self.assert_finding("ARCHITECTURE.md", self.TABLE.replace("kashi/draw", "draw"), "no room draw")


class HeadersTest(unittest.TestCase):
    def test_include_flags(self):
        words = "g++ -DX=1 -I/a -isystem /b -std=gnu++17 -o x.o -c x.cc".split()
        self.assertEqual(check_headers.include_flags(words), [("-I/a",), ("-isystem", "/b")])

    def test_names(self):
        root = pathlib.Path("/r")
        self.assertEqual(check_headers.include_name(root, root / "kashi/array/shape.h"), "kashi/array/shape.h")
        self.assertEqual(check_headers.include_name(root, root / "compat/xla/shape.h"), "xla/shape.h")


class PublicTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name).resolve()
        (self.root / "kashi").mkdir()
        self.write("public_headers.txt", "# comment\na.h\n")
        self.write("a.h", '#include "kashi/b.h"\nnamespace kashi {\nclass Forward;\nstruct A {};\n}  // namespace kashi\n')
        self.write("b.h", "namespace kashi::internal {\nstruct B {};\n}  // namespace kashi::internal\n")
        self.public = check_public.public_headers(self.root)

    def write(self, name, text):
        (self.root / "kashi" / name).write_text(text)

    def findings(self):
        return list(check_public.check_headers(self.root, self.public))

    def test_what_is_right(self):
        self.assertEqual(self.findings(), [])
        self.assertEqual(check_public.list_of_names(self.root, self.public).split("\n")[1:], ["a.h:", "  A", ""])
        self.assertEqual(check_public.included_by(self.root, self.public), {"kashi/a.h", "kashi/b.h"})

    def test_a_public_name_of_a_header_that_is_not_public(self):
        self.write("b.h", "namespace kashi {\nstruct B {};\n}  // namespace kashi\n")
        self.assertEqual(len(self.findings()), 1)
        self.assertIn("kashi/b.h: B stands in namespace kashi", self.findings()[0])

    def test_a_public_header_that_does_not_exist(self):
        (self.root / "kashi/a.h").unlink()
        self.assertEqual(self.findings(), ["kashi/public_headers.txt: there is no kashi/a.h"])

    def installed(self):
        """The findings about an installation of a.h, b.h and c.h, as far as they are in the folder."""
        options = unittest.mock.Mock(root=self.root, installed=self.root / "prefix", jobs=1, recent=None, most=None)
        shutil.rmtree(options.installed, ignore_errors=True)
        shutil.copytree(self.root / "kashi", options.installed / "include/kashi")
        with contextlib.redirect_stdout(io.StringIO()), unittest.mock.patch.object(
                check_public, "errors_of", side_effect=lambda include, headers, flags: "" if headers else "nothing"):
            return list(check_public.check_installed(options, self.public))

    def test_an_installation(self):
        self.assertEqual(self.installed(), [])
        (self.root / "kashi/b.h").unlink()
        self.assertEqual(self.installed(), ["kashi/a.h includes kashi/b.h, which is not installed"])


class SizesTest(unittest.TestCase):
    def test_functions(self):
        text = "int f(int x) {\n" + "  x++;\n" * 5 + "}\nstruct S {\n  void g() { return; }\n};\n"
        self.assertEqual(list(check_sizes.functions(text)), [(1, 7), (9, 1)])


class TidyTest(unittest.TestCase):
    def test_files_that_define_a_name_twice_are_kept_apart(self):
        texts = {"a.cc": "namespace {\nint Size(int x) { return x; }\nconstexpr int kA = 1;\n}\n",
                 "b.cc": "namespace {\nstruct Size {};\n}\n",
                 "c.cc": "namespace {\ntemplate <typename T>\nT* Other(T* x) {\n  return x;\n}\n}\n"}
        with tempfile.TemporaryDirectory() as folder:
            files = {name: pathlib.Path(folder) / name for name in texts}
            for name, text in texts.items():
                files[name].write_text(text)
            groups = check_tidy.make_groups({file: ("-I.",) for file in files.values()})
            self.assertEqual(groups, [[files["a.cc"], files["c.cc"]], [files["b.cc"]]])
            commands = {files["a.cc"]: ("-I.",), files["b.cc"]: ("-DX",)}
            self.assertEqual(len(check_tidy.make_groups(commands)), 2)

    def test_names_that_may_stand_twice(self):
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder) / "a.cc"
            file.write_text(
                "using shape_inference::Infer;\nusing Sizes = int;\n#define KASHI_ROW(x) x\n#undef KASHI_ROW\n"
                "#undef HWY_TARGET_INCLUDE\n#define HWY_TARGET_INCLUDE \"a.cc\"\n")
            self.assertEqual(check_tidy.names_in(file), {"Sizes", "HWY_TARGET_INCLUDE"})

    def test_files_of_a_unity_build_have_the_flags_of_their_group(self):
        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder)
            (root / "Unity").mkdir()
            group = root / "Unity" / "unity_a-c_cxx.cxx"
            group.write_text(f'/* made */\n\n#include "{root}/x.cc"\n\n#include "{root}/y.cc"\n')
            entries = [{"file": str(group), "command": "g++ -DX -O3"},
                                    {"file": str(root / "z.cc"), "command": "g++ -DZ"}]
            (root / "compile_commands.json").write_text(json.dumps(entries))
            x, y, z = (root / name for name in ("x.cc", "y.cc", "z.cc"))
            self.assertEqual(check_tidy.read_commands(root, [x, y, z]), {x: ("-DX",), y: ("-DX",), z: ("-DZ",)})

    def test_flags_keep_their_order(self):
        self.assertEqual(check_tidy.flags_of("g++ -DX=1 -I/a -isystem /b -O3 -std=gnu++17 -o x.o -c x.cc"),
                         ("-DX=1", "-I/a", "-isystem", "/b", "-std=gnu++17"))

    def check_group(self, files, blamed):
        """The reports of a group in which x is bad, and the files that were checked together."""
        asked = []

        def run_together(group, *_):
            asked.append(group)
            return "x" in group, blamed
        with unittest.mock.patch.object(check_tidy, "run_together", run_together), \
             unittest.mock.patch.object(check_tidy, "run_one", lambda file, _: f"{file} is bad" if file == "x" else ""):
            return check_tidy.check_group(files, dict.fromkeys(files, ()), None), asked

    def test_a_file_to_blame_is_looked_at_alone(self):
        reports, asked = self.check_group(["a", "b", "x", "c"], {"x"})
        self.assertEqual(reports, ["x is bad"])
        self.assertEqual(asked, [["a", "b", "x", "c"], ["a", "b", "c"]])

    def test_a_group_with_nobody_to_blame_is_halved(self):
        reports, asked = self.check_group(["a", "b", "c", "x"], set())
        self.assertEqual(reports, ["x is bad"])
        self.assertEqual(asked, [["a", "b", "c", "x"], ["a", "b"], ["c", "x"]])

    def test_who_is_to_blame(self):
        with tempfile.TemporaryDirectory() as folder:
            files = [pathlib.Path(folder) / name for name in ("a.cc", "b.cc", "c.cc")]
            for file, text in zip(files, ("1\n2", "3\n", "4\n5\n")):
                file.write_text(text)
            report = "j.cc:3:1: error: x\nj.cc:5:2: warning: y\nj.cc:1:1: note: z\na.h:1:1: error: w\n"
            self.assertEqual(check_tidy.files_to_blame(report, "j.cc", files), {files[1], files[2]})


@unittest.skipUnless(shutil.which("git"), "no git here")
class TidyOfWhatChangedTest(unittest.TestCase):
    FILES = {".clang-tidy": "", "kashi/a.cc": '#include "kashi/b.h"\n', "kashi/c.h": "",
        "kashi/c.cc": "", "kashi/b.h": "", "kashi/d.cc": "", "kashi/d_test.cc": ""}

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name).resolve() / "clone"
        (self.root / "kashi").mkdir(parents=True)
        for name, text in self.FILES.items():
            (self.root / name).write_text(text)
        self.git("init", "-q")
        self.commit()

    def git(self, *words):
        subprocess.run(["git", "-c", "user.name=x", "-c", "user.email=x@x", "-C", str(self.root), *words], check=True,
                       stdout=subprocess.DEVNULL)

    def commit(self):
        self.git("add", ".")
        self.git("commit", "-q", "--allow-empty", "-m", "x")

    def chosen(self, commits):
        """The names of the sources that --recent checks; None if git cannot answer."""
        changed = check_tidy.files_changed(self.root, commits)
        if changed is None:
            return None
        sources = check_tidy.sources_to_look_at(changed, check_tidy.all_sources(self.root), self.root)
        return [source.name for source in sources]

    def test_sources_committed_edited_and_new(self):
        (self.root / "kashi/d.cc").write_text("int d;\n")
        (self.root / "kashi/d_test.cc").write_text("int d;\n")
        self.commit()
        (self.root / "kashi/c.cc").write_text("int c;\n")
        (self.root / "kashi/e.cc").write_text("int e;\n")
        self.assertEqual(self.chosen(1), ["c.cc", "d.cc", "e.cc"])
        self.assertEqual(self.chosen(0), ["c.cc", "e.cc"])

    def test_a_header_calls_for_its_source_or_one_that_includes_it(self):
        (self.root / "kashi/b.h").write_text("// b\n")
        self.assertEqual(self.chosen(0), ["a.cc"])
        (self.root / "kashi/c.h").write_text("// c\n")
        self.assertEqual(self.chosen(0), ["a.cc", "c.cc"])

    def test_other_rules_call_for_all(self):
        self.assertEqual(self.chosen(0), [])
        (self.root / ".clang-tidy").write_text("Checks: -*\n")
        self.assertEqual(self.chosen(0), ["a.cc", "c.cc", "d.cc"])

    def test_a_limit_keeps_the_files_that_changed_last(self):
        for name in ("kashi/d.cc", "kashi/a.cc"):
            (self.root / name).write_text("int x;\n")
            self.commit()
        sources = check_tidy.all_sources(self.root)
        newest = lambda most: [file.name for file in check_tidy.newest(self.root, sources, most)]
        with contextlib.redirect_stdout(io.StringIO()) as printed:
            self.assertEqual(newest(1), ["a.cc"])
            self.assertEqual(newest(2), ["a.cc", "d.cc"])
            (self.root / "kashi/c.cc").write_text("int c;\n")
            self.assertEqual(newest(1), ["c.cc"])
        self.assertIn("2 others are left to --all", printed.getvalue())
        self.assertEqual(newest(3), newest(None))

    def test_a_clone_that_is_too_young_or_shallow_cannot_tell(self):
        self.assertIsNone(self.chosen(1))
        self.commit()
        self.assertEqual(self.chosen(1), [])
        shallow = self.root.parent / "shallow"
        self.git("clone", "-q", "--depth", "1", f"file://{self.root}", str(shallow))
        self.root = shallow
        self.assertIsNone(self.chosen(1))
        self.assertEqual(self.chosen(0), [])


if __name__ == "__main__":
    unittest.main()
