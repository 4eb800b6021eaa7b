"""The commands for teachers: new, verify, release, export."""

from __future__ import annotations

import argparse
import shlex
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

from gpukit.cli import FINDINGS, WELL, show

MOST_NAMED = 3

if TYPE_CHECKING:
    from gpukit.classroom.proofs import Proved
    from gpukit.classroom.release import Released
    from gpukit.course.catalogue import Exercise


# ---- exercises of a teacher's own ---------------------------------------------------------------


def new(arguments: argparse.Namespace) -> int:
    """Make an exercise, and say how to go on."""
    from gpukit.classroom import new

    folder = Path(arguments.folder).expanduser() if arguments.folder else None
    made = new.make(arguments.place, arguments.like or "", folder)
    if arguments.json:
        written = sorted(file.name for file in made.folder.iterdir())
        show.data({"exercise": made.name, "folder": made.folder, "files": written})
        return WELL
    show.block(f"Created the exercise {made.name}: {made.folder}", indent="")
    show.block("It works as it is. Change its files, and see whether they still fit:", indent="")
    course = made.folder.parents[2]
    if course.resolve() != Path.cwd():
        show.block(f"cd {shlex.quote(str(course))}")
    show.block(f"gpukit verify {made.name}")
    return WELL


def verify(arguments: argparse.Namespace) -> int:
    """Run the proofs of exercises, printing each as it ends."""
    from gpukit import target
    from gpukit.classroom import chosen, proofs

    exercises = chosen.named(arguments.names)
    target.active()  # raises where kernels cannot run at all, which is no exercise's fault
    watched = proofs.run if arguments.json else _watched
    done = {exercise: watched(exercise) for exercise in exercises}
    if arguments.json:
        show.data(
            [
                {
                    "exercise": exercise.name,
                    "folder": exercise.folder,
                    "proofs": [proved._asdict() for proved in found],
                    "passed": not any(proved.problems for proved in found),
                }
                for exercise, found in done.items()
            ]
        )
    fails = any(proved.problems for found in done.values() for proved in found)
    return FINDINGS if fails else WELL


def _watched(exercise: Exercise) -> list[Proved]:
    from gpukit.classroom import proofs
    from gpukit.course.waiting import Waiting

    show.text(show.paint(f"{exercise.topic}/{exercise.name}", "strong"))
    with Waiting("verifying") as waiting:

        def watch(proved: Proved) -> None:
            waiting.clear()
            label, style = ("WRONG", "bad") if proved.problems else ("right", "good")
            show.entry(f"  {label}", proved.says, style)
            for problem in proved.problems:
                show.block(problem, indent="         ")

        done = proofs.run(exercise, watch, waiting)
    left = sum(map(len, proofs.STAGES)) - len(done)
    if left:
        show.text(f"Correct this and run it again: {left} more to verify.")
    elif not any(proved.problems for proved in done):
        show.text(f"All {len(done)} hold: {exercise.name} is ready for students.")
    show.text()
    return done


def release(arguments: argparse.Namespace) -> int:
    """Make a students' copy, and say what is in it and what is not."""
    from gpukit.classroom import chosen, release

    folder = Path(arguments.folder).expanduser()
    exercises = chosen.named(arguments.names)
    done = release.release(folder, exercises, keep_hints=arguments.keep_hints)
    record = release.record_of(folder)
    if arguments.json:
        show.data({"folder": folder, "record": record, "exercises": [asdict(one) for one in done]})
        return WELL
    count = len(done)
    points = sum(one.points for one in done)
    show.block(
        f"Released {count} exercise{'' if count == 1 else 's'}, {points} points: {folder}",
        indent="",
    )
    for one in done:
        show.text()
        show.text(show.paint(f"{one.topic}/{one.name}", "strong"))
        for words in _about(one):
            show.paragraph(words)
    show.text()
    show.block(f"For you, not for students: {record}", indent="")
    return WELL


def _about(one: Released) -> list[str]:
    """Return what a teacher should know about a released exercise, in sentences."""
    from gpukit.classroom import release

    hidden = [f"the case {name!r}" for name in one.hidden]
    hints = [f"hint {number}, which shows a line of the solution" for number in one.hints]
    said = [f"Left out: {'; '.join([*release.LEFT_OUT, *hidden, *hints])}."]
    if one.shown:
        said.append(f"Shows lines of the solution: {'; '.join(one.shown)}.")
    if one.alike:
        names = [f"{found.name} ({found.ratio:.0%})" for found in one.alike[:MOST_NAMED]]
        more = len(one.alike) - len(names)
        names += [f"{more} more"] if more else []
        said.append(f"Students can read what is (nearly) the solution: {', '.join(names)}.")
    return said


def export(arguments: argparse.Namespace) -> int:
    """Write exercises as an assignment of another tool."""
    from gpukit.classroom import chosen
    from gpukit.classroom.export import export

    exercises = chosen.named(arguments.names)
    folder = Path(arguments.out).expanduser()
    written = export(arguments.to, exercises, folder)
    if arguments.json:
        show.data({"target": arguments.to, "folder": folder, "files": written})
        return WELL
    names = ", ".join(exercise.name for exercise in exercises)
    show.text(f"Wrote {names} for {arguments.to}: {len(written)} files in {folder}.")
    show.text(f"What to do with them: {folder / 'README.md'}")
    return WELL
