"""The options of the commands for teachers."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import Any

from gpukit.cli import argument_types


def add(commands: Any, add: Callable[..., Any]) -> None:
    """Add the commands, each with `add` of the parser."""
    _grade(commands, add)


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
        help="grade in the workers of a Dask cluster (needs the extra dask)",
    )


def _seed(text: str) -> int:
    if not text.isdecimal() or int(text) >= 1 << 32:
        raise argparse.ArgumentTypeError(f"expected a whole number below 2^32, got {text!r}")
    return int(text)


def _address(text: str) -> str:
    if not text.startswith("dask://"):
        raise argparse.ArgumentTypeError(f"expected dask://HOST:PORT, got {text!r}")
    return text
