"""Answers to padded_transpose."""

from tests.data.answers import Right, Wrong, body, edit, serial, without

ANSWERS = [
    Wrong("no barrier", without("the tile is full before"), says="with no barrier in between"),
    Wrong(
        "32 columns",
        edit(("(TILE, PITCH)", "(TILE, TILE)")),
        says="passes through the banks",
        grade="but",
    ),
    Wrong(
        "the naive kernel",
        body("""
            for k in range(cuda.threadIdx.y, TILE, ROWS):
                row = cuda.blockIdx.y * TILE + k
                col = cuda.blockIdx.x * TILE + cuda.threadIdx.x
                if row < a.shape[0] and col < a.shape[1]:
                    out[col, row] = a[row, col]
        """),
        says="Write rows of out, not columns",
        grade="but",
    ),
    Wrong(
        "the tile is stored as it is",
        edit(("tile[tx, k]", "tile[k, tx]")),
        says="no thread of the block has written it",
    ),
    Wrong(
        "three quarters of the tile are never loaded",
        edit(
            (
                "    for k in range(ty, TILE, ROWS):\n        if top + k",
                "    for k in range(ty, ROWS, ROWS):\n        if top + k",
            )
        ),
        says="no thread of the block has written it",
    ),
    Wrong(
        "a barrier in the loop",
        edit(
            ("    cuda.syncthreads()  # the tile", "    # the tile"),
            (
                "            tile[k, tx] = a[top + k, left + tx]\n",
                "            tile[k, tx] = a[top + k, left + tx]\n        cuda.syncthreads()\n",
            ),
        ),
        says="4 barriers",
        grade="but",
    ),
    serial("""
            if cuda.grid(2) == (0, 0):
                for row in range(a.shape[0]):
                    for col in range(a.shape[1]):
                        out[col, row] = a[row, col]
        """),
    Wrong(
        "a tile of float64",
        edit(("(TILE, PITCH), np.float32", "(TILE, PITCH), np.float64")),
        says="A float64 tile takes still more",
        grade="but",
    ),
    Wrong(
        "one warp of the block moves the tile",
        edit(
            (
                "    for k in range(ty, TILE, ROWS):\n        if top + k",
                "    for k in range(0 if ty == 0 else TILE, TILE):\n        if top + k",
            ),
            (
                "    for k in range(ty, TILE, ROWS):\n        if left + k",
                "    for k in range(0 if ty == 0 else TILE, TILE):\n        if left + k",
            ),
        ),
        says="warps that read and write nothing",
        grade="but",
    ),
    Right(
        "transposed on the way in",
        body("""
            tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
            left, top = cuda.blockIdx.x * TILE, cuda.blockIdx.y * TILE
            tile = cuda.shared.array((TILE, PITCH), np.float32)
            for k in range(ty, TILE, ROWS):
                if top + k < a.shape[0] and left + tx < a.shape[1]:
                    tile[tx, k] = a[top + k, left + tx]
            cuda.syncthreads()
            for k in range(ty, TILE, ROWS):
                if left + k < out.shape[0] and top + tx < out.shape[1]:
                    out[left + k, top + tx] = tile[k, tx]
        """),
    ),
    Right(
        "four steps written as a range of four",
        body("""
            tile = cuda.shared.array((32, 33), np.float32)
            for step in range(4):
                y = step * 8 + cuda.threadIdx.y
                row, col = cuda.blockIdx.y * 32 + y, cuda.blockIdx.x * 32 + cuda.threadIdx.x
                if row < a.shape[0] and col < a.shape[1]:
                    tile[y, cuda.threadIdx.x] = a[row, col]
            cuda.syncthreads()
            for step in range(4):
                y = step * 8 + cuda.threadIdx.y
                row, col = cuda.blockIdx.x * 32 + y, cuda.blockIdx.y * 32 + cuda.threadIdx.x
                if row < out.shape[0] and col < out.shape[1]:
                    out[row, col] = tile[cuda.threadIdx.x, y]
        """),
    ),
]
