"""Answers to detective_hanging_tree."""

from tests.data.answers import Right, Wrong, body, edit

ANSWERS = [
    Wrong(
        "the barrier fixed, the filling not",
        edit(("    tile[tid] = x[i] if", "    if i < x.size:\n        tile[tid] = x[i]  # if")),
        says="no thread of the block has written it",
    ),
    Wrong(
        "the filling fixed, the barrier not",
        edit(("tile[tid + half])\n        cuda", "tile[tid + half])\n            cuda")),
        says="threads 64-127 do not come to it",
    ),
    Wrong(
        "no barrier behind a level",
        edit(("tile[tid + half])\n        cuda.syncthreads()", "tile[tid + half])")),
        says="with no barrier in between",
    ),
    Wrong(
        "those past the end leave",
        edit(
            (
                "    tile[tid] = x[i] if",
                "    if i >= x.size:\n        return\n    tile[tid] = x[i]  # if",
            )
        ),
        says="never written",
    ),
    Wrong(
        "one thread compares all",
        body("""
            i, tid = cuda.grid(1), cuda.threadIdx.x
            tile = cuda.shared.array(BLOCK, np.float32)
            tile[tid] = x[i] if i < x.size else np.float32(-np.inf)
            cuda.syncthreads()
            if tid == 0:
                for k in range(1, BLOCK):
                    tile[0] = max(tile[0], tile[k])
                partials[cuda.blockIdx.x] = tile[0]
        """),
        says="keep the tree",
        grade="but",
    ),
    Right(
        "the filling in two branches",
        edit(
            (
                "    tile[tid] = x[i] if",
                "    tile[tid] = -np.inf\n    if i < x.size:\n        tile[tid] = x[i]  # if",
            )
        ),
    ),
    Right(
        "the last element again past the end",
        body("""
            tile = cuda.shared.array(BLOCK, np.float32)
            i, tid = cuda.grid(1), cuda.threadIdx.x
            tile[tid] = np.float32(-np.inf)
            if i < x.size:
                tile[tid] = x[i]
            half = BLOCK // 2
            while half > 0:
                cuda.syncthreads()
                if tid < half and tile[tid + half] > tile[tid]:
                    tile[tid] = tile[tid + half]
                half //= 2
            if tid == 0:
                partials[cuda.blockIdx.x] = tile[0]
        """),
    ),
]
