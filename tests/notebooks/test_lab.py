"""What `make lab` starts: the project served as a whole, lessons saved without outputs."""

import importlib.util

import nbformat
import pytest
from nbformat.v4 import new_output

from tests.notebooks import running

FILE = running.FOLDER / "lab_config.py"


@pytest.fixture(scope="module")
def config():
    spec = importlib.util.spec_from_file_location("lab_config", FILE)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def run_in_lab(notebook):
    """Leave in a notebook what Lab and a kernel put there."""
    notebook.metadata.kernelspec.display_name = "Python 3 (ipykernel)"
    notebook.metadata.language_info = {"name": "python", "version": "3.11.2", "pygments_lexer": "x"}
    for number, cell in enumerate(running.code_cells(notebook), start=1):
        cell.execution_count = number
        cell.outputs = [new_output("stream", text="1,024 threads\n")]
        cell.metadata["scrolled"] = True
    return notebook


@pytest.mark.parametrize("path", running.NOTEBOOKS, ids=lambda path: path.stem)
def test_a_lesson_that_was_only_run_is_saved_as_it_was(config, path):
    notebook = run_in_lab(running.read(path))
    model = {"type": "notebook", "content": notebook}
    config.without_outputs(model=model, path=f"notebooks/{path.name}", contents_manager=None)
    saved = nbformat.from_dict(model["content"])
    assert nbformat.writes(saved) + "\n" == path.read_text(encoding="utf-8")


@pytest.mark.parametrize("path", ["notebooks/mine.ipynb", "01_mine.ipynb"])
def test_notebooks_of_the_readers_own_keep_their_outputs(config, path):
    notebook = run_in_lab(running.read(running.NOTEBOOKS[0]))
    config.without_outputs(model={"type": "notebook", "content": notebook}, path=path)
    assert all(cell.outputs for cell in running.code_cells(notebook))


def test_other_files_are_saved_as_they_are(config):
    model = {"type": "file", "content": "x = 1\n"}
    config.without_outputs(model=model, path="notebooks/01_x.ipynb")
    assert model["content"] == "x = 1\n"
