"""Predictions of a trained model, and their accuracy."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import numpy.typing as npt

from gpukit import cuda, launch
from gpukit.workspace import Workspace


@contextmanager
def inference(model: Any) -> Iterator[None]:
    """Switch dropout, batch norm and augmentation of a model to inference inside a `with` block.

    with nn.inference(model):
        logits, _ = model.forward(x)
    """
    switched = [layer for layer in layers_of(model) if getattr(layer, "training", False)]
    for layer in switched:
        layer.training = False
    try:
        yield
    finally:
        for layer in switched:
            layer.training = True


def layers_of(layer: Any) -> Iterator[Any]:
    """Yield a layer and all layers inside it."""
    yield layer
    for inner in getattr(layer, "layers", ()):
        yield from layers_of(inner)


def predict(model: Any, x: npt.ArrayLike, batch: int = 256) -> npt.NDArray[Any]:
    """Return the outputs of a model for x (N, ...) in inference, on the host, batch by batch."""
    examples, workspace, made = np.ascontiguousarray(x), Workspace(), []
    with inference(model):
        for first in range(0, len(examples), batch):
            with workspace:
                out, _ = model.forward(cuda.to_device(examples[first : first + batch]))
                made.append(launch.to_host(out).copy())
    return np.concatenate(made)


def accuracy(model: Any, x: npt.ArrayLike, labels: npt.ArrayLike) -> float:
    """Return the fraction of x whose highest output is that of its label, from 0 to 1."""
    return float(np.mean(predict(model, x).argmax(axis=-1) == np.asarray(labels)))


def confusion(
    model: Any, x: npt.ArrayLike, labels: npt.ArrayLike, classes: int
) -> npt.NDArray[np.int64]:
    """Return the confusion matrix: how many of each class (rows) get which prediction."""
    counts = np.zeros((classes, classes), np.int64)
    np.add.at(counts, (np.asarray(labels), predict(model, x).argmax(axis=-1)), 1)
    return counts
