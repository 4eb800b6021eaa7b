"""What learners get wrong here, by the sentence that names it: edits of the solution."""

MISTAKES = {
    "The shares are not divided by size * size: a window has so many pixels.": [
        ("acc / np.float32(size * size)", "acc")
    ],
    "The shares are divided by size; a window has size * size pixels.": [
        ("acc / np.float32(size * size)", "acc / np.float32(size)")
    ],
    "The shares are divided by the number of windows that hold the pixel. They are "
    "divided by the pixels of a window, size * size.": """
        col, row = cuda.grid(2)
        if row < grad_x.shape[0] and col < grad_x.shape[1]:
            acc, count = np.float32(0), np.float32(0)
            for r in range(grad_out.shape[0]):
                for c in range(grad_out.shape[1]):
                    i, j = row - r * stride, col - c * stride
                    if i >= 0 and i < size and j >= 0 and j < size:
                        acc += grad_out[r, c]
                        count += np.float32(1)
            grad_x[row, col] = acc / max(count, np.float32(1))
    """,
    "Each pixel has the share of one window only, the last that begins before it. "
    "Where windows overlap it gets shares of several.": [("acc += grad_out", "acc = grad_out")],
    "Each pixel has the share of one window only, the first that holds it. Where "
    "windows overlap it gets shares of several.": [
        (
            "min(row // stride + 1, grad_out.shape[0])",
            "min(top + 1, row // stride + 1, grad_out.shape[0])",
        ),
        (
            "min(col // stride + 1, grad_out.shape[1])",
            "min(left + 1, col // stride + 1, grad_out.shape[1])",
        ),
    ],
    "Each pixel has the share of the window number row // stride, col // stride, "
    "where there is one. It may lie in several windows, those that begin up to size "
    "- 1 before it.": [
        ("range(top, min", "range(row // stride, min"),
        ("range(left, min", "range(col // stride, min"),
    ],
    "Each pixel has the share of the window number row // stride, col // stride. A "
    "pixel may lie in several windows, and in none.": """
        col, row = cuda.grid(2)
        if row < grad_x.shape[0] and col < grad_x.shape[1]:
            r = min(row // stride, grad_out.shape[0] - 1)
            c = min(col // stride, grad_out.shape[1] - 1)
            grad_x[row, col] = grad_out[r, c] / np.float32(size * size)
    """,
    "The first window that holds a pixel is (row - size + 1) / stride rounded up, "
    "for rows and columns; rounded down it is one that ends before it.": [
        ("(row - size + stride) // stride", "(row - size + 1) // stride"),
        ("(col - size + stride) // stride", "(col - size + 1) // stride"),
    ],
    "Pixels get shares of windows that end before them: window r holds the rows r * "
    "stride to r * stride + size - 1 only.": [
        (
            "range(top, min(row // stride + 1, grad_out.shape[0]))",
            "range(0, min(row // stride + 1, grad_out.shape[0]))",
        ),
        (
            "range(left, min(col // stride + 1, grad_out.shape[1]))",
            "range(0, min(col // stride + 1, grad_out.shape[1]))",
        ),
    ],
    "Pixels that lie in no window were not written; their gradient is 0, and "
    "somebody has to write it.": [
        ("        grad_x[row, col] = ", "        if acc != 0:\n            grad_x[row, col] = ")
    ],
}
