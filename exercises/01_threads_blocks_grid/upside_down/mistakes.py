"""What learners get wrong here, by the sentence that names it: edits of the solution."""

MISTAKES = {
    "Nothing was moved: every pixel is where it was.": [("out.shape[0] - 1 - row", "row")],
    "The middle row is empty where their number is odd: it belongs to neither half.": """
        col, row = cuda.grid(2)
        last = out.shape[0] - 1
        if row < out.shape[0] // 2 and col < out.shape[1]:
            out[row, col] = photo[last - row, col]
            out[last - row, col] = photo[row, col]
    """,
    "Each block turns its own rows; the whole picture is asked: out.shape[0] - 1 - row.": """
        col, row = cuda.grid(2)
        if row < out.shape[0] and col < out.shape[1]:
            new = row - cuda.threadIdx.y + 7 - cuda.threadIdx.y
            if new < out.shape[0]:
                out[new, col] = photo[row, col]
    """,
    "The rows are counted from the end of the grid; the last row of the picture is "
    "out.shape[0] - 1.": [
        (
            "out[out.shape[0] - 1 - row, col] = photo[row, col]",
            "k = cuda.gridsize(2)[1] - 1 - row\n"
            "        if k < out.shape[0]:\n"
            "            out[k, col] = photo[row, col]",
        )
    ],
    "Left and right are exchanged, not top and bottom: the row must change.": [
        ("out[out.shape[0] - 1 - row, col]", "out[row, out.shape[1] - 1 - col]")
    ],
    "Top and bottom are exchanged, but so are left and right: only the row changes.": [
        ("- row, col] = ", "- row, out.shape[1] - 1 - col] = ")
    ],
}
