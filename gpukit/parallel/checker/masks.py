"""Dropout masks: different where ranks have different examples, equal for the same activations."""

from __future__ import annotations

from gpukit.parallel.checker.findings import Finding, make
from gpukit.parallel.checker.recording import Recorder
from gpukit.parallel.checker.steps import Draw


def find(recorder: Recorder) -> list[Finding]:
    """Return the masks that are equal or different where they must not be."""
    first, *others = recorder.traces
    for other in others:
        for mine, its in zip(first.draws, other.draws, strict=False):
            found = _compare(mine, its, first.rank, other.rank)
            if found is not None:
                return [found]
    return []


def _compare(mine: Draw, its: Draw, first: int, other: int) -> Finding | None:
    if len(mine.x) != len(its.x) or mine.place != its.place or not 0 < mine.p < 1:
        return None
    same_x, same_mask = mine.x == its.x, mine.mask == its.mask
    if same_x == same_mask or mine.zeros or its.zeros:
        return None
    facts = {"ranks": (first, other), "step": mine.step}
    if same_mask:
        return make(
            "equal-masks",
            f"Dropout in line {mine.place.line} drops the same elements on rank {first} and rank "
            f"{other} in update {mine.step}, from different activations: seed {mine.seed} and "
            f"offset {mine.offset} on both.",
            "Add the rank to the seed, `seed + (world.rank << 32)`, where ranks have different "
            "examples or different parts of an activation. `DataParallel` does this for `Dropout`.",
            mine.place,
            details={"seed": mine.seed},
            **facts,
        )
    return make(
        "different-masks",
        f"Dropout in line {mine.place.line} drops different elements of the same activations on "
        f"rank {first} and rank {other} in update {mine.step}: seed {mine.seed}, offset "
        f"{mine.offset} on one and seed {its.seed}, offset {its.offset} on the other.",
        "Give all ranks that hold a copy of an activation the same seed and offset.",
        mine.place,
        details={"seeds": (mine.seed, its.seed)},
        **facts,
    )
