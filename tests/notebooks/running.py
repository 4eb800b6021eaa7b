"""Find the notebooks, read them, and execute them as a reader would."""

import os
import re
from pathlib import Path

import nbformat
from nbclient import NotebookClient

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "notebooks"
NOTEBOOKS = sorted(FOLDER.glob("*.ipynb"))

# Stops a cell that hangs. A cell is meant to take a few seconds at most.
SECONDS_PER_CELL = int(os.environ.get("GPUKIT_CELL_SECONDS", "120"))


def read(path):
    return nbformat.read(path, as_version=4)


def code_cells(notebook):
    return [cell for cell in notebook.cells if cell.cell_type == "code"]


def text_cells(notebook):
    return [cell for cell in notebook.cells if cell.cell_type == "markdown"]


def execute(notebook):
    """Run every cell in a new kernel, with warnings shown; return the notebook with outputs."""
    paths = os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH", "")]))
    client = NotebookClient(
        notebook,
        timeout=SECONDS_PER_CELL,
        kernel_name="python3",
        resources={"metadata": {"path": str(FOLDER)}},
    )
    client.execute(env={**os.environ, "PYTHONPATH": paths, "PYTHONWARNINGS": "default"})
    return notebook


def outputs(notebook):
    """Every output of the notebook, with the number of its code cell."""
    return [
        (number, output)
        for number, cell in enumerate(code_cells(notebook), start=1)
        for output in cell.outputs
    ]


def texts(cell):
    """What a cell printed or returned as text, without the names of temporary files."""
    found = [
        output.get("text") or output.get("data", {}).get("text/plain", "")
        for output in cell.outputs
    ]
    return re.sub(r"\S*ipykernel_\d+\S*\.py", "CELL.py", "".join(found))
