"""Shared by the tests of the command that are written in Python: the path of the command, .npy files, a folder per
test."""
import os
import pathlib
import struct
import subprocess
import sys
import tempfile
import unittest

KASHI = ""  # the path of the command; main() sets it
TIMEOUT_S = 120  # of one command; a machine under load needs seconds


def npy(dtype, sizes, data, fortran_order=False):
    """The bytes of an .npy file with these bytes of elements."""
    shape = "(" + "".join(f"{size}," for size in sizes) + ")"
    header = f"{{'descr': '{dtype}', 'fortran_order': {fortran_order}, 'shape': {shape}, }}".ljust(117) + "\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode() + data


class FolderTest(unittest.TestCase):
    """Each test has an empty folder of its own."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def run_command(self, *arguments, status=0, stdin=b""):
        """Runs the command in the folder; it must end with `status`. Returns the bytes of stdout and of stderr."""
        done = subprocess.run([KASHI, *arguments], cwd=self.folder, capture_output=True, input=stdin,
                              timeout=TIMEOUT_S, check=False)
        self.assertEqual(done.returncode, status, done)
        return done.stdout, done.stderr


def main(usage):
    """Runs the tests of the script: SCRIPT --kashi PATH [unittest's arguments]."""
    global KASHI
    if len(sys.argv) < 3 or sys.argv[1] != "--kashi":
        sys.exit(usage)
    KASHI = os.path.abspath(sys.argv[2])
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]])
