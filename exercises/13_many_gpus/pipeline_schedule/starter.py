"""The order in which a stage of a pipeline works: 1F1B. The task is in task.md."""


def pipeline_schedule(stage, stages, micro_batches):
    """Return the operations of a stage in their order, ("forward", 0) and so on."""
    # FILL ME IN (about 7 lines)
