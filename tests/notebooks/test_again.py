"""A second run: the same text, and the exercises of the lesson solved."""

import pytest

from tests.notebooks import running

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def solved(executed):
    """The notebook run again, with the solution in each cell that is an exercise."""
    notebook = running.read(next(p for p in running.NOTEBOOKS if titled(p) == title(executed)))
    for cell in running.code_cells(notebook):
        name = running.exercise_of(cell)
        if name:
            cell.source = f"%%exercise {name}\n{running.code_of(name, 'solution')}\n"
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
        if running.texts(a) != running.texts(b) and not running.exercise_of(a)
    }
    assert changed == {}


def test_exercises_are_graded_as_not_attempted_and_then_as_right(executed, solved):
    graded = [(a, b) for a, b in pairs(executed, solved) if running.exercise_of(a)]
    assert [a.id for a, _ in graded if "Not attempted yet" not in running.texts(a)] == []
    assert [b.id for _, b in graded if "Right: " not in running.texts(b)] == []
