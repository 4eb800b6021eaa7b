"""Answers to clip_gradients."""

from tests.data.answers import Right, Wrong, body, edit, without

FACTOR = "MOST / norm if norm > MOST else np.float32(1)"

ANSWERS = [
    Wrong(
        "no barrier before the tree",
        without("all sums are there before"),
        says="with no barrier in between",
    ),
    Wrong(
        "no barrier behind a level",
        without("this level is written before"),
        says="with no barrier in between",
    ),
    Wrong(
        "0 divided by 0",
        edit(
            (
                FACTOR,
                "min(np.float32(1), MOST) / norm if norm > MOST or norm == 0 else np.float32(1)",
            )
        ),
        says="out of finite numbers",
    ),
    Wrong(
        "divided by the norm first",
        edit(
            (FACTOR, "min(MOST, norm)"),
            ("out[i] = grad[i] * factor", "out[i] = grad[i] / norm * factor"),
        ),
        says="out of finite numbers",
    ),
    Wrong(
        "the last level read before it is written",
        body("""
            tid = cuda.threadIdx.x
            tile = cuda.shared.array(BLOCK, np.float32)
            squares = np.float32(0)
            for i in range(tid, grad.size, BLOCK):
                squares += grad[i] * grad[i]
            tile[tid] = squares
            half = BLOCK // 2
            while half > 0:
                cuda.syncthreads()
                if tid < half:
                    tile[tid] += tile[tid + half]
                half //= 2
            norm = math.sqrt(tile[0])
            factor = MOST / norm if norm > MOST else np.float32(1)
            for i in range(tid, grad.size, BLOCK):
                out[i] = grad[i] * factor
        """),
        says="with no barrier in between",
    ),
    Wrong(
        "one thread adds the squares",
        body("""
            tid = cuda.threadIdx.x
            tile = cuda.shared.array(1, np.float32)
            if tid == 0:
                squares = np.float32(0)
                for i in range(grad.size):
                    squares += grad[i] * grad[i]
                tile[0] = squares
            cuda.syncthreads()
            norm = math.sqrt(tile[0])
            factor = MOST / norm if norm > MOST else np.float32(1)
            for i in range(tid, grad.size, BLOCK):
                out[i] = grad[i] * factor
        """),
        says="128 threads share 1,024 elements",
        grade="but",
    ),
    Wrong(
        "every thread adds all squares",
        body("""
            squares = np.float32(0)
            for i in range(grad.size):
                squares += grad[i] * grad[i]
            norm = math.sqrt(squares)
            factor = MOST / norm if norm > MOST else np.float32(1)
            for i in range(cuda.threadIdx.x, grad.size, BLOCK):
                out[i] = grad[i] * factor
        """),
        says="reads of grad for each element",
        grade="but",
    ),
    Right(
        "shuffles, and the smaller of 1 and MOST / norm",
        body("""
            tid, lane = cuda.threadIdx.x, cuda.threadIdx.x % 32
            sums = cuda.shared.array(4, np.float32)
            squares = np.float32(0)
            for i in range(tid, grad.size, cuda.blockDim.x):
                squares += grad[i] ** 2
            for step in (16, 8, 4, 2, 1):
                squares += cuda.shfl_xor_sync(0xFFFFFFFF, squares, step)
            if lane == 0:
                sums[tid // 32] = squares
            cuda.syncthreads()
            norm = math.sqrt(sums[0] + sums[1] + sums[2] + sums[3])
            factor = min(np.float32(1), MOST / max(norm, np.float32(1e-12)))
            for i in range(tid, grad.size, cuda.blockDim.x):
                out[i] = grad[i] * factor
        """),
    ),
    Right(
        "a small number in the denominator, as in PyTorch",
        edit((FACTOR, "min(MOST / (norm + np.float32(1e-6)), np.float32(1))")),
    ),
    Wrong(
        "atomics in shared memory",
        body("""
            tid = cuda.threadIdx.x
            total = cuda.shared.array(1, np.float32)
            if tid == 0:
                total[0] = 0
            cuda.syncthreads()
            squares = np.float32(0)
            for i in range(tid, grad.size, BLOCK):
                squares += grad[i] * grad[i]
            cuda.atomic.add(total, 0, squares)
            cuda.syncthreads()
            norm = math.sqrt(total[0])
            factor = MOST / norm if norm > MOST else np.float32(1)
            for i in range(tid, grad.size, BLOCK):
                out[i] = grad[i] * factor
        """),
        says="add pairs in a tree",
        grade="but",
    ),
    Wrong(
        "each thread adds all 128 sums",
        body("""
            tid = cuda.threadIdx.x
            tile = cuda.shared.array(BLOCK, np.float32)
            squares = np.float32(0)
            for i in range(tid, grad.size, BLOCK):
                squares += grad[i] * grad[i]
            tile[tid] = squares
            cuda.syncthreads()
            total = np.float32(0)
            for k in range(BLOCK):
                total += tile[k]
            factor = MOST / max(math.sqrt(total), MOST)
            for i in range(tid, out.size, BLOCK):
                out[i] = grad[i] * factor
        """),
        says="a tree takes 7",
        grade="but",
    ),
]
