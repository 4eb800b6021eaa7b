"""What each rank of a grid holds of one model: its norm over all, and its checkpoint.

A checkpoint is one file that holds the whole model, in the format of `nn.save`, whatever grid wrote
it: any other grid resumes from it, and one process loads it to predict. A file per rank would need
no messages, but a program that is killed between two of them would leave files of different steps.
The price is that rank 0 holds the whole model in host memory while it writes.
"""

from __future__ import annotations

import io
import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from gpukit import launch
from gpukit.kernels.optimizers import flat_places
from gpukit.kernels.optimizers.clip import EPS, square_sums
from gpukit.nn import checkpoint, parameters
from gpukit.nn.checkpoint import Parts
from gpukit.nn.optimizers import Optimizer
from gpukit.nn.parameters import Buffer, Parameter, Parameters, parts_of
from gpukit.parallel.data import scale
from gpukit.parallel.grid import Grid
from gpukit.parallel.tensor import Slice
from gpukit.parallel.world import Group

Arrays = dict[str, npt.NDArray[Any]]
VALUES = ""  # the column of the parameters themselves, beside those of the optimizer


class Layout:
    """Parameters by name in the flat arrays of a rank, in order."""

    def __init__(self, shapes: dict[str, tuple[int, ...]]) -> None:
        self.shapes = shapes
        self.places, self.total = flat_places(shapes.values())

    def split(self, name: str, flat: npt.NDArray[Any]) -> Arrays:
        """Return the parts of a flat array by the names of the parameters."""
        if flat.shape != (self.total,):
            raise ValueError(
                f"load: expected {name} of shape {(self.total,)}, got {flat.shape}. "
                f"{parameters.ADVICE}"
            )
        pairs = zip(self.shapes.items(), self.places, strict=True)
        return {name: flat[place].reshape(shape) for (name, shape), place in pairs}

    def join(self, arrays: Arrays, dtype: Any) -> npt.NDArray[Any]:
        """Return the flat array of these parts."""
        flat = np.zeros(self.total, dtype)
        for name, place in zip(self.shapes, self.places, strict=True):
            flat[place] = arrays[name].reshape(-1)
        return flat


class Shards:
    """The parts of a model on the ranks of a grid: `stages` of its layers, slices of some weights.

    `own` are the parameters of this rank.
    """

    def __init__(self, model: Any, stages: Sequence[range], grid: Grid, own: Parameters) -> None:
        self.grid, self.stages, self.own = grid, stages, own
        named = dict(parts_of(model, Parameter))
        self.slices = {name: part for name, part in named.items() if isinstance(part, Slice)}
        self.buffers = {name: part.shape for name, part in parts_of(model, Buffer)}
        self.whole = Layout(
            {
                **{n: p.shape for n, p in named.items()},
                **{n: p.whole for n, p in self.slices.items()},
            }
        )
        self.layouts = [
            Layout({name: part.shape for name, part in named.items() if _layer(name) in stage})
            for stage in stages
        ]

    # --- The norm of all gradients ---------------------------------------------------------------

    def clip_grad_norm(self, max_norm: float) -> float:
        """Scale the gradients of all ranks so that their global norm is at most `max_norm`.

        Returns the norm before. Each parameter counts once: of those that the ranks of a tensor
        group have in common, the first rank's. If a gradient has a NaN or an infinity, all become
        NaN.
        """
        sums = np.array([self._square_sum()])
        for group in (self.grid.tensor, self.grid.pipeline):
            group.all_reduce(sums, name="squares of gradients")
        norm = math.sqrt(sums[0])
        factor = max_norm / (norm + EPS)
        if not factor >= 1:
            scale(self.own.grad, factor)
        return norm

    def _square_sum(self) -> float:
        """Return the sum of the squares of the gradients that this rank counts."""
        layout, grad = self.layouts[self.grid.pipeline.rank], self.own.grad
        vectors = [grad]
        if self.grid.tensor.rank:
            pairs = zip(layout.shapes, layout.places, strict=True)
            vectors = [grad[place] for name, place in pairs if name in self.slices]
        vectors = [vector for vector in vectors if vector.size]
        partials = square_sums("clip_grad_norm", vectors, grad.dtype, 0)
        return float(launch.to_host(partials).sum(dtype=np.float64))

    # --- The checkpoint of all ranks -------------------------------------------------------------

    def whole_parts(self, parts: Parts) -> Parts:
        """Return on rank 0 the parts of a checkpoint of the whole model. All ranks call this.

        Elsewhere it returns those of the rank.
        """
        grid = self.grid
        if grid.data.rank:
            return parts
        if grid.world.rank:
            _send(parts, grid.world)
            return parts
        columns: dict[str, Arrays] = {}
        for stage, (layers, layout) in enumerate(zip(self.stages, self.layouts, strict=True)):
            held = [
                _columns(_receive(grid.world, rank) if rank else parts, layout, layers.start)
                for rank in grid.ranks[stage, 0].tolist()
            ]
            for column, arrays in held[0].items():
                joined = {
                    name: self._join(name, [each[column][name] for each in held]) for name in arrays
                }
                columns.setdefault(column, {}).update(joined)
        return _parts(columns, self.whole, 0, parts)

    def own_parts(self, parts: Parts) -> Parts:
        """Return what this rank holds of the whole model's checkpoint.

        Raises ValueError where it is of another model.
        """
        parameters.check(parts["parameters"], self.whole.shapes | self.buffers)
        stage = self.grid.pipeline.rank
        layers = self.stages[stage]
        columns = {
            column: {
                name: self._slice(name, array)
                for name, array in arrays.items()
                if _layer(name) in layers
            }
            for column, arrays in _columns(parts, self.whole, 0).items()
        }
        return _parts(columns, self.layouts[stage], -layers.start, parts)

    def _slice(self, name: str, array: npt.NDArray[Any]) -> npt.NDArray[Any]:
        part = self.slices.get(name)
        return part.of(array, self.grid.tensor.rank) if part else array

    def _join(self, name: str, arrays: Sequence[npt.NDArray[Any]]) -> npt.NDArray[Any]:
        part = self.slices.get(name)
        return part.join(arrays) if part else arrays[0]


def save(path: str | Path, model: Any, optimizer: Optimizer, **numbers: npt.ArrayLike) -> None:
    """Write a `Pipeline`, its optimizer and numbers such as the epoch to one file.

    All ranks call this, rank 0 writes, atomically, and then all return. `nn.load` reads the file in
    one process.
    """
    parts = model.shards.whole_parts(checkpoint.collect(model.parameters, optimizer, **numbers))
    if model.grid.world.rank == 0:
        checkpoint.write(path, parts)
    model.grid.world.barrier()


def load(path: str | Path, model: Any, optimizer: Optimizer) -> dict[str, Any]:
    """Load a `Pipeline` and its optimizer from a file of any grid, or of `nn.save`.

    Returns the numbers. All ranks read the file. Raises CheckpointError for a file that is damaged,
    or of another model or optimizer; then nothing is changed.
    """
    parts = checkpoint.read(path)
    return checkpoint.restore(path, parts, model.parameters, optimizer, model.shards.own_parts)


def _columns(parts: Parts, layout: Layout, shift: int) -> dict[str, Arrays]:
    """Return the parameters, and each state of the optimizer, by the names in the whole model."""
    values = {_shifted(name, shift): array for name, array in parts["parameters"].items()}
    states = {
        name: layout.split(name, array) for name, array in parts["optimizer"].items() if array.ndim
    }
    return {VALUES: values, **states}


def _parts(columns: dict[str, Arrays], layout: Layout, shift: int, parts: Parts) -> Parts:
    """Return the parts of a checkpoint from columns; what is the same for all is in `parts`."""
    return {
        "parameters": {_shifted(name, shift): array for name, array in columns[VALUES].items()},
        "optimizer": {
            name: layout.join(columns[name], array.dtype) if array.ndim else array
            for name, array in parts["optimizer"].items()
        },
        "numbers": parts["numbers"],
    }


def _layer(name: str) -> int:
    """Return the number of the layer that a parameter belongs to."""
    return int(name.partition(".")[0])


def _shifted(name: str, by: int) -> str:
    """Return the name of a parameter where its layer has another number."""
    return f"{_layer(name) + by}.{name.partition('.')[2]}"


def _send(parts: Parts, world: Group) -> None:
    """Send parts of a checkpoint to rank 0."""
    file = io.BytesIO()
    checkpoint.dump(parts, file)
    content = np.frombuffer(file.getvalue(), np.uint8)
    world.send(np.array([content.size]), 0, name="size of the checkpoint")
    world.send(content, 0, name="checkpoint")


def _receive(world: Group, rank: int) -> Parts:
    """Return the parts of a checkpoint that a rank sent."""
    size = world.recv(np.empty(1, np.int64), rank, name="size of the checkpoint")
    content = world.recv(np.empty(int(size[0]), np.uint8), rank, name="checkpoint")
    return checkpoint.parse(io.BytesIO(content.tobytes()))
