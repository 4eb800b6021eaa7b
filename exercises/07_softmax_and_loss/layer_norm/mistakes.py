"""What learners get wrong here, by the sentence that names it: edits of the solution."""

MISTAKES = {
    "The variance is divided by columns - 1; it is the mean of the squared "
    "distances, divided by columns.": [
        (
            "math.sqrt(variance / size + EPS)",
            "math.sqrt(variance / max(size - np.float32(1), np.float32(1)) + EPS)",
        )
    ],
    "EPS is added to the root; it belongs under it: sqrt(variance + EPS).": [
        ("math.sqrt(variance / size + EPS)", "math.sqrt(variance / size) + EPS")
    ],
    "The root is missing: divide by sqrt(variance + EPS).": [
        ("math.sqrt(variance / size + EPS)", "variance / size + EPS")
    ],
    "The mean is not subtracted in the last step.": [
        (
            "(x[row, k] - mean) / spread * gain[k] + shift[k]",
            "x[row, k] / spread * gain[k] + shift[k]",
        )
    ],
    "The mean is not subtracted before the squares are added up: the variance is the "
    "mean of the squared distances.": [("distance = x[row, k] - mean", "distance = x[row, k]")],
    "The variance was not divided by the number of columns.": [
        ("math.sqrt(variance / size + EPS)", "math.sqrt(variance + EPS)")
    ],
    "The gain is not multiplied in: gain[k].": [
        (
            "(x[row, k] - mean) / spread * gain[k] + shift[k]",
            "(x[row, k] - mean) / spread + shift[k]",
        )
    ],
    "The shift is not added: shift[k].": [(" + shift[k]", "")],
    "gain and shift are exchanged: * gain[k] + shift[k].": [
        (
            "(x[row, k] - mean) / spread * gain[k] + shift[k]",
            "(x[row, k] - mean) / spread * shift[k] + gain[k]",
        )
    ],
    "The shift is multiplied by the gain, too: the gain comes first, then the shift.": [
        (
            "(x[row, k] - mean) / spread * gain[k] + shift[k]",
            "((x[row, k] - mean) / spread + shift[k]) * gain[k]",
        )
    ],
    "All columns take the first gain and the first shift: gain[k], shift[k].": [
        ("gain[k] + shift[k]", "gain[0] + shift[0]")
    ],
    "Each lane took the mean of its own columns: the sums of the 32 lanes must be "
    "added up, by shuffles.": [
        (
            "        for offset in (16, 8, 4, 2, 1):\n"
            "            mean += cuda.shfl_xor_sync(ALL, mean, offset)\n",
            "",
        )
    ],
    "Each lane took the variance of its own columns: the sums of the 32 lanes must "
    "be added up, by shuffles.": [
        (
            "        for offset in (16, 8, 4, 2, 1):\n"
            "            variance += cuda.shfl_xor_sync(ALL, variance, offset)\n",
            "",
        )
    ],
    "After shfl_down_sync only lane 0 holds the sum of the row, and every lane needs "
    "it: use `cuda.shfl_xor_sync`.": [
        ("mean += cuda.shfl_xor_sync", "mean += cuda.shfl_down_sync"),
        ("variance += cuda.shfl_xor_sync", "variance += cuda.shfl_down_sync"),
    ],
    "Lanes without a column added the square of the mean: they add nothing.": [
        (
            "        for offset in (16, 8, 4, 2, 1):\n            variance",
            "        if cuda.laneid >= x.shape[1] % 32 > 0:\n"
            "            variance += mean * mean\n"
            "        for offset in (16, 8, 4, 2, 1):\n"
            "            variance",
        )
    ],
    "Only the first 32 columns were written: each lane took one and stopped.": [
        (
            "        for k in range(cuda.laneid, x.shape[1], 32):\n            out",
            "        for k in range(cuda.laneid, min(32, x.shape[1]), 32):\n            out",
        )
    ],
    "The variance is computed as mean(x * x) - mean * mean: far from 0 both are "
    "large, and their difference loses all digits. Add up the squared distances from "
    "the mean.": """
        row = cuda.grid(1) // 32
        if row < x.shape[0]:
            total = squares = np.float32(0)
            for k in range(cuda.laneid, x.shape[1], 32):
                total += x[row, k]
                squares += x[row, k] * x[row, k]
            for offset in (16, 8, 4, 2, 1):
                total += cuda.shfl_xor_sync(ALL, total, offset)
                squares += cuda.shfl_xor_sync(ALL, squares, offset)
            mean = total / np.float32(x.shape[1])
            variance = squares / np.float32(x.shape[1]) - mean * mean
            spread = math.sqrt(max(variance, np.float32(0)) + EPS)
            for k in range(cuda.laneid, x.shape[1], 32):
                out[row, k] = (x[row, k] - mean) / spread * gain[k] + shift[k]
    """,
    "gain and shift are taken by lane; they belong to the columns: gain[k], shift[k].": [
        ("gain[k] + shift[k]", "gain[cuda.laneid] + shift[cuda.laneid]")
    ],
    "The halves of the warp never add their sums: the exchange begins with an offset of 16.": [
        ("(16, 8, 4, 2, 1):\n            mean", "(8, 4, 2, 1):\n            mean"),
        ("(16, 8, 4, 2, 1):\n            variance", "(8, 4, 2, 1):\n            variance"),
    ],
}
