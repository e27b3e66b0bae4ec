#!/usr/bin/env python3
"""Prints the rooms of kashi/ that changed lately, as a list for CMake's option KASHI_TESTED_ROOMS.

    scripts/changed_rooms.py --recent 30               base;evaluator;hlo
    scripts/changed_rooms.py --recent 30 --most 1      base;hlo

A room changed if a file of it differs from the commit --recent commits ago, uncommitted edits included. Rooms in a
folder of rooms count as one, as their tests are one program. --most keeps the rooms that changed last. Prints nothing,
which means all rooms, if git does not have that commit, as in a shallow clone.
"""
import argparse
import pathlib

import check_tidy

# Its tests have the precompiled headers of others, and are quick. Those of kashi/hlo could not: they may have none.
ALWAYS = {"base"}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--recent", type=int, required=True, metavar="N", help="commits to look back")
    parser.add_argument("--most", type=int, metavar="N", help="at most N rooms (default: all)")
    options = parser.parse_args()
    root = pathlib.Path(__file__).resolve().parent.parent
    changed = check_tidy.files_changed(root, options.recent)
    if changed is None:
        return
    parts = [file.relative_to(root).parts for file in check_tidy.newest_first(root, changed)]
    rooms = list(dict.fromkeys(names[1] for names in parts if names[0] == "kashi" and len(names) > 2))
    print(";".join(sorted({*rooms[:options.most], *ALWAYS})))


if __name__ == "__main__":
    main()
