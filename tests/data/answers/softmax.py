"""Answers to softmax."""

from tests.data.answers import Right, Wrong, body, edit

JOIN_HIGH = """        for offset in (16, 8, 4, 2, 1):
            high = max(high, cuda.shfl_xor_sync(ALL, high, offset))
"""
JOIN_TOTAL = """        for offset in (16, 8, 4, 2, 1):
            total += cuda.shfl_xor_sync(ALL, total, offset)
"""
HIGH = (
    """        high = np.float32(-math.inf)
        for k in range(cuda.laneid, x.shape[1], 32):
            high = max(high, x[row, k])
"""
    + JOIN_HIGH
)

ANSWERS = [
    Wrong(
        "no maximum subtracted",
        body("""
            row = cuda.grid(1) // 32
            if row < x.shape[0]:
                total = np.float32(0)
                for k in range(cuda.laneid, x.shape[1], 32):
                    total += math.exp(x[row, k])
                for offset in (16, 8, 4, 2, 1):
                    total += cuda.shfl_xor_sync(ALL, total, offset)
                for k in range(cuda.laneid, x.shape[1], 32):
                    out[row, k] = math.exp(x[row, k]) / total
        """),
        says="makes inf out of finite numbers",
    ),
    Wrong(
        "the maximum begins with 0",
        edit(("np.float32(-math.inf)", "np.float32(0)")),
        says="makes nan out of finite numbers",
    ),
    Wrong(
        "the sums of the lanes are not joined",
        edit((JOIN_TOTAL, "")),
        says="the sums of the 32 lanes must be added up",
    ),
    Wrong(
        "the sum by shuffles down",
        edit(("total += cuda.shfl_xor_sync", "total += cuda.shfl_down_sync")),
        says="After shfl_down_sync only lane 0 holds the sum",
    ),
    Wrong(
        "lanes by their place in the block",
        body("""
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
        """),
        says="never written",
    ),
    Wrong("no guard", edit(("if row < x.shape[0]", "if row >= 0")), says="guard the access"),
    Wrong(
        "one thread for each row",
        body("""
            row = cuda.grid(1)
            if row < x.shape[0]:
                high = x[row, 0]
                for k in range(x.shape[1]):
                    high = max(high, x[row, k])
                total = np.float32(0)
                for k in range(x.shape[1]):
                    total += math.exp(x[row, k] - high)
                for k in range(x.shape[1]):
                    out[row, k] = math.exp(x[row, k] - high) / total
        """),
        says="use one warp per row",
        grade="but",
    ),
    Wrong(
        "lane 0 does all",
        body("""
            row = cuda.grid(1) // 32
            if row < x.shape[0] and cuda.laneid == 0:
                high = np.float32(-math.inf)
                for k in range(x.shape[1]):
                    high = max(high, x[row, k])
                total = np.float32(0)
                for k in range(x.shape[1]):
                    total += math.exp(x[row, k] - high)
                for k in range(x.shape[1]):
                    out[row, k] = math.exp(x[row, k] - high) / total
        """),
        says="All 32 threads of a warp should read at once",
        grade="but",
    ),
    Wrong(
        "the sum in float64",
        edit(("total = np.float32(0)", "total = 0.0")),
        says="operations in float64",
        grade="but",
    ),
    Wrong(
        "every lane goes along the whole row for the maximum",
        body("""
            row = cuda.grid(1) // 32
            if row < x.shape[0]:
                high = x[row, 0]
                for k in range(x.shape[1]):
                    high = max(high, x[row, k])
                total = np.float32(0)
                for k in range(x.shape[1]):
                    total += math.exp(x[row, k] - high)
                for k in range(cuda.laneid, x.shape[1], 32):
                    out[row, k] = math.exp(x[row, k] - high) / total
        """),
        says="reads of x for each element; asked: at most 3.",
        grade="but",
    ),
    Wrong(
        "the first number subtracted",
        edit((HIGH, "        high = x[row, 0]\n")),
        says="makes inf out of finite numbers",
    ),
    Wrong(
        "the minimum subtracted",
        edit(
            ("np.float32(-math.inf)", "np.float32(math.inf)"),
            ("high = max(high, x", "high = min(high, x"),
            ("high = max(high, cuda", "high = min(high, cuda"),
        ),
        says="total += math.exp(x[row, k] - high)",
    ),
    Wrong(
        "the mean subtracted",
        edit(
            ("np.float32(-math.inf)", "np.float32(0)"),
            ("high = max(high, x[row, k])", "high += x[row, k] / np.float32(x.shape[1])"),
            (JOIN_HIGH, JOIN_TOTAL.replace("total", "high")),
        ),
        says="makes inf out of finite numbers",
    ),
    Wrong(
        "the maximum of each second column",
        edit((HIGH, HIGH.replace("x.shape[1], 32)", "x.shape[1], 64)"))),
        says="total += math.exp(x[row, k] - high)",
    ),
    Wrong(
        "the maximum begins with -10000",
        edit(("np.float32(-math.inf)", "np.float32(-10000)")),
        says="makes nan out of finite numbers",
    ),
    Right(
        "the exponentials kept in out",
        body("""
            warp, lane = cuda.grid(1) // 32, cuda.threadIdx.x % 32
            if warp >= x.shape[0]:
                return
            high = np.float32(-3.4028235e38)
            for k in range(lane, x.shape[1], 32):
                high = max(high, x[warp, k])
            for step in (1, 2, 4, 8, 16):
                high = max(high, cuda.shfl_xor_sync(ALL, high, step))
            total = np.float32(0)
            for k in range(lane, x.shape[1], 32):
                e = math.exp(x[warp, k] - high)
                out[warp, k] = e
                total += e
            for step in (1, 2, 4, 8, 16):
                total += cuda.shfl_xor_sync(ALL, total, step)
            for k in range(lane, x.shape[1], 32):
                out[warp, k] *= np.float32(1) / total
        """),
    ),
    Right(
        "down, and handed out by lane 0",
        edit(
            (
                "high = max(high, cuda.shfl_xor_sync(ALL, high, offset))\n",
                "high = max(high, cuda.shfl_down_sync(ALL, high, offset))\n"
                "        high = cuda.shfl_sync(ALL, high, 0)\n",
            ),
            (
                "total += cuda.shfl_xor_sync(ALL, total, offset)\n",
                "total += cuda.shfl_down_sync(ALL, total, offset)\n"
                "        total = cuda.shfl_sync(ALL, total, 0)\n",
            ),
        ),
    ),
    Right(
        "the logarithm of the sum in the exponent",
        edit(
            (
                "            out[row, k] = math.exp(x[row, k] - high) / total",
                "            out[row, k] = math.exp((x[row, k] - high) - math.log(total))",
            )
        ),
    ),
]
