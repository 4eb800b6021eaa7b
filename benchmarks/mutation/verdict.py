"""The verdict on one mutant, from checked mode's findings and the answer."""

from __future__ import annotations

import tempfile
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import gpukit
from benchmarks.mutation import cases, mutants
from gpukit import errors
from gpukit.checked.finding import KINDS

# From good to bad. "rejected": the compiler rejects the mutant.
OUTCOMES = (
    "right finding",
    "other finding",
    "wrong answer",
    "survived",
    "rejected",
    "crashed",
    "hung",
)
# Not a mistake: a small launch has threads without work.
IGNORED = frozenset(["idle-threads"])


@dataclass(frozen=True)
class Verdict:
    """The outcome of one mutant, the classes of findings, and whether the answer is wrong."""

    id: str
    outcome: str
    kinds: tuple[str, ...] = ()
    wrong: bool = False
    note: str = ""

    def as_dict(self) -> dict[str, Any]:
        """Return the verdict as plain data."""
        return asdict(self)


def examine(mutant: mutants.Mutant) -> Verdict:
    """Run a mutant on every launch of its kernel."""
    with tempfile.TemporaryDirectory() as folder:
        kernel = mutants.build(mutant, Path(folder))
        kinds: set[str] = set()
        wrong = False
        for case in cases.find(mutant.kernel):
            arguments = case.make()
            try:
                report = gpukit.check(kernel)[case.shape](*arguments)
            except errors.CompileError as error:
                return Verdict(mutant.id, "rejected", note=error.message)
            except errors.GpukitError as error:
                return Verdict(mutant.id, "crashed", note=str(error))
            kinds |= {finding.kind for finding in report.findings} - IGNORED
            wrong = wrong or case.wrong(arguments)
    found = tuple(kind for kind in KINDS if kind in kinds)
    return Verdict(mutant.id, _outcome(mutant, kinds, wrong), found, wrong)


def _outcome(mutant: mutants.Mutant, kinds: set[str], wrong: bool) -> str:
    if kinds & mutant.right_kinds:
        return "right finding"
    if kinds:
        return "other finding"
    return "wrong answer" if wrong else "survived"
