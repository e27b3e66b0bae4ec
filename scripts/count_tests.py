#!/usr/bin/env python3
"""Counts test cases, not test programs: reads the JUnit file of a ctest run and prints "N passed, N failed" as its last
line.

ctest runs programs. The output of a program has the number of its cases: GoogleTest, Python's unittest, pytest, and
tests/golden.py (which prints the same line as this script). A program without such a number counts as one case. A
program that failed without a failing case (it crashed, or ran out of time) adds one failed case.
"""
import argparse
import re
import sys
import xml.etree.ElementTree as ElementTree

GTEST_PASSED = re.compile(r"^\[  PASSED  \] (\d+) tests?\.", re.M)
GTEST_FAILED = re.compile(r"^\[  FAILED  \] \S+.* \(\d+ ms\)$", re.M)  # one a case; the summary's lines have no time
GTEST_SKIPPED = re.compile(r"^\[  SKIPPED \] (\d+) tests?", re.M)
GOLDEN = re.compile(r"^(\d+) passed, (\d+) failed$", re.M)
UNITTEST = re.compile(r"^Ran (\d+) tests? in ", re.M)
NOT_TESTED = re.compile(r"^NOT TESTED: .*$", re.M)  # why a program has left out some of its tests
PYTEST = re.compile(r"^=* ?((?:\d+ [a-z]+(?:, )?)+) in [\d.]+s(?: \([\d:]+\))? ?=*$", re.M)
UNITTEST_BAD = re.compile(r"^(?:FAILED|OK) \((.*)\)$", re.M)


def total(pattern, text):
    return sum(int(number) for number in pattern.findall(text))


def count_unittest(text):
    ran = total(UNITTEST, text)
    notes = dict(re.findall(r"(\w+)=(\d+)", " ".join(UNITTEST_BAD.findall(text))))
    failed = int(notes.get("failures", 0)) + int(notes.get("errors", 0))
    skipped = int(notes.get("skipped", 0))
    return ran - failed - skipped, failed, skipped


def count_pytest(summary):
    notes = {what.rstrip("s"): int(number) for number, what in re.findall(r"(\d+) (\w+)", summary)}
    return notes.get("passed", 0) + notes.get("xfailed", 0), notes.get("failed", 0) + notes.get("error", 0), notes.get("skipped", 0)


def count_cases(text):
    """(passed, failed, skipped) by the output of one program; None if the output has no numbers."""
    if "[==========]" in text:
        return total(GTEST_PASSED, text), len(GTEST_FAILED.findall(text)), total(GTEST_SKIPPED, text)
    golden = GOLDEN.findall(text)
    if golden:
        return int(golden[-1][0]), int(golden[-1][1]), 0
    if UNITTEST.search(text):
        return count_unittest(text)
    pytest = PYTEST.findall(text)
    return count_pytest(pytest[-1]) if pytest else None


def count_program(testcase):
    ok = testcase.get("status") == "run"
    counts = count_cases(testcase.findtext("system-out") or "")
    if counts is None:
        return (1, 0, 0) if ok else (0, 1, 0)
    passed, failed, skipped = counts
    if not ok and failed == 0:
        failed = 1
    return passed, failed, skipped


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("junit", help="the file that ctest --output-junit wrote")
    arguments = parser.parse_args()
    suite = ElementTree.parse(arguments.junit).getroot()
    rows = [(case.get("name"), float(case.get("time", 0)), count_program(case)) for case in suite.iter("testcase")]
    print()
    for name, seconds, (passed, failed, _) in rows:
        print(f"  {name:<24} {passed:6} passed {failed:4} failed {seconds:8.1f} s")
    passed, failed, skipped = (sum(counts[i] for _, _, counts in rows) for i in range(3))
    for case in suite.iter("testcase"):
        for note in NOT_TESTED.findall(case.findtext("system-out") or ""):
            print(note)
    if skipped:
        print(f"{skipped} skipped")
    if passed + failed == 0:
        print("no test case ran")
    print(f"{passed} passed, {failed} failed")
    return 1 if failed or passed == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
