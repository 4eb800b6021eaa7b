"""Checking every launch of a process: `GPUKIT_TARGET=checked` and `gpukit check script.py`."""

from __future__ import annotations

import contextlib
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from gpukit import errors
from gpukit.checked import check, ordering, profile, recording
from gpukit.checked.finding import ERROR, Finding
from gpukit.checked.report import Report
from gpukit.checked.verb import observing
from gpukit.cpu.launch import failure, launcher


def install() -> None:
    """Check all launches of this process from now on; an error is raised where it was launched."""
    launcher.observe_launches(_raise_findings)
    ordering.install(_raise_race)


def _raise_race(found: Finding) -> None:
    """Raise a race outside of a launch, or warn of it, at the line that it is about."""
    if found.severity == ERROR:
        raise failure.at_line(_failed(found), "<module>")
    warnings.warn_explicit(_warning(found), None, found.file, found.line)


def _raise_findings(kernel: Any, shape: Any, arguments: tuple[Any, ...]) -> None:
    report = check.run(kernel, shape, arguments)
    if report.errors:
        more = len(report.errors) - 1
        rest = f" ({more} more: run gpukit check to see all.)" if more else ""
        raise _failed(report.errors[0], rest)
    for found in report.warnings:
        warnings.warn(_warning(found), stacklevel=4)


def _failed(found: Finding, rest: str = "") -> errors.CheckFailed:
    """Return the error for a finding."""
    return errors.CheckFailed(
        f"{found.kind}: {found.message}{rest}", kernel=found.kernel, file=found.file,
        line=found.line, source=found.source, fix=found.fix, array=found.array, index=found.index,
    )  # fmt: skip


def _warning(found: Finding) -> errors.CheckWarning:
    """Return the warning for a finding."""
    text = f"{found.file}:{found.line}: {found.kind}: {found.message} What to do: {found.fix}"
    return errors.CheckWarning(text)


@contextlib.contextmanager
def checking() -> Iterator[list[Report]]:
    """Check the launches inside a `with` block; the list gets a report for each."""
    reports: list[Report] = []

    def observer(kernel: Any, shape: Any, arguments: tuple[Any, ...]) -> None:
        try:
            reports.append(check.run(kernel, shape, arguments))
        except KeyboardInterrupt:
            reports.append(check.unfinished(kernel, shape))
            raise

    with observing(observer), check.following(reports):
        yield reports


@contextlib.contextmanager
def profiling() -> Iterator[list[profile.Profile]]:
    """Profile the launches inside a `with` block; the list gets a profile for each."""
    profiles: list[profile.Profile] = []

    def observer(kernel: Any, shape: Any, arguments: tuple[Any, ...]) -> None:
        profiles.append(profile.run(kernel, shape, arguments))

    with observing(observer):
        yield profiles


@contextlib.contextmanager
def recording_to(folder: Path, most: int) -> Iterator[list[Path]]:
    """Record the first launches inside a `with` block as pages in a folder."""
    from gpukit.checked.player import Player

    pages: list[Path] = []

    def observer(kernel: Any, shape: Any, arguments: tuple[Any, ...]) -> None:
        if len(pages) >= most:
            kernel.launcher.run_plain(shape, arguments)
            return
        made = Player(recording.record(kernel, shape, arguments))
        folder.mkdir(parents=True, exist_ok=True)
        path = folder / f"{len(pages) + 1:02d}_{kernel.py_func.__name__}.html"
        made.save(path)
        pages.append(path)

    with observing(observer):
        yield pages
