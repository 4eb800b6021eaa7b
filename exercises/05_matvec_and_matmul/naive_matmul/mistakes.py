"""What learners get wrong here, by the sentence that names it: edits of the solution."""

MISTAKES = {
    "The last product of each sum is missing: the loop ends one too early.": [
        ("range(a.shape[1])", "range(a.shape[1] - 1)")
    ],
    "The first product of each sum is missing: the loop begins with 1.": [
        ("range(a.shape[1])", "range(1, a.shape[1])")
    ],
    "Only the last product is there: each one replaced the one before, not added to it.": [
        ("acc += a[row", "acc = a[row")
    ],
    "The products are rounded to whole numbers before they are added: no int() in "
    "the sum, which begins with np.float32(0).": [
        ("a[row, k] * b[k, col]", "int(a[row, k] * b[k, col])")
    ],
    "Rows and columns are exchanged: x is the column, y the row. `col, row = cuda.grid(2)`.": [
        ("col, row = cuda.grid(2)", "row, col = cuda.grid(2)")
    ],
    "The guard exchanges the sizes: row is less than out.shape[0], col less than out.shape[1].": [
        (
            "row < out.shape[0] and col < out.shape[1]",
            "row < min(out.shape) and col < min(out.shape)",
        )
    ],
    "b is read along its rows: b[col, k] for b[k, col].": [("b[k, col]", "b[col, k]")],
    "a is read along its columns: a[k, row] for a[row, k].": [
        ("a[row, k] * b[k, col]", "a[k % a.shape[0], row % a.shape[1]] * b[k, col]")
    ],
    "This is one product, a[row, col] * b[row, col]. It needs a sum over k.": [
        (
            "acc += a[row, k] * b[k, col]",
            "acc = a[row, col % a.shape[1]] * b[row % b.shape[0], col]",
        )
    ],
    "The same product is added again and again, a[row, col] * b[row, col]: the "
    "factors are a[row, k] and b[k, col].": [
        ("a[row, k] * b[k, col]", "a[row, col] * b[row, col]")
    ],
    "The loop over k ends at M, the rows of a. It ends at K, the columns of a: a.shape[1].": [
        ("range(a.shape[1])", "range(a.shape[0])")
    ],
    "The loop over k ends at N, the columns of b. It ends at K, the columns of a: a.shape[1].": [
        ("range(a.shape[1])", "range(out.shape[1])")
    ],
    "The guard compares col with K, the columns of a. It is less than out.shape[1].": [
        ("col < out.shape[1]", "col < min(out.shape[1], a.shape[1])")
    ],
}
