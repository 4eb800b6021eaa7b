"""Optimizers of whole models: one launch per step, whatever the number of layers.

        optimizer = nn.AdamW(parameters, lr=nn.cosine(1e-3, steps=1000, warmup=50))
        ...
        optimizer.step()

Each takes the keyword arguments of the function it launches, such as `gpukit.adamw_step`. `lr` may
be a function of the step number, which begins at 1: a learning-rate schedule.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

import gpukit
from gpukit import cuda, launch
from gpukit.nn.parameters import Parameters

Schedule = Callable[[int], float]


class AnyOptimizer(Protocol):
    """What the training loop and checkpoints need of an optimizer, or of what wraps one."""

    @property
    def parameters(self) -> Parameters:
        """The parameters that it updates."""

    @property
    def exchanges(self) -> bool:
        """Whether other ranks take part in a step, so that one rank cannot repeat it."""

    def step(self) -> None:
        """Update all parameters by their gradients."""

    def state(self) -> dict[str, npt.NDArray[Any]]:
        """Return a copy on the host of the state, for a checkpoint."""

    def check(self, state: dict[str, npt.NDArray[Any]]) -> None:
        """Raise ValueError where a state is of another optimizer or of other parameters."""

    def load(self, state: dict[str, npt.NDArray[Any]]) -> None:
        """Restore a state that `state` returned."""


class Optimizer:
    """`update(value, grad, *states, **rates)` for all parameters at once.

    `states` are the names of arrays as long as the parameters that persist from step to step.
    """

    update: Callable[..., None]
    states: tuple[str, ...] = ()
    counts = False  # whether `update` takes the step number
    exchanges = False

    def __init__(self, parameters: Parameters, **rates: Any) -> None:
        self.parameters, self.rates, self.steps = parameters, rates, 0
        zeros = np.zeros(parameters.value.shape, parameters.value.dtype)
        self.arrays = {name: cuda.to_device(zeros) for name in self.states}

    def step(self) -> None:
        """Update all parameters by their gradients; masked weights stay zero."""
        self.steps += 1
        rates = {name: r(self.steps) if callable(r) else r for name, r in self.rates.items()}
        if self.counts:
            rates["step"] = self.steps
        self.update(self.parameters.value, self.parameters.grad, *self.arrays.values(), **rates)
        self.parameters.apply_masks()

    def state(self) -> dict[str, npt.NDArray[Any]]:
        """Return a copy on the host of the optimizer state, for a checkpoint."""
        arrays = {name: launch.to_host(array).copy() for name, array in self.arrays.items()}
        return {"steps": np.array(self.steps), **arrays}

    def check(self, state: dict[str, npt.NDArray[Any]]) -> None:
        """Raise ValueError where `state` is of another optimizer or of other parameters."""
        here = {"steps": (), **{name: tuple(array.shape) for name, array in self.arrays.items()}}
        found = {name: array.shape for name, array in state.items()}
        if found != here:
            raise ValueError(
                f"load: expected the state of {type(self).__name__}, {_in_words(here)}, got "
                f"{_in_words(found)}. Was it saved with the same optimizer and model?"
            )

    def load(self, state: dict[str, npt.NDArray[Any]]) -> None:
        """Restore a state that `state` returned."""
        self.steps = int(state["steps"])
        for name, array in self.arrays.items():
            array.copy_to_device(state[name])


def _in_words(state: dict[str, tuple[int, ...]]) -> str:
    return ", ".join(f"{name} of shape {shape}" for name, shape in state.items()) or "nothing"


class SGD(Optimizer):
    """p -= lr g."""

    update = staticmethod(gpukit.sgd_step)


class Momentum(Optimizer):
    """SGD with momentum: steps along a velocity."""

    update, states, counts = staticmethod(gpukit.momentum_step), ("velocity",), True


class Nesterov(Optimizer):
    """SGD with Nesterov momentum: the velocity, one step ahead."""

    update, states = staticmethod(gpukit.nesterov_step), ("velocity",)


class Adagrad(Optimizer):
    """Steps divided by the root of the sum of all squared gradients so far."""

    update, states, counts = staticmethod(gpukit.adagrad_step), ("squares",), True


class RMSprop(Optimizer):
    """Steps divided by the root of a running average of squared gradients."""

    update, states = staticmethod(gpukit.rmsprop_step), ("squares",)


class Adadelta(Optimizer):
    """RMSprop with steps scaled by a running average of earlier steps."""

    update, states = staticmethod(gpukit.adadelta_step), ("squares", "steps_taken")


class Adam(Optimizer):
    """Running averages of gradients, divided by the root of those of their squares."""

    update, states, counts = staticmethod(gpukit.adam_step), ("m", "v"), True


class AdamW(Optimizer):
    """Adam with decoupled weight decay, which bypasses the averages."""

    update, states, counts = staticmethod(gpukit.adamw_step), ("m", "v"), True


def cosine(peak: float, *, steps: int, warmup: int = 0, least: float = 0.0) -> Schedule:
    """Return a learning rate that rises for `warmup` steps to `peak`, then falls to `least`."""

    def rate(step: int) -> float:
        if step <= warmup:
            return peak * step / warmup
        share = min(1.0, (step - warmup) / max(1, steps - warmup))
        return least + (peak - least) * (1 + math.cos(math.pi * share)) / 2

    return rate
