"""Make an exercise: a copy of a small one, or of any other, that works and is to be changed."""

from __future__ import annotations

import os
import re
from pathlib import Path

from gpukit import files
from gpukit.classroom import chosen
from gpukit.course import catalogue, workbook
from gpukit.course.catalogue import Exercise, ExerciseError

SKELETON = Path(__file__).with_name("skeleton")
_PLACE = re.compile(r"([A-Za-z0-9][\w-]*)/([a-z][a-z0-9_]*)")
ELSEWHERE = "name a folder that you can write to: --folder FOLDER"


def make(place: str, like: str = "", folder: Path | None = None) -> Exercise:
    """Make the exercise `place`, TOPIC/NAME, and return it.

    It is a copy of the exercise `like`, or of a small one that explains the files. `folder` is that
    of the course, in which exercises are in `exercises/TOPIC/NAME`; without one it is the course
    around the current folder, or the current folder. Raise ExerciseError where that cannot be.
    """
    found = _PLACE.fullmatch(place)
    if found is None:
        raise ExerciseError(
            f"gpukit new: expected TOPIC/NAME, such as 01_maps/scale_add, got {place!r}. Write "
            "the name in lower-case letters, digits and underscores."
        )
    topic, name = found.groups()
    source = catalogue.find(like, chosen.known()) if like else catalogue.read(SKELETON)
    if source.model is None:
        raise ExerciseError(
            f"gpukit new --like: expected an exercise with a solution, got {source.name}, a "
            "students' copy. Name one from the folder that it was released from."
        )
    exercises = _exercises(folder)
    _refuse_taken(exercises, name)
    target = exercises / topic / name
    with files.whole_folder(target, ELSEWHERE) as unfinished:
        for file in (*catalogue.FILES, catalogue.DRIVER):
            if (source.folder / file).exists():
                text = (source.folder / file).read_text(encoding="utf-8")
                files.write(unfinished / file, _renamed(text, source, name), ELSEWHERE)
    return catalogue.read(target)


def _exercises(folder: Path | None) -> Path:
    """Return the folder `exercises` of a course, which need not be there yet."""
    if folder is None:
        named = os.environ.get("GPUKIT_EXERCISES")
        found = Path(named) if named else catalogue.nearest(Path.cwd())
        folder = Path.cwd() if found is None else found.parent
        exercises = found or folder / "exercises"
    else:
        exercises = folder / "exercises"
    if workbook.around(folder.absolute()) is not None:
        raise ExerciseError(
            f"gpukit new: expected the folder of a course, got {folder}, which is in a workbook "
            "for learners. Name another one: --folder FOLDER."
        )
    return exercises


def _refuse_taken(exercises: Path, name: str) -> None:
    """Raise where a course has an exercise of this name: commands find exercises by their name."""
    taken = next(exercises.glob(f"*/{name}"), None)
    if taken is not None:
        raise ExerciseError(
            f"gpukit new: expected a new name, got {name}, which is {taken}. Choose another one."
        )


def _renamed(text: str, source: Exercise, name: str) -> str:
    """Return a file of an exercise with another name in commands, and in that of its kernel.

    A kernel that is not named after its exercise keeps its name.
    """
    text = re.sub(rf"(%%exercise|gpukit \w+) {source.name}\b", rf"\1 {name}", text)
    return re.sub(rf"\b{source.name}_kernel\b", f"{name}_kernel", text)
