"""Shared by the tests of the command that are written in Python: the path of the command, .npy files, a folder per
test."""
import os
import pathlib
import struct
import sys
import tempfile
import unittest

KASHI = ""  # the path of the command; main() sets it


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


def main(usage):
    """Runs the tests of the script: SCRIPT --kashi PATH [unittest's arguments]."""
    global KASHI
    if len(sys.argv) < 3 or sys.argv[1] != "--kashi":
        sys.exit(usage)
    KASHI = os.path.abspath(sys.argv[2])
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]])
