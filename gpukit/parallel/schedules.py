"""Pipeline schedules as plain data: the order of the operations of each stage.

    for kind, micro_batch in one_f_one_b(stages=4, micro_batches=8)[stage]:
        ...

A stage runs its operations in this order and waits where an input has not arrived: a forward pass
needs the activations of the stage before, a backward pass the gradient of the stage after.

Legend: p stages, numbered s from 0; m micro-batches; F3 and B3 are the forward and the backward
pass of micro-batch 3, the codes 3 and ~3 (which is -4) in arrays.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple, overload

import numpy as np

FORWARD, BACKWARD = "forward", "backward"


class Operation(NamedTuple):
    """The forward or the backward pass of one micro-batch."""

    kind: str
    micro_batch: int


class Held(NamedTuple):
    """What a stage holds at most, as numbers of micro-batches.

    `inputs` are tensors that arrived from the stage before, kept to recompute from; `activations`
    are those of all layers of the stage.
    """

    inputs: int
    activations: int


class Schedule(Sequence[list[Operation]]):
    """The operations of each stage: `schedule[stage]` is a list of them.

    `gpipe` and `one_f_one_b` make one, `Schedule.of` makes and checks one of your own. `codes`
    holds the same as an array (stages, 2 * micro_batches), which takes little memory for thousands
    of stages and micro-batches.
    """

    def __init__(self, codes: Any) -> None:
        self.codes = np.asarray(codes, np.int32)

    @classmethod
    def of(cls, stages: Iterable[Iterable[Operation | tuple[str, int]]]) -> Schedule:
        """Return a schedule of your own from lists of operations, one per stage.

        >>> Schedule.of([[("forward", 0), ("backward", 0)]])
        Schedule of 1 stage and 1 micro-batch
        """
        codes = [[_code(*operation) for operation in stage] for stage in stages]
        _check(codes)
        return cls(codes)

    @property
    def micro_batches(self) -> int:
        """How many micro-batches every stage processes."""
        return int(self.codes.shape[1]) // 2

    def held(self, stage: int, *, recompute: bool = False) -> Held:
        """Return what a stage holds at most between forward and backward passes.

        With recomputation it keeps the inputs of its micro-batches, and the activations of the one
        whose backward pass runs.

        >>> [one_f_one_b(4, 8).held(stage).activations for stage in range(4)]
        [4, 3, 2, 1]
        >>> gpipe(4, 8).held(0), gpipe(4, 8).held(0, recompute=True)
        (Held(inputs=0, activations=8), Held(inputs=8, activations=1))
        """
        most = int(np.cumsum(np.where(self.codes[stage] >= 0, 1, -1)).max())
        return Held(most, 1) if recompute else Held(0, most)

    def __len__(self) -> int:
        return len(self.codes)

    @overload
    def __getitem__(self, stage: int) -> list[Operation]: ...

    @overload
    def __getitem__(self, stage: slice) -> list[list[Operation]]: ...

    def __getitem__(self, stage: int | slice) -> Any:
        if isinstance(stage, slice):
            return [self[s] for s in range(*stage.indices(len(self)))]
        return [
            Operation(FORWARD, code) if code >= 0 else Operation(BACKWARD, ~code)
            for code in self.codes[stage].tolist()
        ]

    def __iter__(self) -> Iterator[list[Operation]]:
        return (self[stage] for stage in range(len(self)))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Schedule) and np.array_equal(self.codes, other.codes)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        stages, batches = len(self), self.micro_batches
        words = f"{stages:,} stage{'s' * (stages > 1)} and {batches:,} micro-batch"
        return f"Schedule of {words}{'es' * (batches > 1)}"


def gpipe(stages: int, micro_batches: int) -> Schedule:
    """Return GPipe's schedule: all forward passes, then all backward passes, in reverse order.

    Every stage holds the activations of all micro-batches. Source: Huang et al., GPipe, 2019
    (arXiv 1811.06965), figure 2c.

    >>> [f"{kind[0]}{m}" for kind, m in gpipe(2, 3)[0]]
    ['f0', 'f1', 'f2', 'b2', 'b1', 'b0']
    """
    _positive("gpipe", stages, micro_batches)
    forward = np.arange(micro_batches, dtype=np.int32)
    return Schedule(np.broadcast_to(np.r_[forward, ~forward[::-1]], (stages, 2 * micro_batches)))


def one_f_one_b(stages: int, micro_batches: int) -> Schedule:
    """Return the 1F1B schedule: a stage alternates as soon as its first gradient can arrive.

    Stage s runs p - s forward passes first, and holds the activations of as many micro-batches; the
    gradients are applied after the last one (PipeDream-Flush). Source: Narayanan et al., 2021
    (arXiv 2104.04473), figure 4, top.

    >>> [f"{kind[0]}{m}" for kind, m in one_f_one_b(2, 3)[0]]
    ['f0', 'f1', 'b0', 'f2', 'b1', 'b2']
    """
    _positive("one_f_one_b", stages, micro_batches)
    forward = np.arange(micro_batches, dtype=np.int32)
    codes = np.empty((stages, 2 * micro_batches), np.int32)
    for stage, row in enumerate(codes):
        first = min(stages - stage, micro_batches)
        last = 2 * micro_batches - first
        row[:first] = forward[:first]
        row[first:last:2] = ~forward[: micro_batches - first]
        row[first + 1 : last : 2] = forward[first:]
        row[last:] = ~forward[micro_batches - first :]
    return Schedule(codes)


SCHEDULES = {"GPipe": gpipe, "1F1B": one_f_one_b}


def _code(kind: str, micro_batch: int) -> int:
    if kind not in (FORWARD, BACKWARD):
        raise ValueError(
            f'Schedule.of: expected "{FORWARD}" or "{BACKWARD}", got {kind!r}. Write operations as '
            f'("{FORWARD}", 0).'
        )
    return micro_batch if kind == FORWARD else ~micro_batch


def _check(codes: Sequence[Sequence[int]]) -> None:
    """Raise ValueError unless every stage runs each pass once, forward before backward."""
    counts = {len(row) for row in codes}
    if len(counts) != 1 or 0 in counts:
        raise ValueError(
            "Schedule.of: expected as many operations for every stage, got "
            f"{[len(row) for row in codes]}. Give each micro-batch a forward and a backward pass."
        )
    batches = counts.pop() // 2
    for stage, row in enumerate(codes):
        if sorted(row) != list(range(-batches, batches)):
            raise ValueError(
                f"Schedule.of: stage {stage} does not run each of micro-batches 0 to {batches - 1} "
                "once forward and once backward. Add the missing operation, remove the extra one."
            )
        for m in range(batches):
            if row.index(m) > row.index(~m):
                raise ValueError(
                    f"Schedule.of: stage {stage} runs backward {m} before forward {m}. Put the "
                    "forward pass first: the backward pass needs its activations."
                )


def _positive(function: str, stages: int, micro_batches: int) -> None:
    if stages < 1 or micro_batches < 1:
        raise ValueError(
            f"{function}: expected 1 or more stages and micro-batches, got {stages} and "
            f"{micro_batches}. A batch that is not split is one micro-batch."
        )
