"""`gpukit.estimate`: what a named GPU would need for a launch, with a stated error."""

from __future__ import annotations

import contextlib
import inspect
import operator
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, SupportsIndex

import numpy as np

from gpukit import errors
from gpukit.checked import profile as profiles
from gpukit.checked.command import Command, observing
from gpukit.checked.instrumented import Launch
from gpukit.checked.profile import blocks as profile_blocks
from gpukit.estimates import gpus, machine_code, model, published, refuse, work
from gpukit.estimates.estimated import SASS, SOURCE, Estimate, Estimates, added
from gpukit.estimates.gpus import MACHINES, USUAL, Machine, chosen
from gpukit.gpu_code import Code

__all__ = ["MACHINES", "USUAL", "Estimate", "Estimates", "chosen", "estimate", "estimating"]

# Launches of up to MOST_BLOCKS blocks run whole; of larger ones, BLOCKS blocks run.
MOST_BLOCKS, BLOCKS = 64, 32
# The factor by which a wide band is wider.
WIDE = 1.5
_GOLDEN = 0.6180339887
_sampling = threading.Lock()  # what one estimate puts back, another one may have stored


def estimate(
    kernel: Any,
    gpu: str | Sequence[str] | None = None,
    *,
    repeated: bool = False,
    blocks: int | None = None,
    sass: bool | None = None,
) -> Command:
    """Return the kernel ready to be launched and estimated for a GPU, or for several.

    `gpukit.estimate(kernel, gpu)[grid, block, stream, shared_bytes](*arguments)` counts what the
    launch asks of a GPU and returns an `Estimate`, with times in seconds: `floor`, `likely`,
    `worst`, what limits it (`bound`) and what it rests on. A list of GPUs gives `Estimates`, a
    table. `gpukit.estimate(function, gpu)(*arguments)` calls a function that launches kernels and
    returns the sum of its launches. Without `gpu` it is that of `bench.choose_gpu`, else of the
    environment variable GPUKIT_GPU, else an RTX 3080.

    Of launches with more than 64 blocks only `blocks` (default 32) are counted, and the arguments
    of a kernel are as they were before; a function's launches have their usual effect. `repeated`
    estimates a launch that runs again and again and finds in L2 what fits there.
    `sass` is whether registers and instructions come from machine code, of numba-cuda and NVIDIA's
    compilers, instead of from the source, as nvcc would compile it; the default is where they are
    installed. Raises ValueError for a GPU that it does not know, and ArgumentError where `gpu` is
    no name or `blocks` no whole number of 1 or more.
    """
    gpu = chosen() if gpu is None else gpu
    several = not isinstance(gpu, str)
    machines = _machines(gpu)
    _check_blocks(blocks)
    whole = inspect.isroutine(kernel)
    name = getattr(kernel, "__name__", "")
    use_sass = machine_code.available() if sass is None else sass

    def run(made: Any, shape: Any, arguments: tuple[Any, ...]) -> Any:
        counted = _counted(made, shape, arguments, blocks, whole)
        found = _estimated(counted, made, machines, repeated, use_sass)
        return Estimates(found) if several else found[0]

    def join(answers: list[Any]) -> Any:
        if not several:
            return added(name, answers)
        return Estimates([added(name, parts) for parts in zip(*answers, strict=True)])

    return Command("estimate", kernel, run, join=join)


def _machines(gpu: Any) -> list[Machine]:
    if isinstance(gpu, str):
        return [gpus.find(gpu)]
    if not isinstance(gpu, Iterable):
        raise errors.ArgumentError(
            f"estimate: expected gpu to be a name or a list of names, got {gpu!r}. "
            f'Name one, such as "{USUAL}".'
        )
    machines = [gpus.find(name) for name in gpu]
    if not machines:
        raise ValueError(f"estimate: expected one GPU or more, got {gpu!r}. Name one.")
    return machines


def _check_blocks(blocks: Any) -> None:
    whole = isinstance(blocks, SupportsIndex) and not isinstance(blocks, bool)
    if blocks is not None and not (whole and operator.index(blocks) >= 1):
        raise errors.ArgumentError(
            f"estimate: expected blocks to be a whole number, 1 or more, got {blocks!r}. "
            f"Leave blocks= out to count {BLOCKS} of a large launch."
        )


@contextlib.contextmanager
def estimating(
    names: Sequence[str], *, repeated: bool = False, sass: bool | None = None
) -> Iterator[list[Estimate]]:
    """Estimate the launches inside a `with` block; the list gets an estimate per launch and GPU.

    `repeated` and `sass` are those of `estimate`.
    """
    machines = [gpus.find(name) for name in names]
    found: list[Estimate] = []
    use_sass = machine_code.available() if sass is None else sass

    def observer(kernel: Any, shape: Any, arguments: tuple[Any, ...]) -> None:
        counted = _counted(kernel, shape, arguments, None, True)
        found.extend(_estimated(counted, kernel, machines, repeated, use_sass))

    with observing(observer):
        yield found


def _counted(
    kernel: Any, shape: Any, arguments: tuple[Any, ...], blocks: int | None, whole: bool
) -> profiles.Profile:
    """Return the counters of a launch, or of some of its blocks.

    With `whole` the launch has its full effect on the arguments, else none if blocks are left out.
    """
    most, count = (MOST_BLOCKS, BLOCKS) if blocks is None else (blocks, blocks)
    launch = Launch(kernel, shape, arguments, "every")
    if profile_blocks.why_all(launch):  # such a kernel may wait for another thread's launch
        return profiles.run(kernel, shape, arguments)
    with _sampling:
        if shape.blocks <= most:
            return profiles.run(kernel, shape, arguments)
        restore = _saved(launch)
        try:
            counted = profiles.run(kernel, shape, arguments, spread(count, shape.blocks))
        finally:
            restore()
        if whole:
            kernel.launcher.run_plain(shape, arguments)
    return counted


def spread(count: int, total: int) -> list[int]:
    """Return the indices of `count` blocks, one from each of as many equal parts of the grid.

    Their places within the parts differ, so that a grid of rows and columns is not sampled in one
    column, and blocks at an edge are as frequent as in the grid.

    >>> spread(4, 100)
    [0, 40, 55, 96]
    """
    places = (k + k * _GOLDEN % 1 for k in range(count))
    return sorted({int(place * total / count) for place in places})


def _saved(launch: Launch) -> Callable[[], None]:
    """Copy what a launch may write, arrays and records; return what puts the values back."""
    arrays = [one for segment in launch.segments() for one in segment.arrays]
    hosts = [one.host for one in arrays if one.host is not None and launch.may_write(one.name)]
    copies = [(host, host.copy()) for host in hosts if host.flags.writeable]
    records = [(one, one.copy()) for one in _records(launch.arguments) if one.flags.writeable]

    def restore() -> None:
        for host, copy in copies:
            host[...] = copy
        for record, copy in records:
            for name in copy.dtype.names or ():
                record[name] = copy[name]

    return restore


def _records(arguments: Sequence[Any]) -> Iterator[np.void]:
    for argument in arguments:
        if isinstance(argument, tuple):
            yield from _records(argument)
        elif isinstance(argument, np.void):
            yield argument


def _estimated(
    counted: profiles.Profile, kernel: Any, machines: Sequence[Machine], repeated: bool, sass: bool
) -> list[Estimate]:
    """Return the estimate of a launch for each GPU; all code is compiled at once."""
    codes = machine_code.of(counted, machines) if sass else {}
    asked, refused = work.of_source(counted), refuse.reason(counted, kernel)
    return [
        _for_machine(counted, asked, refused, one, repeated, codes.get(one.gpu.capability))
        for one in machines
    ]


def _for_machine(
    counted: profiles.Profile,
    asked: model.Work,
    refused: str,
    machine: Machine,
    repeated: bool,
    code: Code | None,
) -> Estimate:
    basis = SOURCE
    if code is not None:
        asked, basis = machine_code.refined(asked, counted, code), SASS
        refused = machine_code.refused(code) or refused
    times = model.times(asked, machine, repeated=repeated)
    refused = refused or refuse.untested(machine, bool(published.tested(machine)))
    runs = times.resident > 0
    if not runs:
        refused = "an SM cannot hold a block of this launch"
    wide = () if refused else tuple(refuse.uncertain(counted, asked, machine, times))
    return Estimate(
        counted.kernel,
        machine,
        times.floor if runs else None,
        None if refused else times.likely,
        None if refused else times.worst * (WIDE if wide else 1),
        "" if refused else times.bound,
        {} if refused else times.terms,
        refused,
        wide,
        basis=basis,
        repeated=repeated,
        grid=counted.grid,
        block=counted.block,
        blocks_run=counted.blocks_run,
        work=asked,
    )
