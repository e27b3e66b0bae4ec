#!/usr/bin/env python3
"""Compares the numbers of docs/limits.md with the code, and those of the options with --help.

  limits_test.py --kashi build/kashi
"""
import argparse
import os
import re
import subprocess
import sys

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), '..')
UNITS = {'KiB': 1 << 10, 'MiB': 1 << 20, 'GiB': 1 << 30}


def number_of(text):
    """`6000`, `2^24`, `4 MiB` as a number; None for other texts."""
    power = re.fullmatch(r'2\^(\d+)', text)
    if power:
        return 1 << int(power.group(1))
    sized = re.fullmatch(r'(\d+)(?: (\w+))?', text)
    if sized and (sized.group(2) is None or sized.group(2) in UNITS):
        return int(sized.group(1)) * UNITS.get(sized.group(2), 1)
    return None


def constants_of(path):
    """The values of a file's constexpr numbers."""
    values = set()
    for expression in re.findall(r'constexpr [\w:]+ k\w+ = ([^;]+);', open(path).read()):
        expression = re.sub(r'(?:u?int64_t|size_t|std::size_t)\{(\w+)\}', r'\1', expression).replace("'", '')
        if re.fullmatch(r'[\d\s<*+\-()]+', expression):
            values.add(eval(expression))  # digits and operators alone
    return values


def rows_of(text):
    for line in text.splitlines():
        cells = [cell.strip() for cell in line.strip().strip('|').split('|')]
        if line.startswith('|') and len(cells) == 3:
            yield cells


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('--kashi', required=True)
    arguments = parser.parse_args()
    complaints = []
    text = open(os.path.join(ROOT, 'docs', 'limits.md')).read()
    checked = 0
    for what, number, where in rows_of(text):
        value = number_of(number)
        path = where.strip('`')
        if value is None or not where.startswith('`'):
            continue
        checked += 1
        if not os.path.exists(os.path.join(ROOT, path)):
            complaints.append('%s: there is no file %s' % (what, path))
        elif value not in constants_of(os.path.join(ROOT, path)):
            complaints.append('%s: %s has no constant of %s' % (what, path, number))
    if checked < 10:
        complaints.append('only %d rows with a number and a file: the form of the tables has changed' % checked)
    for option, number in re.findall(r'^\| `(--[\w-]+) [^`]*`[^|]*\| ([\d.e]+) \|', text, re.M):
        for verb in ('run', 'diff'):
            help_text = subprocess.run([arguments.kashi, verb, '--help'], capture_output=True, text=True).stdout
            described = re.search(re.escape(option) + r'\b.*?\(default: ([^)]*)\)', help_text, re.S)
            if described is None or described.group(1) != number:
                complaints.append('%s: docs/limits.md says %s, `kashi %s --help` %s' %
                                  (option, number, verb, described.group(1) if described else 'nothing'))
    print('\n'.join(complaints) if complaints else '%d limits are as docs/limits.md says' % checked)
    sys.exit(1 if complaints else 0)


if __name__ == '__main__':
    main()
