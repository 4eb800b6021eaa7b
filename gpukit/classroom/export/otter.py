"""An assignment for otter-grader: one notebook for `otter assign`, with a question per exercise.

https://otter-grader.readthedocs.io describes the raw cells that mark its parts, and tests that are
functions which raise (`ok_format: false`).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from gpukit.classroom.export import base
from gpukit.classroom.export.base import Files, Test
from gpukit.course.catalogue import Exercise

_HOW = """\
Write your answer in the next cell, and keep the imports in it: it is graded on its own."""
_CONFIG = """\
# ASSIGNMENT CONFIG
name: {name}
requirements:
  - {requirement}
files:
  - exercises
export_cell:
  pdf: false
tests:
  ok_format: false
"""
_README = """\
`{name}.ipynb` is the source of the assignment `{name}` for otter-grader; it contains the solutions.
Install `{requirement}` where students work and where you grade.

```console
$ otter assign {name}.ipynb dist
$ otter run -a dist/autograder/*.zip ANSWER.ipynb
$ gpukit grade FOLDER --out grades
```

The first command makes `dist/student`, which is what students get. The second grades one notebook;
`otter grade` and Gradescope take the same `dist/autograder/*.zip`. The third gives the marks of
record. `exercises` has what the tests need; it contains no solutions.

Each question has {points}
"""


def files(name: str, exercises: Sequence[Exercise]) -> Files:
    """Return the folder in which `otter assign` runs."""
    config = _CONFIG.format(name=name, requirement=base.REQUIREMENT)
    cells = [base.cell("raw", "config", config)]
    for exercise in exercises:
        cells += _question(exercise)
    words = _README.format(name=name, requirement=base.REQUIREMENT, points=base.POINTS)
    return {
        "README.md": base.readme(f"{name} for otter-grader", words, base.IN_NOTEBOOK),
        f"{name}.ipynb": base.notebook(cells),
        **base.public(exercises),
    }


def _question(exercise: Exercise) -> list[dict[str, Any]]:
    name = exercise.name
    begin = "# BEGIN SOLUTION"
    answer = base.with_regions(exercise, begin, "# END SOLUTION", whole=f"{begin} NO PROMPT")
    parts = [
        ("raw", f"# BEGIN QUESTION\nname: {name}"),
        ("markdown", base.task(exercise, _HOW)),
        ("raw", "# BEGIN SOLUTION"),
        ("code", answer),
        ("raw", "# END SOLUTION"),
        ("raw", "# BEGIN TESTS"),
        *(("code", _test(exercise, test)) for test in base.tests(exercise)),
        ("raw", "# END TESTS"),
        ("raw", "# END QUESTION"),
    ]
    return [base.cell(kind, f"{name}_{n}", source) for n, (kind, source) in enumerate(parts)]


def _test(exercise: Exercise, test: Test) -> str:
    return (
        f'""" # BEGIN TEST CONFIG\npoints: {test.points}\n""" # END TEST CONFIG\n'
        f"def test_{test.name}(In):\n"
        f'    """{test.says}"""\n'
        "    from gpukit.classroom import notebook_tests\n\n"
        f'    notebook_tests.{test.name}("exercises/{base.folder_of(exercise)}", In)'
    )
