"""Decodes rows of the checker's table of findings into findings at the user's source lines."""

from __future__ import annotations

import ast
import functools
from typing import Any

from gpukit.checked import distinct, messages
from gpukit.checked.bounds import Bounds
from gpukit.checked.finding import KINDS, WARNING, Finding
from gpukit.checked.flow import Flow
from gpukit.checked.messages.phrases import index_text
from gpukit.checked.segments import Segment
from gpukit.checked.state import Seen
from gpukit.compiler import checker_state as w
from gpukit.cpu.launch import failure

_HAZARDS = ("write-write", "read-write", "write-read")
_PLAIN = {
    w.WARP_RACE: "warp-race",
    w.SAME_VALUE: "same-value-race",
    w.ATOMIC_RACE: "atomic-race",
    w.OUTSIDE: "out-of-bounds",
    w.NEGATIVE: "negative-index",
    w.WIDE: "int32-overflow",
    w.MISALIGNED: "misaligned",
    w.MASK_MISSING: "warp-mask",
    w.MASK_CALLER: "warp-mask",
    w.SOURCE: "shuffle-source",
    w.AFTER_RETURN: "barrier-after-return",
    w.GRID_RETURN: "cooperative-misuse",
}
# The details for which a finding has fields of its own.
_FIELDS = frozenset(
    ["kernel", "line", "other_line", "source", "array", "index", "threads", "blocks", "times"]
)
_RACES = (w.RACE, w.WARP_RACE)


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
    return distinct.merged([row.finding(context) for row in rows])


class _Context:
    """What one finding depends on besides its own row: the kernel's source and the other rows."""

    def __init__(self, rows: list[_Row], function: Any) -> None:
        self.function = function
        writes = [r for r in rows if r.row[w.F_HAZARD] == w.WRITE_WRITE]
        self.rows = [r for r in rows if r.what == w.OUTSIDE]
        self.alike = {s for r in writes if r.what == w.SAME_VALUE for s in r.pair}
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
        if row.what != w.OUTSIDE or axis is None:
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
        unset = row.what == w.UNSET and self.function is not None
        return unset and self.flow.is_thrown_away(row.location)

    def reads_its_own(self, row: _Row) -> bool:
        """Tell whether all threads write one value, and each that reads it has written it too."""
        hazard = row.row[w.F_HAZARD]
        if row.what not in _RACES or hazard == w.WRITE_WRITE or self.function is None:
            return False
        locations = [row.location, row.other]
        load, store = locations if hazard == w.WRITE_READ else locations[::-1]
        number = row.row[w.F_OTHER_LOCATION if hazard == w.WRITE_READ else w.F_LOCATION]
        alike = number in self.alike and number not in self.apart
        return alike and self.flow.writes_first(store, load)

    def around(self, row: _Row) -> dict[str, Any]:
        """Return the details of the statements around both accesses of a race."""
        if row.what not in (*_RACES, w.ATOMIC_RACE) or row.other is None or self.function is None:
            return {}
        found = self.flow.around(row.location, row.other)
        known = found._asdict() if found else {}
        if mixed := row.mixed().get("mixed"):
            pair = (row.location, row.other) if mixed == "other" else (row.other, row.location)
            if pair[1].operation != "atomic.cas":  # which is passed what is expected there
                known["old"] = self.flow.passed(*pair)
        return known


class _Row:
    """One row of the table."""

    def __init__(self, seen: Seen, row: Any) -> None:
        self.seen = seen
        self.row = [int(v) for v in row]
        self.what = self.row[w.F_WHAT]
        number = self.row[w.F_SEGMENT]
        self.segment: Segment | None = seen.segments[number] if number >= 0 else None

    @property
    def location(self) -> Any:
        """The location of the access that was caught."""
        return self._location(w.F_LOCATION)

    @property
    def other(self) -> Any:
        """The location of the earlier access, or None."""
        return self._location(w.F_OTHER_LOCATION) if self.row[w.F_OTHER_LOCATION] >= 0 else None

    @property
    def pair(self) -> tuple[int, int]:
        """The numbers that the kernel gives both locations."""
        return self.row[w.F_LOCATION], self.row[w.F_OTHER_LOCATION]

    def finding(self, context: _Context) -> Finding:
        """Return the finding, in words."""
        location, other = self.location, self.other
        details = {
            "times": self.row[w.F_COUNT],
            "what": location.what,
            **self._element(location, context.function),
        }
        if self.what != w.GRID_RETURN:  # which is about a whole block
            details["threads"], details["blocks"] = self._sides(other is not None)
        kind, severity = self._kind(), ""
        variable = self.segment.variable if self.segment is not None else ""
        if self.what == w.UNSET and variable:
            details |= {"array": variable, "index": (), "what": variable, "variable": True}
            severity = WARNING if _only_keeps(location.source) else ""
            return make(kind, location, other, severity, **details)
        if context.reads_its_own(self):
            kind, severity = "same-value-race", WARNING
        elif context.is_thrown_away(self):
            severity = WARNING
            details["unused"] = True
        details |= context.around(self)
        if self.what == w.MASK_MISSING and context.function is not None:
            details |= context.flow.uneven(location)
        details |= context.of_index(self, details.get("index", ()), details.get("shape", ()))
        return make(kind, location, other, severity, **details, **self._more())

    def _location(self, field: int) -> Any:
        return self.seen.compiled.locations[
            self.seen.compiled.instrumentation.locations[self.row[field]]
        ]

    def _kind(self) -> str:
        alike = self.row[w.F_LOCATION] == self.row[w.F_OTHER_LOCATION]
        if self.what == w.RACE or (
            # Two lanes write one element in one statement: no barrier would help.
            self.what == w.WARP_RACE and alike and self.row[w.F_HAZARD] == 0
        ):
            return f"{self._space()}-race"
        if self.what == w.UNSET:
            return distinct.UNSET[self.row[w.F_A]]
        return _PLAIN[self.what]

    def _space(self) -> str:
        return self.segment.space if self.segment is not None else "global"

    def outside(self) -> dict[str, Any]:
        """Return the array, index and shape of an access that is known by its index."""
        location, ndim = self.location, self.row[w.F_NDIM]
        index = tuple(self.row[w.F_INDEX : w.F_INDEX + ndim])
        shape = tuple(self.row[w.F_SHAPE : w.F_SHAPE + ndim])
        own = {r["spelled"]: r["space"] for r in self.seen.compiled.instrumentation.segments}
        return {
            "array": location.array or "the array",
            "space": own.get(location.array, "global"),
            "index": index,
            "shape": shape,
        }

    def _element(self, location: Any, function: Any) -> dict[str, Any]:
        if self.what in (w.OUTSIDE, w.NEGATIVE, w.WIDE):
            return self.outside()
        if self.segment is None:
            return {}
        array = self.segment.array_named(location.array)
        address = self.row[w.F_ADDRESS]
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

    def mixed(self) -> dict[str, Any]:
        """Return which access is atomic where only one of the two is."""
        atomic = [
            place is not None and place.operation.startswith("atomic.")
            for place in (self.location, self.other)
        ]
        return {"mixed": "caught" if atomic[0] else "other"} if sum(atomic) == 1 else {}

    def _sides(self, both: bool) -> tuple[tuple[Any, ...], tuple[Any, ...]]:
        threads, blocks = [self.row[w.F_THREAD]], [self.row[w.F_BLOCK]]
        if both and self.row[w.F_OTHER_THREAD] >= 0:
            threads.append(self.row[w.F_OTHER_THREAD])
            blocks.append(self.row[w.F_OTHER_BLOCK])
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
        a, b = self.row[w.F_A], self.row[w.F_B]
        if self.what == w.MASK_CALLER:
            return {"mask": a, "reason": "caller"}
        if self.what == w.MASK_MISSING:
            return {"mask": a, "lanes": _lanes(b)}
        if self.what == w.SOURCE:
            return {"mask": a, "lanes": str(b)}
        if self.what == w.GRID_RETURN:
            return {"missing": str(self.row[w.F_A])}
        if self.what == w.AFTER_RETURN:
            bits = [word & (1 << 64) - 1 for word in self.row[w.F_INDEX : w.F_INDEX + 16]]
            threads = range(self.seen.shape.threads)
            gone = [t for t in threads if bits[t // 64] >> t % 64 & 1]
            rest = [t for t in threads if not bits[t // 64] >> t % 64 & 1]
            return {"waiting": failure.ranges(rest), "missing": failure.ranges(gone)}
        if self.what == w.MISALIGNED:
            return {"size": self.row[w.F_SIZE]}
        if self.what in (w.RACE, w.WARP_RACE, w.SAME_VALUE, w.ATOMIC_RACE):
            hazard = _HAZARDS[self.row[w.F_HAZARD]]
            same = self.what == w.WARP_RACE
            return {
                "hazard": hazard,
                "same_warp": same,
                "atomic": bool(self.row[w.F_B]),
                "elsewhere": self.row[w.F_OTHER_BLOCK] == w.NOBODY,
                "block_count": self.seen.shape.blocks,
                **self.mixed(),
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
