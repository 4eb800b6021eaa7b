"""Find quotations in findings, errors and profiles that are not in the user's source."""

from __future__ import annotations

import keyword
import linecache
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import gpukit

_PACKAGE = Path(gpukit.__file__).parent
_QUOTED = re.compile(r"`([^`]+)`")
_NAME = re.compile(r"[^\W\d]\w*")
# Code that advice suggests, whatever names the kernel uses.
ADVISED = frozenset(
    """
    np float32 int64 cuda threadIdx x y z grid sync syncthreads syncwarp atomic add cas exch sub
    and_ or_ xor threadfence ballot_sync condition launch ceil_div n threads value shape i out row
    width col align debug shared array xffffffff device_array to_device zeros
    """.split()
)
# The names of arrays inside cuda.reduce, for which its users have no names.
REDUCED = frozenset(["arr", "parts", "res"])


def foreign(found: Any) -> list[str]:
    """Return quotations in a report, profile or error that the user did not write."""
    if isinstance(found, BaseException):
        return list(_of_error(found))
    if hasattr(found, "findings"):
        return [text for finding in found.findings for text in _of_finding(finding)]
    return list(_of_profile(found))


def _of_finding(f: Any) -> Iterator[str]:
    yield from _of_place(f.file, f.line, f.source)
    if f.other_line:
        yield from _of_place(f.file, f.other_line, f.other_source)
    words = _words(f.file)
    yield from (f"array {name}" for name in _NAME.findall(f.array) if name not in words)
    yield from _of_sentence(f.message, words)
    yield from _of_sentence(f.fix, words)
    what = str(f.details.get("what", ""))
    if what and f.kind != "launch-refused" and what not in _text(f.file):
        yield f"what {what}"


def _of_error(error: Any) -> Iterator[str]:
    yield from _of_place(error.file, error.line, error.source)
    yield from _of_sentence(str(error), _words(error.file))
    frames = error.__traceback__
    while frames is not None:
        last, frames = frames.tb_frame.f_code.co_filename, frames.tb_next
    if error.file and last != error.file:
        yield f"the traceback ends in {last}"


def _of_profile(profile: Any) -> Iterator[str]:
    for listing in (profile, *profile.called):
        lines = listing.source if listing is profile else listing.lines
        shown = {number: text.strip() for number, text in lines}
        mine = {line.strip() for line in linecache.getlines(profile.file)}
        yield from (f"line {k}: {text}" for k, text in shown.items() if not _is_mine(text, mine))
    own = [(profile.file, number) for number, _ in profile.source]
    known = {*own, *(place for listing in profile.called for place, _ in listing.places())}
    yield from (f"line {at.line} of no function" for at in profile.lines if at not in known)
    words, text = _words(profile.file) | REDUCED, _text(profile.file)
    yield from (
        f"access {a.text}" for a in profile.accesses if a.text not in REDUCED and a.text not in text
    )
    for name in (n for array in profile.arrays for n in _NAME.findall(array)):
        if name not in words:
            yield f"array {name}"
    for sentence in profile.advice():
        yield from _of_sentence(sentence, words)


def _is_mine(text: str, mine: set[str]) -> bool:
    return text in mine or text.rstrip(". \"'rR") in " ".join(mine)


def _of_place(file: str, line: int, source: str) -> Iterator[str]:
    inside = Path(file).is_relative_to(_PACKAGE)
    if inside and not Path(file).is_relative_to(_PACKAGE / "kernels"):
        yield f"place {file}:{line}"
    if line and source.strip() and source.strip() != linecache.getline(file, line).strip():
        yield f"line {line}: {source}"


def _of_sentence(text: str, words: frozenset[str]) -> Iterator[str]:
    for quoted in _QUOTED.findall(text):
        for name in _NAME.findall(quoted):
            if name not in words | ADVISED and not keyword.iskeyword(name):
                yield f"{name} in `{quoted}`"


def _words(file: str) -> frozenset[str]:
    return frozenset(_NAME.findall("".join(linecache.getlines(file))))


def _text(file: str) -> str:
    """Return a file joined into one line, without end-of-line comments."""
    lines = (line.partition("  # ")[0].strip() for line in linecache.getlines(file))
    return " ".join(line for line in lines if line)
