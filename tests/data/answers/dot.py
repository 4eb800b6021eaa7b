"""Answers to dot."""

from tests.data.answers import Right, Wrong, body, edit, without

ANSWERS = [
    Wrong("no first barrier", without("all products are there"), says="with no barrier in between"),
    Wrong(
        "no barrier behind a level",
        without("this level is written"),
        says="with no barrier in between",
    ),
    Wrong(
        "a plain += from every block",
        edit(("cuda.atomic.add(out, 0, tile[0])", "out[0] += tile[0]")),
        says="update it with `cuda.atomic.add(",
    ),
    Wrong(
        "an atomic for each thread",
        body("""
            i = cuda.grid(1)
            if i < a.size:
                cuda.atomic.add(out, 0, a[i] * b[i])
        """),
        says="reduce within the block",
        grade="but",
    ),
    Wrong(
        "nothing fills the tile past the end",
        edit(
            (
                "    tile[tid] = a[i] * b[i] if i < a.size else np.float32(0)",
                "    if i < a.size:\n        tile[tid] = a[i] * b[i]",
            )
        ),
        says="no thread of the block has written it",
    ),
    Wrong(
        "one thread adds the products",
        body("""
            i, tid = cuda.grid(1), cuda.threadIdx.x
            tile = cuda.shared.array(BLOCK, np.float32)
            tile[tid] = a[i] * b[i] if i < a.size else np.float32(0)
            cuda.syncthreads()
            if tid == 0:
                acc = np.float32(0)
                for k in range(BLOCK):
                    acc += tile[k]
                cuda.atomic.add(out, 0, acc)
        """),
        says="a tree takes 7",
        grade="but",
    ),
    Wrong(
        "a tile of float64",
        edit(("shared.array(BLOCK, np.float32)", "shared.array(BLOCK, np.float64)")),
        says="give the shared array the type np.float32",
        grade="but",
    ),
    Right(
        "warps first, by shuffles",
        body("""
            i, tid = cuda.grid(1), cuda.threadIdx.x
            sums = cuda.shared.array(4, np.float32)
            value = a[i] * b[i] if i < a.size else np.float32(0)
            for offset in (16, 8, 4, 2, 1):
                value += cuda.shfl_down_sync(0xFFFFFFFF, value, offset)
            if tid % 32 == 0:
                sums[tid // 32] = value
            cuda.syncthreads()
            if tid == 0:
                cuda.atomic.add(out, 0, sums[0] + sums[1] + sums[2] + sums[3])
        """),
    ),
    Right(
        "a for loop over the levels",
        body("""
            tile = cuda.shared.array(BLOCK, np.float32)
            i, tid = cuda.grid(1), cuda.threadIdx.x
            tile[tid] = 0
            if i < a.size:
                tile[tid] = a[i] * b[i]
            for level in range(7):
                cuda.syncthreads()
                half = 64 >> level
                if tid < half:
                    tile[tid] = tile[tid] + tile[tid + half]
            if tid == 0:
                cuda.atomic.add(out, 0, tile[0])
        """),
    ),
]
