"""Arrays that a program returns, compared with those of one process."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from gpukit.parallel.checker import cases
from gpukit.parallel.checker.findings import Finding, make, ranks_in_words
from gpukit.parallel.checker.memory import Host

if TYPE_CHECKING:
    from gpukit.parallel.checker.comparison import Pairing


def find(pairing: Pairing) -> list[Finding]:
    """Return the arrays in the results that differ from those of one process."""
    if pairing.alone is None:
        return []
    own = pairing.alone.arrays()
    held: dict[str, dict[int, Host]] = {}
    for trace in pairing.traces:
        for name, array in trace.arrays().items():
            held.setdefault(name, {})[trace.rank] = array
    found = []
    for name, arrays in held.items():
        if name not in own or own[name].dtype.kind not in "fiu":
            continue
        whole = _joined(list(arrays.values()), own[name].shape)
        if whole is None:
            shapes = ", ".join(str(each.shape) for each in arrays.values())
            pairing.notes.append(
                f"Not compared: {name}, of shape {own[name].shape} in one process and {shapes} on "
                "the ranks."
            )
            continue
        scale = float(np.abs(own[name]).max(initial=0))
        gaps = {
            rank: np.abs(part - expected)
            for rank, part, expected in zip(arrays, *_sides(whole, own[name], arrays), strict=True)
        }
        bad = [rank for rank in gaps if not gaps[rank].max(initial=0) <= cases.TOLERANCE * scale]
        if bad:
            gap = max(float(gaps[rank].max()) for rank in bad)
            index = np.argwhere(~(gaps[bad[0]] <= cases.TOLERANCE * scale))[0].tolist()
            found.append(
                make(
                    "different-result",
                    f"`{name}` of {ranks_in_words(bad)} differs from what one process computes, by "
                    f"up to {gap:.3g}; first in element {index} of that of rank {bad[0]}.",
                    "Compare the parts at the borders between ranks and what they exchange there.",
                    parameters=(name,),
                    ranks=tuple(bad),
                )
            )
    return found


def _joined(parts: list[Host], shape: tuple[int, ...]) -> int | None:
    """Return the axis along which parts make up a shape, -1 for copies, None for neither."""
    if all(part.shape == shape for part in parts):
        return -1
    for axis in range(len(shape)):
        try:
            if np.concatenate(parts, axis=axis).shape == shape:
                return axis
        except ValueError:
            continue
    return None


def _sides(axis: int, own: Host, arrays: dict[int, Host]) -> tuple[list[Host], list[Host]]:
    """Return each rank's array, and the part of one process's that it must equal."""
    parts = list(arrays.values())
    if axis < 0:
        return parts, [own] * len(parts)
    ends = np.cumsum([part.shape[axis] for part in parts])[:-1]
    return parts, np.split(own, ends, axis=axis)
