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
    nbclient.NotebookClient(notebook, timeout=300, kernel_name=kernel, resources={"metadata": {"path": tmp_path}}).execute()
    outputs = [output for cell in notebook.cells if cell.cell_type == "code" for output in cell.outputs]
    assert not any(output.output_type == "error" for output in outputs)
    assert any("text/html" in output.get("data", {}) for output in outputs)
    if folder := os.environ.get("KASHI_KEEP_NOTEBOOKS"):
        nbformat.write(notebook, pathlib.Path(folder) / path.name)


def test_notebooks_are_kept_without_outputs_and_fit_a_window():
    paths = sorted(EXAMPLES.glob("*.ipynb"))
    assert len(paths) == 2
    for path in paths:
        cells = json.loads(path.read_text())["cells"]
        assert all(not cell.get("outputs") and cell.get("execution_count") is None for cell in cells), path.name
        code = [line for cell in cells if cell["cell_type"] == "code" for line in "".join(cell["source"]).splitlines()]
        assert max(map(len, code)) <= 100, f"{path.name}: a window of 1000 pixels would cut the line"
