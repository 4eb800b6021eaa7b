"""Answers to detective_reused_array."""

from tests.data.answers import Right, Wrong, body, edit, without

BARRIER = "    cuda.syncthreads()  # all have read the largest before parts is used again\n"
TREE = """        if tid < step:
            parts[tid] += parts[tid + step]
        cuda.syncthreads()
"""

ANSWERS = [
    Wrong(
        "the largest fixed, the barrier not",
        without("all have read the largest"),
        says="with no barrier in between",
    ),
    Wrong(
        "the barrier fixed, the largest not",
        edit(("np.float32(-math.inf)", "np.float32(0)")),
        says="makes nan out of finite numbers",
    ),
    Wrong(
        "the barrier in front of the reading",
        edit((BARRIER, ""), ("    high = parts[0]", "    cuda.syncthreads()\n    high = parts[0]")),
        says="with no barrier in between",
    ),
    Wrong(
        "the barrier behind the storing",
        edit(
            (BARRIER, ""), ("parts[tid] = total\n", "parts[tid] = total\n    cuda.syncthreads()\n")
        ),
        says="with no barrier in between",
    ),
    Wrong(
        "only thread 0 waits",
        edit((BARRIER, "    if tid == 0:\n        cuda.syncthreads()\n")),
        says="do not come to it",
    ),
    Wrong(
        "begins with the first score of all",
        edit(("np.float32(-math.inf)", "x[0, 0]")),
        says="makes nan out of finite numbers",
    ),
    Wrong(
        "nothing subtracted",
        edit(("    high = parts[0]", "    high = parts[0] * np.float32(0)")),
        says="finite numbers",
    ),
    Wrong(
        "a second array",
        edit(
            (BARRIER, "    sums = cuda.shared.array(BLOCK, np.float32)\n"),
            ("parts[tid] = total", "sums[tid] = total"),
            ("parts[tid] += parts[tid + step]", "sums[tid] += sums[tid + step]"),
            ("/ parts[0]", "/ sums[0]"),
        ),
        says="One array of 128 float32 serves both reductions",
        grade="but",
    ),
    Wrong(
        "each thread walks along the whole row",
        body("""
            row, tid = cuda.blockIdx.x, cuda.threadIdx.x
            high = np.float32(-math.inf)
            for k in range(x.shape[1]):
                high = max(high, x[row, k])
            total = np.float32(0)
            for k in range(x.shape[1]):
                total += math.exp(x[row, k] - high)
            for k in range(tid, x.shape[1], BLOCK):
                out[row, k] = math.exp(x[row, k] - high) / total
        """),
        says="reads of x for each element; asked: at most 3.",
        grade="but",
    ),
    Right(
        "the barrier behind the sums of the threads",
        edit(
            (BARRIER, ""),
            ("    parts[tid] = total", "    cuda.syncthreads()\n    parts[tid] = total"),
        ),
    ),
    Right("begins with the first score of the row", edit(("np.float32(-math.inf)", "x[row, 0]"))),
]
