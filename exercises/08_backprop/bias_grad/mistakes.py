"""What learners get wrong here, by the sentence that names it: edits of the solution."""

MISTAKES = {
    "This is the mean over the samples. A bias takes part in each of them: their sum is asked.": [
        ("grad_bias[col] = total", "grad_bias[col] = total / np.float32(max(1, grad_out.shape[0]))")
    ],
    "Only every eighth sample was added: the sums of the 8 threads of a column are not joined.": """
        col = cuda.grid(1)
        ty = cuda.threadIdx.y
        acc = np.float32(0)
        if col < grad_out.shape[1]:
            for row in range(ty, grad_out.shape[0], DOWN):
                acc += grad_out[row, col]
            if ty == 0:
                grad_bias[col] = acc
    """,
    "Only the last of the 8 threads of a column counts: each stored its own sum over "
    "the others'. Join the 8 sums first.": """
        col = cuda.grid(1)
        ty = cuda.threadIdx.y
        acc = np.float32(0)
        if col < grad_out.shape[1]:
            for row in range(ty, grad_out.shape[0], DOWN):
                acc += grad_out[row, col]
            grad_bias[col] = acc
    """,
    "Only the first 8 samples were added: each thread took one and stopped.": [
        ("range(ty, grad_out.shape[0], DOWN)", "range(ty, min(DOWN, grad_out.shape[0]), DOWN)")
    ],
    "The samples behind the last whole 8 are missing: a division is rounded down.": [
        ("range(ty, grad_out.shape[0], DOWN)", "range(ty, grad_out.shape[0] // DOWN * DOWN, DOWN)")
    ],
    "The first of the 8 sums of a column is missing: k begins with 0.": [
        ("range(DOWN)", "range(1, DOWN)")
    ],
    "The last of the 8 sums of a column is missing: k goes on to DOWN - 1.": [
        ("range(DOWN)", "range(DOWN - 1)")
    ],
    "Each sum is 8 times as large as it should be: all 8 threads of a column added "
    "up all samples. They share them: range(ty, samples, DOWN).": [
        ("range(ty, grad_out.shape[0], DOWN)", "range(grad_out.shape[0])")
    ],
    "Each thread kept its last sample only: in its loop stands = where += belongs.": [
        ("acc += grad_out", "acc = grad_out")
    ],
    "The first sample is missing: samples are counted from 0.": [
        ("range(ty, grad", "range(ty + 1, grad")
    ],
    "Every block took the columns of the first: the column is cuda.grid(1), in "
    "grad_bias and in grad_out.": [("acc += grad_out[row, col]", "acc += grad_out[row, tx]")],
}
