"""Words for barriers, masks and shuffles that some threads miss."""

from __future__ import annotations

from gpukit.checked.messages.phrases import Facts, agreeing, listed, one_line, some

Words = tuple[str, str]

_BARRIER = "cuda.syncthreads()"


def barrier_divergence(facts: Facts) -> Words:
    """Some threads wait at a barrier to which others never come."""
    waiting, missing = facts.get("waiting", None), facts.get("missing", None)
    wait = "some threads wait"
    if waiting is not None:
        wait = f"{listed('thread', waiting)}{facts.block} {agreeing(waiting, 'waits', 'wait')}"
    others = "the others do"
    if missing is not None:
        others = f"{listed('thread', missing)} {agreeing(missing, 'does', 'do')}"
    message = (
        f"{wait} at {facts.quoted(_BARRIER)}{facts.here}, but {others} not reach it, so on a "
        "GPU the kernel hangs or gives wrong results"
    )
    return message, _all_reach(facts)


def _all_reach(facts: Facts) -> str:
    """Say how to let all threads reach a barrier; outside a loop it separates no iterations."""
    equally = "so that all threads of the block reach it the same number of times"
    line, inner = facts.get("outer_line", 0), facts.get("inner", 0)
    if not line:
        return (
            "let all threads of the block reach it the same number of times: outside of any `if` "
            "that only some of them enter, and of any loop that some of them run more often than "
            "others; guard loads and stores instead"
        )
    if facts.get("outer") == "loop":
        return (
            f"let all threads of the block run the loop of line {line} the same number of times, "
            "with an `if` around what only some of them have to do; or move the barrier out of it"
        )
    if inner:
        return (
            f"take the loop of line {inner}, in which the barrier must stay, out of the `if` of "
            f"line {line}, and guard each load from and store to global memory with an `if` "
            f"instead, {equally}"
        )
    return f"move the barrier out of the `if` of line {line}, {equally}"


def barrier_after_return(facts: Facts) -> Words:
    """A barrier that some threads cannot reach, because they have returned."""
    waiting, missing = facts.get("waiting", None), facts.get("missing", None)
    gone = "some threads"
    if missing is not None:
        gone = f"{listed('thread', missing)}{facts.block}"
    wait = "" if waiting is None else f", where {listed('thread', waiting)} "
    wait += agreeing(waiting, "waits", "wait") if wait else ""
    message = f"{gone} returned before {facts.quoted(_BARRIER)}{facts.here}{wait}"
    return f"{message}, and CUDA does not guarantee that the barrier still works", (
        "remove the early `return` and guard each load from and store to global memory with an "
        "`if` instead, so that all threads of the block load their part and reach the barrier"
    )


def endless_wait(facts: Facts) -> Words:
    """A loop that waits for what no other thread can do; `limit` is how many iterations it ran."""
    limit = facts.get("limit", None)
    iterations = f"{int(limit):,} iterations" if limit else "many iterations"
    message = (
        f"{facts.who} waits{facts.here} for another thread, and after {iterations} nothing has "
        "changed"
    )
    return message, (
        "release a lock inside the loop that takes it (`if cuda.atomic.cas(...) == 0:` ... "
        "`cuda.atomic.exch(...)`), do not wait for a block with a higher index, and "
        "read a flag with an atomic: checked mode runs blocks one after the other and the threads "
        "of a block in lockstep, as a GPU may do"
    )


def spin_lock(facts: Facts) -> Words:
    """A lock that several lanes of a warp take by themselves, and hold after the loop."""
    message = (
        f"several threads of one warp wait in {facts.quoted('a loop')}{facts.here} for a lock that "
        "one of them releases after the loop: GPUs with independent thread scheduling (compute "
        "capability 7.0 and later) let that thread continue, on older ones the warp may deadlock"
    )
    return message, (
        "let one thread per warp or block take the lock, or do the work and release the lock in "
        "the loop that takes it, `if cuda.atomic.cas(...) == 0:`; an atomic on the data itself is "
        "faster than a lock"
    )


def _mask(facts: Facts) -> str:
    mask = facts.get("mask", None)
    if mask is None:
        return "its mask"
    return f"mask {mask}" if isinstance(mask, str) else f"mask 0x{int(mask) & 0xFFFFFFFF:08x}"


def warp_mask(facts: Facts) -> Words:
    """A mask that names lanes which do not call, or not the caller. `reason` tells which."""
    lanes = facts.get("lanes", facts.get("missing", None))
    call = f"{facts.who} calls {facts.quoted('a warp function')}{facts.here} with {_mask(facts)}"
    if "caller" in str(facts.get("reason")):
        own = "" if lanes is None else f", {listed('lane', lanes)}"
        return f"{call}, which does not include the caller itself{own}", (
            "pass a mask that includes every lane that makes the call; "
            "`cuda.ballot_sync(0xffffffff, condition)` before the `if` returns it"
        )
    absent = "some lanes of the mask do"
    if lanes is not None:
        absent = f"{listed('lane', lanes)} {agreeing(lanes, 'does', 'do')}"
    around = facts.get("skipped", "`if` or loop")
    return f"{call}, but {absent} not take part in the call", (
        f"move the call out of the {around}, so that all lanes of the mask make it the same number "
        "of times"
    )


def shuffle_source(facts: Facts) -> Words:
    """A shuffle that takes a value from a lane which gives none."""
    lanes = facts.get("lanes", None)
    source = "a lane" if lanes is None else listed("lane", lanes)
    message = (
        f"{facts.who} reads a value from {source} with {facts.quoted('a shuffle')}{facts.here}, "
        "but that lane does not take part in the call, so the value is undefined"
    )
    return message, (
        "let every source lane make the call: shuffle outside the `if`, and decide afterwards "
        "what to do with the value"
    )


def cooperative_misuse(facts: Facts) -> Words:
    """A barrier of the whole grid that cannot work, for one of three reasons."""
    call = f"{facts.quoted('grid.sync()')}{facts.here}"
    if facts.has("limit"):
        return _too_many_blocks(facts, call)
    if facts.has("missing"):
        missing = facts.get("missing")
        noun = "thread" if facts.block else "block"
        message = (
            f"{listed(noun, missing)}{facts.block} {agreeing(missing, 'does', 'do')} not reach "
            f"{call}, where the others wait forever"
        )
        return message, "move it where all threads of all blocks reach it the same number of times"
    reason = one_line(facts.get("reason", "not all threads of the grid can reach it"))
    return f"{call} cannot work: {reason}", (
        "let all threads of all blocks reach it, in a grid that fits on the GPU at once"
    )


def _too_many_blocks(facts: Facts, call: str) -> Words:
    limit = facts.get("limit")
    asked = f"of the {facts.get('given')} blocks" if facts.has("given") else "of the blocks"
    message = (
        f"only {limit} {asked} fit on a GPU at once, but {call} needs all of them to be resident"
    )
    return message, (
        f"launch at most {some(limit, 'block')} and let each thread process several elements in a "
        "grid-stride loop"
    )
