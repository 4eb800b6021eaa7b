"""Answers to conv1d_halo."""

from tests.data.answers import Right, Wrong, body, edit, serial, without

ANSWERS = [
    Wrong("no barrier", without("cuda.syncthreads()"), says="with no barrier in between"),
    Wrong(
        "threads past the end leave before the tile is full",
        edit(("    first = cuda", "    if i >= x.size:\n        return\n    first = cuda")),
        says="returned before `cuda.syncthreads()`",
    ),
    Wrong(
        "straight from global memory",
        body("""
            i = cuda.grid(1)
            if i < x.size:
                acc = np.float32(0)
                for m in range(weight.size):
                    j = i + m - RADIUS
                    if j >= 0 and j < x.size:
                        acc += weight[m] * x[j]
                out[i] = acc
        """),
        says="reads of x for each element; asked: at most 1.1",
        grade="but",
    ),
    Wrong(
        "the tile itself only, in a tile with room for the halo",
        edit(("range(tid, TILE, BLOCK)", "range(tid, BLOCK, BLOCK)")),
        says="no thread of the block has written it",
    ),
    Wrong(
        "a ring",
        edit(("x[j] if j >= 0 and j < x.size else np.float32(0)", "x[(j + x.size) % x.size]")),
        says="its other end is taken, as if it were a ring",
    ),
    Wrong("no guard on the left", edit(("j >= 0 and j < x.size", "j < x.size")), says="x[-3]"),
    Wrong(
        "no guard on the right", edit(("j >= 0 and j < x.size", "j >= 0")), says="guard the access"
    ),
    Wrong(
        "one step too far to the left in the tile",
        edit(("tile[tid + m]", "tile[tid + m - RADIUS]")),
        says="tile[-3]",
    ),
    Wrong(
        "thread 0 loads the halo and everything else",
        edit(
            (
                "    for k in range(tid, TILE, BLOCK):",
                "    for k in range(TILE if tid == 0 else 0):",
            )
        ),
        says="one thread of a warp does the work",
        grade="but",
    ),
    Wrong(
        "a sum that begins as float64",
        edit(("acc = np.float32(0)", "acc = 0.0")),
        says="operations in float64",
        grade="but",
    ),
    serial("""
        if cuda.grid(1) == 0:
            for i in range(x.size):
                acc = np.float32(0)
                for m in range(weight.size):
                    if i + m - RADIUS >= 0 and i + m - RADIUS < x.size:
                        acc += weight[m] * x[i + m - RADIUS]
                out[i] = acc
    """)._replace(says="asked: at most"),
    Right(
        "the halo by the first threads",
        body("""
            tile = cuda.shared.array(TILE, np.float32)
            i, tid = cuda.grid(1), cuda.threadIdx.x
            tile[tid + RADIUS] = x[i] if i < x.size else 0
            if tid < RADIUS:
                tile[tid] = 0
                if i >= RADIUS:
                    tile[tid] = x[i - RADIUS]
                tile[tid + RADIUS + BLOCK] = 0
                if i + BLOCK < x.size:
                    tile[tid + RADIUS + BLOCK] = x[i + BLOCK]
            cuda.syncthreads()
            if i >= x.size:
                return
            acc = np.float32(0)
            for m in range(-RADIUS, RADIUS + 1):
                acc += weight[m + RADIUS] * tile[tid + RADIUS + m]
            out[i] = acc
        """),
    ),
    Right(
        "weights in shared memory, sum backwards",
        body("""
            tid = cuda.threadIdx.x
            tile = cuda.shared.array(TILE, np.float32)
            factor = cuda.shared.array(7, np.float32)
            begin = cuda.blockIdx.x * cuda.blockDim.x
            k = tid
            while k < TILE:
                tile[k] = 0
                if 0 <= begin + k - RADIUS < x.size:
                    tile[k] = x[begin + k - RADIUS]
                k += BLOCK
            if tid < weight.size:
                factor[tid] = weight[tid]
            cuda.syncthreads()
            if begin + tid < out.size:
                acc = np.float32(0)
                for m in range(weight.size - 1, -1, -1):
                    acc += factor[m] * tile[tid + m]
                out[begin + tid] = acc
        """),
    ),
]
