"""Answers to tiled_matmul."""

from tests.data.answers import Right, Wrong, body, edit, without

ANSWERS = [
    Wrong(
        "no first barrier", without("both tiles are full before"), says="with no barrier in between"
    ),
    Wrong(
        "no second barrier", without("all reads are done before"), says="with no barrier in between"
    ),
    Wrong(
        "nothing fills the edge of the tiles",
        without("a_tile[ty, tx] = np.float32(0)", "b_tile[ty, tx] = np.float32(0)"),
        says="no thread of the block has written it",
    ),
    Wrong(
        "the naive kernel",
        body("""
            col, row = cuda.grid(2)
            if row < out.shape[0] and col < out.shape[1]:
                acc = np.float32(0)
                for k in range(a.shape[1]):
                    acc += a[row, k] * b[k, col]
                out[row, col] = acc
        """),
        says="56 reads of a for each element; asked: at most 4",
        grade="but",
    ),
    Wrong(
        "the naive kernel, with a tile that nobody needs",
        body("""
            col, row = cuda.grid(2)
            a_tile = cuda.shared.array((TILE, TILE), np.float32)
            a_tile[cuda.threadIdx.y, cuda.threadIdx.x] = np.float32(0)
            cuda.syncthreads()
            if row < out.shape[0] and col < out.shape[1]:
                acc = a_tile[cuda.threadIdx.y, cuda.threadIdx.x]
                for k in range(a.shape[1]):
                    acc += a[row, k] * b[k, col]
                out[row, col] = acc
        """),
        says="56 reads of a for each element; asked: at most 4",
        grade="but",
    ),
    Wrong(
        "the steps of the largest case",
        edit(("range((k_size + TILE - 1) // TILE)", "range(4)")),
        says="Only the first 64 products",
    ),
    Wrong(
        "always one step more",
        edit(("(k_size + TILE - 1) // TILE", "k_size // TILE + 1")),
        says="a further step only adds zeros",
        grade="but",
    ),
    Wrong(
        "a is loaded along its columns",
        edit(
            ("a_tile[ty, tx] = np.float32(0)", "a_tile[tx, ty] = np.float32(0)"),
            (
                "if row < a.shape[0] and t * TILE + tx",
                "if cuda.blockIdx.y * TILE + tx < a.shape[0] and t * TILE + ty",
            ),
            (
                "a_tile[ty, tx] = a[row, t * TILE + tx]",
                "a_tile[tx, ty] = a[cuda.blockIdx.y * TILE + tx, t * TILE + ty]",
            ),
        ),
        says="should load neighbouring columns of a",
        grade="but",
    ),
    Wrong(
        "one warp makes the tile",
        body("""
            col, top = cuda.grid(2)[0], cuda.blockIdx.y * TILE
            tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
            a_tile = cuda.shared.array((TILE, TILE), np.float32)
            b_tile = cuda.shared.array((TILE, TILE), np.float32)
            acc, zero, k_size = cuda.local.array(8, np.float32), np.float32(0), a.shape[1]
            for r in range(8):
                acc[r] = 0
            if ty < 2:
                for t in range((k_size + TILE - 1) // TILE):
                    k_a = t * TILE + tx
                    for y in range(ty, TILE, 2):
                        k_b, row = t * TILE + y, top + y
                        a_tile[y, tx] = a[row, k_a] if row < a.shape[0] and k_a < k_size else zero
                        b_tile[y, tx] = b[k_b, col] if col < b.shape[1] and k_b < k_size else zero
                    cuda.syncwarp()
                    for r in range(8):
                        for k in range(TILE):
                            acc[r] += a_tile[ty + 2 * r, k] * b_tile[k, tx]
                    cuda.syncwarp()
                for r in range(8):
                    if top + ty + 2 * r < out.shape[0] and col < out.shape[1]:
                        out[top + ty + 2 * r, col] = acc[r]
        """),
        says="Right, but",
        grade="but",
    ),
    Right(
        "a step over k itself",
        edit(
            ("for t in range((k_size + TILE - 1) // TILE)", "for start in range(0, k_size, TILE)"),
            ("t * TILE + tx < k_size", "start + tx < k_size"),
            ("a[row, t * TILE + tx]", "a[row, start + tx]"),
            ("t * TILE + ty < k_size", "start + ty < k_size"),
            ("b[t * TILE + ty, col]", "b[start + ty, col]"),
        ),
    ),
    Right(
        "the zero in an else",
        edit(
            ("        a_tile[ty, tx] = np.float32(0)\n", ""),
            (
                "            a_tile[ty, tx] = a[row, t * TILE + tx]\n",
                "            a_tile[ty, tx] = a[row, t * TILE + tx]\n"
                "        else:\n            a_tile[ty, tx] = 0\n",
            ),
        ),
    ),
]
