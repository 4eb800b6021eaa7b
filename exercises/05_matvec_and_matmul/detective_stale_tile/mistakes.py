"""What learners get wrong here, by the sentence that names it: edits of the solution."""

MISTAKES = {
    "The last products of each sum are missing: the number of steps is rounded down.": [
        ("(k_size + TILE - 1) // TILE", "k_size // TILE")
    ],
    "Only the products of the last step are there: acc is set to 0 once, before the loop.": [
        (
            "        cuda.syncthreads()\n        for k in",
            "        acc = zero\n        cuda.syncthreads()\n        for k in",
        )
    ],
    "Only the first 16 products of each sum are there: the number of steps must come "
    "from K, (k_size + TILE - 1) // TILE.": [
        ("range((k_size + TILE - 1) // TILE)", "range(min(1, (k_size + TILE - 1) // TILE))")
    ],
    "Only the first 32 products of each sum are there: the number of steps must come "
    "from K, (k_size + TILE - 1) // TILE.": [
        ("range((k_size + TILE - 1) // TILE)", "range(min(2, (k_size + TILE - 1) // TILE))")
    ],
    "Only the first 48 products of each sum are there: the number of steps must come "
    "from K, (k_size + TILE - 1) // TILE.": [
        ("range((k_size + TILE - 1) // TILE)", "range(min(3, (k_size + TILE - 1) // TILE))")
    ],
}
