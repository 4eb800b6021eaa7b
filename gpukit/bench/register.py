"""The register of benchmark cases: which there are, and what every maker of one needs."""

from __future__ import annotations

import difflib
import functools
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from gpukit import cuda, errors, launch, target
from gpukit.bench.timing import Comparison
from gpukit.kernels import vector


class BenchError(errors.GpukitError):
    """There is no such case."""


class Entry(NamedTuple):
    """A case of the registry: the variant it times, its group, and how to make it."""

    variant: launch.Variant
    group: str
    make: Callable[[bool], Comparison]

    @property
    def kernel(self) -> Any:
        """The kernel that the case is about."""
        return self.variant.kernel


CASES: dict[str, Entry] = {}
Maker = Callable[[str, launch.Variant, bool], Comparison]


def group(*variants: launch.Variant) -> Callable[[Maker], Maker]:
    """Register a maker for some variants, one case for each, under the name of its kernel."""

    def register(maker: Maker) -> Maker:
        for variant in variants:
            function = variant.kernel.py_func
            name = function.__name__.removesuffix("_kernel")
            group_name = function.__module__.split(".")[2]
            CASES[name] = Entry(variant, group_name, functools.partial(maker, name, variant))
        return maker

    return register


def choose(names: Sequence[str]) -> list[str]:
    """Return the cases meant by names: a kernel, a group, or how kernels' names begin.

    No name means all. `sum` means all variants of the sum, from sum_interleaved to sum_vectorised.
    """
    if not names:
        return list(CASES)
    chosen = {name: _meant(name) for name in names}
    for name, found in chosen.items():
        if not found:
            raise BenchError(f"bench: expected a kernel or a group, got {name!r}. {_guess(name)}")
    return [name for name in CASES if any(name in found for found in chosen.values())]


def choose_one(name: str) -> str:
    """Return the case meant by a kernel's name, its own or the one that it has in its module."""
    short = name.removesuffix("_kernel")
    if short not in CASES:
        raise BenchError(f"expected the name of a kernel, got {name!r}. {_guess(short)}")
    return short


def _meant(name: str) -> list[str]:
    if name in CASES:
        return [name]
    return [
        case for case, entry in CASES.items() if name == entry.group or case.startswith(f"{name}_")
    ]


def _guess(name: str) -> str:
    known = {*CASES, *(entry.group for entry in CASES.values())}
    close = difflib.get_close_matches(name, known, n=1)
    return f"Did you mean {close[0]}?" if close else f"There are: {', '.join(sorted(known))}."


def make(name: str, *, quick: bool = False) -> Comparison:
    """Return the comparison called `name`, with its data."""
    return CASES[name].make(quick)


def pick(quick: bool, small: Any, usual: Any, large: Any) -> Any:
    """Return the size of a case: small when little time is left, large on a GPU, which needs it."""
    return small if quick else large if target.active().name == "cuda" else usual


def poisoned(shape: tuple[int, ...], dtype: type[np.generic]) -> Any:
    """Return an array for a kernel to write, of NaN or of the least integer: no answer is that."""
    worst = np.nan if np.issubdtype(dtype, np.floating) else np.iinfo(dtype).min  # type: ignore[type-var]
    return launch.to_device(np.full(shape, worst, dtype))


@functools.lru_cache(maxsize=4)
def random(*shape: int, draw: int = 0) -> Any:
    """Return normal float32 numbers with a mean, so that no sum is nearly zero: not to be written.

    Arrays of one case take a `draw` each: a product of a matrix with itself, or with its transpose,
    is right where rows and columns are mixed up.
    """
    made = np.random.default_rng((20261120, draw)).standard_normal(shape, np.float32)
    made += np.float32(0.25)
    return made


class Launch:
    """A call that launches a kernel and waits; its arrays are on the device already."""

    def __init__(
        self, kernel: Any, grid: Any, block: Any, *arguments: Any, shared: int = 0
    ) -> None:
        self.kernel, self.shape = kernel, (grid, block, 0, shared)
        self.arguments = [
            launch.to_device(a) if isinstance(a, np.ndarray) else a for a in arguments
        ]

    def __call__(self) -> None:
        self.start()
        if target.active().name == "cuda":  # elsewhere a launch returns when it is done
            cuda.synchronize()

    def start(self) -> None:
        """Launch, and do not wait."""
        self.kernel[self.shape](*self.arguments)

    @property
    def nbytes(self) -> int:
        """The bytes of the arrays that the kernel is given."""
        return sum(int(getattr(array, "nbytes", 0)) for array in self.arguments)


def launched(variant: launch.Variant, sizes: tuple[int, ...], *arguments: Any) -> Launch:
    """Return the launch of a variant that covers so many elements along x, y and z."""
    return Launch(variant.kernel, variant.grid("bench", *sizes), variant.block, *arguments)


class Launches(Launch):
    """Launches one after the other, of which each takes what those before it wrote."""

    def __init__(self, *parts: Launch) -> None:
        self.parts = parts

    def start(self) -> None:
        """Launch them all, and do not wait."""
        for part in self.parts:
            part.start()


def zeroed(out: Any) -> Launch:
    """Return the launch that sets a vector to 0, for atomics to add to."""
    return launched(vector.VARIANTS[0], out.shape, out.dtype.type(0), out)


def comparison(name: str, size: str, ours: Any, work: Any, out: Any, **rest: Any) -> Comparison:
    """Return a comparison; its least bytes are those of the arrays of `ours`, if one `Launch`."""
    if type(ours) is Launch:
        rest.setdefault("least", ours.nbytes)
    return Comparison(
        name=name,
        group=CASES[name].group,
        size=size,
        ours=ours,
        work=work,
        result=lambda: launch.to_host(out),
        **rest,
    )
