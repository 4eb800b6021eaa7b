"""A students' copy is graded like its exercise, and has nothing in it that gives the answer."""

import ast
import json
import re
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpukit import cli, errors, files
from gpukit.classroom import release, work
from gpukit.classroom.intake import Submission
from gpukit.classroom.work import Task
from gpukit.course import catalogue, grade
from tests.classroom import courses

TEST = "from gpukit import cli; raise SystemExit(cli.main(['test', 'scale']))"
KERNEL = """
from gpukit import cuda


@cuda.jit
def scale_kernel(a, x, b, y):
    i = cuda.grid(1)
    if GUARD:
        y[i] = VALUE
"""


@pytest.fixture
def made(tmp_path, monkeypatch):
    """Make a course with an exercise that has a hidden case."""
    return courses.begin(tmp_path, monkeypatch)


def released(tmp_path, *exercises, **options):
    """Release exercises, and return those of the students' copy."""
    release.release(tmp_path / "out", list(exercises), **options)
    return catalogue.of(tmp_path / "out" / "exercises")


@pytest.fixture
def copy(made, tmp_path, monkeypatch):
    """Release that exercise, go to the students' copy, and return the exercise there."""
    (copy,) = released(tmp_path, made)
    monkeypatch.chdir(tmp_path / "out")
    return copy


def answer(guard="i < y.size", value="a[i] * x[i] + b[i]"):
    return KERNEL.replace("GUARD", guard).replace("VALUE", value)


def test_a_copy_has_the_files_that_students_need(copy, tmp_path):
    found = {f.relative_to(tmp_path / "out").as_posix() for f in (tmp_path / "out").rglob("*.*")}
    place = "exercises/01_maps/scale"
    names = ("exercise.toml", "task.md", "starter.py", "cases.py")
    assert found == {"README.md", *(f"{place}/{name}" for name in names)}


def test_a_copy_has_no_bytecode(made, tmp_path, monkeypatch):
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    released(tmp_path, made)
    assert list((tmp_path / "out").rglob("*.pyc")) == []


def test_a_copy_of_host_code_has_its_driver(made, tmp_path):
    (copy,) = released(tmp_path, catalogue.find("loss_scaling", catalogue.of(catalogue.book())))
    assert copy.driver is not None


# ---- what is graded there -----------------------------------------------------------------------


@pytest.mark.answers
def test_a_right_answer_is_graded_right_in_a_fresh_process(copy, fresh_python):
    copy.answer.write_text(answer())
    folder = str(copy.shelf.parent)
    done = fresh_python("-c", f"import os; os.chdir({folder!r}); {TEST}")
    assert done.returncode == 0, done.stderr
    assert "Right: 10 of 10 points." in done.stdout


@pytest.mark.answers
@pytest.mark.parametrize(
    ("text", "status", "words"),
    [
        (answer(value="a[i] * x[i] - b[i]"), "wrong", "expected"),
        (answer(guard="True"), "error", "accesses a[1] in line 9, but a has only 1 element"),
        (answer(guard="i < y.size - 1"), "wrong", "never written"),
        (answer(value="b[i] + a[0] + x[0] + y[i]"), "wrong", "added to the old contents of y"),
    ],
    ids=["another sum", "no guard", "another guard", "old contents"],
)
def test_a_wrong_answer_is_explained_without_a_solution(copy, text, status, words):
    copy.answer.write_text(text)
    report = grade.run(copy, copy.answer)
    assert report.status == status
    assert words in report.why


@pytest.mark.answers
def test_an_answer_that_is_wrong_in_the_hidden_case_only_is_right_in_the_copy(made, copy):
    copy.answer.write_text(answer(guard="i < y.size and i < 4090"))
    assert grade.run(copy, copy.answer).passed
    report = grade.run(made.with_hidden_cases, copy.answer)
    wrong = {row.name for row in report.rows if row.status == "wrong"}
    assert wrong == {"a longer prime", "random sizes"}  # which are larger than all cases


@pytest.mark.answers
def test_an_answer_that_is_wrong_in_the_hidden_case_is_wrong_in_a_class(made, isolation):
    source = answer(guard="i < y.size and i < 4090").encode()
    handed_in = Submission("ann", made.name, "ann/scale.py", source)
    report = work.grade_one(Task(handed_in, 1, isolation))
    assert "a longer prime" in {row["name"] for row in report["rows"] if row["status"] == "wrong"}


@pytest.mark.answers
def test_the_starter_of_a_copy_is_not_attempted(copy):
    assert grade.run(copy, copy.starter).status == "untouched"


@pytest.mark.answers
def test_the_solution_of_a_released_detective_with_host_code_is_right(made, tmp_path):
    exercise = catalogue.find("detective_drifting_ranks", catalogue.of(catalogue.book()))
    (copy,) = released(tmp_path, exercise)
    assert grade.run(copy, exercise.solution).passed
    assert not grade.run(copy, copy.starter).passed


def test_list_and_hint_work_in_a_copy(copy, capsys):
    assert cli.main(["list"]) == 0
    assert cli.main(["hint", "scale"]) == 0
    assert "Hint 1 of 3" in capsys.readouterr().out


# ---- what is not in it --------------------------------------------------------------------------


def flat(text):
    return re.sub(r"[\s()]", "", text)


def statements(exercise):
    """Return the statements of a solution that compute something, without spaces and brackets.

    Those of the starter and the task are left out: students are given them.
    """
    tree = ast.parse(exercise.solution.read_text(encoding="utf-8"))
    kinds = (ast.Assign, ast.AugAssign, ast.Return)
    found = {flat(ast.unparse(node)) for node in ast.walk(tree) if isinstance(node, kinds)}
    given = flat(exercise.starter.read_text() + exercise.task.read_text())
    sizes = re.compile(r"\w+\.shape\[\d\]")
    return {s for s in found if re.search(r"[-+*/\[]", sizes.sub("", s)) and s not in given}


@pytest.mark.slow
def test_no_file_of_any_released_exercise_shows_a_statement_of_its_solution(made, tmp_path):
    found, searched = [], 0
    exercises = catalogue.of(catalogue.book())
    copies = {copy.name: copy for copy in released(tmp_path, *exercises)}
    for exercise in exercises:
        secret = statements(exercise)
        for file in copies[exercise.name].folder.iterdir():
            text = flat(file.read_text(encoding="utf-8"))
            found += [f"{exercise.name}/{file.name}: {line}" for line in secret if line in text]
            searched += len(secret)
    assert searched > 900
    assert found == []


def test_no_file_of_a_copy_names_a_hidden_case_or_its_size(copy, tmp_path):
    for file in (tmp_path / "out").rglob("*.*"):
        if file.is_file():
            text = file.read_text(encoding="utf-8")
            assert "a longer prime" not in text
            assert "4099" not in text
            assert "hidden" not in text


def test_the_other_cases_of_a_copy_are_those_of_its_exercise(made, copy):
    assert list(copy.shapes.items()) == list(made.shapes.items())


def test_a_file_without_hidden_cases_is_copied_as_it_is(made, tmp_path):
    exercise = courses.edit(made, "exercise.toml", 'hidden = ["a longer prime"]', "")
    (copy,) = released(tmp_path, exercise)
    text = (exercise.folder / "cases.py").read_text()
    assert (copy.folder / "cases.py").read_text() == text


HINT = "store, in which the element of b is added to the product of the other two."


@pytest.fixture
def telling(made):
    """Return the exercise with a first hint that shows a statement of the solution."""
    first = "which four memory locations does it touch?"
    return courses.edit(made, "exercise.toml", first, f"{first} Is it y[i] = a[i]*x[i] + b[i]?")


def test_a_hint_that_shows_a_statement_of_the_solution_is_left_out(telling, tmp_path):
    (copy,) = released(tmp_path, telling)
    assert copy.hints == telling.hints[1:]


def test_failures_refer_to_the_hints_that_are_left(telling, tmp_path):
    (copy,) = released(tmp_path, telling)
    assert telling.hint_for["out-of-bounds"] == 2
    assert copy.hint_for == {"out-of-bounds": 1, "sectors_per_request": 1}


def test_a_hint_is_kept_on_request(telling, tmp_path):
    (copy,) = released(tmp_path, telling, keep_hints=True)
    assert copy.hints == telling.hints
    (one,) = json.loads((tmp_path / "out-release.json").read_text())["exercises"]
    assert one["shown"] == ["exercise.toml, line 5: y[i] = a[i] * x[i] + b[i]"]


def test_an_exercise_without_hints_says_so(copy, capsys):
    text = (copy.folder / "exercise.toml").read_text()
    lines = [line for line in text.splitlines() if not line.startswith("hints")]
    (copy.folder / "exercise.toml").write_text("\n".join(["hints = []", *lines]))
    assert cli.main(["hint", "scale"]) == 2
    assert "scale has no hints" in capsys.readouterr().err


# ---- what the teacher is told -------------------------------------------------------------------


@pytest.fixture
def record(copy, tmp_path):
    """Return the teacher's record of the release."""
    return json.loads((tmp_path / "out-release.json").read_text())


def test_the_record_is_beside_the_copy(record, copy, tmp_path):
    assert record["schema"] == "gpukit-release"
    assert record["left_out"] == ["solution.py", "mistakes.toml"]
    assert not list((tmp_path / "out").rglob("*release*"))


def test_the_record_names_what_was_left_out(record):
    (one,) = record["exercises"]
    assert (one["name"], one["topic"], one["points"]) == ("scale", "01_maps", 10)
    assert (one["hidden"], one["hints"], one["shown"]) == (["a longer prime"], [], [])


def test_the_record_names_kernels_of_the_book_that_are_nearly_the_answer(record):
    (one,) = record["exercises"]
    assert "gpukit.kernels.vector.saxpy_kernel" in [found["name"] for found in one["alike"]]


def test_a_statement_of_the_solution_in_the_cases_is_named(made, tmp_path):
    comment = "# y[i] = a[i] * x[i] + b[i]\nBLOCK = 64"
    (one,) = release.release(
        tmp_path / "out", [courses.edit(made, "cases.py", "BLOCK = 64", comment)]
    )
    assert one.shown == ["cases.py, line 7: y[i] = a[i] * x[i] + b[i]"]


# ---- what is refused ----------------------------------------------------------------------------


def refused(tmp_path, exercise, words):
    """Check that a release is refused with these words, and that nothing is left of it."""
    before = sorted(tmp_path.rglob("*"))
    with pytest.raises(catalogue.ExerciseError, match=words):
        release.release(tmp_path / "out", [exercise])
    after = [path for path in tmp_path.rglob("*") if "__pycache__" not in path.parts]
    assert sorted(after) == [path for path in before if "__pycache__" not in path.parts]


def test_a_folder_with_files_is_refused(made, tmp_path):
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "mine").write_text("")
    refused(tmp_path, made, r"expected a new or empty folder, got .*out, which is not empty\.")


def test_a_file_is_refused(made, tmp_path):
    (tmp_path / "out").write_text("")
    refused(tmp_path, made, r"expected a new or empty folder, got .*out, a file\.")


def test_an_empty_folder_is_filled(made, tmp_path, monkeypatch):
    (tmp_path / "out").mkdir()
    monkeypatch.chdir(tmp_path / "out")
    (copy,) = released(tmp_path, made)
    assert copy.released
    assert catalogue.find("scale").folder == copy.folder


def test_a_copy_is_not_released_again(copy, tmp_path):
    (tmp_path / "again").mkdir()
    refused(tmp_path / "again", copy, "got scale: This is a students' copy")


def test_an_exercise_that_is_not_complete_is_refused(made, tmp_path):
    exercise = courses.edit(made, "solution.py", "if i < y.size:", "if i < y.size")
    refused(tmp_path, exercise, r"got scale: solution\.py is not valid .*: gpukit verify scale")


def test_a_hidden_case_that_is_named_elsewhere_is_refused(made, tmp_path):
    exercise = courses.edit(made, "cases.py", "BLOCK = 64", "BLOCK = 64  # not in a longer prime")
    refused(tmp_path, exercise, r"cases\.py names the hidden case 'a longer prime', in line 7")


def test_shapes_that_are_assigned_twice_are_refused(made, tmp_path):
    again = 'SHAPES |= {"one more": (7,)}\n\n\ndef case('
    exercise = courses.edit(made, "cases.py", "def case(", again)
    refused(tmp_path, exercise, r"expected one assignment to SHAPES in .*, got 2")


@pytest.mark.parametrize(
    ("later", "words"),
    [
        ('SHAPES["sum"] = (sum(n for (n,) in SHAPES.values()),)', "its cases are not those of"),
        ('SHAPES.pop("nothing to do")', r"maps/scale/cases\.py: KeyError: 'nothing to do'"),
        ('Path(__file__).with_name("inputs.npy").read_bytes()', "no file but those of every"),
    ],
    ids=["added", "removed", "another file"],
)
def test_cases_that_are_others_without_the_hidden_ones_are_refused(made, tmp_path, later, words):
    (made.folder / "inputs.npy").write_text("")
    file = made.folder / "cases.py"
    text = file.read_text().replace("def case(", f"{later}\n\n\ndef case(")
    file.write_text(f"from pathlib import Path\n\n{text}")
    refused(tmp_path, made, words)


def test_a_measured_case_cannot_be_hidden(made):
    hidden = '"a longer prime", "eight whole blocks"'
    with pytest.raises(catalogue.ExerciseError, match="'eight whole blocks' is measured, so it"):
        courses.edit(made, "exercise.toml", '"a longer prime"', hidden)


def test_nothing_is_left_where_the_disk_is_full(made, tmp_path, monkeypatch):
    written = []

    def full(path, content, *rest, **named):
        written.append(path)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content)
        if len(written) == 4:
            raise errors.OutputError("cannot write it: no space left on device.")

    monkeypatch.setattr(files, "write", full)
    with pytest.raises(errors.OutputError):
        release.release(tmp_path / "out", [made])
    assert [path.name for path in tmp_path.iterdir()] == ["exercises"]


# ---- TOML ---------------------------------------------------------------------------------------

PLAIN = st.text() | st.booleans() | st.integers(-(2**63), 2**63 - 1) | st.floats(allow_nan=False)
VALUES = PLAIN | st.lists(PLAIN, max_size=3)
TABLES = st.dictionaries(st.text(), VALUES, max_size=3)


@given(st.dictionaries(st.text(), VALUES | TABLES | st.lists(TABLES, min_size=1, max_size=2)))
def test_what_is_written_as_toml_is_read_again(data):
    text = release._written(data)
    assert catalogue.tomllib.loads(text) == data
