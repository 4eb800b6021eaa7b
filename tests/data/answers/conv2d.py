"""Answers to conv2d."""

from tests.data.answers import Right, Wrong, body, edit

ANSWERS = [
    Wrong(
        "a window of at most 3 x 5",
        edit(
            ("range(weight.shape[2])", "range(min(weight.shape[2], 3))"),
            ("range(weight.shape[3])", "range(min(weight.shape[3], 5))"),
        ),
        says="of out",
    ),
    Wrong(
        "no guard at the upper left edge",
        edit(("if i >= 0 and i < x.shape[1] and j >= 0 and j <", "if i < x.shape[1] and j <")),
        says="which counts from the end",
    ),
    Wrong(
        "no guard at the lower right edge",
        edit(("i >= 0 and i < x.shape[1] and j >= 0 and j < x.shape[2]", "i >= 0 and j >= 0")),
        says="guard the access",
    ),
    Wrong(
        "rows along x",
        edit(("col, row, f = cuda", "row, col, f = cuda")),
        says="axes are exchanged",
    ),
    Wrong(
        "a sum in float64",
        edit(("acc = bias[f]", "acc = 0.0 + bias[f]")),
        says="operations in float64",
        grade="but",
    ),
    Wrong(
        "the sum kept in out",
        edit(
            ("acc = bias[f]", "out[f, row, col] = bias[f]"),
            ("                        acc += ", "                        out[f, row, col] += "),
            ("        out[f, row, col] = acc\n", ""),
        ),
        says="Keep the sum in a variable",
        grade="but",
    ),
    Wrong(
        "the first thread of a row does the row",
        body("""
            col, row, f = cuda.grid(3)
            if f < out.shape[0] and row < out.shape[1] and col == 0:
                for s in range(out.shape[2]):
                    acc = bias[f]
                    for c in range(x.shape[0]):
                        for m in range(weight.shape[2]):
                            i = row * stride + m - pad
                            for n in range(weight.shape[3]):
                                j = s * stride + n - pad
                                if i >= 0 and i < x.shape[1] and j >= 0 and j < x.shape[2]:
                                    acc += weight[f, c, m, n] * x[c, i, j]
                    out[f, row, s] = acc
        """),
        says="stores only its own result",
        grade="but",
    ),
    Right(
        "the ends of the window computed before",
        body("""
            col, row, f = cuda.grid(3)
            if f >= out.shape[0] or row >= out.shape[1] or col >= out.shape[2]:
                return
            top, left = row * stride - pad, col * stride - pad
            acc = np.float32(0)
            for c in range(weight.shape[1]):
                for i in range(max(0, top), min(top + weight.shape[2], x.shape[1])):
                    for j in range(max(0, left), min(left + weight.shape[3], x.shape[2])):
                        acc += x[c, i, j] * weight[f, c, i - top, j - left]
            out[f, row, col] = acc + bias[f]
        """),
    ),
    Right(
        "one loop over all weights of a filter",
        body("""
            col = cuda.blockIdx.x * cuda.blockDim.x + cuda.threadIdx.x
            row = cuda.blockIdx.y * cuda.blockDim.y + cuda.threadIdx.y
            f = cuda.blockIdx.z
            if row < out.shape[1] and col < out.shape[2]:
                high, wide = weight.shape[2], weight.shape[3]
                acc = bias[f]
                for k in range(weight.shape[1] * high * wide):
                    c, m, n = k // (high * wide), k // wide % high, k % wide
                    i, j = row * stride - pad + m, col * stride - pad + n
                    if not (i < 0 or j < 0 or i >= x.shape[1] or j >= x.shape[2]):
                        acc += weight[f, c, m, n] * x[c, i, j]
                out[f, row, col] = acc
        """),
    ),
]
