"""Answers to histogram."""

from tests.data.answers import Right, Wrong, body, edit, serial, without

ANSWERS = [
    Wrong(
        "+= on the block's counters",
        edit(("cuda.atomic.add(mine, values[i], 1)", "mine[values[i]] += 1")),
        says="update it with `cuda.atomic.add(",
    ),
    Wrong(
        "+= on the counters of all",
        edit(("cuda.atomic.add(counts, k, mine[k])", "counts[k] += mine[k]")),
        says="update it with `cuda.atomic.add(",
    ),
    Wrong(
        "counters of one byte",
        edit(("shared.array(BINS, np.int32)", "shared.array(BINS, np.uint8)")),
        says="changed:  mine = cuda.shared.array(BINS, np.uint8)",
    ),
    Wrong(
        "atomics in global memory for each element",
        body("""
            for i in range(cuda.grid(1), values.size, cuda.gridsize(1)):
                cuda.atomic.add(counts, values[i], 1)
        """),
        says="Count in the block's own counters first",
        grade="but",
    ),
    Wrong(
        "the counters do not begin at 0",
        edit(("        mine[k] = 0\n", "        pass\n")),
        says="no thread of the block has written it",
    ),
    Wrong(
        "no barrier before counting",
        without("all counters are 0 before"),
        says="put `cuda.syncthreads()` between",
    ),
    Wrong(
        "no barrier behind the counting",
        without("all have counted"),
        says="put `cuda.syncthreads()` between",
    ),
    Wrong(
        "each thread takes one element",
        edit(("cuda.gridsize(1)", "values.size")),
        says="each thread counted one and stopped",
    ),
    serial("""
            tid = cuda.threadIdx.x
            mine = cuda.shared.array(BINS, np.int32)
            for k in range(tid, BINS, cuda.blockDim.x):
                mine[k] = 0
            cuda.syncthreads()
            if cuda.grid(1) == 0:
                for i in range(values.size):
                    mine[values[i]] += 1
            cuda.syncthreads()
            for k in range(tid, BINS, cuda.blockDim.x):
                cuda.atomic.add(counts, k, mine[k])
        """),
    Wrong(
        "one thread hands on all",
        edit(
            (
                "for k in range(tid, BINS, cuda.blockDim.x):\n        cuda.atomic",
                "for k in range(BINS if tid == 0 else 0):\n        cuda.atomic",
            )
        ),
        says="All threads share the final update",
        grade="but",
    ),
    Right(
        "two counters for each thread",
        body("""
            mine = cuda.shared.array(256, np.int32)
            tid = cuda.threadIdx.x
            mine[tid] = 0
            mine[tid + 128] = 0
            cuda.syncthreads()
            i = cuda.grid(1)
            while i < values.size:
                cuda.atomic.add(mine, values[i], 1)
                i += cuda.gridsize(1)
            cuda.syncthreads()
            cuda.atomic.add(counts, tid, mine[tid])
            cuda.atomic.add(counts, tid + 128, mine[tid + 128])
        """),
    ),
    Right(
        "empty counters are not handed on",
        edit(
            (
                "        cuda.atomic.add(counts",
                "        if mine[k]:\n            cuda.atomic.add(counts",
            )
        ),
    ),
]
