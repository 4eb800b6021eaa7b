"""Answers to brighten."""

from tests.data.answers import Right, Wrong, body, edit, serial

ANSWERS = [
    Wrong(
        "rows along x",
        edit(("col, row = cuda.grid(2)", "row, col = cuda.grid(2)")),
        says="never written",
    ),
    Wrong(
        "a guard on one axis only",
        edit(("row < out.shape[0] and col < out.shape[1]", "row < out.shape[0]")),
        says="`if col < out.shape[1]:`",
    ),
    Wrong(
        "the place in the block for that in the grid",
        edit(("col, row = cuda.grid(2)", "col, row = cuda.threadIdx.x, cuda.threadIdx.y")),
        says="`cuda.grid(2)` gives column and row",
    ),
    Wrong(
        "the limit before the doubling",
        edit(
            ("min(np.float32(2) * photo[row, col], np", "np.float32(2) * min(photo[row, col], np")
        ),
        says="changed:  out[row, col] = np.float32(2) * min(photo[row, col], np.float32(255))",
    ),
    Wrong(
        "float64 by a literal",
        edit(("np.float32(2) * photo", "2 * photo")),
        says="operations in float64",
        grade="but",
    ),
    serial("""
            if cuda.grid(2) == (0, 0):
                for row in range(out.shape[0]):
                    for col in range(out.shape[1]):
                        out[row, col] = min(np.float32(2) * photo[row, col], np.float32(255))
        """),
    Right(
        "an if for the limit",
        body("""
            x, y = cuda.grid(2)
            if y < photo.shape[0] and x < photo.shape[1]:
                value = photo[y, x] + photo[y, x]
                if value > 255:
                    value = np.float32(255)
                out[y, x] = value
        """),
    ),
    Right(
        "the indices written out",
        edit(
            (
                "col, row = cuda.grid(2)",
                "col = cuda.blockIdx.x * cuda.blockDim.x + cuda.threadIdx.x\n"
                "    row = cuda.blockIdx.y * cuda.blockDim.y + cuda.threadIdx.y",
            )
        ),
    ),
]
