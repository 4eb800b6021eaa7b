"""What learners get wrong here, by the sentence that names it: edits of the solution."""

MISTAKES = {
    "The exponentials are not divided by their sum: a row must add up to 1.": [(" / total", "")],
    "Each lane divided by the sum of its own columns: the sums of the 32 lanes must "
    "be added up, by shuffles.": [
        (
            "        for offset in (16, 8, 4, 2, 1):\n"
            "            high = max(high, cuda.shfl_xor_sync(ALL, high, offset))\n",
            "",
        ),
        (
            "        for offset in (16, 8, 4, 2, 1):\n"
            "            total += cuda.shfl_xor_sync(ALL, total, offset)\n",
            "",
        ),
    ],
    "Each lane subtracted the maximum of its own columns. All 32 lanes must subtract "
    "the same: the maximum of the row, by shuffles.": [
        (
            "        for offset in (16, 8, 4, 2, 1):\n"
            "            high = max(high, cuda.shfl_xor_sync(ALL, high, offset))\n",
            "",
        )
    ],
    "After shfl_down_sync only lane 0 holds the sum of the row, and every lane "
    "divides by it. Use `cuda.shfl_xor_sync`.": [
        ("total += cuda.shfl_xor_sync", "total += cuda.shfl_down_sync")
    ],
    "Only the first 32 columns were written: each lane took one and stopped.": [
        (
            "        for k in range(cuda.laneid, x.shape[1], 32):\n            out",
            "        for k in range(cuda.laneid, min(32, x.shape[1]), 32):\n            out",
        )
    ],
    "Only whole turns of 32 columns were taken: the number of turns is rounded down.": [
        ("        high = np", "        columns = x.shape[1] // 32 * 32\n        high = np"),
        (
            "        for k in range(cuda.laneid, x.shape[1], 32):\n            high",
            "        for k in range(cuda.laneid, columns, 32):\n            high",
        ),
        (
            "        for k in range(cuda.laneid, x.shape[1], 32):\n            total",
            "        for k in range(cuda.laneid, columns, 32):\n            total",
        ),
        (
            "        for k in range(cuda.laneid, x.shape[1], 32):\n            out",
            "        for k in range(cuda.laneid, columns, 32):\n            out",
        ),
    ],
    "After shfl_down_sync only lane 0 holds the maximum of the row, and every lane "
    "subtracts it. Use `cuda.shfl_xor_sync`.": [
        ("max(high, cuda.shfl_xor_sync", "max(high, cuda.shfl_down_sync")
    ],
    "Only 32 of each 128 columns were taken: a warp steps by its own 32 lanes, not "
    "by the 128 threads of a block.": [
        (
            "        for k in range(cuda.laneid, x.shape[1], 32):\n            high",
            "        for k in range(cuda.laneid, x.shape[1], 128):\n            high",
        ),
        (
            "        for k in range(cuda.laneid, x.shape[1], 32):\n            total",
            "        for k in range(cuda.laneid, x.shape[1], 128):\n            total",
        ),
        (
            "        for k in range(cuda.laneid, x.shape[1], 32):\n            out",
            "        for k in range(cuda.laneid, x.shape[1], 128):\n            out",
        ),
    ],
    "The warps of a block begin at different columns. Each begins with its lanes at "
    "0: `cuda.laneid`, not `cuda.threadIdx.x`.": """
        row = cuda.grid(1) // 32
        lane = cuda.threadIdx.x
        if row < x.shape[0]:
            high = np.float32(-3.4028235e38)
            for k in range(lane, x.shape[1], 32):
                high = max(high, x[row, k])
            for offset in (16, 8, 4, 2, 1):
                high = max(high, cuda.shfl_xor_sync(ALL, high, offset))
            total = np.float32(0)
            for k in range(lane, x.shape[1], 32):
                total += math.exp(x[row, k] - high)
            for offset in (16, 8, 4, 2, 1):
                total += cuda.shfl_xor_sync(ALL, total, offset)
            for k in range(lane, x.shape[1], 32):
                out[row, k] = math.exp(x[row, k] - high) / total
    """,
    "These are the logarithms of the shares: the last step is exp(x - high) / total.": [
        ("math.exp(x[row, k] - high) / total", "x[row, k] - high - math.log(total)")
    ],
    "This is x - max divided by the sum: the exponential is missing in the last step.": [
        ("= math.exp(x[row, k] - high) / total", "= (x[row, k] - high) / total")
    ],
    "Only every 32nd column was written: in the last loop all lanes store, not lane 0 alone.": [
        (
            "            out[row, k] = math",
            "            if cuda.laneid == 0:\n                out[row, k] = math",
        )
    ],
    "Only lane 0 holds the maximum and the sum after shfl_down_sync, and every lane needs "
    "them: use `cuda.shfl_xor_sync`.": [
        ("cuda.shfl_xor_sync(ALL, high", "cuda.shfl_down_sync(ALL, high"),
        ("cuda.shfl_xor_sync(ALL, total", "cuda.shfl_down_sync(ALL, total"),
    ],
    "Only the first 32 columns were read and written: each lane took one and stopped.": [
        (
            "for k in range(cuda.laneid, x.shape[1], 32):\n            high = max",
            "for k in range(cuda.laneid, min(32, x.shape[1]), 32):\n            high = max",
        ),
        (
            "for k in range(cuda.laneid, x.shape[1], 32):\n            total += math",
            "for k in range(cuda.laneid, min(32, x.shape[1]), 32):\n            total += math",
        ),
        (
            "for k in range(cuda.laneid, x.shape[1], 32):\n            out[row, k] =",
            "for k in range(cuda.laneid, min(32, x.shape[1]), 32):\n            out[row, k] =",
        ),
    ],
}
