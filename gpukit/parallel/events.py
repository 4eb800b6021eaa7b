"""The event loop of the pipeline simulator, compiled by Numba.

A heap holds one event for each stage that runs an operation: the time of its end. The loop takes
the earliest one, sends its result, and starts what can start now. Results are sent in order of
time, so a link serves first come, first served when each message begins at the time at which the
link is free: the queue needs no events of its own. Stages that end at the same time send in order
of their numbers.

Legend: code m is forward m and ~m is backward m; kind 0 is a forward pass, whose activations go to
the next stage, kind 1 a backward pass, whose gradient goes to the one before; NaN is not yet known.
"""

from __future__ import annotations

from heapq import heappop, heappush
from typing import Any

import numba
import numpy as np


@numba.njit(cache=True)
def run(
    codes: Any, forward: Any, backward: Any, recompute: Any, transfer: Any, routes: Any
) -> tuple[Any, Any, Any, Any]:
    """Return start and end of each pass, starts of recomputations, and the busy time of each link.

    The end of a pass that never runs, because its input never comes, is NaN.
    """
    stages, length = codes.shape
    links = routes.max() + 1 if routes.size else 0
    start = np.full((stages, length), np.nan)
    end = np.full((stages, length), np.nan)
    again = np.zeros((stages, length))
    arrival = np.full((2, stages, length // 2), np.nan)
    arrival[0, 0] = 0.0  # the batch
    arrival[1, stages - 1] = 0.0  # the loss
    link_free, link_busy = np.zeros(links), np.zeros(links)
    free = np.zeros(stages)  # since when a stage is free, infinity while it runs an operation
    position = np.zeros(stages, np.int64)
    # Every stage begins with a forward pass, and only the first has the input of one.
    start[0, 0], end[0, 0], free[0] = 0.0, forward[0], np.inf
    heap = [(end[0, 0], 0)]
    while heap:
        now, s = heappop(heap)
        code = codes[s, position[s]]
        kind, m, neighbour = (0, code, s + 1) if code >= 0 else (1, ~code, s - 1)
        free[s] = now
        position[s] += 1
        if 0 <= neighbour < stages:
            gap = min(s, neighbour)
            link = routes[kind, gap]
            link_free[link] = max(link_free[link], now) + transfer[kind, gap]
            link_busy[link] += transfer[kind, gap]
            arrival[kind, neighbour, m] = link_free[link]
        for one in (s, neighbour):
            if not 0 <= one < stages or position[one] == length or free[one] == np.inf:
                continue
            at = position[one]
            code = codes[one, at]
            kind, m = (0, code) if code >= 0 else (1, ~code)
            here = arrival[kind, one, m]
            if np.isnan(here):
                continue  # its sender will start it
            ready = free[one]
            if kind == 1 and recompute[one] > 0:
                again[one, at] = ready
                ready += recompute[one]
            start[one, at] = max(ready, here)
            end[one, at] = start[one, at] + (forward[one] if kind == 0 else backward[one])
            free[one] = np.inf
            heappush(heap, (end[one, at], one))
    return start, end, again, link_busy
