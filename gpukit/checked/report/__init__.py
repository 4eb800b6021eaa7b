"""The findings of a checked launch, or of a whole script: as text, HTML, JSON and JUnit XML."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from gpukit.checked.finding import ERROR, INFO, KINDS, SEVERITIES, WARNING, Finding
from gpukit.checked.report import as_html, as_json, as_junit, as_text, content, merging
from gpukit.checked.report.merging import Launch


@dataclass(repr=False)
class Report:
    """The findings of one or more launches, worst first, and what was run.

    `launched` lists every kernel and shape of a merged report; for a single launch it is made
    from the fields before it. Equal findings give equal text: the output is deterministic, and only
    JSON and JUnit include the seconds.
    """

    findings: list[Finding]
    kernel: str = ""
    grid: tuple[int, ...] = ()
    block: tuple[int, ...] = ()
    launches: int = 1
    seconds: float = 0.0
    blocks_run: int = 0
    idle_warps: int = 0
    target: str = "checked"
    notes: list[str] = field(default_factory=list)
    launched: tuple[Launch, ...] = ()
    shown: bool = field(default=False, init=False, compare=False)  # to the user, as text or HTML
    # what ended a single launch, as a plain launch raises it
    error: BaseException | None = field(default=None, init=False, compare=False)

    def __post_init__(self) -> None:
        self.findings = sorted(self.findings, key=_order)
        if not self.launched and self.kernel and self.launches:
            mine = (self.kernel, tuple(self.grid), tuple(self.block))
            self.launched = (
                Launch(*mine, self.launches, self.blocks_run, self.seconds, self.idle_warps),
            )

    @property
    def errors(self) -> list[Finding]:
        """The findings that make a kernel wrong."""
        return self.of(ERROR)

    @property
    def warnings(self) -> list[Finding]:
        """The findings that may not make a kernel wrong."""
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
    def summary(self) -> str:
        """How many findings there are, and what was checked, as a sentence."""
        return content.summary(self)

    @property
    def exit_code(self) -> int:
        """The exit code of a command that prints this report.

        1 with errors and where a launch did not run to completion, else 0.
        """
        return 0 if self.ok and not any(launch.stopped for launch in self.launched) else 1

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
        """Return the report for a terminal; `width` is the terminal's own, at most 100.

        `limit` is how many findings are shown, without those that are `known`; the summary always
        counts all of them.
        """
        self.shown = True
        return as_text.render(self, colour=colour, width=width, limit=limit, known=known)

    def _repr_html_(self) -> str:
        self.shown = True
        return as_html.render(self)

    def to_junit(self, known: Sequence[Finding] = ()) -> str:
        """Return JUnit XML: a test case for each kernel and kind of finding.

        Errors fail, unless all of a case are `known`: it is skipped.
        """
        return as_junit.render(self, known)

    def to_json(self, indent: int | None = 2) -> str:
        """Return the report as JSON; gpukit.checked.report.as_json documents the keys."""
        return json.dumps(as_json.plain(self), indent=indent, allow_nan=False)

    @classmethod
    def from_json(cls, text: str) -> Report:
        """Return the report that `to_json` wrote, in this or in another process."""
        findings, launched, notes, target = as_json.parts(json.loads(text))
        return _made(findings, launched, notes, target)

    @classmethod
    def merge(cls, reports: Iterable[Report]) -> Report:
        """Return one report for many launches; findings of the same lines are merged.

        >>> one = Report([], kernel="add_kernel", grid=(4,), block=(256,), blocks_run=4)
        >>> Report.merge([one, one]).launches
        2
        """
        reports = list(reports)
        targets = dict.fromkeys(report.target for report in reports)
        return _made(
            merging.findings(finding for report in reports for finding in report.findings),
            merging.launches(launch for report in reports for launch in report.launched),
            list(dict.fromkeys(note for report in reports for note in report.notes)),
            ", ".join(targets) or "checked",
        )


def merge(reports: Iterable[Report]) -> Report:
    """Return one report for many launches; see `Report.merge`."""
    return Report.merge(reports)


def _made(
    findings: list[Finding], launched: Sequence[Launch], notes: list[str], target: str
) -> Report:
    """Return a report of several launches; fields in which they differ stay empty."""

    def common(values: Iterable[Any], otherwise: Any) -> Any:
        different = list(dict.fromkeys(values))
        return different[0] if len(different) == 1 else otherwise

    return Report(
        findings,
        kernel=common((launch.kernel for launch in launched), ""),
        grid=common((launch.grid for launch in launched), ()),
        block=common((launch.block for launch in launched), ()),
        launches=sum(launch.launches for launch in launched),
        seconds=sum(launch.seconds for launch in launched),
        blocks_run=sum(launch.blocks_run for launch in launched),
        idle_warps=sum(launch.idle_warps for launch in launched),
        target=target,
        notes=notes,
        launched=tuple(launched),
    )


def _order(finding: Finding) -> tuple[Any, ...]:
    """Worst first, then as the source is read."""
    return (
        SEVERITIES.index(finding.severity),
        finding.file,
        finding.line,
        list(KINDS).index(finding.kind),
        finding.other_line,
        finding.array,
        tuple(int(i) for i in finding.index),
        finding.message,
    )
