"""Answers to coalesce_it."""

from tests.data.answers import Right, Wrong, body, edit

ANSWERS = [
    Wrong(
        "neighbours for each thread, as before",
        body("""
            first = cuda.grid(1) * EACH
            for i in range(first, first + EACH):
                if i < x.size:
                    out[i] = math.sqrt(x[i])
        """),
        says="stride by the total number of threads",
        grade="but",
    ),
    Wrong(
        "the step is one block",
        edit(("cuda.gridsize(1)", "cuda.blockDim.x")),
        says="for each element",
        grade="but",
    ),
    Wrong(
        "each thread begins eight apart and steps by one grid",
        edit(("range(cuda.grid(1), x.size", "range(cuda.grid(1) * EACH, x.size")),
        says="never written",
    ),
    Wrong(
        "one past the end",
        edit(("x.size, cuda.gridsize(1)", "x.size + 1, cuda.gridsize(1)")),
        says="end the loop in line",
    ),
    Wrong(
        "every second element",
        edit(("cuda.gridsize(1))", "2 * cuda.gridsize(1))")),
        says="never written",
    ),
    Wrong(
        "only the first block works",
        edit(
            ("range(cuda.grid(1), x", "range(cuda.grid(1) if cuda.blockIdx.x == 0 else x.size, x"),
            ("cuda.gridsize(1))", "64)"),
        ),
        says="warps that read and write nothing",
        grade="but",
    ),
    Wrong(
        "counted from the end of the vector",
        body("""
            for k in range(cuda.grid(1), x.size, cuda.gridsize(1)):
                i = x.size - 1 - k
                out[i] = math.sqrt(x[i])
        """),
        says="starting from element 0, where a sector begins",
        grade="but",
    ),
    Right(
        "256 elements for each warp",
        body("""
            first = cuda.grid(1) // 32 * (32 * EACH) + cuda.threadIdx.x % 32
            for i in range(first, min(first + 32 * EACH, x.size), 32):
                out[i] = math.sqrt(x[i])
        """),
    ),
    Right(
        "eight steps within the block's part",
        body("""
            first = cuda.blockIdx.x * cuda.blockDim.x * EACH + cuda.threadIdx.x
            for k in range(EACH):
                i = first + k * cuda.blockDim.x
                if i < x.size:
                    out[i] = math.sqrt(x[i])
        """),
    ),
    Right(
        "a while loop",
        body("""
            i = cuda.grid(1)
            while i < x.size:
                out[i] = math.sqrt(x[i])
                i += cuda.gridDim.x * cuda.blockDim.x
        """),
    ),
]
