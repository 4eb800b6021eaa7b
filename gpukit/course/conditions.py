"""Which values of the inputs tell the wrong elements of an output from the right ones."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpukit.course.case import Array, Case

Mask = NDArray[np.bool_]


def of(case: Case, output: str, mask: Mask) -> str:
    """Say which values of an input tell the wrong elements of an output from all others.

    Only inputs of the output's shape can, and the right values; few are told apart by chance, and
    what holds for nearly all elements tells nothing.
    """
    expected = case.expected[output]
    given = [
        (name, value)
        for name, value in case.args.items()
        if isinstance(value, np.ndarray)
        and name not in case.expected
        and value.shape == expected.shape
        and value.dtype.kind in "iuf"
    ]
    given.append(("the right value", expected))
    with np.errstate(invalid="ignore"):
        kinds = (
            (np.ones(mask.shape, bool), ""),
            (expected != 0, "Of those that should not be 0, "),
            (expected == 0, "Of those that should be 0, "),
        )
    for among, begin in kinds:
        right = int((~mask & among).sum())
        if not (mask & ~among).any() and right > max(9, 0.2 * among.sum()):
            for name, value in given:
                words = _values(name, value[mask & among], value[~mask & among])
                if words:
                    text = f"{begin}exactly the elements where {words} are wrong."
                    return text[:1].upper() + text[1:]
    return next(filter(None, (_outside(n, v[mask], v[~mask]) for n, v in given[:-1])), "")


def _outside(name: str, wrong: Array, right: Array) -> str:
    """Say between which values of an input no element is wrong, where that is hardly by chance.

    More than half of the right elements lie there.

    >>> right = np.arange(0.0, 61)
    >>> _outside("x", np.array([-9.0, -7, -5, -3, 70, 60.5]), np.append(right, [-6, 75]))
    'All wrong elements lie where x is below 0 or above 60, but some elements there are right.'
    """
    if not right.size or np.isnan(wrong).any() or np.isnan(right).any():
        return ""
    marks = np.unique(wrong)
    place = np.searchsorted(marks, right)
    beside = place == np.searchsorted(marks, right, "right")  # the others have a wrong one's value
    widest = right[beside & (place == np.bincount(place[beside], minlength=1).argmax())]
    share = len(widest) / len(right)
    if share < 0.5 or len(right) < 10 or (len(marks) + 1) * (1 - share) ** len(wrong) > 1e-6:
        return ""
    low, high = widest.min(), widest.max()
    ends = [_below(wrong[wrong < low], low)] if (wrong < low).any() else []
    ends += [_above(wrong[wrong > high], high)] if (wrong > high).any() else []
    if low == high or not all(ends):
        return ""
    return (
        f"All wrong elements lie where {name} is {' or '.join(ends)}, but some elements "
        "there are right."
    )


def _values(name: str, wrong: Array, right: Array) -> str:
    """Say in words which values an input has where the output is wrong, and nowhere else.

    A bound is a round number, or the one between near values: what else lies between drawn numbers
    tells nothing.

    >>> right = np.array([-2.0, 3.0, 7.0])
    >>> _values("x", np.array([0.0, 0.0]), right), _values("x", np.array([7.05, 9.0]), right)
    ('x is 0', 'x is above 7')
    >>> _values("x", np.array([8.1, 9.0]), right)
    ''
    """
    if np.isnan(wrong).any() or np.isnan(right).any() or (wrong.size == 1 and wrong[0] != 0):
        return ""
    least, most = wrong.min(), wrong.max()
    if not ((least <= right) & (right <= most)).any():
        if least == most:
            return f"{name} is {_plain(least)}" if _is_round(least) else ""
        if (right > most).any() and (right < least).any():
            ends = (least, right[right < least].max()), (most, right[right > most].min())
            low, high = (_bound(*pair) for pair in ends)
            return f"{name} lies between {low} and {high}" if low and high else ""
        above = (right < least).any()
        words = _above(wrong, right.max()) if above else _below(wrong, right.min())
        return f"{name} is {words}" if words else ""
    least, most = right.min(), right.max()
    if not ((least <= wrong) & (wrong <= most)).any():
        if least == most:
            return f"{name} is not {_plain(least)}" if _is_round(least) else ""
        bounds = [_below(wrong[wrong < least], least), _above(wrong[wrong > most], most)]
        return f"{name} is {' or '.join(bounds)}" if all(bounds) else ""
    return ""


def _above(wrong: Array, right: Any) -> str:
    """Say from where on the wrong values lie, all above a right one; "" where that is by chance."""
    bound = _bound(wrong.min(), right)
    return f"{bound} or more" if bound == _plain(wrong.min()) else bound and f"above {bound}"


def _below(wrong: Array, right: Any) -> str:
    """Say up to where the wrong values lie, all below a right one; "" where that is by chance."""
    bound = _bound(wrong.max(), right)
    return f"{bound} or less" if bound == _plain(wrong.max()) else bound and f"below {bound}"


def _bound(at: Any, beside: Any) -> str:
    """Return a number that parts a wrong value from a right one, "" where many would.

    >>> _bound(-21.1, -20.9), _bound(-20.9, -19.9), _bound(127.75, 127.25), _bound(3.3, 2.7)
    ('about -21', '-20', 'about 127.5', '')
    """
    bound = _round(at, beside)
    if bound is not None:
        return _plain(bound)
    low, high = sorted(map(abs, (float(at), float(beside))))
    is_near = 0.01 < high < 1000 and high - low <= 0.05 * high
    middle = (float(at) + float(beside)) / 2
    shown = (float(f"{middle:.{digits}g}") for digits in range(2, 9))
    between = (n for n in shown if low < abs(n) < high)
    return f"about {_plain(next(between, middle))}" if is_near else ""


def _round(at: Any, beside: Any) -> Any:
    """Return a round number from one value to another, None where there is none by intent.

    That is 0, or close to both a digit with zeros, a power of two or 255; of integers the first,
    where the other is next to it.

    >>> _round(2.0, -3.0), _round(128.0, 127.9), _round(0.2, 0.199), _round(3.3, 2.7)
    (0.0, 128.0, 0.2, None)
    """
    ends = [float(at), float(beside)]
    low, high = sorted(map(abs, ends))
    if min(ends) <= 0 <= max(ends):
        return 0.0
    if isinstance(at, np.integer):
        return at if high - low == 1 else None
    if not math.isfinite(high) or high - low > 0.05 * high:
        return None
    digit, power = 10.0 ** math.floor(math.log10(high)), 2.0 ** math.floor(math.log2(high))
    rounded = (math.floor(high / digit * (1 + 1e-9)) * digit, power, 255.0)
    near = next((n for n in rounded if low * (1 - 1e-7) <= n <= high * (1 + 1e-7)), None)
    return near if near is None else math.copysign(near, ends[0])


def _is_round(value: Any) -> bool:
    """Tell whether a value is one that is chosen: a round number, a whole one or an extreme."""
    if value == np.rint(value) or not np.isfinite(value):
        return True
    return _round(value, value) is not None


def _plain(value: Any) -> str:
    """Return a value as a person writes it: `0`, not `-0.0`."""
    return str(int(value)) if math.isfinite(value) and value == int(value) else str(value)
