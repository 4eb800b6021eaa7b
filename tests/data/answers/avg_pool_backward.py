"""Answers to avg_pool_backward."""

from tests.data.answers import Right, Wrong, body, edit, serial

ROWS = "range(top, min(row // stride + 1, grad_out.shape[0]))"
COLS = "range(left, min(col // stride + 1, grad_out.shape[1]))"
SHARE = "acc / np.float32(size * size)"

ANSWERS = [
    Wrong(
        "= for +=",
        edit(("acc += grad_out", "acc = grad_out")),
        says="Each pixel has the share of one window only, the last",
    ),
    Wrong(
        "no end of the windows",
        edit((ROWS, "range(top, row // stride + 1)"), (COLS, "range(left, col // stride + 1)")),
        says="end the loop in line",
    ),
    Wrong(
        "a thread for each window adds to its pixels",
        body("""
            c, r = cuda.grid(2)
            if r < grad_out.shape[0] and c < grad_out.shape[1]:
                share = grad_out[r, c] / np.float32(size * size)
                for i in range(size):
                    for j in range(size):
                        grad_x[r * stride + i, c * stride + j] += share
        """),
        says="Something was added to what stood in grad_x before",
    ),
    Wrong(
        "a thread for each window stores to its pixels",
        body("""
            c, r = cuda.grid(2)
            if r < grad_out.shape[0] and c < grad_out.shape[1]:
                share = grad_out[r, c] / np.float32(size * size)
                for i in range(size):
                    for j in range(size):
                        grad_x[r * stride + i, c * stride + j] = share
        """),
        says="Each pixel has the share of one window only",
    ),
    Wrong(
        "all windows looked at",
        body("""
            col, row = cuda.grid(2)
            if row < grad_x.shape[0] and col < grad_x.shape[1]:
                acc = np.float32(0)
                for r in range(grad_out.shape[0]):
                    for c in range(grad_out.shape[1]):
                        value = grad_out[r, c]
                        i, j = row - r * stride, col - c * stride
                        if i >= 0 and i < size and j >= 0 and j < size:
                            acc += value
                grad_x[row, col] = acc / np.float32(size * size)
        """),
        says="the others need not be read",
        grade="but",
    ),
    Wrong(
        "float64 by a whole number",
        edit((SHARE, "acc / (size * size)")),
        says="operations in float64",
        grade="but",
    ),
    Wrong(
        "rows along x",
        edit(("col, row = cuda", "row, col = cuda")),
        says="Rows and columns are exchanged",
    ),
    serial("""
        if cuda.grid(2) == (0, 0):
            for row in range(grad_x.shape[0]):
                for col in range(grad_x.shape[1]):
                    acc = np.float32(0)
                    for r in range(max(0, (row - size + stride) // stride), grad_out.shape[0]):
                        for c in range(max(0, (col - size + stride) // stride), grad_out.shape[1]):
                            if r * stride <= row and c * stride <= col:
                                acc += grad_out[r, c]
                    grad_x[row, col] = acc / np.float32(size * size)
    """)._replace(says="Right, but"),
    Right(
        "only windows that hold the pixel are read, of all that are looked at",
        body("""
            col, row = cuda.grid(2)
            if row >= grad_x.shape[0] or col >= grad_x.shape[1]:
                return
            acc = np.float32(0)
            for r in range(grad_out.shape[0]):
                if r * stride <= row and row < r * stride + size:
                    for c in range(grad_out.shape[1]):
                        if c * stride <= col and col < c * stride + size:
                            acc += grad_out[r, c] / np.float32(size * size)
            grad_x[row, col] = acc
        """),
    ),
    Right(
        "backwards from the last window",
        body("""
            col, row = cuda.grid(2)
            if row < grad_x.shape[0] and col < grad_x.shape[1]:
                acc = np.float32(0)
                r = row // stride
                while r >= 0 and r * stride + size > row:
                    c = col // stride
                    while c >= 0 and c * stride + size > col:
                        if r < grad_out.shape[0] and c < grad_out.shape[1]:
                            acc += grad_out[r, c]
                        c -= 1
                    r -= 1
                grad_x[row, col] = acc * (np.float32(1) / np.float32(size * size))
        """),
    ),
]
