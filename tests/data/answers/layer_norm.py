"""Answers to layer_norm."""

from tests.data.answers import Right, Wrong, body, edit

RESULT = "(x[row, k] - mean) / spread * gain[k] + shift[k]"
SPREAD = "math.sqrt(variance / size + EPS)"
JOIN_MEAN = """        for offset in (16, 8, 4, 2, 1):
            mean += cuda.shfl_xor_sync(ALL, mean, offset)
"""
JOIN_VARIANCE = """        for offset in (16, 8, 4, 2, 1):
            variance += cuda.shfl_xor_sync(ALL, variance, offset)
"""

ANSWERS = [
    Wrong("no EPS", edit((SPREAD, "math.sqrt(variance / size)")), says="out of finite numbers"),
    Wrong(
        "the gain of the row",
        edit((RESULT, "(x[row, k] - mean) / spread * gain[row] + shift[row]")),
        says="[",
    ),
    Wrong(
        "float64 by a division by a whole number",
        edit(("size = np.float32(x.shape[1])", "size = x.shape[1]")),
        says="operations in float64",
        grade="but",
    ),
    Wrong(
        "lane 0 does all",
        body("""
            row = cuda.grid(1) // 32
            if row < x.shape[0] and cuda.laneid == 0:
                size = np.float32(x.shape[1])
                mean = variance = np.float32(0)
                for k in range(x.shape[1]):
                    mean += x[row, k]
                mean /= size
                for k in range(x.shape[1]):
                    variance += (x[row, k] - mean) ** 2
                spread = math.sqrt(variance / size + EPS)
                for k in range(x.shape[1]):
                    out[row, k] = (x[row, k] - mean) / spread * gain[k] + shift[k]
        """),
        says="All 32 threads of a warp should read at once",
        grade="but",
    ),
    Wrong("no guard", edit(("if row < x.shape[0]", "if row >= 0")), says="guard the access"),
    Wrong(
        "a walk of its own for the rounding of the mean",
        edit(
            (
                "        mean /= size\n",
                "        mean /= size\n"
                "        rest = np.float32(0)\n"
                "        for k in range(cuda.laneid, x.shape[1], 32):\n"
                "            rest += x[row, k] - mean\n"
                "        for offset in (16, 8, 4, 2, 1):\n"
                "            rest += cuda.shfl_xor_sync(ALL, rest, offset)\n"
                "        mean += rest / size\n",
            )
        ),
        says="Three passes over the row read each element three times",
        grade="but",
    ),
    Right(
        "distances from the first number, in one walk",
        body("""
            row, lane = cuda.grid(1) // 32, cuda.threadIdx.x % 32
            if row >= x.shape[0]:
                return
            base = x[row, 0]
            each = np.float32(1) / np.float32(x.shape[1])
            total = squares = np.float32(0)
            for k in range(lane, x.shape[1], 32):
                distance = x[row, k] - base
                total += distance
                squares += distance * distance
            for step in (1, 2, 4, 8, 16):
                total += cuda.shfl_xor_sync(ALL, total, step)
                squares += cuda.shfl_xor_sync(ALL, squares, step)
            mean = total * each
            variance = max(squares * each - mean * mean, np.float32(0))
            factor = np.float32(1) / math.sqrt(variance + EPS)
            for k in range(lane, x.shape[1], 32):
                out[row, k] = (x[row, k] - base - mean) * factor * gain[k] + shift[k]
        """),
    ),
    Right(
        "down, and handed out by lane 0",
        edit(
            (
                "mean += cuda.shfl_xor_sync(ALL, mean, offset)\n",
                "mean += cuda.shfl_down_sync(ALL, mean, offset)\n"
                "        mean = cuda.shfl_sync(ALL, mean, 0)\n",
            ),
            (
                "variance += cuda.shfl_xor_sync(ALL, variance, offset)\n",
                "variance += cuda.shfl_down_sync(ALL, variance, offset)\n"
                "        variance = cuda.shfl_sync(ALL, variance, 0)\n",
            ),
        ),
    ),
]
