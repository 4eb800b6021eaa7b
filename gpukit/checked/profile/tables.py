"""The tables below a profile's source: the totals in words, each array, each access."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from gpukit.checked.counters import Counts
from gpukit.checked.occupancy.messages import show_percent
from gpukit.checked.profile import occupancy as profile_occupancy
from gpukit.checked.profile.cells import (
    WARP,
    beside,
    in_turn,
    many,
    needed,
    operations,
    per_request,
    plain,
    sum_of,
)

if TYPE_CHECKING:
    from gpukit.checked.profile import Access, Profile


SECTORS, WAVEFRONTS, PASSES = ("sector",), ("wavefront",), ("pass", "passes")


class Table(NamedTuple):
    """A table of words; `left` are the columns that are text, the others are numbers."""

    caption: str
    headers: tuple[str, ...]
    rows: Sequence[tuple[str, ...]]
    left: frozenset[int]


# ---- totals --------------------------------------------------------------------------------------


def totals(profile: Profile) -> list[tuple[str, str, str]]:
    """Return the key figures of a launch: the subject, a ratio in words, the counts behind it."""
    counts = profile.total
    made = [
        *_global(counts, needed(profile.accesses)),
        *_footprint(counts),
        *_trips(profile),
        *_shared(counts),
        *_constant(counts),
        *_atomics(counts),
        *_warps(counts),
        *_arithmetic(counts),
    ]
    if counts["local_requests"]:
        made.append(("Local arrays", many(counts["local_requests"], "request"), ""))
    return made


def _global(counts: Counts, least: float) -> list[tuple[str, str, str]]:
    per = counts.ratio("sectors_per_request")
    if per is None:
        return []
    requests, sectors = (sum_of(counts, "global", what) for what in ("requests", "sectors"))
    shown, ideal = beside(per, least / requests)
    would = f"ideal: {ideal}" if sectors > 1.05 * least else "the minimum"
    return [
        (
            "Global memory",
            f"{shown} sectors per request, {would}",
            f"{many(requests, 'request')}, {many(sectors, 'sector')}",
        ),
        (
            "Bytes moved",
            _used(counts),
            f"{counts['global_bytes_moved']:,} moved, {counts['global_bytes_asked']:,} requested",
        ),
    ]


def _footprint(counts: Counts) -> list[tuple[str, str, str]]:
    loaded, stored, of_blocks = (
        32 * counts[f"global_{name}_footprint"] for name in ("load", "store", "block")
    )
    if not of_blocks:
        return []
    return [
        (
            "Footprint",
            f"{loaded:,} bytes loaded, {stored:,} stored",
            f"{of_blocks:,} bytes summed over blocks",
        )
    ]


def _trips(profile: Profile) -> list[tuple[str, str, str]]:
    """Return how many loads a warp does one after the other, where that is more than one."""
    trips = profile.total["dependent_trips"]
    warps = profile.blocks_run * -(-math.prod(profile.block) // WARP)
    if trips <= warps:
        return []
    return [
        (
            "Dependent loads",
            f"each warp waits {plain(trips / warps)} times in turn",
            many(trips, "wait"),
        )
    ]


def _used(counts: Counts) -> str:
    used = counts.ratio("bytes_used") or 0.0
    if used <= 100:
        return f"{show_percent(used)} of them are used"
    return f"each is used {plain(used / 100)} times: lanes share elements"


def _shared(counts: Counts) -> list[tuple[str, str, str]]:
    per = counts.ratio("wavefronts_per_request")
    if per is None:
        return []
    requests, wavefronts, conflicts = (
        sum_of(counts, "shared", what) for what in ("requests", "wavefronts", "conflicts")
    )
    shown, ideal = beside(per, (wavefronts - conflicts) / requests)
    would = f"ideal: {ideal}" if conflicts else "no bank conflicts"
    return [
        (
            "Shared memory",
            f"{per_request(shown, *WAVEFRONTS)}, {would}",
            f"{many(requests, 'request')}, {many(wavefronts, *WAVEFRONTS)}",
        )
    ]


def _constant(counts: Counts) -> list[tuple[str, str, str]]:
    requests, passes = counts["constant_requests"], counts["constant_passes"]
    if not requests:
        return []
    shown, _ = beside(passes / requests, 1.0)
    would = "ideal: 1" if passes > requests else "all lanes read one address"
    return [
        (
            "Constant memory",
            f"{per_request(shown, *PASSES)}, {would}",
            f"{many(requests, 'request')}, {many(passes, *PASSES)}",
        )
    ]


def _atomics(counts: Counts) -> list[tuple[str, str, str]]:
    turns = in_turn(counts)
    if not turns:
        return []
    most = counts["atomic_contention"]
    return [
        (
            "Atomics",
            f"{plain(turns)} lanes of a warp update the same element",
            f"one element up to {many(most, 'time')}",
        )
    ]


def _warps(counts: Counts) -> list[tuple[str, str, str]]:
    made = []
    lanes = counts.ratio("lanes_per_step")
    if lanes is not None:
        made.append(
            (
                "Warps",
                f"{plain(lanes)} of {WARP} lanes are active",
                ", ".join(
                    many(counts[name], noun)
                    for name, noun in (("warp_steps", "statement"), ("shuffles", "shuffle"))
                    if counts[name]
                ),
            )
        )
    agree = counts.ratio("branch_efficiency")
    if agree is not None:
        parted = counts["divergent_branches"]
        made.append(
            (
                "Branches",
                f"all lanes agree at {show_percent(agree)} of them",
                f"{many(counts['branches'], 'branch', 'branches')}, {parted:,} divergent",
            )
        )
    if counts["barriers"]:
        made.append(
            (
                "Barriers",
                "each waits for the whole block",
                f"reached {many(counts['barriers'], 'time')} by warps",
            )
        )
    return made


def _arithmetic(counts: Counts) -> list[tuple[str, str, str]]:
    shown = {f"flops_{kind}": f"on {kind}" for kind in ("float32", "float64", "float16")}
    shown |= {"operations_special": "special", "operations_integer": "on integers"}
    kinds = [f"{counts[name]:,} {words}" for name, words in shown.items() if counts[name]]
    if not kinds:
        return []
    intensity = counts.ratio("intensity")
    each = f"{operations(intensity)} operations per byte moved" if intensity is not None else "-"
    return [("Arithmetic", each if counts.flops else "no floats", ", ".join(kinds))]


# ---- arrays and accesses -------------------------------------------------------------------------


def arrays(profile: Profile) -> Table:
    """Return what each array costs, the most expensive first."""
    space = {access.array: access.space for access in profile.accesses}
    order = sorted(profile.arrays.items(), key=lambda item: (-_cost(item[1]), item[0]))
    rows = [(name, space.get(name, ""), *_array(counts)) for name, counts in order]
    headers = ("array", "memory", "requests", "cost", "per request", "bytes moved", "used")
    return Table("Arrays", headers, rows, frozenset({0, 1}))


def _cost(counts: Counts) -> int:
    return sum_of(counts, "global", "sectors") + sum_of(counts, "shared", "wavefronts")


def _array(counts: Counts) -> tuple[str, ...]:
    requests, cost, each = _price(counts)
    used = counts.ratio("bytes_used")
    moved = counts["global_bytes_moved"]
    return (
        requests,
        cost,
        each,
        f"{moved:,}" if moved else "-",
        "-" if used is None else f"{used:.0f} %",
    )


def _price(counts: Counts) -> tuple[str, str, str]:
    """Return requests, their cost, and the cost of one."""
    prices = (
        (sum_of(counts, "global", "requests"), sum_of(counts, "global", "sectors"), SECTORS),
        (sum_of(counts, "shared", "requests"), sum_of(counts, "shared", "wavefronts"), WAVEFRONTS),
        (counts["constant_requests"], counts["constant_passes"], PASSES),
    )
    for requests, cost, unit in prices:
        if requests:
            return f"{requests:,}", many(cost, *unit), f"{cost / requests:.1f}"
    return f"{counts['local_requests']:,}", "-", "-"


def accesses(profile: Profile) -> Table:
    """Return what each access of the source costs, in order of lines, with its worst request."""
    rows = [
        (str(a.line), a.text, f"{a.space} {a.op}", *_price(a.counts), worst(a))
        for a in profile.accesses
    ]
    headers = ("line", "access", "kind", "requests", "cost", "per request", "worst request")
    return Table("Accesses", headers, rows, frozenset({1, 2}))


def worst(access: Access) -> str:
    """Return what the worst request of an access costs."""
    if access.space == "global":
        return many(access.worst, "sector")
    if access.space == "shared":
        return f"{access.worst}-way conflict" if access.worst > 1 else "no conflict"
    if access.space == "constant":
        return many(access.worst, "address", "addresses")
    return "-"


# ---- occupancy -----------------------------------------------------------------------------------


def occupancy(profile: Profile) -> Table:
    """Return the occupancy on each GPU; `?` stands for registers that are not known."""
    rows = [
        (
            row["gpu"],
            "?" if row["registers"] is None else str(row["registers"]),
            str(row["blocks"]),
            f"{row['warps']} of {row['max_warps']}",
            show_percent(row["percent"]),
            ", ".join(row["limited_by"]),
            f"{row['best_threads']} threads" if row["best_threads"] else "none",
        )
        for row in profile.occupancy().rows
    ]
    headers = ("GPU", "registers", "blocks/SM", "warps/SM", "occupancy", "limited by", "best block")
    return Table("Occupancy", headers, rows, frozenset({0, 5}))


def about_occupancy(profile: Profile) -> str:
    """Say which launch the occupancy is for, and why registers are not known."""
    threads = math.prod(profile.block)
    shared = profile.shared_static + profile.shared_dynamic
    text = f"Blocks of {many(threads, 'thread')} with {many(shared, 'byte')} of shared memory."
    why = profile_occupancy.unknown(profile)
    if not why:
        return text
    return (
        f"{text} ? means that the registers per thread are not known: {why}. The occupancy is the "
        "upper limit that the other resources set."
    )
