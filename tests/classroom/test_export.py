"""What `gpukit export` writes, and what it refuses; the tools themselves are tried elsewhere."""

import ast
import io
import json
import stat
import subprocess
import uuid
import zipfile

import jsonschema
import nbformat
import pytest

import gpukit
from gpukit import cli
from gpukit.classroom import export
from gpukit.classroom.export import base
from gpukit.cli import teacher_options
from gpukit.course import catalogue, grade
from tests.classroom import schemas
from tests.classroom.kinds import EXERCISES, answer, exercises, exported

# Their source contains the solution, which they remove from what students get.
WITH_SOLUTION = {"nbgrader", "otter"}


def contents(target, exercises):
    """Return the files of an export by name; those of an archive follow its name and a colon."""
    found = {}
    for name, file in export.TARGETS[target]("ps1", exercises).items():
        found[name] = file.content
        if name.endswith(".zip"):
            with zipfile.ZipFile(io.BytesIO(file.content)) as packed:
                found |= {f"{name}:{inner}": packed.read(inner) for inner in packed.namelist()}
    return found


def solution_lines(exercise):
    """Return the lines that only the solution has."""
    given = exercise.starter.read_text() + exercise.task.read_text()
    lines = map(str.strip, exercise.solution.read_text().splitlines())
    return [line for line in lines if len(line) > 12 and line not in given]


def test_the_command_line_lists_all_targets():
    assert (*export.TARGETS,) == teacher_options.TARGETS


@pytest.mark.parametrize("target", export.TARGETS)
def test_every_exercise_can_be_exported_with_a_page_for_the_teacher(target):
    words = contents(target, catalogue.every())["README.md"].decode()
    assert "The mark of record comes from `gpukit grade`" in words
    assert ("Students can forge these marks" in words) == (target in WITH_SOLUTION)


def test_the_page_for_classroom50_says_that_declarative_tests_have_no_sandbox():
    words = contents("classroom50", exercises())["README.md"].decode()
    _, _, marks = words.partition("## Marks")
    assert "Declarative tests run answers without a sandbox: use their marks as feedback" in marks


@pytest.mark.parametrize("target", ["nbgrader", "otter"])
def test_the_page_for_a_tool_with_notebooks_says_how_its_two_tests_count(target):
    words = contents(target, exercises())["README.md"].decode()
    assert "has two tests, with the points of `gpukit test`: a right answer gets all" in words


@pytest.mark.parametrize("target", export.TARGETS)
def test_the_same_exercises_give_the_same_bytes(target):
    assert contents(target, exercises()) == contents(target, exercises())


@pytest.mark.parametrize("target", export.TARGETS)
def test_the_version_of_gpukit_is_pinned(target):
    pin = f"gpukit=={gpukit.__version__}".encode()
    assert any(pin in text for text in contents(target, exercises()).values())


@pytest.mark.parametrize("target", sorted({*export.TARGETS} - WITH_SOLUTION))
def test_no_file_has_a_line_of_the_solution(target):
    every = catalogue.every()
    given = {
        line.strip()
        for name, content in contents(target, every).items()
        if not name.endswith((".zip", "cases.py", "driver.py"))  # they define what is right
        for line in content.decode().splitlines()
    }
    starters = {line.strip() for e in every for line in e.starter.read_text().splitlines()}
    secret = {line for e in every for line in solution_lines(e)} - starters
    assert len(secret) > 300
    assert secret & given == set()


def test_a_students_copy_cannot_be_exported(tmp_path):
    copy = exported("classroom50", tmp_path / "ps1", "zip_add") / "exercises"
    exercise = catalogue.read(copy / "01_threads_blocks_grid" / "zip_add")
    with pytest.raises(export.ExportError, match="a students' copy"):
        export.export("zip", [exercise], tmp_path / "ps2")


@pytest.mark.parametrize("target", export.TARGETS)
def test_no_file_is_a_solution_or_a_list_of_mistakes(target):
    names = contents(target, exercises())
    assert [n for n in names if n.endswith(("solution.py", "mistakes.toml", "answer.py"))] == []


@pytest.mark.slow
@pytest.mark.usefixtures("warm")
@pytest.mark.parametrize("name", EXERCISES)
def test_a_students_copy_grades_an_answer_like_the_exercise_itself(name, tmp_path):
    exported("zip", tmp_path / "ps1", name)
    with zipfile.ZipFile(tmp_path / "ps1" / "ps1.zip") as packed:
        packed.extractall(tmp_path)
    exercise = catalogue.find(name)
    copy = catalogue.read(tmp_path / "ps1" / "exercises" / exercise.topic / name)
    statuses = []
    for kind in ("right", "but", "wrong", "blank"):
        (tmp_path / "answer.py").write_text(answer(exercise, kind))
        statuses.append([grade.run(e, tmp_path / "answer.py").status for e in (exercise, copy)])
    assert all(mine == theirs for mine, theirs in statuses)
    assert [mine for mine, _ in statuses][:2] == ["right", "but"]


def test_the_two_tests_give_the_points_of_the_exercise():
    totals = {e.name: sum(test.points for test in base.tests(e)) for e in catalogue.every()}
    assert totals == {e.name: e.points for e in catalogue.every()}


# ---- solutions in notebooks ---------------------------------------------------------------------


def without_regions(text, begin, end):
    """Return what is left of a text when the regions are removed, as the tools do."""
    left, inside = [], False
    for line in text.splitlines():
        inside = inside or begin in line
        left += [] if inside else [line]
        inside = inside and end not in line
    return "\n".join(left)


def test_a_notebook_without_its_solution_regions_is_the_starter():
    wrong = []
    for exercise in catalogue.every():
        text = base.with_regions(exercise, "### BEGIN", "### END")
        left = without_regions(text, "### BEGIN", "### END")
        if left.strip() != base.beside_task(exercise.starter.read_text()).strip():
            wrong.append(exercise.name)
    assert wrong == []


def test_a_notebook_with_its_solution_regions_ends_with_the_code_of_the_solution():
    wrong = []
    for exercise in catalogue.every():
        text = base.with_regions(exercise, "### BEGIN", "### END")
        solution = base.beside_task(exercise.solution.read_text())
        mine, right = ([*map(ast.dump, ast.parse(each).body)] for each in (text, solution))
        if mine[-len(right) :] != right:
            wrong.append(exercise.name)
    assert wrong == []


def test_the_task_in_a_notebook_says_nothing_of_a_workbook(tmp_path):
    words = base.task(catalogue.find("zip_add"), "Write it below.")
    assert words.startswith("# Add two vectors")
    assert words.endswith("no float64\noperations.\n\nWrite it below.")


def notebook(folder, name):
    return json.loads((folder / name).read_text())


def test_a_notebook_for_nbgrader_has_a_read_only_task_an_answer_and_two_tests(tmp_path):
    folder = exported("nbgrader", tmp_path / "ps1", "zip_add")
    cells = notebook(folder, "source/ps1/zip_add.ipynb")["cells"]
    facts = [cell["metadata"]["nbgrader"] for cell in cells]
    assert [f["grade_id"] for f in facts] == [
        *("zip_add_task", "zip_add", "zip_add_results", "zip_add_budget")
    ]
    assert [f["locked"] for f in facts] == [True, False, True, True]
    assert [f["solution"] for f in facts] == [False, True, False, False]
    assert [f.get("points") for f in facts] == [None, None, 5, 5]
    assert {f["schema_version"] for f in facts} == {3}


@pytest.mark.parametrize(
    ("target", "name"), [("nbgrader", "source/ps1/zip_add.ipynb"), ("otter", "ps1.ipynb")]
)
def test_notebooks_are_valid(target, name, tmp_path):
    folder = exported(target, tmp_path / "ps1", "zip_add")
    nbformat.validate(nbformat.read(folder / name, as_version=4))


# ---- archives and services ----------------------------------------------------------------------


def test_the_archive_for_gradescope_has_its_scripts_executable_at_its_root(tmp_path):
    folder = exported("gradescope", tmp_path / "ps1", "zip_add")
    with zipfile.ZipFile(folder / "autograder.zip") as packed:
        modes = {info.filename: info.external_attr >> 16 for info in packed.infolist()}
    assert stat.S_IMODE(modes["setup.sh"]) == stat.S_IMODE(modes["run_autograder"]) == 0o755
    assert stat.S_IMODE(modes["exercises/01_threads_blocks_grid/zip_add/cases.py"]) == 0o644


def test_scripts_for_the_shell_are_valid(tmp_path):
    gradescope = exported("gradescope", tmp_path / "g" / "ps1", "zip_add")
    prairielearn = exported("prairielearn", tmp_path / "p" / "ps1", "zip_add")
    scripts = [(prairielearn / "questions" / "zip_add" / "tests" / "run.sh").read_bytes()]
    with zipfile.ZipFile(gradescope / "autograder.zip") as packed:
        scripts += [packed.read("setup.sh"), packed.read("run_autograder")]
    for script in scripts:
        subprocess.run(["bash", "-n"], input=script, check=True)


def test_the_tests_for_classroom50_match_its_schema_and_have_all_points(tmp_path):
    tests = notebook(exported("classroom50", tmp_path / "ps1"), "tests.json")
    jsonschema.validate(tests, schemas.CLASSROOM50_TESTS)
    assert sum(t["points"] for t in tests["tests"]) == sum(e.points for e in exercises())


def test_a_question_for_prairielearn_matches_its_schema_and_keeps_its_uuid(tmp_path):
    folder = exported("prairielearn", tmp_path / "ps1", "zip_add") / "questions" / "zip_add"
    about = notebook(folder, "info.json")
    jsonschema.validate(about, schemas.PRAIRIELEARN_QUESTION)
    again = exported("prairielearn", tmp_path / "ps2", "zip_add") / "questions" / "zip_add"
    assert notebook(again, "info.json")["uuid"] == about["uuid"] == str(uuid.UUID(about["uuid"]))
    assert 'source-file-name="starter.py"' in (folder / "question.html").read_text()
    assert (folder / "tests" / "run.sh").stat().st_mode & stat.S_IXUSR


def test_archives_can_be_read_again():
    made = base.archive({"b": base.text("2"), "a": base.text("1", executable=True)})
    with zipfile.ZipFile(io.BytesIO(made.content)) as packed:
        assert (packed.namelist(), packed.read("a")) == (["a", "b"], b"1")


# ---- the command --------------------------------------------------------------------------------


def test_the_command_says_what_it_wrote_and_what_to_read_next(tmp_path, capsys):
    folder = tmp_path / "ps1"
    assert cli.main(["export", "zip_add", "--to", "zip", "--out", str(folder)]) == 0
    words = capsys.readouterr().out
    assert "Wrote zip_add for zip: 2 files" in words
    assert str(folder / "README.md") in words


def test_an_exercise_that_is_named_twice_is_exported_once(tmp_path, capsys):
    line = "export zip_add 01_threads_blocks_grid/zip_add --to zip --json --out".split()
    assert cli.main([*line, str(tmp_path / "ps1")]) == 0
    assert len(json.loads(capsys.readouterr().out)["files"]) == 2


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("zip_ad --to zip --out new", "expected the name of an exercise, got 'zip_ad'. Did you"),
        ("zip_add --to zip --out used", "which contains other files, such as mine"),
        ("zip_add --to zip --out used/mine.txt", "got 'mine.txt'. Choose another name"),
        ("zip_add --to zip --out used/mine", "got used/mine, a file. Choose another name"),
    ],
)
def test_misuse_is_one_sentence_with_exit_code_2(words, said, tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("GPUKIT_EXERCISES", str(catalogue.root()))
    monkeypatch.chdir(tmp_path)
    (tmp_path / "used").mkdir()
    for name in ("mine.txt", "mine"):
        (tmp_path / "used" / name).write_text("mine")
    assert cli.main(["export", *words.split()]) == 2
    assert said in capsys.readouterr().err
    assert [p.name for p in tmp_path.iterdir()] == ["used"]


def test_an_unknown_target_is_one_sentence_with_exit_code_2(tmp_path, capsys):
    with pytest.raises(SystemExit) as stop:
        cli.main(["export", "zip_add", "--to", "canvas", "--out", str(tmp_path / "new")])
    assert stop.value.code == 2
    assert "expected nbgrader or otter or gradescope or classroom50" in capsys.readouterr().err
