"""Run the schedules that the learner's function makes on virtual ranks, a rank per stage."""

import numpy as np

from gpukit.course import strict_ranks

KINDS = ("forward", "backward")


def run(pipeline_schedule, stages, micro_batches, held, is_backward, micro_batch):
    """Write for each stage what it holds at most, and of each operation what it is."""
    orders = [listed(pipeline_schedule(s, stages, micro_batches), s) for s in range(stages)]
    for stage, order in enumerate(orders):
        check(order, stage, micro_batches)
    if stages > 1:
        strict_ranks.run(lambda group: passes(group, orders[group.rank]), stages)
    for stage, order in enumerate(orders):
        is_backward[stage] = [KINDS.index(kind) for kind, _ in order]
        micro_batch[stage] = [m for _, m in order]
        held[stage] = np.cumsum([1 if kind == "forward" else -1 for kind, _ in order]).max()


def passes(group, order):
    """Run a stage: receive, compute nothing, send to the next stage of that direction."""
    sending = []
    for kind, m in order:
        what, step = ("activations", 1) if kind == "forward" else ("gradient", -1)
        name = f"{what} of micro-batch {m}"
        source, dest = group.rank - step, group.rank + step
        tag = 2 * m + KINDS.index(kind)
        array = np.zeros(1, np.float32)
        if 0 <= source < group.size:
            group.recv(array, source, tag=tag, name=name)
        if 0 <= dest < group.size:
            sending.append(group.isend(array, dest, tag=tag, name=name))
    for work in sending:
        work.wait()


def listed(found, stage):
    """Return the operations of a stage as pairs, or raise saying what came instead."""
    if found is None:
        raise TypeError("pipeline_schedule returned nothing: end it with `return` and the list.")
    try:
        return [(str(kind), int(m)) for kind, m in found]
    except (TypeError, ValueError):
        raise TypeError(
            'pipeline_schedule should return a list of pairs such as ("forward", 0); for stage '
            f"{stage} it returned {str(found)[:60]}."
        ) from None


def check(order, stage, micro_batches):
    """Raise unless a stage runs each pass once, forward before backward."""
    where = f"in stage {stage}"
    for number, (kind, m) in enumerate(order):
        if kind not in KINDS or not 0 <= m < micro_batches:
            raise ValueError(
                f'operation {number} {where} is ("{kind}", {m}): expected "forward" or '
                f'"backward", and a micro-batch from 0 to {micro_batches - 1}'
            )
        if (kind, m) in order[:number]:
            raise ValueError(f"the {kind} pass of micro-batch {m} is there twice {where}")
        if kind == "backward" and ("forward", m) not in order[:number]:
            raise ValueError(
                f"the backward pass of micro-batch {m} {where} comes before its forward pass, "
                "whose activations it needs"
            )
    for m in range(micro_batches):
        for kind in KINDS:
            if (kind, m) not in order:
                raise ValueError(f"the {kind} pass of micro-batch {m} is missing {where}")
