"""Answers to black_and_white."""

from tests.exercises.answers import Right, Wrong, body, edit, serial, without

ANSWERS = [
    Wrong(
        "a bound just below 128",
        edit((">= 128", "> 127.9995")),
        says="expected 0.0, got 255.0 (photo[0, 1] = 127.99999)",
    ),
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
        "above 127",
        edit(("photo[row, col] >= 128", "photo[row, col] > 127")),
        says="Pixels between 127 and 128 became white",
    ),
    Wrong(
        "rounded first",
        edit(
            ("photo[row, col] >= 128", "int(photo[row, col] + np.float32(0.5)) >= 128"),
            ("from gpukit import cuda", "import numpy as np\n\nfrom gpukit import cuda"),
        ),
        says="not a rounded one",
    ),
    Wrong(
        "above 127.5",
        edit(("photo[row, col] >= 128", "photo[row, col] > 127.5")),
        says="127.999 became white",
    ),
    Wrong(
        "a division for the comparison",
        body("""
            col, row = cuda.grid(2)
            if row < out.shape[0] and col < out.shape[1]:
                out[row, col] = int(photo[row, col]) // 128 * 255
        """),
        says="A division by 128 gives 0 and 1 only for pixels from 0 to 255",
    ),
    Wrong(
        "the dark pixels as they are",
        edit(("out[row, col] = 0", "out[row, col] = photo[row, col]")),
        says="The dark pixels keep their grey",
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
