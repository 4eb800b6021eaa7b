"""Every exercise is complete: the proofs of any exercise hold, and the rules of the book.

A proof (`gpukit.classroom.proofs`) yields the problems that it finds.
"""

import ast
import difflib
import re
import shutil

import numpy as np
import pytest

from gpukit.classroom import proofs
from gpukit.classroom.proofs import grades
from gpukit.course import catalogue, contracts, grade
from tests import often

EXERCISES = catalogue.every()
KERNELS = [exercise for exercise in EXERCISES if not exercise.driver]

each = pytest.mark.parametrize("exercise", EXERCISES, ids=lambda exercise: exercise.name)
fourth = pytest.mark.parametrize(
    "exercise", often.each(EXERCISES, 4), ids=[exercise.name for exercise in EXERCISES]
)
each_kernel = pytest.mark.parametrize("exercise", KERNELS, ids=lambda exercise: exercise.name)


def test_there_are_exercises():
    assert len(EXERCISES) >= 72
    assert sum(exercise.detective for exercise in EXERCISES) >= 15


def test_exercise_names_are_unique():
    names = [exercise.name for exercise in EXERCISES]
    assert len(set(names)) == len(names)


@each
def test_the_files_of_an_exercise_fit_each_other(exercise):
    done = proofs.run(exercise, stages=proofs.BEFORE_RUNNING)
    assert [problem for proved in done for problem in proved.problems] == []


@pytest.mark.answers
@each
def test_the_starter_fails(exercise):
    assert list(grades.starter_is_not_attempted(exercise)) == []


@pytest.mark.answers
@fourth
def test_the_starter_fails_when_it_runs(exercise):
    if not exercise.detective:
        rows = grades.launched(exercise, exercise.starter, exercise.cases())
        statuses = {row.status for row in rows}
        assert ("error" if exercise.driver else "wrong") in statuses
        assert not statuses & ({"right"} if exercise.driver else {"error"})


@pytest.mark.answers
@each
def test_the_solution_is_right(exercise):
    assert list(grades.solution_is_right(exercise)) == []


@pytest.mark.answers
@fourth
def test_the_solution_is_right_with_other_inputs(exercise):
    assert list(grades.solution_is_right_with_other_inputs(exercise)) == []


@pytest.mark.answers
@fourth
def test_the_solution_is_right_in_every_small_shape(exercise):
    assert list(grades.solution_is_right_in_small_shapes(exercise)) == []


@each_kernel
def test_every_exercise_has_contracts(exercise):
    assert exercise.contracts


@each_kernel
def test_a_contract_requires_all_threads_to_take_part(exercise):
    sharing = ("read_requests", "write_requests", "update_requests", "lanes_per_request")
    assert any(contract.measure in sharing for contract in exercise.contracts)


@each_kernel
def test_the_task_says_that_float64_is_counted(exercise):
    task = " ".join(exercise.folder.joinpath("task.md").read_text().split())
    held = contracts.of(exercise.contracts, exercise.cases()[0])
    if any(contract.measure == "float64" for contract in held):
        assert re.search(r"\*\*Budget\*\*.* no (operation in )?float64", task, re.IGNORECASE)


@each_kernel
def test_the_task_says_that_barriers_are_counted(exercise):
    task = " ".join(exercise.folder.joinpath("task.md").read_text().split())
    if any(contract.measure == "barriers" for contract in exercise.contracts):
        assert re.search(r"\*\*Budget\*\*.*barrier", task)


@each_kernel
def test_a_task_that_requires_a_single_read_has_that_contract(exercise):
    task = " ".join(exercise.folder.joinpath("task.md").read_text().split())
    reads_one = re.search(r"\*\*Budget\*\*.*thread reads (one|three|four) (pixel|element)s?", task)
    allowed = [c.at_most for c in exercise.contracts if (c.measure, c.per) == ("reads", "element")]
    assert not reads_one or max(allowed, default=1) == 1


@each
def test_the_task_names_both_places_for_an_answer_once(exercise):
    task = exercise.folder.joinpath("task.md").read_text()
    places = (f"`%%exercise {exercise.name}`", "`answer.py`", f"`gpukit test {exercise.name}`")
    assert [task.count(place) for place in places] == [1, 1, 1]


@each
def test_a_task_does_not_require_an_unchecked_number_of_lines(exercise):
    task = " ".join(exercise.folder.joinpath("task.md").read_text().split())
    assert not re.search(r"[Cc]hange (one|two|three) lines?\b(?! and to)|no more\.", task)


@each
def test_solving_only_adds_lines(exercise):
    if exercise.detective:
        return
    solution = iter(exercise.solution.read_text().splitlines())
    starter = exercise.starter.read_text().splitlines()
    assert all(line in solution for line in starter if "FILL ME IN" not in line)


@each
def test_a_detective_changes_three_lines_at_most(exercise):
    if exercise.detective:
        pair = [file.read_text().splitlines() for file in (exercise.starter, exercise.solution)]
        matcher = difflib.SequenceMatcher(None, *pair, autojunk=False)
        changes = [op for op in matcher.get_opcodes() if op[0] != "equal"]
        assert sum(max(op[2] - op[1], op[4] - op[3]) for op in changes) <= 3


@each
def test_the_starter_says_about_how_many_lines_are_missing(exercise):
    if exercise.detective:
        return
    (marked,) = [line for line in exercise.starter.read_text().splitlines() if "FILL ME IN" in line]
    stated = int(marked.split("about ")[1].split()[0])
    added = len(body(exercise.solution, exercise.entry)) - len(
        body(exercise.starter, exercise.entry)
    )
    assert abs(stated - added) <= 2


def body(file, entry):
    """Return the lines of code of the kernel or class, without blank lines and comments."""
    text = file.read_text()
    (kernel,) = [node for node in ast.parse(text).body if getattr(node, "name", "") == entry]
    lines = text.splitlines()[kernel.lineno : kernel.end_lineno]
    return [line for line in lines if line.strip() and not line.strip().startswith("#")]


@each
def test_there_are_three_hints_that_do_not_repeat(exercise):
    assert len(set(exercise.hints)) == 3
    assert all(20 <= len(hint.split()) <= 70 for hint in exercise.hints)


@each
def test_the_folder_contains_only_its_files_and_an_answer(exercise):
    names = {path.name for path in exercise.folder.iterdir() if path.is_file()}
    own = {*catalogue.FILES, catalogue.DRIVER}
    assert not {name for name in names - own if not name.startswith("answer")}


@each
def test_the_task_names_the_budget_and_the_launch(exercise):
    task = exercise.folder.joinpath("task.md").read_text()
    assert "**Budget**" in task
    assert "**Launch**" in task


@each_kernel
def test_the_cases_have_awkward_sizes(exercise):
    sizes = {
        extent
        for case in exercise.cases()
        for value in case.args.values()
        if isinstance(value, np.ndarray)
        for extent in value.shape
    }
    (block,) = {np.max(case.block) for case in exercise.cases()}
    if "multiples of" not in exercise.folder.joinpath("task.md").read_text():
        assert {1, block - 1, block, block + 1} <= sizes


@pytest.mark.answers
def test_a_copy_of_an_exercise_works_in_any_folder(tmp_path, monkeypatch):
    shutil.copytree(EXERCISES[0].folder, tmp_path / "01_here" / "copy")
    monkeypatch.setenv("GPUKIT_EXERCISES", str(tmp_path))
    assert grade.run(catalogue.find("copy"), catalogue.find("copy").solution).passed
