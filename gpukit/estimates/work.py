"""From the counters of a profile to what a launch asks of a GPU."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING

from gpukit.estimates import loops
from gpukit.estimates.model import Work

if TYPE_CHECKING:
    from gpukit.checked.profile import Profile

OPS = ("load", "store", "atomic")
SECTOR, WARP = 32, 32
# Machine instructions of a statement: the operation, and its part of addresses and of the loop.
A_STATEMENT = 3
# Machine instructions of a division of integers by what is not a constant.
A_DIVISION = 20
# Scalar accesses that a compiler merges into one of 16 bytes where it unrolls a loop.
MERGED = 4
# Registers per thread beside local arrays, which lie in registers; what a thread may have at most,
# and an SM; of how many per thread and how many warps they are allocated.
REGISTERS, MOST_REGISTERS, OF_AN_SM, AT_ONCE, WARPS_AT_ONCE = 32, 255, 65536, 8, 4


def of_source(profile: Profile) -> Work:
    """Return the work of a launch from the counters of its source, as nvcc would compile it.

    Loops over local arrays are taken as unrolled: a statement with one is a single instruction, and
    its accesses to other memory are merged into accesses of 16 bytes.
    """
    scale = profile.blocks / profile.blocks_run
    total = profile.total.values

    def summed(*names: str) -> float:
        return float(scale) * sum(total.get(name, 0) for name in names)

    def over(space: str, what: str, ops: tuple[str, ...] = OPS) -> float:
        return summed(*(f"{space}_{op}_{what}" for op in ops))

    lines = loops.read(profile)
    warps = -(-math.prod(profile.block) // WARP)
    merged = scale * _merged(profile, lines, "shared_load_requests")
    requests = over("global", "requests") + over("shared", "requests")
    statements, integer = _arithmetic(profile, lines)
    stored, store_footprint = _stores(profile, lines, scale)
    return Work(
        blocks=profile.blocks,
        threads=math.prod(profile.block),
        shared_bytes=profile.shared_static + profile.shared_dynamic,
        registers=registers(local_words(profile), warps),
        global_loads=summed("global_load_requests"),
        global_requests=over("global", "requests"),
        lines=over("global", "lines"),
        shared_loads=summed("shared_load_requests") - merged,
        shared_requests=over("shared", "requests") - merged,
        wavefronts=over("shared", "wavefronts")
        - scale * _merged(profile, lines, "shared_load_wavefronts"),
        shuffles=summed("shuffles"),
        instructions=scale * statements + requests - merged,
        # Two operations are a multiply-add.
        float32=(summed("flops_float32") + summed("flops_float16") / 2) / 2 / WARP,
        float64=summed("flops_float64") / 2 / WARP,
        integer=scale * integer,
        special=summed("operations_special") / WARP,
        barriers=summed("barriers"),
        trips=summed("dependent_trips"),
        atomics=summed("global_atomic_requests"),
        contention=_contention(profile, scale),
        footprint=footprint(profile, scale, "load") + store_footprint,
        block_footprint=SECTOR * summed("global_block_footprint"),
        stored=stored,
        store_footprint=store_footprint,
    )


def local_words(profile: Profile) -> int:
    """Return the words of the local arrays of a thread."""
    remembered = profile.remembered
    if remembered is None or not profile.total.values.get("local_requests"):
        return 0
    own = [one for one in remembered.instrumentation.segments if one["space"] == "local"]
    return int(sum(one["itemsize"] * math.prod(one["shape"]) for one in own)) // 4


def registers(words: int, warps: int) -> int:
    """Return the registers of a thread with local arrays of `words`; such a block fits in an SM."""
    threads = WARP * WARPS_AT_ONCE * -(-warps // WARPS_AT_ONCE)
    fitting = OF_AN_SM // threads // AT_ONCE * AT_ONCE
    return min(REGISTERS + words, MOST_REGISTERS, fitting)


def _arithmetic(profile: Profile, lines: loops.Lines) -> tuple[float, float]:
    """Return the instructions of warps without accesses, and those on integer lanes.

    Indices in unrolled loops are constants, and so are the counters of these loops.
    """
    instructions = integer = 0.0
    for place, counts in profile.lines.items():
        steps = counts.values.get("warp_steps", 0)
        divisions = A_DIVISION * lines.divisions.get(place, 0) * steps
        if place not in lines.unrolled:
            instructions += A_STATEMENT * steps
        elif place not in lines.headers:
            instructions += steps
        if place not in lines.unrolled | lines.headers:
            integer += counts.values.get("operations_integer", 0) / 2 / WARP
        instructions += divisions
        integer += divisions
    return instructions, integer


def _merged(profile: Profile, lines: loops.Lines, name: str) -> float:
    """Return how much of a counter a compiler saves where it merges accesses of unrolled loops."""
    counts = [profile.lines[at].values for at in lines.unrolled if at in profile.lines]
    return (1 - 1 / MERGED) * sum(values.get(name, 0) for values in counts)


def _stores(profile: Profile, lines: loops.Lines, scale: float) -> tuple[float, float]:
    """Return the bytes of stored sectors, and those of distinct ones.

    In unrolled loops a compiler merges the stores of a thread, so that each sector is stored once.
    """
    distinct = footprint(profile, scale, "store")
    apart = [c.values for at, c in profile.lines.items() if at not in lines.unrolled]
    sectors = sum(values.get("global_store_sectors", 0) for values in apart)
    return max(distinct, SECTOR * scale * sectors), distinct


def footprint(profile: Profile, scale: float, op: str) -> float:
    """Return the distinct bytes of all blocks: those of the blocks that ran, scaled by array.

    No array is larger than it is; what all blocks share is counted for each of them until then.
    """
    counted: dict[str, int] = {}
    sizes: dict[str, int] = {}
    for access in profile.accesses:
        sectors = access.counts.values.get(f"global_{op}_footprint", 0)
        counted[access.array] = counted.get(access.array, 0) + sectors
        sizes[access.array] = max(sizes.get(access.array, 0), access.array_bytes)
    # An array may begin or end within a sector.
    return sum(min(scale * SECTOR * n, sizes[a] + 2 * SECTOR) for a, n in counted.items())


def _contention(profile: Profile, scale: float) -> float:
    """Return the updates of the one address in global memory that has the most.

    More blocks update it more often, unless each block keeps to sectors of its own.
    """
    found = [
        access.counts.values.get("atomic_contention", 0)
        * (1 if _is_apart(profile.arrays[access.array].values) else scale)
        for access in profile.accesses
        if access.space == "global" and access.op == "atomic"
    ]
    return max(found, default=0)


def _is_apart(counts: Mapping[str, int]) -> bool:
    """Tell whether no two blocks touch the same sector of an array that is only written."""
    return counts.get("global_block_footprint", 0) == counts.get("global_store_footprint", 0)
