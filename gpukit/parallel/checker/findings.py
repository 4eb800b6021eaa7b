"""What the checker of parallel programs can find, one finding, and the report of a run."""

from __future__ import annotations

import json
import linecache
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, NamedTuple

from gpukit.checked.finding import ERROR, INFO, SEVERITIES, WARNING
from gpukit.checked.messages.phrases import some
from gpukit.checked.report import as_html, as_text, content
from gpukit.checked.report.as_json import simple

SCHEMA, VERSION = "gpukit-check-ranks", 1
WHAT = "messages, exchanges of gradients, and parameters and dropout masks of the ranks"


class Kind(NamedTuple):
    """One class of findings: its usual severity, and what it is in a few words."""

    severity: str
    title: str


KINDS = {
    # Messages and collective operations
    "deadlock": Kind(ERROR, "ranks that wait for each other"),
    "rank-left": Kind(ERROR, "wait for a rank that has ended"),
    "collective-mismatch": Kind(ERROR, "different collective operations"),
    "collective-order": Kind(ERROR, "collective operations in different orders"),
    "message-mismatch": Kind(ERROR, "message of another shape, dtype or tag"),
    "message-order": Kind(ERROR, "messages in different orders"),
    "never-received": Kind(ERROR, "message that no rank receives"),
    "never-sent": Kind(ERROR, "receive of a message that no rank sends"),
    "not-waited": Kind(ERROR, "operation that was never waited for"),
    "in-flight": Kind(ERROR, "array used while an operation on it is in progress"),
    "raised": Kind(ERROR, "the program raised an exception"),
    # Gradients
    "missing-exchange": Kind(ERROR, "gradients that were not exchanged"),
    "early-exchange": Kind(ERROR, "exchange before the gradients were computed"),
    "late-exchange": Kind(ERROR, "exchange after the update"),
    "repeated-exchange": Kind(ERROR, "gradients exchanged twice"),
    "lost-result": Kind(ERROR, "exchange whose result is not used"),
    "summed": Kind(ERROR, "sum where a mean is meant"),
    "averaged": Kind(ERROR, "mean where a sum is meant"),
    "scaled": Kind(ERROR, "gradients scaled by a wrong factor"),
    "unequal-parts": Kind(ERROR, "parts of different sizes weighted equally"),
    "same-batch": Kind(ERROR, "the same examples on every rank"),
    "stale-gradient": Kind(ERROR, "gradient that was not computed in this step"),
    "repeated-bias": Kind(ERROR, "bias added on every rank"),
    "different-gradient": Kind(ERROR, "gradient that differs from that of one process"),
    # Parameters
    "different-start": Kind(ERROR, "ranks that start from different parameters"),
    "different-steps": Kind(ERROR, "different numbers of updates"),
    "drift": Kind(ERROR, "parameters that drifted apart"),
    "different-update": Kind(WARNING, "update that differs from that of one process"),
    "different-result": Kind(ERROR, "result that differs from that of one process"),
    # Random numbers and statistics
    "equal-masks": Kind(ERROR, "equal dropout masks for different examples"),
    "different-masks": Kind(ERROR, "different dropout masks for the same activations"),
    "local-statistics": Kind(INFO, "running averages that differ between ranks"),
}


class Place(NamedTuple):
    """A line of the program."""

    file: str = ""
    line: int = 0

    def __str__(self) -> str:
        return f"line {self.line} of {Path(self.file).name}" if self.line else "an unknown line"

    @property
    def source(self) -> str:
        """The text of the line."""
        return linecache.getline(self.file, self.line).rstrip("\n") if self.line else ""


@dataclass(frozen=True)
class Finding:
    """One mistake of a parallel program.

    `parameters` are the names of those concerned and `ranks` the numbers of the ranks; `step` is
    the number of the update, from 1, or 0 where it is not known. `count` says how often the same
    lines were caught. `details` has numbers that depend on the kind.
    """

    kind: str
    message: str
    fix: str
    parameters: tuple[str, ...] = ()
    ranks: tuple[int, ...] = ()
    step: int = 0
    file: str = ""
    line: int = 0
    source: str = ""
    other_line: int = 0
    other_source: str = ""
    severity: str = ""
    count: int = 1
    details: dict[str, Any] = field(default_factory=dict, compare=False)

    kernel = ""  # findings of launches name one

    @property
    def parameter(self) -> str:
        """The first of the parameters, or ""."""
        return self.parameters[0] if self.parameters else ""

    @property
    def title(self) -> str:
        """What the class of findings is, in a few words."""
        return KINDS[self.kind].title

    def as_dict(self) -> dict[str, Any]:
        """Return the finding as plain data, for JSON."""
        return {"title": self.title, **asdict(self)}


def make(
    kind: str, message: str, fix: str, place: Any = None, other: Any = None, **facts: Any
) -> Finding:
    """Return a finding at the line of `place`; both places have a `file` and a `line`."""
    here = Place(place.file, place.line) if place else Place()
    there = Place(other.file, other.line) if other else Place()
    details = facts.pop("details", {})
    if there.file != here.file and there.line:
        details = {**details, "other_file": there.file}
    facts.setdefault("severity", KINDS[kind].severity)
    return Finding(
        kind,
        message,
        fix,
        file=here.file,
        line=here.line,
        source=here.source,
        other_line=there.line,
        other_source=there.source,
        details=details,
        **facts,
    )


@dataclass(repr=False)
class RanksReport:
    """The findings of a program on several ranks, worst first, and what was run."""

    findings: list[Finding]
    program: str
    ranks: int
    operations: int = 0
    steps: int = 0
    notes: list[str] = field(default_factory=list)
    shown: bool = field(default=False, init=False, compare=False)  # to the user, as text or HTML

    def __post_init__(self) -> None:
        self.findings = sorted(_merged(self.findings), key=_order)

    @property
    def errors(self) -> list[Finding]:
        """The findings that make a program wrong."""
        return self.of(ERROR)

    @property
    def warnings(self) -> list[Finding]:
        """The findings that may not make a program wrong."""
        return self.of(WARNING)

    @property
    def infos(self) -> list[Finding]:
        """The findings worth knowing that are no mistakes."""
        return self.of(INFO)

    def of(self, severity: str) -> list[Finding]:
        """Return the findings of one severity, in order."""
        return [finding for finding in self.findings if finding.severity == severity]

    @property
    def ok(self) -> bool:
        """Whether there are no errors; warnings are allowed."""
        return not self.errors

    @property
    def exit_code(self) -> int:
        """The exit code of a command that prints this report: 1 with errors, else 0."""
        return 0 if self.ok else 1

    @property
    def launched(self) -> range:
        """The ranks that ran."""
        return range(self.ranks)

    @property
    def summary(self) -> str:
        """How many findings there are, and what was checked, as a sentence."""
        calls = some(self.operations, "communication call")
        ran = f"{self.program} on {some(self.ranks, 'rank')}: {some(self.steps, 'update')}, {calls}"
        if not self.findings:
            return f"No findings in {ran} checked for {WHAT}."
        return f"{content.counts(self)} in {ran} checked."

    def __repr__(self) -> str:
        return self.text()

    def text(
        self,
        *,
        colour: bool = False,
        width: int | None = None,
        limit: int = 50,
        known: Sequence[Finding] = (),
    ) -> str:
        """Return the report for a terminal; `width` is the terminal's own, at most 100."""
        self.shown = True
        return as_text.render(self, colour=colour, width=width, limit=limit, known=known)

    def _repr_html_(self) -> str:
        self.shown = True
        return as_html.render(self)

    def to_json(self, indent: int | None = 2) -> str:
        """Return the report as JSON: program, ranks, counts, notes, and every finding's fields."""
        data = {
            "schema": SCHEMA,
            "version": VERSION,
            "program": self.program,
            "ranks": self.ranks,
            "operations": self.operations,
            "steps": self.steps,
            "ok": self.ok,
            "exit_code": self.exit_code,
            "counts": {severity: len(self.of(severity)) for severity in SEVERITIES},
            "notes": self.notes,
            "findings": [finding.as_dict() for finding in self.findings],
        }
        return json.dumps(simple(data), indent=indent, allow_nan=False)


def _merged(found: Iterable[Finding]) -> list[Finding]:
    """Merge findings of one kind at the same lines; the words are those of the first."""
    kept: dict[tuple[Any, ...], Finding] = {}
    named: dict[tuple[Any, ...], int] = {}
    for new in found:
        key = (new.kind, new.file, new.line, new.other_line, new.message)
        if new.line or new.parameters:
            key = (*key[:-1], "")
        old = kept.get(key)
        if old is None:
            kept[key], named[key] = new, len(new.parameters)
            continue
        kept[key] = replace(
            old,
            parameters=tuple(dict.fromkeys(old.parameters + new.parameters)),
            ranks=tuple(sorted({*old.ranks, *new.ranks})),
            count=old.count + new.count,
        )
    return [_with_others(finding, named[key]) for key, finding in kept.items()]


def _with_others(finding: Finding, named: int) -> Finding:
    """Name in the message what was merged into a finding that named the first parameters."""
    others = finding.parameters[named:]
    if not others:
        return finding
    message = f"{finding.message} The same is true of {names_in_words(others)}."
    return replace(finding, message=message, count=1)


def _order(finding: Finding) -> tuple[Any, ...]:
    """Worst first, then in the order of updates and as the source is read."""
    return (
        SEVERITIES.index(finding.severity),
        finding.step,
        finding.file,
        finding.line,
        list(KINDS).index(finding.kind),
        finding.message,
    )


# --- Words ---------------------------------------------------------------------------------------


def ranks_in_words(ranks: Iterable[int]) -> str:
    """Return the ranks in words.

    >>> ranks_in_words([1]), ranks_in_words([0, 2, 3])
    ('rank 1', 'ranks 0, 2 and 3')
    """
    numbers = [str(rank) for rank in ranks]
    if len(numbers) == 1:
        return f"rank {numbers[0]}"
    return f"ranks {', '.join(numbers[:-1])} and {numbers[-1]}"


def names_in_words(names: Sequence[str], most: int = 3) -> str:
    """Return the names of parameters in words.

    >>> names_in_words(["0.weight", "0.bias"])
    '`0.weight` and `0.bias`'
    """
    shown = [f"`{name}`" for name in names[:most]]
    if len(names) > most:
        shown.append(f"{len(names) - most} more")
    return shown[0] if len(shown) == 1 else f"{', '.join(shown[:-1])} and {shown[-1]}"
