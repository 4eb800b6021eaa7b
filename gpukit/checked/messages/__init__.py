"""What a finding says: one sentence that a first-year student understands, and what to do.

`describe(kind, details)` makes both. All details are optional; unknown ones are left alone:

    array, index, shape, space   the array's name; the element; "shared", "global" or "local"
    line, other_line             the line that was caught, and that of the earlier access
    threads, blocks              triples (x, y, z): who was caught, then whom it collided with
    hazard                       "write-write", "read-write", "write-read", the earlier access
                                 first; for a single access "read" or "write"
    same_warp                    both threads are of one warp
    elsewhere                    the earlier thread is of another block, and no more is known of it
    block_count                  how many blocks the launch has
    other_what, source           the text of the earlier access; the line that was caught
    atomic                       for atomic-race: whether the access that was caught is atomic
    old                          of a race with an atomic: the variable with what was read plainly,
                                 which is passed to the atomic
    mixed                        of a race in which one access is atomic: "other" where it is the
                                 earlier one, else "caught"
    of_thread, several_axes      out-of-bounds: the index is the thread's own number; threads or
                                 blocks lie along more than one axis
    least_size                   out-of-bounds: the smallest size that the index went beyond, of
                                 all arrays that it is used for, as in "c.shape[1]"
    bound_kind, bound_text,      what bounds the index already (`bounds.Bound`) and its line
    bound_line
    parts                        whether threads leave the loop around both at different times
    waiting, missing             threads as text, such as "0-15"
    what                         text of the call, access or expression, as in the source
    outer, outer_line, inner     barrier-divergence: what around the barrier some threads skip, "if"
                                 or "loop", its line, and that of a loop inside it
    skipped                      warp-mask: what around the call some threads skip, and its line
    mask, lanes                  of a warp function: the mask as a number; the lanes that are
                                 missing, or for shuffle-source the lane that is read from
    reason                       float64: "literal", "chosen", ...; warp-mask: "caller"
                                 where the caller is not in its own mask; block-order: how the
                                 blocks ran ("in reverse"); else a clause, put in as it is
                                 lost-value: whose it is, "number", "array" or "function"
                                 no-effect: "equality" where `=` may be meant
    severity                     that of the finding
    variable                     `array` is the name of a variable, not of an array
    unused                       nothing is done with a value that was never written
    causes, kinds                float64: what makes it so, as it is written, and its types
    given, limit                 what was asked for, and what there is
    size                         misaligned: bytes of the access
    written, elements,           never-written: how many elements the kernel wrote, of how many,
    first_unwritten              and the first that it left
    idle, total                  idle-threads: blocks in which no thread touched memory, of all
    count, elements              block-order: how many elements differ, of how many
    call, other_call             stream-race, host-race: the operations in words, as in "the copy to
                                 the host"; the earlier one is the other one
    use, other_use               what each does: "read", "write", "both", "atomic"; of the host also
                                 "free", "unlock" at the end of `with cuda.pinned(...)`, and
                                 "change" where only the changed bytes are known
    stream, other_stream         the names of their streams; with `_number` their numbers, 0 for
                                 the default stream
    other_file                   the file of the earlier operation, if it is another one
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from gpukit.checked.messages import launch, memory, mistakes, ordering, race, sync
from gpukit.checked.messages.phrases import Facts, sentence

_DESCRIBERS: dict[str, Callable[[Facts], tuple[str, str]]] = {
    "out-of-bounds": memory.out_of_bounds,
    "misaligned": memory.misaligned,
    "negative-index": memory.negative_index,
    "shared-race": race.shared_race,
    "global-race": race.global_race,
    "atomic-race": race.atomic_race,
    "warp-race": race.warp_race,
    "same-value-race": race.same_value_race,
    "uninitialised-shared": memory.uninitialised_shared,
    "uninitialised-local": memory.uninitialised_local,
    "uninitialised-global": memory.uninitialised_global,
    "never-written": memory.never_written,
    "barrier-divergence": sync.barrier_divergence,
    "barrier-after-return": sync.barrier_after_return,
    "endless-wait": sync.endless_wait,
    "spin-lock": sync.spin_lock,
    "warp-mask": sync.warp_mask,
    "shuffle-source": sync.shuffle_source,
    "cooperative-misuse": sync.cooperative_misuse,
    "stream-race": ordering.stream_race,
    "host-race": ordering.host_race,
    "returned-local": launch.returned_local,
    "launch-refused": launch.launch_refused,
    "raised": launch.raised,
    "idle-threads": launch.idle_threads,
    "block-order": launch.block_order,
    "not-reproducible": launch.not_reproducible,
    "int32-overflow": launch.int32_overflow,
    "float64": launch.float64,
    "lost-value": mistakes.lost_value,
    "no-effect": mistakes.no_effect,
    "zero-division": mistakes.zero_division,
    "stale-constant": mistakes.stale_constant,
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
