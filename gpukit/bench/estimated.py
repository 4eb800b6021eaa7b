"""The time of a GPU beside a timing on this machine: recorded where it exists, else estimated.

The reader names the GPU once: `choose_gpu("RTX 3060")`, or the environment variable GPUKIT_GPU.
"""

from __future__ import annotations

import os
import re
import time
import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from gpukit import errors, estimates, status, target
from gpukit.bench import recorded
from gpukit.bench.register import BenchError
from gpukit.checked.command import observing
from gpukit.estimates import MACHINES, Estimate, gpus, refuse
from gpukit.estimates.as_text import seconds as short
from gpukit.estimates.estimated import added
from gpukit.kernels import vector

# Seconds of processor time after which no estimate of a table begins. A kernel that is counted for
# the first time is compiled with its counters, which takes up to seconds, and cannot be stopped.
LIMIT = 2.0
# Timings that are further apart, in seconds, belong to different tables.
APART = 1.0
SAMPLED = 4096  # elements of an array of integers that tell it from another one
HELPERS = frozenset([vector.fill_kernel.py_func])  # they prepare a result for another kernel

Work = Callable[[], object]


@dataclass(frozen=True)
class GpuTime:
    """What a GPU needs for some work: a recorded time, an estimate, or why there is none.

    A recorded time is that of the kernel at its own size, which may be another one. `kernel` is the
    case (`cases.CASES`) of the only kernel that the work launches, apart from those that prepare
    its result; "" for other kernels, even of the same name.
    """

    gpu: str
    estimate: Estimate | None = None
    record: recorded.Record | None = None
    why: str = ""
    kernel: str = ""

    @property
    def cell(self) -> str:
        """The time as a cell of a table: likely (floor to worst)."""
        if self.record is not None:
            return f"recorded {self.record.cell}"
        found = self.estimate
        if found is None:
            return f"none: {self.why}"
        if found.likely is None:
            floor = "none" if found.floor is None else f"at least {short(found.floor)}"
            return f"{floor}: {_few_words(found)}"
        likely, floor, worst = (short(t) for t in (found.likely, found.floor, found.worst))
        same = len({text.split()[1] for text in (likely, floor, worst)}) == 1
        low, high = (floor.split()[0], worst.split()[0]) if same else (floor, worst)
        return f"{likely} ({low} to {high})"

    @property
    def line(self) -> str:
        """The time in words that stand alone."""
        if self.record is not None:
            return f"{self.gpu}, {self.cell}"
        found = self.estimate
        if found is None or found.likely is None:
            return f"{self.gpu}, estimated: {self.cell}"
        band = f"floor {short(found.floor)}, worst {short(found.worst)}"
        return f"{self.gpu}, estimated: likely {short(found.likely)} ({band})"

    def as_dict(self) -> dict[str, Any]:
        """Return the time as plain data, in seconds."""
        return {
            "gpu": self.gpu,
            "recorded": self.record and self.record._asdict(),
            "estimate": self.estimate and self.estimate.as_dict(),
            "why": self.why,
        }


def _few_words(estimate: Estimate) -> str:
    """Return why there is only a floor, without kernels' names and quoted code."""
    reasons = dict.fromkeys(part.refused for part in estimate.parts or (estimate,))
    return "; ".join(re.sub(r" \(`.*`\)", "", reason) for reason in reasons if reason)


def heading(times: Sequence[GpuTime | None]) -> str:
    """Return the header of a column of GPU times.

    >>> heading([GpuTime("V100", why="no kernel"), None])
    'estimated, V100'
    """
    gpus = dict.fromkeys(one.gpu for one in times if one)
    only = all(one.record is not None for one in times if one)
    return f"{'recorded' if only else 'estimated'}, {' and '.join(gpus)}"


# ---- the reader's GPU -------------------------------------------------------------------------


class _Choice:
    """How long a table may take for the GPU."""

    limit = LIMIT


def choose_gpu(name: str, *, seconds: float = LIMIT) -> None:
    """Choose the GPU whose times stand beside those of this machine, in this process.

    Without a choice it is the one that GPUKIT_GPU names, else an RTX 3080. After `seconds`
    of estimating, a table begins no further one: a kernel that is counted for the first time may
    take seconds, and the next time, in this or another process, a fraction of one.
    Raises UnknownGpu, a GpukitError, for a GPU without figures.
    """
    gpus.choose(name, "choose_gpu")
    _Choice.limit = seconds


def asked_for(name: str | None) -> str:
    """Return the GPU of `gpukit bench --gpu`, or of GPUKIT_GPU; "" without either, or on a GPU.

    Raises UnknownGpu for a GPU without figures, BenchError for `--gpu` where kernels run on a GPU.
    """
    on_gpu = target.active().name == "cuda"
    if name and on_gpu:
        raise BenchError(
            "bench: expected a CPU target for --gpu, got 'cuda'. Set GPUKIT_TARGET=cpu."
        )
    if on_gpu or not (name or os.environ.get(gpus.VARIABLE)):
        return ""
    return gpus.find(name, "bench").name if name else gpus.chosen()


# ---- estimating -------------------------------------------------------------------------------


class _Table:
    """How much time the estimates of the table at hand have taken."""

    def __init__(self) -> None:
        self.spent, self.last, self.cell = 0.0, -APART, 0

    def begin(self, now: float, cell: int) -> None:
        """Begin a new table in another cell of a notebook, or if the last one is over."""
        if now - self.last > APART or cell != self.cell:
            self.spent, self.cell = 0.0, cell


_table = _Table()
_found: dict[Any, Estimate] = {}


def time_of(work: Work, gpu: str = "", *, began: float | None = None) -> GpuTime | None:
    """Return what a GPU, or the reader's, needs for the launches of some work; call it once.

    None where kernels run on a GPU, or if the work launches none. `began` is when the timing of
    the work began (`time.monotonic`), to tell which works are in one table; without it, all
    launches are estimated, however long that takes.
    """
    if target.active().name == "cuda":
        return None
    gpu = gpu or gpus.chosen()
    functions: list[Any] = []
    parts: list[Estimate | str] = []

    def observer(kernel: Any, shape: Any, arguments: tuple[Any, ...]) -> None:
        functions.append(kernel.py_func)
        parts.append(_launch(kernel, shape, arguments, gpu, late))

    late = False
    if began is not None:
        _table.begin(began, status.cell())
        late = _table.spent >= _Choice.limit
    try:
        with target.planned_for(limits(gpu)), observing(observer):
            work()
    except errors.GpukitError as error:
        parts.append(str(error).partition("\n")[0])
    finally:
        _table.last = time.monotonic()
    if not functions:
        return None
    reasons = dict.fromkeys(part for part in parts if isinstance(part, str))
    if len(reasons) > 1:  # the others hold however long one waits
        reasons.pop(_late(), None)
    why = "; ".join(reasons)
    found = [part for part in parts if isinstance(part, Estimate)]
    estimate = None if why else added(functions[-1].__name__, found)
    case = _case_of(functions)
    return GpuTime(gpu, estimate, recorded.of_gpu(case, gpu), why, case)


def _case_of(functions: Sequence[Any]) -> str:
    """Return the case of the only kernel among those launched; "" if it is not one of the book."""
    from gpukit.bench.cases import CASES  # it loads all kernels of the book

    main = [one for one in dict.fromkeys(functions) if one not in HELPERS] or functions[:1]
    same = (name for name, case in CASES.items() if case.kernel.py_func is main[0])
    return next(same, "") if len(main) == 1 else ""


def _launch(
    kernel: Any, shape: Any, arguments: tuple[Any, ...], gpu: str, late: bool
) -> Estimate | str:
    """Run a launch as usual; return its estimate, or why there is none."""
    key = (kernel.py_func, shape.grid, shape.block, shape.shared, gpu, *map(_described, arguments))
    if key in _found or late or refuse.unknown(kernel):
        kernel.launcher.run_plain(shape, arguments)
        return _found.get(key) or refuse.unknown(kernel) or _late()
    start = time.process_time()
    with estimates.estimating([gpu], sass=False) as made:  # compilers take longer than the limit
        kernel.launcher.launch(shape, arguments)
    _table.spent += time.process_time() - start
    return _found.setdefault(key, made[0])


def _late() -> str:
    return f"not counted within {_Choice.limit:g} s; see bench.choose_gpu"


def _described(argument: Any) -> Any:
    """Return what tells an argument of a launch from another one: shape and type, or the value.

    Integers are indices, bins and masks: on them depends what a launch accesses. So a sample of
    their values belongs to it.
    """
    host = getattr(argument, "host", getattr(argument, "value", argument))
    if not isinstance(host, np.ndarray):
        return type(argument), repr(argument)
    values = 0
    if host.dtype.kind in "iub":
        sample = np.ascontiguousarray(host.flat[:: max(1, host.size // SAMPLED)])
        values = zlib.crc32(sample.tobytes())
    return host.shape, host.strides, host.dtype.str, values


def limits(gpu: str) -> target.Limits:
    """Return what a GPU holds at once, for the grids of kernels that stride."""
    made = MACHINES[gpu].gpu
    return target.Limits(made.sms, made.warp * made.warps_per_sm, made.shared_per_sm)
