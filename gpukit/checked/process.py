"""Checking every launch of a process: `GPUKIT_TARGET=checked` and `gpukit check script.py`."""

from __future__ import annotations

import contextlib
import functools
import os
import sys
import warnings
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType
from typing import Any

from gpukit import errors, files
from gpukit.checked import check, ordering, profile, recording
from gpukit.checked.command import listening, observing
from gpukit.checked.finding import ERROR, Finding
from gpukit.checked.ordering.tracker import Tracker
from gpukit.checked.report import Report
from gpukit.cpu.launch import failure

_PACKAGE = str(Path(errors.__file__).parent) + os.sep


@functools.cache
def order() -> Tracker:
    """Return the tracker of this process's operations, which raises races as errors."""
    return ordering.process_tracker(_raise_race)


def _raise_race(found: Finding) -> None:
    """Raise a race outside of a launch, or warn of it, at the line that it is about."""
    if found.severity == ERROR:
        raise failure.at_line(_failed(found), "<module>")
    warnings.warn_explicit(_warning(found), None, found.file, found.line)


def raise_findings(kernel: Any, shape: Any, arguments: tuple[Any, ...]) -> None:
    """Run a launch under the checker; raise the first error at the line of the launch."""
    report = check.run_aloud(kernel, shape, arguments)
    if report.errors:
        more = len(report.errors) - 1
        rest = f" ({more} more: run gpukit check to see them all.)" if more else ""
        raise _failed(report.errors[0], rest)
    for found in report.warnings:
        warnings.warn(_warning(found), stacklevel=_level_of_the_launch())


def _level_of_the_launch() -> int:
    """Return how many frames above this function's caller the nearest one outside gpukit is."""
    frame: FrameType | None = sys._getframe(1)
    level = 1
    while frame is not None and frame.f_code.co_filename.startswith(_PACKAGE):
        frame, level = frame.f_back, level + 1
    return level


def _failed(found: Finding, rest: str = "") -> errors.CheckFailed:
    """Return the error for a finding."""
    return errors.CheckFailed(
        f"{found.kind}: {found.message}{rest}",
        kernel=found.kernel,
        file=found.file,
        line=found.line,
        source=found.source,
        fix=found.fix,
        array=found.array,
        index=found.index,
    )


def _warning(found: Finding) -> errors.CheckWarning:
    """Return the warning for a finding."""
    text = f"{found.file}:{found.line}: {found.kind}: {found.message} What to do: {found.fix}"
    return errors.CheckWarning(text)


def run_reported(
    reports: list[Report], kernel: Any, shape: Any, arguments: tuple[Any, ...]
) -> Report:
    """Run a launch under the checker; append its report to the list, interrupted or not."""
    try:
        report = check.run(kernel, shape, arguments)
    except KeyboardInterrupt as stopped:
        reports.append(getattr(stopped, "report", None) or check.unfinished(kernel, shape))
        raise
    reports.append(report)
    return report


@contextlib.contextmanager
def checking() -> Iterator[list[Report]]:
    """Check the launches inside a `with` block; the list gets a report per launch."""
    reports: list[Report] = []

    def observer(kernel: Any, shape: Any, arguments: tuple[Any, ...]) -> None:
        run_reported(reports, kernel, shape, arguments)

    def listener(_command: str, answer: Any) -> None:
        report = answer if isinstance(answer, Report) else getattr(answer, "report", None)
        if report is not None:
            reports.append(report)

    with observing(observer), listening(listener), check.following(reports):
        yield reports


@contextlib.contextmanager
def profiling() -> Iterator[list[profile.Profile]]:
    """Profile the launches inside a `with` block; the list gets a profile per launch."""
    profiles: list[profile.Profile] = []

    def observer(kernel: Any, shape: Any, arguments: tuple[Any, ...]) -> None:
        profiles.append(profile.run(kernel, shape, arguments))

    with observing(observer):
        yield profiles


@dataclass
class Pages:
    """The pages that were written, and why there are no more, where one could not be.

    `reports` has the report of each page's launch.
    """

    written: list[Path] = field(default_factory=list)
    reports: list[Report] = field(default_factory=list)
    refused: errors.OutputError | None = None


@contextlib.contextmanager
def recording_to(folder: Path, most: int) -> Iterator[Pages]:
    """Record the first launches inside a `with` block as pages in a folder.

    A page that cannot be written is no fault of the program: the program continues, and nothing
    more is recorded.
    """
    from gpukit.checked.player import Player

    pages = Pages()

    def observer(kernel: Any, shape: Any, arguments: tuple[Any, ...]) -> None:
        if pages.refused or len(pages.written) >= most:
            kernel.launcher.run_plain(shape, arguments)
            return
        recorded, report = recording.record_checked(kernel, shape, arguments)
        pages.reports.append(report)
        made = Player(recorded)
        path = folder / f"{len(pages.written) + 1:02d}_{kernel.py_func.__name__}.html"
        try:
            with files.refusing(path):
                folder.mkdir(parents=True, exist_ok=True)
                made.save(path)
        except errors.OutputError as refused:
            pages.refused = refused
        else:
            pages.written.append(path)

    with observing(observer):
        yield pages
