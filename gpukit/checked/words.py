"""What a finding says: one sentence that a first-year student understands, and what to do.

`describe(kind, details)` makes both. All details are optional; unknown ones are left alone:

    array, index, shape, space   the array's name; the element; "shared", "global" or "local"
    line, other_line             the line that was caught, and that of the earlier access
    threads, blocks              triples (x, y, z): who was caught, then whom it collided with
    hazard                       "write-write", "read-write", "write-read", the earlier access
                                 first; for a single access "read" or "write"
    same_warp                    both threads are of one warp
    atomic                       for atomic-race: whether the access that was caught is atomic
    waiting, missing             threads as text, such as "0-15"
    what                         text of the call, access or expression, as in the source
    mask, lanes                  of a warp function: the mask as a number; the lanes that are
                                 missing, or for shuffle-source the lane that is read from
    reason                       float64: "literal", "division" or "math"; warp-mask: "caller"
                                 where the caller is not in its own mask; block-order: how the
                                 blocks ran ("in reverse"); else a clause, put in as it is
    given, limit                 what was asked for, and what there is
    size                         misaligned: bytes of the access
    written, elements,           never-written: how many elements the kernel wrote, of how many,
    first_unwritten              and the first that it left
    idle, total                  idle-threads: blocks in which no thread touched memory, of all
    count, elements              block-order: how many elements differ, of how many
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from gpukit.checked import words_launch, words_memory, words_race, words_sync
from gpukit.checked.words_parts import Facts, sentence

_DESCRIBERS: dict[str, Callable[[Facts], tuple[str, str]]] = {
    "out-of-bounds": words_memory.out_of_bounds,
    "misaligned": words_memory.misaligned,
    "negative-index": words_memory.negative_index,
    "shared-race": words_race.shared_race,
    "global-race": words_race.global_race,
    "atomic-race": words_race.atomic_race,
    "warp-race": words_race.warp_race,
    "same-value-race": words_race.same_value_race,
    "uninitialised-shared": words_memory.uninitialised_shared,
    "uninitialised-local": words_memory.uninitialised_local,
    "uninitialised-global": words_memory.uninitialised_global,
    "never-written": words_memory.never_written,
    "barrier-divergence": words_sync.barrier_divergence,
    "barrier-after-return": words_sync.barrier_after_return,
    "warp-mask": words_sync.warp_mask,
    "shuffle-source": words_sync.shuffle_source,
    "cooperative-misuse": words_sync.cooperative_misuse,
    "launch-refused": words_launch.launch_refused,
    "raised": words_launch.raised,
    "idle-threads": words_launch.idle_threads,
    "block-order": words_launch.block_order,
    "int32-overflow": words_launch.int32_overflow,
    "float64": words_launch.float64,
}


def describe(kind: str, details: Mapping[str, Any]) -> tuple[str, str]:
    """Return the sentence about a finding, and what to do about it.

    >>> message, fix = describe("shared-race", {
    ...     "array": "tile", "index": (4,), "hazard": "write-read", "other_line": 12, "line": 15,
    ...     "threads": ((3, 0, 0), (4, 0, 0)), "blocks": ((0, 0, 0), (0, 0, 0)),
    ... })
    >>> message
    'Thread 4 of block 0 writes tile[4] in line 12 and thread 3 of the same block reads it in
    line 15, with no barrier in between, so the value read may be the old or the new one.'
    >>> fix
    'put `cuda.syncthreads()` between line 12 and line 15, where all threads of the block reach it'
    """
    message, fix = _DESCRIBERS[kind](Facts(details))
    return sentence(message), fix
