"""Cases of the sums of warps: full blocks, ragged blocks, one element and none."""

import numpy as np

from gpukit.course import Case, lengths, poison

BLOCK = 128
SHAPES = lengths(BLOCK)


def by_warp(x: np.ndarray, warps: int) -> np.ndarray:
    """Return the elements of each warp in float64, with 0 past the end."""
    padded = np.zeros(warps * 32)
    padded[: len(x)] = x
    return padded.reshape(warps, 32)


def shuffled(rows: np.ndarray, steps: range) -> np.ndarray:
    """Return what lane 0 holds after shuffles down by these steps."""
    held = rows.copy()
    for step in steps:
        other = held.copy()  # a lane that has no other to take from gets its own value
        other[:, :-step] = held[:, step:]
        held = held + other
    return np.asarray(held[:, 0])


def case(rng: np.random.Generator, n: int) -> Case:
    """Return the case of n elements."""
    x = rng.normal(0.25, 1, n).astype(np.float32)
    blocks = max(1, -(-n // BLOCK))
    warps = blocks * BLOCK // 32
    rows = by_warp(x, warps)
    lane = np.arange(32)

    def sums(values: np.ndarray) -> dict[str, np.ndarray]:
        return {"partials": values.astype(np.float32)}

    there = np.arange(warps * 32).reshape(warps, 32) < n
    right = sums(rows.sum(axis=1))
    return Case(
        args={"x": x, "partials": poison(warps)},
        grid=blocks,
        block=BLOCK,
        expected=right,
        scale={"partials": np.abs(rows).sum(axis=1)},
        mistakes={
            "Only the first 16 elements of each warp were added: the step of 16 is missing.": sums(
                rows[:, :16].sum(axis=1)
            ),
            "Only every second element was added: the step of 1 is missing.": sums(
                rows[:, ::2].sum(axis=1)
            ),
            **{
                f"Some elements of each warp were left out: the step of {step} is missing.": sums(
                    rows[:, lane & step == 0].sum(axis=1)
                )
                for step in (2, 4, 8)
            },
            "Twice the sum of every second element: the step of 32 leads out of the warp, so each "
            "lane got its own value. The steps are 16, 8, 4, 2 and 1.": sums(
                2 * rows[:, ::2].sum(axis=1)
            ),
            "Twice the right sum: the step of 32 leads out of the warp, so each lane got its own "
            "value. The steps are 16, 8, 4, 2 and 1.": sums(2 * rows.sum(axis=1)),
            "This is 32 times the first element of each warp: lane 0 has no lane below it to "
            "hand it anything. Shuffle down, with cuda.shfl_down_sync.": sums(32 * rows[:, 0]),
            "This is 32 times the last element of each warp: what lane 31 holds was stored. After "
            "shuffles down the sum is in lane 0, so lane 0 alone stores.": sums(32 * rows[:, 31]),
            "This is the last element of each warp: value = shuffled only moves the values; add "
            "them with +=.": sums(rows[:, 31]),
            "This is the first element of each warp: nothing was added to it.": sums(rows[:, 0]),
            "The last element of each warp is missing: its lanes are 0 to 31, so a loop over all "
            "of them is range(32).": sums(rows[:, :31].sum(axis=1)),
            "Threads behind the end took the last element again: they add 0.": (
                sums(np.where(there, rows, x[-1:]).sum(axis=1)) if n else {}
            ),
            "Warps without an element stored nothing: their sum is 0, and somebody has to write "
            "it.": {"partials": np.where(there[:, 0], right["partials"], poison(warps))},
            "The steps of the shuffles are 1, 2, 3, 4 and 5: each must be twice the one before.": (
                sums(shuffled(rows, range(1, 6)))
            ),
            "The fractions are lost: somewhere the values pass through whole numbers.": sums(
                np.trunc(rows).sum(axis=1)
            ),
            "Only the first warp of each block stored its sum: cuda.threadIdx.x is 0 in one thread "
            "of a block; lane 0 of each warp is asked.": {
                "partials": np.where(
                    np.arange(warps) % (BLOCK // 32), poison(warps), right["partials"]
                )
            },
            "Only as many sums as there are blocks were written: partials has one place for each "
            "warp, i // 32, not cuda.blockIdx.x.": {
                "partials": np.where(
                    np.arange(warps) < blocks,
                    np.resize(right["partials"].reshape(blocks, -1)[:, -1], warps),
                    poison(warps),
                )
            },
            "Each block wrote over the same four places: the warp's place is i // 32 with i = "
            "cuda.grid(1), not cuda.threadIdx.x // 32.": {
                "partials": np.where(
                    np.arange(warps) < 4,
                    np.resize(right["partials"][-4:], warps),
                    poison(warps),
                )
            },
        },
        per="block",
    )
