"""Answers to warp_sum."""

from tests.data.answers import Right, Wrong, body, edit

ANSWERS = [
    Wrong(
        "threads past the end leave",
        body("""
            i = cuda.grid(1)
            if i >= x.size:
                return
            value = x[i]
            for offset in (16, 8, 4, 2, 1):
                value += cuda.shfl_down_sync(0xFFFFFFFF, value, offset)
            if cuda.laneid == 0:
                partials[i // 32] = value
        """),
        says="that lane takes no part in the call",
    ),
    Wrong(
        "all lanes store",
        edit(("    if cuda.laneid == 0:\n        partials", "    if i >= 0:\n        partials")),
        says="lane 0 alone stores",
    ),
    Wrong(
        "in shared memory",
        body("""
            tile = cuda.shared.array(128, np.float32)
            i, tid = cuda.grid(1), cuda.threadIdx.x
            tile[tid] = x[i] if i < x.size else np.float32(0)
            cuda.syncthreads()
            if tid % 32 == 0:
                acc = np.float32(0)
                for k in range(32):
                    acc += tile[tid + k]
                partials[i // 32] = acc
        """),
        says="no shared memory is needed",
        grade="but",
    ),
    Wrong(
        "atomics on the sum",
        body("""
            i = cuda.grid(1)
            if cuda.laneid == 0:
                partials[i // 32] = 0
            cuda.syncwarp()
            if i < x.size:
                cuda.atomic.add(partials, i // 32, x[i])
        """),
        says="add with shuffles, then lane 0 stores",
        grade="but",
    ),
    Wrong(
        "31 shuffles",
        edit(
            ("for offset in (16, 8, 4, 2, 1):", "own = value\n    for offset in range(1, 32):"),
            ("0xFFFFFFFF, value, offset", "0xFFFFFFFF, own, offset"),
        ),
        says="Five steps are enough",
        grade="but",
    ),
    Right("every lane gets the sum", edit(("shfl_down_sync(", "shfl_xor_sync("))),
    Right(
        "upwards, with the last lane",
        body("""
            i = cuda.grid(1)
            value = np.float32(0)
            if i < x.size:
                value = x[i]
            step = 1
            while step < 32:
                value += cuda.shfl_xor_sync(0xFFFFFFFF, value, step)
                step *= 2
            if cuda.threadIdx.x % 32 == 31:
                partials[i // 32] = value
        """),
    ),
]
