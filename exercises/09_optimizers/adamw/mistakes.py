"""What learners get wrong here, by the sentence that names it: edits of the solution."""

MISTAKES = {
    "The decay went into the gradient, as in Adam with a decay. Here the gradient "
    "stays as it is, and the weight itself loses LR * DECAY * w.": """
        i = cuda.grid(1)
        if i < w.size:
            g = grad[i] + DECAY * w[i]
            mean = BETA1 * m[i] + (ONE - BETA1) * g
            square = BETA2 * v[i] + (ONE - BETA2) * g * g
            m_hat = mean / (ONE - BETA1 ** np.float32(step))
            v_hat = square / (ONE - BETA2 ** np.float32(step))
            new_w[i] = w[i] - LR * m_hat / (math.sqrt(v_hat) + EPS)
            new_m[i] = mean
            new_v[i] = square
    """,
    "The decay is missing: the weight loses LR * DECAY * w, too. This is Adam.": [
        (
            "w[i] - LR * DECAY * w[i] - LR * m_hat / (math.sqrt(v_hat) + EPS)",
            "w[i] - LR * m_hat / (math.sqrt(v_hat) + EPS)",
        )
    ],
    "The decay is not multiplied by the learning rate: it is LR * DECAY * w.": [
        (
            "w[i] - LR * DECAY * w[i] - LR * m_hat / (math.sqrt(v_hat) + EPS)",
            "w[i] - DECAY * w[i] - LR * m_hat / (math.sqrt(v_hat) + EPS)",
        )
    ],
    "The weight grows by the decay: LR * DECAY * w is subtracted.": [
        (
            "w[i] - LR * DECAY * w[i] - LR * m_hat / (math.sqrt(v_hat) + EPS)",
            "w[i] + LR * DECAY * w[i] - LR * m_hat / (math.sqrt(v_hat) + EPS)",
        )
    ],
    "The decay is divided by the root of v_hat as the mean is. It stands beside the "
    "fraction, not in it.": [
        (
            "w[i] - LR * DECAY * w[i] - LR * m_hat / (math.sqrt(v_hat) + EPS)",
            "w[i] - LR * (m_hat + DECAY * w[i]) / (math.sqrt(v_hat) + EPS)",
        )
    ],
    "The weight decays after the move; the decay is taken of the old w.": [
        (
            "w[i] - LR * DECAY * w[i] - LR * m_hat / (math.sqrt(v_hat) + EPS)",
            "(w[i] - LR * m_hat / (math.sqrt(v_hat) + EPS)) * (ONE - LR * DECAY)",
        )
    ],
    "DECAY alone is subtracted, the same from every weight: it is LR * DECAY * w.": [
        (
            "w[i] - LR * DECAY * w[i] - LR * m_hat / (math.sqrt(v_hat) + EPS)",
            "w[i] - LR * DECAY - LR * m_hat / (math.sqrt(v_hat) + EPS)",
        )
    ],
    "The weight is multiplied by LR * DECAY; it is multiplied by 1 - LR * DECAY.": [
        (
            "w[i] - LR * DECAY * w[i] - LR * m_hat / (math.sqrt(v_hat) + EPS)",
            "LR * DECAY * w[i] - LR * m_hat / (math.sqrt(v_hat) + EPS)",
        )
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
    "The bias correction is missing: m_hat is new_m / (1 - BETA1 ** step), v_hat "
    "new_v / (1 - BETA2 ** step).": [
        ("mean / (ONE - BETA1 ** np.float32(step))", "mean"),
        ("square / (ONE - BETA2 ** np.float32(step))", "square"),
    ],
    "The weights move along the gradient, uphill: Adam's move is subtracted.": [
        (
            "w[i] - LR * DECAY * w[i] - LR * m_hat / (math.sqrt(v_hat) + EPS)",
            "w[i] - LR * DECAY * w[i] + LR * m_hat / (math.sqrt(v_hat) + EPS)",
        )
    ],
    "The power is taken of 1 - BETA; the correction is 1 - BETA ** step.": [
        ("(ONE - BETA1 ** np.float32(step))", "(ONE - BETA1) ** np.float32(step)"),
        ("(ONE - BETA2 ** np.float32(step))", "(ONE - BETA2) ** np.float32(step)"),
    ],
}
