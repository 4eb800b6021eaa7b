"""Answers to broadcast."""

from tests.data.answers import Right, Wrong, body, edit

ANSWERS = [
    Wrong(
        "row and column exchanged",
        edit(("= left[r] + top[c]", "= left[c] + top[r]")),
        says="uses left[1] in line 11, but left has only 1 element",
    ),
    Wrong(
        "rows along x", edit(("c, r = cuda.grid(2)", "r, c = cuda.grid(2)")), says="never written"
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
        "top at the row",
        edit(("= left[r] + top[c]", "= left[r] + top[r]")),
        says="top is read at the row",
    ),
    Wrong(
        "a row for each thread",
        body("""
            c, r = cuda.grid(2)
            if c == 0 and r < out.shape[0]:
                for k in range(out.shape[1]):
                    out[r, k] = left[r] + top[k]
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
            value = top[x]
            value += left[y]
            out[y, x] = value
        """),
    ),
    Right(
        "the places named row and col",
        body("""
            col, row = cuda.grid(2)
            if row < out.shape[0] and col < out.shape[1]:
                out[row, col] = left[row] + top[col]
        """),
    ),
    Right(
        "the lengths of left and top in the guard",
        edit(("r < out.shape[0] and c < out.shape[1]", "c < top.size and r < left.size")),
    ),
]
