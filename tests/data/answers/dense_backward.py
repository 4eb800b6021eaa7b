"""Answers to dense_backward."""

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
        without("grad_tile[ty, tx] = np.float32(0)", "x_tile[ty, tx] = np.float32(0)"),
        says="no thread of the block has written it",
    ),
    Wrong(
        "always one step more",
        edit(("(batch + TILE - 1) // TILE", "batch // TILE + 1")),
        says="A further step only adds zeros",
        grade="but",
    ),
    Wrong(
        "straight from global memory",
        body("""
            col, row = cuda.grid(2)
            if row < grad_weight.shape[0] and col < grad_weight.shape[1]:
                acc = np.float32(0)
                for sample in range(x.shape[0]):
                    acc += grad_out[sample, row] * x[sample, col]
                grad_weight[row, col] = acc
        """),
        says="56 reads of grad_out for each element; asked: at most 4",
        grade="but",
    ),
    Wrong(
        "grad_out is turned when it is loaded",
        edit(
            (
                "        if sample < batch and left + tx < grad_out.shape[1]:\n"
                "            grad_tile[ty, tx] = grad_out[sample, left + tx]\n",
                "        if t * TILE + tx < batch and row < grad_out.shape[1]:\n"
                "            grad_tile[ty, tx] = grad_out[t * TILE + tx, row]\n",
            ),
            ("grad_tile[k, ty]", "grad_tile[ty, k]"),
        ),
        says="should load neighbouring columns of grad_out",
        grade="but",
    ),
    Wrong(
        "the tile of grad_out by the column of the weight",
        edit(
            ("left + tx < grad_out.shape[1]", "col < grad_out.shape[1]"),
            ("grad_out[sample, left + tx]", "grad_out[sample, col]"),
        ),
        says="wrong",
    ),
    Wrong(
        "threads outside the weights leave",
        edit(("    batch = x", "    if row >= grad_out.shape[1]:\n        return\n    batch = x")),
        says="returned before `cuda.syncthreads()`",
    ),
    Right(
        "the sum over samples from the start of a step on",
        body("""
            col, row = cuda.grid(2)
            tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
            g = cuda.shared.array((TILE, TILE), np.float32)
            v = cuda.shared.array((TILE, TILE), np.float32)
            total = np.float32(0)
            output = row - ty + tx
            for start in range(0, grad_out.shape[0], TILE):
                k = start + ty
                g[ty, tx] = v[ty, tx] = 0
                if k < grad_out.shape[0]:
                    if output < grad_out.shape[1]:
                        g[ty, tx] = grad_out[k, output]
                    if col < x.shape[1]:
                        v[ty, tx] = x[k, col]
                cuda.syncthreads()
                for k in range(TILE - 1, -1, -1):
                    total += v[k, tx] * g[k, ty]
                cuda.syncthreads()
            if row < grad_weight.shape[0]:
                if col < grad_weight.shape[1]:
                    grad_weight[row, col] = total
        """),
    ),
    Right(
        "a tile of grad_out that is stored turned",
        edit(
            ("grad_tile[ty, tx] = np.float32(0)", "grad_tile[tx, ty] = np.float32(0)"),
            ("grad_tile[ty, tx] = grad_out", "grad_tile[tx, ty] = grad_out"),
            ("grad_tile[k, ty]", "grad_tile[ty, k]"),
        ),
    ),
]
