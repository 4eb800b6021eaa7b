"""Contracts of an exercise: bounds on what `gpukit.profile` counts of one launch.

A contract says what is counted, of which array, per what, and how much is required:

    measure = "reads"   array = "x"   per = "element"   at_most = 1
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from gpukit.course import rank_counts
from gpukit.course.case import Case

# What the child counted: `total`, `accesses`, `shared_bytes` and the kernel's `parameters`.
Counts = dict[str, Any]
Accesses = list[dict[str, Any]]


def _elements(accesses: Accesses) -> float:
    return float(sum(a.get("global_bytes_asked", 0) / a["size"] for a in accesses))


def _total(accesses: Accesses, *endings: str) -> float:
    return float(sum(v for a in accesses for k, v in a.items() if k.endswith(endings)))


def _requests(accesses: Accesses) -> float:
    return _total(accesses, "_requests")


def _wavefronts_per_request(accesses: Accesses) -> float:
    return _ratio(_total(accesses, "_wavefronts"), _requests(accesses))


def _ratio(one: float, other: float) -> float:
    return one / other if other else 0.0


# Of the first noun, which one word may precede, the singular.
_ONE = (
    (r"^((?:[\w-]+ )?\w+(?:s|ch))es\b", r"\1"),
    (r"^((?:[\w-]+ )?\w+)ies\b", r"\1y"),
    (r"^((?:[\w-]+ )?\w*[^s\W])s\b", r"\1"),
)

# Of accesses: the memory and the operation that count, the words, and how they are added up.
_OF_ACCESSES: dict[str, tuple[str, str, str, Callable[[Accesses], float]]] = {
    "reads": ("global", "load", "reads of {}", _elements),
    "writes": ("global", "store", "writes to {}", _elements),
    "updates": ("global", "atomic", "atomic updates of {}", _elements),
    "read_requests": ("global", "load", "load requests to {}", _requests),
    "write_requests": ("global", "store", "store requests to {}", _requests),
    "update_requests": ("global", "atomic", "atomic requests to {}", _requests),
    "lanes_per_request": (
        "global",
        "",
        "active threads per warp access to {}",
        lambda accesses: _ratio(_elements(accesses), _requests(accesses)),
    ),
    "sectors": ("global", "", "sectors (32 bytes) moved for {}", lambda a: _total(a, "_sectors")),
    "sectors_per_request": (
        "global",
        "",
        "sectors (32 bytes) per warp access to {}",
        lambda accesses: _ratio(_total(accesses, "_sectors"), _requests(accesses)),
    ),
    "shared_requests": ("shared", "", "shared-memory requests", _requests),
    "shared_updates": ("shared", "atomic", "atomic requests to shared memory", _requests),
    "constant_requests": ("constant", "load", "load requests to constant memory", _requests),
    "constant_passes_per_request": (
        "constant",
        "load",
        "passes per constant-memory request",
        lambda accesses: _ratio(_total(accesses, "_passes"), _requests(accesses)),
    ),
    "shared_wavefronts_per_request": (
        "shared",
        "",
        "wavefronts per shared-memory request",
        _wavefronts_per_request,
    ),
}
_OF_LAUNCH = {
    "shared_bytes": "bytes of shared memory per block",
    "barriers": "barriers per block",
    "float64": "float64 operations",
    "divergent_branches": "divergent branches",
    "operations": "floating-point operations",
    "idle_warps": "idle warps (no memory access)",
    "launches": "kernel launches",
    "copies": "device-to-host copies",
    **rank_counts.MEASURES,
}
# What is counted of an answer that is host code, and of no other.
OF_HOST_CODE = ("launches", "copies", *rank_counts.MEASURES)
MEASURES = (*_OF_ACCESSES, *_OF_LAUNCH)
_PER = {
    "": "",
    "element": "per element",
    "thread": "per thread",
    "warp": "per warp",
    "block": "per block",
}


@dataclass(frozen=True)
class Contract:
    """One bound. `why` says why it matters, where it is broken.

    It is counted on the case named `case`, and without one on the case that is `measured`.
    """

    measure: str
    array: str = ""
    per: str = ""
    at_most: float | None = None
    at_least: float | None = None
    why: str = ""
    case: str = ""

    def __str__(self) -> str:
        """What is counted, in words: `reads of x per element`."""
        if self.measure in _OF_LAUNCH:
            words = _OF_LAUNCH[self.measure]
        else:
            words = _OF_ACCESSES[self.measure][2].format(self.array or "global memory")
        return f"{words} {_PER[self.per]}".rstrip()

    def counted(self, value: float) -> str:
        """What was counted, in words.

        >>> Contract("idle_warps").counted(1), Contract("updates", "x").counted(2)
        ('1 idle warp (no memory access)', '2 atomic updates of x')
        """
        words = str(self)
        if value == 1:
            for many, one in _ONE:
                words = re.sub(many, one, words)
        return f"{number(value)} {words}"

    @property
    def required(self) -> str:
        """What is required: `at most 1`."""
        if self.at_least is not None and self.at_least == self.at_most:
            return f"exactly {number(self.at_least)}"
        bounds = (("at least", self.at_least), ("at most", self.at_most))
        return " and ".join(
            f"{word} {number(bound)}" for word, bound in bounds if bound is not None
        )

    def is_kept(self, counted: float) -> bool:
        """Whether what was counted is within the bounds."""
        too_few = self.at_least is not None and counted < self.at_least
        return not too_few and not (self.at_most is not None and counted > self.at_most)


# Every kernel without float64 among its arguments keeps this one.
NO_FLOAT64 = Contract(
    "float64",
    at_most=0,
    why="The arguments are float32. Many GPUs compute float64 32 or 64 times more slowly.",
)
# The case that is measured has work for all threads.
NO_IDLE_WARPS = Contract(
    "idle_warps",
    at_most=0,
    why="The launch has threads for all of the work: no warp should do the work of another.",
)


def read(item: dict[str, Any]) -> Contract:
    """Return the contract in a table of `exercise.toml`; ValueError says what is wrong."""
    strange = set(item) - {field.name for field in fields(Contract)}
    if strange:
        raise ValueError(f"a contract has no field {min(strange)!r}")
    contract = Contract(**item)
    if contract.measure not in MEASURES:
        known = ", ".join(MEASURES)
        raise ValueError(f"a contract cannot measure {contract.measure!r}; expected one of {known}")
    if contract.per not in _PER:
        raise ValueError(f"a contract cannot count per {contract.per!r}")
    if not contract.required:
        raise ValueError(f"the contract on {contract} needs at_most or at_least")
    return contract


def of(contracts: tuple[Contract, ...], case: Case) -> tuple[Contract, ...]:
    """Return the contracts that hold for a case: those given and, of a kernel, two more."""
    if case.per == "call":  # the kernels are the book's
        return contracts
    doubles = [v for v in case.args.values() if np.result_type(v) == np.float64]
    mine = any(contract.measure == "float64" for contract in contracts)
    own = () if doubles or mine else (NO_FLOAT64,)
    return (*contracts, NO_IDLE_WARPS, *own)


def which(contract: Contract, listed: tuple[Contract, ...], case: Case) -> str:
    """Name the case of a contract where the same is counted in several cases; else nothing.

    >>> two = Contract("barriers", at_least=2), Contract("barriers", at_most=8, case="many tiles")
    >>> which(two[1], two, Case({}, 1, 1, {}, name="many tiles"))
    ' (many tiles)'
    """
    cases = {other.case for other in listed if str(other) == str(contract)}
    return f" ({case.name})" if len(cases) > 1 else ""


def count(contract: Contract, case: Case, counts: Counts) -> float:
    """Return what a launch of `case` comes to."""
    return _in_all(contract, case, counts) / _divisor(contract, case)


def _in_all(contract: Contract, case: Case, counts: Counts) -> float:
    if contract.measure in OF_HOST_CODE:
        return float(counts[contract.measure])
    total = counts["total"]
    if contract.measure == "shared_bytes":
        return float(counts["shared_bytes"])
    if contract.measure == "barriers":  # counted for each warp that reaches one
        return float(total.get("barriers", 0) / case.warps)
    if contract.measure == "idle_warps":
        return float(max(0, counts["idle_warps"] - case.idle_warps))
    if contract.measure == "float64":
        return float(total.get("flops_float64", 0))
    if contract.measure == "divergent_branches":
        return float(total.get("divergent_branches", 0))
    if contract.measure == "operations":
        return float(sum(v for k, v in total.items() if k.startswith("flops_")))
    return _OF_ACCESSES[contract.measure][3](accesses(contract, case, counts))


def _divisor(contract: Contract, case: Case) -> int:
    if contract.per == "element":
        return int(np.size(case.args[contract.array]))
    by = {"": 1, "thread": case.blocks * case.threads, "warp": case.warps, "block": case.blocks}
    return by[contract.per]


def accesses(contract: Contract, case: Case, counts: Counts) -> Accesses:
    """Return the accesses that a contract is about, the costliest first."""
    if contract.measure in _OF_LAUNCH:
        return []
    space, op, _, measure = _OF_ACCESSES[contract.measure]
    # The learner may have given the parameters other names.
    own = dict(zip(case.args, counts["parameters"], strict=False))
    found = [
        a
        for a in counts["accesses"]
        if a["space"] == space
        and op in ("", a["op"])
        and (not contract.array or a["array"] == own[contract.array])
    ]
    return sorted(found, key=lambda a: -measure([a]))


def line(contract: Contract, counts: Counts) -> int:
    """Return the line where most of what is counted is done; 0 where no line does more than half.

    Of float64 each line is one too many.
    """
    done = counts["lines"].get(contract.measure, {})
    most, place = max(((n, int(place)) for place, n in done.items()), default=(0, 0))
    is_much = most and (contract.measure == "float64" or 2 * most > sum(done.values()))
    return place if is_much else 0


def number(value: float) -> str:
    """Return a count as a person writes it.

    >>> number(128.0), number(1048576.0), number(1.0625)
    ('128', '1,048,576', '1.06')
    """
    return f"{value:,.0f}" if value == int(value) else f"{value:,.2f}"
