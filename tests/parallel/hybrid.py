"""The training of one GPT by one process and by the ranks of a grid: for tests and a benchmark.

    mpiexec -n 4 python -m mpi4py -m tests.parallel.hybrid FOLDER STEPS

trains in each mode of so many ranks; rank 0 writes losses and parameters to the folder.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import NamedTuple

import numpy as np

import gpukit
from gpukit import cuda, launch, nn, parallel
from gpukit.nn import checkpoint
from gpukit.parallel.schedules import SCHEDULES

TOKENS, PLACES, WIDTH, HEADS, BLOCKS = 32, 8, 16, 4, 2
EXAMPLES = 7  # divisible by no number of micro-batches, data ranks or stages
SEED, CLIP = 3, 0.7
# The gradient of the bias of keys is 0 but for rounding errors, as softmax ignores what all scores
# have in common. Adam with a small eps would turn these errors into whole steps.
RATES = {"lr": 0.003, "eps": 1e-4}


class Mode(NamedTuple):
    """A grid and how its pipelines run."""

    data: int = 1
    pipeline: int = 1
    tensor: int = 1
    kind: str = "1F1B"
    micro_batches: int = 1
    recompute: bool = False

    @property
    def ranks(self):
        """The number of ranks."""
        return self.data * self.pipeline * self.tensor


MODES = {
    "data, 2 ranks": Mode(data=2),
    "data, 4 ranks": Mode(data=4),
    "tensor, 2 ranks": Mode(tensor=2),
    "tensor, 4 ranks": Mode(tensor=4),
    "layers, 2 ranks": Mode(pipeline=2),
    "layers, 4 ranks": Mode(pipeline=4),
    "GPipe, 2 ranks": Mode(pipeline=2, kind="GPipe", micro_batches=3),
    "GPipe, 4 ranks": Mode(pipeline=4, kind="GPipe", micro_batches=3),
    "1F1B, 2 ranks": Mode(pipeline=2, micro_batches=5),
    "1F1B, 4 ranks": Mode(pipeline=4, micro_batches=5),
    "1F1B with recomputation, 4 ranks": Mode(pipeline=4, micro_batches=5, recompute=True),
    "data and pipeline, 4 ranks": Mode(data=2, pipeline=2, micro_batches=2),
    "data and tensor, 4 ranks": Mode(data=2, tensor=2),
    "hybrid, 8 ranks": Mode(data=2, pipeline=2, tensor=2, micro_batches=3),
}


def batch(examples=EXAMPLES):
    """Return random tokens and the tokens to predict, (examples, places - 1)."""
    rng = np.random.default_rng(1)
    return tuple(rng.integers(0, TOKENS, (examples, PLACES - 1)).astype(np.int32) for _ in range(2))


def gpt():
    """Return the model of one process."""
    return nn.gpt(TOKENS, PLACES, WIDTH, HEADS, BLOCKS)


def alone(steps):
    """Return the losses of one process, and its parameters."""
    model = gpt()
    parameters = nn.Parameters(model, seed=SEED)
    optimizer, workspace, losses = nn.AdamW(parameters, **RATES), nn.Workspace(), []
    x, label = map(cuda.to_device, batch())
    for _ in range(steps):
        with workspace:
            out, saved = model.forward(x)
            loss, grad = nn.cross_entropy(out, label)
            model.backward(saved, grad)
            gpukit.clip_grad_norm(parameters.grad, CLIP)
            optimizer.step()
            losses.append(float(launch.to_host(loss)))
    return np.array(losses), parameters.state()


def divided(world, mode, **options):
    """Return this rank's part of the model."""
    grid = parallel.Grid(world, data=mode.data, pipeline=mode.pipeline, tensor=mode.tensor)
    model = parallel.tensor_gpt(TOKENS, PLACES, WIDTH, HEADS, BLOCKS, grid.tensor)
    schedule = SCHEDULES[mode.kind](mode.pipeline, mode.micro_batches)
    options = {"seed": SEED, "schedule": schedule, "recompute": mode.recompute, **options}
    return parallel.Pipeline(model, grid, **options)


def train(model, optimizer, steps):
    """Return the losses of so many steps, each the mean over the whole batch."""
    world, data = model.grid.world, model.grid.data
    ends = [EXAMPLES * rank // data.size for rank in (data.rank, data.rank + 1)]
    x, label = (cuda.to_device(array[slice(*ends)]) for array in batch())
    losses = []
    for _ in range(steps):
        world.step += 1
        loss = model.gradients(x, label)
        model.shards.clip_grad_norm(CLIP)
        optimizer.step()
        total, examples = world.totals(loss * len(x), len(x))
        losses.append(total / examples)
    return np.array(losses)


def together(world, mode, steps):
    """Return the losses, and on rank 0 the parameters of the whole model."""
    model = divided(world, mode)
    optimizer = nn.AdamW(model.parameters, **RATES)
    losses = train(model, optimizer, steps)
    parts = model.shards.whole_parts(checkpoint.collect(model.parameters, optimizer))
    return losses, parts["parameters"]


def deviation(a, b):
    """Return the largest difference of two results of `alone` or `together`."""
    (losses, state), (others, other) = a, b
    assert state.keys() == other.keys()
    arrays = [(losses, others), *((state[name], other[name]) for name in state)]
    return max(float(np.max(np.abs(one - two))) for one, two in arrays)


def same_bits(a, b):
    """Return whether two results are equal bit for bit."""
    (losses, state), (others, other) = a, b
    return losses.tobytes() == others.tobytes() and all(
        state[name].tobytes() == other[name].tobytes() for name in state
    )


def main(folder, steps):
    """Train in each mode of as many ranks as there are; write a file for each."""
    world = parallel.World()
    for name, mode in MODES.items():
        if mode.ranks == world.size:
            losses, state = together(world, mode, int(steps))
            if world.rank == 0:
                np.savez(Path(folder) / f"{name}.npz", losses=losses, **state)


def read(folder, name):
    """Return a result that `main` wrote."""
    with np.load(Path(folder) / f"{name}.npz") as file:
        state = dict(file)
    return state.pop("losses"), state


if __name__ == "__main__":
    main(*sys.argv[1:])
