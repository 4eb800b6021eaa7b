"""A launch, the registry of launches, and the recording of a call's launches."""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any
from unittest import mock

import numpy as np

from benchmarks.mutation.code import full_name
from gpukit import cuda, launch
from gpukit.bench.calls import poisoned
from gpukit.bench.cases import CASES
from gpukit.bench.register import Entry
from gpukit.cpu.dispatcher import Configured
from gpukit.cpu.memory import uninitialised

Array = Any
OBSERVED = 1024  # most threads of a launch that the oracle runs beside the smallest one


@dataclass(frozen=True)
class Case:
    """One launch: `make` gives fresh arguments, `expected` the answers by argument number.

    `shape` is the launch configuration: grid, block, and if needed stream and shared bytes. `terms`
    is how many values are added into one element. `interpreted` is whether the oracle runs it too,
    which takes a minute for a block of tensor cores.
    """

    shape: tuple[Any, ...]
    make: Callable[[], tuple[Any, ...]]
    expected: dict[int, Array]
    terms: int = 1
    interpreted: bool = True

    @property
    def threads(self) -> int:
        """The number of threads of all blocks."""
        return int(np.prod(self.shape[0]) * np.prod(self.shape[1]))

    def wrong(self, arguments: tuple[Any, ...]) -> bool:
        """Tell whether an answer differs by more than rounding, or is an unexpected NaN."""
        found = {at: launch.to_host(arguments[at]) for at in self.expected}
        return any(self._differs(found[at], right) for at, right in self.expected.items())

    def _differs(self, found: Array, right: Array) -> bool:
        if not np.issubdtype(found.dtype, np.inexact):
            return not np.array_equal(found, right)
        largest = np.max(np.abs(right), initial=0, where=np.isfinite(right))
        tolerance = (self.terms + 3) * np.finfo(found.dtype).eps * largest
        same = (found == right) | (np.isnan(found) & np.isnan(right))
        with np.errstate(invalid="ignore"):  # inf - inf
            return not np.all(same | (np.abs(found - right) <= tolerance))


Maker = Callable[[], Iterator[Case]]
MAKERS: dict[str, Maker] = {}


def of(kernel: Any) -> Callable[[Maker], Maker]:
    """Register the launches of one kernel."""

    def register(maker: Maker) -> Maker:
        MAKERS[full_name(kernel)] = maker
        return maker

    return register


@functools.cache
def find(name: str) -> tuple[Case, ...]:
    """Return the launches of a kernel, `gpukit.kernels.vector.fill_kernel` for example."""
    if name in MAKERS:
        return tuple(MAKERS[name]())
    for entry in CASES.values():
        if full_name(entry.kernel) == name:
            return tuple(_of_entry(entry))
    raise LookupError(
        f"{name} has no launch to try its mutants on. Register it with a group in "
        "gpukit/bench/cases.py, or give it a function with @of(...) in "
        "benchmarks/mutation/cases/."
    )


def _of_entry(entry: Entry) -> Iterator[Case]:
    """Yield the launches of a benchmark case with its small sizes.

    The device holds two blocks, so that threads of a grid-stride loop have several elements each.
    """
    with mock.patch.object(launch, "resident_blocks", return_value=2):
        made = [entry.of(*sizes) for sizes in entry.small or entry.sizes[:1]]
        found = [one for each in made for one in _recorded(entry.kernel, each.ours, each.terms)]
    return _few_interpreted(found)


# ---- making launches ------------------------------------------------------------------------


def values(*shape: int, dtype: Any = np.float32) -> Array:
    """Return distinct values from 0.5 to 2: no sum is nearly zero, no swap stays hidden."""
    rng = np.random.default_rng([20261121, *shape])
    if np.issubdtype(dtype, np.integer):
        return rng.integers(1, 255, shape).astype(dtype)
    return rng.uniform(0.5, 2, shape).astype(dtype)


def given(*shape: int) -> Any:
    """Return such values on the device, so that host functions return device arrays."""
    return cuda.to_device(values(*shape))


def case(
    grid: Any,
    block: Any,
    inputs: tuple[Any, ...],
    right: Array,
    terms: int = 1,
    start: float | None = None,
    dtype: Any = np.float32,
) -> Case:
    """Return a launch whose last argument is the output: uninitialized, or filled with `start`."""
    right = np.asarray(right)

    def make() -> tuple[Any, ...]:
        copies = (a.copy() if isinstance(a, np.ndarray) else a for a in inputs)
        if start is None:
            return (*copies, cuda.device_array(right.shape, dtype))
        return (*copies, np.full(right.shape, start, dtype))

    return Case((grid, block), make, {len(inputs): right}, terms)


# ---- the launches of a call -----------------------------------------------------------------


def called(kernels: Sequence[Any], *calls: Callable[[], Any], terms: int = 16) -> None:
    """Register the launches of some kernels in calls of host functions.

    The expected answers are those of the kernel itself on the cpu target.
    """

    def maker(kernel: Any) -> Iterator[Case]:
        found = [one for call in calls for one in _recorded(kernel, call, terms)]
        return _few_interpreted(found)

    for kernel in kernels:
        of(kernel)(functools.partial(maker, kernel))


def _few_interpreted(found: list[Case]) -> Iterator[Case]:
    """Yield launches; the oracle runs the smallest one, and others of at most OBSERVED threads."""
    most = max(OBSERVED, min(one.threads for one in found))
    return (replace(one, interpreted=one.threads <= most) for one in found)


def _recorded(kernel: Any, call: Callable[[], Any], terms: int) -> Iterator[Case]:
    """Yield the launches of a kernel in a call, with the kernel's own answers."""
    launches: list[tuple[Any, list[Callable[[], Any]]]] = []
    genuine = Configured.__call__

    def record(self: Configured, *arguments: Any) -> None:
        if self.kernel.py_func is kernel.py_func:
            launches.append((self.shape, [_again(argument) for argument in arguments]))
        genuine(self, *arguments)

    with contextlib.ExitStack() as stack:
        stack.enter_context(mock.patch.object(Configured, "__call__", record))
        stack.enter_context(mock.patch.object(launch, "empty", cuda.device_array))
        call()
    assert launches, f"{full_name(kernel)} is not launched by {call}"
    for shape, parts in launches:
        make = functools.partial(_made, parts)
        after = make()
        brackets = (shape.grid, shape.block, 0, shape.shared)
        kernel[brackets](*after)
        arrays = {at: launch.to_host(a) for at, a in enumerate(after) if _is_array(a)}
        yield Case(brackets, make, arrays, terms)


def _again(argument: Any) -> Callable[[], Any]:
    """Return a function that makes an argument again: an uninitialized array, or a copy.

    Arrays that the benchmarks poison count as uninitialized.
    """
    if not _is_array(argument):
        return lambda: argument
    host = argument if isinstance(argument, np.ndarray) else argument.host
    poison = poisoned(host.shape, host.dtype) if host.dtype.kind in "if" else None
    if host.size and poison is not None and host.tobytes() == poison.tobytes():
        return functools.partial(cuda.device_array, host.shape, host.dtype)
    begin = host.__array_interface__["data"][0]
    unset = uninitialised.cells(begin, begin + host.nbytes, 1)
    if unset is not None and unset.all():
        return functools.partial(cuda.device_array, host.shape, host.dtype)
    return host.copy().copy


def _made(parts: list[Callable[[], Any]]) -> tuple[Any, ...]:
    return tuple(part() for part in parts)


def _is_array(value: Any) -> bool:
    return isinstance(value, np.ndarray) or launch.is_device_array(value)
