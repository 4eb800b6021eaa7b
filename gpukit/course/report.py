"""What grading an answer has found out."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from gpukit.course.case import Case
from gpukit.course.verdicts import Row

# Called after each thing that was tried.
Observer = Callable[[Row], None]


@dataclass(frozen=True)
class Report:
    """What grading a file found out.

    `status` is "right", "but" (a contract is broken) or "wrong"; or what kept it from being
    graded: error, timeout, died, missing, protocol, syntax, untouched. `failed` is the smallest
    case that fails, where there is one.
    """

    exercise: str
    file: Path
    status: str
    why: str = ""
    rows: list[Row] = field(default_factory=list)
    failed: Case | None = None
    printed: str = ""
    about: str = ""  # the kind of the finding, or the measure of the contract, that `why` explains
    mistake: str = ""  # the known mistake that `why` explains
    undone: bool = False  # it changed files of exercises or grades, which were put back
    counters: dict[str, int] = field(default_factory=dict)  # RANKED, of the case that is measured

    @property
    def passed(self) -> bool:
        """Whether every case is right, no finding is in the way and every contract is kept."""
        return self.status == "right"
