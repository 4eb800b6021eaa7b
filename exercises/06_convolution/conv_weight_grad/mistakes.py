"""What learners get wrong here, by the sentence that names it: edits of the solution."""

MISTAKES = {
    "The two indices of a weight are exchanged: m, its row, comes from "
    "cuda.blockIdx.y and goes with the row of x.": [
        ("col] * x[row + m, col + n]\n", "col] * x[row + n, col + m]\n")
    ],
    "The window is turned round: the weight [0, 0] meets x[row, col], the upper left "
    "pixel of each window.": [
        (
            "col] * x[row + m, col + n]\n",
            "col] * x[row + grad_weight.shape[0] - 1 - m, col + grad_weight.shape[1] - 1 - n]\n",
        )
    ],
    "All weights have the same gradient: the pixel that a weight meets is x[row + m, col + n].": [
        ("col] * x[row + m, col + n]\n", "col] * x[row, col]\n")
    ],
    "Only the first 128 results were added: each thread took one and stopped.": [
        ("range(tid, grad_out.size, BLOCK)", "range(tid, min(BLOCK, grad_out.size), BLOCK)")
    ],
    "The results behind the last whole 128 are missing: a division is rounded down.": [
        ("range(tid, grad_out.size, BLOCK)", "range(tid, grad_out.size // BLOCK * BLOCK, BLOCK)")
    ],
    "This is the part of thread 0: the sums of the 128 threads are not added up.": """
        n, m = cuda.blockIdx.x, cuda.blockIdx.y
        tid = cuda.threadIdx.x
        acc = np.float32(0)
        for k in range(tid, grad_out.size, BLOCK):
            row, col = k // grad_out.shape[1], k % grad_out.shape[1]
            acc += grad_out[row, col] * x[row + m, col + n]
        if tid == 0:
            grad_weight[m, n] = acc
    """,
    "The last level of the tree is missing: half must come down to 1.": [
        ("while half > 0", "while half > 1")
    ],
    "The first level of the tree is missing: half begins at 64.": [
        ("half = BLOCK // 2", "half = BLOCK // 4")
    ],
    "Each thread kept its last product only: in its loop stands = where += belongs.": [
        ("acc += grad_out", "acc = grad_out")
    ],
    "Only the first row of results was added: the sum goes over all of grad_out.": [
        ("range(tid, grad_out.size, BLOCK)", "range(tid, across, BLOCK)")
    ],
    "The columns of grad_out from 128 on are missing: a thread takes column tid, and goes on to "
    "tid + 128.": [
        ("        acc += grad_out[row", "        if col < BLOCK:\n            acc += grad_out[row")
    ],
    "This is the mean over the results; their sum is asked.": [
        ("= tile[0]", "= tile[0] / np.float32(grad_out.size)")
    ],
    "grad_out is not multiplied in: this is the sum of the pixels that it met.": [
        ("acc += grad_out[row, col] * x", "acc += x")
    ],
}
