"""Prints what an all-reduce in slow motion takes on real processes, and what it should."""

import json

import numpy as np

from gpukit import parallel
from gpukit.parallel import cost_model
from gpukit.parallel.links import Link

link = Link(latency=0.01, bandwidth=1e6)
world = parallel.World()
slow = parallel.SlowMotion(world, link=link)
array = np.full(10_000, world.rank + 1.0)
slow.group.all_reduce(array)
seconds = slow.now()
if world.rank == 0:
    expected = cost_model.ring_all_reduce(link, world.size, array.nbytes)
    print(json.dumps({"sum": array[0], "seconds": seconds, "expected": expected}))
