"""What learners get wrong here, by the sentence that names it: edits of the solution."""

MISTAKES = {
    "Only the first 16 elements of each warp were added: the step of 16 is missing.": [
        ("(16, 8, 4, 2, 1)", "(8, 4, 2, 1)")
    ],
    "Only every second element was added: the step of 1 is missing.": [
        ("(16, 8, 4, 2, 1)", "(16, 8, 4, 2)")
    ],
    "Some elements of each warp were left out: the step of 2 is missing.": [
        ("(16, 8, 4, 2, 1)", "(16, 8, 4, 1)")
    ],
    "Some elements of each warp were left out: the step of 4 is missing.": [
        ("(16, 8, 4, 2, 1)", "(16, 8, 2, 1)")
    ],
    "Some elements of each warp were left out: the step of 8 is missing.": [
        ("(16, 8, 4, 2, 1)", "(16, 4, 2, 1)")
    ],
    "Twice the sum of every second element: the step of 32 leads out of the warp, so "
    "each lane got its own value. The steps are 16, 8, 4, 2 and 1.": [
        ("(16, 8, 4, 2, 1)", "(32, 16, 8, 4, 2)")
    ],
    "Twice the right sum: the step of 32 leads out of the warp, so each lane got its "
    "own value. The steps are 16, 8, 4, 2 and 1.": [("(16, 8, 4, 2, 1)", "(32, 16, 8, 4, 2, 1)")],
    "This is 32 times the first element of each warp: lane 0 has no lane below it to "
    "hand it anything. Shuffle down, with cuda.shfl_down_sync.": [
        ("shfl_down_sync(", "shfl_up_sync(")
    ],
    "This is 32 times the last element of each warp: what lane 31 holds was stored. "
    "After shuffles down the sum is in lane 0, so lane 0 alone stores.": [
        ("cuda.laneid == 0", "cuda.laneid == 31")
    ],
    "This is the last element of each warp: value = shuffled only moves the values; "
    "add them with +=.": [("value += cuda", "value = cuda")],
    "This is the first element of each warp: nothing was added to it.": [("value += cuda", "cuda")],
    "The last element of each warp is missing: its lanes are 0 to 31, so a loop over "
    "all of them is range(32).": [
        (
            "    value = x[i] if i < x.size else np.float32(0)\n",
            "    value = x[i] if i < x.size else np.float32(0)\n"
            "    if i % 32 == 31:\n"
            "        value = np.float32(0)\n",
        )
    ],
    "Threads behind the end took the last element again: they add 0.": [
        ("x[i] if i < x.size else np.float32(0)", "x[min(i, x.size - 1)]")
    ],
    "Warps without an element stored nothing: their sum is 0, and somebody has to write it.": [
        ("if cuda.laneid == 0:", "if cuda.laneid == 0 and i < x.size:")
    ],
    "The steps of the shuffles are 1, 2, 3, 4 and 5: each must be twice the one before.": [
        ("(16, 8, 4, 2, 1)", "(1, 2, 3, 4, 5)")
    ],
    "The fractions are lost: somewhere the values pass through whole numbers.": [
        (
            "    value = x[i] if i < x.size else np.float32(0)\n",
            "    value = x[i] if i < x.size else np.float32(0)\n"
            "    value = np.float32(int(value))\n",
        )
    ],
    "Only the first warp of each block stored its sum: cuda.threadIdx.x is 0 in one "
    "thread of a block; lane 0 of each warp is asked.": [
        ("cuda.laneid == 0", "cuda.threadIdx.x == 0")
    ],
    "Only as many sums as there are blocks were written: partials has one place for "
    "each warp, i // 32, not cuda.blockIdx.x.": [
        ("partials[i // 32]", "partials[cuda.blockIdx.x]")
    ],
    "Each block wrote over the same four places: the warp's place is i // 32 with i "
    "= cuda.grid(1), not cuda.threadIdx.x // 32.": [
        ("partials[i // 32]", "partials[cuda.threadIdx.x // 32]")
    ],
}
