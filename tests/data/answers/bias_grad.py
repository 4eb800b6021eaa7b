"""Answers to bias_grad."""

from tests.data.answers import Right, Wrong, body, edit, without

ANSWERS = [
    Wrong("no barrier", without("cuda.syncthreads()"), says="with no barrier in between"),
    Wrong(
        "threads without a column leave before the barrier",
        body("""
            col = cuda.grid(1)
            tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
            tile = cuda.shared.array((DOWN, ACROSS), np.float32)
            acc = np.float32(0)
            if col >= grad_out.shape[1]:
                return
            for row in range(ty, grad_out.shape[0], DOWN):
                acc += grad_out[row, col]
            tile[ty, tx] = acc
            cuda.syncthreads()
            if ty == 0:
                total = np.float32(0)
                for k in range(DOWN):
                    total += tile[k, tx]
                grad_bias[col] = total
        """),
        says="barrier",
        grade="but",
    ),
    Wrong(
        "all threads add to grad_bias",
        body("""
            col = cuda.grid(1)
            ty = cuda.threadIdx.y
            if col < grad_out.shape[1] and ty == 0:
                grad_bias[col] = 0
            cuda.syncthreads()
            if col < grad_out.shape[1]:
                for row in range(ty, grad_out.shape[0], DOWN):
                    grad_bias[col] += grad_out[row, col]
        """),
        says="update it with `cuda.atomic.add(",
    ),
    Wrong(
        "atomics",
        body("""
            col = cuda.grid(1)
            ty = cuda.threadIdx.y
            if col < grad_out.shape[1] and ty == 0:
                grad_bias[col] = 0
            cuda.syncthreads()
            if col < grad_out.shape[1]:
                acc = np.float32(0)
                for row in range(ty, grad_out.shape[0], DOWN):
                    acc += grad_out[row, col]
                cuda.atomic.add(grad_bias, col, acc)
        """),
        says="combine the sums in shared memory",
        grade="but",
    ),
    Wrong(
        "the rows",
        body("""
            col = cuda.grid(1)
            if cuda.threadIdx.y == 0 and col < grad_bias.size:
                acc = np.float32(0)
                for k in range(grad_out.shape[1]):
                    acc += grad_out[col, k]
                grad_bias[col] = acc
        """),
        says="uses grad_out[",
    ),
    Wrong(
        "one thread for each column",
        body("""
            col = cuda.grid(1)
            if cuda.threadIdx.y == 0 and col < grad_bias.size:
                acc = np.float32(0)
                for row in range(grad_out.shape[0]):
                    acc += grad_out[row, col]
                grad_bias[col] = acc
        """),
        says="warps that read and write nothing",
        grade="but",
    ),
    Wrong(
        "the tile turned",
        edit(
            ("array((DOWN, ACROSS)", "array((ACROSS, DOWN)"),
            ("tile[ty, tx] =", "tile[tx, ty] ="),
            ("tile[k, tx]", "tile[tx, k]"),
        ),
        says="tile[ty, tx], not tile[tx, ty]",
        grade="but",
    ),
    Wrong(
        "warps walk along rows",
        body("""
            tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
            tile = cuda.shared.array((DOWN, ACROSS), np.float32)
            left = cuda.blockIdx.x * ACROSS
            for k in range(ty, ACROSS, DOWN):
                if left + k < grad_out.shape[1]:
                    acc = np.float32(0)
                    for row in range(tx, grad_out.shape[0], 32):
                        acc += grad_out[row, left + k]
                    for offset in (16, 8, 4, 2, 1):
                        acc += cuda.shfl_down_sync(0xFFFFFFFF, acc, offset)
                    if tx == 0:
                        grad_bias[left + k] = acc
        """),
        says="read neighbouring columns of one row",
        grade="but",
    ),
    Right(
        "a tree down the tile",
        body("""
            tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
            col = cuda.blockIdx.x * cuda.blockDim.x + tx
            tile = cuda.shared.array((DOWN, ACROSS), np.float32)
            tile[ty, tx] = 0
            row = ty
            while row < grad_out.shape[0]:
                if col < grad_out.shape[1]:
                    tile[ty, tx] += grad_out[row, col]
                row += DOWN
            for half in (4, 2, 1):
                cuda.syncthreads()
                if ty < half:
                    tile[ty, tx] += tile[ty + half, tx]
            if ty == 0 and col < grad_out.shape[1]:
                grad_bias[col] = tile[0, tx]
        """),
    ),
    Wrong(
        "atomics in shared memory, one place a column",
        body("""
            col = cuda.grid(1)
            tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
            sums = cuda.shared.array(ACROSS, np.float32)
            if ty == 0:
                sums[tx] = 0
            cuda.syncthreads()
            acc = np.float32(0)
            if col < grad_out.shape[1]:
                for row in range(ty, grad_out.shape[0], DOWN):
                    acc += grad_out[row, col]
            cuda.atomic.add(sums, tx, acc)
            cuda.syncthreads()
            if ty == DOWN - 1 and col < grad_bias.size:
                grad_bias[col] = sums[tx]
        """),
        says="let one thread add the 8 of a column",
        grade="but",
    ),
    Right(
        "two running sums for each thread, and the tile turned and padded",
        body("""
            tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
            left = cuda.blockIdx.x * ACROSS
            tile = cuda.shared.array((32, 9), np.float32)
            even, odd = np.float32(0), np.float32(0)
            if left + tx < grad_out.shape[1]:
                for row in range(ty, grad_out.shape[0], 2 * DOWN):
                    even += grad_out[row, left + tx]
                    if row + DOWN < grad_out.shape[0]:
                        odd += grad_out[row + DOWN, left + tx]
            tile[tx, ty] = even + odd
            cuda.syncthreads()
            if ty == 0 and left + tx < grad_bias.size:
                total = np.float32(0)
                for k in range(DOWN):
                    total += tile[tx, k]
                grad_bias[left + tx] = total
        """),
    ),
]
