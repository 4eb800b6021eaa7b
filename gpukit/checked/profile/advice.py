"""Advice on a profile: sentences that follow from its counts, the costliest first.

A GPU hides much of this latency while other warps run; the order is that of the transfers
that could be saved, not of measured times.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from typing import TYPE_CHECKING

from gpukit.checked import gpus
from gpukit.checked.counters import Counts
from gpukit.checked.profile import advice_memory as memory
from gpukit.checked.profile.advice_memory import Advice
from gpukit.checked.profile.cells import WARP, many, operations, plain, sum_of
from gpukit.checked.profile.source import Place, one_sided

if TYPE_CHECKING:
    from gpukit.checked.profile import Profile

# No advice below these fractions of the whole.
_PARTED, _FEW_BRANCHES, _EMPTY_LANES = 1 / 3, 8, 0.25
_REFERENCE = "T4"
_MOST_FACTS = 3


def advise(profile: Profile) -> list[str]:
    """Return what stands out, the costliest first, and last what bounds the kernel."""
    found = [*memory.advice(profile), *_branches(profile), *_launch(profile), *_doubles(profile)]
    together: dict[str, list[Advice]] = {}
    for one in sorted(found, key=lambda one: (-one.weight, one.places, one.fact)):
        together.setdefault(one.fix, []).append(one)
    groups = sorted(together.values(), key=lambda group: -sum(one.weight for one in group))
    texts = [_text(profile, group) for group in groups] or [_nothing(profile.total)]
    return [*texts, *_bound(profile.total)]


def _text(profile: Profile, group: list[Advice]) -> str:
    """Return what several facts have in common: what to do."""
    facts = [_lines(profile, group[0].places) + group[0].fact]
    for before, one in itertools.pairwise(group[:_MOST_FACTS]):
        where = "" if one.places == before.places else _lines(profile, one.places)
        facts.append(where[:1].lower() + where[1:] + one.fact)
    if len(group) > _MOST_FACTS:
        facts.append(f"and {many(len(group) - _MOST_FACTS, 'access', 'accesses')} more like these")
    return f"{'; '.join(facts)}. {group[0].fix}"


def _nothing(counts: Counts) -> str:
    checked = [
        words
        for words, there in (
            ("requests are coalesced", sum_of(counts, "global", "requests")),
            ("no bank conflicts", sum_of(counts, "shared", "requests")),
            ("little divergence", counts["branches"]),
        )
        if there
    ]
    return f"Nothing stands out: {', '.join(checked)}." if checked else "Nothing stands out."


# ---- warps ---------------------------------------------------------------------------------------


def _branches(profile: Profile) -> Iterator[Advice]:
    parted = [
        (place, counts)
        for place, counts in profile.lines.items()
        if counts["divergent_branches"] >= max(_FEW_BRANCHES, _PARTED * counts["branches"])
    ]
    skipped = one_sided(profile)
    lost = profile.total["warp_steps"] - profile.total["thread_steps"] / WARP
    sides = [p for p in parted if p[0] not in skipped]
    yield from _parted(profile, sides, lost, "each side waits while the other runs")
    if lost >= _EMPTY_LANES * profile.total["warp_steps"]:
        alone = [p for p in parted if p[0] in skipped]
        yield from _parted(profile, alone, lost, "the lanes that skip it wait for the others")


def _parted(
    profile: Profile, parted: list[tuple[Place, Counts]], lost: float, wait: str
) -> Iterator[Advice]:
    if parted:
        both = Counts()
        for _, counts in parted:
            both.merge(counts)
        lanes = profile.total.ratio("lanes_per_step") or float(WARP)
        yield Advice(
            lost,
            tuple(place for place, _ in parted),
            (
                f"the lanes of a warp diverge at {both['divergent_branches']:,} of "
                f"{many(both['branches'], 'branch', 'branches')}, and {wait}: {plain(lanes)} of "
                f"{WARP} lanes are active per statement of this kernel"
            ),
            "Let the threads of a warp take the same branch.",
        )


def _lines(profile: Profile, places: tuple[Place, ...]) -> str:
    """Name lines in front of a fact, and the function of those that are in another file."""
    if not places:
        return ""
    names = [
        str(place.line) if place.file == profile.file else f"{place.line}{_of(profile, place)}"
        for place in places
    ]
    if len(names) == 1:
        return f"Line {names[0]}: "
    return f"Lines {', '.join(names[:-1])} and {names[-1]}: "


def _of(profile: Profile, place: Place) -> str:
    found = [
        each.name
        for each in profile.called
        if place.file == each.file and any(place.line == number for number, _ in each.lines)
    ]
    return f" of `{found[0]}`" if found else ""


def _launch(profile: Profile) -> Iterator[Advice]:
    threads = math.prod(profile.block)
    empty = -threads % WARP
    if empty >= _EMPTY_LANES * (threads + empty):
        yield Advice(
            math.inf,
            (),
            (
                f"Blocks of {many(threads, 'thread')} leave {empty} of the {WARP} lanes of their "
                "last warp idle"
            ),
            f"Use a multiple of {WARP} threads per block.",
        )


def _doubles(profile: Profile) -> Iterator[Advice]:
    total = profile.total
    lines = tuple(place for place, counts in profile.lines.items() if counts["flops_float64"])
    gpu = gpus.find(_REFERENCE)
    if lines and total["flops_float32"] and gpu.float32 and gpu.float64:
        slower = gpu.float32 / gpu.float64
        yield Advice(
            total["flops_float64"] / WARP,
            lines,
            (
                f"{many(total['flops_float64'], 'float64 operation')}; a "
                f"{gpu.name} computes float64 {slower:.0f} times more slowly than float32"
            ),
            "Write constants as np.float32(...) if float32 is precise enough.",
        )


def _bound(counts: Counts) -> Iterator[str]:
    """Say whether the launch is memory-bound or compute-bound."""
    gpu = gpus.find(_REFERENCE)
    intensity = counts.ratio("intensity")
    if not intensity or gpu.ridge is None:
        return
    if intensity < gpu.ridge:
        yield (
            f"{operations(intensity)} operations per byte, below the {operations(gpu.ridge)} of a "
            f"{gpu.name}'s ridge point: unless caches help, the kernel is memory-bound. "
            "Move fewer bytes, or reuse each more often."
        )
    else:
        yield (
            f"{operations(intensity)} operations per byte, above the {operations(gpu.ridge)} of a "
            f"{gpu.name}'s ridge point: the kernel is compute-bound."
        )
