"""Advice on single accesses: requests that are scattered, repeated, in conflict or serialized."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

from gpukit.checked.profile.cells import (
    OPS,
    beside,
    degree,
    excess,
    in_turn,
    many,
    needed,
    per_request,
    plain,
    sum_of,
)

if TYPE_CHECKING:
    from gpukit.checked.profile import Access, Profile
    from gpukit.checked.profile.source import Place

# No advice below these fractions of the whole, or multiples of the ideal.
_UNCOALESCED, _MISALIGNED, _MATTERS = 1.9, 1.2, 0.05
_CONFLICT, _IN_TURN = 1.5, 4.0
_AGAIN, _MUCH = 8, 0.25

_WORDS = dict(zip(OPS, ("load from", "store to", "atomic on"), strict=True))


class Advice(NamedTuple):
    """A fact about lines and what to do, with its approximate cost, in transfers of a sector."""

    weight: float
    places: tuple[Place, ...]
    fact: str
    fix: str


def advice(profile: Profile) -> Iterator[Advice]:
    """Yield the advice on each access."""
    sectors = sum_of(profile.total, "global", "sectors")
    for access in profile.accesses:
        if access.space == "global":
            yield from _spread(access, sectors)
            yield from _again(profile, access, sectors)
        elif access.space == "shared":
            yield from _conflicts(access)
        elif access.space == "constant":
            yield from _apart(access)
        if access.op == "atomic":
            yield from _in_turn(access)


def _subject(access: Access) -> str:
    what = access.text if access.op != "atomic" else access.array
    return f"the {_WORDS[access.op]} `{what}`"


def _spread(access: Access, sectors: int) -> Iterator[Advice]:
    """Find requests that touch more sectors than their elements fill."""
    least, times = needed([access]), excess(access)
    here, requests = (sum_of(access.counts, "global", what) for what in ("sectors", "requests"))
    if times < _MISALIGNED or here - least < _MATTERS * sectors:
        return
    step = access.pattern.step if access.pattern else None
    shown, ideal = beside(here / requests, least / requests)
    fact = f"{_subject(access)} touches {shown} sectors per request where {ideal} would be enough"
    if times < _UNCOALESCED or (step == access.size and times < 2 * _UNCOALESCED):
        yield Advice(
            here - least,
            (access.place,),
            fact,
            (
                "Where warps start in the middle of a sector, align rows to 32 bytes; where their "
                "lanes are split over short rows, make blocks 32 threads wide."
            ),
        )
    else:
        apart = step is not None and abs(step) > access.size
        why = f": neighbouring threads are {abs(step or 0):,} bytes apart" if apart else ""
        yield Advice(here - least, (access.place,), fact + why, _closer(access))


def _closer(access: Access) -> str:
    if access.op == "atomic":
        return "Sort the updates, or accumulate them in shared memory first."
    if "," in access.text:
        return "Let threadIdx.x index the last axis, or stage the elements in a shared-memory tile."
    return "Let neighbouring threads access neighbouring elements."


def _again(profile: Profile, access: Access, sectors: int) -> Iterator[Advice]:
    """Find a load that moves an array repeatedly, other than to fill shared memory."""
    kept = any(
        other.place == access.place and other.space == "shared" and other.op == "store"
        for other in profile.accesses
    )
    if access.op != "load" or not access.array_bytes or kept:
        return
    moved = access.counts["global_bytes_moved"]
    times = moved / access.array_bytes
    if times >= _AGAIN and moved >= _MUCH * 32 * sectors:
        yield Advice(
            (moved - access.array_bytes) / 32,
            (access.place,),
            (
                f"{_subject(access)} moves {moved:,} bytes of an array of "
                f"{access.array_bytes:,} bytes, each about {times:.0f} times"
            ),
            "Caches may help; loading it into shared memory once per block does.",
        )


def _conflicts(access: Access) -> Iterator[Advice]:
    conflicts = sum_of(access.counts, "shared", "conflicts")
    if degree(access.counts) < _CONFLICT or access.op == "atomic":
        return
    requests = sum_of(access.counts, "shared", "requests")
    wavefronts = sum_of(access.counts, "shared", "wavefronts") / requests
    shown, ideal = beside(wavefronts, wavefronts - conflicts / requests)
    fact = (
        f"{_subject(access)} takes {per_request(shown, 'wavefront')} where {ideal} "
        f"would be enough: up to {access.worst} lanes access different words of one bank"
    )
    fix = (
        f"Pad the last axis of `{access.array}` by one element."
        if "," in access.text
        else "Use an odd stride between neighbouring lanes; 1 is best."
    )
    yield Advice(conflicts, (access.place,), fact, fix)


def _apart(access: Access) -> Iterator[Advice]:
    """Find reads of constant memory whose lanes read different addresses."""
    requests, passes = access.counts["constant_requests"], access.counts["constant_passes"]
    if passes < _CONFLICT * requests:
        return
    shown, ideal = beside(passes / requests, 1.0)
    fact = (
        f"{_subject(access)} takes {per_request(shown, 'pass', 'passes')} where {ideal} would "
        "be enough: constant memory serves one address at a time, and the lanes access up to "
        f"{access.worst} of them"
    )
    fix = f"Pass `{access.array}` to the kernel as an argument, or copy it to shared memory."
    yield Advice(passes - requests, (access.place,), fact, fix)


def _in_turn(access: Access) -> Iterator[Advice]:
    turns = in_turn(access.counts)
    if turns >= _IN_TURN:
        most = access.counts["atomic_contention"]
        where = "within a warp" if access.space == "shared" else "in shared memory per block"
        yield Advice(
            access.counts["atomic_serial"],
            (access.place,),
            (
                f"{_subject(access)} serializes {plain(turns)} lanes of a warp, which update the "
                f"same element; one element is updated {many(most, 'time')} in total"
            ),
            f"Accumulate {where}, then do one atomic.",
        )
