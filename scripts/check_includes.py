#!/usr/bin/env python3
"""Proves that the #include lines of kashi/, cli/ and compat/ follow the arrows between the rooms.

The table of arrows is kashi/CMakeLists.txt itself: kashi_room(NAME DEPENDS rooms… LIBRARIES targets…). A room may
include its own headers, those of the rooms below it, the C++ standard library, and the libraries that it or a room
below it names. The folders of a room (FOLDERS) are listed lowest first: one may include those before it. cli/, compat/,
examples/, fuzz/ and tests/ may include every room. An arrow that no file of the room follows is a finding. Also: no header says `using namespace` at file
scope (compat/ lives by it), each header has an include guard, each #include "kashi/…" names a file that exists, and the
table of rooms in ARCHITECTURE.md says the same as CMake.
"""
import argparse
import pathlib
import re
import sys

# What a CMake target lets a room include, as prefixes of include paths. `absl::x` is one rule for all of abseil.
LIBRARY_INCLUDES = {
    "absl": ("absl/",),
    "Threads::Threads": (),  # <thread>, <mutex>: the standard library; pthread.h itself stays out
    "kashi_proto_messages": ("google/protobuf/", "kashi/proto/", "xla/"),
    "OpenMP::OpenMP_CXX": ("omp.h",),
    "hwy::hwy": ("hwy/",),
    "re2": ("re2/",),
    "MPI::MPI_C": ("mpi.h",),
    "kashi_llvm_ir": ("llvm/IR/", "llvm/ADT/", "llvm/Support/"),
    "kashi_llvm": ("llvm/",),  # and SLEEF, whose functions are only named
}
# Headers of the operating system: only in these files, which hide them from everybody else.
SYSTEM_INCLUDES = {
    "kashi/base/abseil_for_tsan.cc": ("dlfcn.h", "sanitizer/tsan_interface.h"),
    "kashi/base/catch_exceptions.h": ("cxxabi.h",),
    "kashi/pjrt/kashi_c_api.h": ("stdbool.h", "stdint.h"),  # for C
    "kashi/base/denormals.h": ("xmmintrin.h",),
    # Instructions for short elements; AMX, which a process asks Linux for.
    "kashi/kernels/matrix_product_kernels.cc": ("cpuid.h", "immintrin.h", "sys/syscall.h", "unistd.h"),
    "kashi/base/parallel.cc": ("cxxabi.h", "sched.h"),  # threads that end in a forced unwind; which processor a thread runs on
    "kashi/base/guard_pages.cc": ("signal.h", "sys/mman.h", "unistd.h"),
    "kashi/base/page_buffer.cc": ("sys/mman.h",),
    "kashi/engine/object_cache.cc": ("fcntl.h", "sys/stat.h", "unistd.h"),  # owners and modes of files
    "kashi/pjrt/pjrt_c_api.h": ("stdbool.h", "stddef.h", "stdint.h"),  # plain C
    "kashi/pjrt/inspect_sharding.cc": ("dlfcn.h",),  # whether an address is a function
    "kashi/pjrt/report.cc": ("unistd.h",),  # getpid
    "kashi/relayout/cache_model.cc": ("unistd.h",),  # sysconf
    "kashi/relayout/relayout_plan_test.cc": ("sys/mman.h",),  # address space without memory
    "kashi/relayout/relayout_runner_testing.h": ("sys/mman.h",),  # pages that may not be touched
}
# Arrows without an #include: functions that a room declares and a room above it defines.
LINKED = {("custom_calls", "hlo/text"): "HloInstruction::ToString"}
TEST_INCLUDES = {"_test": ("gtest/", "gmock/"), "_testing": ("gtest/", "gmock/"), "_bench": ("benchmark/",)}
OPEN_FOLDERS = ("cli", "compat", "examples", "fuzz", "tests")  # may include every room

STANDARD = frozenset("""
    algorithm any array atomic bitset cassert cctype cerrno cfenv cfloat charconv chrono cinttypes climits clocale cmath
    codecvt complex condition_variable csetjmp csignal cstdarg cstddef cstdint cstdio cstdlib cstring ctime cuchar cwchar
    cwctype deque exception execution filesystem forward_list fstream functional future initializer_list iomanip ios
    iosfwd iostream istream iterator limits list locale map memory memory_resource mutex new numeric optional ostream
    queue random ratio regex scoped_allocator set shared_mutex sstream stack stdexcept streambuf string string_view
    system_error thread tuple type_traits typeindex typeinfo unordered_map unordered_set utility valarray variant vector
    version""".split())

INCLUDE = re.compile(r'^\s*#\s*include\s+(["<])([^">]+)[">]')


class Room:
    """A kashi_room(…) line: its name, its folders, the rooms that it names, and the include prefixes of its libraries."""

    def __init__(self, name, folders, depends, libraries):
        self.name = name
        self.folders = folders
        self.depends = depends
        self.libraries = libraries

    def external_prefixes(self):
        prefixes = ()
        for library in self.libraries:
            key = "absl" if library.startswith("absl::") else library
            if key not in LIBRARY_INCLUDES:
                raise SystemExit(f"check_includes.py: say in LIBRARY_INCLUDES what {library} lets a room include")
            prefixes += LIBRARY_INCLUDES[key]
        return prefixes


def strip_comments(text):
    return re.sub(r"#[^\n]*", "", text)


def read_rooms(cmake_lists):
    """All rooms by name, in the order of the file."""
    text = strip_comments(cmake_lists.read_text())
    variables = {match[1]: match[2] for match in re.finditer(r"\bset\((\w+)\s+([^)]*)\)", text)}
    rooms = {}
    for match in re.finditer(r'\bkashi_room\(((?:"[^"]*"|[^")])*)\)', text):
        words = re.sub(r"\$\{(\w+)\}", lambda use: variables.get(use[1], ""), match[1]).split()
        parts = {"": [], "FOLDERS": [], "DEPENDS": [], "LIBRARIES": [], "ALONE": [], "PARTS": []}
        key = ""
        for word in words:
            if word in parts:
                key = word
            else:
                parts[key].append(word)
        name = parts[""][0]
        rooms[name] = Room(name, parts["FOLDERS"], parts["DEPENDS"], parts["LIBRARIES"])
    return rooms


def reachable(rooms, name):
    """The rooms that `name` may include: itself and everything below it."""
    found, todo = [], [name]
    while todo:
        room = todo.pop()
        if room not in rooms:
            raise SystemExit(f"check_includes.py: kashi_room({name}) depends on {room}, which is no room")
        if room not in found:
            found.append(room)
            todo.extend(rooms[room].depends)
    return found


def allowed_external(rooms, name, stem):
    prefixes = tuple(prefix for room in reachable(rooms, name) for prefix in rooms[room].external_prefixes())
    for suffix, extra in TEST_INCLUDES.items():
        if stem.endswith(suffix):
            prefixes += extra
    return prefixes


def room_of(rooms, path):
    """The room of kashi/ROOM/file or kashi/FOLDER/ROOM/file; None when there is no such room."""
    name = "/".join(path.parts[1:-1])
    while name and name not in rooms:
        name = name.rpartition("/")[0]
    return name or None


def usable(rooms, room, stem):
    """What a file of the room may include. Tests of what uses HLO read their programs from text and verify them."""
    below = reachable(rooms, room)
    if stem.endswith(tuple(TEST_INCLUDES)) and any(name.startswith("hlo/") for name in below):
        return [*below, *(name for name in rooms if name.startswith("hlo/"))]
    return below


def judge_folder(room, path, included):
    """Why a file may not include this header of its own room, or None. Headers outside of all folders are for all."""
    if path.stem.endswith(tuple(TEST_INCLUDES)):
        return None
    places = [room.folders.index(x.parent.name) if x.parent.name in room.folders else None for x in (path, included)]
    if None in places or places[1] <= places[0]:
        return None
    return f"{included.parent.name} is above {path.parent.name}: kashi/CMakeLists.txt names the lower folders first"


def judge_include(rooms, room, path, included, root):
    """Why this include is wrong, or None. `room` is None in the folders that may include every room."""
    if included.startswith("kashi/") and not included.endswith(".pb.h"):
        if not (root / included).is_file():
            return "there is no such file"
        target = room_of(rooms, pathlib.PurePath(included))
        if room is not None and target not in usable(rooms, room, path.stem):
            below = ", ".join(reachable(rooms, room)[1:]) or "no other room"
            return f"{room} may use {below}"
        if target == room and room is not None:
            return judge_folder(rooms[room], path.relative_to(root), pathlib.PurePath(included))
        return None
    if room is None or included in STANDARD or included in SYSTEM_INCLUDES.get(path.relative_to(root).as_posix(), ()):
        return None
    if included.startswith(allowed_external(rooms, room, path.stem)):
        return None
    return f"neither the standard library nor a library that {room}, or a room below it, names"


def judge_file(rooms, room, path, root):
    text = path.read_text()
    where = path.relative_to(root)
    for number, line in enumerate(text.splitlines(), 1):
        match = INCLUDE.match(line)
        if match:
            why = judge_include(rooms, room, path, match[2], root)
            if why:
                yield f"{where}:{number}: {line.strip()}: {why}"
        if path.suffix == ".h" and where.parts[0] != "compat" and line.startswith("using namespace "):
            yield f"{where}:{number}: a header may not say `using namespace` at file scope"
    # Highway compiles some headers once for each target: their guards come and go with HWY_TARGET_TOGGLE.
    if path.suffix == ".h" and not re.search(r"^#\s*(ifndef \w+|pragma once|if defined.*HWY_TARGET_TOGGLE)", text, re.M):
        yield f"{where}: no include guard"


def files_to_judge(root, rooms):
    """(room or None, path) of every C++ file. A folder of kashi/ with code that is no room is a finding of its own."""
    for path in sorted(root.glob("kashi/*/**/*")):
        if path.suffix in (".h", ".cc"):
            place = path.relative_to(root)
            yield room_of(rooms, place) or "/".join(place.parts[1:-1]), path
    for folder in OPEN_FOLDERS:
        for path in sorted(root.glob(f"{folder}/**/*")):
            if path.suffix in (".h", ".cc"):
                yield None, path


def judge_table(rooms, document):
    """ARCHITECTURE.md's table has a row `| kashi/NAME | holds | may use | … |` for each room, and says what CMake says."""
    rows = re.findall(r"^\| `kashi/([\w/]+)` \|[^|]*\|([^|]*)\|", document.read_text(), re.M)
    table = {name: sorted(re.findall(r"`([\w/]+)`", uses)) for name, uses in rows}
    for name in sorted(set(rooms) | set(table)):
        if name not in table or name not in rooms:
            where = "kashi/CMakeLists.txt" if name in table else document.name
            yield f"{where}: no room {name}"
        elif table[name] != sorted(rooms[name].depends):
            yield f"{document.name}: {name} may use {rooms[name].depends}, not {table[name]}"


def arrows_followed(rooms, path):
    """The rooms whose headers the file includes."""
    matches = map(INCLUDE.match, path.read_text().splitlines())
    return {room_of(rooms, pathlib.PurePath(match[2])) for match in matches if match and match[2].startswith("kashi/")}


def unused_arrows(rooms, followed):
    """followed: the rooms that each room includes."""
    for name, room in rooms.items():
        for below in room.depends:
            if below not in followed.get(name, ()) and (name, below) not in LINKED:
                yield f"kashi/CMakeLists.txt: no file of {name} includes a header of {below}: it does not depend on it"


def check(root):
    rooms = read_rooms(root / "kashi" / "CMakeLists.txt")
    findings, files, followed = list(judge_table(rooms, root / "ARCHITECTURE.md")), 0, {}
    for room, path in files_to_judge(root, rooms):
        files += 1
        if room in rooms:
            followed.setdefault(room, set()).update(arrows_followed(rooms, path))
        if room is not None and room not in rooms:
            findings.append(f"{path.relative_to(root)}: kashi/{room} is no room of kashi/CMakeLists.txt")
        else:
            findings.extend(judge_file(rooms, room, path, root))
    findings.extend(unused_arrows(rooms, followed))
    return rooms, files, findings


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--root", type=pathlib.Path, default=pathlib.Path(__file__).resolve().parent.parent)
    rooms, files, findings = check(parser.parse_args().root)
    for finding in findings:
        print(finding)
    print(f"{files} files, {len(rooms)} rooms: {len(findings)} includes against the arrows, or other findings"
          if findings else f"{files} files of {len(rooms)} rooms and beside them: every include follows the arrows")
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
