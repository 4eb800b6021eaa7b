"""What an estimate says: of one launch, of several together, on one GPU or on several."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from gpukit.estimates import as_html, as_text, model, published
from gpukit.estimates.gpus import Machine
from gpukit.estimates.model import Times, Work

# Below this factor `help` does not name the next limit.
WORTH_SAYING = 1.2
SOURCE, SASS = "source", "SASS"


@dataclass(frozen=True, repr=False)
class Estimate:
    """The time that a GPU needs for a launch, in seconds, for this input only.

    `floor` is what no GPU of this kind undercuts, `likely` the estimate, `worst` a time that is not
    expected to be exceeded; `likely` and `worst` are None where `refused` says why there is the
    floor alone, and so is `floor` where there is no estimate. `bound` is what limits the launch, in
    words, `terms` the seconds of each resource alone. `wide` is why the band is wide, `basis` where
    the counts of instructions come from ("source" or "SASS"), `parts` are the launches of a sum.
    """

    kernel: str
    machine: Machine
    floor: float | None
    likely: float | None
    worst: float | None
    bound: str = ""
    terms: dict[str, float] = field(default_factory=dict)
    refused: str = ""
    wide: tuple[str, ...] = ()
    basis: str = SOURCE
    repeated: bool = False
    grid: tuple[int, int, int] = (0, 0, 0)
    block: tuple[int, int, int] = (0, 0, 0)
    blocks_run: int = 0
    work: Work | None = None
    parts: tuple[Estimate, ...] = ()

    @property
    def gpu(self) -> str:
        """The name of the GPU."""
        return self.machine.name

    @property
    def blocks(self) -> int:
        """The blocks of the launch."""
        return self.grid[0] * self.grid[1] * self.grid[2]

    @property
    def tested(self) -> tuple[published.Tested, ...]:
        """The tables of times that cover this GPU, with the error of the estimates for them."""
        return published.tested(self.machine)

    def help(self) -> str:
        """Return the limit after this one is removed, and the factor gained; "" below 1.2."""
        if self.likely is None:
            return ""
        after = [_without(part, self.bound) for part in self.parts or (self,)]
        left = sum(one.likely for one in after)
        if not left or self.likely < WORTH_SAYING * left:
            return ""
        factor, bound = self.likely / left, _longest(_terms(after))
        return f"without this limit, {factor:.1f} times faster; the next one is {bound}"

    def text(self, *, width: int | None = None) -> str:
        """Return the estimate for a terminal; `width` is at most 80."""
        return as_text.one(self, width)

    def __str__(self) -> str:
        return self.text()

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return as_html.one(self)

    def as_dict(self) -> dict[str, Any]:
        """Return the estimate as plain data, for JSON; times are in seconds."""
        return {
            "schema": "gpukit-estimate",
            "version": 1,
            "kernel": self.kernel,
            "gpu": self.gpu,
            "grid": list(self.grid),
            "block": list(self.block),
            "blocks_run": self.blocks_run,
            "floor": self.floor,
            "likely": self.likely,
            "worst": self.worst,
            "bound": self.bound,
            "help": self.help(),
            "terms": self.terms,
            "refused": self.refused,
            "wide": list(self.wide),
            "basis": self.basis,
            "repeated": self.repeated,
            "tested": [vars(one) for one in self.tested],
            "launches": [part.as_dict() for part in self.parts],
        }

    def to_json(self, indent: int | None = 2) -> str:
        """Return the estimate as JSON."""
        return json.dumps(self.as_dict(), indent=indent, allow_nan=False)


class Estimates(list[Estimate]):
    """Estimates side by side, such as those of several GPUs: prints as a table."""

    def text(self, *, width: int | None = None) -> str:
        """Return the table for a terminal; `width` is at most 80."""
        return as_text.several(self, width)

    def __str__(self) -> str:
        return self.text()

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return as_html.several(self)

    def as_dict(self) -> list[dict[str, Any]]:
        """Return the estimates as plain data."""
        return [one.as_dict() for one in self]

    def to_json(self, indent: int | None = 2) -> str:
        """Return the estimates as JSON."""
        return json.dumps(self.as_dict(), indent=indent, allow_nan=False)


def _without(part: Estimate, term: str) -> Times:
    assert part.work is not None
    return model.times(part.work, part.machine, repeated=part.repeated, without=term)


def _terms(parts: Iterable[Estimate | Times]) -> dict[str, float]:
    """Return the seconds of each term, summed over launches."""
    terms: dict[str, float] = {}
    for part in parts:
        for term, seconds in part.terms.items():
            terms[term] = terms.get(term, 0.0) + seconds
    return terms


def _longest(terms: dict[str, float]) -> str:
    return max(terms, key=lambda term: terms[term], default="")


def added(name: str, parts: Sequence[Estimate]) -> Estimate:
    """Return the estimate of a function: the sum of its launches, or why there is none.

    If one launch has only a floor, so has the sum.
    """
    first = parts[0]
    if len(parts) == 1:
        return replace(first, kernel=name, parts=(first,))
    refused = dict.fromkeys(f"{p.kernel}: {p.refused}" for p in parts if p.refused)
    floors = [p.floor for p in parts if p.floor is not None]
    likely = [p.likely for p in parts if p.likely is not None]
    worst = [p.worst for p in parts if p.worst is not None]
    terms = {} if refused else _terms(parts)
    return Estimate(
        name,
        first.machine,
        sum(floors) if len(floors) == len(parts) else None,
        None if refused else sum(likely),
        None if refused else sum(worst),
        _longest(terms),
        terms,
        "; ".join(refused),
        tuple(dict.fromkeys(reason for part in parts for reason in part.wide)),
        first.basis if len({part.basis for part in parts}) == 1 else f"{SASS} and {SOURCE}",
        first.repeated,
        parts=tuple(parts),
    )
