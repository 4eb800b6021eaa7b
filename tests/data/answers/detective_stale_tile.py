"""Answers to detective_stale_tile."""

from tests.data.answers import SERIAL_PRODUCT, Right, Wrong, body, edit, without

ANSWERS = [
    Wrong(
        "the steps fixed, the barrier not",
        without("all reads are done before"),
        says="with no barrier in between",
    ),
    Wrong(
        "the barrier in front of the products moved behind them",
        edit(("else zero\n        cuda.syncthreads()\n", "else zero\n")),
        says="with no barrier in between",
    ),
    Wrong(
        "one step too many, without its guard",
        edit(
            ("(k_size + TILE - 1) // TILE", "k_size // TILE + 1"),
            ("row < a.shape[0] and k_a < k_size", "row < a.shape[0]"),
        ),
        says="guard the access",
    ),
    Wrong(
        "a barrier for each product",
        edit(("b_tile[k, tx]\n", "b_tile[k, tx]\n            cuda.syncthreads()\n")),
        says="barriers that each block passes",
        grade="but",
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
    SERIAL_PRODUCT,
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
    Right(
        "the barrier at the beginning of a step",
        edit(
            ("        cuda.syncthreads()  # all reads", "        # all reads"),
            ("        k_a, k_b", "        cuda.syncthreads()\n        k_a, k_b"),
        ),
    ),
    Right(
        "a step over k itself",
        edit(
            ("for t in range((k_size + TILE - 1) // TILE)", "for start in range(0, k_size, TILE)"),
            ("t * TILE + tx, t * TILE + ty", "start + tx, start + ty"),
        ),
    ),
]
