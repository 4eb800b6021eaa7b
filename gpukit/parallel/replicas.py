"""Replicas that train on their own and exchange weights now and then, instead of every gradient.

    optimizer = parallel.Averaged(nn.Momentum(parameters, lr=0.05), world, every=5)
    nn.fit(model, optimizer, loader, epochs=10, world=world)

Both classes here wrap an optimizer; the model is a plain one. The results differ from those of one
process: fewer exchanges are paid for with replicas that drift apart between them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy.typing as npt

from gpukit import launch
from gpukit.nn.optimizers import Optimizer
from gpukit.parallel.data import scale
from gpukit.parallel.world import Group


class _Exchanging:
    """What both wrap: an optimizer, the group that exchanges its weights, and how often."""

    exchange: Callable[[], None]
    exchanges = True

    def __init__(self, optimizer: Optimizer, group: Group, *, every: int) -> None:
        if every < 1:
            name = type(self).__name__
            raise ValueError(f"{name}: expected every to be 1 or more, got {every}.")
        self.optimizer, self.group, self.every = optimizer, group, every
        self.parameters = optimizer.parameters
        group.broadcast(self.parameters.value, name="parameters")

    def step(self) -> None:
        """Update the weights; exchange them where it is time to."""
        self.optimizer.step()
        if self.optimizer.steps % self.every == 0:
            self.exchange()

    def state(self) -> dict[str, npt.NDArray[Any]]:
        """Return the state of this rank's optimizer."""
        return self.optimizer.state()

    def check(self, state: dict[str, npt.NDArray[Any]]) -> None:
        """Raise ValueError where `state` is of another optimizer or of other parameters."""
        self.optimizer.check(state)

    def load(self, state: dict[str, npt.NDArray[Any]]) -> None:
        """Restore a state that `state` returned."""
        self.optimizer.load(state)


class Averaged(_Exchanging):
    """An optimizer whose weights are averaged over the ranks after every so many steps.

    With `every=1` and an optimizer without state, such as SGD, that is data parallel training.
    Optimizer state stays local. All ranks start from the weights of rank 0.

    Source: Stich, "Local SGD Converges Fast and Communicates Little", 2019
    """

    def average(self) -> None:
        """Replace the weights by their mean over the ranks."""
        self.group.all_reduce(self.parameters.value, name="parameters")
        scale(self.parameters.value, 1 / self.group.size)

    exchange = average


class Asynchronous(_Exchanging):
    """An optimizer that exchanges with shared weights on rank 0 without waiting for other ranks.

    After every so many steps a rank adds what its weights have changed by, divided by the number of
    ranks, to the shared weights (one-sided, atomically for each number) and goes on from a copy of
    these. Others may have changed them meanwhile, or may be changing them: no two runs are equal.
    A slow rank delays nobody.

    Source: Dean et al., "Large Scale Distributed Deep Networks", 2012 (Downpour SGD)
    """

    def __init__(self, optimizer: Optimizer, group: Group, *, every: int) -> None:
        super().__init__(optimizer, group, every=every)
        self.shared = launch.to_host(self.parameters.value).copy()
        self.window = group.window(self.shared)
        self.before = self.shared.copy()  # the weights after the last exchange
        self.loaded = False  # weights that the shared ones do not know

    def load(self, state: dict[str, npt.NDArray[Any]]) -> None:
        """Restore a state that `state` returned, and the weights that go with it.

        Every rank loads before its next step; all continue from the weights of rank 0.
        """
        super().load(state)
        self.loaded = True

    def step(self) -> None:
        """Update the weights; exchange them where it is time to, without waiting."""
        if self.loaded:
            self._share()
        super().step()

    def _share(self) -> None:
        """Make the weights of rank 0 the shared ones, and those of all ranks."""
        self.group.barrier()  # no rank is in an exchange from before the load any more
        self.group.broadcast(self.parameters.value, name="parameters")
        self.before = launch.to_host(self.parameters.value).copy()
        self.shared[...] = self.before  # only that of rank 0 is read
        self.loaded = False
        self.group.barrier()

    def exchange(self) -> None:
        """Add this rank's change to the shared weights, and continue from those."""
        change = launch.to_host(self.parameters.value) - self.before
        change /= self.group.size
        self.window.accumulate(change, 0)
        self.window.get(0, self.before)
        self.parameters.value.copy_to_device(self.before)

    def finish(self) -> None:
        """Exchange once more, and give all ranks the same weights; every rank calls this."""
        if self.loaded:
            self._share()
        self.exchange()
        self.group.barrier()
        self.window.get(0, self.before)
        self.parameters.value.copy_to_device(self.before)
        self.group.barrier()
        self.window.close()
