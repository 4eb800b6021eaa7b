"""The calls that benchmark cases time: launches on device arrays, alone or one after the other."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from gpukit import cuda, launch, target
from gpukit.kernels import vector


class Launch:
    """A call that launches a kernel on device arrays and waits."""

    def __init__(
        self, kernel: Any, grid: Any, block: Any, *arguments: Any, shared: int = 0
    ) -> None:
        self.kernel, self.shape = kernel, (grid, block, 0, shared)
        self.arguments = [
            launch.to_device(a) if isinstance(a, np.ndarray) else a for a in arguments
        ]

    def __call__(self) -> None:
        self.start()
        if target.active().name == "cuda":  # on other targets a launch is synchronous
            cuda.synchronize()

    def start(self) -> None:
        """Launch without waiting."""
        self.kernel[self.shape](*self.arguments)

    @property
    def nbytes(self) -> int:
        """The bytes of the kernel's arrays."""
        return sum(int(getattr(array, "nbytes", 0)) for array in self.arguments)


class Launches(Launch):
    """Launches one after the other, each on the results of those before it."""

    def __init__(self, *parts: Launch) -> None:
        self.parts = parts

    def start(self) -> None:
        """Launch them all without waiting."""
        for part in self.parts:
            part.start()


def launched(variant: launch.Variant, sizes: tuple[int, ...], *arguments: Any) -> Launch:
    """Return the launch of a variant that covers `sizes` elements along x, y and z."""
    return Launch(variant.kernel, variant.grid("bench", *sizes), variant.block, *arguments)


def zeroed(out: Any) -> Launch:
    """Return the launch that sets a vector to 0, for atomics to add to."""
    return launched(vector.VARIANTS[0], out.shape, out.dtype.type(0), out)


def parts_of(ours: Any) -> Iterator[Launch]:
    """Yield the launches of a case one by one."""
    if isinstance(ours, Launches):
        for part in ours.parts:
            yield from parts_of(part)
    else:
        yield ours


def together(*costs: launch.Cost) -> launch.Cost:
    """Return the cost of launches one after the other."""
    return launch.Cost(sum(c.bytes for c in costs), sum(c.flops for c in costs))


def poisoned(shape: tuple[int, ...], dtype: type[np.generic]) -> Any:
    """Return an array for a kernel to write, filled with NaN or with the least integer."""
    worst = np.nan if np.issubdtype(dtype, np.floating) else np.iinfo(dtype).min  # type: ignore[type-var]
    return launch.to_device(np.full(shape, worst, dtype))
