"""Answers to adamw."""

from tests.data.answers import Right, Wrong, body, edit, serial

MOVE = "LR * m_hat / (math.sqrt(v_hat) + EPS)"
RESULT = f"w[i] - LR * DECAY * w[i] - {MOVE}"

ANSWERS = [
    Wrong(
        "the decay in place first",
        edit(
            ("        mean = ", "        w[i] -= LR * DECAY * w[i]\n        mean = "),
            (RESULT, f"w[i] - {MOVE}"),
        ),
        says="which is an input",
    ),
    Wrong(
        "no EPS",
        edit(("(math.sqrt(v_hat) + EPS)", "math.sqrt(v_hat)")),
        says="makes nan out of finite numbers",
    ),
    Wrong(
        "stored twice",
        edit(
            (
                "new_w[i] = " + RESULT,
                f"new_w[i] = w[i] - LR * DECAY * w[i]\n        new_w[i] -= {MOVE}",
            )
        ),
        says="with the decay and the update combined",
        grade="but",
    ),
    Wrong(
        "float64 by literals",
        edit(("LR * DECAY * w[i]", "0.001 * w[i]")),
        says="operations in float64",
        grade="but",
    ),
    serial("""
        if cuda.grid(1) == 0:
            for i in range(w.size):
                mean = BETA1 * m[i] + (ONE - BETA1) * grad[i]
                square = BETA2 * v[i] + (ONE - BETA2) * grad[i] * grad[i]
                m_hat = mean / (ONE - BETA1 ** np.float32(step))
                v_hat = square / (ONE - BETA2 ** np.float32(step))
                new_w[i] = w[i] - LR * DECAY * w[i] - LR * m_hat / (math.sqrt(v_hat) + EPS)
                new_m[i] = mean
                new_v[i] = square
    """),
    Wrong(
        "steps counted from 0",
        edit(("BETA1 ** np.float32(step)", "BETA1 ** np.float32(step - 1)")),
        says="inf out of finite numbers",
    ),
    Wrong(
        "stored, and read again",
        edit(
            ("        mean = BETA1", "        new_m[i] = BETA1"),
            ("m_hat = mean", "m_hat = new_m[i]"),
            ("        new_m[i] = mean\n", ""),
        ),
        says="instead of reading back what was stored",
        grade="but",
    ),
    Right("a factor for the decay", edit((RESULT, f"w[i] * (ONE - LR * DECAY) - {MOVE}"))),
    Right(
        "one bracket for decay and move",
        body("""
            i = cuda.grid(1)
            if i >= w.size:
                return
            old, g = w[i], grad[i]
            a = BETA1 * m[i] + (ONE - BETA1) * g
            b = BETA2 * v[i] + (ONE - BETA2) * g * g
            root = math.sqrt(b / (ONE - math.pow(BETA2, np.float32(step)))) + EPS
            m_hat = a / (ONE - math.pow(BETA1, np.float32(step)))
            new_w[i] = old - LR * (DECAY * old + m_hat / root)
            new_m[i] = a
            new_v[i] = b
        """),
    ),
]
