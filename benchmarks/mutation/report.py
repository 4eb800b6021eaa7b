"""The figures and tables of a mutation run, as Markdown and as data."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from benchmarks.mutation.mutants import OPERATORS, Mutant
from benchmarks.mutation.truth import FAULTS
from benchmarks.mutation.verdict import IGNORED, OUTCOMES, Verdict
from gpukit.checked.finding import KINDS

ENDING = {"outside", "absent", "diverged", "hung", "crashed"}  # faults that the oracle ends with
FLAGGED = ("right finding", "other finding", "wrong answer")
COLUMNS = (*OUTCOMES[:4], "equivalent", *OUTCOMES[4:])
TERMS = """\
A mutant is a kernel of the book with one mistake in it, put there by a program
(`benchmarks/mutation/operators.py` and `places.py`), and run in checked mode on small launches.

- *Equivalent*: it does what the kernel does; listed below, each with the reason. *Refused*: the
  compiler says that it is no kernel. The rest are *mistakes*.
- *Flagged*: there is a finding (idle threads do not count), or the answer is off from the
  reference by more than rounding.
- *Right finding*: a finding of a class that belongs to the mistake. Which classes do is written
  beside each operator, not read off from what was found. *Other finding*: of any other class.
- *Does something forbidden*: no checker can find a rule broken where none is. A sum that begins
  with 1 reads and writes what it should and only computes a wrong number. Which mutants break a
  rule is not for checked mode to say: `benchmarks/mutation/truth.py` runs each on the same launches
  in an interpreter that shares no code with the compiler, one Python generator for each thread, and
  compares all accesses with one another; where a kernel has large launches, only a small one. What
  it does not end in two minutes counts as forbidden. The table's last line leaves nobody out."""
# Classes that the oracle knows nothing about, so that it cannot call them false.
OWN = frozenset(["block-order", "raised", "int32-overflow", "misaligned"])


@dataclass(frozen=True)
class Row:
    """One mutant, what checked mode said, what the oracle saw, and why it may be equivalent.

    `digest` is that of all it depends on, `day` when it was examined; `whole` says whether the
    oracle interprets all of its launches: large ones would take it hours.
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
        return self.outcome not in ("equivalent", "refused")

    @property
    def forbidden(self) -> bool:
        """Whether the oracle saw it do something that a checker can find."""
        return self.counts and bool(self.faults)

    @property
    def unconfirmed(self) -> bool:
        """Whether checked mode reports a class of which the oracle saw nothing."""
        true = set().union(*(FAULTS[fault] for fault in self.faults if fault in FAULTS))
        if "race" in self.faults:  # the order, which the oracle has otherwise, decides what is set
            true |= FAULTS["unset"]
        said = set(self.verdict.kinds) - OWN - IGNORED
        # After some faults the oracle stops: it did not see what would have followed. Nor did it
        # where it ran out of time, or had only a part of the launches to look at.
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
    """Return the counts that the two figures are made of."""
    counted = [row for row in rows if row.counts]
    forbidden = [row for row in rows if row.forbidden]
    right = [row for row in forbidden if row.outcome == "right finding"]
    return {
        "mutants": len(rows),
        "equivalent": sum(row.outcome == "equivalent" for row in rows),
        "refused": sum(row.outcome == "refused" for row in rows),
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
    """Return the whole report; `of` is the number of all mutants, of which these are a sample."""
    return "\n\n".join(
        [
            TERMS,
            *([_sampled(rows, of)] if len(rows) < of else []),
            _summary(figures(rows)),
            _days(rows),
            "### By mistake",
            _table("operator", rows, lambda row: row.mutant.operator, _meaning),
            "### By kernel",
            _table("kernel", rows, lambda row: row.mutant.subject),
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
    lines = [
        "| figure | of | count | to reach | share |",
        "|---|---:|---:|---:|---:|",
        f"| flagged by a finding or a wrong answer | {n['mistakes']} mistakes | {n['flagged']} "
        f"| 98% | {percent(n['flagged'], n['mistakes'])} |",
        f"| finding of the right kind | {n['forbidden']} that do something forbidden "
        f"| {n['right']} | 90% | {percent(n['right'], n['forbidden'])} |",
        f"| the same, of all mistakes | {n['mistakes']} mistakes | {n['right_of_all']} | - "
        f"| {percent(n['right_of_all'], n['mistakes'])} |",
    ]
    text = (
        f"{n['mutants']} mutants: {n['mistakes']} mistakes, {n['equivalent']} equivalent, "
        f"{n['refused']} that the compiler refuses. {n['only_wrong_numbers']} mistakes only "
        "compute wrong numbers. Findings of a class of which the oracle saw nothing: "
        f"{n['unconfirmed']}."
    )
    return f"{text}\n\n" + "\n".join(lines)


def _days(rows: Iterable[Row]) -> str:
    """Return which run examined how many."""
    said = Counter(row.day for row in rows)
    parts = [f"{count} on {day}" for day, count in sorted(said.items())]
    return f"Examined: {', '.join(parts)}."


def _meaning(operator: str) -> str:
    return OPERATORS[operator].meaning


def _table(
    title: str,
    rows: Iterable[Row],
    key: Callable[[Row], str],
    meaning: Callable[[str], str] | None = None,
) -> str:
    groups: dict[str, Counter[str]] = {}
    for row in rows:
        groups.setdefault(key(row), Counter())[row.outcome] += 1
    names = [name for name in COLUMNS if any(group[name] for group in groups.values())]
    heads = [title, *(["what it does"] if meaning else []), "mutants", *names]
    marks = ["---"] * (2 if meaning else 1) + ["---:"] * (1 + len(names))
    lines = [f"| {' | '.join(heads)} |", f"|{'|'.join(marks)}|"]
    for name in sorted(groups):
        group = groups[name]
        said = [name, *([meaning(name)] if meaning else [])]
        numbers = [group.total(), *(group[column] for column in names)]
        lines.append(f"| {' | '.join([*said, *map(str, numbers)])} |")
    return "\n".join(lines)


def _survivors(rows: Iterable[Row]) -> str:
    bad = [row for row in rows if row.outcome in ("survived", "crashed", "hung")]
    return "\n".join(f"- `{row.mutant.id}` {row.outcome}: {_change(row)}" for row in bad)


def _equivalents(rows: Iterable[Row]) -> str:
    equal = [row for row in rows if row.outcome == "equivalent"]
    return "\n".join(f"- `{row.mutant.id}`: {_change(row)}. {row.reason}" for row in equal)


def _change(row: Row) -> str:
    return " ".join(f"`{line}`" for line in row.mutant.change.splitlines())


def kinds_of(rows: Iterable[Row]) -> Counter[str]:
    """Count how many mutants each class of findings was reported for."""
    seen = Counter(kind for row in rows for kind in row.verdict.kinds)
    return Counter({kind: seen[kind] for kind in KINDS if seen[kind]})
