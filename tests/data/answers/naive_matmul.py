"""Answers to naive_matmul."""

from tests.data.answers import SERIAL_PRODUCT, Right, Wrong, body, edit

ANSWERS = [
    Wrong(
        "rows along x",
        edit(("col, row = cuda.grid(2)", "row, col = cuda.grid(2)")),
        says="never written",
    ),
    Wrong(
        "a guard on one axis only", edit((" and col < out.shape[1]", "")), says="guard the access"
    ),
    Wrong(
        "the sum is kept in out, which starts with anything",
        body("""
            col, row = cuda.grid(2)
            if row < out.shape[0] and col < out.shape[1]:
                for k in range(a.shape[1]):
                    out[row, col] += a[row, k] * b[k, col]
        """),
        says="Something was added to what stood in out before",
    ),
    Wrong(
        "the sum in float64",
        edit(("acc = np.float32(0)", "acc = 0.0")),
        says="operations in float64",
        grade="but",
    ),
    SERIAL_PRODUCT,
    Wrong(
        "the size of the largest case",
        edit(("range(a.shape[1])", "range(min(64, a.shape[1]))")),
        says="Only the first 64 products",
    ),
    Wrong(
        "a is read twice",
        edit(("a[row, k] * b", "np.float32(0.5) * (a[row, k] + a[row, k]) * b")),
        says="112 reads of a for each element",
        grade="but",
    ),
    Right(
        "a while loop",
        body("""
            x, y = cuda.grid(2)
            if x >= b.shape[1] or y >= a.shape[0]:
                return
            total, k = np.float32(0), 0
            while k < b.shape[0]:
                total += b[k, x] * a[y, k]
                k += 1
            out[y, x] = total
        """),
    ),
    Right(
        "from the last product to the first",
        edit(("range(a.shape[1])", "range(a.shape[1] - 1, -1, -1)")),
    ),
]
