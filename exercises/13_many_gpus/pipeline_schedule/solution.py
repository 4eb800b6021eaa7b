"""The order in which a stage of a pipeline works: 1F1B. The task is in task.md."""


def pipeline_schedule(stage, stages, micro_batches):
    """Return the operations of a stage in their order, ("forward", 0) and so on."""
    first = min(stages - stage, micro_batches)
    order = [("forward", m) for m in range(first)]
    for m in range(first, micro_batches):
        order.append(("backward", m - first))
        order.append(("forward", m))
    order += [("backward", m) for m in range(micro_batches - first, micro_batches)]
    return order
