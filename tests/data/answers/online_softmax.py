"""Answers to online_softmax."""

from tests.data.answers import Right, Wrong, body, edit

JOIN = "acc * math.exp(high - above) + other_acc * math.exp(other_high - above)"
STEP = "acc * math.exp(high - above) + math.exp(value - above)"

ANSWERS = [
    Wrong(
        "the maximum replaced before the factor is taken",
        edit(
            (
                "            above = max(high, value)\n            acc",
                "            above = high = max(high, value)\n            acc",
            )
        ),
        says="before the maximum is replaced",
    ),
    Wrong(
        "the factor upside down",
        edit((STEP, "acc * math.exp(above - high) + math.exp(value - above)")),
        says="out of finite numbers",
    ),
    Wrong(
        "two passes",
        body("""
            row = cuda.grid(1) // 32
            if row < x.shape[0]:
                high, acc = LOWEST, np.float32(0)
                for k in range(cuda.laneid, x.shape[1], 32):
                    high = max(high, x[row, k])
                for offset in (16, 8, 4, 2, 1):
                    high = max(high, cuda.shfl_xor_sync(ALL, high, offset))
                for k in range(cuda.laneid, x.shape[1], 32):
                    acc += math.exp(x[row, k] - high)
                for offset in (16, 8, 4, 2, 1):
                    acc += cuda.shfl_xor_sync(ALL, acc, offset)
                if cuda.laneid == 0:
                    highest[row] = high
                    total[row] = acc
        """),
        says="2 reads of x for each element; asked: at most 1",
        grade="but",
    ),
    Wrong(
        "lane 0 goes along the row",
        body("""
            row = cuda.grid(1) // 32
            if row < x.shape[0] and cuda.laneid == 0:
                high, acc = LOWEST, np.float32(0)
                for k in range(x.shape[1]):
                    value = x[row, k]
                    above = max(high, value)
                    acc = acc * math.exp(high - above) + math.exp(value - above)
                    high = above
                highest[row] = high
                total[row] = acc
        """),
        says="All 32 threads of a warp should read at once",
        grade="but",
    ),
    Wrong(
        "one thread for each row",
        body("""
            row = cuda.grid(1)
            if row < x.shape[0]:
                high, acc = LOWEST, np.float32(0)
                for k in range(x.shape[1]):
                    value = x[row, k]
                    above = max(high, value)
                    acc = acc * math.exp(high - above) + math.exp(value - above)
                    high = above
                highest[row] = high
                total[row] = acc
        """),
        says="use one warp per row",
        grade="but",
    ),
    Wrong("no guard", edit(("if row < x.shape[0]", "if row >= 0")), says="guard the access"),
    Wrong(
        "exponents from the first number, fixed at the end",
        body("""
            row = cuda.grid(1) // 32
            if row < x.shape[0]:
                first = np.float32(0)
                if cuda.laneid == 0:
                    first = x[row, 0]
                first = cuda.shfl_sync(ALL, first, 0)
                high, acc = LOWEST, np.float32(0)
                for k in range(cuda.laneid, x.shape[1], 32):
                    value = x[row, k] if k > 0 else first
                    high = max(high, value)
                    acc += math.exp(value - first)
                for offset in (16, 8, 4, 2, 1):
                    high = max(high, cuda.shfl_xor_sync(ALL, high, offset))
                    acc += cuda.shfl_xor_sync(ALL, acc, offset)
                if cuda.laneid == 0:
                    highest[row] = high
                    total[row] = acc * math.exp(first - high)
        """),
        says="makes inf out of finite numbers",
    ),
    Wrong(
        "the maximum stored in the loop",
        edit(
            (
                "            high = above\n        for",
                "            high = above\n            if cuda.laneid == 0:\n"
                "                highest[row] = high\n        for",
            )
        ),
        says="one lane stores it, once",
        grade="but",
    ),
    Right(
        "an if for the larger number",
        body("""
            row, lane = cuda.grid(1) // 32, cuda.threadIdx.x % 32
            if row >= x.shape[0]:
                return
            high, acc = LOWEST, np.float32(0)
            for k in range(lane, x.shape[1], 32):
                value = x[row, k]
                if value > high:
                    acc = acc * math.exp(high - value) + np.float32(1)
                    high = value
                else:
                    acc += math.exp(value - high)
            most = high
            for step in (1, 2, 4, 8, 16):
                most = max(most, cuda.shfl_xor_sync(ALL, most, step))
            acc *= math.exp(high - most)
            for step in (1, 2, 4, 8, 16):
                acc += cuda.shfl_xor_sync(ALL, acc, step)
            if lane == 5:
                highest[row] = most
                total[row] = acc
        """),
    ),
    Right(
        "shuffles down",
        edit(
            ("other_high = cuda.shfl_xor_sync", "other_high = cuda.shfl_down_sync"),
            ("other_acc = cuda.shfl_xor_sync", "other_acc = cuda.shfl_down_sync"),
        ),
    ),
]
