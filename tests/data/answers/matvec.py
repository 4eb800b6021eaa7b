"""Answers to matvec."""

from tests.data.answers import Right, Wrong, body, edit

ANSWERS = [
    Wrong(
        "one thread for each row",
        body("""
            row = cuda.grid(1)
            if row < out.size:
                acc = np.float32(0)
                for k in range(x.size):
                    acc += a[row, k] * x[k]
                out[row] = acc
        """),
        says="use one warp per row",
        grade="but",
    ),
    Wrong(
        "lane 0 does all",
        body("""
            row = cuda.grid(1) // 32
            if row < out.size and cuda.laneid == 0:
                acc = np.float32(0)
                for k in range(x.size):
                    acc += a[row, k] * x[k]
                out[row] = acc
        """),
        says="All 32 threads of a warp should read at once",
        grade="but",
    ),
    Wrong(
        "all lanes store",
        edit(("        if cuda.laneid == 0:\n    ", "        if row >= 0:\n    ")),
        says="After shfl_down_sync only lane 0 has the sum",
    ),
    Wrong("no guard", edit(("if row < out.size", "if row >= 0")), says="guard the access"),
    Wrong(
        "the last columns are missing",
        edit(("range(cuda.laneid, x.size, 32)", "range(cuda.laneid, x.size // 32 * 32, 32)")),
        says="rounded down",
    ),
    Wrong(
        "the columns of the largest case",
        edit(("range(cuda.laneid, x.size, 32)", "range(cuda.laneid, min(256, x.size), 32)")),
        says="Only the first 256 columns",
    ),
    Right(
        "lane and row written out",
        edit(
            ("cuda.grid(1) // 32  #", "4 * cuda.blockIdx.x + cuda.threadIdx.x // 32  #"),
            ("range(cuda.laneid", "range(cuda.threadIdx.x % 32"),
        ),
    ),
    Right(
        "every lane gets the sum",
        body("""
            row, lane = cuda.grid(1) // 32, cuda.threadIdx.x % 32
            if row >= a.shape[0]:
                return
            acc = np.float32(0)
            k = lane
            while k < a.shape[1]:
                acc += x[k] * a[row, k]
                k += 32
            for step in (1, 2, 4, 8, 16):
                acc += cuda.shfl_xor_sync(0xFFFFFFFF, acc, step)
            if lane == 7:
                out[row] = acc
        """),
    ),
]
