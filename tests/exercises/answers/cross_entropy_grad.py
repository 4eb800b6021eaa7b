"""Answers to cross_entropy_grad."""

from tests.exercises.answers import Right, Wrong, body, edit, serial

DIVIDED = "(share - hot) / np.float32(grad.shape[0])"

ANSWERS = [
    Wrong(
        "no one-hot",
        edit((DIVIDED, "share / np.float32(grad.shape[0])")),
        says="The 1 of the right class is not subtracted",
    ),
    Wrong(
        "not divided",
        edit((DIVIDED, "share - hot")),
        says="The gradient is not divided by the number of samples",
    ),
    Wrong(
        "divided by the classes",
        edit((DIVIDED, DIVIDED.replace("shape[0]", "shape[1]"))),
        says="The gradient is divided by the number of classes",
    ),
    Wrong(
        "divided by the size",
        edit((DIVIDED, DIVIDED.replace("shape[0]", "size"))),
        says="The gradient is divided by the number of all scores",
    ),
    Wrong(
        "target minus share",
        edit((DIVIDED, DIVIDED.replace("share - hot", "hot - share"))),
        says="The sign is wrong",
    ),
    Wrong(
        "no parentheses",
        edit((DIVIDED, "share - hot / np.float32(grad.shape[0])")),
        says="parentheses around share - 1 are missing",
    ),
    Wrong(
        "the 1 after the division",
        edit((DIVIDED, "share / np.float32(grad.shape[0]) - hot")),
        says="Only the share is divided",
    ),
    Wrong(
        "1 from all",
        edit((DIVIDED, "(share - np.float32(1)) / np.float32(grad.shape[0])")),
        says="1 is subtracted from every share",
    ),
    Wrong(
        "only the right class is written",
        edit(
            (
                "if row < grad.shape[0] and col < grad.shape[1]",
                "if row < grad.shape[0] and col == target[row]",
            )
        ),
        says="Only the right class of each sample was written",
    ),
    Wrong(
        "0 for the wrong classes",
        edit((DIVIDED, "(share - hot) * hot / np.float32(grad.shape[0])")),
        says="The gradient of the wrong classes is 0 here",
    ),
    Wrong(
        "the logarithm of the share",
        edit(("math.exp(scores[row, col] - log_sum[row])", "scores[row, col] - log_sum[row]")),
        says="exp is missing",
    ),
    Wrong(
        "no log_sum",
        edit(("scores[row, col] - log_sum[row]", "scores[row, col]")),
        says="log_sum is not subtracted",
    ),
    Wrong(
        "exp of the score first",
        edit(
            (
                "math.exp(scores[row, col] - log_sum[row])",
                "math.exp(scores[row, col]) / math.exp(log_sum[row])",
            )
        ),
        says="out of finite numbers",
    ),
    Wrong(
        "classes counted from 1",
        edit(("col == target[row]", "col == target[row] + 1")),
        says="classes are counted from 0",
    ),
    Wrong(
        "the target of the column",
        edit(("col == target[row]", "row == target[col]")),
        says="target[",
    ),
    Wrong(
        "divided by a whole number",
        edit((DIVIDED, "(share - hot) / grad.shape[0]")),
        says="operations in float64",
        grade="but",
    ),
    Wrong(
        "samples along x",
        edit(("col, row = cuda", "row, col = cuda")),
        says="Rows and columns are exchanged",
    ),
    serial("""
        if cuda.grid(2) == (0, 0):
            for row in range(grad.shape[0]):
                for col in range(grad.shape[1]):
                    share = math.exp(scores[row, col] - log_sum[row])
                    if col == target[row]:
                        share -= np.float32(1)
                    grad[row, col] = share / np.float32(grad.shape[0])
    """),
    Right(
        "a factor for the division",
        body("""
            col, row = cuda.grid(2)
            if row >= scores.shape[0] or col >= scores.shape[1]:
                return
            each = np.float32(1) / np.float32(scores.shape[0])
            value = math.exp(scores[row, col] - log_sum[row]) * each
            if target[row] == col:
                value -= each
            grad[row, col] = value
        """),
    ),
    Right(
        "the comparison as a number",
        edit(
            (
                "np.float32(1) if col == target[row] else np.float32(0)",
                "np.float32(col == target[row])",
            ),
        ),
    ),
]
