from enum import Enum
from typing import Iterator, List, Tuple


class Pass(str, Enum):
    FORWARD = "forward"
    BACKWARD = "backward"


Operation = Tuple[str, int]


def _operations(stage: int, stages: int, micro_batches: int) -> Iterator[Operation]:
    warm_up = min(stages - stage, micro_batches)
    yield from ((Pass.FORWARD.value, m) for m in range(warm_up))
    for m in range(micro_batches - warm_up):
        yield Pass.BACKWARD.value, m
        yield Pass.FORWARD.value, m + warm_up
    for m in range(micro_batches - warm_up, micro_batches):
        yield Pass.BACKWARD.value, m


def pipeline_schedule(stage: int, stages: int, micro_batches: int) -> List[Operation]:
    return list(_operations(stage, stages, micro_batches))
