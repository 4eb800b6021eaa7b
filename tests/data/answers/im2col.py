"""Answers to im2col."""

from tests.data.answers import Right, Wrong, body, edit, serial

ANSWERS = [
    Wrong(
        "row and column of the window exchanged",
        edit(("row + m, col + n", "row + n, col + m")),
        says="Row and column within the window are exchanged",
    ),
    Wrong(
        "the row of the window without its end",
        edit(("tap // k_cols % k_rows", "tap // k_cols")),
        says="how `row + m` is computed",
    ),
    Wrong(
        "as many places as columns",
        edit(("x.shape[2] - k_cols + 1", "x.shape[2]")),
        says="would hide the mistake",
    ),
    Wrong(
        "the axes of the launch exchanged",
        edit(("place, tap = cuda", "tap, place = cuda")),
        says="Rows and columns are exchanged",
    ),
    Wrong(
        "no guard",
        edit(("if tap < cols.shape[0] and place < cols.shape[1]", "if tap < cols.shape[0]")),
        says="guard the access",
    ),
    Wrong(
        "the first thread of a row writes the row",
        body("""
            place, tap = cuda.grid(2)
            if tap < cols.shape[0] and place == 0:
                across = x.shape[2] - k_cols + 1
                c = tap // (k_rows * k_cols)
                m, n = tap // k_cols % k_rows, tap % k_cols
                for p in range(cols.shape[1]):
                    cols[tap, p] = x[c, p // across + m, p % across + n]
        """),
        says="stores only its own element",
        grade="but",
    ),
    serial("""
        if cuda.grid(2) == (0, 0):
            across = x.shape[2] - k_cols + 1
            for tap in range(cols.shape[0]):
                for place in range(cols.shape[1]):
                    row, col = place // across, place % across
                    c = tap // (k_rows * k_cols)
                    cols[tap, place] = x[c, row + tap // k_cols % k_rows, col + tap % k_cols]
    """),
    Right(
        "remainders by subtraction",
        body("""
            place, tap = cuda.grid(2)
            if tap >= cols.shape[0] or place >= cols.shape[1]:
                return
            across = x.shape[2] + 1 - k_cols
            row = place // across
            col = place - row * across
            c = tap // (k_rows * k_cols)
            tap_in_window = tap - c * k_rows * k_cols
            m = tap_in_window // k_cols
            cols[tap, place] = x[c, row + m, col + tap_in_window - m * k_cols]
        """),
    ),
    Right(
        "divmod by loops, a grid-stride loop along the places",
        body("""
            start, tap = cuda.grid(2)
            high, across = k_rows * k_cols, x.shape[2] - k_cols + 1
            if tap < cols.shape[0]:
                for place in range(start, cols.shape[1], cuda.gridsize(2)[0]):
                    i = place // across + tap % high // k_cols
                    j = place % across + tap % high % k_cols
                    cols[tap, place] = x[tap // high, i, j]
        """),
    ),
]
