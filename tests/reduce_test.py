#!/usr/bin/env python3
"""`kashi reduce` with checks that run for real: commands, both engines, crashes; Ctrl-C, time limits, `--work`.

    tests/reduce_test.py --kashi build/kashi [unittest's arguments]
"""
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import time
import unittest.mock

import kashi_testing
from kashi_testing import TIMEOUT_S, FolderTest


def planted(special, count=2000):
    """A module of that many instructions, all of which are exact, around the lines `special`: {x} is their operand, y
    their result."""
    lines = ["HloModule planted", "", "ENTRY e {", "  p0 = f32[8,16] parameter(0)", "  p1 = f32[8,16] parameter(1)",
             "  x0 = f32[8,16] maximum(p0, p1)"]
    for i in range(1, count - len(special) - 3):
        if i == count // 2:
            lines += ["  " + line.replace("{x}", f"x{i - 1}") for line in special]
            lines.append(f"  x{i} = f32[8,16] negate(y)")
        elif i % 3 == 0:
            lines.append(f"  x{i} = f32[8,16] maximum(x{i - 1}, x{i // 2})")
        else:
            lines.append(f"  x{i} = f32[8,16] negate(x{i - 1})")
    return "\n".join([*lines, f"  ROOT r = f32[8,16] copy(x{count - len(special) - 4})", "}", ""])


# The evaluator keeps denormal numbers, compiled code flushes them to 0 (docs/fidelity.md).
DENORMAL = ["tiny = f32[] constant(1e-20)", "t = f32[8,16] broadcast(tiny), dimensions={}",
            "a = f32[8,16] multiply({x}, t)", "b = f32[8,16] multiply(a, t)", "y = f32[8,16] divide(a, b)"]

# Ends `kashi run` of a file with `tanh(` in it by a segmentation fault, before it begins.
CRASHER = r"""
#include <signal.h>
#include <stdio.h>
#include <string.h>
__attribute__((constructor)) static void Crash(int argc, char** argv) {
  static char text[1 << 20];
  FILE* file = argc > 2 && strcmp(argv[1], "run") == 0 ? fopen(argv[2], "r") : NULL;
  if (file == NULL) return;
  text[fread(text, 1, sizeof(text) - 1, file)] = 0;
  fclose(file);
  if (strstr(text, "tanh(") != NULL) raise(SIGSEGV);
}
"""


class ReduceTest(FolderTest):
    def write(self, name, text, mode=0o644):
        path = self.folder / name
        path.write_text(text)
        path.chmod(mode)
        return path

    def read(self, name):
        return (self.folder / name).read_text()

    def reduce(self, *arguments, status=0, stdin=b""):
        out, err = self.run_command("reduce", *arguments, status=status, stdin=stdin)
        return out.decode(), err.decode()

    def instructions(self, name):
        self.run_command("verify", name)
        return len(re.findall(r"^  (?:ROOT )?%", self.read(name), re.M))

    def needs_cpu(self):
        if " cpu" not in self.run_command("version")[0].decode():
            self.skipTest("the engine cpu is not built")

    def test_one_operation_of_two_thousand_by_a_command(self):
        self.write("m.hlo", planted(["y = f32[8,16] tanh({x})"]))
        begin = time.monotonic()
        _, err = self.reduce("m.hlo", "--check", "grep -q tanh", "-o", "small.hlo")
        self.assertLess(time.monotonic() - begin, 60)
        self.assertLess(self.instructions("small.hlo"), 4)
        self.assertRegex(err, r"^kashi: 2,000 → 2 instructions in \d+\.\d s, \d+ checks\n$")

    def test_one_difference_of_the_engines_in_two_thousand(self):
        self.needs_cpu()
        self.write("m.hlo", planted(DENORMAL))
        begin = time.monotonic()
        self.reduce("m.hlo", "--check", "differs", "-o", "small.hlo")
        self.assertLess(time.monotonic() - begin, 60)
        self.assertLess(self.instructions("small.hlo"), 10, self.read("small.hlo"))
        out, _ = self.reduce("small.hlo", "--check", "differs", "--once")
        self.assertRegex(out, "^yes: out0: [1-9]")
        out, _ = self.reduce("small.hlo", "--check", "differs:evaluator,evaluator", "--once", status=1)
        self.assertEqual(out, "no: the outputs agree\n")

    def test_the_number_of_jobs_does_not_matter(self):
        self.write("m.hlo", planted(["y = f32[8,16] tanh({x})"], 100))
        results = [self.reduce("m.hlo", "--check", "grep -q 'tanh.*x.*'", "--jobs", jobs)[0] for jobs in ("1", "5")]
        self.assertEqual(results[0], results[1])

    def test_the_file_of_a_command(self):
        self.write("m.hlo", planted(["y = f32[8,16] tanh({x})"], 20))
        self.write("check.sh", '#!/bin/sh\ntest $# = 3 && test "$1" = a && test "$3" = "b c" && grep -q tanh "$2" && '
                               'test -d "$(dirname "$2")" && : > "$(dirname "$2")/notes"\n', 0o755)
        self.reduce("m.hlo", "--check", "./check.sh a {} 'b c'", "-o", "small.hlo")
        self.assertEqual(self.instructions("small.hlo"), 2)
        self.reduce("m.hlo", "--check", "test {} = {} && grep -q tanh {}", "-o", "small.hlo")
        self.assertEqual(self.instructions("small.hlo"), 2)
        out, _ = self.reduce("-", "--check", "grep -q tanh", stdin=self.read("m.hlo").encode())
        self.assertEqual(out, self.read("small.hlo"))

    def test_other_formats(self):
        self.write("m.hlo", planted(["y = f32[8,16] tanh({x})"], 20))
        self.reduce("m.hlo", "--check", "grep -q stablehlo.tanh", "-o", "small.mlir")
        self.assertIn('"stablehlo.tanh"', self.read("small.mlir"))
        self.reduce("m.hlo", "--check", "grep -aq tanh", "--to", "pb", "-o", "small.x")
        out, _ = self.run_command("convert", "small.x")
        self.assertIn(b"tanh(", out)

    def test_json(self):
        self.write("m.hlo", planted(["y = f32[8,16] tanh({x})"], 20))
        out, _ = self.reduce("m.hlo", "--check", "grep -q tanh", "--json")
        record = json.loads(out)
        self.assertEqual(record["before"]["instructions"], 20)
        self.assertEqual(record["after"], {"instructions": 2, "operations": 1, "parameters": 0, "elements": 2,
                                           "bits": 64, "attributes": 0})
        self.assertIsNone(record["stopped"])
        self.assertIn("tanh(", record["text"])
        self.assertGreater(record["checks"], record["steps"])
        out, _ = self.reduce("m.hlo", "--check", "grep -q tanh", "--json", "-o", "small.hlo")
        self.assertEqual(json.loads(out)["output"], "small.hlo")
        self.assertEqual(self.read("small.hlo"), record["text"])
        out, _ = self.reduce("m.hlo", "--check", "false", "--json", status=1)
        self.assertIn("so there is nothing to reduce", json.loads(out)["error"])

    def test_a_check_that_says_no_shows_why(self):
        self.write("m.hlo", planted(["y = f32[8,16] tanh({x})"], 20))
        _, err = self.reduce("m.hlo", "--check", "echo one >&2; echo two; exit 3; :", "-o", "small.hlo", status=1)
        self.assertEqual(err, "one\ntwo\nkashi: error: m.hlo: the check says no to the module itself (exit status 3), "
                              "so there is nothing to reduce\n")
        self.assertFalse((self.folder / "small.hlo").exists())
        _, err = self.reduce("m.hlo", "--check", "./nothing", status=1)
        self.assertIn("exit status 127 (there is no such command)", err)

    def test_a_check_that_does_not_end_says_no(self):
        self.write("m.hlo", planted(["y = f32[8,16] tanh({x})"], 20))
        # Something goes on in the background, and must not outlive its check.
        self.write("check.sh", "#!/bin/sh\nsleep 1000 & echo $! >> pids\ngrep -q tanh $1 || sleep 1000\n", 0o755)
        begin = time.monotonic()
        self.reduce("m.hlo", "--check", "./check.sh", "--check-timeout", "0.3", "-o", "small.hlo")
        self.assertLess(time.monotonic() - begin, 60)
        self.assertEqual(self.instructions("small.hlo"), 2)
        for pid in self.read("pids").split():
            status = pathlib.Path(f"/proc/{pid}/status")
            if status.exists():  # nobody may have waited for it yet
                self.assertRegex(status.read_text(), r"State:\s+Z", pid)

    def start(self, *arguments):
        process = subprocess.Popen([kashi_testing.KASHI, "reduce", *arguments], cwd=self.folder,
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.addCleanup(process.kill)
        return process

    def slow_check(self):
        self.write("m.hlo", planted(["y = f32[8,16] tanh({x})"], 400))
        self.write("check.sh", "#!/bin/sh\nsleep 0.1\necho >> asked\ngrep -q tanh $1\n", 0o755)

    def test_ctrl_c_leaves_the_best_so_far_and_the_same_call_goes_on(self):
        self.slow_check()
        process = self.start("m.hlo", "--check", "./check.sh", "--work", "state", "-o", "small.hlo")
        deadline = time.monotonic() + TIMEOUT_S
        while not (self.folder / "state/best.hlo").exists() and time.monotonic() < deadline:
            time.sleep(0.05)
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=TIMEOUT_S)
        self.assertEqual(process.returncode, 130)
        self.assertIn(b"kashi: stopped, interrupted: this is the smallest module so far; the same call goes on\n", err)
        between = self.instructions("small.hlo")
        self.assertLess(between, 400)
        self.assertEqual(self.read("small.hlo"), self.read("state/best.hlo"))
        self.reduce("m.hlo", "--check", "./check.sh", "--work", "state", "-o", "small.hlo")
        self.assertEqual(self.instructions("small.hlo"), 2)
        _, err = self.reduce("m.hlo", "--check", "./check.sh", "--work", "state", "-o", "small.hlo")
        self.assertRegex(err, "^kashi: 400 → 2 instructions in .*, 1 check\n$")

    def test_a_folder_of_another_reduction(self):
        self.write("m.hlo", planted(["y = f32[8,16] tanh({x})"], 20))
        self.reduce("m.hlo", "--check", "grep -q tanh", "--work", "state", "-o", "small.hlo")
        _, err = self.reduce("m.hlo", "--check", "grep -q negate", "--work", "state", status=1)
        self.assertIn("state has the state of another reduction", err)
        (self.folder / "state/best.hlo").write_text("HloModule m\n\nENTRY e {\n")
        _, err = self.reduce("m.hlo", "--check", "grep -q tanh", "--work", "state", status=1)
        self.assertIn("state/best.hlo: ", err)

    def test_one_process_at_a_time_uses_a_folder(self):
        self.slow_check()
        process = self.start("m.hlo", "--check", "./check.sh", "--work", "state")
        deadline = time.monotonic() + TIMEOUT_S
        while not (self.folder / "asked").exists() and time.monotonic() < deadline:
            time.sleep(0.05)
        _, err = self.reduce("m.hlo", "--check", "./check.sh", "--work", "state", status=1)
        self.assertIn("another process works in state", err)
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=TIMEOUT_S)

    def test_the_time_limit_ends_the_search(self):
        self.slow_check()
        begin = time.monotonic()
        _, err = self.reduce("m.hlo", "--check", "./check.sh", "--timeout", "1", "-o", "small.hlo")
        self.assertLess(time.monotonic() - begin, 20)
        self.assertIn("kashi: stopped, --timeout is over: this is the smallest module so far; with --work DIR", err)
        self.instructions("small.hlo")

    def test_errors_that_contain_a_text(self):
        self.write("m.hlo", """HloModule m
            ENTRY e {
              p = f32[4] parameter(0)
              q = f32[8] parameter(1)
              a = f32[4] sine(p)
              wrong = f32[5] negate(a)
              c = f32[8] add(q, q)
              ROOT t = (f32[5], f32[8]) tuple(wrong, c)
            }""")
        self.reduce("m.hlo", "--check", "fails:Expected instruction to have shape", "-o", "small.hlo")
        self.assertEqual(len(re.findall("^  ", self.read("small.hlo"), re.M)), 2, self.read("small.hlo"))
        out, _ = self.run_command("verify", "small.hlo", status=1)
        self.assertIn(b"Expected instruction to have shape", out)
        self.write("n.hlo", """HloModule n
            ENTRY e {
              p = f32[4] parameter(0)
              a = f32[4] sine(p)
              c = f32[4] custom-call(a), custom_call_target="of_nobody"
              ROOT r = f32[4] add(c, p)
            }""")
        self.reduce("n.hlo", "--check", "fails:of_nobody", "-o", "small.hlo")
        self.assertLess(self.instructions("small.hlo"), 3)
        self.reduce("n.hlo", "--check", "fails:of_somebody", "--once", status=1)

    def test_slower_is_a_ratio_of_times(self):
        self.needs_cpu()
        self.write("m.hlo", planted(["y = f32[8,16] tanh({x})"], 30))
        out, _ = self.reduce("m.hlo", "--check", "slower:1e-9", "--once")
        self.assertRegex(out, r"^yes: cpu [\d.e-]+ ms, evaluator [\d.e-]+ ms: [\d.e-]+ times as long\n$")
        self.reduce("m.hlo", "--check", "slower:1e9,evaluator,cpu", "--once", status=1)

    def test_crashes_do_not_end_the_search(self):
        compiler = shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")
        if compiler is None or b"__asan_init" in subprocess.run(["nm", kashi_testing.KASHI], capture_output=True).stdout:
            self.skipTest("needs a C compiler, and a command without sanitizers")
        source = self.write("crash.c", CRASHER)
        subprocess.run([compiler, "-shared", "-fPIC", "-o", self.folder / "crash.so", source], check=True)
        self.write("m.hlo", planted(["y = f32[8,16] tanh({x})"], 60))
        with unittest.mock.patch.dict(os.environ, {"LD_PRELOAD": str(self.folder / "crash.so")}):
            out, _ = self.reduce("m.hlo", "--check", "crashes", "--once")
            self.assertEqual(out, "yes: signal 11 (Segmentation fault)\n")
            self.reduce("m.hlo", "--check", "crashes:evaluator", "-o", "small.hlo")
        self.assertEqual(self.instructions("small.hlo"), 2)
        self.assertIn("tanh(", self.read("small.hlo"))
        self.reduce("m.hlo", "--check", "crashes", "--once", status=1)


if __name__ == "__main__":
    kashi_testing.main(__doc__)
