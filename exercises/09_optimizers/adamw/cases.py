"""Cases of a step of AdamW: the first one, early and late ones, large and small gradients."""

import numpy as np

from gpukit.course import Case, adam
from gpukit.course.adam import BETA1, BETA2, EPS, LR

BLOCK = 128
DECAY = float(np.float32(0.1))
# The length, and the number of the step.
SHAPES = adam.shapes(BLOCK, (1, 300, 1, 100, 1000, 200, 1))


def case(rng: np.random.Generator, n: int, step: int) -> Case:
    """Return the case of n weights in this step."""
    args = adam.arguments(rng, n, step)
    w64, g, m64, v64 = (args[name].astype(np.float64) for name in ("w", "grad", "m", "v"))
    less1, less2 = 1 - BETA1**step, 1 - BETA2**step

    def move(mean: np.ndarray, square: np.ndarray) -> np.ndarray:
        return LR * mean / less1 / (np.sqrt(square / less2) + EPS)

    new_m, new_v = adam.means(g, m64, v64)
    by, decay = move(new_m, new_v), LR * DECAY * w64
    coupled_m, coupled_v = adam.means(g + DECAY * w64, m64, v64)
    terms = BETA1 * np.abs(m64) + (1 - BETA1) * np.abs(g + DECAY * w64)

    def left(
        values: np.ndarray, mean: np.ndarray = new_m, square: np.ndarray = new_v
    ) -> dict[str, np.ndarray]:
        return adam.outputs(values, mean, square)

    return Case(
        args=args,
        grid=max(1, -(-n // BLOCK)),
        block=BLOCK,
        expected=left(w64 - decay - by),
        scale={"new_w": np.abs(w64) + 4 * np.abs(by), "new_m": terms, "new_v": new_v},
        mistakes={
            "The decay went into the gradient, as in Adam with a decay. Here the gradient stays "
            "as it is, and the weight itself loses LR * DECAY * w.": left(
                w64 - move(coupled_m, coupled_v), coupled_m, coupled_v
            ),
            "The decay is missing: the weight loses LR * DECAY * w, too. This is Adam.": left(
                w64 - by
            ),
            "The decay is not multiplied by the learning rate: it is LR * DECAY * w.": left(
                w64 - DECAY * w64 - by
            ),
            "The weight grows by the decay: LR * DECAY * w is subtracted.": left(
                w64 + decay - by
            ),
            "The decay is divided by the root of v_hat as the mean is. It stands beside the "
            "fraction, not in it.": left(
                w64 - by - decay / (np.sqrt(new_v / less2) + EPS)
            ),
            "The weight decays after the move; the decay is taken of the old w.": left(
                (w64 - by) * (1 - LR * DECAY)
            ),
            "DECAY alone is subtracted, the same from every weight: it is LR * DECAY * w.": left(
                w64 - LR * DECAY - by
            ),
            "The weight is multiplied by LR * DECAY; it is multiplied by 1 - LR * DECAY.": left(
                decay - by
            ),
            "The root of v is divided by 1 - BETA2 ** step; the corrected v_hat stands under the "
            "root: "
            "sqrt(v / (1 - BETA2 ** step)).": left(
                w64 - decay - LR * new_m / less1 / (np.sqrt(new_v) / less2 + EPS)
            ),
            "EPS is added to the root of v itself; it is added to that of the corrected v_hat.": (
                left(w64 - decay - LR * np.sqrt(less2) / less1 * new_m / (np.sqrt(new_v) + EPS))
            ),
            "EPS stands inside the root: it is sqrt(v_hat) + EPS.": left(
                w64 - decay - LR * new_m / less1 / np.sqrt(new_v / less2 + EPS)
            ),
            "The bias correction is missing: m_hat is new_m / (1 - BETA1 ** step), v_hat new_v / "
            "(1 - BETA2 ** step).": left(
                w64 - decay - LR * new_m / (np.sqrt(new_v) + EPS)
            ),
            "The weights move along the gradient, uphill: Adam's move is subtracted.": left(
                w64 - decay + by
            ),
        },
    )  # fmt: skip
