"""Answers to detective_missing_pixels."""

from tests.exercises.answers import Right, Wrong, edit

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
    Wrong(
        "the index held inside",
        edit(("cols - 1 - col", "min(cols - col, cols - 1)")),
        says="mirrored about the wrong column",
    ),
    Wrong(
        "a guard that hides the wrong index",
        edit(("col < cols", "0 < col < cols"), ("cols - 1 - col", "cols - col")),
        says="Column 0 is empty",
    ),
    Wrong(
        "each block by itself",
        edit(("cols - 1 - col", "col - col % 32 + min(32, cols - col + col % 32) - 1 - col % 32")),
        says="Each block mirrors its own columns",
    ),
    Wrong(
        "top and bottom exchanged",
        edit(("photo[row, cols - 1 - col]", "photo[rows - 1 - row, col]")),
        says="Top and bottom are exchanged",
    ),
    Wrong(
        "not mirrored",
        edit(("cols - 1 - col", "col")),
        says="not mirrored at all",
    ),
    Wrong(
        "a negative index",
        edit(("cols - 1 - col", "-col")),
        says="counts from the end",
    ),
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
