"""Answers to upside_down."""

from tests.exercises.answers import Right, Wrong, body, edit, serial

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
        "not moved",
        edit(("out.shape[0] - 1 - row", "row")),
        says="Nothing was moved",
    ),
    Wrong(
        "the columns exchanged",
        edit(("out[out.shape[0] - 1 - row, col]", "out[row, out.shape[1] - 1 - col]")),
        says="Left and right are exchanged",
    ),
    Wrong(
        "rows and columns exchanged",
        edit(("- row, col] = ", "- row, out.shape[1] - 1 - col] = ")),
        says="so are left and right",
    ),
    Wrong(
        "each block by itself",
        body("""
            col, row = cuda.grid(2)
            if row < out.shape[0] and col < out.shape[1]:
                new = row - cuda.threadIdx.y + 7 - cuda.threadIdx.y
                if new < out.shape[0]:
                    out[new, col] = photo[row, col]
        """),
        says="Each block turns its own rows",
    ),
    Wrong(
        "pairs without the middle row",
        body("""
            col, row = cuda.grid(2)
            last = out.shape[0] - 1
            if row < out.shape[0] // 2 and col < out.shape[1]:
                out[row, col] = photo[last - row, col]
                out[last - row, col] = photo[row, col]
        """),
        says="The middle row is empty",
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
