"""Answers to max_pool."""

from tests.data.answers import Right, Wrong, body, edit, serial

ANSWERS = [
    Wrong(
        "windows as far apart as they are large",
        edit(("row * stride + i", "row * size + i"), ("col * stride + j", "col * size + j")),
        says="The windows begin `size` pixels apart",
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
