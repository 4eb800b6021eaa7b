"""What learners get wrong here, by the sentence that names it: edits of the solution."""

MISTAKES = {
    "These are the sums before each element: an exclusive scan. The element itself "
    "belongs to its running sum.": [("out[i] = tile[tid]", "out[i] = tile[tid] - x[i]")],
    "These are the sums before each element: an exclusive scan, in the totals too.": [
        ("        out[i] = tile[tid]", "        out[i] = tile[tid] - x[i]"),
        ("= tile[tid]\n", "= tile[tid] - (x[i] if i < x.size else np.float32(0))\n"),
    ],
    "Some sums lack their first element: the thread with tid == step has a neighbour "
    "to its left too, so the comparison is tid >= step.": [("if tid >= step", "if tid > step")],
    "The total of a block is its last running sum, not its first element.": [
        ("if tid == BLOCK - 1", "if tid == 0")
    ],
    "The total of a block is its last running sum, tile[BLOCK - 1], not its last element.": [
        (
            "totals[cuda.blockIdx.x] = tile[tid]",
            "totals[cuda.blockIdx.x] = x[i] if i < x.size else np.float32(0)",
        )
    ],
    "The sums run on from block to block; each block is asked for itself.": [
        (
            "    tile[tid] = x[i] if i < x.size else np.float32(0)\n",
            "    tile[tid] = x[i] if i < x.size else np.float32(0)\n"
            "    if tid == 0:\n"
            "        for k in range(min(i, x.size)):\n"
            "            tile[0] += x[k]\n",
        )
    ],
    "Blocks that are not full have no total. Thread BLOCK - 1 stores it even past "
    "the end: it must not return early or stand behind i < x.size.": [
        ("if tid == BLOCK - 1:", "if tid == BLOCK - 1 and i < x.size:")
    ],
    "Only the block of the last element has a total. Each block stores its own, by "
    "thread BLOCK - 1, which is there even past the end.": [
        ("if tid == BLOCK - 1", "if i == x.size - 1")
    ],
    "The last step is missing: step must reach 64, so the loop goes on while step < BLOCK.": [
        ("while step < BLOCK:", "while step < BLOCK // 2:")
    ],
    "The first step is missing: step begins at 1.": [("step = 1", "step = 2")],
    "These are the sums within each warp of 32. The sums of the warps before it in "
    "the block are missing.": """
        i = cuda.grid(1)
        value = x[i] if i < x.size else np.float32(0)
        for step in (1, 2, 4, 8, 16):
            left = cuda.shfl_up_sync(0xFFFFFFFF, value, step)
            if cuda.laneid >= step:
                value += left
        if i < x.size:
            out[i] = value
        if cuda.threadIdx.x == BLOCK - 1:
            totals[cuda.blockIdx.x] = value
    """,
    "Some elements were added more than once: step must double, 1, 2, 4, ..., 64; "
    "here it grows by 1.": [("step *= 2", "step += 1")],
    "The fractions are lost: the shared array must be of np.float32, not of whole numbers.": [
        ("shared.array(BLOCK, np.float32)", "shared.array(BLOCK, np.int32)")
    ],
}
