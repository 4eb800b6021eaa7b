"""Checkpoints: a training on disk, whole or not at all."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from gpukit import files
from gpukit.nn.optimizers import Optimizer
from gpukit.nn.parameters import Parameters


def save(
    path: str | Path, parameters: Parameters, optimizer: Optimizer, **numbers: npt.ArrayLike
) -> None:
    """Write parameters, optimizer and numbers such as the epoch, or arrays, to one file.

    Whenever the program is killed, or the disk is full (OutputError), `path` is the old checkpoint
    or the new one.
    """
    arrays: dict[str, Any] = {
        f"parameters/{name}": array for name, array in parameters.state().items()
    }
    arrays |= {f"optimizer/{name}": array for name, array in optimizer.state().items()}
    arrays |= {f"numbers/{name}": np.asarray(number) for name, number in numbers.items()}
    with files.whole(path) as file:
        np.savez(file, **arrays)


def load(path: str | Path, parameters: Parameters, optimizer: Optimizer) -> dict[str, Any]:
    """Set parameters and optimizer to what `save` wrote; return the numbers and arrays by name.

    Raises ValueError for a checkpoint of another model, and changes nothing then.
    """
    parts: dict[str, dict[str, Any]] = {"parameters": {}, "optimizer": {}, "numbers": {}}
    with np.load(path) as file:
        for key in file.files:
            part, name = key.split("/", 1)
            parts[part][name] = file[key]
    parameters.load(parts["parameters"])
    optimizer.load(parts["optimizer"])
    return {name: value if value.ndim else value.item() for name, value in parts["numbers"].items()}
