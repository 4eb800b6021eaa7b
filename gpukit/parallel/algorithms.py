"""All-reduce out of messages between two ranks: along a ring, and over a tree.

MPI and NCCL choose among such algorithms themselves. Here each can be read, counted and, in slow
motion, watched. They are generators that yield what they wait for, so that several of them and
computation can overlap; `all_reduce` runs one to its end.

Source: Thakur, Rabenseifner and Gropp, "Optimization of Collective Communication Operations in
MPICH", 2005
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from gpukit import launch
from gpukit.parallel.calls import call
from gpukit.parallel.single import assign
from gpukit.parallel.transport import COMBINE, Pending, Transport
from gpukit.parallel.world import Group, Work

Steps = Iterator[Pending]
Algorithm = Callable[[Transport, Any, str, int], Steps]


class Running:
    """A generator of operations as one operation: it goes on when the one it waits for is done."""

    def __init__(self, steps: Steps) -> None:
        self.steps = steps
        self.current: Pending | None = None
        self.ended = False

    def done(self) -> bool:
        """Go on as far as possible; return whether the end is reached."""
        while not self.ended and (self.current is None or self.current.done()):
            self.current = next(self.steps, None)
            self.ended = self.current is None
        return self.ended


def all_reduce(
    group: Group, array: Any, op: str = "sum", *, algorithm: str = "ring", name: str = ""
) -> Any:
    """Combine the arrays of all ranks in place by an algorithm of `ALGORITHMS`; return the array.

    As `Group.all_reduce`, in messages that an observer of the world does not see.
    """
    made = call("all_reduce", array, name, op=op)
    steps = ALGORITHMS[algorithm](group.transport, array, op, TAG)
    return Work(group, made, Running(steps), array).wait()


def ring(transport: Transport, array: Any, op: str, tag: int) -> Steps:
    """Send parts around a ring: 2 (p - 1) messages of n / p numbers from each of p ranks.

    In the first p - 1 steps each rank adds the part that arrives to its own and sends the sum on:
    then each has one part of the result. In the others these travel around.
    """
    p, rank = transport.size, transport.rank
    whole = launch.to_host(array).reshape(-1).copy()
    ends = [len(whole) * k // p for k in range(p + 1)]
    parts = [whole[ends[k] : ends[k + 1]] for k in range(p)]
    arriving = np.empty(max(map(len, parts)), whole.dtype)
    for step in range(2 * (p - 1)):
        sent, own = parts[(rank - step) % p], parts[(rank - step - 1) % p]
        got = arriving[: len(own)]
        sending = transport.send(sent, (rank + 1) % p, tag)
        yield transport.recv(got, (rank - 1) % p, tag)
        yield sending
        own[...] = COMBINE[op](own, got) if step < p - 1 else got
    assign(array, whole.reshape(array.shape))


def tree(transport: Transport, array: Any, op: str, tag: int) -> Steps:
    """Combine pairs of ranks, then pairs of pairs, at rank 0, and send the result back.

    2 log2 p messages of all n numbers follow each other. For small arrays that is less than a ring,
    which has more messages; for large ones more, as each message has all numbers.
    """
    p, rank = transport.size, transport.rank
    whole = launch.to_host(array).copy()
    got = np.empty_like(whole)
    distances = [1 << k for k in range((p - 1).bit_length())]
    for distance in distances:
        if rank % (2 * distance) == distance:
            yield transport.send(whole, rank - distance, tag)
            break
        if rank + distance < p:
            yield transport.recv(got, rank + distance, tag)
            whole = COMBINE[op](whole, got)
    for distance in reversed(distances):
        if rank % (2 * distance) == distance:
            yield transport.recv(whole, rank - distance, tag)
        elif rank % (2 * distance) == 0 and rank + distance < p:
            yield transport.send(whole, rank + distance, tag)
    assign(array, whole)


ALGORITHMS: dict[str, Algorithm] = {"ring": ring, "tree": tree}
# Beyond the tags of programs; MPI allows at least 32,767.
TAG = 32_000
