"""What learners get wrong here, by the sentence that names it: edits of the solution."""

MISTAKES = {
    "The gradient is masked by its own sign; relu lets it through where net is positive.": [
        ("net[sample, row] > 0", "grad_out[sample, row] > 0")
    ],
    "The mask of relu is missing: where net is not positive, nothing comes back.": [
        ("if net[sample, row] > 0", "if True")
    ],
    "Where net is 0 the gradient passes here; there relu is flat: the comparison is net > 0.": [
        ("net[sample, row] > 0", "net[sample, row] >= 0")
    ],
    "The mask is turned around: the gradient goes through where net was positive.": [
        ("net[sample, row] > 0", "net[sample, row] <= 0")
    ],
    "Both net and the gradient must be positive here; only net must be.": [
        ("net[sample, row] > 0", "net[sample, row] > 0 and grad_out[sample, row] > 0")
    ],
    "Only the last block along z counts: each stored its own sum over the others'.": [
        ("cuda.atomic.add(grad_weight, (row, col), acc)", "grad_weight[row, col] = acc")
    ],
    "Only the first 16 samples count: first is cuda.blockIdx.z * SHARE, and all "
    "blocks along z add.": [
        ("first = cuda.blockIdx.z * SHARE", "first = 0 if cuda.blockIdx.z == 0 else x.shape[0]")
    ],
    "Each gradient is too large: every block along z took all samples. Block z takes 16 of them.": [
        ("range(first, min(first + SHARE, x.shape[0]))", "range(x.shape[0])")
    ],
    "Nothing is left of a sum: an atomic addition gives what stood there before, and "
    "to store that takes the addition back.": [
        ("cuda.atomic.add(grad_weight, (row, col), acc)", "grad_weight[row, col] = 0")
    ],
    "The blocks keep the largest of their sums, and 0: it is cuda.atomic.add, not max.": [
        ("atomic.add", "atomic.max")
    ],
    "This is the mean over the samples; their sum is asked.": [
        ("(row, col), acc)", "(row, col), acc / np.float32(x.shape[0]))")
    ],
    "net itself was multiplied in: it decides only whether the gradient goes through.": [
        ("acc += grad_out", "acc += net[sample, row] * grad_out")
    ],
}
