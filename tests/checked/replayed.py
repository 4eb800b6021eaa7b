"""The expected state of the player at a position, replayed from the start each time."""

from __future__ import annotations

from typing import Any

ABSENT, READY, ACTIVE, WAITING, RETURNED, GRID_WAITING, WARP_WAITING = range(7)
AFTER = {
    "barrier": WAITING,
    "grid_sync": GRID_WAITING,
    "syncwarp": WARP_WAITING,
    "return": RETURNED,
}


def state_at(recording: dict[str, Any], position: int) -> dict[str, Any]:
    """Return the player's snapshot at a position, computed from the recording alone."""
    arrays = [
        {
            "values": list(array["before"]),
            "written": [0] * len(array["before"]),
            "read": [0] * len(array["before"]),
        }
        for array in recording["arrays"]
    ]
    warps = _warps_at_start(recording)
    for number, step in enumerate(recording["steps"][:position], 1):
        for array, index, _, _ in step["reads"]:
            arrays[array]["read"][index] = number
        for array, index, _, value, _ in step["writes"]:
            arrays[array]["values"][index] = value
            arrays[array]["written"][index] = number
        _take_step(warps, step, number)
    return {"position": position, "arrays": arrays, "warps": list(warps.values())}


def _warps_at_start(recording: dict[str, Any]) -> dict[tuple[int, int], dict[str, Any]]:
    size, threads = recording["warp_size"], 1
    for extent in recording["block"]:
        threads *= extent
    blocks = list(dict.fromkeys(step["block"] for step in recording["steps"]))
    return {
        (block, warp): {
            "block": block,
            "warp": warp,
            "lanes": [READY if warp * size + lane < threads else ABSENT for lane in range(size)],
            "registers": {name: [None] * size for name in recording["variables"]},
            "line": 0,
            "position": 0,
        }
        for block in blocks
        for warp in range(-(-threads // size))
    }


def _take_step(warps: dict[tuple[int, int], Any], step: dict[str, Any], number: int) -> None:
    warp = warps[step["block"], step["warp"]]
    taking_part = {lane for lane in range(len(warp["lanes"])) if step["lanes"] >> lane & 1}
    before = {warp["lanes"][lane] for lane in taking_part}
    for other in warps.values():
        opened = {GRID_WAITING} & before
        if other["block"] == step["block"]:
            opened |= {WAITING} & before
        other["lanes"] = [READY if state in opened else state for state in other["lanes"]]
    for lane, state in enumerate(warp["lanes"]):
        if lane in taking_part:
            warp["lanes"][lane] = AFTER.get(step["kind"], ACTIVE)
        elif state in {ACTIVE, WARP_WAITING}:
            warp["lanes"][lane] = READY
    warp["line"], warp["position"] = step["line"], number
    for name, values in step["set"].items():
        for lane, value in values.items():
            warp["registers"][name][int(lane)] = value
