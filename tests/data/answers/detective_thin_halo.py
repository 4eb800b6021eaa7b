"""Answers to detective_thin_halo."""

from tests.data.answers import Right, Wrong, body, edit, serial, without

LOOP = "WIDE * WIDE, TILE * TILE)"
INSIDE = "0 <= h < image.shape[0] and 0 <= w < image.shape[1]"

ANSWERS = [
    Wrong(
        "the guard fixed, the loop not",
        edit((LOOP, "TILE * TILE, TILE * TILE)")),
        says="no thread of the block has written it",
    ),
    Wrong(
        "the loop fixed, the guard not",
        edit((INSIDE, "h < image.shape[0] and w < image.shape[1]")),
        says="image[-1",
    ),
    Wrong(
        "guarded on the left, not on the right",
        edit((INSIDE, "0 <= h and 0 <= w")),
        says="guard the access",
    ),
    Wrong("no barrier", without("cuda.syncthreads()"), says="with no barrier in between"),
    Wrong(
        "threads past the end leave",
        edit(
            (
                "    for k in range",
                "    if row >= out.shape[0] or col >= out.shape[1]:\n        return\n"
                "    for k in range",
            )
        ),
        says="returned before `cuda.syncthreads()`",
    ),
    Wrong(
        "each thread loads the whole tile",
        edit(("range(ty * TILE + tx, WIDE * WIDE, TILE * TILE)", "range(WIDE * WIDE)")),
        says="reads of image for each element; asked: at most 1.25",
        grade="but",
    ),
    Wrong(
        "the window one pixel too far",
        edit(
            ("tile[ty + m, tx + n]", "tile[min(ty + m + 1, WIDE - 1), min(tx + n + 1, WIDE - 1)]")
        ),
        says="out[",
    ),
    Wrong(
        "straight from global memory",
        body("""
            col, row = cuda.grid(2)
            if row < out.shape[0] and col < out.shape[1]:
                acc = np.float32(0)
                for h in range(row - 1, row + 2):
                    for w in range(col - 1, col + 2):
                        if 0 <= h < image.shape[0] and 0 <= w < image.shape[1]:
                            acc += image[h, w]
                out[row, col] = acc / np.float32(9)
        """),
        says="reads of image for each element; asked: at most 1.25",
        grade="but",
    ),
    serial("""
        if cuda.grid(2) == (0, 0):
            for row in range(out.shape[0]):
                for col in range(out.shape[1]):
                    acc = np.float32(0)
                    for h in range(row - 1, row + 2):
                        for w in range(col - 1, col + 2):
                            if 0 <= h < image.shape[0] and 0 <= w < image.shape[1]:
                                acc += image[h, w]
                    out[row, col] = acc / np.float32(9)
    """)._replace(says="asked: at most"),
    Right(
        "rows by y, columns by x",
        edit(
            (
                "    for k in range(ty * TILE + tx, WIDE * WIDE, TILE * TILE):\n",
                "    for r in range(ty * WIDE, WIDE * WIDE, TILE * WIDE):\n"
                "      for k in range(r + tx, r + WIDE, TILE):\n  ",
            ),
            ("        inside =", "          inside ="),
            ("        tile[k", "          tile[k"),
        ),
    ),
    Right(
        "the whole tile cleared first, one by one",
        edit(
            ("np.float32(0)\n    cuda", "np.float32(0.0)\n    cuda"),
            (
                f"inside = {INSIDE}",
                "inside = min(h, w) >= 0 and h < out.shape[0] and w < out.shape[1]",
            ),
        ),
    ),
]
