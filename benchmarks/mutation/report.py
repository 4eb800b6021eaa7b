"""The figures and tables of a mutation run, as Markdown and as JSON."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from benchmarks.harness import markdown as table
from benchmarks.mutation.mutants import OPERATORS, Mutant
from benchmarks.mutation.truth import FAULTS
from benchmarks.mutation.verdict import IGNORED, OUTCOMES, Verdict

ENDING = {"outside", "absent", "diverged", "hung", "crashed"}  # faults that the oracle ends with
FLAGGED = ("right finding", "other finding", "wrong answer")
COLUMNS = (*OUTCOMES[:4], "equivalent", *OUTCOMES[4:])
TERMS = """\
A mutant is a kernel of the book with one mistake, made by a program
(`benchmarks/mutation/operators.py` and `places.py`), and run in checked mode on small launches.

- *Equivalent*: it behaves as the kernel does; listed below, each with the reason. *Rejected*: the
  compiler rejects it. The rest are *mistakes*.
- *Flagged*: there is a finding (idle threads do not count), or the answer differs from the
  reference by more than rounding.
- *Right finding*: a finding of a class that belongs to the mistake. Each operator lists its classes
  in advance; they are not derived from the findings. *Other finding*: of any other class.
- *Does something forbidden*: no checker can find a violation where there is none. A sum that starts
  at 1 reads and writes correctly and only computes a wrong value. Checked mode does not decide
  which mutants violate a rule: `benchmarks/mutation/truth.py` runs each on the same launches in an
  interpreter that shares no code with the compiler, one Python generator per thread, and compares
  all accesses with one another; of a kernel's large launches, only a small one. A mutant that it
  does not finish in two minutes counts as forbidden. The table's last line counts all mistakes."""
# Classes that the oracle does not know and therefore cannot call false.
OWN = frozenset(["block-order", "raised", "int32-overflow", "misaligned"])


@dataclass(frozen=True)
class Row:
    """One mutant, the verdict of checked mode, the oracle's faults, and why it may be equivalent.

    `digest` is that of everything it depends on, `day` when it was examined; `whole` says whether
    the oracle interprets all of its launches: large ones would take hours.
    """

    mutant: Mutant
    verdict: Verdict
    faults: tuple[str, ...]
    reason: str = ""
    digest: str = ""
    day: str = ""
    whole: bool = True

    @property
    def outcome(self) -> str:
        """The outcome, with "equivalent" for survivors that are listed with a reason."""
        survived = self.verdict.outcome == "survived"
        return "equivalent" if survived and self.reason else self.verdict.outcome

    @property
    def counts(self) -> bool:
        """Whether it is a mistake: not equivalent, and a kernel that compiles."""
        return self.outcome not in ("equivalent", "rejected")

    @property
    def forbidden(self) -> bool:
        """Whether the oracle saw a fault that a checker can find."""
        return self.counts and bool(self.faults)

    @property
    def unconfirmed(self) -> bool:
        """Whether checked mode reports a class that the oracle did not see."""
        true = set().union(*(FAULTS[fault] for fault in self.faults if fault in FAULTS))
        if "race" in self.faults:  # another order than the oracle's leaves other elements unset
            true |= FAULTS["unset"]
        said = set(self.verdict.kinds) - OWN - IGNORED
        # The oracle sees nothing after a fault that stops it, after its time limit, or in launches
        # that it does not interpret.
        return bool(said - true) and self.whole and not ENDING & set(self.faults)

    def as_dict(self) -> dict[str, Any]:
        """Return the row as plain data."""
        return {
            **self.verdict.as_dict(),
            "outcome": self.outcome,
            "operator": self.mutant.operator,
            "subject": self.mutant.subject,
            "faults": self.faults,
            "change": self.mutant.change,
            "digest": self.digest,
            "day": self.day,
        }


def figures(rows: list[Row]) -> dict[str, int]:
    """Return the counts behind the two figures."""
    counted = [row for row in rows if row.counts]
    forbidden = [row for row in rows if row.forbidden]
    right = [row for row in forbidden if row.outcome == "right finding"]
    return {
        "mutants": len(rows),
        "equivalent": sum(row.outcome == "equivalent" for row in rows),
        "rejected": sum(row.outcome == "rejected" for row in rows),
        "mistakes": len(counted),
        "flagged": sum(row.outcome in FLAGGED for row in counted),
        "right_of_all": sum(row.outcome == "right finding" for row in counted),
        "forbidden": len(forbidden),
        "right": len(right),
        "only_wrong_numbers": sum(row.counts and not row.faults for row in rows),
        "unconfirmed": sum(row.unconfirmed for row in rows),
    }


def percent(part: int, whole: int) -> str:
    """Return `98.1%`."""
    return f"{100 * part / whole:.1f}%" if whole else "-"


def markdown(rows: list[Row], of: int = 0) -> str:
    """Return the whole report; `of` is the number of all mutants if these are a sample."""
    return "\n\n".join(
        [
            TERMS,
            *([_sampled(rows, of)] if len(rows) < of else []),
            _summary(figures(rows)),
            _days(rows),
            "### By mistake",
            _outcomes("operator", rows, lambda row: row.mutant.operator, _meaning),
            "### By kernel",
            _outcomes("kernel", rows, lambda row: row.mutant.subject),
            "### Survivors",
            _survivors(rows) or "None.",
            "### Equivalents",
            _equivalents(rows) or "None.",
        ]
    )


def _sampled(rows: list[Row], of: int) -> str:
    subjects = len({row.mutant.subject for row in rows})
    return (
        f"A sample: {len(rows)} of the {of} mutants, chosen by a digest of their names. It holds "
        f"mutants of {subjects} kernels and device functions."
    )


def _summary(n: dict[str, int]) -> str:
    mistakes, forbidden = (
        f"{n['mistakes']} mistakes",
        f"{n['forbidden']} that do something forbidden",
    )
    rows = [
        ("flagged by a finding or a wrong answer", mistakes, n["mistakes"], n["flagged"], "98%"),
        ("finding of the right kind", forbidden, n["forbidden"], n["right"], "90%"),
        ("the same, of all mistakes", mistakes, n["mistakes"], n["right_of_all"], "-"),
    ]
    cells = [[name, of, part, goal, percent(part, all_)] for name, of, all_, part, goal in rows]
    return (
        f"{n['mutants']} mutants: {n['mistakes']} mistakes, {n['equivalent']} equivalent, "
        f"{n['rejected']} that the compiler rejects. {n['only_wrong_numbers']} mistakes only "
        "compute wrong values. Findings of a class that the oracle did not see: "
        f"{n['unconfirmed']}.\n\n{table(['figure', 'of', 'count', 'target', 'fraction'], cells)}"
    )


def _days(rows: Iterable[Row]) -> str:
    """Return how many mutants were examined on which day."""
    said = Counter(row.day for row in rows)
    return f"Examined: {', '.join(f'{n} on {day}' for day, n in sorted(said.items()))}."


def _meaning(operator: str) -> str:
    return OPERATORS[operator].meaning


def _outcomes(
    title: str,
    rows: Iterable[Row],
    key: Callable[[Row], str],
    meaning: Callable[[str], str] | None = None,
) -> str:
    groups: dict[str, Counter[str]] = {}
    for row in rows:
        groups.setdefault(key(row), Counter())[row.outcome] += 1
    names = [name for name in COLUMNS if any(group[name] for group in groups.values())]
    cells = [
        [
            name,
            *([meaning(name)] if meaning else []),
            *(group.total(), *(group[column] for column in names)),
        ]
        for name, group in sorted(groups.items())
    ]
    return table([title, *(["what it does"] if meaning else []), "mutants", *names], cells)


def _survivors(rows: Iterable[Row]) -> str:
    bad = [row for row in rows if row.outcome in ("survived", "crashed", "hung")]
    return "\n".join(f"- `{row.mutant.id}` {row.outcome}: {_change(row)}" for row in bad)


def _equivalents(rows: Iterable[Row]) -> str:
    equal = [row for row in rows if row.outcome == "equivalent"]
    return "\n".join(f"- `{row.mutant.id}`: {_change(row)}. {row.reason}" for row in equal)


def _change(row: Row) -> str:
    return " ".join(f"`{line}`" for line in row.mutant.change.splitlines())
