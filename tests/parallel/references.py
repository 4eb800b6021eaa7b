"""A slow and obvious simulator of pipelines: one tick of the clock after another, whole numbers."""

from __future__ import annotations

from collections import deque


def tick_by_tick(schedule, forward, backward, recompute, transfer, links):
    """The spans of each stage: [(kind, micro_batch, start, end), ...]. All times are whole, >= 1.

    In each tick everything that ends now is delivered first, then idle stages and idle links start
    what they can.
    """
    stages = len(schedule)
    todo = [deque(stage) for stage in schedule]
    running = [None] * stages  # [kind, micro_batch, start, ticks to recompute, ticks to run]
    spans = [[] for _ in range(stages)]
    here = {("forward", 0, m) for m in range(schedule.micro_batches)}
    here |= {("backward", stages - 1, m) for m in range(schedule.micro_batches)}
    queues = {link: deque() for row in links for link in row}
    now = 0
    while any(todo) or any(running):
        assert now < 10_000, "the schedule never ends"
        for queue in queues.values():
            if queue and queue[0][0] == 0:
                here.add(queue.popleft()[1])
        for s in range(stages):
            if running[s] and running[s][4] == 0:
                kind, m, *_ = running[s]
                running[s] = None
                ticks = forward[s] if kind == "forward" else backward[s]
                spans[s].append((kind, m, now - ticks, now))
                row, to = (0, s + 1) if kind == "forward" else (1, s - 1)
                if 0 <= to < stages:
                    gap = min(s, to)
                    queues[links[row][gap]].append([transfer[row][gap], (kind, to, m)])
        for s in range(stages):
            if todo[s] and running[s] is None:
                kind, m = todo[s][0]
                again = recompute[s] if kind == "backward" else 0
                if again or (kind, s, m) in here:
                    todo[s].popleft()
                    ticks = forward[s] if kind == "forward" else backward[s]
                    running[s] = [kind, m, now, again, ticks]
                    if again:
                        spans[s].append(("recompute", m, now, now + again))
        now += 1
        for queue in queues.values():
            if queue:
                queue[0][0] -= 1
        for s in range(stages):
            if running[s] is None:
                continue
            kind, m, _, again, _ = running[s]
            if again:
                running[s][3] -= 1
            elif (kind, s, m) in here:
                running[s][4] -= 1
    return spans
