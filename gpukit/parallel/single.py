"""One rank alone: where no launcher started others, every operation is done at once."""

from __future__ import annotations

import os
from collections import defaultdict, deque
from collections.abc import Sequence
from typing import Any

import numpy as np

from gpukit import launch
from gpukit.parallel.transport import Transport


class Done:
    """An operation that is complete, or was waiting for a message that now is there."""

    def __init__(self, ready: Any = None) -> None:
        self.ready = ready

    def done(self) -> bool:
        """Return whether it is complete."""
        return self.ready is None or bool(self.ready())


class SingleTransport:
    """A group of one rank. It needs no MPI; a message to oneself is kept until it is received."""

    name, rank, size = "single", 0, 1

    def __init__(self) -> None:
        self.sent: defaultdict[int, deque[Any]] = defaultdict(deque)

    def send(self, array: Any, dest: int, tag: int) -> Done:
        """Keep a copy of the array."""
        self.sent[tag].append(launch.to_host(array).copy())
        return Done()

    def recv(self, array: Any, source: int, tag: int) -> Done:
        """Return what is complete once a message of this tag was sent."""
        queue = self.sent[tag]
        got: list[Any] = []

        def ready() -> bool:
            if queue and not got:
                got.append(assign(array, queue.popleft()))
            return bool(got)

        return Done(ready)

    def all_reduce(self, array: Any, op: str) -> Done:
        """Change nothing: one array is its own sum."""
        return Done()

    def broadcast(self, array: Any, root: int) -> Done:
        """Change nothing."""
        return Done()

    def all_gather(self, array: Any, out: Any) -> Done:
        """Copy the array into the one row of `out`."""
        assign(out, launch.to_host(array).reshape(out.shape))
        return Done()

    def reduce_scatter(self, array: Any, out: Any, op: str) -> Done:
        """Copy the one row of the array to `out`."""
        assign(out, launch.to_host(array).reshape(out.shape))
        return Done()

    def barrier(self) -> Done:
        """Wait for nobody."""
        return Done()

    def split(self, ranks: Sequence[int]) -> Transport:
        """Return another group of this one rank."""
        return SingleTransport()

    def window(self, array: Any) -> LocalWindow:
        """Return one-sided access to one's own array."""
        return LocalWindow([array])

    def pause(self, attempts: int) -> None:
        """Return at once: nobody else could change anything."""

    def abort(self) -> None:
        """End the process."""
        os._exit(1)


class LocalWindow:
    """One-sided access to arrays of this process, one per rank."""

    def __init__(self, arrays: list[Any]) -> None:
        self.arrays = arrays

    def get(self, rank: int, out: Any) -> None:
        """Copy the array of a rank to `out`."""
        assign(out, launch.to_host(self.arrays[rank]).copy())

    def put(self, array: Any, rank: int) -> None:
        """Write `array` over that of a rank."""
        assign(self.arrays[rank], launch.to_host(array))

    def accumulate(self, array: Any, rank: int) -> None:
        """Add `array` to that of a rank."""
        target = self.arrays[rank]
        assign(target, launch.to_host(target) + launch.to_host(array))

    def close(self) -> None:
        """End the exposure."""


def assign(array: Any, value: Any) -> Any:
    """Copy the numbers of a host array into an array of NumPy or of the device; return it."""
    if isinstance(array, np.ndarray):
        array[...] = value
    else:
        array.copy_to_device(np.ascontiguousarray(value, array.dtype))
    return array
