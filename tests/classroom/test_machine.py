"""Answers graded on the machines of services, whose folders are emulated in temporary ones."""

import json
import os
import shutil
import subprocess
import sys
import zipfile

import jsonschema
import pytest

from gpukit.classroom import rules, work
from gpukit.classroom.export import machine
from gpukit.classroom.export.mark import NOT_GRADABLE, Mark
from gpukit.compiler import cache_folder
from gpukit.course import catalogue
from tests.classroom import schemas
from tests.classroom.kinds import EACH, answer, earned, exercises, exported
from tests.conftest import ROOT

SCHEMAS = {
    "gradescope": schemas.GRADESCOPE,
    "classroom50": schemas.CLASSROOM50,
    "prairielearn": schemas.PRAIRIELEARN,
}
# What the workflow of Classroom 50 sets.
WORKFLOW = {
    "CLASSROOM": "gpus",
    "ASSIGNMENT": "ps1",
    "ASSIGNMENT_TYPE": "individual",
    "OWNER": "alice",
    "SUBMISSION_TAG": "submit/2026-11-29T06-00-00Z-0123456",
    "COMMIT_URL": "https://example.org/commit",
    "RELEASE_URL": "https://example.org/release",
}
# What the points of a test are called, and the highest ones.
NAMES = {
    "gradescope": ("score", "max_score"),
    "classroom50": ("score", "max-score"),
    "prairielearn": ("points", "max_points"),
}


@pytest.fixture
def graded(tmp_path, monkeypatch, isolation):
    """Return a function that grades files, by their names, and returns the result for a target.

    In a process of its own, as on the machines: its sandbox shows the exercises of one export.
    """
    for name, value in WORKFLOW.items():
        monkeypatch.setenv(name, value)

    def graded(target, files, *names):
        exercises = exported("classroom50", tmp_path / "export", *names) / "exercises"
        place, result = tmp_path / "submission", tmp_path / "result.json"
        place.mkdir(exist_ok=True)
        for name, text in files.items():
            (place / name).parent.mkdir(parents=True, exist_ok=True)
            (place / name).write_text(text)
        places = [exercises, place, result]
        done = run([sys.executable, "-m", machine.__name__, target, *places], tmp_path)
        assert (done.returncode, done.stderr) == (0, "")
        found = json.loads(result.read_text())
        jsonschema.validate(found, SCHEMAS[target])
        return found

    return graded


@pytest.mark.parametrize(("name", "kind"), EACH)
@pytest.mark.parametrize("target", SCHEMAS)
def test_a_mark_has_the_points_of_gpukit_test(target, name, kind, monkeypatch):
    for variable, value in WORKFLOW.items():
        monkeypatch.setenv(variable, value)
    exercise = catalogue.find(name)
    status = "untouched" if kind == "blank" else kind
    result = machine.RESULTS[target]([Mark(exercise, status, "Why it is so.")])
    jsonschema.validate(result, SCHEMAS[target])
    if target == "prairielearn" and kind == "blank":
        assert result["gradable"] is False
        return
    points, highest = NAMES[target]
    scale = exercise.points if target == "prairielearn" else 1
    assert result["score"] * scale == earned(exercise, kind)
    assert sum(test[points] for test in result["tests"]) == earned(exercise, kind)
    assert sum(test[highest] for test in result["tests"]) == exercise.points


@pytest.mark.parametrize("status", NOT_GRADABLE)
def test_what_is_not_run_costs_no_attempt(status):
    mark = Mark(catalogue.find("zip_add"), status, "Why it is so.")
    assert machine.RESULTS["prairielearn"]([mark])["gradable"] is False


def test_the_page_for_prairielearn_says_that_a_rejected_answer_costs_no_attempt(tmp_path):
    page = exported("prairielearn", tmp_path / "ps1") / "README.md"
    words = " ".join(page.read_text().split())
    assert "costs no attempt: an answer without code, one that is not Python, and one" in words
    assert "one that the rules for submissions reject." in words


def test_each_submission_is_graded_with_random_inputs_of_its_own(tmp_path, monkeypatch, isolation):
    exercises = exported("classroom50", tmp_path / "export", "zip_add") / "exercises"
    monkeypatch.setenv("GPUKIT_EXERCISES", str(exercises))
    seeds = []

    def grade_one(task):
        seeds.append(task.seed)
        return {"status": "absent", "why": "", "rows": [], "printed": ""}

    monkeypatch.setattr(work, "grade_one", grade_one)
    (tmp_path / "ann").mkdir()
    for _ in range(3):
        machine.marks(exercises, tmp_path / "ann")
    assert len(set(seeds)) == 3


@pytest.mark.slow
def test_several_exercises_are_graded_where_students_put_them(graded):
    right = {e.name: answer(e, "right") for e in exercises()}
    notebook = {
        "cells": [
            {"cell_type": "markdown", "source": ["# Mine"]},
            {
                "cell_type": "code",
                "source": [f"%%exercise average_replicas\n{right['average_replicas']}"],
            },
        ]
    }
    files = {
        "deep/folder/zip_add.py": right["zip_add"],
        "exercises/02/detective_overflow/answer.py": right["detective_overflow"],
        "lesson.ipynb": json.dumps(notebook),
    }
    result = graded("gradescope", files)
    assert result["extra_data"]["status"] == dict.fromkeys(right, "right")
    assert result["score"] == sum(e.points for e in exercises())


def test_the_first_test_that_fails_explains_why():
    mark = Mark(catalogue.find("zip_add"), "wrong", "One element is missing.")
    first, second = machine.RESULTS["gradescope"]([mark])["tests"]
    assert (first["output"], second["output"]) == (mark.text, "See the test above.")
    assert (first["status"], second["status"]) == ("failed", "failed")


@pytest.mark.slow
def test_an_exercise_without_an_answer_has_no_points_and_says_what_was_expected(graded):
    result = graded("gradescope", {}, "zip_add")
    assert result["score"] == 0
    assert "Nothing was handed in: expected zip_add.py" in result["tests"][0]["output"]


@pytest.mark.slow
@pytest.mark.parametrize("text", ["def (", "\0", "x" * (3 << 20)], ids=["syntax", "nul", "large"])
def test_a_file_that_cannot_be_read_has_no_points_and_costs_no_attempt(text, graded):
    result = graded("prairielearn", {"zip_add.py": text}, "zip_add")
    assert result["gradable"] is False
    assert result["format_errors"]


@pytest.mark.slow
def test_a_damaged_notebook_is_rejected_by_its_name_alone(graded, tmp_path):
    result = graded("gradescope", {"a.ipynb": "{ %%exercise zip_add"}, "zip_add")
    assert result["extra_data"]["status"] == {"zip_add": "rejected"}
    assert "a.ipynb is not a notebook." in result["tests"][0]["output"]
    assert str(tmp_path) not in json.dumps(result)


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="links need permission there")
def test_a_link_out_of_the_submission_is_not_read(graded, tmp_path):
    (tmp_path / "secret.py").write_text("secret of the grader (")
    (tmp_path / "submission").mkdir()
    (tmp_path / "submission" / "zip_add.py").symlink_to(tmp_path / "secret.py")
    result = graded("gradescope", {}, "zip_add")
    assert result["extra_data"]["status"] == {"zip_add": "rejected"}
    assert "secret" not in json.dumps(result)


@pytest.mark.slow
def test_there_is_no_result_where_grading_itself_fails(tmp_path):
    (tmp_path / "result.json").write_text("{}")
    (tmp_path / "submission").mkdir()
    places = [tmp_path / "none", tmp_path / "submission", tmp_path / "result.json"]
    done = run([sys.executable, "-m", machine.__name__, "gradescope", *places], tmp_path)
    assert done.returncode == 3
    assert not (tmp_path / "result.json").exists()
    assert "expected the exercises of an export" in done.stderr


@pytest.mark.slow
def test_what_an_answer_prints_is_quoted_as_plain_text(graded):
    loud = "    print('<script>alert(1)</script> \\x1b[31m 10 of 10')\n"
    loud += "    for step in range(steps + 1):"
    right = answer(catalogue.find("average_replicas"), "right")
    text = right.replace("    for step in range(steps):", loud)
    result = graded("gradescope", {"average_replicas.py": text}, "average_replicas")
    assert result["test_output_format"] == "text"
    assert "  | <script>" in result["tests"][0]["output"]
    assert "\x1b" not in json.dumps(result)


def test_an_answer_that_reaches_out_of_the_rules_is_rejected(graded):
    text = "import os\nN = os.getpid()\n" + answer(catalogue.find("zip_add"), "right")
    text = text.replace("a[i] + b[i]", "a[i] + b[i] + 0 * N")
    result = graded("gradescope", {"zip_add.py": text}, "zip_add")
    assert result["extra_data"]["status"] == {"zip_add": "rejected"}
    assert "may not import os" in result["tests"][0]["output"]


# ---- the scripts, in the folders that the documentation describes -------------------------------


def gradescope(folder, submission):
    """Lay out /autograder as Gradescope does, and run run_autograder; return results.json."""
    root = folder / "autograder"
    for name in ("source", "submission", "results"):
        (root / name).mkdir(parents=True)
    archive = exported("gradescope", folder / "ps1", "zip_add") / "autograder.zip"
    with zipfile.ZipFile(archive) as packed:
        packed.extractall(root / "source")
        mode = packed.getinfo("run_autograder").external_attr >> 16
    shutil.copy(root / "source" / "run_autograder", root / "run_autograder")
    (root / "run_autograder").chmod(mode)
    (root / "submission" / "zip_add.py").write_text(submission)
    done = run([root / "run_autograder"], root, AUTOGRADER=str(root))
    assert (done.returncode, done.stderr) == (0, "")
    return root / "results" / "results.json"


def classroom50(folder, submission):
    """Run autograder.py in a checkout, as the workflow does; return result.json."""
    bundle, checkout = exported("classroom50", folder / "ps1", "zip_add"), folder / "checkout"
    checkout.mkdir()
    (checkout / "zip_add.py").write_text(submission)
    # Neither is to be imported, and neither is the result.
    (checkout / "json.py").write_text("raise SystemExit('imported from the checkout')")
    (checkout / "result.json").write_text('{"score": 10}')
    variables = {**WORKFLOW, "CLASSROOM50_BUNDLE_DIR": str(bundle)}
    done = run([sys.executable, bundle / "autograder.py"], checkout, **variables)
    assert (done.returncode, done.stderr) == (0, "")
    return checkout / "result.json"


def prairielearn(folder, submission):
    """Lay out /grade as PrairieLearn does, and run the entrypoint; return results.json."""
    root = folder / "grade"
    question = exported("prairielearn", folder / "ps1", "zip_add") / "questions" / "zip_add"
    shutil.copytree(question / "tests", root / "tests")
    (root / "student").mkdir()
    (root / "student" / "zip_add.py").write_text(submission)
    done = run([root / "tests" / "run.sh"], folder, GRADE=str(root))
    assert (done.returncode, done.stderr) == (0, "")
    return root / "results" / "results.json"


def run(words, folder, **variables):
    path = os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH")]))
    usual = {**os.environ, "GPUKIT_PYTHON": sys.executable, "PYTHONPATH": path}
    usual["GPUKIT_CACHE_DIR"] = str(cache_folder.folder() or folder)
    return subprocess.run(
        [*map(str, words)],
        cwd=folder,
        env={**usual, **variables},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )


LAYOUTS = {"gradescope": gradescope, "classroom50": classroom50, "prairielearn": prairielearn}


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="their containers run Linux")
@pytest.mark.parametrize("target", LAYOUTS)
@pytest.mark.usefixtures("isolation")
def test_the_scripts_grade_in_the_folders_of_the_service(target, tmp_path):
    exercise = catalogue.find("zip_add")
    result = json.loads(LAYOUTS[target](tmp_path, answer(exercise, "but")).read_text())
    jsonschema.validate(result, SCHEMAS[target])
    scale = exercise.points if target == "prairielearn" else 1
    assert result["score"] * scale == earned(exercise, "but") == 5


@pytest.mark.slow
def test_an_answer_that_the_rules_miss_cannot_write_the_result(tmp_path, monkeypatch, isolation):
    folder = exported("classroom50", tmp_path / "ps1", "zip_add") / "exercises"
    monkeypatch.setattr(rules, "kept", lambda source, *_, **__: source)
    result, forged = tmp_path / "result.json", tmp_path / "forged.json"
    text = answer(catalogue.find("zip_add"), "wrong")
    monkeypatch.setenv("GPUKIT_EXERCISES", str(folder))  # which `main` sets, too
    for place in (result, forged):
        text += f"try:\n    open({str(place)!r}, 'w').write('{{}}')\nexcept OSError:\n    pass\n"
    (tmp_path / "submission").mkdir()
    (tmp_path / "submission" / "zip_add.py").write_text(text)
    places = [folder, tmp_path / "submission", result]
    assert machine.main(["gradescope", *map(str, places)]) == 0
    assert json.loads(result.read_text())["extra_data"]["status"] == {"zip_add": "wrong"}
    assert not forged.exists()
