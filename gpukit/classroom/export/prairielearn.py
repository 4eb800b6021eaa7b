"""Questions for PrairieLearn, graded by an external grader: one question per exercise.

https://docs.prairielearn.com/externalGrading describes the folders of the grader's container and
the format of `results.json`.
"""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from typing import Any

import gpukit
from gpukit.classroom.export import base
from gpukit.classroom.export.base import Files
from gpukit.classroom.export.mark import NOT_GRADABLE, Mark
from gpukit.course.catalogue import Exercise

_IMAGE = f"gpukit-grader:{gpukit.__version__}"
# The seconds after which PrairieLearn ends a grader.
_TIMEOUT = 600
_HOW = "Write the whole file in the editor, and keep its imports."
_QUESTION = """\
<pl-question-panel>
<markdown>
{task}
</markdown>
<pl-file-editor file-name="{name}.py" ace-mode="ace/mode/python" source-file-name="starter.py">
</pl-file-editor>
</pl-question-panel>

<pl-submission-panel>
  <pl-external-grader-results></pl-external-grader-results>
  <pl-file-preview></pl-file-preview>
</pl-submission-panel>
"""
_RUN = """\
#!/bin/sh
# PrairieLearn runs this for each submission. The variable is for trying it elsewhere.
set -eu
grade=${GRADE:-/grade}
cd "$grade/tests" # never where a student's files could be imported
exec "${GPUKIT_PYTHON:-python}" -m gpukit.classroom.export.machine prairielearn \\
    "$grade/tests/exercises" "$grade/student" "$grade/results/results.json"
"""
_DOCKERFILE = f"""\
FROM python:3.12-slim
RUN apt-get update && apt-get install -y --no-install-recommends bubblewrap \\
    && rm -rf /var/lib/apt/lists/*
COPY Dockerfile gpukit-*.whl /tmp/gpukit/
RUN python -m pip install --no-cache-dir --find-links /tmp/gpukit "{base.REQUIREMENT}"
# Where the sandbox's user may read.
ENV GPUKIT_CACHE_DIR=/opt/gpukit/cache
# Compile the checker now, so that the first submission need not wait for it.
RUN {base.WARM_UP}
"""
_README = """\
1. Build the image of the grader from `Dockerfile`, which installs `{requirement}`, and push it to a
   registry that your PrairieLearn can reach: `docker build -t YOURS/{image} .` {source}
2. Replace `{image}` in each `info.json` by its name there.
3. Copy the folders in `questions` to `questions` of your course.

The question gives a right answer the score 1, one that breaks the budget of the task the score of
`gpukit test` (about one half), any other 0. What is not run is not gradable and costs no attempt:
an answer without code, one that is not Python, and one that the rules for submissions reject.
`tests` contains no solutions.
"""


def files(name: str, exercises: Sequence[Exercise]) -> Files:
    """Return the questions, and what builds the image of their grader."""
    source = base.SOURCE.format(place="beside `Dockerfile`")
    words = _README.format(requirement=base.REQUIREMENT, source=source, image=_IMAGE)
    found = {
        "README.md": base.readme(f"{name} for PrairieLearn", words, base.ON_MACHINE),
        "Dockerfile": base.text(_DOCKERFILE),
    }
    for exercise in exercises:
        found |= _question(exercise, f"questions/{exercise.name}")
    return found


def _question(exercise: Exercise, folder: str) -> Files:
    task = base.task(exercise, _HOW)
    about = {
        # The same each time, so that a new export replaces the question.
        "uuid": str(uuid.uuid5(uuid.NAMESPACE_URL, f"gpukit:{base.folder_of(exercise)}")),
        "title": exercise.title,
        "topic": exercise.topic,
        "tags": ["gpukit"],
        "type": "v3",
        "singleVariant": True,
        "gradingMethod": "External",
        "externalGradingOptions": {
            "image": _IMAGE,
            "entrypoint": "/grade/tests/run.sh",
            "timeout": _TIMEOUT,
        },
    }
    return {
        f"{folder}/info.json": base.data(about),
        f"{folder}/question.html": base.text(_QUESTION.format(task=task, name=exercise.name)),
        f"{folder}/starter.py": base.text(base.beside_task(exercise.starter.read_text("utf-8"))),
        f"{folder}/tests/run.sh": base.text(_RUN, executable=True),
        **base.public([exercise], f"{folder}/tests/exercises"),
    }


def result(marks: Sequence[Mark]) -> dict[str, Any]:
    """Return what `results.json` says about a submission to a question, which has one exercise."""
    (mark,) = marks
    if mark.status in NOT_GRADABLE:
        return {"gradable": False, "format_errors": [mark.text], "message": mark.text}
    return {
        "gradable": True,
        "score": mark.points / mark.of if mark.of else 1.0,
        "message": f"{mark.points} of {mark.of} points.",
        "output": mark.text,
        "tests": [
            {
                "name": test.name,
                "description": test.says,
                "points": test.points if mark.passes(test) else 0,
                "max_points": test.points,
                "message": "" if mark.passes(test) else mark.said(test),
            }
            for test in mark.tests
        ],
    }
