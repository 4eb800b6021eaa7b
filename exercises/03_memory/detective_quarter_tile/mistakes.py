"""What learners get wrong here, by the sentence that names it: edits of the solution."""

MISTAKES = {
    "The tiles are stored as they were loaded: not transposed.": [("tile[tx, k]", "tile[k, tx]")],
    "The whole picture is transposed. Each tile should stay in its place: out[top + "
    "k, left + tx].": [("out[top + k, left + tx]", "out[left + k, top + tx]")],
}
