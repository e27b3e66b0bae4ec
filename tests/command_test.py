#!/usr/bin/env python3
"""Tests of the command that golden files cannot hold: binary inputs, colour and progress on a terminal, shell
completions.

    tests/command_test.py --kashi build/kashi [unittest's arguments]
"""
import concurrent.futures
import gzip
import os
import pathlib
import pty
import re
import resource
import shutil
import signal
import subprocess
import tempfile
import time
import unittest

import kashi_testing
from kashi_testing import TIMEOUT_S, FolderTest

MODULE = b"HloModule m\n\nENTRY e {\n  a = f32[2]{0} parameter(0)\n  ROOT r = f32[2]{0} negate(a)\n}\n"
ENDLESS = b"""HloModule endless

body {
  x = f32[2]{0} parameter(0)
  ROOT next = f32[2]{0} negate(x)
}

condition {
  y = f32[2]{0} parameter(0)
  ROOT yes = pred[] constant(true)
}

ENTRY e {
  a = f32[2]{0} parameter(0)
  ROOT r = f32[2]{0} while(a), condition=condition, body=body
}
"""
ERASE = "\r\x1b[K"
EXPORTED = pathlib.Path(__file__).resolve().parent / "data" / "stablehlo" / "sine_dot.exported"
OPS_PAGE = pathlib.Path(__file__).resolve().parent.parent / "docs" / "ops.md"


def field(number, content):
    """A field of a proto that holds bytes."""
    assert len(content) < 128
    return bytes([number << 3 | 2, len(content)]) + content


def has_pseudo_terminal():
    """False if /dev/pts is not mounted, as in some chroots."""
    try:
        ends = pty.openpty()
    except OSError:
        return False
    for end in ends:
        os.close(end)
    return True


needs_terminal = unittest.skipUnless(has_pseudo_terminal(), "no pseudo-terminal here")


class CommandTest(FolderTest):
    def run_kashi(self, *arguments, files=None, status=0):
        for name, content in (files or {}).items():
            (self.folder / name).parent.mkdir(exist_ok=True)
            (self.folder / name).write_bytes(content)
        out, err = self.run_command(*arguments, status=status)
        return out.decode(), err.decode()

    # ---- Kinds of input

    def test_reads_gzip(self):
        packed = gzip.compress(MODULE)
        files = {"m.hlo.gz": packed, "two.gz": gzip.compress(MODULE[:20]) + gzip.compress(MODULE[20:])}
        out, err = self.run_kashi("verify", "m.hlo.gz", "two.gz", files=files)
        self.assertEqual((out, err), ("m.hlo.gz: ok\ntwo.gz: ok\n", ""))
        self.run_kashi("convert", "m.hlo.gz", "-o", "m.pb")
        (self.folder / "m.pb.gz").write_bytes(gzip.compress((self.folder / "m.pb").read_bytes()))
        self.assertEqual(self.run_kashi("verify", "m.pb.gz")[0], "m.pb.gz: ok\n")

    def test_damaged_gzip(self):
        packed = gzip.compress(MODULE)
        _, err = self.run_kashi("verify", "cut.gz", files={"cut.gz": packed[:-12]}, status=1)
        self.assertEqual(err, "kashi: error: cut.gz: the gzip file is cut off\n")
        # another checksum than that of the contents
        _, err = self.run_kashi("verify", "bad.gz", files={"bad.gz": packed[:-8] + bytes(4) + packed[-4:]}, status=1)
        self.assertEqual(err, "kashi: error: bad.gz: the gzip file is damaged\n")

    def test_gzip_keeps_the_input_limit(self):
        _, err = self.run_kashi("verify", "--input-limit", "1M", "big.gz",
                                files={"big.gz": gzip.compress(bytes(3 << 20))}, status=1)
        self.assertEqual(err, "kashi: error: big.gz: the gzip file unpacks to more than 1 MiB\n")

    def test_other_kinds(self):
        for content, kind in {
            field(1, b"\x08\x01" + field(2, b"/device:TPU:0")): "a profile (xplane)",
            field(1, field(1, b"x") + field(2, b"Placeholder")): "a TensorFlow graph",
            b"\x08\x01" + field(2, field(1, b"\x08\x01")): "a TensorFlow graph",
            b'node {\n  name: "x"\n  op: "Placeholder"\n}\n': "a TensorFlow graph",
        }.items():
            _, err = self.run_kashi("verify", "input", files={"input": content}, status=1)
            self.assertIn(f"input: this is {kind}", err)
            self.assertIn("--xla_dump_to=DIR", err)

    def test_what_jax_export_wrote(self):
        content = EXPORTED.read_bytes()
        out, _ = self.run_kashi("convert", "f.bin", "--to", "text", files={"f.bin": content})
        self.assertIn("entry_computation_layout={(f32[2,3]{1,0}, f32[3,2]{1,0})->(f32[2,2]{1,0}, f32[])}", out)
        files = {"f.bin.gz": gzip.compress(content), "cut": content[:3300], "plain": b"ML\xefR\x0d"}
        out, err = self.run_kashi("verify", "f.bin.gz", "cut", "plain", files=files, status=1)
        self.assertEqual(out, "f.bin.gz: ok\n")
        self.assertIn("cut: the exported module ends early: its MLIR bytecode has ", err)
        self.assertIn("plain: MLIR bytecode, byte 5: the file ends early", err)

    def test_reports_of_memory(self):
        for content in (b"BufferAssignment:\nallocation 0: size 8:\n", b"Memory Space: default (color=0)\n"):
            _, err = self.run_kashi("verify", "m-report.txt", files={"m-report.txt": content}, status=1)
            self.assertIn("this is XLA's report about the memory of a module, not a module", err)

    def test_other_text_in_a_dump(self):
        modules = ["m.jit_config.before_optimizations.txt", "m.sm_9.0a_gpu_after_optimizations.txt", "m.txt"]
        files = {f"dump/{name}": MODULE for name in modules}
        files |= {"dump/m.transfer_stats.txt": b"host_transfer_sizes {\n}\n", "dump/m.config.pbtxt": b"x: 1\n",
                  "dump/m-memory-usage-report.pb": b"\n\1x", "dump/m.0.ir-no-opt.ll": b"x", "dump/broken.hlo": b"x"}
        out, err = self.run_kashi("verify", "dump", files=files, status=1)
        self.assertEqual(out, "".join(f"dump/{name}: ok\n" for name in modules))
        self.assertIn("dump/broken.hlo:1:2: error", err)
        self.assertEqual(err.count("error"), 1)
        out, _ = self.run_kashi("memory", "dump", status=1)
        self.assertIn("\nm, sm_9.0a_gpu_after_optimizations  ", out)

    def test_control_bytes_in_text(self):
        for byte in b"\x1b\x07":
            content = MODULE.replace(b"negate(a)", b'negate(a), metadata={op_name="x' + bytes([byte]) + b'y"}')
            self.assertEqual(self.run_kashi("verify", "m", files={"m": content})[0], "m: ok\n")

    # ---- What has no end

    def test_a_device_without_end_is_read_up_to_the_limit(self):
        for arguments in (
            ["convert"],
            ["verify"],
            ["memory"],
            ["cost"],
            ["run"],
            ["convert", "--to", "pb", "-o", "out"]):
            _, err = self.run_kashi(*arguments, "--input-limit", "1M", "/dev/zero", status=1)
            self.assertEqual(err, "kashi: error: /dev/zero has more than 1048576 bytes (--input-limit sets the limit)\n")
        _, err = self.run_kashi("diff", "--input-limit", "1M", "m", "/dev/zero", files={"m": MODULE}, status=1)
        self.assertIn("/dev/zero has more than", err)
        self.assertEqual(sorted(os.listdir(self.folder)), ["m"])

    def test_an_array_without_end_is_read_up_to_what_it_takes(self):
        _, err = self.run_kashi("relayout", "/dev/zero", "out", "--from", "f32[2,3]", "--to", "{0,1}", status=1)
        self.assertRegex(err, r"^kashi: error: /dev/zero: the file has more than the [0-9,]+ bytes of the array\n$")
        _, err = self.run_kashi("relayout", "/dev/zero", "out", "--to", "{0,1}", "--memory-limit", "1M", status=1)
        self.assertRegex(
            err, r"^kashi: error: /dev/zero: .*, more than the limit of 1048576 \(--memory-limit sets the limit\)\n$")
        _, err = self.run_kashi("run", "m", "--input", "/dev/zero", "--input-limit",
                                "1M", files={"m": MODULE}, status=1)
        self.assertIn("/dev/zero has more than 1048576 bytes", err)
        self.assertEqual(sorted(os.listdir(self.folder)), ["m"])

    # ---- Files are written whole or not at all

    def end_while_writing(self, signal_number, megabytes):
        """Sends the signal when OUT.XXXXXX exists. Returns the exit status, or None if the file was written too
        fast."""
        process = subprocess.Popen(
            [kashi_testing.KASHI, "relayout", "in", "out", "--from", f"s8[{megabytes << 20}]", "--to", "{0}"],
            cwd=self.folder, stderr=subprocess.DEVNULL)
        while process.poll() is None:
            names = os.listdir(self.folder)
            if "out" in names:
                break
            if any(name.startswith("out.") for name in names):
                process.send_signal(signal_number)
                break
        status = process.wait(TIMEOUT_S)
        return None if os.path.exists(self.folder / "out") else status

    def test_a_signal_leaves_nothing_behind(self):
        for signal_number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            for megabytes in (32, 64, 128, 256):
                with open(self.folder / "in", "wb") as file:
                    file.truncate(megabytes << 20)
                status = self.end_while_writing(signal_number, megabytes)
                if status is not None:
                    break
                os.remove(self.folder / "out")
            else:
                self.skipTest("files are written too fast here to come between")
            self.assertEqual(status, -signal_number)
            self.assertEqual(os.listdir(self.folder), ["in"])

    def test_a_limit_on_the_size_of_files_is_an_ordinary_error(self):
        def limit():
            resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))

        def run_limited(*arguments, stdout=subprocess.PIPE):
            return subprocess.run(
                [kashi_testing.KASHI, *arguments],
                cwd=self.folder, stdout=stdout, stderr=subprocess.PIPE, timeout=TIMEOUT_S, preexec_fn=limit)

        files = {"m": MODULE.replace(b"f32[2]", b"f32[2000]"), "in": bytes(65536), "out": b"as it was"}
        for name, content in files.items():
            (self.folder / name).write_bytes(content)
        for arguments in (["memory", "m", "--html", "out"], ["completions", "bash", "-o", "out"],
                          ["relayout", "in", "out", "--from", "s8[65536]", "--to", "{0}"]):
            done = run_limited(*arguments)
            self.assertEqual(
                (done.returncode, done.stderr),
                (1, b"kashi: error: cannot write out: File too large\n"),
                arguments)
        done = run_limited("run", "m", "--output-dir", ".")
        self.assertEqual(done.returncode, 1, done)
        self.assertIn(b"out0.npy: File too large", done.stderr)
        self.assertEqual({name: (self.folder / name).read_bytes() for name in os.listdir(self.folder)}, files)
        with tempfile.TemporaryFile() as stdout:
            done = run_limited("completions", "bash", stdout=stdout)
        self.assertEqual(
            (done.returncode, done.stderr),
            (1, b"kashi: error: cannot write standard output: File too large\n"))

    def test_a_file_stays_what_it_was_where_there_is_no_answer(self):
        files = {"m": MODULE, "out": b"as it was"}
        for arguments in (
            ["run", "nothing", "-o", "out"],
            ["memory", "nothing", "-o", "out"],
            ["cost", "out", "-o", "out"],
            ["diff", "m", "nothing", "-o", "out"],
            ["convert", "nothing", "-o", "out"],
            ["run", "m", "--max-work", "1", "-o", "out"],
            ["shape", "f32[2", "-o", "out"]):
            self.run_kashi(*arguments, files=files, status=1)
            self.assertEqual((self.folder / "out").read_bytes(), b"as it was", arguments)

    @unittest.skipUnless(shutil.which("strace"), "no strace here")
    def test_durable_waits_for_the_disk(self):
        (self.folder / "m").write_bytes(MODULE)
        (self.folder / "in").write_bytes(bytes(24))
        # LeakSanitizer does not work below strace.
        environment = {**os.environ, "ASAN_OPTIONS": os.environ.get("ASAN_OPTIONS", "") + ":detect_leaks=0"}
        for arguments in (
            ["convert", "m", "-o", "out"],
            ["relayout", "in", "out", "--from", "f32[2,3]", "--to", "{0,1}"],
            ["memory", "m", "--html", "out"],
            ["run", "m", "--output-dir", "."]):
            calls = []
            for durable in ([], ["--durable"]):
                done = subprocess.run(
                    ["strace", "-f", "-e", "trace=fsync,rename", "-o", "calls", kashi_testing.KASHI, *arguments, *
                     durable],
                    cwd=self.folder, capture_output=True, timeout=TIMEOUT_S, env=environment)
                self.assertEqual(done.returncode, 0, done)
                calls.append(re.findall(r" (fsync|rename)\(", (self.folder / "calls").read_text()))
            self.assertEqual(calls, [["rename"], ["fsync", "rename", "fsync"]], arguments)

    def test_errors_of_diff_name_the_module_that_failed(self):
        sharding = "sharding={devices=[2]<=[2]}"
        files = {
            "whole.hlo": f"HloModule m, num_partitions=2\nENTRY e {{ a = f32[4] parameter(0), {sharding}\n"
                         f"ROOT r = f32[4] negate(a), {sharding} }}".encode(),
            "parts.hlo": b"HloModule m, num_partitions=2\nENTRY e { a = f32[2] parameter(0)\n"
                         b'ROOT r = f32[2] custom-call(a), custom_call_target="Mystery" }',
        }
        _, err = self.run_kashi("diff", "whole.hlo", "parts.hlo", files=files, status=1)
        self.assertRegex(err, r'parts\.hlo:3:6: error: device \d: .*"Mystery" is not known')
        self.assertNotIn("whole.hlo", err)

    # ---- Colour

    def error_on_terminal(self, **environment):
        master, slave = pty.openpty()
        variables = {k: v for k, v in os.environ.items() if k not in ("TERM", "NO_COLOR")}
        subprocess.run([kashi_testing.KASHI, "shape", "f32[2"], stderr=slave,
                       stdout=subprocess.DEVNULL, timeout=TIMEOUT_S, env={**variables, **environment})
        os.close(slave)
        text = os.read(master, 4096).decode()
        os.close(master)
        return text

    @needs_terminal
    def test_colour(self):
        self.assertIn("\x1b[1;31merror:\x1b[0m", self.error_on_terminal(TERM="xterm"))
        self.assertIn("\x1b[", self.error_on_terminal(TERM="xterm", NO_COLOR=""))
        for environment in ({"TERM": "xterm", "NO_COLOR": "1"}, {"TERM": "dumb"}, {}):
            self.assertNotIn("\x1b", self.error_on_terminal(**environment))

    # ---- Progress

    def on_terminal(self, *arguments, fifo=None, term="xterm"):
        """The standard error on a terminal, and the seconds. A named fifo is a slow input."""
        begin = time.monotonic()
        if fifo:
            os.mkfifo(self.folder / fifo)
        master, slave = pty.openpty()
        process = subprocess.Popen([kashi_testing.KASHI, *arguments], cwd=self.folder, stdin=subprocess.DEVNULL,
                                   stdout=subprocess.DEVNULL, stderr=slave, env={**os.environ, "TERM": term})
        os.close(slave)
        if fifo:
            with open(self.folder / fifo, "wb") as writer:
                time.sleep(1.4)
                writer.write(MODULE)
        text = b""
        try:
            while chunk := os.read(master, 4096):
                text += chunk
        except OSError:  # the end of a terminal
            pass
        os.close(master)
        process.wait(timeout=TIMEOUT_S)
        return text.decode().replace("\r\n", "\n"), time.monotonic() - begin

    @needs_terminal
    def test_progress(self):
        # a million runs take minutes on any machine
        big = b"ENTRY e { ROOT r = f32[1000000] iota(), iota_dimension=0 }"
        for name, content in {"m.hlo": MODULE, "big.hlo": big, "loop.hlo": ENDLESS, "x.bin": b""}.items():
            (self.folder / name).write_bytes(content)
        for folder in ("one", "two"):
            (self.folder / folder).mkdir()
            (self.folder / folder / "loop.hlo").write_bytes(ENDLESS)
            (self.folder / folder / "m.hlo").write_bytes(MODULE)
        limit = ("--timeout", "1.6")
        expected = {
            ("run", "loop.hlo", *limit): (None, r"loop\.hlo, instruction 2 of 2, iteration [\d,]+, last \w+ in \w+"),
            ("run", "big.hlo", "--repeat", "1000000", *limit): (None, r"big\.hlo, run [\d,]+ of 1,000,000"),
            ("diff", "loop.hlo", "loop.hlo", *limit): (None, r"loop\.hlo and loop\.hlo, A, instruction 2 of 2, "),
            ("diff", "one", "two", *limit): (None, r"pair 1 of 2: loop\.hlo, A, instruction 2 of 2, "),
            ("verify", "m.hlo", "slow1"): ("slow1", r"module 2 of 2: slow1"),
            ("convert", "slow2"): ("slow2", r"slow2"),
            ("convert", "m.hlo", "slow3"): ("slow3", r"module 2 of 2: slow3"),
            ("memory", "slow4"): ("slow4", r"slow4"),
            ("memory", "slow5", "m.hlo"): ("slow5", r"module 1 of 2: slow5"),
            ("cost", "m.hlo", "slow6"): ("slow6", r"module 2 of 2: slow6"),
            ("relayout", "slow7", "y.bin", "--from", "u8[4]", "--to", "{0}"): ("slow7", r"reading"),
        }
        with concurrent.futures.ThreadPoolExecutor(len(expected)) as pool:
            shown = {a: pool.submit(self.on_terminal, *a, fifo=fifo) for a, (fifo, _) in expected.items()}
        for arguments, (_, pattern) in expected.items():
            with self.subTest(arguments=arguments):
                text, seconds = shown[arguments].result()
                lines = text.split(ERASE)
                self.assertRegex(lines[1], rf"^kashi: \d+ s, {pattern}")
                self.assertLess(max(len(line.rpartition("\n")[2]) for line in lines), 80)
                self.assertLessEqual(len(lines), 2 + 10 * seconds)
                self.assertNotRegex(lines[-1], r"kashi: \d+ s", "the end")

    @needs_terminal
    def test_progress_is_erased_before_an_error(self):
        (self.folder / "loop.hlo").write_bytes(ENDLESS)
        text, _ = self.on_terminal("run", "loop.hlo", "--timeout", "1.3")
        self.assertIn("took longer than 1.3 seconds", text)
        self.assertRegex(text, re.escape(ERASE) + r"loop\.hlo:\d+:\d+: (\x1b\[[\d;]*m)*error:")

    @needs_terminal
    def test_no_progress_elsewhere(self):
        (self.folder / "loop.hlo").write_bytes(ENDLESS)
        for err in (self.on_terminal("run", "loop.hlo", "--timeout", "1.3", term="dumb")[0],
                    self.run_kashi("run", "loop.hlo", "--timeout", "1.3", status=1)[1]):
            self.assertNotIn(ERASE, err)
            self.assertNotRegex(err, r"kashi: \d+ s")

    # ---- Completions

    def complete(self, *words):
        """The completions of bash for the last of these words."""
        script, _ = self.run_kashi("completions", "bash")
        line = " ".join(f"'{word}'" for word in words)
        script += f'COMP_WORDS=({line}); COMP_CWORD={len(words) - 1}; _kashi; printf "%s\\n" "${{COMPREPLY[@]}}"\n'
        done = subprocess.run(["bash", "-c", script], cwd=self.folder, capture_output=True, timeout=TIMEOUT_S)
        self.assertEqual(done.stderr, b"")
        return done.stdout.decode().split()

    @unittest.skipUnless(shutil.which("bash"), "no bash here")
    def test_bash_completions(self):
        (self.folder / "module.hlo").touch()
        self.assertEqual(self.complete("kashi", "ve"), ["verify", "version"])
        self.assertEqual(self.complete("kashi", "verify", "--lay"), ["--layout-sensitive"])
        self.assertEqual(self.complete("kashi", "convert", "--to", "pb"), ["pb", "pbtxt"])
        self.assertEqual(self.complete("kashi", "verify", "mod"), ["module.hlo"])
        self.assertEqual(self.complete("kashi", "help", "verif"), ["verify"])
        self.assertEqual(self.complete("kashi", "completions", "z"), ["zsh"])

    def test_completions_parse(self):
        for shell in ("bash", "zsh", "fish"):
            with self.subTest(shell=shell):
                script, _ = self.run_kashi("completions", shell)
                if not shutil.which(shell):
                    self.skipTest(f"no {shell} here")
                done = subprocess.run([shell, "-n"], input=script.encode(), capture_output=True, timeout=TIMEOUT_S)
                self.assertEqual((done.returncode, done.stderr), (0, b""))

    def test_page_of_operations_is_generated(self):
        self.assertEqual(self.run_kashi("ops", "--markdown")[0], OPS_PAGE.read_text())

    def test_man_page_names_all_verbs(self):
        page, _ = self.run_kashi("man")
        for verb in self.complete("kashi", ""):
            if not verb.startswith("-"):
                self.assertIn(f".SS kashi {verb} ".replace("-", r"\-"), page)


if __name__ == "__main__":
    kashi_testing.main(__doc__)
