"""The notebooks of examples/ run to their end, in a kernel of this Python."""
import json
import os
import pathlib
import sys

import pytest

import kashi

nbclient = pytest.importorskip("nbclient")
nbformat = pytest.importorskip("nbformat")
pytest.importorskip("ipykernel")
pytest.importorskip("jax")

EXAMPLES = pathlib.Path(__file__).parents[2] / "examples"


@pytest.fixture
def kernel(tmp_path, monkeypatch):
    """The name of a kernel that is this Python, whatever kernels are installed."""
    folder = tmp_path / "kernels" / "kashi-test"
    folder.mkdir(parents=True)
    command = [sys.executable, "-m", "ipykernel_launcher", "-f", "{connection_file}"]
    (folder / "kernel.json").write_text(json.dumps({"argv": command, "display_name": "test", "language": "python"}))
    monkeypatch.setenv("JUPYTER_PATH", f"{tmp_path}{os.pathsep}{os.environ.get('JUPYTER_PATH', '')}")
    package = pathlib.Path(kashi.__file__).parents[1]
    monkeypatch.setenv("PYTHONPATH", f"{package}{os.pathsep}{os.environ.get('PYTHONPATH', '')}")
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path / "ipython"))
    return "kashi-test"


@pytest.mark.parametrize("path", sorted(EXAMPLES.glob("*.ipynb")), ids=lambda path: path.stem)
def test_notebook(path, kernel, tmp_path):
    notebook = nbformat.read(path, as_version=4)
    kept = outputs_of(notebook)
    nbclient.NotebookClient(notebook, timeout=300, kernel_name=kernel, record_timing=False,
                            resources={"metadata": {"path": tmp_path}}).execute()
    outputs = outputs_of(notebook)
    if folder := os.environ.get("KASHI_KEEP_NOTEBOOKS"):
        notebook.metadata.kernelspec = {"display_name": "Python 3", "language": "python", "name": "python3"}
        notebook.metadata.language_info = {"name": "python"}
        nbformat.write(notebook, pathlib.Path(folder) / path.name)
    assert not any(output.output_type == "error" for output in outputs)
    assert any("text/html" in output.get("data", {}) for output in outputs)
    assert [kind_of(output) for output in kept] == [kind_of(output) for output in outputs], (
        "the outputs that are kept are old: KASHI_KEEP_NOTEBOOKS=examples writes new ones")


def outputs_of(notebook):
    return [output for cell in notebook.cells if cell.cell_type == "code" for output in cell.outputs]


def kind_of(output):
    return output.output_type, sorted(output.get("data", {}))


def test_notebooks_are_kept_with_outputs_and_fit_a_window():
    paths = sorted(EXAMPLES.glob("*.ipynb"))
    assert len(paths) == 2
    for path in paths:
        cells = json.loads(path.read_text())["cells"]
        codes = [cell for cell in cells if cell["cell_type"] == "code"]
        assert [cell["execution_count"] for cell in codes] == list(range(1, len(codes) + 1)), path.name
        assert any(cell["outputs"] for cell in codes), path.name
        text = path.read_text()
        assert str(pathlib.Path.home()) not in text and "ipykernel_" not in text, "a path of the machine that ran it"
        assert len(text) < 2 << 20, "too large for a repository"
        code = [line for cell in codes for line in "".join(cell["source"]).splitlines()]
        assert max(map(len, code)) <= 100, f"{path.name}: a window of 1000 pixels would cut the line"
