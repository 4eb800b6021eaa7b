"""The options of the commands for teachers."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import Any

from gpukit.cli import argument_types

# Those of gpukit.classroom.export, whose import takes too long for --help.
TARGETS = ("nbgrader", "otter", "gradescope", "classroom50", "prairielearn", "zip")


def add(commands: Any, add: Callable[..., Any]) -> None:
    """Add the commands, each with `add` of the parser."""
    _grade(commands, add)
    _add_exercises(commands, add)
    _export(commands, add)


def _grade(commands: Any, add: Callable[..., Any]) -> None:
    text = "grade the submissions of a class in a sandbox"
    grade = add(commands, "grade", "grading.grade", text)
    grade.add_argument("folder", metavar="SUBMISSIONS", help="one folder per student")
    grade.add_argument("--out", required=True, metavar="FOLDER", help="where reports are written")
    grade.add_argument(
        "--exercise",
        action="append",
        default=[],
        metavar="NAME",
        help="grade this exercise only; may be given several times (default: all that are there)",
    )
    grade.add_argument("--roster", metavar="FILE", help="a CSV file with names and addresses")
    grade.add_argument(
        "--jobs", type=argument_types.count, metavar="N", help="processes (default: one per core)"
    )
    grade.add_argument("--seed", type=_seed, metavar="S", help="of the inputs (default: a new one)")
    grade.add_argument(
        "--isolation",
        default="",
        metavar="MODE",
        help="bubblewrap, landlock, user or none (default: the strongest that works)",
    )
    grade.add_argument(
        "--executor",
        type=_address,
        metavar="dask://HOST:PORT",
        help="grade in the workers of a Dask cluster, also at tcp://... (needs the extra dask)",
    )


def _add_exercises(commands: Any, add: Callable[..., Any]) -> None:
    """Add the commands with which exercises are made and handed out."""
    new = add(commands, "new", "teacher.new", "make an exercise of your own, which works at once")
    new.add_argument(
        "place", metavar="TOPIC/NAME", help="its topic and name, such as 01_maps/scale_add"
    )
    new.add_argument("--like", metavar="EXERCISE", help="copy this exercise (default: a small one)")
    new.add_argument(
        "--folder",
        metavar="FOLDER",
        help="the folder of your course (default: the one around you, or the current folder)",
    )
    text = "verify an exercise: the solution passes, and each known mistake is explained"
    _exercises(add(commands, "verify", "teacher.verify", text))
    text = "make a students' copy of exercises, without solutions and hidden cases"
    release = add(commands, "release", "teacher.release", text)
    release.add_argument("folder", metavar="FOLDER", help="a new folder")
    _exercises(release)
    release.add_argument(
        "--keep-hints", action="store_true", help="keep hints that show a line of the solution"
    )


def _exercises(parser: Any) -> None:
    parser.add_argument(
        "names", nargs="+", metavar="EXERCISE", help="an exercise, or a topic with all of its own"
    )


def _export(commands: Any, add: Callable[..., Any]) -> None:
    text = "write exercises as an assignment for nbgrader, Gradescope, ... or for students"
    export = add(commands, "export", "teacher.export", text)
    _exercises(export)
    export.add_argument(
        "--to", type=_target, required=True, metavar="TARGET", help=" or ".join(TARGETS)
    )
    export.add_argument(
        "--out",
        required=True,
        metavar="FOLDER",
        help="a new or empty folder, named like the assignment",
    )


def _target(text: str) -> str:
    if text not in TARGETS:
        raise argparse.ArgumentTypeError(f"expected {' or '.join(TARGETS)}, got {text!r}")
    return text


def _seed(text: str) -> int:
    if not text.isdecimal() or int(text) >= 1 << 32:
        raise argparse.ArgumentTypeError(f"expected a whole number below 2^32, got {text!r}")
    return int(text)


def _address(text: str) -> str:
    if not text.startswith(("dask://", "tcp://")):  # a scheduler calls itself tcp://
        raise argparse.ArgumentTypeError(f"expected dask://HOST:PORT or tcp://..., got {text!r}")
    return text
