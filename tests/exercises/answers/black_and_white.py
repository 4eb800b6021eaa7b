"""Answers to black_and_white."""

from tests.exercises.answers import Right, Wrong, body, edit, serial, without

ANSWERS = [
    Wrong(
        "128 is black",
        edit(("photo[row, col] >= 128", "photo[row, col] > 128")),
        says=">= is asked, not >",
    ),
    Wrong(
        "exchanged",
        edit(("photo[row, col] >= 128", "photo[row, col] < 128")),
        says="Black and white are exchanged",
    ),
    Wrong(
        "nothing for the dark pixels",
        without("else:", "out[row, col] = 0"),
        says="The dark pixels were never written",
    ),
    Wrong(
        "the result of the comparison",
        body("""
            col, row = cuda.grid(2)
            if row < out.shape[0] and col < out.shape[1]:
                out[row, col] = photo[row, col] >= 128
        """),
        says="a comparison is only 0 or 1",
    ),
    Wrong(
        "rows along x",
        edit(("col, row = cuda.grid(2)", "row, col = cuda.grid(2)")),
        says="never written",
    ),
    Wrong(
        "no guard",
        edit(("if row < out.shape[0] and col < out.shape[1]:", "if True:")),
        says="guard",
    ),
    serial("""
            if cuda.grid(2) == (0, 0):
                for row in range(out.shape[0]):
                    for col in range(out.shape[1]):
                        out[row, col] = 255 if photo[row, col] >= 128 else 0
        """),
    Right(
        "an if in one line",
        body("""
            x, y = cuda.grid(2)
            if x >= photo.shape[1] or y >= photo.shape[0]:
                return
            out[y, x] = 255 if photo[y, x] > 127.5 else 0
        """),
    ),
    Right(
        "a product with the comparison",
        body("""
            col, row = cuda.grid(2)
            if row < out.shape[0] and col < out.shape[1]:
                out[row, col] = 255 * (photo[row, col] >= 128)
        """),
    ),
]
