"""What learners get wrong here, by the sentence that names it: edits of the solution."""

MISTAKES = {
    "The row within the window, m, is not added: x[c, row + m, col + n].": [
        ("x[c, row + m, col + n]", "x[c, row, col + n]")
    ],
    "The column within the window, n, is not added: x[c, row + m, col + n].": [
        ("row + m, col + n", "row + m, col")
    ],
    "The row of the place is not added: x[c, row + m, col + n].": [
        ("x[c, row + m, col + n]", "x[c, m, col + n]")
    ],
    "The column of the place is not added: x[c, row + m, col + n].": [
        ("x[c, row + m, col + n]", "x[c, row + m, n]")
    ],
    "The places are counted down the columns of places. They are counted along the "
    "rows: row = place // across, col = place % across.": [
        ("x.shape[2] - k_cols + 1", "x.shape[1] - k_rows + 1"),
        ("row, col = place // across", "col, row = place // across"),
    ],
    "Row and column within the window are exchanged. The taps are counted along its "
    "rows: tap % k_cols is the column.": [
        ("tap // k_cols % k_rows, tap % k_cols", "tap % k_rows, tap // k_rows % k_cols")
    ],
    "The channels change fastest along the taps; the column in the window should, "
    "and the channel last.": """
        place, tap = cuda.grid(2)
        if tap < cols.shape[0] and place < cols.shape[1]:
            across = x.shape[2] - k_cols + 1
            c, within = tap % x.shape[0], tap // x.shape[0]
            m, n = within // k_cols, within % k_cols
            cols[tap, place] = x[c, place // across + m, place % across + n]
    """,
    "The window is turned round: tap 0 is the upper left pixel of the window.": [
        ("row + m, col + n", "row + k_rows - 1 - m, col + k_cols - 1 - n")
    ],
    "All taps take channel 0: c = tap // (k_rows * k_cols).": [
        ("c = tap // (k_rows * k_cols)", "c = 0")
    ],
    "Rows repeat the same pixels: the place in the window, m and n, is not added.": [
        ("x[c, row + m, col + n]", "x[c, row, col]")
    ],
    "The same window stands in every column: row and col of the place are not added.": [
        ("x[c, row + m, col + n]", "x[c, m, n]")
    ],
}
