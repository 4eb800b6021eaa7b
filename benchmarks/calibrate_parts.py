"""The parts of a calibration, each in a process of its own that `calibrate.py` starts.

A part yields events: each has one key of the record (`calibrate_tables.Record`) and what belongs
there. `calibrate.py --part` writes them to its output, each a line of JSON.
"""

from __future__ import annotations

import contextlib
import faulthandler
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

import gpukit
from benchmarks import calibrate_tables as tables
from benchmarks import gpu_times
from benchmarks.microbenchmarks import GROUPS, Scale
from gpukit import cuda, target
from gpukit.bench import gpu, timing
from gpukit.bench.calls import Launch, parts_of
from gpukit.bench.cases import CASES
from gpukit.bench.estimated import limits
from gpukit.bench.register import Sizes
from gpukit.estimates import estimated, machine_code, published, refuse
from gpukit.estimates.gpus import Machine

SECONDS, REHEARSED = 0.4, 0.01  # of sampling
BLOCKS = 8  # that are counted of a launch, as for docs/estimates.md
FEW = 1 << 12  # float32 that a rehearsal reads to flush the cache
TURN = 20.0  # seconds for which a process may have the GPU to itself; then it hangs

Event = dict[str, Any]

_VECTOR: Sequence[Sizes] = ((10_000_000,), (100_000_000,))
_IMAGE: Sequence[Sizes] = ((2000, 3000), (6000, 10000))
_MATVEC: Sequence[Sizes] = ((4000, 2500), (8192, 8192))
_PRODUCT: Sequence[Sizes] = ((1024, 1024, 1024), (2048, 2048, 2048))
_CONV: Sequence[Sizes] = ((4, 128), (32, 128))
# Each kernel at two sizes. The first of memory-bound kernels fits in the L2 of an H100.
KERNELS: dict[str, Sequence[Sizes]] = {
    "fill": _VECTOR,
    "vector_add": _VECTOR,
    "saxpy_vectorized": _VECTOR,
    "sigmoid": _VECTOR,
    "copy": _IMAGE,
    "copy_strided": _IMAGE,
    "transpose_naive": _IMAGE,
    "transpose_tiled": _IMAGE,
    "transpose_padded": _IMAGE,
    "sum_interleaved": _VECTOR,
    "sum_sequential": _VECTOR,
    "sum_atomic": _VECTOR,
    "sum_shuffle": _VECTOR,
    "histogram_atomic": _VECTOR,
    "histogram_privatized": _VECTOR,
    "matvec_thread_a_row": _MATVEC,
    "matvec_warp_a_row": _MATVEC,
    "matmul_uncoalesced": _PRODUCT,
    "matmul_naive": _PRODUCT,
    "matmul_tiled": _PRODUCT,
    "matmul_register_tile_2d": _PRODUCT,
    "conv2d_direct": _CONV,
    "conv2d_tiled": _CONV,
    "softmax_warp": ((10000, 1000), (65536, 1024)),
    "attention_tiled": ((16, 8, 128, 128, 64), (16, 8, 512, 512, 64)),
}


def sizes(name: str, *, rehearse: bool) -> list[Sizes]:
    """Return the sizes of a kernel; for rehearsals the small ones."""
    entry = CASES[name]
    return [*entry.small[:1], entry.sizes[0]] if rehearse else list(KERNELS[name])


def label(name: str, chosen: Sizes) -> str:
    """Return what the record calls a kernel at a size.

    >>> label("copy", (2000, 3000))
    'copy 2000 x 3000'
    """
    return f"{name} {' x '.join(map(str, chosen))}"


# ---- the parts ------------------------------------------------------------------------------


def environment() -> Iterator[Event]:
    """Say what the figures depend on; with a GPU, its name, SMs, state, and the host's launches."""
    found = gpu_times.environment()
    if target.active().name == "cuda":
        found["sms"] = int(cuda.get_current_device().MULTIPROCESSOR_COUNT)
        found["launch_seconds"] = gpu.launch_seconds()
        found["state"] = gpu.state()
    yield {"environment": found}


def microbenchmarks(group: str, machine: Machine, turn: Path, *, rehearse: bool) -> Iterator[Event]:
    """Check and time the microbenchmarks of a group."""
    elapsed = _elapsed(rehearse=rehearse)
    for one in GROUPS[group](Scale.of(machine, small=rehearse)):
        if mistake := one.mistake():
            yield {"wrong": {one.name: mistake}}
            continue
        with _alone(turn):
            found: Event = {"seconds": _spread(one.work, elapsed, rehearse=rehearse)}
        found |= {"unit": one.unit, "amount": one.amount, "model": one.model}
        yield {"microbenchmarks": {one.name: found}}


def predictions(name: str, machine: Machine, *, rehearse: bool) -> Iterator[Event]:
    """Estimate a kernel at its sizes, from the source and from machine code. Runs on the CPU."""
    for chosen in sizes(name, rehearse=rehearse):
        with target.planned_for(limits(machine.name)):  # grids that follow the device
            parts = list(parts_of(CASES[name].of(*chosen).ours))
        bases = [_predicted(name, parts, machine, sass=False)]
        if machine_code.available():
            bases.append(_predicted(name, parts, machine, sass=True))
        found = {
            "kernel": name,
            "launches": shapes(parts),
            "bases": {each.pop("basis"): each for each in bases},
        }
        yield {"predictions": {label(name, chosen): found}}


def _predicted(name: str, parts: Sequence[Launch], machine: Machine, *, sass: bool) -> Event:
    found = [
        gpukit.estimate(part.kernel, machine.name, blocks=BLOCKS, sass=sass)[part.shape](
            *part.arguments
        )
        for part in parts
    ]
    whole = estimated.added(name, found)
    works = [{k: _plain(v) for k, v in asdict(one.work).items()} for one in found]
    # What the model says even where `estimate` gives the floor alone.
    times = tables.case(machine.name, name, 1.0, works).estimate()
    of_the_gpu = refuse.untested(machine, bool(published.tested(machine)))
    return {
        "basis": whole.basis,
        "floor": float(times.floor),
        "likely": float(times.likely),
        "worst": float(whole.worst or times.worst),
        "bound": times.bound,
        "refused": whole.refused,
        "modelled": all(one.refused in ("", of_the_gpu) for one in found),
        "wide": list(whole.wide),
        "works": works,
    }


def _plain(value: Any) -> int | float:
    return int(value) if value == int(value) else float(value)


def shapes(parts: Sequence[Launch]) -> list[list[list[int]]]:
    """Return the grid and the block of each launch."""
    return [[np.ravel(size).tolist() for size in part.shape[:2]] for part in parts]


def times(name: str, turn: Path, *, rehearse: bool) -> Iterator[Event]:
    """Check and time a kernel at its sizes."""
    _, mistake = timing.first_answer(CASES[name].make(quick=True))  # compiles
    if mistake:
        yield {"wrong": {name: mistake}}
        return
    elapsed = _elapsed(rehearse=rehearse)
    for chosen in sizes(name, rehearse=rehearse):
        comparison = CASES[name].of(*chosen)
        expected, ours = np.asarray(comparison.expected()), comparison.ours
        assert isinstance(ours, Launch)
        with _alone(turn):
            ours()
            got = np.asarray(comparison.result())
            spread = _spread(ours.start, elapsed, rehearse=rehearse)
            state = gpu.state()
        if mistake := timing.difference(got, expected, comparison.terms):
            yield {"wrong": {label(name, chosen): mistake}}
            continue
        launches = shapes(list(parts_of(ours)))
        found = {"kernel": name, "launches": launches, "seconds": spread, "state": state}
        yield {"times": {label(name, chosen): found}}


def _elapsed(*, rehearse: bool) -> Callable[[timing.Work], float]:
    if target.active().name != "cuda":
        return _by_the_host
    return gpu.Events(FEW if rehearse else None)


def _by_the_host(work: timing.Work) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def _spread(work: timing.Work, elapsed: Any, *, rehearse: bool) -> dict[str, float]:
    seconds = REHEARSED if rehearse else SECONDS
    return asdict(gpu.in_turns({timing.OURS: work}, elapsed, seconds=seconds)[timing.OURS])


@contextlib.contextmanager
def _alone(turn: Path) -> Iterator[None]:
    """Have the GPU to oneself; the process ends if that takes too long, so that others go on."""
    with turn.open("w") as file:
        with contextlib.suppress(ImportError):  # Windows: `calibrate` starts one part at a time
            import fcntl

            fcntl.flock(file, fcntl.LOCK_EX)
        faulthandler.dump_traceback_later(TURN, exit=True)
        try:
            yield
        finally:
            faulthandler.cancel_dump_traceback_later()
