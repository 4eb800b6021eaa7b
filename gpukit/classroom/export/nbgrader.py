"""An assignment for nbgrader 0.9: one notebook per exercise, in a course of its own.

https://nbgrader.readthedocs.io describes the metadata of cells, whose version is 3.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from gpukit.classroom.export import base
from gpukit.classroom.export.base import File, Files, Test
from gpukit.course.catalogue import Exercise

_HOW = """\
Write your answer in the next cell. It is graded on its own: keep the imports in it, and delete each
line `raise NotImplementedError()`. The two cells below it test your answer; they are read-only."""
_CONFIG = """\
c = get_config()

# A test compiles the kernel for every case; the usual 30 seconds are too few on a slow machine.
c.Execute.timeout = 600
"""
_README = """\
This folder is a course of nbgrader 0.9 with the assignment `{name}`. Install `{requirement}` where
students work and where you grade.

```console
$ nbgrader generate_assignment {name}
$ nbgrader autograde {name}
$ gpukit grade submitted --out grades
```

The first command makes `release/{name}`, which is what students get. The second grades what they
hand in, `submitted/STUDENT/{name}`. The third gives the marks of record.

To add the assignment to a course that you have, copy `source/{name}`, and the line of
`nbgrader_config.py` that allows a test more than 30 seconds. `source/{name}/exercises` has what the
tests need; it contains no solutions, and nbgrader copies it to the students.

Each notebook has {points}
"""


def files(name: str, exercises: Sequence[Exercise]) -> Files:
    """Return the course with one assignment."""
    source = f"source/{name}"
    words = _README.format(name=name, requirement=base.REQUIREMENT, points=base.POINTS)
    return {
        "README.md": base.readme(f"{name} for nbgrader", words, base.IN_NOTEBOOK),
        "nbgrader_config.py": base.text(_CONFIG),
        **{f"{source}/{e.name}.ipynb": _notebook(e) for e in exercises},
        **base.public(exercises, f"{source}/exercises"),
    }


def _notebook(exercise: Exercise) -> File:
    name = exercise.name
    answer = base.with_regions(exercise, "### BEGIN SOLUTION", "### END SOLUTION")
    return base.notebook(
        [
            _cell("markdown", f"{name}_task", base.task(exercise, _HOW), locked=True),
            _cell("code", name, answer, solution=True),
            *(_test(exercise, test) for test in base.tests(exercise)),
        ]
    )


def _test(exercise: Exercise, test: Test) -> dict[str, Any]:
    source = (
        f"# {test.says}\n"
        "from gpukit.classroom import notebook_tests\n\n"
        f'notebook_tests.{test.name}("exercises/{base.folder_of(exercise)}", In)'
    )
    id = f"{exercise.name}_{test.name}"
    return _cell("code", id, source, grade=True, locked=True, points=test.points)


def _cell(kind: str, grade_id: str, source: str, **facts: Any) -> dict[str, Any]:
    usual = {"grade": False, "locked": False, "solution": False, "task": False}
    metadata = {**usual, "grade_id": grade_id, "schema_version": 3, **facts}
    return base.cell(kind, grade_id, source, nbgrader=metadata)
