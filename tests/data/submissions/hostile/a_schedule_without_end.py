def pipeline_schedule(stage, stages, micro_batches):
    """Yield operations for ever."""
    while True:
        yield "forward", 0
