"""Checkpoints: a training saved to disk, atomically."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import IO, Any

import numpy as np
import numpy.typing as npt

from gpukit import files
from gpukit.errors import CheckpointError
from gpukit.nn.optimizers import AnyOptimizer
from gpukit.nn.parameters import Parameters

Parts = dict[str, dict[str, Any]]  # parameters, optimizer and numbers: arrays by name

_ADVICE = "The file is kept: to train from the start, rename it or name another one."


def save(
    path: str | Path, parameters: Parameters, optimizer: AnyOptimizer, **numbers: npt.ArrayLike
) -> None:
    """Write parameters, optimizer and numbers such as the epoch, or arrays, to one file.

    The write is atomic: if the program is killed, or the disk is full (OutputError), `path` is the
    old checkpoint or the new one.
    """
    write(path, collect(parameters, optimizer, **numbers))


def collect(parameters: Parameters, optimizer: AnyOptimizer, **numbers: npt.ArrayLike) -> Parts:
    """Return copies on the host of all that a checkpoint holds."""
    return {
        "parameters": parameters.state(),
        "optimizer": optimizer.state(),
        "numbers": {name: np.asarray(number) for name, number in numbers.items()},
    }


def write(path: str | Path, parts: Parts) -> None:
    """Write the parts of a checkpoint to a file, atomically."""
    with files.whole(path) as file:
        dump(parts, file)


def dump(parts: Parts, file: IO[bytes]) -> None:
    """Write the parts of a checkpoint to an open file."""
    arrays = {f"{part}/{name}": value for part, of in parts.items() for name, value in of.items()}
    np.savez(file, **arrays)


def load(path: str | Path, parameters: Parameters, optimizer: AnyOptimizer) -> dict[str, Any]:
    """Load parameters and optimizer from a file of `save`; return the numbers and arrays by name.

    Raises CheckpointError, a ValueError, for a file that is damaged or no checkpoint, and for a
    checkpoint of another model or optimizer; then nothing is changed.
    """
    return restore(path, read(path), parameters, optimizer)


def restore(
    path: str | Path,
    parts: Parts,
    parameters: Parameters,
    optimizer: AnyOptimizer,
    take: Callable[[Parts], Parts] = lambda parts: parts,
) -> dict[str, Any]:
    """Load parameters and optimizer from the parts that `read` returned; return the numbers.

    `take` returns what this process holds of a model that is divided among several.
    """
    try:
        parts = take(parts)
        parameters.check(parts["parameters"])
        optimizer.check(parts["optimizer"])
    except ValueError as error:
        raise CheckpointError(f"{path}: {error} {_ADVICE}") from error
    parameters.load(parts["parameters"])
    optimizer.load(parts["optimizer"])
    return {name: value if value.ndim else value.item() for name, value in parts["numbers"].items()}


def read(path: str | Path) -> Parts:
    """Return the arrays of each part of a checkpoint; raise CheckpointError for another file."""
    with Path(path).open("rb") as file:
        try:
            return parse(file)
        except Exception as error:  # of zipfile, zlib or NumPy, depending on the damage
            raise CheckpointError(
                f"{path}: expected a checkpoint that nn.save or nn.fit wrote, got a file "
                f"that is damaged or something else ({type(error).__name__}: {error}). {_ADVICE}"
            ) from error


def parse(file: IO[bytes]) -> Parts:
    """Return the parts of a checkpoint that `dump` wrote."""
    parts: Parts = {"parameters": {}, "optimizer": {}, "numbers": {}}
    archive = zipfile.ZipFile(file)
    for member in archive.namelist():
        part, name = member.removesuffix(".npy").split("/", 1)
        parts[part][name] = np.load(io.BytesIO(archive.read(member)), allow_pickle=False)
    return parts
