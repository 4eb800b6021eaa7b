"""What all renderings of a report share: locations, lines, counts, and the summary."""

from __future__ import annotations

import math
import os
import re
import textwrap
from collections.abc import Sequence, Sized
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from gpukit import errors
from gpukit.checked.finding import SEVERITIES
from gpukit.checked.messages.phrases import some
from gpukit.checked.report.merging import Launch

if TYPE_CHECKING:
    from gpukit.checked.report import Report

WHAT = "races, invalid accesses, uninitialized memory, and misused barriers and masks"

# Control characters would affect a terminal and are invalid in XML; so is half a surrogate.
_UNPRINTABLE = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]")


class Shown(Protocol):
    """What the renderings need of a finding: one of a launch, or one of a parallel program."""

    @property
    def kind(self) -> str: ...
    @property
    def title(self) -> str: ...
    @property
    def severity(self) -> str: ...
    @property
    def kernel(self) -> str: ...
    @property
    def file(self) -> str: ...
    @property
    def line(self) -> int: ...
    @property
    def source(self) -> str: ...
    @property
    def other_line(self) -> int: ...
    @property
    def other_source(self) -> str: ...
    @property
    def message(self) -> str: ...
    @property
    def fix(self) -> str: ...
    @property
    def count(self) -> int: ...
    @property
    def details(self) -> dict[str, Any]: ...


class ShownReport(Protocol):
    """What the renderings need of a report; `launched` is empty where nothing was checked."""

    notes: list[str]

    @property
    def findings(self) -> Sequence[Shown]: ...
    @property
    def launched(self) -> Sized: ...
    @property
    def ok(self) -> bool: ...
    @property
    def summary(self) -> str: ...


class Line(NamedTuple):
    """One line of source; `marked` is the line that was caught."""

    number: int
    text: str
    marked: bool


def clean(text: str) -> str:
    """Return text in which every unprintable character is a replacement character."""
    return _UNPRINTABLE.sub("\ufffd", text)


def where(finding: Shown) -> str:
    """Return `file:line in kernel`; the shortest path to the file, or a notebook cell's name."""
    kernel = f"in {finding.kernel}" if finding.kernel else ""
    if not finding.file:
        return clean(kernel)
    return clean(f"{place(finding.file, finding.line)} {kernel}".rstrip())


def place(file: str, line: int) -> str:
    """Return a line's location, with the shortest path to its file or a notebook cell's name."""
    is_cell = errors.file_name(file) != file
    return errors.place(file if is_cell else _short(file), line)


def _short(file: str) -> str:
    """Return the path relative to the current folder, where the file is below it."""
    try:
        here = os.path.join(os.getcwd(), "")  # noqa: PTH109, PTH118
    except OSError:  # the folder was removed
        return file
    return file.removeprefix(here)


def source_lines(finding: Shown) -> list[Line]:
    """Return the lines of a finding as in the file, without their common indent."""
    texts = {finding.line: finding.source}
    here = not finding.details.get("other_file")
    if here and finding.other_source and finding.other_line:
        texts.setdefault(finding.other_line, finding.other_source)
    found = {
        number + offset: (text, number == finding.line)
        for number, lines in sorted(texts.items())
        for offset, text in enumerate(lines.rstrip().splitlines())
    }
    shown = textwrap.dedent("\n".join(text.expandtabs(4) for text, _ in found.values()))
    return [
        Line(number, clean(text).rstrip(), marked)
        for (number, (_, marked)), text in zip(found.items(), shown.split("\n"), strict=False)
        if text.strip()
    ]


def times(finding: Shown) -> str:
    """Return how often it was caught, or nothing for once."""
    return f"Caught {finding.count:,} times." if finding.count > 1 else ""


def counts(report: ShownReport) -> str:
    """Return `2 errors, 1 warning`."""
    found = [finding.severity for finding in report.findings]
    each = ((found.count(severity), severity) for severity in SEVERITIES)
    return ", ".join(some(count, severity) for count, severity in each if count)


def summary(report: Report) -> str:
    """Return the sentence that says how many findings there are, and what was checked."""
    if not report.findings:
        if not report.launched:
            return "Nothing was checked: no kernel was launched."
        so_far = " so far" if any(launch.stopped for launch in report.launched) else ""
        return f"No findings{so_far}: {_ran(report)} in {_what(report)} checked for {WHAT}."
    if not report.launched:
        return f"{counts(report)}."
    return f"{counts(report)} in {_what(report)}: {_ran(report)} checked."


def _what(report: Report) -> str:
    """Return the launch as its line in the script writes it, or how many there were."""
    if len(report.launched) == 1:
        kernels = shaped(report.launched[0])
    else:
        kernels = some(len({launch.kernel for launch in report.launched}), "kernel")
    return f"{report.launches} launches of {kernels}" if report.launches > 1 else kernels


def shaped(launch: Launch) -> str:
    """Write a launch as in source.

    >>> shaped(Launch("add_kernel", (4, 1, 1), (16, 16, 1)))
    'add_kernel[4, (16, 16)]'
    """
    shape = ", ".join(_axes(part) for part in (launch.grid, launch.block) if part)
    return clean(f"{launch.kernel}[{shape}]" if shape else launch.kernel)


def _axes(sizes: tuple[int, ...]) -> str:
    numbers = list(sizes)
    while len(numbers) > 1 and numbers[-1] == 1:
        numbers.pop()
    text = ", ".join(map(str, numbers))
    return text if len(numbers) == 1 else f"({text})"


def _ran(report: Report) -> str:
    """Return how many blocks ran, and of how many where some did not."""
    asked = sum(math.prod(launch.grid) * launch.launches for launch in report.launched)
    all_known = all(launch.grid for launch in report.launched)
    if not report.blocks_run:
        stopped = any(launch.stopped for launch in report.launched)
        return f"none of {some(asked, 'block')}" if stopped and all_known else "no blocks"
    part = f"{report.blocks_run} of " if all_known and asked > report.blocks_run else ""
    blocks = some(asked if part else report.blocks_run, "block")
    threads = {math.prod(launch.block) for launch in report.launched if launch.block}
    each = f" of {some(threads.pop(), 'thread')}" if len(threads) == 1 else ""
    return f"{part}{blocks}{each}"
