"""Parameters of the ranks before the first update, after each one, and at the end."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from gpukit.checked.messages.phrases import some
from gpukit.parallel.checker import cases, memory, results
from gpukit.parallel.checker.findings import Finding, make, ranks_in_words
from gpukit.parallel.checker.memory import Host, Slot

if TYPE_CHECKING:
    from gpukit.parallel.checker.comparison import Pairing

SEED = (
    "Initialize with the same seed on all ranks, or copy the parameters of rank 0 before the first "
    "update: `parameters.synchronise(lambda name, array: world.broadcast(array, name=name))`."
)


def _state(pairing: Pairing, slot: Slot, rank: int, step: int, when: str) -> Host | None:
    """Return a parameter before or after an update of a rank."""
    made = cases.history(pairing.traces[rank], slot.model)
    flat = getattr(made[step], when) if step < len(made) else None
    return None if flat is None else slot.of(flat)


def copies(pairing: Pairing) -> list[tuple[str, dict[int, Slot]]]:
    """Return the parameters that several ranks hold copies of."""
    return [(n, s) for n, s in pairing.slots.items() if pairing.axis[n] is None and len(s) > 1]


def apart(states: dict[int, Host]) -> tuple[int, list[int], float] | None:
    """Return a rank, those that differ from most others, and by how much at most."""
    groups: dict[bytes, list[int]] = {}
    for rank, state in states.items():
        groups.setdefault(state.tobytes(), []).append(rank)
    if len(groups) == 1:
        return None
    most = max(groups.values(), key=len)
    others = [rank for rank in states if rank not in most]
    gaps = [np.abs(states[rank] - states[most[0]]).max() for rank in others]
    return most[0], others, float(max(gaps))


def differs(states: dict[int, Host]) -> str:
    """Return in words how copies differ."""
    found = apart(states)
    assert found is not None
    first, others, gap = found
    return f"{ranks_in_words(others)} from rank {first}, by up to {gap:.3g}"


# --- Before the first update ---------------------------------------------------------------------


def start(pairing: Pairing) -> list[Finding]:
    """Return the parameters that differ between ranks before the first update."""
    found = []
    for name, slots in copies(pairing):
        states = {r: _state(pairing, slot, r, 0, "before") for r, slot in slots.items()}
        known = {rank: state for rank, state in states.items() if state is not None}
        if len(known) < len(states) or apart(known) is None:
            continue
        made = [pairing.traces[r].updates[slot.model] for r, slot in slots.items()]
        if not all(made):
            continue  # these are the values at the end
        place = made[0][0].place
        found.append(
            make(
                "different-start",
                f"`{name}` differs between ranks before the first update: {differs(known)}.",
                f"{SEED} Where ranks hold different layers, return a mapping from the names that "
                "the parameters have in one process to each rank's own.",
                place,
                parameters=(name,),
                ranks=tuple(slots),
                step=1,
            )
        )
    return found


def same_start(pairing: Pairing) -> bool:
    """Return whether one process starts from the parameters of the ranks."""
    if pairing.alone is None:
        return True
    for name, slot in pairing.own.items():
        alone = cases.history(pairing.alone, slot.model)
        states = [_state(pairing, mine, r, 0, "before") for r, mine in pairing.slots[name].items()]
        axis = pairing.axis[name]
        if not alone or alone[0].before is None or any(state is None for state in states):
            continue
        known = [state for state in states if state is not None]
        whole = known[0] if axis is None else np.concatenate(known, axis=axis)
        if not memory.same_bits(whole, slot.of(alone[0].before)):
            return False
    return True


# --- After an update -----------------------------------------------------------------------------


def after(pairing: Pairing, step: int) -> list[Finding]:
    """Return the parameters that differ after an update whose gradients were right."""
    found = [*_drifted(pairing, step, "after"), *_drifted(pairing, step + 1, "before")]
    return found or _updated(pairing, step)


def _drifted(pairing: Pairing, step: int, when: str) -> list[Finding]:
    found = []
    for name, slots in copies(pairing):
        states = {r: _state(pairing, slot, r, step, when) for r, slot in slots.items()}
        known = {rank: state for rank, state in states.items() if state is not None}
        if len(known) < len(states) or apart(known) is None:
            continue
        place = cases.history(pairing.traces[min(slots)], slots[min(slots)].model)[step].place
        done = f"update {step + 1}" if when == "after" else f"update {step}, before the next one"
        reason = (
            "their gradients and parameters were the same before it, so that the learning rate or "
            "the state of the optimizer differs"
            if when == "after"
            else "something else than the optimizer has changed them"
        )
        found.append(
            make(
                "drift",
                f"`{name}` has drifted apart since {done}: {differs(known)}; {reason}.",
                "Give all ranks the same optimizer and schedule, and change parameters on all of "
                "them alike.",
                place if place.line else None,
                parameters=(name,),
                ranks=tuple(slots),
                step=step + 1,
            )
        )
    return found


def _updated(pairing: Pairing, step: int) -> list[Finding]:
    """Return the parameters whose change in an update is not that of one process."""
    if pairing.alone is None:
        return []
    for name, own in pairing.own.items():
        alone = cases.history(pairing.alone, own.model)
        slots, axis = pairing.slots[name], pairing.axis[name]
        before = [_state(pairing, slot, r, step, "before") for r, slot in slots.items()]
        later = [_state(pairing, slot, r, step, "after") for r, slot in slots.items()]
        if step >= len(alone) or alone[step].after is None:
            continue
        pairs = zip(before, later, strict=True)
        changes = [b - a for a, b in pairs if a is not None and b is not None]
        if len(changes) < len(slots):
            continue
        change = changes[0] if axis is None else np.concatenate(changes, axis=axis)
        expected = own.of(np.asarray(alone[step].after)) - own.of(np.asarray(alone[step].before))
        scale = float(np.abs(expected).max(initial=0))
        # Adam divides by gradients that may be tiny: single elements differ by more.
        if np.abs(change - expected).mean() <= 0.01 * scale:
            continue
        c = memory.factor(change, expected)
        alike = memory.close(change, c * expected, scale, 0.01)
        place = cases.history(pairing.traces[min(slots)], slots[min(slots)].model)[step].place
        return [
            make(
                "different-update",
                f"Update {step + 1} changes `{name}` "
                + (f"{c:.3g} times as much as" if alike else "otherwise than")
                + " one process does, although the gradient is the same.",
                "Look at the learning rate: with the batch of one process, several ranks need its "
                "learning rate too. Scale it by the number of ranks only where the batch grows "
                "with them.",
                place,
                parameters=(name,),
                ranks=tuple(slots),
                step=step + 1,
            )
        ]
    return []


def at_end(pairing: Pairing) -> list[Finding]:
    """Return different numbers of updates, and what differs at the end."""
    counts = {
        trace.rank: max(map(len, trace.updates.values()), default=0) for trace in pairing.traces
    }
    shared = copies(pairing)
    if shared and len({counts[rank] for rank in shared[0][1]}) > 1:
        words = ", ".join(f"rank {rank} {count}" for rank, count in counts.items())
        longest = max(pairing.traces, key=lambda trace: counts[trace.rank])
        last = next(iter(longest.updates.values()))[-1]
        return [
            make(
                "different-steps",
                f"The ranks make different numbers of updates: {words}. Their parameters differ "
                "since then.",
                "Make the update on all ranks or on none of them.",
                last.place,
                ranks=tuple(counts),
                step=min(counts.values()) + 1,
            )
        ]
    found = []
    for name, slots in shared:
        ends = {
            rank: slot.of(np.asarray(pairing.traces[rank].ends[slot.model].after))
            for rank, slot in slots.items()
        }
        if apart(ends) is not None:
            found.append(
                make(
                    "drift",
                    f"`{name}` differs between ranks at the end, after "
                    f"{some(max(counts.values()), 'update')}: {differs(ends)}.",
                    "Update all ranks with the same gradients, those of all examples. " + SEED,
                    parameters=(name,),
                    ranks=tuple(slots),
                    step=max(counts.values()) + 1,
                )
            )
    return found or results.find(pairing)
