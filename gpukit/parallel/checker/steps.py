"""Updates of parameters and dropout masks, seen in the launches of kernels."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from gpukit.kernels.dropout import dropout_kernel
from gpukit.parallel.calls import program
from gpukit.parallel.checker import memory
from gpukit.parallel.checker.findings import Place
from gpukit.parallel.checker.memory import Host

if TYPE_CHECKING:
    from gpukit.parallel.checker.recording import Recorder, Trace


@dataclass(eq=False)
class Update:
    """One step of an optimizer: gradients, values before and after it, and where it is.

    `mark` is the number of operations that the rank had started before. The arrays are None in
    steps that are not followed.
    """

    place: Place
    mark: int
    grad: Host | None = None
    before: Host | None = None
    after: Host | None = None


class Draw(NamedTuple):
    """One dropout mask: what it depends on, and the numbers that it was applied to."""

    place: Place
    step: int
    seed: int
    offset: int
    p: float
    x: bytes
    zeros: bool

    @property
    def mask(self) -> tuple[Any, ...]:
        """What makes two masks of one size equal."""
        return self.seed, self.offset, self.p


def observe(
    recorder: Recorder, trace: Trace, kernel: Any, shape: Any, arguments: tuple[Any, ...]
) -> None:
    """Do one launch of a rank, and note what it means."""
    spans = [memory.span(argument) for argument in arguments]
    _look_for_use(recorder, trace, spans)
    if kernel is dropout_kernel:
        trace.draws.append(_draw(trace, arguments))
        if not recorder.dropout:
            x, _, scale, *rest = arguments
            arguments = x, np.float32(0), type(scale)(1), *rest
    model = _updated(trace, spans)
    if model is None or len(trace.updates[model]) >= recorder.followed:
        if model is not None:
            trace.updates[model].append(Update(Place(*program()), len(trace.operations)))
        kernel.launcher.run_plain(shape, arguments)
        return
    parameters = trace.models[model]
    update = Update(
        Place(*program()),
        len(trace.operations),
        memory.copied(parameters.grad),
        memory.copied(parameters.value),
    )
    kernel.launcher.run_plain(shape, arguments)
    update.after = memory.copied(parameters.value)
    trace.updates[model].append(update)


def _updated(trace: Trace, spans: list[Any]) -> int | None:
    """Return the model whose optimizer a launch is: one that takes all values and gradients."""
    for number, parameters in enumerate(trace.models):
        if {memory.span(parameters.value), memory.span(parameters.grad)} <= {*spans}:
            return number
    return None


def _draw(trace: Trace, arguments: tuple[Any, ...]) -> Draw:
    x, p, _, seed, offset, *_ = arguments
    numbers = memory.copied(x)
    place = Place(*program())
    return Draw(
        place, trace.step, int(seed), int(offset), float(p), numbers.tobytes(), not numbers.any()
    )


def _look_for_use(recorder: Recorder, trace: Trace, spans: list[Any]) -> None:
    """Find arrays that a launch uses although an operation on them is in progress."""
    for operation in trace.open:
        if operation.accused or operation.out is None:
            continue
        if any(memory.overlap(memory.span(operation.out), each) for each in spans):
            recorder.accuse(operation, "", Place(*program()))
