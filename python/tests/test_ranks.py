"""kashi.Ranks: the devices of a program on the ranks of mpirun, by mpi4py's communicator."""
import os
import shutil
import subprocess
import sys

import kashi
import numpy as np
import pytest

PROGRAM = """HloModule m, replica_count=3
add {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT s = f32[] add(a, b)
}
ENTRY e {
  x = f32[2] parameter(0)
  ROOT sum = f32[2] all-reduce(x), replica_groups={}, to_apply=add
}"""

ON_RANKS = f"""
import kashi, numpy as np
from mpi4py import MPI
ranks = kashi.Ranks(MPI.COMM_WORLD, deterministic=True)
assert (ranks.rank, ranks.size) == (MPI.COMM_WORLD.rank, 2)
here = ranks.devices_here(3)
assert here == (range(0, 2) if ranks.rank == 0 else range(2, 3)), here
arguments = [[np.float32([device, 1])] if device in here else None for device in range(3)]
program = kashi.compile(kashi.parse('''{PROGRAM}'''))
for _ in range(2):
    results = program.run_on_devices(arguments, ranks)
    for device, result in enumerate(results):
        assert (result.tolist() == [3, 3]) if device in here else (result is None), results
other = kashi.compile(kashi.parse('''{PROGRAM}'''.replace("HloModule m", f"HloModule m{{ranks.rank}}")))
try:
    other.run_on_devices(arguments, ranks)
except RuntimeError as error:
    assert "another program" in str(error), error
    print("refused")
# One rank has bad arguments, then it ends early, because of a module that it cannot read. The other does not wait.
try:
    program.run_on_devices([["text"]] * 3 if ranks.rank == 1 else arguments, ranks)
except (TypeError, ValueError) as error:
    assert ranks.rank == 1 or "rank 1: " in str(error), error
    print("not begun")
assert program.run_on_devices(arguments, ranks)[here[0]].tolist() == [3, 3]
if ranks.rank == 1:
    try:
        kashi.parse("ENTRY {{")
    except kashi.ParseError:
        raise SystemExit
try:
    program.run_on_devices(arguments, ranks)
except RuntimeError as error:
    assert "rank 1 has left" in str(error), error
    print("left alone")
"""


def test_without_ranks():
    program = kashi.compile(kashi.parse(PROGRAM))
    arguments = [[np.float32([device, 1])] for device in range(3)]
    assert [result.tolist() for result in program.run_on_devices(arguments, None)] == [[3, 3]] * 3
    with pytest.raises(TypeError):
        program.run_on_devices(arguments, 7)
    with pytest.raises(TypeError if kashi.HAS_MPI else NotImplementedError):
        kashi.Ranks("no communicator")


@pytest.mark.skipif(not kashi.HAS_MPI, reason="this kashi was built without MPI")
def test_on_ranks(tmp_path):
    pytest.importorskip("mpi4py")
    if shutil.which("mpirun") is None:
        pytest.skip("mpirun is missing")
    script = tmp_path / "on_ranks.py"
    script.write_text(ON_RANKS)
    environment = dict(os.environ, OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1",
                       PYTHONPATH=os.pathsep.join(sys.path))
    run = subprocess.run(["mpirun", "-n", "2", "--oversubscribe", sys.executable, str(script)], env=environment,
                         capture_output=True, text=True, timeout=120)
    assert run.returncode == 0, run.stderr
    assert run.stdout.count("refused") == 2 and run.stdout.count("not begun") == 2, run.stdout
    assert run.stdout.count("left alone") == 1, run.stdout
