"""Compare what a kernel wrote with what NumPy says, and find the pattern in what is wrong."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpukit.course import conditions
from gpukit.course.case import Array, Case, added_to, unwritten

Mask = NDArray[np.bool_]
_AXES = {1: ("element",), 2: ("row", "column"), 3: ("plane", "row", "column")}


@dataclass(frozen=True)
class Mismatch:
    """The wrong elements of one output: how many, the first one, and where they lie."""

    output: str
    wrong: int
    total: int
    unwritten: int
    index: tuple[int, ...]
    expected: Any
    got: Any
    first_unwritten: bool
    where: str
    resembles: str
    kept: bool = False  # what was there before went into what was stored
    source: str = ""  # the output in which that stood
    added: bool = False  # something was added to what was there before
    strange: bool = False  # a NaN or an infinity was computed where a finite number is asked
    condition: str = ""  # what tells the wrong elements from the others
    pattern: str = ""  # what all wrong elements are
    multiple: str = ""  # of what they should be, for one element too


def tolerance(expected: Array, scale: Array | None, ulps: float) -> NDArray[np.float64] | float:
    """Return the error allowed at each element: `ulps` units of the size of the terms."""
    if expected.dtype.kind not in "fc":
        return 0.0
    with np.errstate(invalid="ignore"):  # what `poison` leaves is a signalling NaN
        terms = np.abs(expected) if scale is None else np.maximum(np.abs(scale), np.abs(expected))
    finfo = np.finfo(expected.dtype)
    terms = np.where(np.isfinite(terms), terms, 0)  # an infinity has no neighbours
    return np.asarray(ulps * float(finfo.eps) * terms + float(finfo.tiny), np.float64)


def wrong_elements(got: Array, expected: Array, allowed: Any) -> Mask:
    """Return where `got` is too far off. A NaN is never close to anything."""
    if expected.dtype.kind in "fc":
        with np.errstate(invalid="ignore", over="ignore"):
            wide = np.promote_types(expected.dtype, np.float64)
            error = np.abs(got.astype(wide) - expected.astype(wide))
            mask: Mask = ~((error <= allowed) | (got == expected))  # -inf is equal to -inf
        return mask
    return np.asarray(got != expected, bool)


def compare(case: Case, output: str, got: Array, ulps: float) -> Mismatch | None:
    """Return what is wrong with one output, or None."""
    expected = case.expected[output]
    allowed = tolerance(expected, case.scale.get(output), ulps)
    mask = wrong_elements(got, expected, allowed)
    if not mask.any():
        return None
    missed, added = unwritten(got) & mask, added_to(got) & mask
    index = tuple(int(n) for n in np.argwhere(mask)[0])
    return Mismatch(
        output=output,
        wrong=int(mask.sum()),
        total=mask.size,
        unwritten=int(missed.sum()),
        index=index,
        expected=expected[index],
        got=got[index],
        first_unwritten=bool(missed[index]),
        where=where(mask, _extent(case, expected)),
        added=bool(added.any()),
        resembles="" if (missed | added).any() else resembles(got, expected, allowed),
        strange=bool((~_finite(got) & _finite(expected) & ~missed & ~added).any()),
        condition=conditions.of(case, output, mask),
        pattern=pattern(case, output, got, mask),
        multiple="" if (missed | added).any() else multiple(got[mask], expected[mask]),
    )


def pattern(case: Case, output: str, got: Array, mask: Mask) -> str:
    """Say what all wrong elements are: one number, an input, or a multiple of what they should be.

    >>> out = np.array([1.0, 4, 9, 16])
    >>> case = Case({"x": np.array([1.0, 2, 3, 4]), "out": out}, 1, 4, {"out": out})
    >>> pattern(case, "out", np.array([1.0, 4, 3, 4]), np.array([False, False, True, True]))
    'Each wrong element is x itself.'
    >>> pattern(case, "out", np.array([1.0, 8, 18, 16]), np.array([False, True, True, False]))
    'Each wrong element is 2 times what it should be.'
    """
    if got.dtype.kind not in "iuf":
        return ""
    with np.errstate(invalid="ignore"):  # what `poison` leaves is a signalling NaN
        wrong, right = (v[mask].astype(np.float64) for v in (got, case.expected[output]))
    if len(np.unique(right)) < 2 or not np.isfinite([wrong, right]).all():
        return ""
    values, counts = np.unique(got[mask], return_counts=True)
    if counts.max() > 0.8 * len(wrong):
        return f"All or nearly all wrong elements are {values[counts.argmax()]!s}."
    for name, value in case.args.items():
        if not isinstance(value, np.ndarray) or name in case.expected or value.shape != mask.shape:
            continue
        given = value[mask]
        if given.dtype.kind in "iuf" and np.isfinite(given).all():
            for sign, words in ((1, "itself"), (-1, "with the opposite sign")):
                if np.allclose(wrong, sign * given.astype(np.float64), 1e-5, 0):
                    return f"Each wrong element is {name} {words}."
    return multiple(got[mask], case.expected[output][mask])


def multiple(wrong: Array, right: Array) -> str:
    """Say by which factor all wrong elements are off, or by which step.

    A single value has a factor of its own by chance, unless that is a simple one.

    >>> multiple(np.array([3.0, 6]), np.array([2.0, 4]))
    'Each wrong element is 1.5 times what it should be.'
    >>> multiple(np.array([15.0]), np.array([1.5]))
    'That is 10 times what it should be.'
    >>> multiple(np.array([3.3]), np.array([1.5]))
    ''
    """
    if wrong.dtype.kind not in "iuf":
        return ""
    exact = wrong.dtype.kind != "f"
    with np.errstate(invalid="ignore"):  # a signalling NaN
        wrong, right = wrong.astype(np.float64), right.astype(np.float64)
    if not np.isfinite([wrong, right]).all():
        return ""
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        ratios, steps = wrong / right, wrong - right
    if len(np.unique(right)) < 2:
        is_simple = not exact and (right != np.rint(right)).all() and _is_simple(ratios[0])
        return f"That is {_times(ratios[0])}." if is_simple else ""
    if np.isfinite(ratios).all() and ratios.all() and np.allclose(ratios, ratios[0], 1e-4, 0):
        return f"Each wrong element is {_times(ratios[0])}."
    if np.isfinite(steps).all() and np.allclose(steps, steps[0], 1e-4, 0):
        way = "large" if steps[0] > 0 else "small"
        return f"Each wrong element is {abs(steps[0]):.4g} too {way}."
    return ""


def _times(ratio: float) -> str:
    """Write a factor.

    >>> _times(0.25), _times(-1)
    ('1/4 of what it should be', 'what it should be with the opposite sign')
    """
    if abs(ratio + 1) < 1e-4:
        return "what it should be with the opposite sign"
    below = 1 / ratio if ratio else math.inf
    if 1 < below < 1025 and abs(below - round(below)) < 1e-4 * below:
        return f"1/{round(below)} of what it should be"
    return f"{ratio:.4g} times what it should be"


def _is_simple(ratio: float) -> bool:
    """Tell whether a factor is -1, a small whole number, one with zeros or its inverse."""
    if not math.isfinite(ratio) or not ratio:
        return False
    whole = ratio if abs(ratio) > 1 else 1 / ratio
    known = {-1, *range(2, 11), 16, 32, 64, 100, 128, 256, 512, 1000, 1024}
    return any(abs(whole - n) < 2e-5 * abs(n) for n in known)


def _finite(values: Array) -> Mask:
    if values.dtype.kind not in "fc":
        return np.ones(values.shape, bool)
    return np.asarray(np.isfinite(values), bool)


def agree(case: Case, got: dict[str, Array], left: dict[str, Array], ulps: float) -> bool:
    """Whether outputs hold what a mistake leaves; unwritten elements and NaNs count as equal.

    More is allowed than of a right one: a mistake is often computed in another way here.
    """
    return all(_agrees(case, name, got[name], left[name], ulps) for name in case.expected)


def _agrees(case: Case, name: str, got: Array, left: Array, ulps: float) -> bool:
    untouched = unwritten(got)
    if not np.array_equal(untouched, unwritten(left)):
        return False
    allowed = tolerance(left, case.scale.get(name), 4 * ulps)
    both_nan = (got != got) & (left != left)
    return not (wrong_elements(got, left, allowed) & ~untouched & ~both_nan).any()


def changed_inputs(case: Case, arrays: dict[str, Array]) -> list[str]:
    """Return the names of inputs that the kernel wrote to."""
    return [
        name
        for name, value in case.args.items()
        if isinstance(value, np.ndarray)
        and name not in case.expected
        and arrays[name].tobytes() != value.tobytes()
    ]


def _extent(case: Case, expected: Array) -> tuple[int, ...]:
    """Return how many elements of each axis one block writes (the last axis is x).

    It is 1 where threads go on in a loop, since elements of one block then lie apart.
    """
    if case.per != "thread":
        return (1,) * expected.ndim
    blocks, threads = (
        (*(n if isinstance(n, tuple) else (n,)), 1, 1, 1)[: expected.ndim]
        for n in (case.grid, case.block)
    )
    axes = zip(blocks, threads, reversed(expected.shape), strict=False)
    return tuple(size if count * size >= n else 1 for count, size, n in axes)[::-1]


def where(mask: Mask, extent: tuple[int, ...]) -> str:
    """Say in words which elements are wrong, to be appended to how many are.

    >>> where(np.arange(8) >= 4, (4,))
    ': every element from 4 on: all but the first block'
    >>> where(np.arange(8) % 4 == 3, (4,))
    ': element 3 of every block of 4'
    >>> where(np.array([[True, False, False], [False, True, True]]), (1, 1))
    ', in 2 of 2 rows and 3 of 3 columns'
    """
    if mask.all():
        return ": all of them"
    names = _AXES.get(mask.ndim, tuple(f"axis {n}" for n in range(mask.ndim)))
    for axis in range(mask.ndim):
        others = tuple(n for n in range(mask.ndim) if n != axis)
        profile = np.asarray(mask.any(axis=others))
        if np.array_equal(mask.all(axis=others), profile):
            along = _profile(profile, extent[axis], names[axis])
            return f": {along}" if along else _scattered(profile, names[axis], mask.size)
    together = _corner(mask, extent, names) or _crossing(mask, names)
    return f": {together}" if together else _among(mask, names)


def _profile(profile: Mask, size: int, name: str) -> str:
    """Say in words where along one axis the wrong elements lie, "" where there is no pattern."""
    wrong = np.flatnonzero(profile)
    first, last, length = int(wrong[0]), int(wrong[-1]), len(profile)
    if last - first + 1 == len(wrong):
        return _stretch(first, last, length, size, name)
    if 1 < size < length:
        places = np.unique(wrong % size)
        every = np.array_equal(wrong, np.flatnonzero(np.isin(np.arange(length) % size, places)))
        if every and len(places) == 1:
            return f"{name} {places[0]} of every block of {size}"
    step = wrong[1] - wrong[0]
    if np.array_equal(wrong, np.arange(first, length, step)):
        return f"every {_ordinal(int(step))} {name}, from {first} on"
    return ""


def _scattered(profile: Mask, name: str, total: int) -> str:
    """Say between which ends of one axis the wrong elements lie, of several axes also how many."""
    wrong = np.flatnonzero(profile)
    ends = f"{wrong[0]} to {wrong[-1]}"
    if len(profile) == total:
        return f", scattered over {name}s {ends}"
    return f": {len(wrong):,} of {len(profile):,} {name}s, from {ends}"


def _stretch(first: int, last: int, length: int, size: int, name: str) -> str:
    """Say in words where one unbroken stretch lies, in blocks where it fits them."""
    if first == last:
        ends = {0: f"the first {name} only", length - 1: f"the last {name} only"}
        alone = (
            f", the first of block {first // size}"
            if first and size > 1 and not first % size
            else ""
        )
        return ends.get(first, f"{name} {first} only") + alone
    if last < length - 1:
        return f"{name}s {first} to {last}"
    text = f"every {name} from {first} on"
    if size > 1 and first % size == 0:
        blocks = math.ceil(length / size)
        at = first // size
        if at == blocks - 1 and length % size:
            return f"{text}: the last block, which is only partly filled"
        return f"{text}: " + ("all but the first block" if at == 1 else f"block {at} and later")
    return text


def _corner(mask: Mask, extent: tuple[int, ...], names: tuple[str, ...]) -> str:
    """Recognise a correct corner: everything outside the first k rows and m columns is wrong."""
    right = ~mask
    bounds = [
        int(right.any(axis=tuple(n for n in range(mask.ndim) if n != axis)).sum())
        for axis in range(mask.ndim)
    ]
    corner = tuple(slice(0, bound) for bound in bounds)
    if mask.ndim < 2 or not right[corner].all() or int(right.sum()) != math.prod(bounds):
        return ""
    inside = " and ".join(f"{n:,} {name}s" for n, name in zip(bounds, names, strict=True))
    block = " (the first block)" if tuple(bounds) == extent else ""
    return f"all outside the first {inside}{block}"


def _crossing(mask: Mask, names: tuple[str, ...]) -> str:
    """Recognise whole rows and whole columns of a matrix, or its diagonal."""
    if mask.ndim != 2:
        return ""
    whole = [np.asarray(mask.all(axis=1 - axis)) for axis in (0, 1)]
    if all(lines.any() for lines in whole) and (mask == np.logical_or.outer(*whole)).all():
        rows, columns = (_listed(lines, name) for lines, name in zip(whole, names, strict=True))
        return f"all of {rows} and all of {columns}"
    diagonal = np.equal.outer(*map(np.arange, mask.shape))
    if (mask == diagonal).all():
        return "those on the diagonal"
    return "all but those on the diagonal" if (mask != diagonal).all() else ""


def _listed(lines: Mask, name: str) -> str:
    numbers = np.flatnonzero(lines)
    return f"{name} {numbers[0]}" if len(numbers) == 1 else f"{len(numbers):,} {name}s"


def _among(mask: Mask, names: tuple[str, ...]) -> str:
    """Say along how much of each axis the wrong elements lie; of more than three axes nothing."""
    if mask.ndim > 3:
        return ""
    found = []
    for axis, name in enumerate(names):
        if mask.shape[axis] == 1:
            continue
        lines = np.asarray(mask.any(axis=tuple(n for n in range(mask.ndim) if n != axis)))
        found.append(f"{int(lines.sum()):,} of {len(lines):,} {name}s")
    return f", in {' and '.join(found)}"


def _ordinal(n: int) -> str:
    ending = "th" if n % 100 in (11, 12, 13) else {1: "st", 2: "nd", 3: "rd"}.get(n % 10, "th")
    return {1: "", 2: "second", 3: "third"}.get(n, f"{n}{ending}")


def resembles(got: Array, expected: Array, allowed: Any) -> str:
    """Say what else the answer looks like: the transpose, a multiple, a neighbour."""

    def same(other: Array) -> bool:
        return other.shape == got.shape and not wrong_elements(got, other, allowed).any()

    if expected.ndim == 2 and expected.shape[0] > 1 and same(expected.T):
        return "the output is the transpose of the right answer: rows and columns are swapped"
    if expected.size < 2:
        return ""
    for factor, words in (
        (2, "is twice what it should be"),
        (-1, "has the opposite sign"),
        (0.5, "is half what it should be"),
    ):
        with np.errstate(over="ignore"):
            multiple = (expected * factor).astype(expected.dtype)
        if same(multiple):
            return f"every value {words}"
    if same(expected[::-1]):
        return "the output is the right answer in reverse order"
    if _are_whole(got, expected):
        return "the fractional parts are missing: somewhere the values are converted to integers"
    return _shifted(got, expected, allowed)


def _are_whole(got: Array, expected: Array) -> bool:
    """Tell whether all values are whole numbers beside the right ones."""
    if (
        expected.dtype.kind != "f"
        or not _finite(got).all()
        or (expected == np.rint(expected)).all()
    ):
        return False
    return bool((got == np.rint(got)).all() and (np.abs(got - expected) <= 1).all())


def _shifted(got: Array, expected: Array, allowed: Any) -> str:
    """Recognise rows that are right, but shifted by one element."""
    if expected.shape[-1] < 3:
        return ""
    got, expected = np.moveaxis(got, -1, 0), np.moveaxis(expected, -1, 0)
    allowed = np.moveaxis(allowed, -1, 0) if np.ndim(allowed) else allowed
    for ours, theirs, side in (
        (slice(1, None), slice(None, -1), "after"),
        (slice(None, -1), slice(1, None), "before"),
    ):
        bound = allowed[theirs] if np.ndim(allowed) else allowed
        if not wrong_elements(got[ours], expected[theirs], bound).any():
            return f"each value is stored one position {side} its own: an index is off by one"
    return ""
