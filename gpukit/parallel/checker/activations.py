"""Sums of activations in a model that is split over the ranks, compared with one process."""

from __future__ import annotations

import numpy as np

from gpukit.parallel.checker import cases, memory
from gpukit.parallel.checker.findings import Finding, make
from gpukit.parallel.checker.memory import Slot
from gpukit.parallel.checker.operations import Operation
from gpukit.parallel.checker.recording import Trace


def repeated_bias(
    traces: list[Trace], alone: Trace, own: dict[str, Slot], step: int
) -> Finding | None:
    """Return the finding for a sum of activations that contains a bias once per rank."""
    biases = {name: slot for name, slot in own.items() if len(slot.shape) == 1}
    for here, there in zip(_sums(traces[0], step), _sums(alone, step), strict=False):
        if here.after is None or there.after is None or here.after.shape != there.after.shape:
            return None
        scale = float(np.abs(there.after).max(initial=0))
        difference = here.after - there.after
        if memory.close(difference, np.zeros_like(difference), scale, cases.TOLERANCE):
            continue
        n = len(here.ranks)
        for name, slot in biases.items():
            before = cases.history(alone, slot.model)[step].before
            if before is None or slot.shape[0] != here.after.shape[-1]:
                continue
            extra = (n - 1) * np.broadcast_to(slot.of(before), difference.shape)
            if memory.close(difference, extra, scale, cases.TOLERANCE):
                return make(
                    "repeated-bias",
                    f"The sum over {n} ranks in line {here.line} contains the bias `{name}` {n} "
                    "times: each rank adds it to its part of the product before the sum.",
                    "Add the bias once, after `all_reduce`; or on rank 0 only, before it.",
                    here,
                    parameters=(name,),
                    ranks=here.ranks,
                    step=step + 1,
                )
        return None
    return None


def _sums(trace: Trace, step: int) -> list[Operation]:
    """Return the sums of an update that are not of gradients or parameters."""
    return [
        o
        for o in trace.operations
        if o.step == step + 1
        and o.region is None
        and (o.call.operation, o.call.op) == ("all_reduce", "sum")
        and o.call.dtype.startswith("float")
    ]
