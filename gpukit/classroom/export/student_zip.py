"""An archive of what students need to work without notebooks: task, starter, cases."""

from __future__ import annotations

from collections.abc import Sequence

from gpukit.classroom.export import base
from gpukit.classroom.export.base import Files
from gpukit.course.catalogue import Exercise

_STUDENT = """\
# {name}

Install gpukit once: `python -m pip install "{requirement}"`. In this folder:

```console
$ gpukit list            # the exercises and your progress
$ gpukit test {first}    # the first time: creates your file; after that: grades it
$ gpukit hint {first}    # shows a hint
```

{exercises}

Hand in `answer.py` of each exercise, in its folder, or renamed to `NAME.py`.
"""
_README = """\
Give `{name}.zip` to students. It contains the tasks, the starters and what `gpukit test` needs, and
no solutions: `gpukit test` explains a wrong answer by what the checker finds and by its values,
without the sentences for known mistakes.
"""


def files(name: str, exercises: Sequence[Exercise]) -> Files:
    """Return the archive and the page for the teacher."""
    rows = [
        f"- [{e.title}](exercises/{base.folder_of(e)}/task.md): `{e.name}`, {e.points} points"
        for e in exercises
    ]
    words = _STUDENT.format(
        name=name, requirement=base.REQUIREMENT, first=exercises[0].name, exercises="\n".join(rows)
    )
    packed = {"README.md": base.text(words), **base.public(exercises)}
    return {
        "README.md": base.readme(f"{name} for students", _README.format(name=name), base.AT_HOME),
        f"{name}.zip": base.archive({f"{name}/{path}": file for path, file in packed.items()}),
    }
