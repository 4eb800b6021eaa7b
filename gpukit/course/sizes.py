"""Which size tells the cases that an answer gets wrong from those that it gets right."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from gpukit.course.case import Case

_STEPS = (32, 16, 8, 4)  # a warp's width, and tiles'


def telling(wrong: Sequence[Case], right: Sequence[Case]) -> str:
    """Say from which size on cases are wrong, or which multiples are right; "" where none tells.

    A size is the extent of an array along an axis, or a number among the arguments. Of several the
    one counts whose right and wrong values lie closest together; far apart they tell nothing.
    """
    if len(wrong) < 2 or len(right) < 2 or any(case.per == "call" for case in wrong):
        return ""
    bad, good = [_sizes(case) for case in wrong], [_sizes(case) for case in right]
    found = []
    for name in bad[0]:
        above, below = [sizes[name] for sizes in bad], [sizes[name] for sizes in good]
        if max(below) < min(above) <= 2 * max(below):
            most = f"{max(below)}" if len(set(below)) == 1 else f"at most {max(below)}"
            words = f"where {name} is {most}, and wrong where it is {min(above)} or more"
            found.append((max(below) / min(above), words))
        for step in _STEPS:
            if all(n % step == 0 for n in below) and all(n % step for n in above):
                found.append((0.0, f"where {name} is a multiple of {step}, and wrong elsewhere"))
                break
    if not found:
        return ""
    _, words = max(found, key=lambda each: each[0])
    return f"In the cases tried, the answer is right {words}."


def _sizes(case: Case) -> dict[str, float]:
    """Return the sizes of a case by name, those of inputs first.

    >>> _sizes(Case({"x": np.zeros((2, 3)), "step": 4}, 1, 1, {}))
    {'x.shape[0]': 2, 'x.shape[1]': 3, 'step': 4}
    """
    found: dict[str, float] = {}
    for name, value in sorted(case.args.items(), key=lambda each: each[0] in case.expected):
        if isinstance(value, np.ndarray):
            found |= {f"{name}.shape[{k}]": n for k, n in enumerate(value.shape)}
        else:
            found[name] = value
    return found
