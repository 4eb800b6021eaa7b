"""Answers to layer_norm."""

from tests.exercises.answers import Right, Wrong, body, edit

RESULT = "(x[row, k] - mean) / spread * gain[k] + shift[k]"
SPREAD = "math.sqrt(variance / size + EPS)"
JOIN_MEAN = """        for offset in (16, 8, 4, 2, 1):
            mean += cuda.shfl_xor_sync(ALL, mean, offset)
"""
JOIN_VARIANCE = """        for offset in (16, 8, 4, 2, 1):
            variance += cuda.shfl_xor_sync(ALL, variance, offset)
"""

ANSWERS = [
    Wrong(
        "the mean of the squares minus the square of the mean",
        body("""
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
        """),
        says="far from 0 both are large",
    ),
    Wrong(
        "divided by columns - 1",
        edit((SPREAD, "math.sqrt(variance / max(size - np.float32(1), np.float32(1)) + EPS)")),
        says="The variance is divided by columns - 1",
    ),
    Wrong(
        "EPS outside the root",
        edit((SPREAD, "math.sqrt(variance / size) + EPS")),
        says="EPS is added to the root",
    ),
    Wrong(
        "no EPS",
        edit((SPREAD, "math.sqrt(variance / size)")),
        says="out of finite numbers",
    ),
    Wrong("no root", edit((SPREAD, "variance / size + EPS")), says="The root is missing"),
    Wrong(
        "the mean not subtracted at the end",
        edit((RESULT, "x[row, k] / spread * gain[k] + shift[k]")),
        says="The mean is not subtracted in the last step",
    ),
    Wrong(
        "the squares of the numbers",
        edit(("distance = x[row, k] - mean", "distance = x[row, k]")),
        says="The mean is not subtracted before the squares",
    ),
    Wrong(
        "the sum of squared distances for their mean",
        edit((SPREAD, "math.sqrt(variance + EPS)")),
        says="The variance was not divided by the number of columns",
    ),
    Wrong(
        "no gain",
        edit((RESULT, "(x[row, k] - mean) / spread + shift[k]")),
        says="The gain is not multiplied in",
    ),
    Wrong(
        "the shift times the gain",
        edit((RESULT, "((x[row, k] - mean) / spread + shift[k]) * gain[k]")),
        says="The shift is multiplied by the gain, too",
    ),
    Wrong(
        "gain and shift exchanged",
        edit((RESULT, "(x[row, k] - mean) / spread * shift[k] + gain[k]")),
        says="gain and shift are exchanged",
    ),
    Wrong(
        "the gain of the row",
        edit((RESULT, "(x[row, k] - mean) / spread * gain[row] + shift[row]")),
        says="[",
    ),
    Wrong(
        "the means of the lanes are not joined",
        edit((JOIN_MEAN, "")),
        says="Each lane took the mean of its own columns",
    ),
    Wrong(
        "the variances of the lanes are not joined",
        edit((JOIN_VARIANCE, "")),
        says="Each lane took the variance of its own columns",
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
    Wrong(
        "no guard",
        edit(("if row < x.shape[0]", "if row >= 0")),
        says="guard the access",
    ),
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
        says="Three walks along the row read each element three times",
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
