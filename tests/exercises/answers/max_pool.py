"""Answers to max_pool."""

from tests.exercises.answers import Right, Wrong, body, edit, serial

ANSWERS = [
    Wrong(
        "the maximum begins with -3e38",
        edit(("-math.inf", "-3e38")),
        says="The maximum begins with -3e+38",
    ),
    Wrong(
        "the maximum begins with 0",
        edit(("np.float32(-math.inf)", "np.float32(0)")),
        says="the maximum begins with 0",
    ),
    Wrong(
        "no stride",
        edit(("row * stride + i", "row + i"), ("col * stride + j", "col + j")),
        says="The stride is left out",
    ),
    Wrong(
        "a stride for the columns alone",
        edit(("row * stride + i", "row + i")),
        says="The stride is left out along the rows",
    ),
    Wrong(
        "windows as far apart as they are large",
        edit(("row * stride + i", "row * size + i"), ("col * stride + j", "col * size + j")),
        says="The windows begin `size` pixels apart",
    ),
    Wrong(
        "a window of 2 x 2 written in",
        edit(
            ("for i in range(size)", "for i in range(2)"),
            ("for j in range(size)", "for j in range(2)"),
        ),
        says="The windows are 2 x 2 pixels here",
    ),
    Wrong(
        "the mean",
        body("""
            col, row = cuda.grid(2)
            if row < out.shape[0] and col < out.shape[1]:
                acc = np.float32(0)
                for i in range(size):
                    for j in range(size):
                        acc += x[row * stride + i, col * stride + j]
                out[row, col] = acc / np.float32(size * size)
        """),
        says="This is the mean of each window",
    ),
    Wrong(
        "the smallest",
        edit(("np.float32(-math.inf)", "np.float32(math.inf)"), ("max(high", "min(high")),
        says="This is the smallest pixel",
    ),
    Wrong(
        "the diagonal only",
        edit(
            (
                "            for j in range(size):\n                high",
                "            for j in range(i, i + 1):\n                high",
            )
        ),
        says="Only the diagonal",
    ),
    Wrong(
        "each one replaces the one before",
        edit(
            (
                "max(high, x[row * stride + i, col * stride + j])",
                "x[row * stride + i, col * stride + j]",
            )
        ),
        says="each one replaced the one before",
    ),
    Wrong(
        "the store within the loops",
        body("""
            col, row = cuda.grid(2)
            if row < out.shape[0] and col < out.shape[1]:
                out[row, col] = x[row * stride, col * stride]
                for i in range(size):
                    for j in range(size):
                        out[row, col] = max(out[row, col], x[row * stride + i, col * stride + j])
        """),
        says="Keep the maximum in a variable",
        grade="but",
    ),
    Wrong(
        "out never begun",
        body("""
            col, row = cuda.grid(2)
            if row < out.shape[0] and col < out.shape[1]:
                for i in range(size):
                    for j in range(size):
                        value = x[row * stride + i, col * stride + j]
                        if value > out[row, col]:
                            out[row, col] = value
        """),
        says="never written",
    ),
    Wrong(
        "rows along x",
        edit(("col, row = cuda.grid(2)", "row, col = cuda.grid(2)")),
        says="Rows and columns are exchanged",
    ),
    Wrong(
        "the guard of x for that of out",
        edit(
            ("row < out.shape[0] and col < out.shape[1]", "row < x.shape[0] and col < x.shape[1]")
        ),
        says="another guard around the access would hide the mistake",
    ),
    Wrong(
        "windows one too large",
        edit(
            ("for i in range(size)", "for i in range(size + 1)"),
            ("for j in range(size)", "for j in range(size + 1)"),
        ),
        says="The windows are one pixel too large",
    ),
    serial("""
        if cuda.grid(2) == (0, 0):
            for row in range(out.shape[0]):
                for col in range(out.shape[1]):
                    high = x[row * stride, col * stride]
                    for i in range(size):
                        for j in range(size):
                            high = max(high, x[row * stride + i, col * stride + j])
                    out[row, col] = high
    """),
    Wrong(
        "the maximum begins with -1000",
        edit(("np.float32(-math.inf)", "np.float32(-1000)")),
        says="a number that is not low enough",
    ),
    Right(
        "an if for max, from the first pixel on",
        body("""
            col, row = cuda.grid(2)
            if row >= out.shape[0] or col >= out.shape[1]:
                return
            top, left = row * stride, col * stride
            high = x[top, left]
            for i in range(top, top + size):
                for j in range(left, left + size):
                    if x[i, j] > high:
                        high = x[i, j]
            out[row, col] = high
        """),
    ),
    Right(
        "one loop over the window",
        body("""
            col = cuda.blockIdx.x * cuda.blockDim.x + cuda.threadIdx.x
            row = cuda.blockIdx.y * cuda.blockDim.y + cuda.threadIdx.y
            if row < out.shape[0] and col < out.shape[1]:
                high = np.float32(-np.inf)
                for k in range(size * size):
                    value = x[row * stride + k // size, col * stride + k % size]
                    high = max(value, high)
                out[row, col] = high
        """),
    ),
]
