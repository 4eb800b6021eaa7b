"""What learners get wrong here, by the sentence that names it: edits of the solution."""

MISTAKES = {
    "The picture is mirrored about the wrong column: column 0 should take the last "
    "one, number cols - 1.": [("cols - 1 - col", "min(cols - col, cols - 1)")],
    "Column 0 is empty, and the others take what stands one place too far right: the "
    "last column is number cols - 1, and column 0 takes it.": [
        ("col < cols", "0 < col < cols"),
        ("cols - 1 - col", "cols - col"),
    ],
    "The middle column is empty where their number is odd: it belongs to neither half.": [
        ("        out[row, col] =", "        if 2 * col + 1 != cols:\n            out[row, col] =")
    ],
    "Each block mirrors its own columns; the whole row is asked: cols - 1 - col.": [
        ("cols - 1 - col", "col - col % 32 + min(32, cols - col + col % 32) - 1 - col % 32")
    ],
    "The picture is not mirrored at all.": [("cols - 1 - col", "col")],
    "Top and bottom are exchanged; left and right are asked.": [
        ("photo[row, cols - 1 - col]", "photo[rows - 1 - row, col]")
    ],
    "The picture is turned by half a turn: the rows are exchanged as well.": [
        ("photo[row, cols - 1 - col]", "photo[rows - 1 - row, cols - 1 - col]")
    ],
}
