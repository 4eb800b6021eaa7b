"""The record of a training, and its progress in one line."""

from __future__ import annotations

import math
import sys
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from gpukit import status


@dataclass(repr=False)
class History:
    """The record of a training so far.

    `losses` has the loss of each step done, `accuracies` one number per epoch if
    there is a validation set, `seconds` the duration of this call, `seconds_left` an estimate,
    infinite until there is one, and `stopped` says whether Ctrl-C ended it.
    """

    epochs: int
    batches: int  # per epoch
    losses: npt.NDArray[Any] = field(default_factory=lambda: np.zeros(0))
    accuracies: list[float] = field(default_factory=list)
    seconds: float = 0.0
    seconds_left: float = math.inf
    stopped: bool = False

    @property
    def steps(self) -> int:
        """The number of steps of the whole training."""
        return self.epochs * self.batches

    @property
    def ended(self) -> bool:
        """Whether the training has ended."""
        return self.stopped or len(self.losses) >= self.steps

    def __repr__(self) -> str:
        made = len(self.losses)
        words = [f"<History: {made:,} of {self.steps:,} steps"]
        if made:
            words.append(f"loss from {self.losses[0]:.4g} to {self.losses[-1]:.4g}")
        if self.accuracies:
            words.append(f"accuracy {100 * self.accuracies[-1]:.1f} %")
        words.append("stopped by Ctrl-C" if self.stopped else f"{self.seconds:.1f} s")
        return f"{', '.join(words)}; .losses has each, .accuracies each epoch's>"


class Remaining:
    """Estimates the seconds left from the mean time of the steps since a given one."""

    def __init__(self) -> None:
        self.since, self.step = 0.0, math.inf

    def measure_from(self, now: float, done: int) -> None:
        """Measure only the steps after this one: those before it have compiled kernels."""
        self.since, self.step = now, done

    def seconds(self, now: float, done: int, total: int) -> float:
        """Return the estimate, infinite before a step was measured."""
        if done <= self.step:
            return math.inf
        return (now - self.since) / (done - self.step) * (total - done)


class ProgressLine:
    """Progress as one line that is overwritten; one line per epoch where there is no terminal."""

    def __init__(self) -> None:
        self.line = status.StatusLine("stdout")

    def __call__(self, history: History) -> None:
        if self.line.watched:
            self.line.show(_in_words(history))
            if history.ended:
                self.line.leave()
        elif history.ended or len(history.losses) % history.batches == 0:
            sys.stdout.write(f"{_in_words(history)}\n")
            sys.stdout.flush()


def _in_words(history: History) -> str:
    done, ended = len(history.losses), history.ended
    words = [f"epoch {math.ceil(done / history.batches)}/{history.epochs}"]
    words.append(f"step {done}/{history.steps}")
    words.append(f"loss {history.losses[-min(history.batches, 50) :].mean():.4f}")
    if history.accuracies:
        words.append(f"accuracy {100 * history.accuracies[-1]:.1f} %")
    if history.stopped:
        words.append("stopped by Ctrl-C")
    elif ended:
        words.append(f"{history.seconds:.0f} s")
    elif math.isfinite(history.seconds_left):
        words.append(f"{history.seconds_left:.0f} s left")
    return "  ".join(words)
