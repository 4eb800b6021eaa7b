"""How things look on a terminal: colour, tables, progress. Plain text everywhere else."""

from __future__ import annotations

import importlib.util
import itertools
import json
import os
import shutil
import sys
import textwrap
import traceback
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from types import TracebackType
from typing import Any, Protocol, TextIO

from gpukit import errors, status

_COLOURS = {"good": "32", "bad": "31", "note": "33", "strong": "1", "dim": "2"}


def fancy(stream: TextIO) -> bool:
    """Return whether `stream` is a terminal that wants colour (https://no-color.org)."""
    if os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb":
        return False
    return stream.isatty()


def _has_rich() -> bool:
    return importlib.util.find_spec("rich") is not None


def paint(text: str, style: str) -> str:
    """Return `text` in a style (good, bad, note, strong, dim) where colour is wanted."""
    return f"\033[{_COLOURS[style]}m{text}\033[0m" if fancy(sys.stdout) else text


def text(line: str = "") -> None:
    """Print a line."""
    print(line)


def paragraph(words: str, indent: str = "  ") -> None:
    """Print words broken to the width of the terminal."""
    width = min(shutil.get_terminal_size((100, 24)).columns, 100)
    print(
        textwrap.fill(
            words,
            width,
            initial_indent=indent,
            subsequent_indent=indent,
            break_long_words=False,
            break_on_hyphens=False,
        )
    )


def block(lines: str, indent: str = "  ") -> None:
    """Print lines as they are, indented; long ones of plain words are broken."""
    for line in lines.splitlines():
        if line.startswith(" ") or len(line) < 90:
            print(f"{indent}{line}".rstrip())
        else:
            paragraph(line, indent)


def data(value: Any) -> None:
    """Print JSON."""
    print(json.dumps(value, indent=2, default=str))


def traceback_from(error: BaseException) -> None:
    """Print the traceback of somebody's script without the frames of ours that led to it.

    An error of gpukit's own says all in its words; in any other, frames of ours may be to blame.
    """
    frames = list(_frames(error.__traceback__))
    if isinstance(error, errors.GpukitError):
        frames = list(_not_led_by_us(frames))
    shown = None
    for frame in reversed(list(itertools.dropwhile(_is_ours, frames))):
        shown = TracebackType(shown, frame.tb_frame, frame.tb_lasti, frame.tb_lineno)
    traceback.print_exception(type(error), error, shown)


def _frames(first: TracebackType | None) -> Iterator[TracebackType]:
    while first is not None:
        yield first
        first = first.tb_next


def _not_led_by_us(frames: list[TracebackType]) -> Iterator[TracebackType]:
    """Yield the frames that are neither of gpukit nor of what it calls in Python's library."""
    led = False
    for frame in frames:
        led = _is_ours(frame) or (led and _root(frame) in sys.stdlib_module_names)
        if not led:
            yield frame


def _root(frame: TracebackType) -> str:
    return str(frame.tb_frame.f_globals.get("__name__", "")).partition(".")[0]


def _is_ours(frame: TracebackType) -> bool:
    """Tell whether a frame is of gpukit, or of `runpy`, which runs the script."""
    return _root(frame) in ("gpukit", "runpy")


def table(headers: Sequence[str], rows: Sequence[Sequence[str]], right: Sequence[int] = ()) -> None:
    """Print a table; the columns numbered in `right` are set to the right."""
    if fancy(sys.stdout) and _has_rich():
        _rich_table(headers, rows, right)
        return
    widths = [max(map(len, column)) for column in zip(headers, *rows, strict=True)]
    for number, row in enumerate((headers, *rows)):
        cells = [
            cell.rjust(width) if index in right else cell.ljust(width)
            for index, (cell, width) in enumerate(zip(row, widths, strict=True))
        ]
        line = "  ".join(cells).rstrip()
        print(paint(line, "strong") if number == 0 else line)


def _rich_table(
    headers: Sequence[str], rows: Sequence[Sequence[str]], right: Sequence[int]
) -> None:
    from rich import box
    from rich.console import Console
    from rich.table import Table

    made = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False)
    for index, header in enumerate(headers):
        made.add_column(header, justify="right" if index in right else "left", no_wrap=index != 1)
    for row in rows:
        made.add_row(*row)
    Console(highlight=False, markup=False).print(made)


class Step(Protocol):
    """What `progress` hands out: call it with the name of what comes next."""

    def __call__(self, name: str) -> None: ...


def _nothing(name: str) -> None:
    """Take a step nobody sees."""


@contextmanager
def progress(total: int, quiet: bool = False) -> Iterator[Step]:
    """Show a bar on standard error while the body runs; nothing where that is no terminal."""
    if quiet or not fancy(sys.stderr):
        yield _nothing
    else:
        bar = _rich_progress if _has_rich() else _plain_progress
        with status.silent(), bar(total) as step:
            yield step


@contextmanager
def _rich_progress(total: int) -> Iterator[Step]:
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

    columns = (BarColumn(bar_width=24), MofNCompleteColumn(), TextColumn("{task.description}"))
    # Drawn by hand at each step: a thread that redraws would disturb what is being timed.
    console = Console(stderr=True)
    with Progress(*columns, console=console, transient=True, auto_refresh=False) as bar:
        task = bar.add_task("", total=total)
        done = -1

        def step(name: str) -> None:
            nonlocal done
            done += 1
            bar.update(task, completed=done, description=name, refresh=True)

        yield step


@contextmanager
def _plain_progress(total: int) -> Iterator[Step]:
    done = -1

    def step(name: str) -> None:
        nonlocal done
        done += 1
        filled = 24 * done // max(total, 1)
        bar = "#" * filled + "." * (24 - filled)
        print(f"\r\033[K[{bar}] {done}/{total} {name}", end="", file=sys.stderr, flush=True)

    try:
        yield step
    finally:
        print("\r\033[K", end="", file=sys.stderr, flush=True)
