"""Find, read and execute the notebooks.

nbformat takes three seconds to import, which the tests of exercises need not wait for.
"""

import ast
import os
import re
import shutil
import tempfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "notebooks"
NOTEBOOKS = sorted(FOLDER.glob("*.ipynb"))
FURTHER = "Going further"
EACH = [pytest.param(p, marks=pytest.mark.xdist_group(p.stem), id=p.stem) for p in NOTEBOOKS]

# The limit stops a cell that hangs; cells should take a few seconds at most.
SECONDS_PER_CELL = int(os.environ.get("GPUKIT_CELL_SECONDS", "120"))


def read(path):
    import nbformat

    return nbformat.read(path, as_version=4)


def code_cells(notebook):
    return [cell for cell in notebook.cells if cell.cell_type == "code"]


def text_cells(notebook):
    return [cell for cell in notebook.cells if cell.cell_type == "markdown"]


def core(notebook):
    """Return the cells before the section of what is not essential."""
    further = [
        k for k, cell in enumerate(notebook.cells) if f"## {FURTHER}\n" in f"{cell.source}\n"
    ]
    return notebook.cells[: further[0]] if further else notebook.cells


def exercise_of(cell):
    """Return the name of the exercise that a cell grades; "" for other cells."""
    found = re.match(r"%%exercise (\w+)\n", cell.source)
    return found.group(1) if found else ""


def code_of(name, file):
    """Return the code of an exercise's `starter` or `solution` below its imports."""
    (path,) = (ROOT / "exercises").glob(f"*/{name}/{file}.py")
    text = path.read_text(encoding="utf-8")
    head = [
        node
        for node in ast.parse(text).body
        if isinstance(node, ast.Import | ast.ImportFrom)
        or (isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant))
    ]
    return "\n".join(text.splitlines()[head[-1].end_lineno :]).strip("\n")


def with_solutions(notebook):
    """Insert after each exercise cell a cell with its solution."""
    import nbformat

    cells = []
    for cell in notebook.cells:
        cells.append(cell)
        if cell.cell_type == "code" and (name := exercise_of(cell)):
            solved = f"%%exercise {name}\n{code_of(name, 'solution')}\n"
            cells.append(nbformat.v4.new_code_cell(solved, id=f"{name}-solved"))
    notebook.cells = cells
    return notebook


def execute(notebook):
    """Run every cell in a new kernel, with warnings shown; return the notebook with outputs.

    Exercises are graded in a copy of their folder, so the reader's progress is not modified.
    """
    with tempfile.TemporaryDirectory() as folder:
        shelf = shutil.copytree(ROOT / "exercises", Path(folder) / "exercises")
        return _execute(notebook, {"GPUKIT_EXERCISES": str(shelf)})


def _execute(notebook, more):
    from nbclient import NotebookClient

    paths = os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH", "")]))
    client = NotebookClient(
        notebook,
        timeout=SECONDS_PER_CELL,
        kernel_name="python3",
        resources={"metadata": {"path": str(FOLDER)}},
    )
    client.execute(env={**os.environ, **more, "PYTHONPATH": paths, "PYTHONWARNINGS": "default"})
    return notebook


def outputs(notebook):
    """Yield every output of the notebook with the number of its code cell."""
    return [
        (number, output)
        for number, cell in enumerate(code_cells(notebook), start=1)
        for output in cell.outputs
    ]


def texts(cell):
    """Return the text output of a cell, without names of temporary files and sizes."""
    found = [
        output.get("text") or output.get("data", {}).get("text/plain", "")
        for output in cell.outputs
    ]
    found = [
        re.sub(r"[^\n]*\r", "", text) for text in found
    ]  # progress lines, which are overwritten
    text = re.sub(r"\S*ipykernel_\d+\S*\.py", "CELL.py", "".join(found))
    text = re.sub(r"\S+/exercises(?=:)", "exercises", text)  # `execute` has a copy
    return re.sub(r"\d+\s+files?,\s+[\d.]+\s+(?:[kMG]B|bytes?)", "SIZE", text)
