"""Where arrays lie in memory, copies of them, and which parameters an array is or holds."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from gpukit import launch
from gpukit.nn.parameters import Parameters

# How far numbers may be from being proportional, relative to the largest.
PROPORTIONAL = 1e-5
Host = npt.NDArray[Any]


class Region(NamedTuple):
    """A slice of the gradients or the values of a model, or a copy of it."""

    what: str  # "grad" or "value"
    model: int  # which of the `Parameters` that the rank has made
    first: int
    end: int
    copied: bool = False

    def holds(self, other: Region) -> bool:
        """Return whether this region and another one of the same kind overlap."""
        return (self.what, self.model) == (other.what, other.model) and (
            self.first < other.end and other.first < self.end
        )


class Slot(NamedTuple):
    """Where a parameter or buffer lies in the arrays of a model."""

    name: str
    model: int
    first: int
    shape: tuple[int, ...]
    learned: bool = True

    @property
    def end(self) -> int:
        """The index after its last element."""
        return self.first + math.prod(self.shape)

    @property
    def grad(self) -> Region:
        """The region of its gradient."""
        return Region("grad", self.model, self.first, self.end)

    def of(self, flat: Host) -> Host:
        """Return the parameter's part of an array of all parameters."""
        return flat[self.first : self.end].reshape(self.shape)


def span(array: Any) -> tuple[int, int] | None:
    """Return the first address of an array and the one after its last, None for other objects."""
    interface = getattr(array, "__array_interface__", None)
    if interface is None:
        interface = getattr(array, "__cuda_array_interface__", None)
    if interface is None or not array.size:
        return None
    begin = int(interface["data"][0])
    return begin, begin + array.size * array.dtype.itemsize


def overlap(a: tuple[int, int] | None, b: tuple[int, int] | None) -> bool:
    """Return whether two spans have an address in common."""
    return a is not None and b is not None and a[0] < b[1] and b[0] < a[1]


def copied(array: Any) -> Host:
    """Return a copy of an array on the host."""
    return np.array(launch.to_host(array))


def same_bits(a: Host, b: Host) -> bool:
    """Return whether two arrays hold the same bits."""
    return a.shape == b.shape and a.tobytes() == b.tobytes()


def slots_of(parameters: Parameters, model: int) -> list[Slot]:
    """Return where every parameter lies; buffers, which have arrays of their own, come last."""
    start = span(parameters.value)
    slots = []
    for name, view in parameters.views().items():
        learned = name in parameters.names
        here = span(view)
        first = 0
        if learned and here is not None and start is not None:
            first = (here[0] - start[0]) // parameters.value.dtype.itemsize
        slots.append(Slot(name, model, first, tuple(view.shape), learned))
    return slots


def region_of(array: Any, models: list[Parameters]) -> Region | None:
    """Return the gradients or values that an array is, by its address or by its numbers."""
    here = span(array)
    if here is None:
        return None
    for number, parameters in enumerate(models):
        for what, whole in (("grad", parameters.grad), ("value", parameters.value)):
            there = span(whole)
            if there is not None and overlap(here, there):
                size = whole.dtype.itemsize
                return Region(
                    what, number, (here[0] - there[0]) // size, (here[1] - there[0]) // size
                )
    return _copy_of(array, models)


def _copy_of(array: Any, models: list[Parameters]) -> Region | None:
    if array.dtype.kind != "f":
        return None
    numbers = None
    for number, parameters in enumerate(models):
        whole = Slot("", number, 0, tuple(parameters.value.shape))
        for slot in (whole, *(s for s in slots_of(parameters, number) if s.learned)):
            if math.prod(slot.shape) != array.size:
                continue
            numbers = copied(array).reshape(slot.shape) if numbers is None else numbers
            flat = numbers.reshape(slot.shape)
            for what, source in (("grad", parameters.grad), ("value", parameters.value)):
                other = slot.of(copied(source))
                alike = proportional if array.size > 1 else same_bits
                if alike(flat, other):
                    return Region(what, number, slot.first, slot.end, copied=True)
        if array.size == parameters.grad.size and array.size > 1:
            return Region("grad", number, 0, array.size, copied=True)  # a sum of gradients
    return None


def proportional(a: Host, b: Host) -> bool:
    """Return whether a = c b for a number c other than 0."""
    c = factor(a, b)
    return bool(c) and close(a, c * b, float(np.abs(a).max()), PROPORTIONAL)


def factor(a: Host, b: Host) -> float:
    """Return the c for which c b is nearest to a; 0 where there is none."""
    x, y = a.astype(np.float64).ravel(), b.astype(np.float64).ravel()
    square = float(y @ y)
    found = float(x @ y) / square if square else 0.0
    return found if math.isfinite(found) else 0.0


def close(a: Host, b: Host, scale: float, tolerance: float) -> bool:
    """Return whether two arrays differ by at most `tolerance` times `scale`, NaN for NaN."""
    return bool(np.allclose(a, b, rtol=0, atol=tolerance * scale, equal_nan=True))
