"""What learners get wrong here, by the sentence that names it: edits of the solution."""

MISTAKES = {
    "The powers are not divided by their sum: a row must add up to 1.": [(" / parts[0]", "")],
    "The powers are divided by the sum of thread 0 alone: the tree that adds the "
    "parts is missing.": [
        (
            "        if tid < step:\n"
            "            parts[tid] += parts[tid + step]\n"
            "        cuda.syncthreads()\n",
            "        cuda.syncthreads()\n",
        )
    ],
    "Rows whose scores all lie below 0 are wrong: the maximum begins with 0, and a "
    "small number in the denominator hides that. Begin with minus infinity.": [
        ("np.float32(-math.inf)", "np.float32(0)"),
        ("/ parts[0]", "/ (parts[0] + np.float32(1e-9))"),
    ],
    "The powers are divided by the largest score, which is what the array held "
    "before: the sums were not stored in it.": [
        ("    parts[tid] = total\n", ""),
        (
            "        if tid < step:\n"
            "            parts[tid] += parts[tid + step]\n"
            "        cuda.syncthreads()\n",
            "        cuda.syncthreads()\n",
        ),
    ],
    "These are the logarithms of the shares: the last step is exp(x - high) / total.": [
        ("math.exp(x[row, k] - high) / parts[0]", "x[row, k] - high - math.log(parts[0])")
    ],
    "This is x - high divided by the sum: the power is missing in the last step.": [
        ("math.exp(x[row, k] - high) / parts[0]", "(x[row, k] - high) / parts[0]")
    ],
}
