#!/usr/bin/env python3
"""`kashi relayout` on files that golden tests cannot hold: .npy files, random bytes, numbers that differ from run to
run.

    tests/relayout_test.py --kashi build/kashi [unittest's arguments]
"""
import json
import os
import random
import signal
import stat
import struct
import subprocess
import time

import kashi_testing
from kashi_testing import TIMEOUT_S, FolderTest, npy


def header_and_elements(content):
    end = 10 + struct.unpack("<H", content[8:10])[0]
    return content[10:end].decode(), content[end:]


def tiled(data, rows, columns, tile_rows, tile_columns, padding):
    """The bytes of a row-major array of bytes, stored in tiles, by the definition."""
    out = bytearray()
    for row in range(0, rows, tile_rows):
        for column in range(0, columns, tile_columns):
            for r in range(row, row + tile_rows):
                for c in range(column, column + tile_columns):
                    out.append(data[r * columns + c] if r < rows and c < columns else padding)
    return bytes(out)


class RelayoutTest(FolderTest):
    def write(self, name, content):
        (self.folder / name).write_bytes(content)

    def read(self, name):
        return (self.folder / name).read_bytes()

    def kashi(self, *arguments, status=0, stdin=b""):
        out, err = self.run_command("relayout", *arguments, status=status, stdin=stdin)
        return out if status == 0 else out + err

    def test_tiles_and_back(self):
        rows, columns = 37, 200
        data = random.Random(1).randbytes(rows * columns)
        self.write("x", data)
        self.kashi("x", "y", "--from", f"u8[{rows},{columns}]", "--to", "{1,0:T(8,128)}", "--pad", "7")
        self.assertEqual(self.read("y"), tiled(data, rows, columns, 8, 128, 7))
        self.kashi("y", "z", "--from", f"u8[{rows},{columns}]{{1,0:T(8,128)}}", "--to", "{1,0}")
        self.assertEqual(self.read("z"), data)

    def test_npy_in_and_out(self):
        data = struct.pack("<6f", *range(6))
        self.write("c.npy", npy("<f4", [2, 3], data))
        self.write("f.npy", npy("<f4", [2, 3], struct.pack("<6f", 0, 3, 1, 4, 2, 5), fortran_order=True))
        self.write("b.npy", npy(">f4", [2, 3], struct.pack(">6f", *range(6))))
        for name in ("c.npy", "f.npy", "b.npy"):
            self.kashi(name, "out.npy")
            header, elements = header_and_elements(self.read("out.npy"))
            self.assertIn("'descr': '<f4', 'fortran_order': False, 'shape': (2, 3)", header)
            self.assertEqual(elements, data)
            self.kashi(name, "raw", "--to", "{0,1}")
            self.assertEqual(self.read("raw"), struct.pack("<6f", 0, 3, 1, 4, 2, 5))
        self.kashi("c.npy", "out.npy", "--to", "f32[2,3]{0,1}")
        header, elements = header_and_elements(self.read("out.npy"))
        self.assertIn("'fortran_order': True", header)
        self.assertEqual(elements, struct.pack("<6f", 0, 3, 1, 4, 2, 5))
        self.assertEqual(header_and_elements(self.kashi("c.npy", "-", "--npy"))[1], data)

    def test_npy_of_types_that_numpy_lacks(self):
        bits = struct.pack("<6H", *range(6))
        for dtype in ("<V2", "<u2", "bfloat16"):
            self.write("x.npy", npy(dtype, [2, 3], bits))
            self.kashi("x.npy", "y", "--to", "bf16[2,3]{0,1}")
            self.assertEqual(struct.unpack("<6H", self.read("y")), (0, 3, 1, 4, 2, 5))
            self.kashi("x.npy", "y.npy", "--from", "bf16[2,3]")
            self.assertIn("'<V2'", header_and_elements(self.read("y.npy"))[0])
        self.write("x.npy", npy("<V2", [2, 3], bits))
        self.assertIn(b"matches several element types", self.kashi("x.npy", "y.npy", status=1))
        self.write("x.npy", npy("<V1", [4], b"\x07\xf8\xff\x10"))
        self.kashi("x.npy", "y", "--to", "s4[4]{0:E(4)}")
        self.assertEqual(self.read("y"), b"\x87\x0f")
        self.write("x.npy", npy("|u1", [3], b"\x00\x02\x01"))
        self.kashi("x.npy", "y", "--to", "pred[3]")
        self.assertEqual(self.read("y"), b"\x00\x01\x01")

    def test_conversion(self):
        self.write("x.npy", npy("<f4", [3], struct.pack("<3f", 1, -2, 3)))
        self.assertIn(b"--convert", self.kashi("x.npy", "y", "--to", "bf16[3]{0:T(4)}", status=1))
        self.kashi("x.npy", "y", "--to", "bf16[3]{0:T(4)}", "--convert", "--pad", "nan")
        self.assertEqual(struct.unpack("<4H", self.read("y")), (0x3F80, 0xC000, 0x4040, 0x7FC0))

    def test_parts_of_npy_files(self):
        self.write("x.npy", npy("<f4", [2, 3], struct.pack("<6f", *range(6))))
        self.kashi("x.npy", "part.npy", "--from", "[:,1:] of f32[2,3]")
        self.assertEqual(struct.unpack("<4f", header_and_elements(self.read("part.npy"))[1]), (1, 2, 4, 5))
        self.kashi("part.npy", "x.npy", "--to", "[:,:2] of f32[2,3]")
        self.assertEqual(struct.unpack("<6f", header_and_elements(self.read("x.npy"))[1]), (1, 2, 2, 4, 5, 5))
        self.assertIn(b"No such file", self.kashi("part.npy", "none.npy", "--to", "[:,:2] of f32[2,3]", status=1))
        self.assertFalse((self.folder / "none.npy").exists())

    def test_hostile_npy(self):
        whole = npy("<f4", [2, 3], bytes(24))
        for content in (whole[:5] + b"X", whole[:8], whole[:40], whole[:-1], whole + b"x",
                        npy("<f4", [1 << 40, 1 << 40], b""), npy("<f4", [1 << 60], bytes(4)), npy("O", [2], bytes(16)),
                        npy("<f4", [2, 3], bytes(24)).replace(b"(2,3,)", b"(-2,3)")):
            self.write("x.npy", content)
            self.kashi("x.npy", "y.npy", status=1)
            self.assertFalse((self.folder / "y.npy").exists())

    def test_a_file_stays_what_it_was_after_an_error_and_keeps_its_mode(self):
        self.write("x", b"abcdef")
        self.write("y", b"old")
        os.chmod(self.folder / "y", 0o640)
        self.kashi("x", "y", "--from", "s8[7]", "--to", "{0}", status=1)
        self.assertEqual(self.read("y"), b"old")
        self.kashi("x", "y", "--from", "s8[2,3]", "--to", "{0,1}")
        self.assertEqual(self.read("y"), b"adbecf")
        self.assertEqual(stat.S_IMODE(os.stat(self.folder / "y").st_mode), 0o640)
        self.assertEqual(sorted(path.name for path in self.folder.iterdir()), ["x", "y"])
        self.kashi("y", "y", "--from", "s8[2,3]{0,1}", "--to", "{1,0}")  # in place
        self.assertEqual(self.read("y"), b"abcdef")

    def test_what_no_element_is_in_is_zero(self):
        self.write("x", b"\xff\xff\xff")
        self.kashi("x", "y", "--from", "u4[3]", "--to", "{0:E(4)M(4)}", "--check")
        self.assertEqual(self.read("y"), b"\x00\x00\x00\x00\xff\x0f")

    def test_plan_check_and_bench_without_files(self):
        arguments = ["--from", "f32[100,200]", "--to", "{0,1:T(8,128)}", "--plan", "--check", "--bench", "--min-time",
                     "0.01"]
        answer = json.loads(self.kashi(*arguments, "--json"))
        self.assertEqual(answer["from"], "f32[100,200]{1,0}")
        self.assertEqual(answer["to"], "f32[100,200]{0,1:T(8,128)}")
        self.assertIn("f32[100,200]", answer["plan"])
        self.assertTrue(answer["equal"])
        self.assertEqual(answer["bytes_read"], 100 * 200 * 4)
        self.assertEqual(answer["bytes_written"], 128 * 200 * 4)
        self.assertEqual(answer["bytes"], answer["bytes_read"] + answer["bytes_written"])
        self.assertAlmostEqual(answer["gbps"], answer["bytes"] / answer["execute_ns"])
        self.assertAlmostEqual(answer["copy_gbps"], answer["bytes"] / answer["copy_ns"])
        self.assertAlmostEqual(answer["ratio"], answer["gbps"] / answer["copy_gbps"])
        self.assertGreaterEqual(answer["runs"], 5)
        self.assertGreater(answer["plan_ns"], 0)
        self.assertLessEqual(answer["execute_ns_min"], answer["execute_ns"])
        text = self.kashi(*arguments).decode()
        self.assertIn("check: equal (102,400 bytes)", text)
        self.assertIn("bench: ", text)

    def test_bench_counts_only_what_is_moved(self):
        sizes = lambda *arguments: json.loads(self.kashi("--bench", "--json", "--min-time", "0", *arguments))
        kept = sizes("--from", "f32[100,200]{1,0:T(8,128)}", "--to", "{0,1:T(8,128)}", "--pad", "keep")
        self.assertEqual((kept["bytes_read"], kept["bytes_written"]), (80000, 80000))
        part = sizes("--from", "[0:10,0:20] of f32[100,200]", "--to", "{1,0}")
        self.assertEqual((part["bytes_read"], part["bytes_written"]), (800, 800))
        packed = sizes("--from", "s4[1001]", "--to", "{0:E(4)}")
        self.assertEqual((packed["bytes_read"], packed["bytes_written"]), (1001, 501))

    def test_check_and_bench_take_in(self):
        self.write("x", bytes(range(24)))
        self.assertIn(b"equal (24 bytes)", self.kashi("x", "--from", "f32[2,3]", "--to", "{0,1}", "--check"))
        self.assertIn(b"bench: ", self.kashi("x", "--from", "f32[2,3]", "--to", "{0,1}", "--bench", "--min-time", "0"))
        self.assertIn(b"23 bytes", self.kashi("-", "--from", "f32[2,3]", "--to", "{0,1}", "--check", status=1,
                                              stdin=bytes(23)))

    def test_memory_limit(self):
        self.write("x", bytes(24))
        self.assertIn(b"more than the limit of", self.kashi("x", "y", "--from",
                      "f32[2,3]", "--to", "{0,1:T(1000,1000)}", "--memory-limit", "1M", status=1))
        self.assertIn(b"more than the limit of", self.kashi("-", "y", "--from",
                      "f32[2,3]", "--to", "{0,1}", "--memory-limit", "10", status=1, stdin=bytes(24)))

    def test_measure_file(self):
        sides = ("--from", "f32[150,200]", "--to", "{0,1}", "--threads", "1")
        self.kashi("--measure-file", "m", "--check", *sides)
        first = self.read("m").decode()
        self.assertRegex(first, r"^kashi relayout measurements 1\nmachine .*\n\w[-\w]* (stream|cache) x\S+ skip=\d+\tf32\[150,200\]")
        # What is known is not measured again, and the file stays; what is new is added.
        self.kashi("--measure-file", "m", "--check", *sides)
        self.assertEqual(self.read("m").decode(), first)
        self.kashi("--measure-file", "m", "--check", "--from", "f32[30,20]", "--to", "{0,1}")
        self.assertEqual(len(self.read("m").decode().splitlines()), len(first.splitlines()) + 1)
        # A file of something else, or of another machine, stays what it is.
        for content, why in ((b"f32[2]\n", b"m: line 1: expected `kashi relayout measurements 1`"),
                             (b"kashi relayout measurements 1\nmachine other\n", b"m: line 2: measured on another machine"),
                             (first.encode() + b"nonsense\n", b"m: line 4: expected a choice"), (bytes(range(256)), b"m: line 1")):
            self.write("m", content)
            self.assertIn(why, self.kashi("--measure-file", "m", "--check", *sides, status=1))
            self.assertEqual(self.read("m"), content)
        self.assertIn(b"--measure-file needs a file", self.kashi("--measure-file", "-", "--plan", *sides, status=2))

    def test_measured_plans_move_what_others_do(self):
        for sides in (("f32[300,70]", "{0,1}"), ("bf16[3,97,300]{2,1,0:T(8,128)(2,1)}", "{2,1,0}"), ("s4[64,100]", "{0,1:E(4)}")):
            self.kashi("--measure", "--check", "--from", sides[0], "--to", sides[1])
        self.assertIn(b"memory", self.kashi("--measure", "--plan", "--from", "u8[1000000,1000]", "--to", "{0,1}",
                                            "--memory-limit", "1M", status=1))

    def test_interrupt(self):
        process = subprocess.Popen(
            [kashi_testing.KASHI, "relayout", "--bench", "--min-time", "60", "--from", "f32[64]", "--to", "{0}"],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        time.sleep(1)
        process.send_signal(signal.SIGINT)
        _, stderr = process.communicate(timeout=TIMEOUT_S)
        self.assertEqual(process.returncode, 130)
        self.assertIn(b"interrupted", stderr)


if __name__ == "__main__":
    kashi_testing.main(__doc__)
