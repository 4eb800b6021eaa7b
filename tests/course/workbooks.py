"""A project with few lessons and exercises, and the files in its workbooks."""

import json

from gpukit.course import workbook

LESSON = workbook.FIRST_LESSON
SECOND = "notebooks/01_threads_blocks_grid.ipynb"
TASK = "exercises/01_threads_blocks_grid/brighten/task.md"


def write_lesson(path, *sources, **fields):
    """Write a notebook of code cells with these sources."""
    cell = {"cell_type": "code", "metadata": {}, "outputs": [], "execution_count": None}
    cells = [{**cell, "source": source, **fields} for source in sources]
    path.write_text(json.dumps({"cells": cells, "metadata": {}, "nbformat": 4}))


def files(folder):
    return {p.relative_to(folder).as_posix() for p in folder.rglob("*") if p.is_file()}
