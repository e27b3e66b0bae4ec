"""The stubs, which are made from the compiled module, are right enough for mypy to check programs that use the package."""
import importlib.util
import json
import pathlib
import re
import subprocess
import sys

import pytest

import kashi

PROGRAM = '''
import numpy as np
import kashi

shape = kashi.Shape("f32[2,3]{1,0:T(2,2)}")
sizes: tuple[int, ...] = shape.dimensions
layout = shape.layout
if layout is not None:
    order = layout.minor_to_major
buffer: np.ndarray = kashi.tile(np.zeros((2, 3), np.float32), shape)
array: np.ndarray = kashi.untile(buffer, shape, threads=1)
module = kashi.parse("")
names: list[str] = [i.name for c in module.computations for i in c.instructions]
total: float = module.cost()["flops"]
program: kashi.Program = kashi.compile(module)
result = program.run(array, (array, array))
observed = kashi.evaluate(module, array, observer=print, custom_calls={"twice": lambda call, x: 2 * x})
b = kashi.XlaBuilder("b")
x = b.Parameter(0, "f32[2]", "x")
y: kashi.XlaOp = b.Add(2 * x + 1, x)
built: kashi.Module = b.Build(y)
place = module.entry.root.source
line: int = place[1] if place is not None else 0
'''
# The number of the line, and a part of what mypy says.
WRONG = {
    "kashi.Shape(3)": "call-overload|arg-type",
    "kashi.compile(kashi.Shape('f32[2]'))": "arg-type",
    "kashi.Shape('f32[2]').no_such": "attr-defined",
    "x: int = kashi.tile([1.0], kashi.Shape('f32[1]'))": "assignment",
    "kashi.compile(kashi.parse(''), custom_calls={'twice': 2})": "dict-item",
}


EXAMPLES = pathlib.Path(__file__).parents[2] / "examples"


def mypy(text, tmp_path, *more_files):
    file = tmp_path / "program.py"
    file.write_text(text)
    package = pathlib.Path(kashi.__file__).parent
    command = [sys.executable, "-m", "mypy", "--cache-dir", str(tmp_path / "cache"), "--no-error-summary", str(file)]
    command += map(str, more_files)
    process = subprocess.run(command, capture_output=True, text=True, env={"MYPYPATH": str(package.parent), "PATH": ""},
                             check=False)
    return process.stdout + process.stderr


@pytest.fixture(scope="module", autouse=True)
def has_mypy():
    if importlib.util.find_spec("mypy") is None:
        pytest.skip("mypy is not installed")
    assert (pathlib.Path(kashi.__file__).parent / "_kashi.pyi").exists(), "build the target _kashi_stub"


def test_programs_and_the_examples_are_well_typed(tmp_path):
    files = list(EXAMPLES.glob("*.py"))
    for path in EXAMPLES.glob("*.ipynb"):
        cells = json.loads(path.read_text())["cells"]
        code = "\n".join("".join(cell["source"]) for cell in cells if cell["cell_type"] == "code")
        files.append(tmp_path / f"{path.stem}.py")
        files[-1].write_text(code + "\n")
    assert len(files) >= 3 and mypy(PROGRAM, tmp_path, *files) == ""


def test_mistakes_are_found(tmp_path):
    lines = ["import kashi", *WRONG]
    said = mypy("\n".join(lines) + "\n", tmp_path)
    for number, (line, codes) in enumerate(WRONG.items(), start=2):
        assert any(f"program.py:{number}: error" in each and any(f"[{code}]" in each for code in codes.split("|"))
                   for each in said.splitlines()), (line, said)


def text_of(thing):
    """The documentation, without the signatures in front of it."""
    lines = [line for line in (thing.__doc__ or "").splitlines() if line.strip()]
    while lines and re.fullmatch(r"\w*\(.*\)( -> .*)?", lines[0]):
        del lines[0]
    return " ".join(lines)


def test_everything_public_has_a_stub_and_a_text():
    stub = (pathlib.Path(kashi.__file__).parent / "_kashi.pyi").read_text()
    for name in kashi.__all__:
        thing = getattr(kashi, name)
        if callable(thing):
            assert text_of(thing), name
        if getattr(thing, "__module__", "").startswith("kashi._kashi") or name.isupper():
            assert f"def {name}" in stub or f"class {name}" in stub or f"{name}:" in stub, name


def has_example(thing):
    """Which `test_doctests` runs."""
    return ">>>" in (thing.__doc__ or "")


def test_everything_public_has_an_example():
    """Functions, classes and methods; properties have a text, and those that need it an example."""
    for name in kashi.__all__:
        thing = getattr(kashi, name)
        if callable(thing):
            assert has_example(thing), name
        for member_name, member in vars(thing).items() if isinstance(thing, type) else ():
            if member_name.startswith("_"):
                continue
            assert text_of(member), f"{name}.{member_name} has no text"
            assert has_example(member) or isinstance(member, property), f"{name}.{member_name} has no example"
