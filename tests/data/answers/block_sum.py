"""Answers to block_sum."""

from tests.data.answers import Right, Wrong, body, edit, without

ANSWERS = [
    Wrong(
        "no barrier before the tree",
        without("the tile is full before any thread"),
        says="put `cuda.syncthreads()` between line 17 and line 21",
    ),
    Wrong(
        "no barrier behind a level",
        without("the sums of this level are written"),
        says="with no barrier in between",
    ),
    Wrong(
        "all threads add to partials",
        body("""
            i = cuda.grid(1)
            if cuda.threadIdx.x == 0:
                partials[cuda.blockIdx.x] = 0
            cuda.syncthreads()
            if i < x.shape[0]:
                partials[cuda.blockIdx.x] += x[i]
        """),
        says="update it with `cuda.atomic.add(",
    ),
    Wrong(
        "threads past the end leave before the barriers",
        edit(
            (
                "    # Threads past the end add 0",
                "    if i >= x.shape[0]:\n        return\n    # Threads past the end add 0",
            )
        ),
        says="returned before `cuda.syncthreads()`",
    ),
    Wrong(
        "float64 by a literal",
        edit(("if i < x.shape[0] else np.float32(0)", "* 1.0 if i < x.shape[0] else 0.0")),
        says="operations in float64",
        grade="but",
    ),
    Wrong(
        "one thread adds everything",
        body("""
            if cuda.threadIdx.x == 0:
                acc = np.float32(0)
                first = cuda.blockIdx.x * BLOCK
                for i in range(first, min(first + BLOCK, x.shape[0])):
                    acc += x[i]
                partials[cuda.blockIdx.x] = acc
        """),
        says="one thread of a warp does the work",
        grade="but",
    ),
    Wrong(
        "another thread reads the sum with no barrier before",
        body("""
            i, tid = cuda.grid(1), cuda.threadIdx.x
            tile = cuda.shared.array(BLOCK, np.float32)
            tile[tid] = x[i] if i < x.shape[0] else np.float32(0)
            half = BLOCK // 2
            while half > 0:
                cuda.syncthreads()
                if tid < half:
                    tile[tid] += tile[tid + half]
                half //= 2
            if tid == BLOCK - 1:
                partials[cuda.blockIdx.x] = tile[0]
        """),
        says="with no barrier in between",
    ),
    Wrong(
        "the sum written for full blocks",
        edit(("x[i] if i < x.shape[0] else np.float32(0)", "x[i]")),
        says="guard the access",
    ),
    Wrong(
        "one thread adds the tile",
        body("""
            i, tid = cuda.grid(1), cuda.threadIdx.x
            tile = cuda.shared.array(BLOCK, np.float32)
            tile[tid] = x[i] if i < x.size else np.float32(0)
            cuda.syncthreads()
            if tid == 0:
                acc = np.float32(0)
                for k in range(BLOCK):
                    acc += tile[k]
                partials[cuda.blockIdx.x] = acc
        """),
        says="a tree takes 7",
        grade="but",
    ),
    Wrong(
        "atomics on the partial sum",
        body("""
            i = cuda.grid(1)
            if cuda.threadIdx.x == 0:
                partials[cuda.blockIdx.x] = 0
            cuda.syncthreads()
            if i < x.size:
                cuda.atomic.add(partials, cuda.blockIdx.x, x[i])
        """),
        says="reduce with a tree in shared memory",
        grade="but",
    ),
    Wrong(
        "atomics on one number in shared memory",
        body("""
            i = cuda.grid(1)
            total = cuda.shared.array(1, np.float32)
            if cuda.threadIdx.x == 0:
                total[0] = 0
            cuda.syncthreads()
            if i < x.size:
                cuda.atomic.add(total, 0, x[i])
            cuda.syncthreads()
            if cuda.threadIdx.x == 0:
                partials[cuda.blockIdx.x] = total[0]
        """),
        says="add pairs of values in a tree",
        grade="but",
    ),
    Wrong(
        "a tile of float64",
        edit(("shared.array(BLOCK, np.float32)", "shared.array(BLOCK, dtype=float)")),
        says="give the shared array the type np.float32",
        grade="but",
    ),
    Right(
        "the barrier at the beginning of a level",
        body("""
            i, tid = cuda.grid(1), cuda.threadIdx.x
            tile = cuda.shared.array(BLOCK, np.float32)
            tile[tid] = 0
            if i < x.size:
                tile[tid] = x[i]
            for level in range(6, -1, -1):
                cuda.syncthreads()
                if tid < 1 << level:
                    tile[tid] = tile[tid] + tile[tid + (1 << level)]
            if tid == 0:
                partials[cuda.blockIdx.x] = tile[0]
        """),
    ),
    Right(
        "the two halves of a warp by shuffles",
        body("""
            tile = cuda.shared.array(4, np.float32)
            i, tid = cuda.grid(1), cuda.threadIdx.x
            value = x[i] if i < x.shape[0] else np.float32(0)
            for offset in (16, 8, 4, 2, 1):
                value += cuda.shfl_down_sync(0xFFFFFFFF, value, offset)
            if tid % 32 == 0:
                tile[tid // 32] = value
            cuda.syncthreads()
            if tid == 0:
                partials[cuda.blockIdx.x] = tile[0] + tile[1] + tile[2] + tile[3]
        """),
    ),
]
