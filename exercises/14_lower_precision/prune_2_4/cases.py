"""Cases of 2:4 pruning: groups with and without ties, zeros, and both signs."""

import numpy as np

from gpukit.course import Case, poison

BLOCK = 128
# Groups of four weights.
SHAPES = {
    "exactly one block": (BLOCK // 4,),
    "one group": (1,),
    "one group less than a block": (BLOCK // 4 - 1,),
    "one group more than a block": (BLOCK // 4 + 1,),
    "a prime number of groups": (251,),
    "eight whole blocks": (2 * BLOCK,),
}
# Magnitudes that tie: all, three, two pairs, the second and third, the smallest ones, zeros.
TIES = (
    (1, 1, 1, 1),
    (1, 1, 1, 2),
    (1, 1, 1, 0.5),
    (2, 1, 2, 1),
    (1, 3, 2, 2),
    (2, 0.5, 3, 0.5),
    (0, 0, 0, 1),
    (0, 0, 0, 0),
)


def case(rng: np.random.Generator, groups: int) -> Case:
    """Return the case of `groups` groups; every second one has ties."""
    weight = rng.normal(0, 1, (groups, 4))
    tied = np.arange(groups) % 2 == 1
    drawn = np.array(TIES)[rng.integers(0, len(TIES), groups)]
    weight = np.where(tied[:, None], rng.permuted(drawn, axis=1), weight)
    weight = (weight * rng.choice([-1, 1], weight.shape)).astype(np.float32)
    weight[0] = -1.5, 0.25, -1.25, 0.5  # the largest magnitudes are below 0
    order = np.argsort(-np.abs(weight), axis=1, kind="stable")[:, :2]
    kept = np.zeros_like(weight)
    np.put_along_axis(kept, order, np.take_along_axis(weight, order, 1), 1)
    return Case(
        args={"weight": weight.reshape(-1), "out": poison(4 * groups)},
        grid=-(-4 * groups // BLOCK),
        block=BLOCK,
        expected={"out": kept.reshape(-1)},
    )
