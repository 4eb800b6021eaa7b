"""What learners get wrong here, by the sentence that names it: edits of the solution."""

MISTAKES = {
    "The halo is missing: at both ends of a block the neighbours in the next block "
    "count as 0. The tile needs RADIUS elements more at each end.": """
        i = cuda.grid(1)
        tid = cuda.threadIdx.x
        tile = cuda.shared.array(BLOCK, np.float32)
        tile[tid] = x[i] if i < x.size else np.float32(0)
        cuda.syncthreads()
        if i < x.size:
            acc = np.float32(0)
            for m in range(weight.size):
                k = tid + m - RADIUS
                if k >= 0 and k < BLOCK:
                    acc += weight[m] * tile[k]
            out[i] = acc
    """,
    "The left part of the halo is missing: the first threads of a block lack the "
    "last elements of the block before.": [
        ("j >= 0 and j < x.size", "j >= first + RADIUS and j < x.size")
    ],
    "The right part of the halo is missing: the last threads of a block lack the "
    "first elements of the block behind.": [
        ("j >= 0 and j < x.size", "j >= 0 and j < min(x.size, first + RADIUS + BLOCK)")
    ],
    "The weights are reversed: weight[0] belongs to the leftmost element of the "
    "window, x[i - RADIUS].": [("acc += weight[m]", "acc += weight[weight.size - 1 - m]")],
    "The window begins at x[i]. It begins RADIUS elements before, so that x[i] is in its middle.": [
        ("cuda.blockIdx.x * BLOCK - RADIUS", "cuda.blockIdx.x * BLOCK")
    ],
    "The window ends at x[i]. Its middle is x[i]: three elements before it, three behind.": [
        ("first = cuda.blockIdx.x * BLOCK - RADIUS", "first = cuda.blockIdx.x * BLOCK - 2 * RADIUS")
    ],
    "Outside x the first and the last element are repeated; there should be 0.": [
        (
            "x[j] if j >= 0 and j < x.size else np.float32(0)",
            "x[min(max(j, 0), x.size - 1)] if x.size else np.float32(0)",
        )
    ],
    "The last weight is missing: there are 2 * RADIUS + 1 of them.": [
        ("range(weight.size)", "range(2 * RADIUS)")
    ],
    "The first weight is missing: m begins with 0.": [
        ("range(weight.size)", "range(1, weight.size)")
    ],
    "The weights are not multiplied in: this is the sum of the window.": [
        ("weight[m] * tile", "tile")
    ],
    "Only the last product is there: each one replaced the one before, not added to it.": [
        ("acc += weight", "acc = weight")
    ],
    "The fractions are lost: the shared array must be of np.float32, not of whole numbers.": [
        ("TILE, np.float32)", "TILE, np.int32)")
    ],
    "Outside x its other end is taken, as if it were a ring; there should be 0.": [
        ("x[j] if j >= 0 and j < x.size else np.float32(0)", "x[j % x.size]")
    ],
}
