"""Answers to black_and_white."""

from tests.data.answers import Right, Wrong, body, edit, serial

ANSWERS = [
    Wrong(
        "a bound just below 128",
        edit((">= 128", "> 127.9995")),
        says="expected 0.0, got 255.0 (photo[0, 1] = 127.99999)",
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
    Wrong(
        "whole steps of 128",
        body("""
            col, row = cuda.grid(2)
            if row < out.shape[0] and col < out.shape[1]:
                out[row, col] = photo[row, col] // 128 * 255
        """),
        says="Just the elements are wrong where photo lies below",
    ),
    Right(
        "an if in one line",
        body("""
            x, y = cuda.grid(2)
            if x >= photo.shape[1] or y >= photo.shape[0]:
                return
            out[y, x] = 255 if photo[y, x] >= 128 else 0
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
