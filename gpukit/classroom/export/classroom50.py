"""An autograder for Classroom 50, which grades in GitHub Actions.

Its wiki describes `autograder.py` and `result.json` (schema classroom50/result/v1) in Advanced
Autograding, and declarative tests (classroom50/tests/v1) in Autograding Basics.
"""

from __future__ import annotations

import datetime
import os
from collections.abc import Sequence
from typing import Any

import gpukit
from gpukit.classroom.export import base
from gpukit.classroom.export.base import Files
from gpukit.classroom.export.mark import Mark
from gpukit.course.catalogue import Exercise

_AUTOGRADER = f'''\
"""Grades a submission with gpukit. Classroom 50 runs this in the student's checkout."""

import importlib.metadata
import json
import secrets
import subprocess
import sys
from pathlib import Path

VERSION = "{gpukit.__version__}"
HERE, RESULT = Path(__file__).resolve().parent, Path("result.json").absolute()


def installed() -> str:
    try:
        return importlib.metadata.version("gpukit")
    except importlib.metadata.PackageNotFoundError:
        return ""


if installed() != VERSION:
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--find-links", str(HERE)]
    subprocess.run([*pip, f"gpukit=={{VERSION}}"], cwd=HERE, check=True)
# In this folder, not in the checkout, where a student's files could be imported.
machine = [sys.executable, "-m", "gpukit.classroom.export.machine", "classroom50"]
places = [str(HERE / "exercises"), str(RESULT.parent), str(RESULT)]
subprocess.run([*machine, *places], cwd=HERE, check=True)
# What an answer has printed may look like a command to GitHub.
token = secrets.token_hex()
print(f"::stop-commands::{{token}}")
for test in json.loads(RESULT.read_text(encoding="utf-8"))["tests"]:
    print(f"{{test['test-name']}}: {{test['score']}} of {{test['max-score']}} points")
    print(f"{{test['output']}}\\n")
print(f"::{{token}}::")
'''
_README = """\
Copy `autograder.py` and `exercises` to `CLASSROOM/autograders/ASSIGNMENT/` in your `classroom50`
repository. `autograder.py` installs `{requirement}` in the runner, Python 3.10 or newer. {source}

Students commit one file per exercise, anywhere in their repository:

{expected}

`gpukit export ... --to zip` writes what to put into the template of the assignment.

`tests.json` has the same exercises as declarative tests, to be used without `autograder.py`: its
`tests` are the field `tests` of the assignment in `assignments.json`. Declarative tests give all
points or none, so an answer that breaks the budget of its task gets none.

Whoever has the address of the published files can read them: they contain no solutions. The
workflow runs in the student's own repository, which Classroom 50 calls no boundary against a
hostile student.
"""
_MARKS = f"""\
{base.ON_MACHINE}

Declarative tests run answers without a sandbox: use their marks as feedback only."""
# Seconds for pip, and for a test.
_TIMEOUT = 600


def files(name: str, exercises: Sequence[Exercise]) -> Files:
    """Return what belongs into the folder of the assignment's autograder."""
    expected = base.expected(exercises)
    source = base.SOURCE.format(place="beside `autograder.py`")
    words = _README.format(requirement=base.REQUIREMENT, source=source, expected=expected)
    return {
        "README.md": base.readme(f"{name} for Classroom 50", words, _MARKS),
        "autograder.py": base.text(_AUTOGRADER),
        "tests.json": base.data(_declarative(exercises)),
        **base.public(exercises),
    }


def _declarative(exercises: Sequence[Exercise]) -> dict[str, Any]:
    tests = [
        {
            "name": exercise.name,
            "type": "run",
            "setup": (
                'python3 -m pip install --quiet --find-links "$CLASSROOM50_BUNDLE_DIR" '
                f'"{base.REQUIREMENT}"'
            ),
            "run": (
                'GPUKIT_EXERCISES="$CLASSROOM50_BUNDLE_DIR/exercises" '
                f"gpukit test {exercise.name} --file {exercise.name}.py"
            ),
            "exit-code": 0,
            "timeout": _TIMEOUT,
            "points": exercise.points,
        }
        for exercise in exercises
    ]
    return {"schema": "classroom50/tests/v1", "tests": tests}


def result(marks: Sequence[Mark]) -> dict[str, Any]:
    """Return what `result.json` says about the submission that the environment describes."""
    told = os.environ
    tests = [
        {
            "test-name": f"{mark.name}: {test.name}",
            "passed": mark.passes(test),
            "score": test.points if mark.passes(test) else 0,
            "max-score": test.points,
            "output": mark.said(test),
        }
        for mark in marks
        for test in mark.tests
    ]
    return {
        "schema": "classroom50/result/v1",
        "classroom": told["CLASSROOM"],
        "assignment": told["ASSIGNMENT"],
        "assignment_type": told.get("ASSIGNMENT_TYPE", "individual"),
        "owner": told.get("OWNER") or told["USERNAME"],
        "submission": told["SUBMISSION_TAG"],
        "commit": told["COMMIT_URL"],
        "release": told["RELEASE_URL"],
        "review": told.get("REVIEW_URL") or told["COMMIT_URL"],
        "datetime": datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ"),
        "score": sum(m.points for m in marks),
        "max-score": sum(m.of for m in marks),
        "tests": tests,
    }
