"""What learners get wrong here, by the sentence that names it: edits of the solution."""

MISTAKES = {
    "The last level is missing: half must come down to 1. The sum of elements 1, 3, "
    "5, ... is left in tile[1].": [("while half > 0", "while half > 1")],
    "The first level is missing: half begins at 64. Only elements 0 to 63 of each "
    "block were added.": [("half = BLOCK // 2", "half = BLOCK // 4")],
    "This is the first element of each block: nothing was added to tile[0]. Threads "
    "with tid < half add tile[tid + half] to tile[tid].": [
        ("tile[tid] += tile[tid + half]", "tile[tid + half] += tile[tid]")
    ],
    "This is the last element of each block: in the tree stands = where += belongs.": [
        ("tile[tid] += tile", "tile[tid] = tile")
    ],
    "The fractions are lost: the shared array must be of np.float32, not of whole numbers.": [
        ("shared.array(BLOCK, np.float32)", "shared.array(BLOCK, np.int32)")
    ],
    "Some elements were added twice and others not at all: with tid < half the steps "
    "must fall, 64, 32, ..., 1; here they rise.": [
        ("half = BLOCK // 2", "half = 1"),
        ("while half > 0", "while half < BLOCK"),
        ("half //= 2", "half *= 2"),
    ],
    "The tree over an odd number of elements leaves one out at each odd level: it "
    "always begins with 64, and elements that are missing count as 0.": [
        (
            "    half = BLOCK // 2\n",
            "    count = min(BLOCK, x.shape[0] - cuda.blockIdx.x * BLOCK)\n    half = count // 2\n",
        )
    ],
    "With no elements nothing was stored: all threads had returned. The sum is 0 "
    "then, and all threads of a block must reach its barriers: no early return.": [
        (
            "    # Threads past the end add 0",
            "    if i >= x.shape[0]:\n        return\n    # Threads past the end add 0",
        )
    ],
    "Every level added the next neighbour, tile[tid + 1]. From the second level on "
    "the partner stands further off: tile[tid + step].": [
        ("tile[tid] += tile[tid + half]", "tile[tid] += tile[tid + 1]")
    ],
    "Each block added the elements of block 0: x is read at cuda.grid(1), tile at "
    "cuda.threadIdx.x.": [("x[i] if i < x.shape[0]", "x[tid] if tid < x.shape[0]")],
}
