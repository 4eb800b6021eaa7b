"""Answers to detective_quarter_tile."""

from tests.data.answers import Right, Wrong, body, edit, serial, without

ANSWERS = [
    Wrong(
        "the tile right, the banks not",
        edit(("TILE + 1", "TILE")),
        says="passes through the banks",
        grade="but",
    ),
    Wrong(
        "the banks right, the tile not",
        edit(("TILE, ROWS):\n        tile", "ROWS, ROWS):\n        tile")),
        says="no thread of the block has written it",
    ),
    Wrong(
        "only the part that was loaded is stored",
        edit(
            ("TILE, ROWS):\n        tile", "ROWS, ROWS):\n        tile"),
            ("TILE, ROWS):\n        out", "ROWS, ROWS):\n        out"),
        ),
        says="no thread of the block has written it",
    ),
    Wrong("no barrier", without("cuda.syncthreads()"), says="with no barrier in between"),
    Wrong(
        "no tile at all",
        body("""
            tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
            left, top = cuda.blockIdx.x * TILE, cuda.blockIdx.y * TILE
            for k in range(ty, TILE, ROWS):
                out[top + k, left + tx] = a[top + tx, left + k]
        """),
        says="for each time that a warp reads or writes a",
        grade="but",
    ),
    serial("""
            if cuda.grid(2) == (0, 0):
                for top in range(0, a.shape[0], TILE):
                    for left in range(0, a.shape[1], TILE):
                        for r in range(TILE):
                            for c in range(TILE):
                                out[top + r, left + c] = a[top + c, left + r]
        """),
    Wrong(
        "a tile of float64",
        edit(("(TILE, PITCH), np.float32", "(TILE, PITCH), np.float64")),
        says="A float64 tile takes still more",
        grade="but",
    ),
    Right("a pitch of 65", edit(("TILE + 1", "2 * TILE + 1"))),
    Right(
        "transposed on the way in",
        edit(("tile[k, tx] =", "tile[tx, k] ="), ("= tile[tx, k]", "= tile[k, tx]")),
    ),
    Right("a pitch of 35", edit(("TILE + 1", "TILE + 3"))),
]
