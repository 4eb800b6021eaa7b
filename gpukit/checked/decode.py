"""Decodes rows of the checker's table of findings into findings at the user's source lines."""

from __future__ import annotations

import ast
import dataclasses
import functools
from typing import Any

from gpukit.checked import messages
from gpukit.checked.bounds import Bounds
from gpukit.checked.finding import ERROR, INFO, KINDS, WARNING, Finding
from gpukit.checked.flow import Flow
from gpukit.checked.instrumented import Seen
from gpukit.checked.messages.phrases import index_text, listed_lines
from gpukit.checked.segments import Segment
from gpukit.compiler import checker_state
from gpukit.cpu.launch import failure

_HAZARDS = ("write-write", "read-write", "write-read")
_UNSET = ("uninitialised-global", "uninitialised-shared", "uninitialised-local")
_PLAIN = {
    checker_state.WARP_RACE: "warp-race",
    checker_state.SAME_VALUE: "same-value-race",
    checker_state.ATOMIC_RACE: "atomic-race",
    checker_state.OUTSIDE: "out-of-bounds",
    checker_state.NEGATIVE: "negative-index",
    checker_state.WIDE: "int32-overflow",
    checker_state.MISALIGNED: "misaligned",
    checker_state.MASK_MISSING: "warp-mask",
    checker_state.MASK_CALLER: "warp-mask",
    checker_state.SOURCE: "shuffle-source",
    checker_state.AFTER_RETURN: "barrier-after-return",
    checker_state.GRID_RETURN: "cooperative-misuse",
}
# The details for which a finding has fields of its own.
_FIELDS = frozenset(
    ["kernel", "line", "other_line", "source", "array", "index", "threads", "blocks", "times"]
)
_RACES = (checker_state.RACE, checker_state.WARP_RACE)
_RANKS = {ERROR: 0, WARNING: 1, INFO: 2}


def make(
    kind: str, location: Any, other: Any = None, severity: str = "", **details: Any
) -> Finding:
    """Return a finding at a location, in words; `details` as `messages.describe` takes them.

    Its severity is that of its kind, unless one is passed.
    """
    severity = severity or KINDS[kind].severity
    details |= {"kernel": location.kernel, "line": location.line, "source": location.source}
    if other is not None:
        details |= {"other_line": other.line, "other_what": getattr(other, "what", "")}
    message, fix = messages.describe(kind, {**details, "severity": severity})
    return Finding(
        kind,
        severity,
        location.kernel,
        location.file,
        location.line,
        location.source.strip(),
        message,
        fix,
        other_line=other.line if other is not None else 0,
        other_source=other.source.strip() if other is not None else "",
        array=details.get("array", ""),
        index=tuple(details.get("index", ())),
        threads=tuple(details.get("threads", ())),
        blocks=tuple(details.get("blocks", ())),
        count=details.get("times", 1),
        details={k: v for k, v in details.items() if k not in _FIELDS},
    )


def findings(seen: Seen, function: Any = None) -> list[Finding]:
    """Return what the checker found, without findings that a worse one about the same lines covers.

    `function` is the kernel's own; its source tells how a value is used.
    """
    rows = [_Row(seen, row) for row in seen.findings]
    context = _Context(rows, function)
    return _without_lesser(_one_a_cause([row.finding(context) for row in rows]))


class _Context:
    """What one finding depends on besides its own row: the kernel's source and the other rows."""

    def __init__(self, rows: list[_Row], function: Any) -> None:
        self.function = function
        writes = [r for r in rows if r.row[checker_state.F_HAZARD] == checker_state.WRITE_WRITE]
        self.rows = [r for r in rows if r.what == checker_state.OUTSIDE]
        self.alike = {s for r in writes if r.what == checker_state.SAME_VALUE for s in r.pair}
        self.apart = {s for r in writes if r.what in _RACES for s in r.pair}

    @functools.cached_property
    def flow(self) -> Flow:
        """What the kernel's source tells about its values."""
        return Flow(self.function)

    @functools.cached_property
    def bounds(self) -> Bounds:
        """What the kernel's source tells about its indices."""
        return Bounds(self.function)

    def of_index(self, row: _Row, index: tuple[int, ...], shape: tuple[int, ...]) -> dict[str, Any]:
        """Return what is known of the index of an access outside an array."""
        axis = next((k for k, (i, n) in enumerate(zip(index, shape, strict=False)) if i >= n), None)
        if row.what != checker_state.OUTSIDE or axis is None:
            return {}
        bound = self.bounds.of(row.location, axis) if self.function is not None else None
        of_thread = index[axis] in row.positions()
        known = {f"bound_{k}": v for k, v in bound._asdict().items()} if bound else {}
        axes = zip(row.seen.shape.grid, row.seen.shape.block, strict=True)
        several = sum(blocks * threads > 1 for blocks, threads in axes) > 1
        size = self._least_size(index_text(row.location.what, axis)) or {}
        return {"of_thread": of_thread, "several_axes": several, **size, **known}

    def _least_size(self, index: str) -> dict[str, Any]:
        """Return the smallest of the sizes that an index exceeded, in all arrays it indexes."""
        sizes = [
            (n, f"{details['array']}.shape[{k}]")
            for row in self.rows
            for details in [row.outside()]
            for k, (i, n) in enumerate(zip(details["index"], details["shape"], strict=False))
            if i >= n and index_text(row.location.what, k) == index
        ]
        return {"least_size": min(sizes)[1]} if sizes and index.strip(".") else {}

    def is_thrown_away(self, row: _Row) -> bool:
        """Tell whether a value that was never written is read, and then discarded."""
        unset = row.what == checker_state.UNSET and self.function is not None
        return unset and self.flow.is_thrown_away(row.location)

    def reads_its_own(self, row: _Row) -> bool:
        """Tell whether all threads write one value, and each that reads it has written it too."""
        hazard = row.row[checker_state.F_HAZARD]
        if row.what not in _RACES or hazard == checker_state.WRITE_WRITE or self.function is None:
            return False
        locations = [row.location, row.other]
        load, store = locations if hazard == checker_state.WRITE_READ else locations[::-1]
        number = row.row[
            checker_state.F_OTHER_LOCATION
            if hazard == checker_state.WRITE_READ
            else checker_state.F_LOCATION
        ]
        alike = number in self.alike and number not in self.apart
        return alike and self.flow.writes_first(store, load)

    def around(self, row: _Row) -> dict[str, Any]:
        """Return the details of the statements around both accesses of a race."""
        if row.what not in _RACES or row.other is None or self.function is None:
            return {}
        found = self.flow.around(row.location, row.other)
        return found._asdict() if found else {}


def _one_a_cause(found: list[Finding]) -> list[Finding]:
    """Merge the reads of one array that was never written into one finding, across lines."""
    firsts: dict[Any, list[Finding]] = {}
    for f in found:
        unset = f.kind in _UNSET
        firsts.setdefault((f.kind, f.kernel, f.file, f.array) if unset else id(f), []).append(f)
    return [_joined(group) for group in firsts.values()]


def _joined(group: list[Finding]) -> Finding:
    group = sorted(group, key=lambda f: _RANKS[f.severity])
    first, count = group[0], sum(f.count for f in group)
    lines = sorted({f.line for f in group} - {first.line})
    if not lines:
        return dataclasses.replace(first, count=count)
    message = f"{first.message} It is read in {listed_lines(lines)} too."
    details = first.details | {"lines": lines}
    return dataclasses.replace(first, count=count, message=message, details=details)


def _without_lesser(found: list[Finding]) -> list[Finding]:
    """Keep one finding per race: where two lines conflict in both orders, that in source order."""
    races: dict[Any, Finding] = {}
    kept: list[Finding] = []
    for f in found:
        if KINDS[f.kind].tool != "racecheck":
            kept.append(f)
            continue
        key = (f.kernel, f.file, f.array, frozenset([f.line, f.other_line]))
        before = races.get(key)
        if before is None or _weight(f) < _weight(before):
            races[key] = f
    wrong = [f for f in races.values() if f.severity != INFO]
    return kept + [f for f in races.values() if not _is_outdone(f, wrong)]


def _weight(found: Finding) -> tuple[int, bool]:
    """Sort key: of two missing barriers of a loop, the one between the lines comes first."""
    return _RANKS[found.severity], found.other_line > found.line


def _is_outdone(found: Finding, wrong: list[Finding]) -> bool:
    """Tell whether a worse finding covers what a same-value race calls harmless."""
    if found.kind != "same-value-race" or found.severity != INFO:
        return False
    same = [f for f in wrong if (f.file, f.array) == (found.file, found.array)]
    return any(found.line in (f.line, f.other_line) for f in same)


class _Row:
    """One row of the table."""

    def __init__(self, seen: Seen, row: Any) -> None:
        self.seen = seen
        self.row = [int(v) for v in row]
        self.what = self.row[checker_state.F_WHAT]
        number = self.row[checker_state.F_SEGMENT]
        self.segment: Segment | None = seen.segments[number] if number >= 0 else None

    @property
    def location(self) -> Any:
        """The location of the access that was caught."""
        return self._location(checker_state.F_LOCATION)

    @property
    def other(self) -> Any:
        """The location of the earlier access, or None."""
        return (
            self._location(checker_state.F_OTHER_LOCATION)
            if self.row[checker_state.F_OTHER_LOCATION] >= 0
            else None
        )

    @property
    def pair(self) -> tuple[int, int]:
        """The numbers that the kernel gives both locations."""
        return self.row[checker_state.F_LOCATION], self.row[checker_state.F_OTHER_LOCATION]

    def finding(self, context: _Context) -> Finding:
        """Return the finding, in words."""
        location, other = self.location, self.other
        details = {
            "times": self.row[checker_state.F_COUNT],
            "what": location.what,
            **self._element(location, context.function),
        }
        if self.what != checker_state.GRID_RETURN:  # which is about a whole block
            details["threads"], details["blocks"] = self._sides(other is not None)
        kind, severity = self._kind(), ""
        variable = self.segment.variable if self.segment is not None else ""
        if self.what == checker_state.UNSET and variable:
            details |= {"array": variable, "index": (), "what": variable, "variable": True}
            severity = WARNING if _only_keeps(location.source) else ""
            return make(kind, location, other, severity, **details)
        if context.reads_its_own(self):
            kind, severity = "same-value-race", WARNING
        elif context.is_thrown_away(self):
            severity = WARNING
            details["unused"] = True
        details |= context.around(self)
        if self.what == checker_state.MASK_MISSING and context.function is not None:
            details |= context.flow.uneven(location)
        details |= context.of_index(self, details.get("index", ()), details.get("shape", ()))
        return make(kind, location, other, severity, **details, **self._more())

    def _location(self, field: int) -> Any:
        return self.seen.compiled.locations[
            self.seen.compiled.instrumentation.locations[self.row[field]]
        ]

    def _kind(self) -> str:
        alike = self.row[checker_state.F_LOCATION] == self.row[checker_state.F_OTHER_LOCATION]
        if self.what == checker_state.RACE or (
            # Two lanes write one element in one statement: no barrier would help.
            self.what == checker_state.WARP_RACE and alike and self.row[checker_state.F_HAZARD] == 0
        ):
            return f"{self._space()}-race"
        if self.what == checker_state.UNSET:
            return _UNSET[self.row[checker_state.F_A]]
        return _PLAIN[self.what]

    def _space(self) -> str:
        return self.segment.space if self.segment is not None else "global"

    def outside(self) -> dict[str, Any]:
        """Return the array, index and shape of an access that is known by its index."""
        location, ndim = self.location, self.row[checker_state.F_NDIM]
        index = tuple(self.row[checker_state.F_INDEX : checker_state.F_INDEX + ndim])
        shape = tuple(self.row[checker_state.F_SHAPE : checker_state.F_SHAPE + ndim])
        own = {r["spelled"]: r["space"] for r in self.seen.compiled.instrumentation.segments}
        return {
            "array": location.array or "the array",
            "space": own.get(location.array, "global"),
            "index": index,
            "shape": shape,
        }

    def _element(self, location: Any, function: Any) -> dict[str, Any]:
        if self.what in (checker_state.OUTSIDE, checker_state.NEGATIVE, checker_state.WIDE):
            return self.outside()
        if self.segment is None:
            return {}
        array = self.segment.array_named(location.array)
        address = self.row[checker_state.F_ADDRESS]
        if self.segment.stride:
            address = (address - self.segment.begin) % self.segment.stride
        return _as_passed(
            function,
            {
                "array": array.name,
                "space": self.segment.space,
                "shape": array.shape,
                "index": array.index_of(address),
            },
        )

    def _mixed(self) -> dict[str, Any]:
        """Return which access is atomic where only one of the two is."""
        atomic = [
            place is not None and place.operation.startswith("atomic.")
            for place in (self.location, self.other)
        ]
        return {"mixed": "caught" if atomic[0] else "other"} if sum(atomic) == 1 else {}

    def _sides(self, both: bool) -> tuple[tuple[Any, ...], tuple[Any, ...]]:
        threads, blocks = [self.row[checker_state.F_THREAD]], [self.row[checker_state.F_BLOCK]]
        if both and self.row[checker_state.F_OTHER_THREAD] >= 0:
            threads.append(self.row[checker_state.F_OTHER_THREAD])
            blocks.append(self.row[checker_state.F_OTHER_BLOCK])
        shape = self.seen.shape
        return (
            tuple(_triple(t, shape.block) for t in threads),
            tuple(_triple(b, shape.grid) for b in blocks),
        )

    def positions(self) -> set[int]:
        """Return the indices of the thread that was caught, in the grid and in its block."""
        (thread,), (block,) = self._sides(False)
        own = zip(thread, block, self.seen.shape.block, strict=True)
        return {t + b * size for t, b, size in own} | set(thread)

    def _more(self) -> dict[str, Any]:
        a, b = self.row[checker_state.F_A], self.row[checker_state.F_B]
        if self.what == checker_state.MASK_CALLER:
            return {"mask": a, "reason": "caller"}
        if self.what == checker_state.MASK_MISSING:
            return {"mask": a, "lanes": _lanes(b)}
        if self.what == checker_state.SOURCE:
            return {"mask": a, "lanes": str(b)}
        if self.what == checker_state.GRID_RETURN:
            return {"missing": str(self.row[checker_state.F_A])}
        if self.what == checker_state.AFTER_RETURN:
            bits = [
                word & (1 << 64) - 1
                for word in self.row[checker_state.F_INDEX : checker_state.F_INDEX + 16]
            ]
            threads = range(self.seen.shape.threads)
            gone = [t for t in threads if bits[t // 64] >> t % 64 & 1]
            rest = [t for t in threads if not bits[t // 64] >> t % 64 & 1]
            return {"waiting": failure.ranges(rest), "missing": failure.ranges(gone)}
        if self.what == checker_state.MISALIGNED:
            return {"size": self.row[checker_state.F_SIZE]}
        if self.what in (
            checker_state.RACE,
            checker_state.WARP_RACE,
            checker_state.SAME_VALUE,
            checker_state.ATOMIC_RACE,
        ):
            hazard = _HAZARDS[self.row[checker_state.F_HAZARD]]
            same = self.what == checker_state.WARP_RACE
            return {
                "hazard": hazard,
                "same_warp": same,
                "atomic": bool(self.row[checker_state.F_B]),
                "elsewhere": self.row[checker_state.F_OTHER_BLOCK] == checker_state.NOBODY,
                "block_count": self.seen.shape.blocks,
                **self._mixed(),
            }
        return {}


def _as_passed(function: Any, element: dict[str, Any]) -> dict[str, Any]:
    """Return an element as the function of a ufunc sees it; its kernel passes it a part."""
    kept = getattr(function, "gpukit_passed", {}).get(element["array"], ())
    if not kept or len(element["index"]) < len(kept):
        return element
    index, shape = (
        (begin,) * sum(kept) + tuple(element[part][len(kept) :])
        for part, begin in (("index", 0), ("shape", 1))
    )
    return {**element, "index": index, "shape": shape}


def _only_keeps(source: str) -> bool:
    """Tell whether a line only assigns a value to a variable.

    >>> [_only_keeps(line) for line in ("  w = 2 * v", "w += v", "out[i] = v", "if v > 0:")]
    [True, True, False, False]
    """
    try:
        (s,) = ast.parse(source.strip()).body
    except (SyntaxError, ValueError):
        return False
    if isinstance(s, ast.Assign):
        return all(isinstance(t, ast.Name) for t in s.targets)
    return isinstance(s, ast.AugAssign) and isinstance(s.target, ast.Name)


def _triple(number: int, sizes: tuple[int, int, int]) -> tuple[int, int, int]:
    x, y, _ = sizes
    return number % x, number // x % y, number // (x * y)


def _lanes(bits: int) -> str:
    """Write lanes as ranges.

    >>> _lanes(0b1011)
    '0-1, 3'
    """
    return failure.ranges([k for k in range(32) if bits >> k & 1])
