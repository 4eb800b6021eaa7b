"""What learners get wrong here, by the sentence that names it: edits of the solution."""

MISTAKES = {
    "The corrected means were stored, and would be corrected again in the next step. "
    "Store new_m and new_v themselves.": [
        ("new_m[i] = mean", "new_m[i] = m_hat"),
        ("new_v[i] = square", "new_v[i] = v_hat"),
    ],
    "The root is missing: the move is m_hat / (sqrt(v_hat) + EPS).": [
        ("math.sqrt(v_hat) + EPS", "v_hat + EPS")
    ],
    "BETA1 and BETA2 are exchanged: BETA1 belongs to m, BETA2 to v.": [
        ("BETA1 * m[i] + (ONE - BETA1) * grad[i]\n", "BETA2 * m[i] + (ONE - BETA2) * grad[i]\n"),
        (
            "BETA2 * v[i] + (ONE - BETA2) * grad[i] * grad[i]",
            "BETA1 * v[i] + (ONE - BETA1) * grad[i] * grad[i]",
        ),
        ("mean / (ONE - BETA1 ** np.float32(step))", "mean / (ONE - BETA2 ** np.float32(step))"),
        (
            "square / (ONE - BETA2 ** np.float32(step))",
            "square / (ONE - BETA1 ** np.float32(step))",
        ),
    ],
    "The bias correction is missing: m_hat is new_m / (1 - BETA1 ** step), v_hat "
    "new_v / (1 - BETA2 ** step).": [
        ("mean / (ONE - BETA1 ** np.float32(step))", "mean"),
        ("square / (ONE - BETA2 ** np.float32(step))", "square"),
    ],
    "The bias correction of v is missing: v_hat is new_v / (1 - BETA2 ** step).": [
        ("square / (ONE - BETA2 ** np.float32(step))", "square")
    ],
    "The bias correction of m is missing: m_hat is new_m / (1 - BETA1 ** step).": [
        ("mean / (ONE - BETA1 ** np.float32(step))", "mean")
    ],
    "The correction takes BETA itself and no power, as in the first step: BETA ** step.": [
        ("BETA1 ** np.float32(step)", "BETA1"),
        ("BETA2 ** np.float32(step)", "BETA2"),
    ],
    "The correction is one step late: the first step has number 1 already.": [
        ("BETA1 ** np.float32(step)", "BETA1 ** np.float32(step + 1)"),
        ("BETA2 ** np.float32(step)", "BETA2 ** np.float32(step + 1)"),
    ],
    "The root of v is divided by 1 - BETA2 ** step; the corrected v_hat stands under "
    "the root: sqrt(v / (1 - BETA2 ** step)).": [
        ("math.sqrt(v_hat)", "math.sqrt(square) / (ONE - BETA2 ** np.float32(step))")
    ],
    "EPS is added to the root of v itself; it is added to that of the corrected v_hat.": [
        (
            "(math.sqrt(v_hat) + EPS)",
            "((math.sqrt(square) + EPS) / math.sqrt(ONE - BETA2 ** np.float32(step)))",
        )
    ],
    "EPS stands inside the root: it is sqrt(v_hat) + EPS.": [
        ("math.sqrt(v_hat) + EPS", "math.sqrt(v_hat + EPS)")
    ],
    "The weights move along the gradient, uphill: it is w - LR * ..., not w + LR * ....": [
        ("w[i] - LR", "w[i] + LR")
    ],
    "The learning rate is missing in the move.": [("LR * m_hat", "m_hat")],
    "The gradient is not squared for v.": [
        ("(ONE - BETA2) * grad[i] * grad[i]", "(ONE - BETA2) * abs(grad[i])")
    ],
    "v decays with the learning rate; its factor is BETA2.": [
        (
            "BETA2 * v[i] + (ONE - BETA2) * grad[i] * grad[i]",
            "LR * v[i] + (ONE - LR) * grad[i] * grad[i]",
        )
    ],
    "The gradient is added to the means in full: its factors are 1 - BETA1 and 1 - BETA2.": [
        ("(ONE - BETA1) * grad[i]", "grad[i]"),
        ("(ONE - BETA2) * grad[i]", "grad[i]"),
    ],
    "The factors of a mean are exchanged: the old one counts BETA, the new value 1 - BETA.": [
        ("BETA1 * m[i] + (ONE - BETA1) * grad[i]", "(ONE - BETA1) * m[i] + BETA1 * grad[i]"),
        ("BETA2 * v[i] + (ONE - BETA2) * grad[i]", "(ONE - BETA2) * v[i] + BETA2 * grad[i]"),
    ],
    "The move takes the old m and v; it takes those of this step.": [
        ("mean / (ONE - BETA1 ** np.float32(step))", "m[i] / (ONE - BETA1 ** np.float32(step))"),
        ("square / (ONE - BETA2 ** np.float32(step))", "v[i] / (ONE - BETA2 ** np.float32(step))"),
    ],
    "The move takes the gradient itself; its running mean m_hat belongs there.": [
        ("LR * m_hat", "LR * grad[i]")
    ],
    "v is corrected with BETA1; its own factor is BETA2.": [
        ("v_hat = square / (ONE - BETA2 **", "v_hat = square / (ONE - BETA1 **")
    ],
}
