"""The git hook that removes outputs and other traces of a run from committed lessons."""

import re
import shlex
import subprocess
import sys

import nbformat
import pytest
from nbformat.v4 import new_output

from tests.notebooks import running

HOOKS = (running.ROOT / ".pre-commit-config.yaml").read_text(encoding="utf-8")


def run_in_lab(notebook):
    """Add to a notebook what Lab and a kernel add."""
    notebook.metadata.kernelspec.display_name = "Python 3 (ipykernel)"
    notebook.metadata.language_info |= {
        "codemirror_mode": {"name": "ipython", "version": 3},
        "file_extension": ".py",
        "mimetype": "text/x-python",
        "nbconvert_exporter": "python",
        "pygments_lexer": "ipython3",
        "version": "3.11.2",
    }
    for number, cell in enumerate(running.code_cells(notebook), start=1):
        cell.execution_count = number
        cell.outputs = [new_output("stream", text="1,024 threads\n")]
        cell.metadata["scrolled"] = True
        cell.metadata["execution"] = {"iopub.execute_input": "2026-11-20T10:00:00Z"}
    return notebook


def test_the_hook_restores_a_lesson_that_was_only_run(tmp_path):
    pytest.importorskip("nbstripout", reason="nbstripout is in the extra `dev`")
    (entry,) = re.findall(r"entry: python (-m nbstripout .*)", HOOKS)
    (keys,) = re.findall(r'args: \["(metadata.*)"\]', HOOKS)
    copies = [tmp_path / path.name for path in running.NOTEBOOKS]
    for path, copy in zip(running.NOTEBOOKS, copies, strict=True):
        copy.write_text(nbformat.writes(run_in_lab(running.read(path))) + "\n", encoding="utf-8")
    subprocess.run([sys.executable, *shlex.split(entry), keys, *map(str, copies)], check=True)
    assert [copy.name for copy in copies if copy.read_text() != original(copy)] == []


def original(copy):
    return (running.FOLDER / copy.name).read_text()
