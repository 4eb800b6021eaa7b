"""What learners get wrong here, by the sentence that names it: edits of the solution."""

MISTAKES = {
    "Rows and columns are exchanged: the launch covers a, x is its column, y its "
    "row. `col, row = cuda.grid(2)`.": [("col, row = cuda.grid(2)", "row, col = cuda.grid(2)")],
    "The elements are in the order of a: that is a reshape. Element [row, col] "
    "belongs at [col, row] of out.": [
        (
            "out[col, row] = a[row, col]",
            "k = row * a.shape[1] + col\n"
            "        out[k // a.shape[0], k % a.shape[0]] = a[row, col]",
        )
    ],
}
