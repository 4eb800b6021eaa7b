"""Answers to upside_down."""

from tests.data.answers import Right, Wrong, body, edit, serial

ANSWERS = [
    Wrong(
        "one past the end",
        edit(("out.shape[0] - 1 - row", "out.shape[0] - row")),
        says="out.shape[0] - row",
    ),
    Wrong(
        "rows counted from the back, one too far",
        edit(("out.shape[0] - 1 - row", "-row")),
        says="counts from the end",
    ),
    Wrong(
        "in place, through the input",
        body("""
            col, row = cuda.grid(2)
            if row < out.shape[0] and col < out.shape[1]:
                photo[row, col] = photo[out.shape[0] - 1 - row, col]
                out[row, col] = photo[row, col]
        """),
        says="writes photo",
    ),
    Wrong(
        "the place in the block for that in the grid",
        edit(("col, row = cuda.grid(2)", "col, row = cuda.threadIdx.x, cuda.threadIdx.y")),
        says="written",
    ),
    serial(
        """
            col, row = cuda.grid(2)
            if row < out.shape[0] and col == 0:
                for k in range(out.shape[1]):
                    out[out.shape[0] - 1 - row, k] = photo[row, k]
        """,
        name="one thread a row",
    ),
    Wrong(
        "the negative of the row",
        edit(
            ("out[out.shape[0] - 1 - row, col]", "out[row, col]"),
            ("photo[row, col]", "photo[-row, col]"),
        ),
        says="write `photo.shape[0] - 1 - row` if 0 is to be the last",
    ),
    Right(
        "reads from the other end, writes in order",
        body("""
            x, y = cuda.grid(2)
            if y < photo.shape[0] and x < photo.shape[1]:
                out[y, x] = photo[photo.shape[0] - y - 1, x]
        """),
    ),
    Right(
        "the last row by name",
        body("""
            col, row = cuda.grid(2)
            last = photo.shape[0] - 1
            if row > last or col >= photo.shape[1]:
                return
            out[last - row, col] = photo[row, col]
        """),
    ),
]
