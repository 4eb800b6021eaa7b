"""Words for races: who does what to which element, and what would put the two in order."""

from __future__ import annotations

import ast

from gpukit.checked.messages.phrases import ONCE, Facts, in_line, parsed, segment, within_atomic

Words = tuple[str, str]

_EFFECTS = {
    "write-write": "so either value may remain",
    "write-read": "so the value read may be the old or the new one",
    "read-write": "so the value read may be the old or the new one",
}
_ANY_EFFECT = "so the result may differ from run to run"
# What to do where several threads write to one element in one line.
_ONE_WRITER = (
    "let only one of the threads write it, give each thread an element of its own, or accumulate "
    "with `cuda.atomic.add`"
)


def _commands(facts: Facts) -> Words:
    """What the earlier access does, and what the one that was caught does."""
    early, _, late = str(facts.get("hazard")).partition("-")
    return ONCE.get(early, "accesses"), ONCE.get(late, "accesses")


def _clash(facts: Facts, early: str = "", late: str = "") -> str:
    """Both threads, both accesses and both lines; the earlier access comes first."""
    first, second = facts.pair
    does, also = _commands(facts)
    it = "it too" if does == also and not late else "it"
    one = f"{first} {does} {facts.element}{early}"
    two = f"{second} {also} {it}{late}"
    if facts.line and facts.line == facts.other_line:
        return f"in line {facts.line}, {one} and {two}"
    return f"{one}{in_line(facts.other_line)} and {two}{in_line(facts.line)}"


def _effect(facts: Facts) -> str:
    return _EFFECTS.get(str(facts.get("hazard")), _ANY_EFFECT)


def _between(facts: Facts, call: str, all_of_them: str) -> str:
    """Say where a barrier belongs; a line that comes before the earlier one is run in a loop."""
    early, late = facts.other_line, facts.line
    reach = f"where {all_of_them} reach it"
    if facts.get("parts", False):
        return (
            f"use atomics for both accesses, or let {all_of_them} run the same number of "
            f"iterations, with `{call}` between the two: threads leave this loop in different "
            "iterations"
        )
    if not early or not late:
        return f"put `{call}` between the two accesses, {reach}"
    skipped, loop = facts.get("skipped_if", 0), facts.get("loop", True)
    if skipped and loop and not facts.get("waits", False):
        return f"put `{call}` inside the loop, after the `if` of line {skipped}, {reach}"
    if not loop:
        early, late = min(early, late), max(early, late)
    if skipped and early < late:
        return (
            f"split the `if` of line {skipped}, which some threads skip: one `if` for line "
            f"{early}, then `{call}`, {reach}, then one for line {late}"
        )
    if early < late:
        return f"put `{call}` between line {early} and line {late}, {reach}"
    return (
        f"put `{call}` after line {early}, before any thread runs line {late} again "
        f"(in a loop: at the end of its body), {reach}"
    )


def _order(facts: Facts, call: str, all_of_them: str) -> str:
    """Say how to put two accesses of one block or warp in order."""
    if not facts.line or facts.line != facts.other_line:
        return _between(facts, call, all_of_them)
    if facts.update:
        return f"update it with `{facts.update}`, which is indivisible"
    if facts.get("parts", False):
        return _without_barrier(facts)
    loop = facts.get("loop", None)
    end = f"if line {facts.line} is in a loop, end the loop's body with `{call}`"
    if loop:
        end = f"if the two are of different iterations, end the loop's body with `{call}`"
    split = f"read into a variable, call `{call}`, then write"
    if facts.get("waits", False) and facts.get("hazard") != "write-write":
        return (
            "check which threads write: the barrier in the loop separates its iterations, and in "
            "one iteration no thread may write an element that another one reads. If a thread has "
            f"to read an element that another thread updates, {split}"
        )
    if facts.get("hazard") == "write-write":
        return _ONE_WRITER if loop is False else f"{_ONE_WRITER}; {end}"
    if loop is False:
        return f"write to another array, or {split}; {all_of_them} must reach the barrier"
    return f"{end}, where {all_of_them} reach it; otherwise write to another array, or {split}"


def _without_barrier(facts: Facts) -> str:
    """Say how to fix one line of a loop that threads leave at different times."""
    if facts.get("hazard") == "write-write":
        return _ONE_WRITER
    return "write to another array, or use atomics for both accesses"


def shared_race(facts: Facts) -> Words:
    """Two threads of a block, one element of shared memory, no barrier."""
    message = f"{_clash(facts)}, with no barrier in between, {_effect(facts)}"
    return message, _order(facts, "cuda.syncthreads()", "all threads of the block")


def global_race(facts: Facts) -> Words:
    """Two threads of any blocks, one element of global memory."""
    if not facts.same_block:
        message = f"{_clash(facts)}, but blocks run in any order, {_effect(facts)}"
        return message, _order_blocks(facts)
    message, fix = shared_race(facts)
    same_line = facts.line and facts.line == facts.other_line
    if same_line and facts.get("block_count", 1) > 1 and not facts.update:
        fix = f"{_order_blocks(facts)}; `cuda.syncthreads()` orders only threads of one block"
    return message, fix


def _order_blocks(facts: Facts) -> str:
    """Say how to put accesses of two blocks in order; no barrier of a block does."""
    if facts.update:
        return f"update it with `{facts.update}`, which is atomic across all blocks"
    if facts.get("hazard") == "write-write":
        return (
            f"let only one thread write each element of {facts.array}, or accumulate with "
            "`cuda.atomic.add`"
        )
    return (
        f"write to another array and leave {facts.array} unchanged, or do the second step in a "
        "second launch, or after `grid.sync()` in a cooperative launch"
    )


def atomic_race(facts: Facts) -> Words:
    """One access is atomic, the other is not. `atomic` says whether the one caught is."""
    caught = facts.get("atomic", None)
    does, also = _commands(facts)
    if caught is None:
        clash = f"{_clash(facts)}, one of them atomically and the other not"
        plain = ""
    else:
        marks = {True: " atomically", False: " non-atomically"}
        clash = _clash(facts, marks[not caught], marks[bool(caught)])
        plain = does if caught else also
    effect = "so updates may be lost" if plain == "writes" else _ANY_EFFECT
    if plain == "reads":
        effect = "so some of the updates may be missing from the value read"
    if plain == "reads" and (old := _old_value(facts)):
        return f"{clash}, {effect}", old
    if facts.same_block and facts.get("parts", False):
        return f"{clash}, {effect}", "use an atomic for both accesses"
    order = _between(facts, "cuda.syncthreads()", "all threads of the block")
    if not facts.same_block:
        order = "do one of the two in a second launch, or after `grid.sync()`"
    if plain == "reads":  # an atomic read would still miss what is added later
        return f"{clash}, {effect}", order
    if facts.line and facts.line == facts.other_line:
        return f"{clash}, {effect}", "change it only with atomics, and remove the plain write"
    return f"{clash}, {effect}", f"change it only with atomics, or {order}"


def _old_value(facts: Facts) -> str:
    """Say what to do where an element is read for its update with an atomic; "" where it is not.

    No barrier can stand between the two in one line, and none is needed.
    """
    if old := facts.get("old"):
        return (
            f"leave `{old}`, the value from before, out of the update: the atomic reads the "
            "element itself, and returns that value"
        )
    if not facts.line or facts.line != facts.other_line:
        return ""
    if ".cas(" in facts.get("source"):  # which is passed what is expected there
        return "read the element with an atomic, too: `cuda.atomic.add` of 0 returns it"
    found = within_atomic(facts.get("source"))
    if not found:
        return (
            "take out the plain read: the atomic reads the element itself, and returns the value "
            "from before its update"
        )
    call, element = found
    if call == "cuda.atomic.add":
        return (
            f"pass `{call}` only what is to be added, without `{element}`: it adds that to what "
            "is there, and returns the value from before"
        )
    return (
        f"do not pass `{element}` to `{call}`, which reads the element itself, and returns the "
        "value from before its update"
    )


def warp_race(facts: Facts) -> Words:
    """Two lanes of a warp, no syncwarp: it works only where a warp runs in lockstep."""
    if facts.has("mixed"):
        return _mixed(facts)
    message = (
        f"{_clash(facts)}, with no `cuda.syncwarp()` in between, and lanes of a warp need not "
        f"run in lockstep, {_effect(facts)}"
    )
    return message, _order(facts, "cuda.syncwarp()", "all lanes of the warp")


def _mixed(facts: Facts) -> Words:
    """One of two lanes updates with an atomic, the other reads or writes plainly."""
    reads = _commands(facts)[1 if facts.get("mixed") == "other" else 0] == "reads"
    plain = parsed(facts.get("what" if facts.get("mixed") == "other" else "other_what"))
    does = _commands(facts)[1 if facts.get("mixed") == "other" else 0]
    message = f"{_clash(facts)}, one of them atomically and the other not, {_effect(facts)}"
    if reads and (old := _old_value(facts)):
        return message, old
    if not isinstance(plain, ast.Subscript):
        return message, "use an atomic for both accesses"
    text = facts.get("what" if facts.get("mixed") == "other" else "other_what")
    index = segment(text, plain.slice)
    index = f"({index})" if isinstance(plain.slice, ast.Tuple) and index[0] != "(" else index
    place = f"{segment(text, plain.value)}, {index}"
    if does == "reads":
        return message, f"read it with an atomic too: `cuda.atomic.add({place}, 0)`"
    return message, f"write it with an atomic too: `cuda.atomic.exch({place}, value)`"


def same_value_race(facts: Facts) -> Words:
    """Several threads write the same value: harmless, as long as the values agree."""
    if facts.get("hazard") in ("read-write", "write-read"):
        return f"{_clash(facts)}, which is harmless only because all write the same value", (
            "keep the value in a variable and read that, or let one thread write it, and call "
            "`cuda.syncthreads()` before the others read it"
        )
    message = f"{_clash(facts)}, which is harmless only because both write the same value"
    first = "cuda.threadIdx.x" if facts.same_block else "cuda.grid(1)"
    return message, f"let one thread write it, for example with `if {first} == 0:`"
