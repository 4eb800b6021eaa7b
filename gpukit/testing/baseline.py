"""A file of known findings, which do not fail: `--gpukit-baseline FILE`.

A finding is recognized by its kind, file, kernel, array and source lines, not by line numbers, so
edits elsewhere in the file do not make it a new one. The file is JSON, one entry per finding:

    kind, file (relative to pytest's root), kernel, array, source, other_source
    reason        why it is tolerated: written by a person, kept when the file is written again
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path

from gpukit import errors, files
from gpukit.checked.finding import Finding

SCHEMA, VERSION = "gpukit-baseline", 1


class BaselineError(errors.GpukitError, ValueError):
    """A file is no baseline, or cannot be read."""


@dataclass(frozen=True, order=True)
class Entry:
    """One known finding; equal entries are the same finding, whatever its reason."""

    file: str
    kernel: str
    kind: str
    source: str
    other_source: str = ""
    array: str = ""
    reason: str = field(default="", compare=False)

    def __str__(self) -> str:
        source = f": `{self.source}`" if self.source else ""
        return f"{self.kind} in {self.kernel}, {self.file}{source}"


class Baseline:
    """The known findings of one file, which need not exist yet if it is to be written."""

    def __init__(self, root: Path, path: Path | None = None, *, writes: bool = False) -> None:
        self.root, self.path, self.writes = root, path, writes
        entries = _read(path) if path and not (writes and not path.exists()) else []
        self.entries = {entry: entry for entry in entries}

    def knows(self, finding: Finding) -> bool:
        """Tell whether a finding is in the file, or will be."""
        return self.writes or self.entry(finding) in self.entries

    def stale(self, findings: Iterable[Finding]) -> list[Entry]:
        """Return the entries of which no finding is left, in order."""
        return sorted(self.entries.keys() - {self.entry(finding) for finding in findings})

    def write(self, findings: Iterable[Finding], *, whole: bool = True) -> tuple[int, int]:
        """Write these findings instead of the file's, with its reasons, and return how many.

        Unless they are those of the `whole` suite, the file's other entries are kept: the second
        number.
        """
        assert self.path is not None
        found = {self.entry(finding) for finding in findings}
        kept = set() if whole else self.entries.keys() - found
        made = [self.entries.get(entry, entry) for entry in sorted(found | kept)]
        data = {"schema": SCHEMA, "version": VERSION, "findings": [asdict(e) for e in made]}
        files.write(self.path, json.dumps(data, indent=2) + "\n")
        return len(found), len(kept)

    def entry(self, finding: Finding) -> Entry:
        """Return the entry for a finding."""
        return Entry(
            _relative(finding.file, self.root),
            finding.kernel,
            finding.kind,
            finding.source.strip(),
            finding.other_source.strip(),
            finding.array,
        )


def _relative(file: str, root: Path) -> str:
    """Return a path relative to pytest's root or, for an installed package, to its place there."""
    for folder in [root, *sorted(map(Path, filter(None, sys.path)), key=_depth)]:
        try:
            return Path(file).relative_to(folder).as_posix()
        except ValueError:
            continue
    return Path(file).name


def _depth(folder: Path) -> int:
    return -len(folder.parts)


def _read(path: Path) -> list[Entry]:
    again = "Write it with --gpukit-check --gpukit-baseline FILE --gpukit-baseline-write."
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        what = "which does not exist"
    except OSError as error:
        what = f"which cannot be read ({error.strerror})"
    except ValueError as error:
        what = f"which is not JSON ({error})"
    else:
        try:
            return _entries(data)
        except (KeyError, TypeError, AttributeError):
            what = f"which is not in the format {SCHEMA} version {VERSION}"
    raise BaselineError(
        f"--gpukit-baseline: expected a file of known findings, got {path}, {what}. {again}"
    )


def _entries(data: dict[str, object]) -> list[Entry]:
    """Return the entries; raise KeyError, TypeError or AttributeError if they are no such data."""
    if (data.get("schema"), data.get("version")) != (SCHEMA, VERSION):
        raise KeyError(SCHEMA)
    names = {each.name for each in fields(Entry)}
    found = data["findings"]
    if not isinstance(found, list):
        raise TypeError(SCHEMA)
    made = [Entry(**{key: item[key] for key in names & item.keys()}) for item in found]
    if any(not isinstance(value, str) for entry in made for value in asdict(entry).values()):
        raise TypeError(SCHEMA)
    return made
