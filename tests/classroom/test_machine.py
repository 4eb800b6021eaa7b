"""Answers graded on the machines of services, whose folders are emulated in temporary ones."""

import functools
import json
import os
import shutil
import subprocess
import sys
import time
import zipfile

import jsonschema
import pytest

from gpukit.classroom.export import machine
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
pytestmark = pytest.mark.usefixtures("warm")


@pytest.fixture
def graded(tmp_path, monkeypatch):
    """Return a function that grades files, by their names, and returns the result for a target."""
    for name, value in WORKFLOW.items():
        monkeypatch.setenv(name, value)

    def graded(target, files, *names):
        source = exported("zip", tmp_path / "export", *names) / "export.zip"
        with zipfile.ZipFile(source) as packed:
            packed.extractall(tmp_path)
        for name, text in files.items():
            file = tmp_path / "submission" / name
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text)
        (tmp_path / "submission").mkdir(exist_ok=True)
        places = [tmp_path / "export" / "exercises", tmp_path / "submission", tmp_path / "r.json"]
        code = machine.main([target, *map(str, places)])
        assert (code == 0) == places[2].exists()
        result = json.loads(places[2].read_text()) if code == 0 else code
        if code == 0:
            jsonschema.validate(result, SCHEMAS[target])
        return result

    return graded


@pytest.fixture(scope="module")
def marks(tmp_path_factory):
    """Return a function that grades an answer of a kind once for all targets."""

    @functools.cache
    def marks(name, kind):
        folder, exercise = tmp_path_factory.mktemp("marks"), catalogue.find(name)
        exported("classroom50", folder / "ps1", name)
        (folder / f"{name}.py").write_text(answer(exercise, kind))
        return machine.marks(folder / "ps1" / "exercises", folder)

    return marks


@pytest.mark.slow
@pytest.mark.parametrize(("name", "kind"), EACH)
@pytest.mark.parametrize("target", SCHEMAS)
def test_an_answer_earns_the_points_of_gpukit_test(target, name, kind, marks, monkeypatch):
    for variable, value in WORKFLOW.items():
        monkeypatch.setenv(variable, value)
    exercise = catalogue.find(name)
    result = machine.RESULTS[target](marks(name, kind))
    jsonschema.validate(result, SCHEMAS[target])
    if target == "prairielearn" and kind == "blank" and not exercise.detective:
        assert result["gradable"] is False
        return
    points, highest = NAMES[target]
    scale = exercise.points if target == "prairielearn" else 1
    assert result["score"] * scale == earned(exercise, kind)
    assert sum(test[points] for test in result["tests"]) == earned(exercise, kind)
    assert sum(test[highest] for test in result["tests"]) == exercise.points


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


def test_the_first_test_that_fails_explains_why(graded):
    text = answer(catalogue.find("zip_add"), "right").replace("i < out.size", "i <= out.size")
    first, second = graded("gradescope", {"zip_add.py": text}, "zip_add")["tests"]
    assert "What to do: guard the access with `if i < a.shape[0]:`" in first["output"]
    assert second["output"] == "See the test above."
    assert (first["status"], second["status"]) == ("failed", "failed")


def test_an_exercise_without_an_answer_has_no_points_and_says_what_was_expected(graded):
    result = graded("gradescope", {}, "zip_add")
    assert result["score"] == 0
    assert "Nothing was handed in: expected zip_add.py" in result["tests"][0]["output"]


@pytest.mark.parametrize("text", ["def (", "\0", "x" * (3 << 20)], ids=["syntax", "nul", "large"])
def test_a_file_that_cannot_be_read_has_no_points_and_costs_no_attempt(text, graded):
    result = graded("prairielearn", {"zip_add.py": text}, "zip_add")
    assert result["gradable"] is False
    assert result["format_errors"]


def test_a_damaged_notebook_is_rejected_by_its_name_alone(graded, tmp_path):
    result = graded("gradescope", {"a.ipynb": "{ %%exercise zip_add"}, "zip_add")
    assert result["extra_data"]["status"] == {"zip_add": "rejected"}
    assert result["tests"][0]["output"] == "a.ipynb: expected a notebook, got another file."


@pytest.mark.skipif(sys.platform == "win32", reason="links need permission there")
def test_a_link_out_of_the_submission_is_not_read(graded, tmp_path):
    (tmp_path / "secret.py").write_text("secret of the grader (")
    (tmp_path / "submission").mkdir()
    (tmp_path / "submission" / "zip_add.py").symlink_to(tmp_path / "secret.py")
    result = graded("gradescope", {}, "zip_add")
    assert result["extra_data"]["status"] == {"zip_add": "absent"}


def test_there_is_no_result_where_grading_itself_fails(graded, tmp_path, capsys):
    (tmp_path / "r.json").write_text("{}")
    (tmp_path / "submission").mkdir()
    (tmp_path / "submission" / "zip_add.py").write_text("")
    words = ["gradescope", tmp_path / "none", tmp_path / "submission", tmp_path / "r.json"]
    assert machine.main([*map(str, words)]) == 3
    assert not (tmp_path / "r.json").exists()
    assert "expected the exercises of an export" in capsys.readouterr().err


def test_what_the_answer_does_not_need_is_not_run(graded):
    loud = "print('<script>alert(1)</script> \\x1b[31m 10 of 10')\n"
    text = answer(catalogue.find("zip_add"), "wrong") + loud
    result = graded("gradescope", {"zip_add.py": text}, "zip_add")
    assert result["test_output_format"] == "text"
    assert "script" not in json.dumps(result["tests"])


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
@pytest.mark.parametrize("kind", ["right", "but", "wrong"])
def test_the_scripts_grade_in_the_folders_of_the_service(target, kind, tmp_path):
    exercise = catalogue.find("zip_add")
    result = json.loads(LAYOUTS[target](tmp_path, answer(exercise, kind)).read_text())
    jsonschema.validate(result, SCHEMAS[target])
    scale = exercise.points if target == "prairielearn" else 1
    assert result["score"] * scale == earned(exercise, kind)


# Writes results now, and from processes of its own some seconds later.
FORGER = """
import os, subprocess, sys
from pathlib import Path

WRITE = "import sys, time, pathlib; time.sleep(%d); pathlib.Path(sys.argv[1]).write_text('{}')"
for place in os.environ["FORGED"].split(os.pathsep):
    Path(place).parent.mkdir(exist_ok=True)
    Path(place).write_text('{"score": 1000}')
    for seconds in range(5):
        words = [sys.executable, "-c", WRITE % seconds, place]
        subprocess.Popen(words, start_new_session=True)
"""


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="their containers run Linux")
@pytest.mark.parametrize("target", LAYOUTS)
def test_an_answer_that_writes_the_results_itself_gains_nothing(target, tmp_path, monkeypatch):
    places = (
        "autograder/results/results.json",
        "grade/results/results.json",
        "checkout/result.json",
    )
    monkeypatch.setenv("FORGED", os.pathsep.join(str(tmp_path / place) for place in places))
    result = LAYOUTS[target](tmp_path, answer(catalogue.find("zip_add"), "wrong") + FORGER)
    written = result.read_text()
    assert json.loads(written)["score"] == 0
    time.sleep(5)  # what the answer has started would have written by then
    assert result.read_text() == written
