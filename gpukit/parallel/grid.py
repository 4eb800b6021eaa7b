"""A grid of ranks: data, pipeline and tensor parallelism at the same time.

    world = parallel.World()
    grid = parallel.Grid(world, data=2, pipeline=2, tensor=2)
    model = parallel.tensor_gpt(96, 64, 64, 4, 2, grid.tensor)
    pipeline = parallel.Pipeline(model, grid, seed=0, schedule=one_f_one_b(2, 8))

The ranks of a tensor group exchange most and have neighbouring numbers, so that they run on the
same machine; those of a pipeline exchange least and are the farthest apart.

Source: Narayanan et al., "Efficient Large-Scale Language Model Training on GPU Clusters Using
Megatron-LM", 2021 (arXiv 2104.04473)
"""

from __future__ import annotations

import numpy as np

from gpukit.parallel.world import Group


class Grid:
    """The groups that a rank belongs to, of `data` x `pipeline` x `tensor` ranks.

    The ranks of `grid.tensor` share the layers of a stage, those of `grid.pipeline` are the stages
    of one model, and those of `grid.data` hold the same part of different copies of the model.
    All ranks of `world` call this. Raises ValueError if they are more or fewer than the grid has.
    """

    def __init__(self, world: Group, *, data: int = 1, pipeline: int = 1, tensor: int = 1) -> None:
        if min(data, pipeline, tensor) < 1 or data * pipeline * tensor != world.size:
            raise ValueError(
                f"Grid: expected data x pipeline x tensor to be {world.size}, the number of ranks, "
                f"got {data} x {pipeline} x {tensor}. Start the program with "
                f"{max(1, data) * max(1, pipeline) * max(1, tensor)} ranks, or pass other sizes."
            )
        self.world = world
        self.ranks = np.arange(world.size).reshape(pipeline, data, tensor)
        stage, copy, share = np.argwhere(self.ranks == world.rank)[0]
        self.data = world.split(self.ranks[stage, :, share].tolist())
        self.pipeline = world.split(self.ranks[:, copy, share].tolist())
        self.tensor = world.split(self.ranks[stage, copy, :].tolist())

    def __repr__(self) -> str:
        places = (
            f"{name} {group.rank} of {group.size}"
            for name, group in (
                ("data", self.data),
                ("pipeline", self.pipeline),
                ("tensor", self.tensor),
            )
        )
        return f"<Grid: {', '.join(places)}>"
