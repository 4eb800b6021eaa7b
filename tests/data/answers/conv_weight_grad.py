"""Answers to conv_weight_grad."""

from tests.data.answers import Right, Wrong, body, edit, without

ANSWERS = [
    Wrong(
        "no barrier before the tree",
        without("all sums are there before"),
        says="with no barrier in between",
    ),
    Wrong(
        "no barrier behind a level",
        without("this level is written before"),
        says="with no barrier in between",
    ),
    Wrong(
        "the barrier within the condition",
        edit(("        cuda.syncthreads()  # this", "            cuda.syncthreads()  # this")),
        says="barrier",
    ),
    Wrong(
        "the weight's indices exchanged",
        edit(("col] * x[row + m, col + n]\n", "col] * x[row + n, col + m]\n")),
        says="x[",
    ),
    Wrong(
        "rows of x for rows of grad_out",
        edit(("across = grad_out.shape[1]", "across = x.shape[1]")),
        says="grad_out[",
    ),
    Wrong(
        "all threads add to the weight",
        body("""
            n, m = cuda.blockIdx.x, cuda.blockIdx.y
            tid = cuda.threadIdx.x
            if tid == 0:
                grad_weight[m, n] = 0
            cuda.syncthreads()
            for k in range(tid, grad_out.size, BLOCK):
                row, col = k // grad_out.shape[1], k % grad_out.shape[1]
                grad_weight[m, n] += grad_out[row, col] * x[row + m, col + n]
        """),
        says="update it with `cuda.atomic.add(",
    ),
    Wrong(
        "atomics",
        body("""
            n, m = cuda.blockIdx.x, cuda.blockIdx.y
            tid = cuda.threadIdx.x
            if tid == 0:
                grad_weight[m, n] = 0
            cuda.syncthreads()
            acc = np.float32(0)
            for k in range(tid, grad_out.size, BLOCK):
                row, col = k // grad_out.shape[1], k % grad_out.shape[1]
                acc += grad_out[row, col] * x[row + m, col + n]
            cuda.atomic.add(grad_weight, (m, n), acc)
        """),
        says="reduce with a tree in shared memory",
        grade="but",
    ),
    Wrong(
        "one thread for each weight",
        body("""
            n, m = cuda.blockIdx.x, cuda.blockIdx.y
            if cuda.threadIdx.x == 0:
                acc = np.float32(0)
                for row in range(grad_out.shape[0]):
                    for col in range(grad_out.shape[1]):
                        acc += grad_out[row, col] * x[row + m, col + n]
                grad_weight[m, n] = acc
        """),
        says="one thread of a warp does the work",
        grade="but",
    ),
    Wrong(
        "neighbouring threads far apart",
        body("""
            n, m = cuda.blockIdx.x, cuda.blockIdx.y
            tid = cuda.threadIdx.x
            tile = cuda.shared.array(BLOCK, np.float32)
            acc = np.float32(0)
            each = (grad_out.size + BLOCK - 1) // BLOCK
            for k in range(tid * each, min(grad_out.size, (tid + 1) * each)):
                row, col = k // grad_out.shape[1], k % grad_out.shape[1]
                acc += grad_out[row, col] * x[row + m, col + n]
            tile[tid] = acc
            cuda.syncthreads()
            half = BLOCK // 2
            while half > 0:
                if tid < half:
                    tile[tid] += tile[tid + half]
                cuda.syncthreads()
                half //= 2
            if tid == 0:
                grad_weight[m, n] = tile[0]
        """),
        says="Neighbouring threads should take neighbouring results",
        grade="but",
    ),
    Wrong(
        "one thread adds the tile",
        body("""
            n, m = cuda.blockIdx.x, cuda.blockIdx.y
            tid = cuda.threadIdx.x
            tile = cuda.shared.array(BLOCK, np.float32)
            acc = np.float32(0)
            for k in range(tid, grad_out.size, BLOCK):
                row, col = k // grad_out.shape[1], k % grad_out.shape[1]
                acc += grad_out[row, col] * x[row + m, col + n]
            tile[tid] = acc
            cuda.syncthreads()
            if tid == 0:
                total = np.float32(0)
                for k in range(BLOCK):
                    total += tile[k]
                grad_weight[m, n] = total
        """),
        says="a tree takes 7",
        grade="but",
    ),
    Wrong(
        "the threads share a row at a time, and most have no column",
        edit(
            (
                "    for k in range(tid, grad_out.size, BLOCK):\n"
                "        row, col = k // across, k % across\n"
                "        acc += ",
                "    for row in range(grad_out.shape[0]):\n"
                "        for col in range(tid, across, BLOCK):\n"
                "            acc += ",
            )
        ),
        says="128 threads share 1,024 results",
        grade="but",
    ),
    Right(
        "row and column carried along, shuffles in each warp",
        body("""
            tid = cuda.threadIdx.x
            sums = cuda.shared.array(4, np.float32)
            acc = np.float32(0)
            k = tid
            while k < grad_out.shape[0] * grad_out.shape[1]:
                row = k // grad_out.shape[1]
                col = k - row * grad_out.shape[1]
                acc += x[row + cuda.blockIdx.y, col + cuda.blockIdx.x] * grad_out[row, col]
                k += cuda.blockDim.x
            for offset in (16, 8, 4, 2, 1):
                acc += cuda.shfl_down_sync(0xFFFFFFFF, acc, offset)
            if tid % 32 == 0:
                sums[tid // 32] = acc
            cuda.syncthreads()
            if tid == 0:
                total = sums[0] + sums[1] + sums[2] + sums[3]
                grad_weight[cuda.blockIdx.y, cuda.blockIdx.x] = total
        """),
    ),
    Wrong(
        "a thread for each column, of which there may be more than threads",
        body("""
            n, m = cuda.blockIdx.x, cuda.blockIdx.y
            tid = cuda.threadIdx.x
            tile = cuda.shared.array(BLOCK, np.float32)
            acc = np.float32(0)
            if tid < grad_out.shape[1]:
                for row in range(grad_out.shape[0]):
                    acc += grad_out[row, tid] * x[row + m, tid + n]
            tile[tid] = acc
            cuda.syncthreads()
            for level in range(6, -1, -1):
                if tid < 1 << level:
                    tile[tid] += tile[tid + (1 << level)]
                cuda.syncthreads()
            if tid == 0:
                grad_weight[m, n] = tile[0]
        """),
        says="columns of grad_out from 128 on",
    ),
    Right(
        "the barrier at the beginning of a level",
        body("""
            n, m = cuda.blockIdx.x, cuda.blockIdx.y
            tid = cuda.threadIdx.x
            tile = cuda.shared.array(BLOCK, np.float32)
            tile[tid] = 0
            for k in range(tid, grad_out.size, BLOCK):
                row, col = k // grad_out.shape[1], k % grad_out.shape[1]
                tile[tid] += grad_out[row, col] * x[row + m, col + n]
            for level in range(6, -1, -1):
                cuda.syncthreads()
                if tid < 1 << level:
                    tile[tid] += tile[tid + (1 << level)]
            if tid == 0:
                grad_weight[m, n] = tile[0]
        """),
    ),
]
