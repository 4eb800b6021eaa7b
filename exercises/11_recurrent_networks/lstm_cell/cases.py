"""Cases of the LSTM cell: ragged batches and layers, gates that are open, shut and in between."""

import itertools

import numpy as np

from gpukit.course import Case, poison

BLOCK = (32, 4)
# Samples and units.
SHAPES = {
    "exactly one block": (4, 32),
    "one unit": (1, 1),
    "one less each way": (3, 31),
    "one more each way": (5, 33),
    "many units": (3, 131),
    "many samples": (101, 5),
    "two primes": (61, 83),
    "many blocks": (16, 96),
}
ORDER = "ifgo"


def sigmoid(x: np.ndarray) -> np.ndarray:
    """Return 1 / (1 + exp(-x)) without overflow."""
    return (1 + np.tanh(x / 2)) / 2


def case(rng: np.random.Generator, n: int, units: int) -> Case:
    """Return the case of n samples and so many units."""
    sums = rng.normal(0, 1.5, (n, 4 * units))
    sums[rng.random(sums.shape) < 0.05] *= 60  # open or shut for good
    sums = sums.astype(np.float32)
    c = rng.normal(0, 1, (n, units)).astype(np.float32)
    c[rng.random(c.shape) < 0.05] *= 100  # what is remembered has no bounds
    wide, old = sums.astype(np.float64), c.astype(np.float64)
    i, f, g, o = np.split(wide, 4, axis=1)

    def left(new_c: np.ndarray, new_h: np.ndarray) -> dict[str, np.ndarray]:
        return {"new_c": new_c.astype(np.float32), "new_h": new_h.astype(np.float32)}

    def cell(i: np.ndarray, f: np.ndarray, g: np.ndarray, o: np.ndarray) -> dict[str, np.ndarray]:
        """Return the outputs that these gates give, which have been through their functions."""
        new_c = f * old + i * g
        return left(new_c, o * np.tanh(new_c))

    def of(parts: list[np.ndarray]) -> dict[str, np.ndarray]:
        """Return the outputs where these are the sums of i, f, g and o."""
        return cell(sigmoid(parts[0]), sigmoid(parts[1]), np.tanh(parts[2]), sigmoid(parts[3]))

    gates = sigmoid(i), sigmoid(f), np.tanh(g), sigmoid(o)
    right = cell(*gates)
    take, keep, new, show = gates
    new_c = keep * old + take * new
    return Case(
        args={
            "sums": sums, "c": c, "new_h": poison((n, units)), "new_c": poison((n, units)),
        },
        grid=(-(-units // BLOCK[0]), -(-n // BLOCK[1])),
        block=BLOCK,
        expected=right,
        scale={"new_c": np.abs(old) + 1, "new_h": np.ones((n, units))},
        mistakes={
            **{
                f"The parts of a row are read in the order {', '.join(order)}; they lie in the "
                "order i, f, g, o.": of([dict(zip(order, (i, f, g, o), strict=True))[k]
                                         for k in ORDER])
                for order in itertools.permutations(ORDER) if "".join(order) != ORDER
            },
            "The four sums of a unit are read as neighbours, 4 * unit, 4 * unit + 1, ...; its i, "
            "f, g and o lie a whole layer apart: unit, unit + units, ...": of(
                [wide[:, k::4] for k in range(4)]
            ),
            "g goes through a sigmoid; what is new may be negative, too: tanh.": cell(
                take, keep, sigmoid(g), show
            ),
            "All four go through tanh; gates are shares between 0 and 1: sigmoid for i, f, o.": (
                cell(np.tanh(i), np.tanh(f), new, np.tanh(o))
            ),
            "Sigmoid and tanh are exchanged: i, f and o are shares between 0 and 1, g is not.": (
                cell(np.tanh(i), np.tanh(f), sigmoid(g), np.tanh(o))
            ),
            "The output gate goes through tanh; it is a share between 0 and 1: sigmoid.": cell(
                take, keep, new, np.tanh(o)
            ),
            "The input gate goes through tanh; it is a share between 0 and 1: sigmoid.": cell(
                np.tanh(i), keep, new, show
            ),
            "The forget gate goes through tanh; it is a share between 0 and 1: sigmoid.": cell(
                take, np.tanh(f), new, show
            ),
            "The sums were taken as they are: i, f and o go through a sigmoid, g through a "
            "tanh.": cell(i, f, g, o),
            "g is taken as it is: tanh(g) is what is new.": cell(take, keep, g, show),
            "The sign in the sigmoid is wrong: 1 / (1 + exp(-x)).": cell(
                1 - take, 1 - keep, new, 1 - show
            ),
            "new_h is made of the old c; what is shown comes from new_c.": left(
                new_c, show * np.tanh(old)
            ),
            "new_h lacks tanh: it is sigmoid(o) * tanh(new_c).": left(new_c, show * new_c),
            "new_h has no output gate: it is sigmoid(o) * tanh(new_c).": left(
                new_c, np.tanh(new_c)
            ),
            "new_h is the output gate alone: it is sigmoid(o) * tanh(new_c).": left(new_c, show),
            "new_h takes the sigmoid of new_c: it is sigmoid(o) * tanh(new_c).": left(
                new_c, show * sigmoid(new_c)
            ),
            "new_c went through tanh. What is remembered is not: only what is shown.": left(
                np.tanh(new_c), show * np.tanh(new_c)
            ),
            "new_c went through tanh, and once more for new_h. What is remembered does not.": left(
                np.tanh(new_c), show * np.tanh(np.tanh(new_c))
            ),
            "The output gate is part of new_c; it bounds only what is shown.": left(
                show * new_c, show * np.tanh(new_c)
            ),
            "The old c is kept in full: the forget gate is missing.": cell(
                take, np.ones_like(keep), new, show
            ),
            "The new is taken in full: the input gate is missing.": cell(
                np.ones_like(take), keep, new, show
            ),
            "The old c is missing in new_c.": cell(take, np.zeros_like(keep), new, show),
            "What is new is missing in new_c: sigmoid(i) * tanh(g).": cell(
                take, keep, np.zeros_like(new), show
            ),
            # 1 - keep loses digits, and tanh shows them: new_c alone tells this mistake.
            "The forget gate says how much is kept, and 1 - f was kept.": {
                "new_c": cell(take, 1 - keep, new, show)["new_c"]
            },
            "Only one gate for both: what is forgotten is not what is taken in. The input gate has "
            "sums of its own.": cell(1 - keep, keep, new, show),
            "new_h and new_c are exchanged.": left(right["new_h"], right["new_c"]),
            "new_c is the old one still.": left(old, right["new_h"]),
        },
    )  # fmt: skip
