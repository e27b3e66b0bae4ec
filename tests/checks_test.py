#!/usr/bin/env python3
"""Tests of the scripts that check the sources: include arrows, headers alone, public names, sizes, clang-tidy."""
import contextlib
import io
import json
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest
import unittest.mock

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT / "scripts")]
sys.dont_write_bytecode = True

import check_headers  # noqa: E402
import check_includes  # noqa: E402
import check_public  # noqa: E402
import check_symbols  # noqa: E402
import check_sizes  # noqa: E402
import check_tidy  # noqa: E402


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
                     "kashi/array/a.h": '#ifndef A\n#include "kashi/base/b.h"\n',
                     "kashi/draw/d.h": '#ifndef D\n#include "kashi/array/a.h"\n', **files}
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

    def test_folders_of_a_room(self):
        cmake = self.CMAKE.replace("kashi_room(array DEPENDS", "kashi_room(array FOLDERS low high DEPENDS")
        files = {"kashi/CMakeLists.txt": cmake, "kashi/array/low/l.h": "#ifndef L\n",
                 "kashi/array/high/h.h": '#ifndef H\n#include "kashi/array/low/l.h"\n#include "kashi/array/a.h"\n',
                 "kashi/array/a.cc": '#include "kashi/array/high/h.h"\n',
                 "kashi/array/low/l_test.cc": '#include "kashi/array/high/h.h"\n'}
        self.assertEqual(self.findings(**files), [])
        found = self.findings(**files, **{"kashi/array/low/x.cc": '#include "kashi/array/high/h.h"\n'})
        self.assertEqual(len(found), 1, found)
        self.assertIn("high is above low", found[0])

    def test_an_arrow_that_nothing_uses(self):
        self.assert_finding("kashi/draw/d.h", '#ifndef D\n#include "kashi/base/b.h"\n', "no file of draw includes a header of array")
        self.assertEqual(self.findings(**{"kashi/draw/d.h": "#ifndef D\n",
                                          "kashi/draw/d_test.cc": '#include "kashi/array/a.h"\n'}), [])

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


class SymbolsTest(unittest.TestCase):
    def test_a_strong_symbol_beside_another(self):
        libraries = {"a": [("f", "T"), ("inline", "W"), ("own", "T")], "b": [("f", "W"), ("inline", "W")], "c": [("g", "D")]}
        self.assertEqual(check_symbols.findings(libraries), [("f", ["a", "b"])])
        self.assertEqual(check_symbols.findings({"a": [("g", "T")], "c": [("g", "D")]}), [("g", ["a", "c"])])


class PublicTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name).resolve()
        (self.root / "kashi/room").mkdir(parents=True)
        (self.root / "kashi/other").mkdir()
        self.write("public_headers.txt", "# comment\nroom/a.h\n")
        self.write("room/a.h", '#include "kashi/room/b.h"\nnamespace kashi {\nclass Forward;\nstruct A {};\n}  // namespace kashi\n')
        self.write("room/b.h", "namespace kashi::room {\nstruct B {};\n}  // namespace kashi::room\n")
        self.public = check_public.public_headers(self.root)

    def write(self, name, text):
        (self.root / "kashi" / name).write_text(text)

    def findings(self):
        return list(check_public.check_headers(self.root, self.public))

    def test_what_is_right(self):
        self.assertEqual(self.findings(), [])
        self.assertEqual(check_public.list_of_names(self.root, self.public).split("\n")[1:], ["room/a.h:", "  A", ""])
        self.assertEqual(check_public.included_by(self.root, self.public), {"kashi/room/a.h", "kashi/room/b.h"})

    def test_a_public_name_of_a_header_that_is_not_public(self):
        self.write("room/b.h", "namespace kashi {\nstruct B {};\n}  // namespace kashi\n")
        self.assertEqual(len(self.findings()), 1)
        self.assertIn("kashi/room/b.h: B stands in namespace kashi", self.findings()[0])

    def test_a_name_in_the_namespace_of_another_room(self):
        self.assertEqual(list(check_public.check_namespaces(self.root, self.public)), [])
        announced = "namespace kashi::other {\nclass O;\n}  // namespace kashi::other\n"
        self.write("room/b.h", announced + "namespace kashi::room::inner {\nstruct B {};\n}  // namespace kashi::room::inner\n")
        self.assertEqual(list(check_public.check_namespaces(self.root, self.public)), [])
        self.write("room/b.h", announced.replace("class O;", "class O {};"))
        self.assertEqual(list(check_public.check_namespaces(self.root, self.public)), [
            "kashi/room/b.h:2: O stands in namespace kashi::other, and the file in room room"])
        self.write("room/b.h", "namespace kashi {\nnamespace internal {\nint F();\n}\n}\n")
        self.assertEqual(len(list(check_public.check_namespaces(self.root, self.public))), 1)

    def test_a_public_header_that_does_not_exist(self):
        (self.root / "kashi/room/a.h").unlink()
        self.assertEqual(self.findings(), ["kashi/public_headers.txt: there is no kashi/room/a.h"])

    def test_a_type_that_two_files_define(self):
        body = "namespace kashi::room {{\n{}\n}}  // namespace kashi::room\n"
        self.write("room/c.cc", body.format("class B;\nnamespace {\nstruct B {};\n}  // namespace\nstruct Own {};"))
        self.write("room/c_test.cc", body.format("struct B {};"))
        self.assertEqual(list(check_public.check_types(self.root)), [])
        self.write("room/c.cc", body.format("struct B {\n  int x;\n};"))
        self.assertEqual(list(check_public.check_types(self.root)), [
            "kashi::room::B is defined in kashi/room/b.h and in kashi/room/c.cc: to the linker both are one"])

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
        (self.root / "kashi/room/b.h").unlink()
        self.assertEqual(self.installed(), ["kashi/room/a.h includes kashi/room/b.h, which is not installed"])


class SizesTest(unittest.TestCase):
    def test_functions(self):
        text = "int f(int x) {\n" + "  x++;\n" * 5 + "}\nstruct S {\n  void g() { return; }\n};\n"
        self.assertEqual(list(check_sizes.functions(text)), [(1, 7), (9, 1)])

    def functions(self, before):
        return list(check_sizes.functions(before + " {\n  x++;\n  y++;\n}\n"))

    def test_functions_behind_macros(self):
        for before in ("TEST(Suite, Name)", "KASHI_ROW(kA, f(x))\nvoid F()", "class A {\n public:\n  class B {\n    void F()",
                       'extern "C" {\nvoid F()', "void F(A a = {}, B b = {})", "template <class D>\nHWY_API V F(D d)"):
            self.assertEqual(self.functions(before), [(before.count("\n") + 1, 4)], before)
        for before in ("const int kRows[] =", "KASHI_ROW(kA) struct S", "KASHI_ROW(kA)\nnamespace n", "enum class E"):
            self.assertEqual(self.functions(before), [], before)

    def test_statements_that_are_macros_are_counted_and_rows_are_not(self):
        self.assertEqual(list(check_sizes.functions("int f() {\n" + "  KASHI_TRY(g());\n" * 5 + "}\n")), [(1, 7)])
        self.assertEqual(list(check_sizes.functions("int f() {\n" + "  {1, 2},\n  ROW(1, 2)\n" * 5 + "}\n")), [(1, 2)])

    def test_macros(self):
        text = "int x;\n#define A(x) x\n#define B \\\n  int y; \\\n  int z;\n"
        self.assertEqual(list(check_sizes.macros(text)), [(2, "A", 1), (3, "B", 3)])
        found = list(check_sizes.judge_code("a.h", "#define A \\\n" + "  int x; \\\n" * 60 + "  int y;\n", False))
        self.assertEqual(found, ["a.h:1: the macro A has 62 lines; 60 at most"])

    def test_classes(self):
        text = """class A : B {
 public:
  // A comment.

  void Declared(int x, std::vector<int> y = {},
                int z = 1);
  void Defined() {
    for (;;) x++;
  }
  struct Inner {
    std::string s = "//";
    int t = 0;
  };
  int x_ = 0;
};
class B;
"""
        self.assertEqual(list(check_sizes.classes(text, False)), [(10, "Inner", 2), (1, "A", 11)])
        # A declaration without a body is not counted in a public header; the label before one goes with it.
        self.assertEqual(list(check_sizes.classes(text, True)), [(10, "Inner", 0), (1, "A", 5)])

    def test_names_of_classes(self):
        for text, name in (("struct [[nodiscard]] A {\n};\n", "A"), ("class ABSL_LOCKABLE(x) A final : public B {\n};\n", "A"),
                           ("template <typename T, size_t N>\nclass A {\n};\n", "A"), ("union U {\n};\n", "U"),
                           ("KASHI_ROW(kA)\nstruct S {\n};\n", "S"), ("enum class E {\n kA,\n};\n", None)):
            self.assertEqual([found[1] for found in check_sizes.classes(text, False)], [name] if name else [], text)

    def test_a_class_that_is_too_long(self):
        def judge(name, lines):
            text = "class A {\n" + "  int x;\n" * lines + "};\n"
            return list(check_sizes.judge_code(name, text, False))
        self.assertEqual(judge("a.cc", 200), [])
        self.assertEqual(judge("a.cc", 201), ["a.cc:1: A has 201 lines of code; 200 at most"])


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
