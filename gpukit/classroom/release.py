"""Make the students' copy of exercises: what `gpukit test` needs, and no solution.

A copy has `exercises/TOPIC/NAME/` with the task, the starter, the cases and `exercise.toml`, and a
README. Not in it are the solution, the known mistakes (edits of the solution), the hidden cases,
and hints that show a statement of the solution.
"""

from __future__ import annotations

import ast
import json
import re
import shutil
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import gpukit
from gpukit import files
from gpukit.classroom import alike, proofs, statements
from gpukit.classroom.alike import Alike
from gpukit.course import catalogue
from gpukit.course.catalogue import Exercise, ExerciseError

SCHEMA, VERSION = "gpukit-release", 1
ELSEWHERE = "name a folder that you can write to"
LEFT_OUT = ("solution.py", catalogue.MISTAKES)
_COPIED = ("task.md", "starter.py", catalogue.DRIVER)


@dataclass(frozen=True)
class Released:
    """What a teacher should know about an exercise that was released.

    `hints` are the numbers of those that were left out, since they show a statement of the
    solution; `hidden` names the cases that were. `shown` are the places in files of the copy in
    which a statement of the solution stands nevertheless. `alike` is what students can read
    elsewhere that is nearly the solution.
    """

    name: str
    topic: str
    points: int
    hidden: list[str]
    hints: list[int]
    shown: list[str] = field(default_factory=list)
    alike: list[Alike] = field(default_factory=list)


def release(folder: Path, exercises: list[Exercise], *, keep_hints: bool = False) -> list[Released]:
    """Make the folder of a students' copy, and a record for the teacher beside it.

    With `keep_hints` no hint is left out. The folder must be new or empty. Raise ExerciseError
    where that cannot be, or where a copy would not be graded as its exercise is.
    """
    _refuse(folder, exercises)
    with files.whole_folder(folder, ELSEWHERE) as copy:
        done = [_released(copy, exercise, keep_hints) for exercise in exercises]
        files.write(copy / "README.md", _readme(exercises), ELSEWHERE)
    record = {
        "schema": SCHEMA,
        "version": VERSION,
        "gpukit": gpukit.__version__,
        "left_out": LEFT_OUT,
        "exercises": [asdict(one) for one in done],
    }
    files.write(record_of(folder), f"{json.dumps(record, indent=1)}\n", ELSEWHERE)
    return done


def record_of(folder: Path) -> Path:
    """Return the file beside a students' copy that is for the teacher only."""
    place = folder.resolve()
    return place.with_name(f"{place.name}-release.json")


def _refuse(folder: Path, exercises: list[Exercise]) -> None:
    """Raise where the folder is in use, or an exercise is not complete."""
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        what = "which is not empty" if folder.is_dir() else "a file"
        raise ExerciseError(
            f"gpukit release: expected a new or empty folder, got {folder}, {what}. Choose another "
            "name, or delete it first."
        )
    files.check_folder(record_of(folder).parent, ELSEWHERE)
    for exercise in exercises:
        done = proofs.run(exercise, stages=proofs.BEFORE_RUNNING)
        problem = next((problem for proved in done for problem in proved.problems), None)
        if problem is not None:
            raise ExerciseError(
                f"gpukit release: expected an exercise that works, got {exercise.name}: {problem} "
                f"To see all that is wrong: gpukit verify {exercise.name}"
            )


def _released(copy: Path, exercise: Exercise, keep_hints: bool) -> Released:
    """Write the files of an exercise into a copy, and read them again."""
    left_out = set() if keep_hints else telling_hints(exercise)
    place = copy / "exercises" / exercise.topic / exercise.name
    written = texts(exercise, left_out)
    for name, text in written.items():
        files.write(place / name, text, ELSEWHERE, folders=True)
    _refuse_other_cases(exercise, place)
    secret = statements.secret(exercise)
    shown = [
        f"{name}, line {found.line}: {found.statement}"
        for name, text in written.items()
        for found in statements.shown(text, secret)
    ]
    hidden, hints = list(exercise.hidden), sorted(left_out)
    named = exercise.name, exercise.topic, exercise.points
    return Released(*named, hidden, hints, shown, alike.in_book(exercise))


def telling_hints(exercise: Exercise) -> set[int]:
    """Return the numbers of the hints that show a statement of the solution."""
    secret = statements.secret(exercise)
    return {n for n, hint in enumerate(exercise.hints, 1) if statements.shown(hint, secret)}


def texts(exercise: Exercise, left_out: set[int]) -> dict[str, str]:
    """Return the files of a students' copy, without the hints of these numbers."""
    found = {
        "exercise.toml": _toml(exercise, left_out),
        "cases.py": _cases(exercise),
        **{
            name: (exercise.folder / name).read_text(encoding="utf-8")
            for name in _COPIED
            if (exercise.folder / name).exists()
        },
    }
    for name, text in found.items():
        _refuse_hidden_names(exercise, name, text)
    return found


def _refuse_hidden_names(exercise: Exercise, name: str, text: str) -> None:
    for hidden in exercise.hidden:
        if hidden in text:
            line = text.count("\n", 0, text.index(hidden)) + 1
            raise ExerciseError(
                f"gpukit release: {exercise.folder / name} names the hidden case {hidden!r}, in "
                f"line {line} of the students' copy. Name hidden cases only in SHAPES, and in "
                "`hidden` of exercise.toml."
            )


def _refuse_other_cases(exercise: Exercise, place: Path) -> None:
    """Raise unless the copy in a folder has the cases that its exercise has for students."""
    shapes = exercise.shapes
    try:
        copy = catalogue.read(place)
        is_same = copy.shapes == shapes and bool(copy.cases())
        fault = "" if is_same else "its cases are not those of the exercise."
    except ExerciseError as error:
        fault = error.fault.replace(str(place), str(exercise.folder))
    shutil.rmtree(place / "__pycache__", ignore_errors=True)  # of cases.py, which was imported
    if fault:
        raise ExerciseError(
            f"gpukit release: the students' copy of {exercise.name} does not work: {fault} In "
            "cases.py, write SHAPES as one dict, and use no file but those of every exercise."
        )


# ---- the files of a copy ------------------------------------------------------------------------


def _cases(exercise: Exercise) -> str:
    """Return `cases.py`, where cases are hidden with the other shapes written out in SHAPES."""
    file = exercise.folder / "cases.py"
    text = file.read_text(encoding="utf-8")
    if not exercise.hidden:
        return text
    shapes = exercise.shapes
    found = [node for node in ast.parse(text).body if "SHAPES" in _assigned(node)]
    if len(found) != 1:
        raise ExerciseError(
            f"gpukit release: expected one assignment to SHAPES in {file}, from which hidden cases "
            f"can be left out, got {len(found)}. Write it as one dict."
        )
    rows = [f"    {_text(name)}: {shape!r}," for name, shape in shapes.items()]
    lines = text.splitlines()
    lines[found[0].lineno - 1 : found[0].end_lineno] = ["SHAPES = {", *rows, "}"]
    return "\n".join([*lines, ""])


def _assigned(node: ast.stmt) -> list[str]:
    """Return the names that a statement assigns to."""
    targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
    return [target.id for target in targets if isinstance(target, ast.Name)]


def _toml(exercise: Exercise, left_out: set[int]) -> str:
    """Return `exercise.toml` without hidden cases and some of its hints, and without comments."""
    data = catalogue.tables(exercise.folder / "exercise.toml")
    data.pop("hidden", None)
    numbers = [n for n in range(1, len(exercise.hints) + 1) if n not in left_out]
    data["hints"] = [exercise.hints[n - 1] for n in numbers]
    about = data.pop("hint_for", {})
    data["hint_for"] = {kind: numbers.index(n) + 1 for kind, n in about.items() if n in numbers}
    return _written({**data, "released": True})


def _written(data: dict[str, Any]) -> str:
    """Return TOML of values, tables of values, and lists of such tables.

    >>> print(_written({"a": 1, "t": {"b": [True, "x"]}, "rows": [{"c": 0.5}]}))
    a = 1
    <BLANKLINE>
    [t]
    b = [true, "x"]
    <BLANKLINE>
    [[rows]]
    c = 0.5
    <BLANKLINE>
    """
    lines, tables = [], []
    for key, value in data.items():
        if isinstance(value, dict):
            tables += ["", f"[{_key(key)}]", *_pairs(value)]
        elif isinstance(value, list) and value and isinstance(value[0], dict):
            for row in value:
                tables += ["", f"[[{_key(key)}]]", *_pairs(row)]
        else:
            lines += _pairs({key: value})
    return "\n".join([*lines, *tables, ""])


def _pairs(values: dict[str, Any]) -> list[str]:
    return [f"{_key(key)} = {_value(value)}" for key, value in values.items()]


def _key(name: str) -> str:
    return name if re.fullmatch(r"[A-Za-z0-9_-]+", name) else _text(name)


def _value(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, list):
        return f"[{', '.join(map(_value, value))}]"
    return _text(value) if isinstance(value, str) else str(value)


def _text(words: str) -> str:
    return json.dumps(words, ensure_ascii=False).replace("\x7f", "\\u007f")


def _readme(exercises: list[Exercise]) -> str:
    """Return what students read first."""
    rows = [
        f"| [`{e.name}`](exercises/{e.topic}/{e.name}/task.md) | {e.title} | {e.points} |"
        for e in exercises
    ]
    first = exercises[0]
    return _README.format(
        rows="\n".join(rows), name=first.name, topic=first.topic, version=gpukit.__version__
    )


_README = """\
# Exercises

| exercise | title | points |
|---|---|---|
{rows}

You need gpukit {version} or newer, and no GPU. Run these commands in this folder:

```console
$ gpukit list          # list the exercises and your points
$ gpukit test {name}   # the first time: create your file; after that: grade and explain it
$ gpukit hint {name}   # show a hint
$ gpukit reset {name}  # start over: your old file is kept as answer.old1.py
```

Your answer to `{name}` is `exercises/{topic}/{name}/answer.py`. You can also write it in a notebook
in this folder: run `%load_ext gpukit`, and put `%%exercise {name}` on the first line of a cell.

`gpukit test` shows how an answer is graded. Your teacher may grade it with further cases. Importing
a kernel of gpukit is no answer.
"""
