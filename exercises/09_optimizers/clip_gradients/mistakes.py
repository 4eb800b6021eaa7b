"""What learners get wrong here, by the sentence that names it: edits of the solution."""

MISTAKES = {
    "A vector a little longer than MOST stays as it is: the comparison is norm > MOST.": [
        (
            "MOST / norm if norm > MOST else np.float32(1)",
            "MOST / norm if norm > 2 * MOST else np.float32(1)",
        )
    ],
    "Each element was clipped for itself, to -MOST ... MOST. The vector as a whole "
    "is made shorter, all elements by the same factor.": """
        for i in range(cuda.threadIdx.x, grad.size, BLOCK):
            out[i] = max(-MOST, min(MOST, grad[i]))
    """,
    "Short vectors were made longer: a norm below MOST stays as it is, so the factor "
    "is at most 1.": [
        (
            "MOST / norm if norm > MOST else np.float32(1)",
            "MOST / norm if norm > 0 else np.float32(1)",
        )
    ],
    "The vector is divided by the sum of squares; the norm is its root.": [
        ("math.sqrt(tile[0])", "tile[0]")
    ],
    "The norm is the sum of the sizes here; it is the root of the sum of squares.": [
        ("squares += grad[i] * grad[i]", "squares += abs(grad[i])"),
        ("math.sqrt(tile[0])", "tile[0]"),
    ],
    "The norm is the largest size here; it is the root of the sum of squares.": [
        ("squares += grad[i] * grad[i]", "squares = max(squares, grad[i] * grad[i])"),
        ("tile[tid] += tile[tid + half]", "tile[tid] = max(tile[tid], tile[tid + half])"),
    ],
    "The squares were divided by their number: the norm is the root of their sum, "
    "not of their mean.": [
        ("math.sqrt(tile[0])", "math.sqrt(tile[0] / np.float32(max(1, grad.size)))")
    ],
    "Each thread took its own elements for the vector: the sums of the 128 threads "
    "must be joined.": [("math.sqrt(tile[0])", "math.sqrt(squares)")],
    "The last level of the tree is missing: half must come down to 1.": [
        ("while half > 0", "while half > 1")
    ],
    "The first level of the tree is missing: half begins at 64.": [
        ("half = BLOCK // 2", "half = BLOCK // 4")
    ],
    "Only the first 128 elements count for the norm: each thread took one.": [
        (
            "    for i in range(tid, grad.size, BLOCK):\n        squares",
            "    for i in range(tid, min(grad.size, BLOCK), BLOCK):\n        squares",
        )
    ],
    "The elements behind the last whole 128 are missing in the norm.": [
        ("        squares +=", "        if i < grad.size // BLOCK * BLOCK:\n            squares +=")
    ],
    "Only the first 128 elements were written, and count: each thread took one. "
    "There are 128 threads and takes the rest in a loop.": """
        tid = cuda.threadIdx.x
        tile = cuda.shared.array(BLOCK, np.float32)
        tile[tid] = grad[tid] * grad[tid] if tid < grad.size else np.float32(0)
        cuda.syncthreads()
        half = BLOCK // 2
        while half > 0:
            if tid < half:
                tile[tid] += tile[tid + half]
            cuda.syncthreads()
            half //= 2
        norm = math.sqrt(tile[0])
        if tid < grad.size:
            out[tid] = grad[tid] * (MOST / norm if norm > MOST else np.float32(1))
    """,
    "Nothing was made shorter: this is grad itself.": [
        ("    cuda.syncthreads()  # all sums are there before any thread adds another's\n", "")
    ],
    "A vector that is too long became 0; it is made shorter.": [
        (
            "MOST / norm if norm > MOST else np.float32(1)",
            "np.float32(0) if norm > MOST else np.float32(1)",
        )
    ],
}
