"""The export for nbgrader, released and graded by nbgrader itself."""

import json

import pytest

from gpukit.classroom.export import base
from gpukit.course import catalogue
from tests.classroom import tools
from tests.classroom.kinds import EXERCISES, FEW, answer, earned, exported

pytestmark = [pytest.mark.slow, tools.installed]
READ = """
import json
from nbgrader.api import Gradebook

with Gradebook("sqlite:///gradebook.db") as book:
    marks = {
        f"{submission.student.id}/{notebook.name}": [notebook.score, notebook.max_score]
        for submission in book.assignment_submissions("ps1")
        for notebook in submission.notebooks
    }
print(json.dumps(marks))
"""


@pytest.fixture(scope="module")
def course(tmp_path_factory):
    """Release the assignment, hand in an answer of each kind, and grade all."""
    folder = exported("nbgrader", tmp_path_factory.mktemp("nbgrader") / "ps1")
    tools.run(["nbgrader", "generate_assignment", "ps1"], folder)
    for name, kind in FEW:
        exercise, file = catalogue.find(name), f"ps1/{name}.ipynb"
        answers = {exercise.entry: answer(exercise, kind)} if kind != "blank" else {}
        tools.with_answers(folder / "release" / file, folder / "submitted" / kind / file, answers)
    tools.run(["nbgrader", "autograde", "ps1"], folder)
    return folder


@pytest.fixture(scope="module")
def marks(course):
    """Return the score and the highest score by student and notebook."""
    return json.loads(tools.run(["python", "-c", READ], course))


@pytest.mark.parametrize(("name", "kind"), FEW)
def test_nbgrader_gives_the_points_of_gpukit_test(name, kind, marks):
    exercise = catalogue.find(name)
    assert marks[f"{kind}/{name}"] == [earned(exercise, kind), exercise.points]


@pytest.mark.parametrize("name", EXERCISES)
def test_the_released_notebook_has_no_solution(name, course):
    exercise = catalogue.find(name)
    cells = tools.notebook(course / "release" / "ps1" / f"{name}.ipynb")["cells"]
    answers = ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"]
    starter = base.beside_task(exercise.starter.read_text())
    added = [line.strip() for line in answers[0].splitlines() if line.strip() not in starter]
    assert added == ["# YOUR CODE HERE", "raise NotImplementedError()"]


def test_the_tests_write_nothing_to_standard_error(course):
    for name in EXERCISES:
        cells = tools.notebook(course / "autograded" / "right" / "ps1" / f"{name}.ipynb")["cells"]
        outputs = [output for cell in cells for output in cell.get("outputs", [])]
        assert outputs == [], name


def test_the_explanation_is_in_the_graded_notebook(course):
    cells = tools.notebook(course / "autograded" / "wrong" / "ps1" / "zip_add.ipynb")["cells"]
    errors = [o for cell in cells for o in cell.get("outputs", []) if o["output_type"] == "error"]
    said = "\n".join(errors[0]["traceback"])
    assert "cuda.blockIdx.x * cuda.blockDim.x" in said
    assert "Traceback" not in said
