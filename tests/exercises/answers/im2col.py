"""Answers to im2col."""

from tests.exercises.answers import Right, Wrong, body, edit, serial

ANSWERS = [
    Wrong(
        "places down the columns",
        edit(
            ("x.shape[2] - k_cols + 1", "x.shape[1] - k_rows + 1"),
            ("row, col = place // across", "col, row = place // across"),
        ),
        says="The places are counted down the columns",
    ),
    Wrong(
        "taps down the columns",
        edit(("tap // k_cols % k_rows, tap % k_cols", "tap % k_rows, tap // k_rows % k_cols")),
        says="Row and column within the window are exchanged",
    ),
    Wrong(
        "row and column of the window exchanged",
        edit(("row + m, col + n", "row + n, col + m")),
        says="Row and column within the window are exchanged",
    ),
    Wrong(
        "the column of the window forgotten",
        edit(("row + m, col + n", "row + m, col")),
        says="The column within the window, n, is not added",
    ),
    Wrong(
        "the channel fastest",
        body("""
            place, tap = cuda.grid(2)
            if tap < cols.shape[0] and place < cols.shape[1]:
                across = x.shape[2] - k_cols + 1
                c, within = tap % x.shape[0], tap // x.shape[0]
                m, n = within // k_cols, within % k_cols
                cols[tap, place] = x[c, place // across + m, place % across + n]
        """),
        says="The channels change fastest",
    ),
    Wrong(
        "a window turned round",
        edit(("row + m, col + n", "row + k_rows - 1 - m, col + k_cols - 1 - n")),
        says="The window is turned round",
    ),
    Wrong(
        "one channel",
        edit(("c = tap // (k_rows * k_cols)", "c = 0")),
        says="All taps take channel 0",
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
        says="stores the one element that is its own",
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
