"""Answers to detective_missing_pixels."""

from tests.data.answers import Right, Wrong, edit

ANSWERS = [
    Wrong(
        "the axes fixed, the index not",
        edit(("cols - 1 - col", "cols - col")),
        says="uses photo[0, 1]",
    ),
    Wrong(
        "the index fixed, the axes not",
        edit(("col, row = cuda.grid(2)", "row, col = cuda.grid(2)")),
        says="never written",
    ),
    Wrong("a negative index", edit(("cols - 1 - col", "-col")), says="counts from the end"),
    Right(
        "the other end is written",
        edit(
            ("out[row, col] =", "out[row, cols - 1 - col] ="),
            ("= photo[row, cols - 1 - col]", "= photo[row, col]"),
        ),
    ),
    Right("a negative index that is meant", edit(("cols - 1 - col", "-1 - col"))),
    Right("from the end, as Python counts", edit(("cols - 1 - col", "cols + ~col"))),
]
