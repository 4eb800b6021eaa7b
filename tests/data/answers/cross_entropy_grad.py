"""Answers to cross_entropy_grad."""

from tests.data.answers import Right, Wrong, body, edit, serial

DIVIDED = "(share - hot) / np.float32(grad.shape[0])"

ANSWERS = [
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
            )
        ),
    ),
]
