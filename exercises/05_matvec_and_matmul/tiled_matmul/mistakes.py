"""What learners get wrong here, by the sentence that names it: edits of the solution."""

MISTAKES = {
    "The last products of each sum are missing: the number of steps is rounded down.": [
        ("(k_size + TILE - 1) // TILE", "k_size // TILE")
    ],
    "Only the products of the last step are there: acc is set to 0 once, before the loop.": [
        (
            "        a_tile[ty, tx] = np.float32(0)\n",
            "        acc = np.float32(0)\n        a_tile[ty, tx] = np.float32(0)\n",
        )
    ],
    "The guard of the store exchanges the sizes: row is less than out.shape[0], col "
    "less than out.shape[1].": [
        (
            "if row < out.shape[0] and col < out.shape[1]",
            "if row < min(out.shape) and col < min(out.shape)",
        )
    ],
    "The tile of b is turned: b_tile[ty, tx] is stored, and b_tile[k, tx] is read.": [
        ("b_tile[k, tx]", "b_tile[tx, k]")
    ],
    "The tile of a is turned: a_tile[ty, tx] is stored, and a_tile[ty, k] is read.": [
        ("acc += a_tile[ty, k]", "acc += a_tile[k, ty]")
    ],
    "Both tiles are turned: a_tile[ty, k] and b_tile[k, tx] are read.": [
        ("a_tile[ty, k] * b_tile[k, tx]", "a_tile[k, ty] * b_tile[tx, k]")
    ],
    "tx stands where ty should when b is loaded: its row is t * TILE + ty.": [
        ("t * TILE + ty < k_size", "t * TILE + tx < k_size"),
        ("b[t * TILE + ty, col]", "b[t * TILE + tx, col]"),
    ],
    "ty stands where tx should when a is loaded: its column is t * TILE + tx.": [
        (
            "            a_tile[ty, tx] = a[row, t * TILE + tx]",
            "            a_tile[ty, tx] = a[row, t * TILE + ty] if t * TILE + ty < k_size else 0",
        )
    ],
    "Rows and columns are exchanged: x is the column, y the row. `col, row = cuda.grid(2)`.": [
        ("col, row = cuda.grid(2)", "row, col = cuda.grid(2)")
    ],
    "Elements of the step before were added again: where a tile ends behind K, it "
    "must be set to 0 in each step, not only before the first.": [
        (
            "        a_tile[ty, tx] = np.float32(0)\n",
            "        if t == 0:\n            a_tile[ty, tx] = np.float32(0)\n",
        ),
        (
            "        b_tile[ty, tx] = np.float32(0)\n",
            "        if t == 0:\n            b_tile[ty, tx] = np.float32(0)\n",
        ),
    ],
    "One condition guards both loads. A thread that has no element of out still "
    "loads for others: each tile has a guard of its own.": [
        (
            "        if row < a.shape[0] and t",
            "        whole = row < out.shape[0] and col < out.shape[1]\n"
            "        if whole and row < a.shape[0] and t",
        ),
        ("        if col < b.shape[1] and t", "        if whole and col < b.shape[1] and t"),
    ],
    "Only the first 16 products of each sum are there: the number of steps must come "
    "from K, (k_size + TILE - 1) // TILE.": [
        ("range((k_size + TILE - 1) // TILE)", "range(min(1, (k_size + TILE - 1) // TILE))")
    ],
    "Only the first 32 products of each sum are there: the number of steps must come "
    "from K, (k_size + TILE - 1) // TILE.": [
        ("range((k_size + TILE - 1) // TILE)", "range(min(2, (k_size + TILE - 1) // TILE))")
    ],
    "The number of steps comes from M, the rows of a. It comes from K, a.shape[1].": [
        ("range((k_size + TILE - 1) // TILE)", "range((out.shape[0] + TILE - 1) // TILE)")
    ],
    "The number of steps comes from N, the columns of b. It comes from K, a.shape[1].": [
        ("range((k_size + TILE - 1) // TILE)", "range((out.shape[1] + TILE - 1) // TILE)")
    ],
    "Only the first 48 products of each sum are there: the number of steps must come "
    "from K, (k_size + TILE - 1) // TILE.": [
        ("range((k_size + TILE - 1) // TILE)", "range(min(3, (k_size + TILE - 1) // TILE))")
    ],
    "The last products are added again past K: there the tiles must hold 0.": [
        ("row < a.shape[0] and t * TILE + tx < k_size", "row < a.shape[0]"),
        ("a[row, t * TILE + tx]", "a[row, min(t * TILE + tx, k_size - 1)]"),
        ("col < b.shape[1] and t * TILE + ty < k_size", "col < b.shape[1]"),
        ("b[t * TILE + ty, col]", "b[min(t * TILE + ty, k_size - 1), col]"),
    ],
}
