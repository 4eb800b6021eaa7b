"""Cases of a recurrent network in one launch: few and many steps, samples and units."""

import numpy as np

from gpukit.course import Case, poison

BLOCK = 64
# Time steps, samples, units.
SHAPES = {
    "a unit for each thread": (2, 3, BLOCK),
    "one step": (1, 4, 8),
    "one unit": (5, 1, 1),
    "one unit less": (3, 2, BLOCK - 1),
    "one sample less than a block has threads": (2, BLOCK - 1, 3),
    "as many samples as a block has threads": (2, BLOCK, 5),
    "one sample more": (2, BLOCK + 1, 2),
    "many steps": (16, 4, 48),
}


def case(rng: np.random.Generator, steps: int, n: int, units: int) -> Case:
    """Return the case of `steps` time steps of n samples and at most 64 units."""
    units = min(units, BLOCK)
    from_input = rng.normal(0, 1, (steps, n, units)).astype(np.float32)
    w = rng.normal(0, 1 / np.sqrt(units), (units, units)).astype(np.float32)
    x, wide = from_input.astype(np.float64), w.astype(np.float64)
    h, states = np.zeros((n, units)), []
    for t in range(steps):
        h = np.tanh(x[t] + h @ wide.T)
        states.append(h)
    return Case(
        args={"from_input": from_input, "w": w, "states": poison((steps, n, units))},
        grid=n,
        block=BLOCK,
        expected={"states": np.array(states).astype(np.float32)},
        scale={"states": np.ones((steps, n, units))},
        per="block",
    )
