"""Cases of the guarded map: lengths around the block size, and zero."""

import numpy as np

from gpukit.course import Case, lengths, poison

BLOCK = 128
SHAPES = lengths(BLOCK)
# Absolute zero, freezing, where both scales agree, boiling, and the surface of the sun.
AWKWARD = np.array([-273.15, 0, -40, 100, 5500], np.float32)


def case(rng: np.random.Generator, n: int) -> Case:
    """Return the case of n temperatures."""
    celsius = rng.uniform(-90, 60, n).astype(np.float32)
    celsius[1 : 1 + AWKWARD.size] = AWKWARD[: max(0, n - 1)]
    fahrenheit = celsius.astype(np.float64) * 1.8 + 32
    return Case(
        args={"celsius": celsius, "fahrenheit": poison(n)},
        grid=max(1, -(-n // BLOCK)),
        block=BLOCK,
        expected={"fahrenheit": fahrenheit.astype(np.float32)},
        scale={"fahrenheit": np.abs(celsius) * np.float32(1.8) + 32},
    )
