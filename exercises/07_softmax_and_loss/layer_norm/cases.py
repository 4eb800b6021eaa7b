"""Cases of the layer norm: ragged rows and columns, constant rows, rows far from 0."""

import numpy as np

from gpukit.course import Case, lanes, poison

BLOCK = 128
EPS = float(np.float32(1e-5))
FAR = 2.0**15  # its square, and that of its neighbours, keeps no units in float32
# Rows and columns, and whether the rows lie far from 0.
SHAPES = {name: (*shape, 0) for name, shape in lanes.SHAPES.items()} | {
    "one column less, far from 0": (5, 31, 1),
    "far from 0": (5, 128, 1),
}


def numbers(rng: np.random.Generator, rows: int, cols: int, far: bool) -> np.ndarray:
    """Return rows of pairs, as far above a centre as below, which float32 adds up exactly."""
    spread, centre = np.resize([1, 0, 0.1, 3], rows), np.resize([0.5, 0.5, -0.25, 2], rows)
    above = np.round(1024 * rng.normal(0, spread[:, None], (rows, cols // 2))) / 1024
    if far:
        above, centre = np.sign(above + 1e-9), np.full(rows, FAR)
    distances = np.concatenate([above, -above, np.zeros((rows, cols % 2))], axis=1)
    return (rng.permuted(distances, axis=1) + centre[:, None]).astype(np.float32)


def case(rng: np.random.Generator, rows: int, cols: int, far: int) -> Case:
    """Return the case of rows x cols numbers."""
    x = numbers(rng, rows, cols, bool(far))
    gain, shift = rng.normal(1, 0.5, (2, cols)).astype(np.float32)
    wide, times, plus = (a.astype(np.float64) for a in (x, gain, shift))
    mean = wide.mean(axis=1, keepdims=True)
    distance = wide - mean
    variance = (distance**2).mean(axis=1, keepdims=True)
    root = np.sqrt(variance + EPS)
    lane, column = np.arange(cols) % lanes.WARP, np.arange(cols)
    own_mean = (lanes.own(wide, np.add, 0) / cols)[:, lane]
    down_mean = (lanes.shuffled_down(lanes.own(wide, np.add, 0), np.add) / cols)[:, lane]
    down_variance = (
        lanes.shuffled_down(lanes.own((wide - down_mean) ** 2, np.add, 0), np.add) / cols
    )[:, lane]
    own_variance = (lanes.own(distance**2, np.add, 0) / cols)[:, lane]

    def left(
        values: np.ndarray, by: np.ndarray = times, added: np.ndarray | float = plus
    ) -> dict[str, np.ndarray]:
        return {"out": (values * by + added).astype(np.float32)}

    def first(values: np.ndarray) -> dict[str, np.ndarray]:
        written = column < lanes.WARP
        return {"out": np.where(written, left(values)["out"], poison((rows, cols)))}

    part, steps = wide[:, : lanes.WARP], -(-cols // lanes.WARP)
    part_distance = part - part.sum(axis=1, keepdims=True) / cols
    part_root = np.sqrt((part_distance**2).sum(axis=1, keepdims=True) / cols + EPS)
    short = np.zeros_like(wide)
    short[:, : lanes.WARP] = part_distance / part_root
    special = {}
    if far:  # elsewhere the last bits decide what such a kernel makes
        special[
            "The variance is computed as mean(x * x) - mean * mean: far from 0 both are large, and "
            "their difference loses all digits. Add up the squared distances from the mean."
        ] = left(distance / np.sqrt(EPS))
    if cols > 1:
        sample = variance * cols / (cols - 1)
        special[
            "The variance is divided by columns - 1; it is the mean of the squared distances, "
            "divided by columns."
        ] = left(distance / np.sqrt(sample + EPS))
    return Case(
        args={"x": x, "gain": gain, "shift": shift, "out": poison((rows, cols))},
        grid=-(-rows * lanes.WARP // BLOCK),
        block=BLOCK,
        expected=left(distance / root),
        # The mean is rounded, and its error is as much as that of the numbers themselves.
        scale={
            "out": (np.abs(times) + np.abs(plus)) * ((np.abs(wide) + np.abs(mean)) / root + 1),
        },
        mistakes={
            **special,
            "EPS is added to the root; it belongs under it: sqrt(variance + EPS).": left(
                distance / (np.sqrt(variance) + EPS)
            ),
            "The root is missing: divide by sqrt(variance + EPS).": left(distance / root**2),
            "The mean is not subtracted in the last step.": left(wide / root),
            "The mean is not subtracted before the squares are added up: the variance is the mean "
            "of the squared distances.": left(
                distance / np.sqrt((wide**2).mean(axis=1, keepdims=True) + EPS)
            ),
            "The variance was not divided by the number of columns.": left(
                distance / np.sqrt(variance * cols + EPS)
            ),
            "The gain is not multiplied in: gain[k].": left(distance / root, np.ones(cols)),
            "The shift is not added: shift[k].": left(distance / root, times, 0.0),
            "gain and shift are exchanged: * gain[k] + shift[k].": left(
                distance / root, plus, times
            ),
            "The shift is multiplied by the gain, too: the gain comes first, then the shift.": left(
                distance / root, times, plus * times
            ),
            "All columns take the first gain and the first shift: gain[k], shift[k].": left(
                distance / root, times[:1], plus[:1]
            ),
            "Each lane took the mean of its own columns: the sums of the 32 lanes must be added "
            "up, by shuffles.": left(
                (wide - own_mean)
                / np.sqrt(((wide - own_mean) ** 2).mean(axis=1, keepdims=True) + EPS)
            ),
            "Each lane took the variance of its own columns: the sums of the 32 lanes must be "
            "added up, by shuffles.": left(distance / np.sqrt(own_variance + EPS)),
            "After shfl_down_sync only lane 0 holds the sum of the row, and every lane needs it: "
            "use "
            "`cuda.shfl_xor_sync`.": left((wide - down_mean) / np.sqrt(down_variance + EPS)),
            "Lanes without a column added the square of the mean: they add nothing.": left(
                distance / np.sqrt(variance + (-cols % lanes.WARP) * mean**2 / cols + EPS)
            ),
            "Only the first 32 columns were written: each lane took one and stopped.": first(
                short if steps > 1 else distance / root
            ),
        },
        per="block",
    )
