"""Answers to grid_stride."""

from tests.data.answers import Right, Wrong, body, edit, serial

ANSWERS = [
    Wrong(
        "the step is one block",
        edit(("cuda.gridsize(1)", "cuda.blockDim.x")),
        says="writes to out for each element",
        grade="but",
    ),
    Wrong(
        "the step is too long",
        edit(("cuda.gridsize(1)", "2 * cuda.gridsize(1)")),
        says="never written",
    ),
    Wrong(
        "a fixed number of turns",
        body("""
            for turn in range(128):
                i = turn * 128 + cuda.grid(1)
                if i < x.size:
                    out[i] = x[i] * x[i]
        """),
        says="the loop has a fixed number of turns",
    ),
    Wrong(
        "every thread does all",
        edit(("range(cuda.grid(1), x.size, cuda.gridsize(1))", "range(x.size)")),
        says="writes to out for each element",
        grade="but",
    ),
    Wrong(
        "a run of elements for each thread",
        body("""
            share = -(-x.size // cuda.gridsize(1))
            first = cuda.grid(1) * share
            for i in range(first, min(first + share, x.size)):
                out[i] = x[i] * x[i]
        """),
        says="sectors, of 32 bytes each, for each time that a warp reads or writes x",
        grade="but",
    ),
    serial("""
            if cuda.grid(1) == 0:
                for i in range(x.size):
                    out[i] = x[i] * x[i]
        """),
    Right(
        "a while loop",
        body("""
            i = cuda.grid(1)
            while i < x.size:
                value = x[i]
                out[i] = value * value
                i += cuda.gridDim.x * cuda.blockDim.x
        """),
    ),
    Right(
        "from the back",
        body("""
            for k in range(cuda.grid(1), x.size, cuda.gridsize(1)):
                i = x.size - 1 - k
                out[i] = x[i] ** 2
        """),
    ),
]
