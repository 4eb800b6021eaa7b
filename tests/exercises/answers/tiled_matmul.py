"""Answers to tiled_matmul."""

from tests.exercises.answers import Right, Wrong, body, edit, without

ANSWERS = [
    Wrong(
        "no first barrier",
        without("both tiles are full before"),
        says="with no barrier in between",
    ),
    Wrong(
        "no second barrier",
        without("all reads are done before"),
        says="with no barrier in between",
    ),
    Wrong(
        "nothing fills the edge of the tiles",
        without("a_tile[ty, tx] = np.float32(0)", "b_tile[ty, tx] = np.float32(0)"),
        says="no thread of the block has written it",
    ),
    Wrong(
        "the last tile left out",
        edit(("(k_size + TILE - 1) // TILE", "k_size // TILE")),
        says="the number of steps is rounded down",
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
        says="64 reads of a for each element; asked: at most 4",
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
        says="64 reads of a for each element; asked: at most 4",
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
