"""The export for otter-grader, assigned and graded by otter itself."""

import json

import pytest

from gpukit.classroom.export import base
from gpukit.course import catalogue
from tests.classroom import tools
from tests.classroom.kinds import EACH, EXERCISES, KINDS, answer, earned, exported

pytestmark = [pytest.mark.slow, tools.installed]


@pytest.fixture(scope="module")
def assigned(tmp_path_factory):
    """Run `otter assign`, which also grades the solutions."""
    folder = exported("otter", tmp_path_factory.mktemp("otter") / "ps1")
    tools.run(["otter", "assign", "ps1.ipynb", "dist"], folder)
    return folder


@pytest.fixture(scope="module")
def marks(assigned):
    """Hand in an answer of each kind to all questions; return the scores by kind and question."""
    (archive,) = (assigned / "dist" / "autograder").glob("*.zip")
    released, found = assigned / "dist" / "student" / "ps1.ipynb", {}
    for kind in KINDS:
        answers = _answers(kind) if kind != "blank" else {}
        folder = assigned / "submitted" / kind
        tools.with_answers(released, folder / "ps1.ipynb", answers)
        tools.run(["otter", "run", "-a", archive, "-o", folder, folder / "ps1.ipynb"], assigned)
        tests = json.loads((folder / "results.json").read_text())["tests"]
        found |= {(kind, t["name"]): (t.get("score"), t.get("max_score")) for t in tests}
    return found


def _answers(kind):
    exercises = [catalogue.find(name) for name in EXERCISES]
    return {exercise.entry: answer(exercise, kind) for exercise in exercises}


@pytest.mark.parametrize(("name", "kind"), EACH)
def test_otter_gives_the_points_of_gpukit_test(name, kind, marks):
    exercise = catalogue.find(name)
    assert marks[kind, name] == (earned(exercise, kind), exercise.points)


@pytest.mark.parametrize("name", EXERCISES)
def test_the_students_notebook_has_the_starter_and_no_solution(name, assigned):
    exercise = catalogue.find(name)
    cells = tools.notebook(assigned / "dist" / "student" / "ps1.ipynb")["cells"]
    texts = ["".join(cell["source"]) for cell in cells]
    (mine,) = [text for text in texts if f"def {exercise.entry}(" in text]
    left = [line for line in mine.splitlines() if line.strip() != "..."]
    assert "\n".join(left).strip() == base.beside_task(exercise.starter.read_text()).strip()
