"""Cases of a step of AdamW: the first one, early and late ones, large and small gradients."""

import numpy as np

from gpukit.course import Case, adam
from gpukit.course.inputs.adam import BETA1, BETA2, EPS, LR

BLOCK = 128
DECAY = float(np.float32(0.1))
# The length, and the number of the step.
SHAPES = adam.shapes(BLOCK, (1, 300, 1, 100, 1000, 200, 1))


def case(rng: np.random.Generator, n: int, step: int) -> Case:
    """Return the case of n weights in this step."""
    args = adam.arguments(rng, n, step)
    w64, g, m64, v64 = (args[name].astype(np.float64) for name in ("w", "grad", "m", "v"))
    less1, less2 = 1 - BETA1**step, 1 - BETA2**step
    new_m, new_v = adam.means(g, m64, v64)
    by = LR * new_m / less1 / (np.sqrt(new_v / less2) + EPS)
    terms = BETA1 * np.abs(m64) + (1 - BETA1) * np.abs(g + DECAY * w64)
    return Case(
        args=args,
        grid=max(1, -(-n // BLOCK)),
        block=BLOCK,
        expected=adam.outputs(w64 - LR * DECAY * w64 - by, new_m, new_v),
        scale={"new_w": np.abs(w64) + 4 * np.abs(by), "new_m": terms, "new_v": new_v},
    )
