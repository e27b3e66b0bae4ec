#!/usr/bin/env python3
"""Tests `kashi dump`, `kashi diff DIR --from --to` and `kashi bisect` on what XLA dumped of two programs (examples/dump):
what they say is compared with the files themselves, and planted faults are found.

    tests/dump_test.py --kashi build/kashi [unittest's arguments]
"""
import collections
import json
import os
import pathlib
import random
import re
import shutil
import sys

import kashi_testing

ROOT = pathlib.Path(__file__).resolve().parent.parent
DUMP = ROOT / "examples" / "dump"
sys.path.insert(0, str(ROOT / "scripts"))
import plant_faults  # noqa: E402: the folder of scripts is not a package

INSTRUCTION = re.compile(r"^  (?:ROOT )?%?[\w.\-]+ = (?:\(.*?\)|\S+) ([\w\-]+)\(", re.M)
STAGE = re.compile(r"^module_\d+\.\w+\.(\d{4})\.(.*)\.txt$")


def opcodes_of(path):
    """The number of instructions of each opcode, by the text alone."""
    return collections.Counter(INSTRUCTION.findall(path.read_text()))


def json_lines(output):
    return [json.loads(line) for line in output.decode().splitlines()]


class DumpTest(kashi_testing.FolderTest):
    def test_the_list_has_every_file_once(self):
        modules = json_lines(self.run_command("dump", str(DUMP), "--json")[0])
        self.assertEqual({each["module"] for each in modules}, {"module_0000.jit_edges", "module_0002.jit_loop"})
        for module in modules:
            listed = {each["file"]: each["bytes"] for stage in module["stages"] for each in stage["files"]}
            listed.update({each["file"]: each["bytes"] for each in module["reports"]})
            there = {str(path): path.stat().st_size for path in DUMP.glob(module["module"] + ".*")}
            self.assertEqual(listed, there)
            self.assertEqual((module["files"], module["bytes"]), (len(there), sum(there.values())))
            numbers = [stage["number"] for stage in module["stages"] if "number" in stage]
            self.assertEqual(numbers, list(range(len(numbers))))
            self.assertEqual(module["stages"][0]["name"], "before_optimizations")
            self.assertEqual(module["stages"][-1]["name"], "cpu_after_optimizations")
            for key, stage in (("instructions_before", 0), ("instructions_after", -1)):
                text = pathlib.Path(module["stages"][stage]["files"][0]["file"])
                self.assertEqual(module[key], sum(opcodes_of(text).values()))

    def test_what_is_no_file_is_left_out(self):
        folder = self.folder / "dump"
        shutil.copytree(DUMP, folder)
        name = "module_0000.jit_edges.0008.x.after_{}.before_bar.txt"
        os.mkfifo(folder / name.format("pipe"))
        (folder / name.format("device")).symlink_to("/dev/zero")
        (folder / name.format("nothing")).symlink_to("nowhere")
        for options in ((), ("--passes",)):
            with_others = self.run_command("dump", "dump", *options)[0]
            without = self.run_command("dump", str(DUMP), *options)[0]
            self.assertEqual(with_others, without)

    def test_each_pass_changes_the_operations_that_it_says(self):
        for module in ("jit_edges", "jit_loop"):
            stages = json_lines(self.run_command("dump", str(DUMP), "--passes", "--module", module, "--json")[0])
            self.assertGreater(len(stages), 20)
            for before, after in zip(stages, stages[1:]):
                of_a, of_b = opcodes_of(pathlib.Path(before["file"])), opcodes_of(pathlib.Path(after["file"]))
                said = {each["opcode"]: (each["before"], each["after"]) for each in after["opcodes"]}
                differing = {name: (of_a[name], of_b[name]) for name in of_a | of_b if of_a[name] != of_b[name]}
                self.assertEqual(said, differing)
                self.assertEqual(after["instructions"], sum(of_b.values()))
                are_equal = pathlib.Path(before["file"]).read_bytes() == pathlib.Path(after["file"]).read_bytes()
                self.assertTrue(after["changes"] or are_equal)
                self.assertFalse(after["changes"] and are_equal)

    def test_what_a_pass_did_is_what_diff_says(self):
        stages = json_lines(self.run_command("dump", str(DUMP), "--passes", "--module", "jit_edges", "--json")[0])
        for before, after in zip(stages, stages[1:]):
            if "number" not in after or "number" not in before or not after["changes"]:
                continue
            name = str(after["number"])
            one = json_lines(self.run_command("dump", str(DUMP), "--module", "edges", "--diff", name, "--json")[0])[0]
            what = collections.Counter(each["what"] for each in one["differences"])
            self.assertEqual(what["moved"], after["moved"])
            self.assertEqual((what["only in A"], what["only in B"]), (after["gone"], after["new"]))
            arguments = ("diff", str(DUMP), "--module", "edges", "--from", str(before["number"]), "--to", name, "--no-run",
                         "--json")
            status = 1 if one["differences"] else 0
            self.assertEqual(json.loads(self.run_command(*arguments, status=status)[0])["differences"], one["differences"])

    def test_the_right_dump_agrees(self):
        for module in json_lines(self.run_command("bisect", str(DUMP), "--json")[0]):
            self.assertFalse(module["differs"])
            self.assertEqual(module["skipped"], [])
            self.assertEqual(module["ran"], module["with_a_change"])

    def test_output_that_is_a_file_appears_as_a_whole(self):
        self.run_command("dump", str(DUMP), "-o", "list.txt")
        self.assertEqual((self.folder / "list.txt").read_bytes(), self.run_command("dump", str(DUMP))[0])


class PlantedFaultTest(kashi_testing.FolderTest):
    """A stage with a fault, after which no pass changes anything: each has the fault and a remark of its own."""

    def plant(self, module, number, text):
        target = self.folder / "dump"
        shutil.rmtree(target, ignore_errors=True)
        target.mkdir()
        for path in sorted(DUMP.glob(f"{module}.*.txt")):
            stage = STAGE.match(path.name)
            if stage and int(stage[1]) < number:
                shutil.copy(path, target)
            elif stage or path.name.endswith("cpu_after_optimizations.txt"):
                remark = f"// after {path.name}\n" if not stage or int(stage[1]) > number else ""
                (target / path.name).write_text(remark + text)

    def differs(self, right, wrong):
        (self.folder / "right.hlo").write_text(right)
        (self.folder / "wrong.hlo").write_text(wrong)
        arguments = [kashi_testing.KASHI, "diff", "right.hlo", "wrong.hlo", "--json"]
        done = plant_faults.run(arguments, cwd=self.folder)
        outputs = json.loads(done.stdout).get("outputs", []) if done.stdout else []
        return any(each.get("mismatches", 0) > 0 for each in outputs)

    def check_module(self, module, kinds_at_least):
        found = set()
        stages = sorted(path for path in DUMP.glob(f"{module}.*.txt") if STAGE.match(path.name))
        for number, path in enumerate(stages):
            if number == 0 or path.read_bytes() == stages[number - 1].read_bytes():
                continue
            right = path.read_text()
            for kind in plant_faults.KINDS:
                places = plant_faults.mutations(right, kind)
                if kind in found or not places:
                    continue
                place = places[len(places) // 2]
                if not self.differs(right, place[1]):
                    continue
                found.add(kind)
                with self.subTest(kind=kind.__name__, stage=path.name, instruction=place[0]):
                    self.check_fault(module, number, place)
        self.assertGreaterEqual(len(found), kinds_at_least)

    def check_fault(self, module, number, place):
        self.plant(module, number, place[1])
        answer = json_lines(self.run_command("bisect", "dump", "--json", "-o", "parts", status=1)[0])[0]
        self.assertTrue(answer["differs"])
        self.assertTrue(answer["monotone"])
        self.assertEqual(answer["first_bad"]["number"], number)
        self.assertEqual(len(answer["passes"]), 1)
        self.assertEqual(answer["explains"], "all")
        self.assertEqual(answer["after"]["instruction"], place[0])
        self.assertLess(answer["parts"]["instructions_after"], 10)
        inputs = sorted((self.folder / "parts").glob("in*.npy"))
        self.assertEqual(len(inputs), answer["parts"]["inputs"])
        arguments = [text for path in inputs for text in ("--input", str(path))]
        shown = json.loads(self.run_command("diff", "parts/before.hlo", "parts/after.hlo", *arguments, "--json", status=1)[0])
        self.assertGreater(shown["outputs"][0]["mismatches"], 0)
        shutil.rmtree(self.folder / "parts")

    def test_faults_are_found_without_loops(self):
        self.check_module("module_0000.jit_edges", 7)

    def test_faults_are_found_in_a_loop(self):
        self.check_module("module_0002.jit_loop", 2)


class SearchTest(kashi_testing.FolderTest):
    """Stages that agree, differ or cannot be run, in any order."""

    TEXTS = {"agrees": "r = f32[4] negate(x)", "differs": "r = f32[4] add(x, x)",
             "skipped": 'r = f32[4] custom-call(x), custom_call_target="nobody_knows"'}

    def write(self, verdicts):
        target = self.folder / "dump"
        shutil.rmtree(target, ignore_errors=True)
        target.mkdir()
        for number, verdict in enumerate(verdicts):
            text = f"// {number}\nHloModule m\n\nENTRY e {{\n  x = f32[4] parameter(0)\n  ROOT {self.TEXTS[verdict]}\n}}\n"
            (target / f"module_0001.m.{number:04d}.p.after_pass{number}.before_other.txt").write_text(text)

    def test_the_first_stage_that_differs_is_found(self):
        chance = random.Random(5)
        for _ in range(25):
            begin = chance.choice((["agrees"], ["skipped", "agrees"]))
            verdicts = begin + chance.choices(("agrees", "differs", "skipped"), k=chance.randrange(1, 9))
            with self.subTest(verdicts=verdicts):
                self.check(verdicts)

    def check(self, verdicts):
        self.write(verdicts)
        differing = [i for i, verdict in enumerate(verdicts) if verdict == "differs"]
        arguments = ("bisect", "dump", "--all-stages", "--no-place", "--json")
        answer = json.loads(self.run_command(*arguments, status=1 if differing else 0)[0])
        self.assertEqual(answer["differs"], bool(differing))
        if not differing:
            return
        first = differing[0]
        last_good = max(i for i in range(first) if verdicts[i] == "agrees")
        self.assertEqual(answer["first_bad"]["number"], first)
        self.assertEqual(answer["last_good"]["number"], last_good)
        self.assertEqual(answer["passes"], [f"pass{i}" for i in range(last_good + 1, first + 1)])
        self.assertEqual(answer["not_run"], 0)
        self.assertTrue(answer["monotone"] or "agrees" in verdicts[first:])
        reasons = {each["number"] for each in answer["skipped"]}
        self.assertLessEqual(reasons, {i for i, verdict in enumerate(verdicts) if verdict == "skipped"})
        self.assertLessEqual(set(range(last_good + 1, first)), reasons)


if __name__ == "__main__":
    kashi_testing.main(__doc__)
