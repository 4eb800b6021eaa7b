"""What learners get wrong here, by the sentence that names it: edits of the solution."""

MISTAKES = {
    "The indices of a are exchanged: a[k, row] for a[row, k].": [("a[row, k]", "a[k, row]")],
    "Only the first 32 columns were added: each lane took one and stopped.": """
        row = cuda.grid(1) // 32
        if row < out.size:
            k = cuda.laneid
            acc = a[row, k] * x[k] if k < x.size else np.float32(0)
            for offset in (16, 8, 4, 2, 1):
                acc += cuda.shfl_down_sync(0xFFFFFFFF, acc, offset)
            if cuda.laneid == 0:
                out[row] = acc
    """,
    "Only every 32nd column was added: this is the part of lane 0. The lanes' sums "
    "are not added up.": """
        row = cuda.grid(1) // 32
        if row < out.size:
            acc = np.float32(0)
            for k in range(cuda.laneid, x.size, 32):
                acc += a[row, k] * x[k]
            if cuda.laneid == 0:
                out[row] = acc
    """,
    "The columns behind the last 32 are missing: the division is rounded down.": [
        ("range(cuda.laneid, x.size, 32)", "range(cuda.laneid, (x.size // 32) * 32, 32)")
    ],
    "Only the first 32 of each 128 columns were added: a warp steps by its own 32 "
    "lanes, not by the 128 threads of a block.": [
        ("range(cuda.laneid, x.size, 32)", "range(cuda.laneid, x.size, 128)")
    ],
    "The warps of a block begin at different columns. Each begins with its lanes at "
    "0: `cuda.laneid`, not `cuda.threadIdx.x`.": [
        ("range(cuda.laneid, x.size, 32)", "range(cuda.threadIdx.x, x.size, 32)")
    ],
    "Only the last 32 columns are there: each product of a lane replaced the one "
    "before. It is `+=`.": [("acc += a[row, k]", "acc = a[row, k]")],
    "The level of the shuffles with offset 16 is missing: they go 16, 8, 4, 2, 1.": [
        ("(16, 8, 4, 2, 1)", "(8, 4, 2, 1)")
    ],
    "The level of the shuffles with offset 8 is missing: they go 16, 8, 4, 2, 1.": [
        ("(16, 8, 4, 2, 1)", "(16, 4, 2, 1)")
    ],
    "The level of the shuffles with offset 4 is missing: they go 16, 8, 4, 2, 1.": [
        ("(16, 8, 4, 2, 1)", "(16, 8, 2, 1)")
    ],
    "The level of the shuffles with offset 2 is missing: they go 16, 8, 4, 2, 1.": [
        ("(16, 8, 4, 2, 1)", "(16, 8, 4, 1)")
    ],
    "The level of the shuffles with offset 1 is missing: they go 16, 8, 4, 2, 1.": [
        ("(16, 8, 4, 2, 1)", "(16, 8, 4, 2)")
    ],
    "Only the level with offset 16 is there: the shuffles go 16, 8, 4, 2, 1.": [
        ("(16, 8, 4, 2, 1)", "(16,)")
    ],
    "Lane 0 has 32 times its own part: shfl_up_sync hands values to higher lanes. "
    "Lane 0 needs `cuda.shfl_down_sync`.": [("shfl_down_sync", "shfl_up_sync")],
    "This is what lane 31 holds. After shfl_down_sync only lane 0 has the sum, and "
    "only it may store: `if cuda.laneid == 0`.": [("cuda.laneid == 0", "cuda.laneid == 31")],
    "Only one row of four was written, by the first warp of each block. In each warp "
    "lane 0 stores: `if cuda.laneid == 0`.": [("cuda.laneid == 0", "cuda.threadIdx.x == 0")],
    "Only one row for each block was written. A block has four warps, and each has a "
    "row: `cuda.grid(1) // 32`.": [("row = cuda.grid(1) // 32", "row = cuda.blockIdx.x")],
    "`cuda.threadIdx.x // 32` is the number of the warp. The lane is `cuda.laneid`, "
    "or `cuda.threadIdx.x % 32`.": [
        ("range(cuda.laneid, x.size, 32)", "range(cuda.threadIdx.x // 32, x.size, 32)")
    ],
}
