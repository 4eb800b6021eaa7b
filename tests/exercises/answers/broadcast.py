"""Answers to broadcast."""

from tests.exercises.answers import Right, Wrong, body, edit

ANSWERS = [
    Wrong(
        "row and column exchanged",
        edit(("= column[r] + row[c]", "= column[c] + row[r]")),
        says="uses column[1] in line 11, but column has only 1 element",
    ),
    Wrong(
        "rows along x",
        edit(("c, r = cuda.grid(2)", "r, c = cuda.grid(2)")),
        says="never written",
    ),
    Wrong(
        "the place in the block for that in the grid",
        edit(("c, r = cuda.grid(2)", "c, r = cuda.threadIdx.x, cuda.threadIdx.y")),
        says="`cuda.grid(2)` gives column and row",
    ),
    Wrong(
        "a guard on one axis only",
        edit(("r < out.shape[0] and c < out.shape[1]", "c < out.shape[1]")),
        says="r < ",
    ),
    Wrong(
        "a product",
        edit(("= column[r] + row[c]", "= column[r] * row[c]")),
        says="These are products",
    ),
    Wrong(
        "a row for each thread",
        body("""
            c, r = cuda.grid(2)
            if c == 0 and r < out.shape[0]:
                for k in range(out.shape[1]):
                    out[r, k] = column[r] + row[k]
        """),
        says="reads of",
        grade="but",
    ),
    Right(
        "through a variable",
        body("""
            x, y = cuda.grid(2)
            rows, cols = out.shape
            if x >= cols or y >= rows:
                return
            value = row[x]
            value += column[y]
            out[y, x] = value
        """),
    ),
    Right(
        "the lengths of column and row in the guard",
        edit(("r < out.shape[0] and c < out.shape[1]", "c < row.size and r < column.size")),
    ),
]
