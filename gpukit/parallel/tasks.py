"""Several tasks on a shared trunk: each rank trains the head of its own task.

    trunk = nn.Sequential(nn.Linear(64, 32), nn.ReLU())
    head = nn.Linear(32, 10 if world.rank == 0 else 2)
    model = parallel.SharedTrunk(trunk, head, world)
    parameters = model.parameters(seed=0)

In one process the tasks take turns instead, or one is trained first and its trunk then frozen:
`nn.Sequential(nn.Frozen(trunk), new_head)`.

Source: Caruana, "Multitask Learning", 1997
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from gpukit.nn.containers import Sequential
from gpukit.nn.parameters import Parameter, Parameters, parts_of
from gpukit.parallel.data import scale
from gpukit.parallel.world import Group


class SharedTrunk:
    """A model whose first part is the same on all ranks, and whose last part is this rank's own.

    The loss is the mean of the tasks' losses: gradients of the trunk are averaged over the ranks,
    those of a head stay on its rank, divided by the number of ranks as well.
    """

    def __init__(self, trunk: Any, head: Any, group: Group) -> None:
        self.layers = (Sequential(trunk, head),)
        self.trunk, self.group = trunk, group

    def parameters(self, *, seed: int, dtype: npt.DTypeLike = np.float32) -> Parameters:
        """Return the parameters: those of the trunk, equal on all ranks, then those of the head."""
        made = self._parameters = Parameters(self.layers[0], seed=seed, dtype=dtype)
        own = [
            made.start(parameter) for _, parameter in parts_of(self.layers[0].layers[1], Parameter)
        ]
        self._shared = min(own, default=made.value.size)
        self.group.broadcast(made.value[: self._shared], name="parameters of the trunk")
        return made

    def forward(self, x: Any) -> tuple[Any, Any]:
        """Return the output of this rank's task, and what backward needs."""
        return self.layers[0].forward(x)

    def backward(self, saved: Any, grad: Any) -> Any:
        """Return the gradient of x; write those of all parameters, averaged over the tasks."""
        grad_x = self.layers[0].backward(saved, grad)
        gradients = self._parameters.grad
        self.group.all_reduce(gradients[: self._shared], name="gradients of the trunk")
        scale(gradients, 1 / self.group.size)
        return grad_x
