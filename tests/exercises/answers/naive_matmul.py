"""Answers to naive_matmul."""

from tests.exercises.answers import SERIAL_PRODUCT, Right, Wrong, body, edit

ANSWERS = [
    Wrong(
        "rows along x",
        edit(("col, row = cuda.grid(2)", "row, col = cuda.grid(2)")),
        says="never written",
    ),
    Wrong(
        "a guard on one axis only",
        edit((" and col < out.shape[1]", "")),
        says="guard the access",
    ),
    Wrong(
        "the last product left out",
        edit(("range(a.shape[1])", "range(a.shape[1] - 1)")),
        says="ends one too early",
    ),
    Wrong(
        "the first product left out",
        edit(("range(a.shape[1])", "range(1, a.shape[1])")),
        says="begins with 1",
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
        "each product replaces the one before",
        edit(("acc += a[row", "acc = a[row")),
        says="each one replaced the one before",
    ),
    Wrong(
        "the sum in float64",
        edit(("acc = np.float32(0)", "acc = 0.0")),
        says="operations in float64",
        grade="but",
    ),
    Wrong(
        "b is read along its rows",
        edit(("b[k, col]", "b[col, k]")),
        says="b is read along its rows",
    ),
    SERIAL_PRODUCT,
    Wrong(
        "the loop ends at N",
        edit(("range(a.shape[1])", "range(out.shape[1])")),
        says="The loop over k ends at N",
    ),
    Wrong(
        "the loop ends at M",
        edit(("range(a.shape[1])", "range(a.shape[0])")),
        says="The loop over k ends at M",
    ),
    Wrong(
        "the size of the largest case",
        edit(("range(a.shape[1])", "range(min(64, a.shape[1]))")),
        says="Only the first 64 products",
    ),
    Wrong(
        "the same product each time",
        edit(("a[row, k] * b[k, col]", "a[row, col] * b[row, col]")),
        says="The same product is added again and again",
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
