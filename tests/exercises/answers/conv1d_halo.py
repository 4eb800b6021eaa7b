"""Answers to conv1d_halo."""

from tests.exercises.answers import Right, Wrong, body, edit, serial, without

ANSWERS = [
    Wrong(
        "no barrier",
        without("cuda.syncthreads()"),
        says="with no barrier in between",
    ),
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
        "a tile without a halo",
        body("""
            i = cuda.grid(1)
            tid = cuda.threadIdx.x
            tile = cuda.shared.array(BLOCK, np.float32)
            tile[tid] = x[i] if i < x.size else np.float32(0)
            cuda.syncthreads()
            if i < x.size:
                acc = np.float32(0)
                for m in range(weight.size):
                    k = tid + m - RADIUS
                    if k >= 0 and k < BLOCK:
                        acc += weight[m] * tile[k]
                out[i] = acc
        """),
        says="The halo is missing",
    ),
    Wrong(
        "the tile itself only, in a tile with room for the halo",
        edit(("range(tid, TILE, BLOCK)", "range(tid, BLOCK, BLOCK)")),
        says="no thread of the block has written it",
    ),
    Wrong(
        "only the left halo",
        edit(("j >= 0 and j < x.size", "j >= 0 and j < min(x.size, first + RADIUS + BLOCK)")),
        says="The right part of the halo is missing",
    ),
    Wrong(
        "only the right halo",
        edit(("j >= 0 and j < x.size", "j >= first + RADIUS and j < x.size")),
        says="The left part of the halo is missing",
    ),
    Wrong(
        "reversed weights",
        edit(("acc += weight[m]", "acc += weight[weight.size - 1 - m]")),
        says="The weights are reversed",
    ),
    Wrong(
        "the window begins at the element",
        edit(("cuda.blockIdx.x * BLOCK - RADIUS", "cuda.blockIdx.x * BLOCK")),
        says="The window begins at x[i]",
    ),
    Wrong(
        "the edge repeated",
        edit(
            (
                "x[j] if j >= 0 and j < x.size else np.float32(0)",
                "x[min(max(j, 0), x.size - 1)] if x.size else np.float32(0)",
            )
        ),
        says="there should be 0",
    ),
    Wrong(
        "a ring",
        edit(("x[j] if j >= 0 and j < x.size else np.float32(0)", "x[(j + x.size) % x.size]")),
        says="its other end is taken, as if it were a ring",
    ),
    Wrong(
        "no guard on the left",
        edit(("j >= 0 and j < x.size", "j < x.size")),
        says="x[-3]",
    ),
    Wrong(
        "no guard on the right",
        edit(("j >= 0 and j < x.size", "j >= 0")),
        says="guard the access",
    ),
    Wrong(
        "six weights",
        edit(("range(weight.size)", "range(2 * RADIUS)")),
        says="The last weight is missing",
    ),
    Wrong(
        "one step too far to the left in the tile",
        edit(("tile[tid + m]", "tile[tid + m - RADIUS]")),
        says="tile[-3]",
    ),
    Wrong(
        "a tile of whole numbers",
        edit(("TILE, np.float32)", "TILE, np.int32)")),
        says="The fractions are lost",
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
