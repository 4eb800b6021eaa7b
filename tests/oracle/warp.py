"""Results of the shuffles, votes and matches of one warp."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from tests.oracle.arithmetic import UNDEFINED, cast

I32 = np.dtype(np.int32)
FULL = 0xFFFFFFFF
Lanes = Mapping[int, tuple[Any, ...]]  # lane -> arguments after the mask
MODES = {"shfl_sync": 0, "shfl_up_sync": 1, "shfl_down_sync": 2, "shfl_xor_sync": 3}
VOTES = ("all_sync", "any_sync", "eq_sync", "ballot_sync")


def _source(lane: int, mode: int, offset: int, clamp: int) -> tuple[int, bool]:
    """Return the lane read and whether it lies in the segment (PTX, `shfl.sync`)."""
    segment, bound, offset = (clamp >> 8) & 31, clamp & 31, offset & 31
    last = (lane & segment) | (bound & ~segment & 31)
    if mode == 1:
        source, inside = lane - offset, lane - offset >= last
    elif mode == 2:
        source, inside = lane + offset, lane + offset <= last
    elif mode == 3:
        source, inside = lane ^ offset, lane ^ offset <= last
    else:
        source = (lane & segment) | (offset & ~segment & 31)
        inside = source <= last
    return (source if inside else lane), inside


def _shuffle(mode: int, lanes: dict[int, tuple[Any, Any, int]]) -> dict[int, tuple[Any, bool]]:
    answers = {}
    for lane, (_, offset, clamp) in lanes.items():
        source, inside = _source(lane, mode, int(offset), clamp)
        value = lanes[source][0] if source in lanes else UNDEFINED
        answers[lane] = (value, inside)
    return answers


def _bits(lanes: Any) -> Any:
    return cast(I32, sum(1 << lane for lane in lanes))


def _vote(mode: int, lanes: dict[int, Any]) -> tuple[Any, bool]:
    true = [lane for lane, predicate in lanes.items() if predicate]
    verdicts = (len(true) == len(lanes), bool(true), len(true) in (0, len(lanes)), False)
    return _bits(true), verdicts[mode]


def _match_all(lanes: dict[int, Any]) -> tuple[Any, bool]:
    same = len(set(lanes.values())) == 1
    return (_bits(lanes) if same else np.int32(0)), same


def collective(name: str, lanes: Lanes) -> dict[int, Any]:
    """Return the result of a warp operation for each participating lane.

    >>> collective("shfl_down_sync", {0: (10, 1), 1: (11, 1)})
    {0: 11, 1: UNDEFINED}
    """
    if name == "syncwarp":
        return dict.fromkeys(lanes)
    if name in MODES:
        clamp = 0 if name == "shfl_up_sync" else 31
        full = {lane: (args[0], args[1], clamp) for lane, args in lanes.items()}
        return {lane: pair[0] for lane, pair in _shuffle(MODES[name], full).items()}
    if name == "shfl_sync_intrinsic":
        mode = int(next(iter(lanes.values()))[0])
        return dict(_shuffle(mode, {n: (a[1], a[2], int(a[3])) for n, a in lanes.items()}))
    if name == "vote_sync_intrinsic":
        mode = int(next(iter(lanes.values()))[0])
        return dict.fromkeys(lanes, _vote(mode, {n: a[1] for n, a in lanes.items()}))
    values = {lane: args[0] for lane, args in lanes.items()}
    if name in VOTES:
        bits, verdict = _vote(VOTES.index(name), values)
        return dict.fromkeys(lanes, bits if name == "ballot_sync" else verdict)
    if name == "match_any_sync":
        return {n: _bits(m for m in values if values[m] == v) for n, v in values.items()}
    if name == "match_all_sync":
        return dict.fromkeys(lanes, _match_all(values))
    raise NotImplementedError(name)
