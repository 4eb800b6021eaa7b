"""The registry of benchmark cases, and the parts that they are made of."""

from __future__ import annotations

import difflib
import functools
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from gpukit import errors, launch, target
from gpukit.bench.calls import Launch, poisoned
from gpukit.bench.timing import Comparison


class BenchError(errors.GpukitError):
    """There is no such case."""


class Example(NamedTuple):
    """The launch of a variant, its result, and how NumPy computes the same.

    `given` are the arguments of `work`, the rest is as in `Comparison`. By default `cost` and
    `size` are derived from the sizes.
    """

    ours: Launch
    out: Any
    work: Callable[..., Any]
    given: tuple[Any, ...]
    expected: Callable[[], Any]
    terms: int = 1
    cost: launch.Cost | None = None
    least: int = 0
    size: str = ""


Sizes = tuple[int, ...]
# Small for a quick run, usual, and large for a GPU.
ThreeSizes = tuple[Sizes, Sizes, Sizes]


class Entry(NamedTuple):
    """A case of the registry: a variant, its group, and a maker of examples for given sizes.

    `small` are sizes for slow runs: the fewest elements that reach every branch.
    """

    variant: launch.Variant
    group: str
    maker: Callable[..., Example]
    sizes: ThreeSizes
    small: tuple[Sizes, ...] = ()

    @property
    def kernel(self) -> Any:
        """The kernel that the case times."""
        return self.variant.kernel

    def make(self, quick: bool) -> Comparison:
        """Return the comparison at sizes that suit the target, or at small ones."""
        return self.of(*pick(quick, *self.sizes))

    def of(self, *sizes: int) -> Comparison:
        """Return the comparison for sizes, in the order of the arguments of the cost."""
        made = self.maker(self.variant, *sizes)
        text = f"{sizes[0]:,}" if len(sizes) == 1 else " x ".join(map(str, sizes))
        return Comparison(
            name=name_of(self.variant),
            group=self.group,
            size=made.size or text,
            ours=made.ours,
            work=made.work,
            given=made.given,
            result=lambda: launch.to_host(made.out),
            expected=made.expected,
            cost=made.cost or self.variant.cost(*sizes),
            terms=made.terms,
            least=made.least,
        )


CASES: dict[str, Entry] = {}


def name_of(variant: launch.Variant) -> str:
    """Return the name of a variant's case, which is its kernel's."""
    return str(variant.kernel.py_func.__name__).removesuffix("_kernel")


def past_a_tile(variant: launch.Variant) -> list[Sizes]:
    """Return a size for two blocks, of which the second has a partial tile.

    With a grid-stride loop, both blocks have more than two tiles.
    """
    tile = variant.tile or variant.block
    return [((5 if variant.grid_stride else 1) * tile + 45,)]  # type: ignore[operator]


def group(
    *variants: launch.Variant,
    sizes: ThreeSizes | Callable[[launch.Variant], ThreeSizes],
    small: Sequence[Sizes] | Callable[[launch.Variant], Sequence[Sizes]] = (),
) -> Callable[[Callable[..., Example]], Callable[..., Example]]:
    """Register the maker of examples for some variants: one case each, named as its kernel.

    The maker takes a variant and as many sizes as each of `sizes` has.
    """

    def register(maker: Callable[..., Example]) -> Callable[..., Example]:
        for variant in variants:
            package = variant.kernel.py_func.__module__.split(".")[2]
            three = sizes(variant) if callable(sizes) else sizes
            least = small(variant) if callable(small) else small
            CASES[name_of(variant)] = Entry(variant, package, maker, three, tuple(least))
        return maker

    return register


def choose(names: Sequence[str]) -> list[str]:
    """Return the cases for names: a kernel, a group, or a prefix of kernels' names.

    No name means all. `sum` means all variants of the sum, from sum_interleaved to sum_vectorized.
    """
    if not names:
        return list(CASES)
    chosen = {name: _meant(name) for name in names}
    for name, found in chosen.items():
        if not found:
            raise BenchError(f"bench: expected a kernel or a group, got {name!r}. {_guess(name)}")
    return [name for name in CASES if any(name in found for found in chosen.values())]


def choose_one(name: str) -> str:
    """Return the case for a kernel's name, with or without `_kernel`."""
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
    return f"Did you mean {close[0]}?" if close else f"Available: {', '.join(sorted(known))}."


def make(name: str, *, quick: bool = False) -> Comparison:
    """Return the comparison called `name`, with its data."""
    return CASES[name].make(quick)


def pick(quick: bool, small: Any, usual: Any, large: Any) -> Any:
    """Return the small size for a quick run, the large one on a GPU, else the usual one."""
    return small if quick else large if target.active().name == "cuda" else usual


@functools.lru_cache(maxsize=4)
def random(*shape: int, draw: int = 0) -> Any:
    """Return read-only normal float32 values with a positive mean, so that no sum is nearly zero.

    Each array of a case takes another `draw`: the product of a matrix with itself or its transpose
    would hide swapped rows and columns.
    """
    made = np.random.default_rng((20261120, draw)).standard_normal(shape, np.float32)
    made += np.float32(0.25)
    return made


def example(
    variant: launch.Variant,
    covers: Sizes,
    inputs: tuple[Any, ...],
    out: Any,
    work: Any,
    *,
    after: tuple[Any, ...] = (),
    shared: int = 0,
    **rest: Any,
) -> Example:
    """Return the example of one launch on the inputs, `out`, and the arguments `after` it.

    A shape for `out` makes a new float32 array. The rest is for `answered`.
    """
    out = poisoned(out, np.float32) if isinstance(out, tuple) else out
    grid = variant.grid("bench", *covers)
    ours = Launch(variant.kernel, grid, variant.block, *inputs, out, *after, shared=shared)
    return answered(variant, ours, inputs, out, work, **rest)


def answered(
    variant: launch.Variant,
    ours: Launch,
    inputs: tuple[Any, ...],
    out: Any,
    work: Any,
    *,
    given: tuple[Any, ...] | None = None,
    mine: bool = False,
    told: tuple[Any, ...] | None = None,
    named: Any = None,
    part: int | None = None,
    **rest: Any,
) -> Example:
    """Return the example of launches that write `out`, with the result of the variant's reference.

    The work takes the arrays among the inputs, or `given`, and with `mine` an output array. The
    reference takes the inputs, or `told`, and the keywords `named`; of several results `part` is
    the one in `out`. The least bytes are those of one launch's arrays; for several launches, those
    of the arrays of the work and of `out`.
    """
    if given is None:
        given = tuple(a for a in inputs if isinstance(a, np.ndarray))
    arrays = [a for a in (*given, out) if hasattr(a, "nbytes")]
    least = ours.nbytes if type(ours) is Launch else sum(int(a.nbytes) for a in arrays)
    if mine:
        given = (*given, np.empty(out.shape, out.dtype))

    def expected() -> Any:
        right = variant.reference(*(inputs if told is None else told), **(named or {}))
        return np.reshape(right if part is None else right[part], out.shape)

    return Example(ours, out, work, given, **{"expected": expected, "least": least, **rest})
