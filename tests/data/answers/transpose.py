"""Answers to transpose."""

from tests.data.answers import Right, Wrong, body, edit

ANSWERS = [
    Wrong(
        "a copy",
        edit(("out[col, row]", "out[row, col]")),
        says="The elements are in the order of a",
    ),
    Wrong(
        "the guard of the other array",
        edit(("row < a.shape[0] and col < a.shape[1]", "row < a.shape[1] and col < a.shape[0]")),
        says="the shape of a is",
    ),
    Wrong(
        "a guard on one axis only",
        edit((" and col < a.shape[1]", "")),
        says="`if col < a.shape[1]:`",
    ),
    Wrong(
        "the place in the block for that in the grid",
        edit(("col, row = cuda.grid(2)", "col, row = cuda.threadIdx.x, cuda.threadIdx.y")),
        says="`cuda.grid(2)` gives column and row",
    ),
    Wrong(
        "a row for each thread",
        body("""
            col, row = cuda.grid(2)
            if col == 0 and row < a.shape[0]:
                for k in range(a.shape[1]):
                    out[k, row] = a[row, k]
        """),
        says="reads of a one after the other",
        grade="but",
    ),
    Right(
        "the guard by the shape of out",
        edit(("a.shape[0] and col < a.shape[1]", "out.shape[1] and col < out.shape[0]")),
    ),
    Right(
        "a transposed view",
        body("""
            col, row = cuda.grid(2)
            if row < a.shape[0] and col < a.shape[1]:
                out.T[row, col] = a[row, col]
        """),
    ),
]
