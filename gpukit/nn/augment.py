"""Preprocessing of images before the first layer that learns."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

import gpukit
from gpukit.nn.parameters import Buffer


class Augment:
    """Shift images (N, C, H, W) by up to `shift` pixels and mirror them, at random; in training.

    Pixels from outside are `fill`. Place it before all layers that learn: its backward returns
    None. As in `Dropout`, the number of batches is a buffer.
    """

    training = True

    def __init__(
        self, shift: int = 1, *, flip: bool = False, fill: float = 0.0, seed: int = 0
    ) -> None:
        self.how, self.seed = (shift, flip, fill), seed
        self.batches = Buffer((), 0, on_host=True)

    def forward(self, x: Any) -> tuple[Any, None]:
        """Return the images; in inference x itself."""
        if not self.training:
            return x, None
        return gpukit.augment(x, *self.how, seed=self.seed, offset=self.batches.count()), None

    def backward(self, _: None, __: Any) -> None:
        """Images have no gradient."""


class Normalise:
    """Images (N, C, H, W), each channel minus its mean, divided by its standard deviation.

    Place it before all layers that learn: its backward returns None.
    """

    def __init__(self, mean: npt.ArrayLike, deviation: npt.ArrayLike) -> None:
        means = np.atleast_1d(np.asarray(mean, np.float64))
        self.mean = Buffer(means.shape, means)
        self.var = Buffer(means.shape, np.square(np.asarray(deviation, np.float64)))

    def forward(self, x: Any) -> tuple[Any, None]:
        """Return the images."""
        return gpukit.batch_norm(x, self.mean.value, self.var.value, training=False, eps=0.0), None

    def backward(self, _: None, __: Any) -> None:
        """Images have no gradient."""
