"""Answers to scan."""

from tests.data.answers import Right, Wrong, body, edit, serial, without

ANSWERS = [
    Wrong(
        "no first barrier", without("the tile is full before"), says="with no barrier in between"
    ),
    Wrong(
        "read and written in one go",
        without("all have read before"),
        says="with no barrier in between",
    ),
    Wrong(
        "no barrier behind a step",
        without("all have written before"),
        says="with no barrier in between",
    ),
    Wrong(
        "no guard to the left",
        edit(("tile[tid - step] if tid >= step else np.float32(0)", "tile[tid - step]")),
        says="uses tile[-1] in line 20, which counts from the end",
    ),
    Wrong(
        "no totals",
        edit(("    if tid == BLOCK - 1:\n        totals[cuda.blockIdx.x] = tile[tid]\n", "")),
        says="never written",
    ),
    serial("""
            if cuda.threadIdx.x == 0:
                acc = np.float32(0)
                first = cuda.blockIdx.x * BLOCK
                for i in range(first, min(first + BLOCK, x.size)):
                    acc += x[i]
                    out[i] = acc
                totals[cuda.blockIdx.x] = acc
        """),
    Wrong(
        "one thread goes through the tile",
        body("""
            i, tid = cuda.grid(1), cuda.threadIdx.x
            tile = cuda.shared.array(BLOCK, np.float32)
            tile[tid] = x[i] if i < x.size else np.float32(0)
            cuda.syncthreads()
            if tid == 0:
                for k in range(1, BLOCK):
                    tile[k] += tile[k - 1]
            cuda.syncthreads()
            if i < x.size:
                out[i] = tile[tid]
            if tid == BLOCK - 1:
                totals[cuda.blockIdx.x] = tile[tid]
        """),
        says="doubling steps",
        grade="but",
    ),
    Wrong(
        "each thread adds all before it",
        body("""
            i, tid = cuda.grid(1), cuda.threadIdx.x
            tile = cuda.shared.array(BLOCK, np.float32)
            tile[tid] = x[i] if i < x.size else np.float32(0)
            cuda.syncthreads()
            acc = np.float32(0)
            for k in range(tid + 1):
                acc += tile[k]
            if i < x.size:
                out[i] = acc
            if tid == BLOCK - 1:
                totals[cuda.blockIdx.x] = acc
        """),
        says="doubling steps",
        grade="but",
    ),
    Right(
        "two tiles in turns",
        body("""
            tiles = cuda.shared.array((2, BLOCK), np.float32)
            i, tid, turn, step = cuda.grid(1), cuda.threadIdx.x, 0, 1
            tiles[0, tid] = x[i] if i < x.size else np.float32(0)
            while step < BLOCK:
                cuda.syncthreads()
                value = tiles[turn, tid]
                if tid >= step:
                    value += tiles[turn, tid - step]
                turn = 1 - turn
                tiles[turn, tid] = value
                step *= 2
            if i < x.size:
                out[i] = tiles[turn, tid]
            if tid == BLOCK - 1:
                totals[cuda.blockIdx.x] = tiles[turn, tid]
        """),
    ),
    Right(
        "warps first, by shuffles",
        body("""
            sums = cuda.shared.array(4, np.float32)
            i, tid = cuda.grid(1), cuda.threadIdx.x
            value = x[i] if i < x.size else np.float32(0)
            for step in (1, 2, 4, 8, 16):
                left = cuda.shfl_up_sync(0xFFFFFFFF, value, step)
                if tid % 32 >= step:
                    value += left
            if tid % 32 == 31:
                sums[tid // 32] = value
            cuda.syncthreads()
            for warp in range(tid // 32):
                value += sums[warp]
            if i < x.size:
                out[i] = value
            if tid == BLOCK - 1:
                totals[cuda.blockIdx.x] = value
        """),
    ),
]
