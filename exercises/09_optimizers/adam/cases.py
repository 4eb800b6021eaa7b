"""Cases of a step of Adam: the first one, early and late ones, gradients of all magnitudes."""

import numpy as np

from gpukit.course import Case, adam
from gpukit.course.inputs.adam import BETA1, BETA2, EPS, LR

BLOCK = 128
# The length, and the number of the step.
SHAPES = adam.shapes(BLOCK, (1, 2, 1, 10, 1000, 3, 1))


def case(rng: np.random.Generator, n: int, step: int) -> Case:
    """Return the case of n weights in this step."""
    args = adam.arguments(rng, n, step)
    w64, g, m64, v64 = (args[name].astype(np.float64) for name in ("w", "grad", "m", "v"))
    new_m, new_v = adam.means(g, m64, v64)
    less1, less2 = 1 - BETA1**step, 1 - BETA2**step

    def ratio(upper: np.ndarray, lower: np.ndarray) -> np.ndarray:
        """Return upper / lower, and 0 for 0 / 0."""
        return np.divide(upper, lower, out=np.zeros(n), where=lower != 0)

    root = np.sqrt(new_v / less2)
    new_w = w64 - LR * ratio(new_m / less1, root + EPS)
    terms = BETA1 * np.abs(m64) + (1 - BETA1) * np.abs(g)
    return Case(
        args=args,
        grid=max(1, -(-n // BLOCK)),
        block=BLOCK,
        expected=adam.outputs(new_w, new_m, new_v),
        scale={
            "new_w": np.abs(w64) + 8 * LR * ratio(terms / less1, root + EPS),
            "new_m": terms,
            "new_v": new_v,
        },
    )
