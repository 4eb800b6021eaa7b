"""Cases of a step of Adam: the first one, early and late ones, gradients of all sizes."""

import numpy as np

from gpukit.course import Case, adam
from gpukit.course.adam import BETA1, BETA2, EPS, LR

BLOCK = 128
# The length, and the number of the step.
SHAPES = adam.shapes(BLOCK, (1, 2, 1, 10, 1000, 3, 1))


def case(rng: np.random.Generator, n: int, step: int) -> Case:
    """Return the case of n weights in this step."""
    args = adam.arguments(rng, n, step)
    w64, g, m64, v64 = (args[name].astype(np.float64) for name in ("w", "grad", "m", "v"))
    new_m, new_v = adam.means(g, m64, v64)
    less1, less2 = 1 - BETA1**step, 1 - BETA2**step

    def moved(by: np.ndarray) -> np.ndarray:
        return w64 - LR * by

    def ratio(upper: np.ndarray, lower: np.ndarray) -> np.ndarray:
        """Return upper / lower, and 0 for 0 / 0."""
        return np.divide(upper, lower, out=np.zeros(n), where=lower != 0)

    def left(
        values: np.ndarray, mean: np.ndarray = new_m, square: np.ndarray = new_v
    ) -> dict[str, np.ndarray]:
        return adam.outputs(values, mean, square)

    def after(mean: np.ndarray, square: np.ndarray) -> dict[str, np.ndarray]:
        """Return the outputs that follow from other running means."""
        return left(moved(ratio(mean / less1, np.sqrt(np.abs(square) / less2) + EPS)), mean, square)

    m_hat, root = new_m / less1, np.sqrt(new_v / less2)
    by = ratio(m_hat, root + EPS)
    terms = BETA1 * np.abs(m64) + (1 - BETA1) * np.abs(g)
    # From step 2 on 1 - BETA2**step is off by up to 2e-5 of itself in float32, later by less. Where
    # that shows, such a mistake cannot be computed.
    exact = {
        "The corrected means were stored, and would be corrected again in the next step. Store "
        "new_m and new_v themselves.": left(moved(by), new_m / less1, new_v / less2),
        "The root is missing: the move is m_hat / (sqrt(v_hat) + EPS).": left(
            moved(ratio(m_hat, new_v / less2 + EPS))
        ),
        "BETA1 and BETA2 are exchanged: BETA1 belongs to m, BETA2 to v.": left(
            moved(
                ratio(
                    (BETA2 * m64 + (1 - BETA2) * g) / less2,
                    np.sqrt((BETA1 * v64 + (1 - BETA1) * g * g) / less1) + EPS,
                )
            ),
            BETA2 * m64 + (1 - BETA2) * g,
            BETA1 * v64 + (1 - BETA1) * g * g,
        ),
    }
    return Case(
        args=args,
        grid=max(1, -(-n // BLOCK)),
        block=BLOCK,
        expected=left(moved(by)),
        scale={
            "new_w": np.abs(w64) + 8 * LR * ratio(terms / less1, root + EPS),
            "new_m": terms,
            "new_v": new_v,
        },
        mistakes={
            **({} if 1 < step < 100 else exact),
            "The bias correction is missing: m_hat is new_m / (1 - BETA1 ** step), v_hat new_v / "
            "(1 - BETA2 ** step).": left(moved(ratio(new_m, np.sqrt(new_v) + EPS))),
            "The bias correction of v is missing: v_hat is new_v / (1 - BETA2 ** step).": left(
                moved(ratio(m_hat, np.sqrt(new_v) + EPS))
            ),
            "The bias correction of m is missing: m_hat is new_m / (1 - BETA1 ** step).": left(
                moved(ratio(new_m, root + EPS))
            ),
            "The correction takes BETA itself and no power, as in the first step: BETA ** step.": (
                left(moved(ratio(new_m / (1 - BETA1), np.sqrt(new_v / (1 - BETA2)) + EPS)))
            ),
            "The correction is one step late: the first step has number 1 already.": left(
                moved(
                    ratio(
                        new_m / (1 - BETA1 ** (step + 1)),
                        np.sqrt(new_v / (1 - BETA2 ** (step + 1))) + EPS,
                    )
                )
            ),
            "The root of v is divided by 1 - BETA2 ** step; the corrected v_hat stands under the "
            "root: "
            "sqrt(v / (1 - BETA2 ** step)).": left(
                moved(ratio(m_hat, np.sqrt(new_v) / less2 + EPS))
            ),
            "EPS is added to the root of v itself; it is added to that of the corrected v_hat.": (
                left(moved(np.sqrt(less2) * ratio(m_hat, np.sqrt(new_v) + EPS)))
            ),
            "EPS stands inside the root: it is sqrt(v_hat) + EPS.": left(
                moved(m_hat / np.sqrt(new_v / less2 + EPS))
            ),
            "The weights move along the gradient, uphill: it is w - LR * ..., not w + LR * ....": (
                left(moved(-by))
            ),
            "The learning rate is missing in the move.": left(w64 - by),
            "The gradient is not squared for v.": after(new_m, BETA2 * v64 + (1 - BETA2) * g),
            "v decays with the learning rate; its factor is BETA2.": after(
                new_m, LR * v64 + (1 - LR) * g * g
            ),
            "The gradient is added to the means in full: its factors are 1 - BETA1 and 1 - "
            "BETA2.": after(BETA1 * m64 + g, BETA2 * v64 + g * g),
            "The factors of a mean are exchanged: the old one counts BETA, the new value 1 - "
            "BETA.": after(
                (1 - BETA1) * m64 + BETA1 * g, (1 - BETA2) * v64 + BETA2 * g * g
            ),
            "The move takes the old m and v; it takes those of this step.": left(
                moved(ratio(m64 / less1, np.sqrt(v64 / less2) + EPS))
            ),
            "The move takes the gradient itself; its running mean m_hat belongs there.": left(
                moved(ratio(g, root + EPS))
            ),
        },
    )  # fmt: skip
