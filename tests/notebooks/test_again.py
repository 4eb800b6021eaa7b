"""A second run: the same text, and the puzzles of lesson 01 solved."""

import pytest

from tests.notebooks import running

pytestmark = pytest.mark.slow

SOLUTIONS = {
    "brighten_kernel": """@cuda.jit
def brighten_kernel(photo, out):
    col, row = cuda.grid(2)
    if row < out.shape[0] and col < out.shape[1]:
        out[row, col] = min(2 * photo[row, col], np.float32(255))
""",
    "square_kernel": """@cuda.jit
def square_kernel(x, out):
    for i in range(cuda.grid(1), out.size, cuda.gridsize(1)):
        out[i] = x[i] * x[i]
""",
}


def starter(cell):
    """The puzzle whose starter this cell holds, if any."""
    return next((name for name in SOLUTIONS if f"def {name}(" in cell.source), None)


@pytest.fixture(scope="module")
def solved(executed):
    """The notebook run again, each starter replaced by its solution."""
    notebook = running.read(next(p for p in running.NOTEBOOKS if titled(p) == title(executed)))
    for cell in running.code_cells(notebook):
        if starter(cell):
            cell.source = SOLUTIONS[starter(cell)]
    return running.execute(notebook)


def title(notebook):
    return notebook.cells[0].source.splitlines()[0]


def titled(path):
    return title(running.read(path))


def pairs(first, second):
    """Cells of both runs side by side, without those whose output is a measurement."""
    both = zip(running.code_cells(first), running.code_cells(second), strict=True)
    return [(a, b) for a, b in both if "timing" not in a.metadata.get("tags", [])]


def test_second_run_shows_the_same_text(executed, solved):
    changed = {
        a.id: (running.texts(a), running.texts(b))
        for a, b in pairs(executed, solved)
        if running.texts(a) != running.texts(b) and "not yet" not in running.texts(a)
    }
    assert changed == {}


def test_puzzles_say_right_once_they_are_solved(executed, solved):
    before = [a.id for a, _ in pairs(executed, solved) if "not yet" in running.texts(a)]
    after = [b.id for _, b in pairs(executed, solved) if running.texts(b) == "'right'"]
    puzzles = [cell.id for cell in running.code_cells(executed) if starter(cell)]
    assert before == after
    assert len(after) == len(puzzles)
