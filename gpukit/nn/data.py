"""Batches of a data set that lies on the device."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

import gpukit
from gpukit import cuda
from gpukit.launch import ceil_div


class Loader:
    """Examples and their labels, in batches, in another order each epoch.

        loader = nn.Loader(images, labels, batch=64, seed=0)
        for epoch in range(10):
            for x, label in loader.epoch(epoch):
                ...

    examples (N, ...), float32 or float64, and labels (N,), whole numbers from 0, are copied to the
    device once. The order depends on seed and epoch alone, so that a training which goes on from a
    checkpoint sees what it would have seen. A batch is valid until the next one is taken; the last
    one of an epoch has what is left. Raises ValueError for labels below 0 or from `classes` on,
    and for examples that are not finite.
    """

    def __init__(
        self, examples: npt.ArrayLike, labels: npt.ArrayLike, *, batch: int, seed: int = 0,
        shuffle: bool = True, classes: int | None = None,
    ) -> None:  # fmt: skip
        given, named = np.asarray(examples), np.asarray(labels)
        _check(given, named, batch, classes)
        self.shape, self.batch, self.seed, self.shuffle = given.shape[1:], batch, seed, shuffle
        self.labels = named.astype(np.int32)
        self.rows = cuda.to_device(given.reshape(len(given), -1))
        self.taken = cuda.device_array((min(batch, len(given)), self.rows.shape[1]), given.dtype)

    def __len__(self) -> int:
        """Return how many batches an epoch has."""
        return ceil_div(len(self.labels), self.batch)

    def epoch(self, number: int) -> Iterator[tuple[Any, Any]]:
        """Yield the batches of an epoch, (n, ...) and (n,) on the device."""
        order = np.arange(len(self.labels), dtype=np.int32)
        if self.shuffle:
            np.random.default_rng((self.seed, number)).shuffle(order)
        index, labels = cuda.to_device(order), cuda.to_device(self.labels[order])
        for start in range(0, len(order), self.batch):
            part = index[start : start + self.batch]
            x = gpukit.embedding(part, self.rows, out=self.taken[: part.size])
            yield x.reshape(part.size, *self.shape), labels[start : start + part.size]


def _check(
    examples: npt.NDArray[Any], labels: npt.NDArray[Any], batch: int, classes: int | None
) -> None:
    if not len(examples) or labels.shape != examples.shape[:1]:
        raise ValueError(
            f"Loader: expected a label for each example, got {labels.shape} for {examples.shape}. "
            "Give examples (N, ...) and labels (N,), N of 1 or more."
        )
    if batch < 1:
        raise ValueError(f"Loader: expected batch >= 1, got {batch}. Pass 1 or more.")
    if labels.dtype.kind not in "iu":
        raise TypeError(
            f"Loader: expected labels of an int dtype, got {labels.dtype}. Convert them."
        )
    most = np.iinfo(np.int32).max if classes is None else classes - 1
    wrong = np.flatnonzero((labels < 0) | (labels > most))
    if wrong.size:
        raise ValueError(
            f"Loader: expected labels from 0 to {most}, got {labels[wrong[0]]} at {wrong[0]}. "
            "Number the classes from 0."
        )
    lost = np.flatnonzero(~np.isfinite(examples).all(axis=tuple(range(1, examples.ndim))))
    if lost.size:
        raise ValueError(
            f"Loader: expected finite numbers, got NaN or inf in {lost.size} examples, first "
            f"in number {lost[0]}. Leave them out."
        )
