"""Cases of softplus: lengths on both sides of a block, and none at all."""

import numpy as np

from gpukit.course import Case, lengths, poison

BLOCK = 128
SHAPES = lengths(BLOCK)
# Just above 10, where the bend is still to be seen, and as far out as finite numbers go.
AWKWARD = np.array(
    [-95, 10.2, 3e38, -3e38, 1e20, -1e20, 100, -20, -85, 0, 11, 12, -86.5], np.float32
)
# One length alone has numbers between these: there the last bits of exp decide what 1 + exp(x)
# loses, so that such a mistake cannot be computed.
MIDDLE = (-18, -2.5)


def case(rng: np.random.Generator, n: int) -> Case:
    """Return the case of n numbers, a few of them far from 0."""
    x = rng.normal(0, 3, n).astype(np.float32)
    x[::5] *= 30
    x[: AWKWARD.size] = AWKWARD[:n]
    middle = n == BLOCK + 1
    if not middle:
        x = np.where((x > MIDDLE[0]) & (x < MIDDLE[1]), -x, x)
    wide = x.astype(np.float64)
    bend = np.log1p(np.exp(-np.abs(wide)))
    right = np.logaddexp(0, wide)

    def left(values: np.ndarray) -> dict[str, np.ndarray]:
        return {"out": values.astype(np.float32)}

    lost = np.where(wide < MIDDLE[0], 0, right)
    capped = {
        f"The results are held at {most}; for large x the result is x itself.": left(
            np.minimum(right, most)
        )
        for most in (80, 88)
    }
    zeroed = {
        f"For x below -{least} the result is 0 here; it is exp(x), which a float32 can hold.": left(
            np.where(wide < -least, 0, right)
        )
        for least in (20.5, 30, 50, 80)
    }
    return Case(
        args={"x": x, "out": poison(n)},
        grid=max(1, -(-n // BLOCK)),
        block=BLOCK,
        expected=left(right),
        scale={"out": right},  # for the mistakes: some subtract
        mistakes={
            "This is log(1 + exp(-abs(x))): max(x, 0) is not added.": left(bend),
            "This is log(1 + exp(-x)): the sign of x is wrong.": left(np.logaddexp(0, -wide)),
            "Where exp(x) is small it is lost: 1 + exp(x) is 1 in float32. math.log1p(e) computes "
            "log(1 + e) without that sum.": {} if middle else left(lost),
            "Small results are lost, for 1 + exp(x) is 1 in float32, and large ones are held at "
            "88. Take exp(-abs(x)), which is 1 at most, and math.log1p.": (
                {} if middle else left(np.minimum(lost, 88))
            ),
            "x was added where it is negative too: max(x, 0) belongs there.": left(wide + bend),
            "abs(x) was added for negative x too: max(x, 0) belongs there.": left(
                np.abs(wide) + bend
            ),
            "math.log1p(e) was subtracted; it is added to max(x, 0).": left(
                np.maximum(wide, 0) - bend
            ),
            "math.log1p(1 + e) is log(2 + e): log1p adds the 1 itself, so give it e.": left(
                np.maximum(wide, 0) + np.log(2 + np.exp(-np.abs(wide)))
            ),
            "Above 10 the result is x itself, and a float32 can tell log(1 + exp(10)) = 10.00005 "
            "from 10.": left(np.where(wide > 10, wide, right)),
            "This is relu: nothing of the smooth bend is left.": left(np.maximum(wide, 0)),
        }
        | capped
        | zeroed,
    )
