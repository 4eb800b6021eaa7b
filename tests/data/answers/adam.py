"""Answers to adam."""

from tests.data.answers import Right, Wrong, body, edit, serial

CORRECT_M = "mean / (ONE - BETA1 ** np.float32(step))"
CORRECT_V = "square / (ONE - BETA2 ** np.float32(step))"
MEAN = "BETA1 * m[i] + (ONE - BETA1) * grad[i]\n"
SQUARE = "BETA2 * v[i] + (ONE - BETA2) * grad[i] * grad[i]"

ANSWERS = [
    Wrong(
        "steps counted from 0",
        edit(
            ("BETA1 ** np.float32(step)", "BETA1 ** np.float32(step - 1)"),
            ("BETA2 ** np.float32(step)", "BETA2 ** np.float32(step - 1)"),
        ),
        says="out of finite numbers",
    ),
    Wrong(
        "a product for the power",
        edit(
            ("BETA1 ** np.float32(step)", "BETA1 * step"),
            ("BETA2 ** np.float32(step)", "BETA2 * step"),
        ),
        says="makes nan out of finite numbers",
    ),
    Wrong(
        "no EPS",
        edit(("(math.sqrt(v_hat) + EPS)", "math.sqrt(v_hat)")),
        says="makes nan out of finite numbers",
    ),
    Wrong(
        "the weights in place",
        edit(("new_w[i] = w[i] - LR", "w[i] -= LR")),
        says="which is an input",
    ),
    Wrong(
        "float64 by literals",
        edit(("(ONE - BETA1) * grad", "(1.0 - BETA1) * grad")),
        says="operations in float64",
        grade="but",
    ),
    Wrong(
        "neighbours far apart",
        edit(("cuda.grid(1)", "cuda.threadIdx.x * cuda.gridDim.x + cuda.blockIdx.x")),
        says="Neighbouring threads should take neighbouring elements",
        grade="but",
    ),
    serial("""
        if cuda.grid(1) == 0:
            for i in range(w.size):
                mean = BETA1 * m[i] + (ONE - BETA1) * grad[i]
                square = BETA2 * v[i] + (ONE - BETA2) * grad[i] * grad[i]
                m_hat = mean / (ONE - BETA1 ** np.float32(step))
                v_hat = square / (ONE - BETA2 ** np.float32(step))
                new_w[i] = w[i] - LR * m_hat / (math.sqrt(v_hat) + EPS)
                new_m[i] = mean
                new_v[i] = square
    """),
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
    Right(
        "both means towards the new value",
        edit(
            ("BETA1 * m[i] + (ONE - BETA1) * grad[i]", "m[i] + (ONE - BETA1) * (grad[i] - m[i])"),
            (
                "BETA2 * v[i] + (ONE - BETA2) * grad[i] * grad[i]",
                "v[i] + (ONE - BETA2) * (grad[i] * grad[i] - v[i])",
            ),
        ),
    ),
    Right(
        "towards the new value, with math.pow",
        body("""
            i = cuda.grid(1)
            if i >= w.size:
                return
            g = grad[i]
            a = m[i] + (ONE - BETA1) * (g - m[i])
            b = BETA2 * v[i] + (ONE - BETA2) * (g * g)
            new_m[i] = a
            new_v[i] = b
            a /= ONE - math.pow(BETA1, np.float32(step))
            b /= ONE - math.pow(BETA2, np.float32(step))
            new_w[i] = w[i] - LR * (a / (EPS + math.sqrt(b)))
        """),
    ),
    Right(
        "a grid-stride loop, powers by products, one root for the step",
        body("""
            first = second = np.float32(1)
            for k in range(step):
                first *= BETA1
                second *= BETA2
            far = LR / (ONE - first)
            for i in range(cuda.grid(1), w.size, cuda.gridsize(1)):
                g = grad[i]
                new_m[i] = m_next = BETA1 * m[i] + (ONE - BETA1) * g
                v_next = BETA2 * v[i] + (ONE - BETA2) * g * g
                new_v[i] = v_next
                new_w[i] = w[i] - far * m_next / (math.sqrt(v_next / (ONE - second)) + EPS)
        """),
    ),
]
