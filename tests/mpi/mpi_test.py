#!/usr/bin/env python3
"""Tests of programs on several ranks of MPI: mpirun starts them, more than there are processors.

  random programs    results equal those of threads, bit for bit (random_programs.cc)
  the corpus         what XLA partitioned gives what XLA computed
  two halves         a device that begins an operation does other work, and waits only where it ends it
  faults             different programs, an error of one rank, devices that wait for ever, a rank that is killed

Skipped, with exit status 77, where mpirun is missing. --long takes minutes: more programs, more kills.
"""
import argparse
import json
import os
import pathlib
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
CORPUS = HERE.parent / "data" / "corpus"
SKIPPED = 77
failures = []

ADD = "add { a = f32[] parameter(0)\n b = f32[] parameter(1)\n ROOT c = f32[] add(a, b) }\n"


def mpirun(ranks, command, **options):
    # Ranks share processors: a rank that waits must let others run. Children of tests may be root in a container.
    environment = dict(os.environ, OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1",
                       OMPI_MCA_rmaps_base_oversubscribe="1", OMPI_MCA_hwloc_base_binding_policy="none")
    # Open MPI keeps memory until the process ends, in libraries that it has unloaded by then: none can be named.
    environment["ASAN_OPTIONS"] = os.environ.get("ASAN_OPTIONS", "") + ":detect_leaks=0"
    return subprocess.Popen(["mpirun", "-n", str(ranks), *map(str, command)], env=environment, text=True,
                            stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True, **options)


def finish(process, seconds=120):
    try:
        out, err = process.communicate(timeout=seconds)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        out, err = process.communicate()
        return None, out, err
    return process.returncode, out, err


def run(ranks, command, seconds=120, **options):
    return finish(mpirun(ranks, command, **options), seconds)


def check(condition, what, *details):
    if condition:
        print("ok", what)
        return
    failures.append(what)
    print("FAILED", what)
    for detail in details:
        print(str(detail)[-3000:])


def test_random_programs(options):
    programs = 400 if options.long else 14
    for ranks in (1, 2, 3, 4, 8):
        first = options.seed + ranks * 100000
        status, out, err = run(ranks, [options.random_programs, "--programs", programs, "--seed", first], 1800)
        check(status == 0 and f"{programs} programs agree" in out, f"{programs} programs on {ranks} ranks, --seed {first}",
              out, err)


def test_corpus(options):
    lines = (CORPUS / "devices.tsv").read_text().splitlines()[1:]
    cases = [(line.split("\t")[0], module) for line in lines for module in ("partitioned.hlo", "cpu.hlo")]
    for i, (name, module) in enumerate(cases):
        folder = CORPUS / name
        for ranks in (2, 3, 4, 8) if options.long else ((2, 3, 4, 8)[i % 4],):
            engine = ("cpu", "evaluator")[(i // 4) % 2] if options.has_cpu else "evaluator"
            command = [options.kashi, "run", folder / module, "--devices-dir", folder, "--expect-devices", folder,
                       "--tolerance", "1e-3", "--engine", engine]
            if i % 2:
                command.append("--deterministic")
            status, out, err = run(ranks, command)
            check(status == 0 and "as expected" in out, f"{name}/{module} on {ranks} ranks, {engine}", out, err)


def test_output(options, folder):
    program = folder / "sum.hlo"
    program.write_text("HloModule m, replica_count=3\n" + ADD + "ENTRY e { p = f32[4] parameter(0)\n"
                       " ROOT r = f32[4] all-reduce(p), replica_groups={}, to_apply=add }\n")
    command = [options.kashi, "run", program, "--output-dir"]
    status, alone, err = run(1, command + [folder / "alone"])
    check(status == 0, "one rank", err)
    for ranks in (2, 3, 5):
        directory = folder / f"ranks{ranks}"
        status, out, err = run(ranks, command + [directory, "--deterministic"])
        check(status == 0 and out == alone, f"{ranks} ranks print what one prints", out, alone, err)
        for device in range(3):
            own = (directory / f"dev{device}" / "out0.npy").read_bytes()
            check(own == (folder / "alone" / f"dev{device}" / "out0.npy").read_bytes(), f"file of device {device}")
    # Two devices on some ranks, one on others, and so many bytes that Open MPI takes another algorithm.
    longer = folder / "longer.hlo"
    longer.write_text("HloModule m, replica_count=6\n" + ADD.replace("f32", "s32") + "ENTRY e { p = s32[40000] parameter(0)\n"
                      " ROOT r = s32[40000] all-reduce(p), replica_groups={}, to_apply=add }\n")
    status, alone, err = run(1, [options.kashi, "run", longer])
    check(status == 0, "a long sum on one rank", err)
    status, out, err = run(4, [options.kashi, "run", longer])
    check(status == 0 and out == alone, "a long sum of 6 devices on 4 ranks", out, err)
    status, out, err = run(2, command[:-1] + ["--json"])
    check(status == 0 and len(json.loads(out)["devices"]) == 3, "--json of 2 ranks", out, err)
    status, out, err = run(2, [options.kashi, "run", folder / "missing.hlo"])
    check(status not in (0, None) and err.count("missing.hlo") == 1, "one error about a missing file", out, err)


# A program that is not partitioned yet: each rank reads its part of the input, and writes its part of the output.
def test_global_program(options, folder):
    whole = folder / "iota.hlo"
    whole.write_text("HloModule m\nENTRY e { ROOT i = s32[8,6] iota(), iota_dimension=0 }\n")
    status, out, err = run(1, [options.kashi, "run", whole, "--output-dir", folder / "iota"])
    check(status == 0, "an input", err)
    rows = "sharding={devices=[4,1]<=[4]}"
    program = folder / "global.hlo"
    program.write_text(f"HloModule m, num_partitions=4\nENTRY e {{ x = s32[8,6] parameter(0), {rows}\n"
                       f" n = s32[8,6] negate(x), {rows}\n"
                       " ROOT r = s32[6,8] transpose(n), dimensions={1,0}, sharding={devices=[1,4]<=[4]} }\n")
    command = [options.kashi, "run", program, "--partition", "--input", folder / "iota" / "out0.npy", "--output-dir"]
    status, joined, err = run(1, command + [folder / "joined"])
    check(status == 0 and "s32[6,8]" in joined, "a global program on one rank", joined, err)
    status, alone, err = run(1, command + [folder / "split", "--split-outputs"])
    check(status == 0 and alone.count("s32[6,2]") == 4, "its outputs in parts", alone, err)
    for ranks in (2, 3, 5):
        status, out, err = run(ranks, command + [folder / f"joined{ranks}"])
        same = (folder / f"joined{ranks}" / "out0.npy").read_bytes() == (folder / "joined" / "out0.npy").read_bytes()
        check(status == 0 and out == joined and same, f"a global program on {ranks} ranks", out, err)
        directory = folder / f"split{ranks}"
        status, out, err = run(ranks, command + [directory, "--split-outputs", "--expect-devices", folder / "split"])
        check(status == 0 and out.count("as expected") == 4, f"{ranks} ranks compare their parts", out, err)
        parts = [(directory / f"dev{d}" / "out0.npy").read_bytes() for d in range(4)]
        check(parts == [(folder / "split" / f"dev{d}" / "out0.npy").read_bytes() for d in range(4)],
              f"{ranks} ranks write their parts")
    test_parts_of_inputs(options, folder)
    blocked = folder / "blocked"
    blocked.mkdir()
    (blocked / "dev3").write_text("no directory")
    status, out, err = run(2, command + [blocked, "--split-outputs"])
    check(status not in (0, None) and "rank 1: " in err and "dev3" in err, "a rank cannot write", out, err)


# A rank reads only its part of an input: what it reads is counted by the system, for a shell that starts it.
def test_parts_of_inputs(options, folder):
    rows, columns, ranks = 64, 1 << 20, 4
    big = folder / "big.npy"
    header = f"{{'descr': '|i1', 'fortran_order': False, 'shape': ({rows}, {columns}), }}".ljust(117) + "\n"
    with open(big, "wb") as file:
        file.write(b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header.encode())
        file.truncate(file.tell() + rows * columns)
    program = folder / "big.hlo"
    program.write_text(f"HloModule m, num_partitions={rows}\n"
                       f"ENTRY e {{ x = s8[{rows},{columns}] parameter(0), sharding={{devices=[{rows},1]<=[{rows}]}}\n"
                       f" ROOT s = s8[{rows},1] slice(x), slice={{[0:{rows}], [0:1]}},"
                       f" sharding={{devices=[{rows},1]<=[{rows}]}} }}\n")
    script = folder / "counted"
    script.write_text(f"#!/bin/bash\n{options.kashi} run {program} --partition --input {big} >/dev/null || exit 1\n"
                      f"while read name bytes; do [ $name = rchar: ] && echo $bytes; done < /proc/$$/io\nexit 0\n")
    script.chmod(0o755)
    status, out, err = run(ranks, [script])
    if not pathlib.Path("/proc/self/io").exists():
        print("this system does not count what a process reads")
        return
    counts = [int(line) for line in out.split()]
    part = rows * columns // ranks
    # Besides: the program and its libraries.
    check(status == 0 and len(counts) == ranks and all(part <= count < 2 * part for count in counts),
          f"each of {ranks} ranks reads its part of an input, {part} bytes", counts, out, err)


# `kind` send: device 1 begins an operation when it has what device 0 sends after it has begun it. end: device 0 ends it
# when it has what device 1 sends after it has ended it.
def two_halves(kind, replicas, size, scheduled):
    pairs, steps = {
        "send": ("{{0,1}}", " b = $A conditional(i, p, p), branch_computations={keep, take}\n"
                 " s = $A all-reduce-start(b), replica_groups={}, to_apply=add\n"
                 " a = $A conditional(i, p, p, p), branch_computations={give, keep, keep}\n"
                 " d = $A all-reduce-done(s)\n ROOT r = ($A, $A) tuple(d, a) }\n"),
        "end": ("{{1,0}}", " s = $A all-reduce-start(p), replica_groups={}, to_apply=add\n"
                " a = $A conditional(i, p, p), branch_computations={take, keep}\n d = $A all-reduce-done(s)\n"
                " z = $A conditional(i, d, d, d), branch_computations={keep, give, keep}\n"
                " ROOT r = ($A, $A, $A) tuple(d, a, z) }\n"),
    }[kind]
    text = (f"HloModule m, replica_count={replicas}{', is_scheduled=true' if scheduled else ''}\n" + ADD +
            "keep { x = $A parameter(0)\n ROOT r = $A copy(x) }\n"
            "give { x = $A parameter(0)\n t = token[] after-all()\n s = ($A, u32[], token[]) send(x, t), $C\n"
            " e = token[] send-done(s), channel_id=1\n ROOT v = $A negate(x) }\n"
            "take { x = $A parameter(0)\n t = token[] after-all()\n r = ($A, u32[], token[]) recv(t), $C\n"
            " d = ($A, token[]) recv-done(r), channel_id=1\n ROOT v = $A get-tuple-element(d), index=0 }\n"
            "ENTRY e { p = $A parameter(0)\n id = u32[] replica-id()\n i = s32[] convert(id)\n" + steps)
    return text.replace("$A", f"f32[{size}]").replace(
        "$C", f"channel_id=1, frontend_attributes={{_xla_send_recv_source_target_pairs={pairs}}}")


# Programs that would wait for ever if a device waited where it begins an operation, or moved it on only where it ends it.
def test_two_halves(options, folder):
    for i, (kind, size, ranks) in enumerate((kind, size, ranks) for kind in ("send", "end") for size in (4, 200000)
                                            for ranks in (1, 2, 3)):
        program = folder / f"halves{i}.hlo"
        program.write_text(two_halves(kind, ranks if i % 2 else 4, size, scheduled=i % 3 == 0))
        engine = ("cpu", "evaluator")[i % 2] if options.has_cpu else "evaluator"
        command = [options.kashi, "run", program, "--engine", engine, "--random", "normal", "--deterministic"]
        if ranks == 1 and i % 2:
            continue  # one device
        status, alone, err = run(1, command)
        check(status == 0, f"two halves, {kind}, {size}, alone", alone, err)
        status, out, err = run(ranks, command, 60)
        check(status == 0 and out == alone, f"two halves, {kind}, {size} elements, {ranks} ranks, {engine}", status, out,
              alone, err)
    between = folder / "between.hlo"
    between.write_text("HloModule m, replica_count=4\n" + ADD +
                       "body { p = f32[] parameter(0)\n o = f32[] constant(1)\n ROOT r = f32[] add(p, o) }\n"
                       "condition { p = f32[] parameter(0)\n z = f32[] constant(0)\n"
                       " ROOT c = pred[] compare(p, z), direction=GE }\n"
                       "ENTRY e { p = f32[] constant(0)\n i = u32[] replica-id()\n three = u32[] constant(3)\n"
                       " here = pred[] compare(i, three), direction=EQ\n minus = f32[] constant(-1)\n"
                       " first = f32[] select(here, p, minus)\n"
                       " s = f32[] all-reduce-start(p), replica_groups={}, to_apply=add\n"
                       " w = f32[] while(first), condition=condition, body=body\n"
                       " d = f32[] all-reduce-done(s)\n ROOT r = (f32[], f32[]) tuple(d, w) }\n")
    status, out, err = run(3, [options.kashi, "run", between, "--max-iterations", "100", "--engine", "evaluator"], 60)
    check(status not in (0, None) and "rank 2: device 3" in err and "iteration limit (100)" in err,
          "an error of one device between two halves", out, err)
    never = folder / "never.hlo"
    never.write_text("HloModule m, replica_count=3\n" + ADD +
                     "one { p = f32[4] parameter(0)\n ROOT n = f32[4] negate(p) }\n"
                     "two { p = f32[4] parameter(0)\n s = f32[4] all-reduce-start(p), replica_groups={}, to_apply=add\n"
                     " ROOT d = f32[4] all-reduce-done(s) }\n"
                     "ENTRY e { p = f32[4] parameter(0)\n i = u32[] replica-id()\n c = u32[] constant(1)\n"
                     " x = pred[] compare(i, c), direction=EQ\n"
                     " ROOT r = f32[4] conditional(x, p, p), true_computation=one, false_computation=two }\n")
    for ranks in (1, 2, 3):
        status, out, err = run(ranks, [options.kashi, "run", never], 60)
        check(status not in (0, None) and "waits at d, begun at s, of devices {0,1,2}" in err,
              f"devices that wait for ever name both halves, {ranks} ranks", status, out, err)
    return between


def test_early_errors(options):
    for ranks in (2, 3):
        status, out, err = run(ranks, [options.early_errors], 60)
        check(status == 0 and out.count(": ok") == 5 * ranks - 1 and "FAILED" not in out,
              f"a rank that cannot begin, of {ranks}", status, out, err)


def test_faults(options, folder):
    other = folder / "other.hlo"
    text = (folder / "sum.hlo").read_text()
    other.write_text(text.replace("add(a, b)", "subtract(a, b)"))
    script = folder / "different"
    script.write_text(f'#!/bin/sh\ncd {folder}/rank$OMPI_COMM_WORLD_RANK && exec {options.kashi} run m.hlo\n')
    script.chmod(0o755)
    for rank in range(3):
        (folder / f"rank{rank}").mkdir()
        shutil.copy(other if rank == 2 else folder / "sum.hlo", folder / f"rank{rank}" / "m.hlo")
    status, out, err = run(3, [script])
    check(status not in (0, None) and "rank 2 runs another program than rank 0" in err, "different programs", out, err)
    (folder / "rank1" / "m.hlo").write_text("no module")
    status, out, err = run(3, [script])
    check(status not in (0, None) and "rank 1: " in err and "m.hlo:1:" in err, "one rank cannot read", out, err)

    # Device 1 takes another way.
    apart = folder / "apart.hlo"
    apart.write_text("HloModule m, replica_count=3\n" + ADD +
                     "one { p = f32[4] parameter(0)\n"
                     " ROOT r = f32[4] all-reduce(p), replica_groups={}, to_apply=add }\n"
                     "two { p = f32[4] parameter(0)\n ROOT n = f32[4] negate(p) }\n"
                     "ENTRY e { p = f32[4] parameter(0)\n i = u32[] replica-id()\n c = u32[] constant(1)\n"
                     " x = pred[] compare(i, c), direction=EQ\n"
                     " ROOT r = f32[4] conditional(x, p, p), true_computation=two, false_computation=one }\n")
    for ranks in (1, 2, 3):
        status, out, err = run(ranks, [options.kashi, "run", apart], 60)
        check(status not in (0, None) and "wait for each other forever" in err and "device 1" in err,
              f"devices wait for ever, {ranks} ranks", status, out, err)
    loop = folder / "loop.hlo"
    loop.write_text("HloModule m, replica_count=2\n" + ADD +
                    "body { p = f32[] parameter(0)\n ROOT r = f32[] all-reduce(p), replica_groups={}, to_apply=add }\n"
                    "condition { p = f32[] parameter(0)\n z = f32[] constant(0)\n"
                    " ROOT c = pred[] compare(p, z), direction=GE }\n"
                    "ENTRY e { p = f32[] constant(0)\n ROOT w = f32[] while(p), condition=condition, body=body }\n")
    status, out, err = run(2, [options.kashi, "run", loop, "--max-iterations", "100"], 60)
    check(status not in (0, None) and "rank " in err and "iteration limit (100)" in err, "an error of one rank", out, err)
    status, out, err = run(2, [options.kashi, "run", loop, "--timeout", "1"], 60)
    check(status not in (0, None) and "time" in err, "a deadline", out, err)
    memory = folder / "memory.hlo"
    memory.write_text("HloModule m, replica_count=2\nENTRY e { p = f32[2000000] parameter(0)\n"
                      " ROOT g = f32[4000000] all-gather(p), replica_groups={}, dimensions={0} }\n")
    status, out, err = run(2, [options.kashi, "run", memory, "--memory-limit", "12M"], 60)
    check(status not in (0, None) and "--memory-limit sets the limit" in err, "not enough memory", out, err)
    return loop


# Waits until the process has ended, for so many seconds of this process: one that is stopped itself blames nobody.
def ends_within(process, seconds):
    for _ in range(int(seconds * 50)):
        if process.poll() is not None:
            return True
        time.sleep(0.02)
    return False


# Kills one of the ranks after some time. False if there is none any more.
def kill_one(process, seconds, rng):
    deadline = time.monotonic() + seconds
    victims = []
    while process.poll() is None and (time.monotonic() < deadline or not victims):
        found = subprocess.run(["pgrep", "-P", str(process.pid)], capture_output=True, text=True).stdout.split()
        victims = found or victims
        time.sleep(0.01)
    try:
        os.kill(int(rng.choice(victims)), signal.SIGKILL)
    except (IndexError, ProcessLookupError):
        return False
    return True


# Whether the ranks of a mpirun that does not end are all dead. Open MPI 4.1 may hang so if one dies within MPI_Init: it
# waits for a lock in PMIx_server_finalize (docs/mpi.md).
def ranks_are_dead(process):
    out = subprocess.run(["ps", "-o", "stat=", "--ppid", str(process.pid)], capture_output=True, text=True).stdout
    return bool(out.split()) and all(state.startswith("Z") for state in out.split())


# A rank that is killed ends all others soon, and leaves no wrong or half file. Every other program ends by itself, soon
# after it was killed or before, and writes long files; the others never end.
def test_kills(options, folder, loop, between):
    rng = random.Random(options.seed)
    write = folder / "write.hlo"
    write.write_text("HloModule m, replica_count=4\n" + ADD.replace("f32", "s32") + "ENTRY e { p = s32[3000000] parameter(0)\n"
                     " ROOT r = s32[3000000] all-reduce(p), replica_groups={}, to_apply=add }\n")
    begin = time.monotonic()
    status, out, err = run(4, [options.kashi, "run", write, "--output-dir", folder / "whole"])
    check(status == 0, "a program that writes", err)
    duration = time.monotonic() - begin
    whole = (folder / "whole" / "dev0" / "out0.npy").read_bytes()
    late = 0
    for i in range(options.times):
        ranks = rng.choice((2, 3, 4))
        writes = i % 2 == 1
        endless = loop if i % 4 == 0 else between  # the second: killed between two halves
        directory = folder / f"killed{i}"
        process = mpirun(ranks, [options.kashi, "run", write if writes else endless, "--output-dir", directory, "--engine",
                                 "evaluator"])
        was_killed = kill_one(process, rng.uniform(0, duration) if writes else rng.uniform(0.1, 1.5), rng)
        begin = time.monotonic()
        # A rank that dies within MPI_Init: Open MPI's mpirun may need 10 s to notice. Later, it takes about one.
        ended = ends_within(process, 30)
        hangs = not ended and ranks_are_dead(process)
        seconds = time.monotonic() - begin
        status, out, err = finish(process, 1)
        late += not was_killed
        files = [path for path in directory.rglob("out*.npy")] if directory.exists() else []
        good = all(path.read_bytes() == whole for path in files) if writes else not files
        over = "all ranks dead, Open MPI's mpirun hangs" if hangs else f"over after {seconds:.1f} s"
        check((ended or hangs) and good and (hangs or status not in (0, None) or not was_killed or len(files) == 4),
              f"kill {i} of one of {ranks} ranks{'' if was_killed else ', too late'}: {over}", status, out, err, files)
        shutil.rmtree(directory, ignore_errors=True)
    print(f"{options.times - late} of {options.times} programs had a rank killed")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kashi", required=True)
    parser.add_argument("--random-programs", required=True)
    parser.add_argument("--early-errors", required=True)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", help="run only tests whose name contains this")
    parser.add_argument("--long", action="store_true")
    parser.add_argument("--times", type=int, help="how many ranks to kill (default: 4; 200 with --long)")
    options = parser.parse_args()
    if options.times is None:
        options.times = 200 if options.long else 4
    if shutil.which("mpirun") is None:
        print("mpirun is missing (Debian: openmpi-bin): programs on several ranks are not tested")
        return SKIPPED
    version = subprocess.run([options.kashi, "version"], capture_output=True, text=True, check=True).stdout
    options.has_cpu = " cpu" in version

    def wanted(name):
        return not options.only or options.only in name
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        if wanted("random"):
            test_random_programs(options)
        if wanted("corpus"):
            test_corpus(options)
        if wanted("output") or wanted("faults") or wanted("kills"):
            test_output(options, folder)
            test_global_program(options, folder)
            loop = test_faults(options, folder)
            between = test_two_halves(options, folder)
            test_early_errors(options)
            test_kills(options, folder, loop, between)
    print(f"{len(failures)} failed" if failures else "all passed")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
