#!/usr/bin/env python3
"""Tests of `./dev` in every order of its verbs: no verb leaves a build folder that another verb cannot go on with.

Every pair of verbs runs in a scratch copy of the repository's scripts, one after the other, on a machine without any
package. There, programs that build, install or test do nothing but write down what was asked of them. So the tests see
when CMake runs, with which options, and which packages are installed at that time. Then the real CMake configures a
folder in each of these ways.
"""
import concurrent.futures
import functools
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent

# Stands in for each program that `./dev` calls. The packages that are installed are the lines of $DPKG_ADMINDIR/status;
# each run of CMake with a preset is a line of $LOG: the preset, the packages, the options.
STUB = r"""#!/bin/bash
programs() { mkdir -p "$(dirname "$1")"; for program in "$@"; do ln -sf "$STUB" "$program"; done; }
case ${0##*/} in
  dpkg-query) sed 's/^/installed /' "$DPKG_ADMINDIR/status" ;;
  sudo) while [[ $1 == -* ]]; do shift; done; exec "$@" ;;
  apt-get)
    [[ " $* " == *" install "* ]] || exit 0
    for word in "$@"; do
      [[ $word == -* || $word == *=* || $word == install ]] || printf '%s\n' "$word" >>"$DPKG_ADMINDIR/status"
    done ;;
  cmake)
    case $1 in
      --preset)
        folder=build-$2; [[ $2 != release ]] || folder=build
        mkdir -p "$folder"; touch "$folder/build.ninja" "$folder/CMakeCache.txt"
        printf '%s;%s;%s\n' "$2" "$(tr '\n' ' ' <"$DPKG_ADMINDIR/status")" "${*:3}" >>"$LOG" ;;
      --build)
        [[ -f $2/build.ninja ]] || exit 1
        programs "$2/kashi"
        programs "$2/rooms/kashi_base_bench"
        programs "$2/fuzz/a_fuzz"
        programs "$2/python/sanitized_python" ;;
      --install) programs "$2/install/bin/kashi" ;;
    esac ;;
  cpack) mkdir -p build/packages ;;
  python3 | python)
    if [[ $1 == -m && $2 == venv ]]; then programs "$3/bin/python" "$3/bin/pip"; fi
    if [[ $1 == -c ]]; then printf '%s\n' "$PWD/.venv"; fi ;;
esac
"""
PROGRAMS = ["dpkg-query", "sudo", "apt-get", "cmake", "ctest", "cpack", "python3", "clang-format-14", "ccache"]

# What CMake looks for and Kashi can be built without: part of the name of the package, and CMake's name.
OPTIONAL = {"llvm-19-dev": "LLVM", "libopenmpi-dev": "MPI", "libsleef-dev": None, "liblapack-dev": None}


class Machine:
    """A scratch folder with ./dev, the stubs and the packages that are installed."""

    def __init__(self, folder):
        self.folder = pathlib.Path(folder)
        self.tree = self.folder / "tree"

    @classmethod
    def bare(cls, folder):
        machine = cls(folder)
        (machine.folder / "bin").mkdir(parents=True)
        stub = machine.folder / "stub"
        stub.write_text(STUB)
        stub.chmod(0o755)
        for program in PROGRAMS:
            (machine.folder / "bin" / program).symlink_to("../stub")
        (machine.folder / "status").write_text("")
        (machine.folder / "log").write_text("")
        machine.fill_tree()
        return machine

    def fill_tree(self):
        for part in ("kashi", "cli", "compat", "examples", "fuzz", "python", "tests", "scripts"):
            (self.tree / part).mkdir(parents=True)
        for file in ("dev", "packages.txt", "CMakePresets.json", "scripts/packages.sh", "scripts/python.sh",
                     "scripts/fuzz.sh", "python/requirements-test.txt"):
            shutil.copy2(ROOT / file, self.tree / file)
        for script in ("compat/run", "scripts/use_kashi.sh", "scripts/try_packages.sh", "scripts/tour.sh"):
            (self.tree / script).symlink_to("../../stub")
        (self.tree / "fuzz/a_fuzz.cc").write_text("")

    def copy(self, folder):
        shutil.copytree(self.folder, folder, symlinks=True)  # with the times of the files, which ./dev compares
        return Machine(folder)

    def run(self, verb):
        """The lines of the log that the verb adds."""
        before = len(self.log())
        environment = {"PATH": f"{self.folder / 'bin'}:{os.environ['PATH']}", "DPKG_ADMINDIR": str(self.folder),
                       "LOG": str(self.folder / "log"), "STUB": str(self.folder / "stub"), "HOME": str(self.folder)}
        arguments = [verb, "x_test.cc"] if verb == "compat" else [verb]
        done = subprocess.run(["bash", "dev", *arguments], cwd=self.tree, env=environment, text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        if done.returncode != 0:
            raise AssertionError(f"./dev {verb}: status {done.returncode}\n{done.stdout}")
        return self.log()[before:]

    def log(self):
        """For each run of CMake: the preset, the optional packages that were there, the options."""
        runs = []
        for line in (self.folder / "log").read_text().splitlines():
            preset, packages, options = line.split(";")
            runs.append((preset, optional(packages.split()), options))
        return runs

    def state(self):
        return (self.folder / "status").read_text(), (self.folder / "log").read_text()

    def installed(self):
        return optional((self.folder / "status").read_text().split())


def optional(packages):
    return frozenset(OPTIONAL) & frozenset(packages)


def verbs():
    """All but those that make another build folder the same way: asan stands for ubsan and tsan."""
    words = subprocess.run(["bash", "-c", 'source <(sed -n "/^readonly VERBS/,/)/p" dev); printf "%s " "${VERBS[@]}"'],
                           cwd=ROOT, text=True, capture_output=True, check=True).stdout.split()
    return [verb for verb in words if verb not in ("ubsan", "tsan", "help")]


class OrderTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.scratch = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.scratch.cleanup)
        folder = pathlib.Path(cls.scratch.name)
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            def begin(verb):
                machine = Machine.bare(folder / verb)
                return verb, machine, machine.run(verb)

            cls.first = list(pool.map(begin, verbs()))

            # Verbs that leave the machine in one state are one verb to those that follow.
            states = {machine.state(): (verb, machine) for verb, machine, _ in cls.first}

            def go_on(pair):
                (first, machine), (second, _, alone) = pair
                other = machine.copy(folder / f"{first}-{second}")
                other.run(second)
                return first, second, {run[0] for run in alone}, other

            cls.pairs = list(pool.map(go_on, [(a, b) for a in states.values() for b in cls.first if b[2]]))

    def test_verbs_configure(self):
        configured = {verb for verb, _, runs in self.first if runs}
        self.assertEqual(set(verbs()) - configured, {"setup", "format"})

    def test_a_verb_alone_builds_with_the_compiled_engine(self):
        for verb, _, runs in self.first:
            for preset, there, _ in runs:
                with self.subTest(verb=verb, preset=preset):
                    self.assertLessEqual({"llvm-19-dev", "libsleef-dev", "liblapack-dev"}, there)

    def test_a_folder_that_a_verb_uses_knows_all_that_is_installed(self):
        for first, second, presets, machine in self.pairs:
            for preset in presets:
                with self.subTest(first=first, second=second, preset=preset):
                    seen = [there for name, there, _ in machine.log() if name == preset]
                    self.assertEqual(seen[-1], machine.installed())

    def test_cmake_does_not_run_again_without_a_reason(self):
        for verb in ("build", "demo", "package", "tidy", "compat"):
            with self.subTest(verb=verb):
                state = next(machine for name, machine, _ in self.first if name == verb)
                again = state.copy(pathlib.Path(self.scratch.name) / f"{verb} again")
                self.assertEqual(again.run(verb), [])

    def test_cmake_configures_in_each_of_these_orders(self):
        # Packages that were installed by hand, without ./dev, count as well.
        histories = {(frozenset(), frozenset(OPTIONAL)), (frozenset({"libopenmpi-dev"}), frozenset(OPTIONAL))}
        for _, _, _, machine in self.pairs:
            history = [there for preset, there, _ in machine.log() if preset == "release"]
            if history:
                histories.add(tuple(there for n, there in enumerate(history) if n == 0 or there != history[n - 1]))
        self.assertGreater(len(histories), 2)
        for history in sorted(histories, key=lambda history: [sorted(there) for there in history]):
            with self.subTest(history=[sorted(there) for there in history]):
                self.check_history(history)

    def check_history(self, history):
        """The folder ends as one that was configured at once, and no more than a few objects are compiled again."""
        with tempfile.TemporaryDirectory() as folder:
            steps = [configure(pathlib.Path(folder) / "build", there) for there in history]
        for before, after in zip(steps, steps[1:]):
            changed = [file for file in before if before[file] != after.get(file)]
            self.assertLessEqual({pathlib.Path(file).name for file in changed}, {"build_facts.cc", "random_programs.cc"})
        self.assertEqual(steps[-1], configure_anew(history[-1]))


@functools.cache
def configure_anew(there):
    with tempfile.TemporaryDirectory() as folder:
        return configure(pathlib.Path(folder) / "build", there)


def configure(folder, there):
    """The compile command of each file, where CMake finds these of the optional packages."""
    hidden = [f"-DCMAKE_DISABLE_FIND_PACKAGE_{name}={'OFF' if package in there else 'ON'}"
              for package, name in OPTIONAL.items() if name]
    done = subprocess.run(["cmake", "-S", ROOT, "-B", folder, "-G", "Ninja", "-DCMAKE_BUILD_TYPE=Release",
                           "-DKASHI_TESTS=ON", "-DKASHI_UNITY_BUILD=ON", *hidden],
                          text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    if done.returncode != 0:
        raise AssertionError(done.stdout)
    commands = json.loads((folder / "compile_commands.json").read_text())
    return {entry["file"].replace(str(folder), ""): entry["command"].replace(str(folder), "") for entry in commands}


if __name__ == "__main__":
    sys.dont_write_bytecode = True
    unittest.main()
