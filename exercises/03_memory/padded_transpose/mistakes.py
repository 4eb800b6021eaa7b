"""What learners get wrong here, by the sentence that names it: edits of the solution."""

MISTAKES = {
    "Each tile is stored where it came from: the tile at row top, column left of a "
    "belongs at row left, column top of out.": [
        ("left + k < out.shape[0] and top +", "top + k < out.shape[0] and left +"),
        ("out[left + k, top + tx]", "out[top + k, left + tx]"),
    ],
    "`cuda.blockIdx.x` and `cuda.blockIdx.y` are exchanged: left, a column of a, "
    "comes from x, and top from y.": [
        (
            "cuda.blockIdx.x * TILE, cuda.blockIdx.y * TILE",
            "cuda.blockIdx.y * TILE, cuda.blockIdx.x * TILE",
        )
    ],
    "Threads whose column lies outside a return before they store. They have "
    "elements of out to store: only the load and the store are guarded.": [
        (
            "        if left + k < out.shape[0] and top",
            "        if left + tx < a.shape[1] and left + k < out.shape[0] and top",
        )
    ],
}
