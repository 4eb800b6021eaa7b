"""Find the exercises on disk and read what each one says about itself."""

from __future__ import annotations

import ast
import contextlib
import difflib
import functools
import hashlib
import importlib.util
import os
import sys
import traceback
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

from gpukit.course import contracts, source, workbook
from gpukit.course.case import Case
from gpukit.course.contracts import Contract
from gpukit.errors import GpukitError

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

ANSWER, MISTAKES, DRIVER = "answer.py", "mistakes.toml", "driver.py"
# The files of each exercise; one whose answer is host code has a DRIVER as well.
FILES = ("exercise.toml", "task.md", "starter.py", "solution.py", "cases.py", MISTAKES)
SEED = 20261120
_RESTORE = "Restore the folder from your copy of the project: git checkout, or unpack it again."


class ExerciseError(GpukitError):
    """There is no such exercise, or its folder is not as it should be.

    `fault` says what is wrong with the folder, without advice to a learner.
    """

    def __init__(self, said: str, fault: str = "") -> None:
        super().__init__(said)
        self.fault = fault or said


def _damaged(fault: str, blame: str = "") -> ExerciseError:
    """Return the error for a learner, who should get the folder's files again."""
    return ExerciseError(" ".join(filter(None, [fault, blame, _RESTORE])), fault)


@dataclass(frozen=True)
class Exercise:
    """One exercise: its folder and the fields of its `exercise.toml`.

    `shelf` is the folder `exercises` in which the learner's answers are: that of their workbook, or
    the one that the exercise itself is in.

    `entry` is the name of the kernel, or of the function or class that `driver.py` calls where the
    answer is host code; `measured` is the case on which the contracts are counted; `hint_for` says
    which hint, counted from 1, is on a kind of finding or the measure of a contract. A detective
    exercise starts from a broken kernel instead of an empty one. The cases that are `hidden` count
    in `gpukit grade` only, which grades the exercise `with_hidden_cases`. One that is `released`
    is a students' copy: it has no solution and no known mistakes. The inputs of its cases are drawn
    from `seed`.
    """

    folder: Path
    shelf: Path
    title: str
    entry: str
    points: int
    hints: tuple[str, ...]
    hint_for: dict[str, int] = field(hash=False)
    measured: str
    contracts: tuple[Contract, ...]
    detective: bool
    seconds: float
    slow: str
    ulps: float
    seed: int = SEED
    hidden: tuple[str, ...] = ()
    shows_hidden: bool = False
    released: bool = False

    @property
    def name(self) -> str:
        """The folder's own name: what a learner types."""
        return self.folder.name

    @property
    def topic(self) -> str:
        """The chapter's folder, such as `04_reduction`."""
        return self.folder.parent.name

    @property
    def place(self) -> Path:
        """The folder that the learner works in."""
        return self.shelf / self.topic / self.name

    @property
    def answer(self) -> Path:
        """The learner's own file. Git ignores it."""
        return self.place / ANSWER

    @property
    def task(self) -> Path:
        """The task, where the learner works."""
        mine = self.place / "task.md"
        return mine if mine.exists() else _there(self.folder, "task.md")

    @property
    def starter(self) -> Path:
        """The file a learner starts from. Nobody edits it."""
        return _there(self.folder, "starter.py")

    @property
    def solution(self) -> Path:
        """The model answer."""
        return self.folder / "solution.py"

    @property
    def model(self) -> str | None:
        """The text of the model answer; None in a students' copy."""
        return None if self.released else _there(self.folder, "solution.py").read_text("utf-8")

    @property
    def may_need_barrier(self) -> bool:
        """Whether the model answer, if it is here, has a barrier for the threads of a block."""
        return self.model is None or "cuda.syncthreads" in calls(self.model)

    @property
    def driver(self) -> Path | None:
        """The file whose `run(answer, *arguments)` calls an answer that is host code."""
        file = self.folder / DRIVER
        return file if file.exists() else None

    @property
    def mistakes(self) -> tuple[dict[str, Any], ...]:
        """The tables of `mistakes.toml`: each a sentence and the edit of the solution it names."""
        if self.released:
            return ()
        return tuple(tables(_there(self.folder, MISTAKES)).get("mistake", ()))

    @property
    def sha256(self) -> str:
        """The checksum of the files in its folder, which changes when one of them does."""
        files = [file for name in (*FILES, DRIVER) if (file := self.folder / name).exists()]
        parts = (part for file in files for part in (file.name.encode(), file.read_bytes()))
        return hashlib.sha256(b"\0".join(parts)).hexdigest()

    @property
    def with_hidden_cases(self) -> Exercise:
        """The exercise whose hidden cases count as well."""
        return replace(self, shows_hidden=True)

    @property
    def shapes(self) -> dict[str, tuple[int, ...]]:
        """The shapes to test, by the name of their case; hidden ones only if it shows them."""
        module = _module(self.folder, "cases.py", ("SHAPES", "case"))
        with self._calling(module):
            shapes = {name: tuple(shape) for name, shape in module.SHAPES.items()}
            for name in _measured(self.measured, self.contracts):
                if name not in shapes:
                    raise LookupError(f"SHAPES has no case {name!r}, which is the one to measure")
            for name in self.hidden:
                if name not in shapes:
                    raise LookupError(f"SHAPES has no case {name!r}, which is to be hidden")
            left_out = () if self.shows_hidden else self.hidden
            return {name: shape for name, shape in shapes.items() if name not in left_out}

    def drawn(self, seed: int) -> tuple[int, ...]:
        """Return a shape drawn from `seed`, a little larger along every axis than any case.

        It is larger than a power of two just above them, too: people write 64 where they see 61.
        """
        rng = np.random.default_rng(seed)
        most = map(max, zip(*self.shapes.values(), strict=True))
        return tuple(_above(extent) + int(rng.integers(1, extent // 4 + 3)) for extent in most)

    def case(self, shape: tuple[int, ...], name: str = "") -> Case:
        """Return the case of one shape."""
        rng = np.random.default_rng([self.seed, *shape])
        module = _module(self.folder, "cases.py", ("SHAPES", "case"))
        with self._calling(module):
            made: Case = module.case(rng, *shape)
            return replace(made, name=name)

    @contextlib.contextmanager
    def _calling(self, module: ModuleType) -> Iterator[None]:
        """Say which line of `cases.py` is at fault where it raises: it is the teacher's, not ours.

        An answer cannot be graded then, and is not to blame.
        """
        try:
            yield
        except Exception as error:
            file = str(module.__file__)
            frames = traceback.extract_tb(error.__traceback__)
            lines = [frame.lineno for frame in frames if frame.filename == file]
            place = f"{file}:{lines[-1]}" if lines else file
            raise _damaged(
                f"{place}: the cases of {self.name} cannot be created: {type(error).__name__}: "
                f"{error}.",
                "Your answer is not the cause.",
            ) from error

    def cases(self) -> list[Case]:
        """Return the cases of all shapes."""
        return [self.case(shape, name) for name, shape in self.shapes.items()]


def _above(extent: int) -> int:
    """Return the next power of two if it is at most a quarter larger, else the extent.

    >>> _above(61), _above(64), _above(264)
    (64, 64, 264)
    """
    power = 1 << max(extent - 1, 0).bit_length()
    return power if power - extent <= extent // 4 else extent


def _measured(measured: str, bounds: tuple[Contract, ...]) -> set[str]:
    """Return the names of the cases that are counted."""
    return {measured, *(contract.case for contract in bounds if contract.case)}


def _there(folder: Path, name: str) -> Path:
    file = folder / name
    if not file.exists():
        raise _damaged(f"{file}: expected a file of the exercise, got none.")
    return file


def tables(file: Path) -> dict[str, Any]:
    """Return the tables of a TOML file, or raise saying where it is none."""
    try:
        return tomllib.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise _damaged(f"{file}: expected readable TOML, got: {error}.") from error


@functools.cache
def _module(folder: Path, name: str, needed: tuple[str, ...]) -> ModuleType:
    """Return the module `name` of an exercise, or raise saying why it is none."""
    path = _there(folder, name)
    named = f"gpukit_{path.stem}_{path.parent.name}"
    spec = importlib.util.spec_from_file_location(named, path)
    assert spec is not None
    module = importlib.util.module_from_spec(spec)
    try:
        source.execute(path, module)
    except Exception as error:
        raise _damaged(f"{path}: {type(error).__name__}: {error}.") from error
    for wanted in needed:
        if not hasattr(module, wanted):
            raise _damaged(f"{path}: expected it to define {wanted}, got none.")
    return module


def root() -> Path:
    """Return the folder `exercises`: GPUKIT_EXERCISES, or the nearest one above this place."""
    named = os.environ.get("GPUKIT_EXERCISES")
    if named:
        return _named(Path(named))
    found = nearest(Path.cwd()) or book()
    if found is None:
        raise ExerciseError(
            "gpukit: expected a folder named exercises here or above, got none. "
            "Go to your copy of the project, or set GPUKIT_EXERCISES to that folder."
        )
    return found


def nearest(place: Path) -> Path | None:
    """Return the folder `exercises` in a folder, or in the nearest one above it; else None."""
    found = (folder / "exercises" for folder in (place, *place.parents))
    return next(filter(_holds_exercises, found), None)


def book() -> Path | None:
    """Return the folder `exercises` of the project; None where only the package is installed."""
    folder = Path(__file__).resolve().parents[2] / "exercises"
    return folder if _holds_exercises(folder) else None


def _holds_exercises(folder: Path) -> bool:
    return any(folder.glob("*/*/exercise.toml"))


def _named(folder: Path) -> Path:
    if not _holds_exercises(folder):
        raise ExerciseError(
            f"GPUKIT_EXERCISES: expected the folder exercises of a copy of the project, got "
            f"{folder}. Set it to that folder, or unset it."
        )
    return folder


def shelf() -> Path:
    """Return the folder in which answers are kept.

    That is `exercises` in the workbook around this place, else in the one that `make lab` makes in
    the project, else in the project itself.
    """
    exercises = root()
    usual = exercises.parent / workbook.USUAL
    mine = workbook.around(Path.cwd()) or (usual if workbook.is_one(usual) else None)
    return mine / "exercises" if mine else exercises


def read(folder: Path, shelf: Path | None = None) -> Exercise:
    """Return the exercise in `folder`, or raise naming the field that is wrong."""
    path = folder / "exercise.toml"
    try:
        data: dict[str, Any] = tomllib.loads(path.read_text(encoding="utf-8"))
        bounds = tuple(contracts.read(item) for item in data.get("contracts", ()))
        hidden = tuple(str(name) for name in data.get("hidden", ()))
        for name in _measured(str(data["measured"]), bounds) & {*hidden}:
            raise ValueError(f"the case {name!r} is measured, so it cannot be hidden")
        return Exercise(
            folder=folder,
            shelf=shelf or folder.parent.parent,
            title=str(data["title"]),
            entry=str(data["entry"]),
            points=int(data["points"]),
            hints=tuple(str(hint).strip() for hint in data["hints"]),
            hint_for={str(kind): int(n) for kind, n in data.get("hint_for", {}).items()},
            measured=str(data["measured"]),
            contracts=bounds,
            detective=bool(data.get("detective", False)),
            seconds=float(data["limits"]["seconds"]),
            slow=str(data["limits"].get("why", "")),
            ulps=float(data["tolerance"]["ulps"]),
            hidden=hidden,
            released=bool(data.get("released", False)),
        )
    except KeyError as error:
        raise ExerciseError(f"{path}: expected the field {error}, got none.") from error
    except (OSError, ValueError, TypeError) as error:
        raise ExerciseError(f"{path}: expected a readable exercise, got: {error}") from error


def calls(program: str) -> set[str]:
    """Return the functions that a program calls, as it writes them.

    >>> sorted(calls("cuda.syncthreads(); out[i] = max(a, b)"))
    ['cuda.syncthreads', 'max']
    """
    return {ast.unparse(n.func) for n in ast.walk(ast.parse(program)) if isinstance(n, ast.Call)}


def every() -> list[Exercise]:
    """Return all exercises in the order of the book; within a chapter the easiest first."""
    return of(root(), shelf())


def of(exercises: Path, shelf: Path | None = None) -> list[Exercise]:
    """Return those of a folder `exercises` in that order."""
    found = [read(path.parent, shelf) for path in exercises.glob("*/*/exercise.toml")]
    return sorted(found, key=lambda e: (e.topic, e.detective, e.points, e.name))


def worked_on_in(folder: Path) -> Exercise | None:
    """Return the exercise whose answer belongs in a folder, or None."""
    with contextlib.suppress(ExerciseError):
        known = next((e for e in every() if folder.resolve() in _both(e)), None)
        if known is not None or not (folder / "exercise.toml").exists():
            return known
        return read(folder.resolve())
    return None


def _both(exercise: Exercise) -> tuple[Path, Path]:
    return exercise.place.resolve(), exercise.folder.resolve()


def find(name: str, known: list[Exercise] | None = None) -> Exercise:
    """Return the exercise called `name` (`block_sum` or `04_reduction/block_sum`).

    It is the first of that name among those that are `known`, by default `every()`.
    """
    wanted = name.replace("\\", "/").rstrip("/")
    known = every() if known is None else known
    for exercise in known:
        if wanted in (exercise.name, f"{exercise.topic}/{exercise.name}"):
            return exercise
    names = [exercise.name for exercise in known]
    close = difflib.get_close_matches(wanted.rpartition("/")[2], names, n=1)
    guess = f"Did you mean {close[0]}?" if close else "`gpukit list` shows all names."
    raise ExerciseError(f"gpukit: expected the name of an exercise, got {name!r}. {guess}")
