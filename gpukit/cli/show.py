"""Terminal output: colour, tables, progress. Plain text everywhere else."""

from __future__ import annotations

import itertools
import json
import os
import sys
import traceback
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from types import TracebackType
from typing import Any, Protocol, TextIO

from gpukit import errors, status
from gpukit.table import broken, columns, fitted, layout

_COLOURS = {"good": "32", "bad": "31", "note": "33", "strong": "1", "dim": "2"}


def fancy(stream: TextIO) -> bool:
    """Return whether `stream` is a terminal that supports colour (https://no-color.org)."""
    if os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb":
        return False
    return stream.isatty()


def paint(text: str, style: str) -> str:
    """Return `text` in a style (good, bad, note, strong, dim) where colour is supported."""
    return f"\033[{_COLOURS[style]}m{text}\033[0m" if fancy(sys.stdout) else text


def width() -> int:
    """Return the width of text: that of the terminal, within limits that are easy to read."""
    return max(30, min(columns(sys.stdout) or 100, 100))


def text(line: str = "") -> None:
    """Print a line."""
    print(line)


def paragraph(words: str, indent: str = "  ", style: str = "") -> None:
    """Print words wrapped to the width of the terminal."""
    for line in broken(words, width() - len(indent)):
        print(f"{indent}{paint(line, style) if style else line}")


def entry(label: str, words: str, style: str = "strong", gap: str = "  ") -> None:
    """Print words after a label, further lines indented below the first."""
    first, *rest = broken(words, width() - len(label + gap))
    print(f"{paint(label, style)}{gap}{first}".rstrip())
    for line in rest:
        print(f"{' ' * len(label)}{gap}{line}")


def block(lines: str, indent: str = "  ") -> None:
    """Print lines as they are, indented; those that are too long are broken between words."""
    for line in fitted(lines, width() - len(indent)):
        print(f"{indent}{line}".rstrip())


def error(words: str, who: str = "gpukit") -> None:
    """Print an error on standard error, wrapped where that is a terminal."""
    said, width = f"{who}: error: {words}", columns(sys.stderr)
    print("\n".join(fitted(said, width)) if width else said, file=sys.stderr)


def note(words: str) -> None:
    """Print a note on standard error, wrapped where that is a terminal."""
    print("\n".join(broken(f"Note: {words}", columns(sys.stderr) or 10_000)), file=sys.stderr)


def data(value: Any) -> None:
    """Print JSON."""
    print(json.dumps(value, indent=2, default=str))


def traceback_from(error: BaseException) -> None:
    """Print the traceback of a user's script without gpukit's frames that led to it.

    An error of gpukit's own explains itself; in any other, gpukit's frames may be to blame.
    """
    frames = list(_frames(error.__traceback__))
    if isinstance(error, errors.GpukitError):
        frames = list(_not_led_by_us(frames))
    traceback.print_exception(type(error), error, _of_the_script(frames))


def whole_traceback(error: BaseException) -> TracebackType | None:
    """Return the traceback of an error from the script's first frame on, with those of gpukit."""
    return _of_the_script(_frames(error.__traceback__))


def _of_the_script(frames: Iterable[TracebackType]) -> TracebackType | None:
    """Return a traceback of these frames without those that led to the script."""
    shown = None
    for frame in reversed(list(itertools.dropwhile(_is_ours, frames))):
        shown = TracebackType(shown, frame.tb_frame, frame.tb_lasti, frame.tb_lineno)
    return shown


def _frames(first: TracebackType | None) -> Iterator[TracebackType]:
    while first is not None:
        yield first
        first = first.tb_next


def _not_led_by_us(frames: list[TracebackType]) -> Iterator[TracebackType]:
    """Yield the frames that are neither gpukit's nor of Python's library called by gpukit."""
    led = False
    for frame in frames:
        led = _is_ours(frame) or (led and _root(frame) in sys.stdlib_module_names)
        if not led:
            yield frame


def _root(frame: TracebackType) -> str:
    names = frame.tb_frame.f_globals  # `python -m` names every module `__main__`
    return str(names.get("__package__") or names.get("__name__", "")).partition(".")[0]


def _is_ours(frame: TracebackType) -> bool:
    """Tell whether a frame is gpukit's, or that of `runpy`, which runs the script."""
    return _root(frame) in ("gpukit", "runpy")


def table(
    headers: Sequence[str],
    rows: Sequence[Sequence[str]],
    right: Sequence[int] = (),
    group: str | None = None,
) -> None:
    """Print a table that fits the terminal; the columns numbered in `right` are numbers.

    `group` names a column whose cells are headings above the rows that share them.
    """
    shared = [row[list(headers).index(group)] for row in rows] if group else []
    kept = [k for k, head in enumerate(headers) if head != group]
    heads, below = layout(
        [headers[k] for k in kept],
        [[row[k] for k in kept] for row in rows],
        [kept.index(k) for k in right],
        columns(sys.stdout),
    )
    for line in heads:
        print(paint(line, "strong"))
    for number, lines in enumerate(below):
        if shared and (number == 0 or shared[number] != shared[number - 1]):
            print(f"\n{paint(shared[number], 'strong')}")
        print("\n".join(lines))


class Step(Protocol):
    """The callback that `progress` yields: call it with the name of what comes next."""

    def __call__(self, name: str) -> None: ...


def _nothing(name: str) -> None:
    """Do nothing, in place of a step."""


@contextmanager
def progress(total: int, quiet: bool = False) -> Iterator[Step]:
    """Show a bar on standard error while the body runs; nothing where that is no terminal."""
    if quiet or not fancy(sys.stderr):
        yield _nothing
        return
    done = -1

    def step(name: str) -> None:
        nonlocal done
        done += 1
        filled = 24 * done // max(total, 1)
        bar = "#" * filled + "." * (24 - filled)
        line = f"[{bar}] {done}/{total} {name}"[: columns(sys.stderr)]
        # Drawn at each step only: a thread that redraws would disturb what is being timed.
        print(f"\r\033[K{line}", end="", file=sys.stderr, flush=True)

    try:
        with status.silent():  # two lines that overwrite each other would be illegible
            yield step
    finally:
        print("\r\033[K", end="", file=sys.stderr, flush=True)
