"""Cases of the guarded map: lengths on both sides of a block, and none at all."""

import numpy as np

from gpukit.course import Case, lengths, poison

BLOCK = 128
SHAPES = lengths(BLOCK)
# Absolute zero, where the scales meet, what freezes and boils, and the surface of the sun.
AWKWARD = np.array([-273.15, 0, -40, 100, 5500], np.float32)


def case(rng: np.random.Generator, n: int) -> Case:
    """Return the case of n temperatures."""
    celsius = rng.uniform(-90, 60, n).astype(np.float32)
    celsius[1 : 1 + AWKWARD.size] = AWKWARD[: max(0, n - 1)]
    wide = celsius.astype(np.float64)
    short = celsius.astype(np.float16).astype(np.float64)

    def left(values: np.ndarray) -> dict[str, np.ndarray]:
        return {"fahrenheit": values.astype(np.float32)}

    return Case(
        args={"celsius": celsius, "fahrenheit": poison(n)},
        grid=max(1, -(-n // BLOCK)),
        block=BLOCK,
        expected=left(wide * 1.8 + 32),
        scale={"fahrenheit": np.abs(celsius) * np.float32(1.8) + 32},
        mistakes={
            "This is celsius * (1.8 + 32): multiply by 1.8 first, then add 32.": left(wide * 33.8),
            "This is (celsius + 32) * 1.8: multiply by 1.8 first, then add 32.": left(
                (wide + 32) * 1.8
            ),
            "This is (celsius - 32) / 1.8, the way from Fahrenheit to Celsius. Here it is "
            "celsius * 1.8 + 32.": left((wide - 32) / 1.8),
            "The factor is 1 here: 9 // 5 is 1, and so is int(1.8). It is 1.8.": left(wide + 32),
            "The factor is 2 here, and it is 1.8.": left(wide * 2 + 32),
            "32 is not added: it is celsius * 1.8 + 32.": left(wide * 1.8),
            "The temperatures lost their fractions: int(...) or // cuts them off.": left(
                np.trunc(wide) * 1.8 + 32
            ),
            "The temperatures pass through float16, which holds three digits: use float32.": left(
                short * 1.8 + 32
            ),
            "No element was ever stored: no thread passes the guard, or none stores to "
            "fahrenheit[i].": {"fahrenheit": poison(n)},
        },
    )
