"""Batches of a data set on the device."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

import gpukit
from gpukit import cuda
from gpukit.launch import ceil_div

TAKEN = (np.float32, np.float64, np.int32)  # dtypes of examples


class Loader:
    """Examples and their labels, in batches, shuffled differently in each epoch.

        loader = nn.Loader(images, labels, batch=64, seed=0)
        for epoch in range(10):
            for x, label in loader.epoch(epoch):
                ...

    examples (N, ...), float32 or float64 numbers or int32 tokens, and labels (N, ...), whole
    numbers from 0, are copied to the device once. A tuple of examples, such as source and target
    of a translation, gives batches whose x is a tuple. The order depends on seed and epoch alone,
    so that a training resumed from a checkpoint sees the same batches. A batch is valid until the
    next one is taken; the last one of an epoch has the remainder, with `drop_last` it is left out.

    Of `ranks` processes that train one model, number `rank` gets its part of every batch, whose
    size `batch` is the sum of all parts. The parts of one batch differ by at most one example.

    Raises ValueError for labels below 0 or from `classes` on, for examples that are not finite, and
    for a batch with fewer examples than ranks.
    """

    def __init__(
        self,
        examples: Any,
        labels: npt.ArrayLike,
        *,
        batch: int,
        seed: int = 0,
        shuffle: bool = True,
        classes: int | None = None,
        drop_last: bool = False,
        rank: int = 0,
        ranks: int = 1,
    ) -> None:
        self.several, named = isinstance(examples, tuple), np.asarray(labels)
        parts = [np.asarray(part) for part in (examples if self.several else (examples,))]
        for part in parts:
            _check(part, named, batch, classes)
        self.batch, self.seed, self.shuffle = batch, seed, shuffle
        self.count = len(named) // batch * batch if drop_last else len(named)
        self.rank, self.ranks = rank, ranks
        _check_parts(self.count, batch, rank, ranks)
        self.most = int(named.max())  # the highest label
        self.parts = [_Rows(part, batch) for part in parts]
        self.labels = _Rows(named.astype(np.int32), batch)

    def __len__(self) -> int:
        """Return the number of batches per epoch."""
        return ceil_div(self.count, self.batch)

    def epoch(self, number: int, start: int = 0) -> Iterator[tuple[Any, Any]]:
        """Yield the batches of an epoch from number `start` on: examples and labels on the device.

        Their shapes are (n, ...), n being `batch`, or less for the last one.
        """
        order = np.arange(len(self.labels.rows), dtype=np.int32)
        if self.shuffle:
            np.random.default_rng((self.seed, number)).shuffle(order)
        index = cuda.to_device(order)
        for first in range(start * self.batch, self.count, self.batch):
            size = min(self.batch, self.count - first)
            ends = (size * rank // self.ranks for rank in (self.rank, self.rank + 1))
            part = index[slice(*(first + end for end in ends))]
            x = tuple(rows.take(part) for rows in self.parts)
            yield x if self.several else x[0], self.labels.take(part)


class _Rows:
    """An array on the device, some rows of which are gathered at a time.

    Four-byte numbers are copied as float32 and eight-byte ones as float64: the bits are copied,
    whatever they mean.
    """

    def __init__(self, array: npt.NDArray[Any], most: int) -> None:
        self.shape, self.dtype = array.shape[1:], array.dtype
        flat = np.ascontiguousarray(array).reshape(len(array), -1)
        bits = flat.view(np.float32 if flat.dtype.itemsize == 4 else np.float64)
        self.rows = cuda.to_device(bits)
        self.taken = cuda.device_array((min(most, len(bits)), bits.shape[1]), bits.dtype)

    def take(self, index: Any) -> Any:
        found = gpukit.embedding(index, self.rows, out=self.taken[: index.size])
        return found.view(self.dtype).reshape(index.size, *self.shape)


def _check_parts(count: int, batch: int, rank: int, ranks: int) -> None:
    if not 0 <= rank < ranks:
        raise ValueError(f"Loader: expected rank from 0 to ranks - 1, got {rank} of {ranks}.")
    least = min(batch, count % batch or batch)
    if least < ranks or not count:
        raise ValueError(
            f"Loader: expected an example of every batch for each of {ranks} ranks, got a batch of "
            f"{least if count else 0}. Pass another batch size, or drop_last=True where it is the "
            "last one of an epoch."
        )


def _check(
    examples: npt.NDArray[Any], labels: npt.NDArray[Any], batch: int, classes: int | None
) -> None:
    if not examples.size or not labels.size or labels.shape[:1] != examples.shape[:1]:
        raise ValueError(
            f"Loader: expected labels for each example, got {labels.shape} for {examples.shape}. "
            "Give examples (N, ...) and labels (N, ...), N of 1 or more."
        )
    if examples.dtype not in TAKEN:
        raise TypeError(
            f"Loader: expected float32, float64 or int32 examples, got {examples.dtype}. "
            "Convert them."
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
            f"Loader: expected labels from 0 to {most}, got {labels.flat[wrong[0]]} for example "
            f"{wrong[0] * len(labels) // labels.size}. "
            "Number the classes from 0."
        )
    lost = np.flatnonzero(~np.isfinite(examples).all(axis=tuple(range(1, examples.ndim))))
    if lost.size:
        raise ValueError(
            f"Loader: expected finite numbers, got NaN or inf in {lost.size} examples, first "
            f"in number {lost[0]}. Leave them out."
        )
