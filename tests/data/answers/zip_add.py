"""Answers to zip_add."""

from tests.data.answers import Right, Wrong, body, edit

ANSWERS = [
    Wrong(
        "the place in the block for that in the grid",
        edit(("cuda.grid(1)", "cuda.threadIdx.x")),
        says="the index lacks `cuda.blockIdx.x * cuda.blockDim.x`",
    ),
    Wrong("one past the end", edit(("i < out.size", "i <= out.size")), says="`if i < a.shape[0]:`"),
    Wrong(
        "no guard",
        body("""
            i = cuda.grid(1)
            out[i] = a[i] + b[i]
        """),
        says="`if i < a.shape[0]:`",
    ),
    Wrong(
        "neighbours far apart",
        edit(("cuda.grid(1)", "cuda.threadIdx.x * cuda.gridDim.x + cuda.blockIdx.x")),
        says="Neighbouring threads should take neighbouring elements",
        grade="but",
    ),
    Wrong(
        "one thread does all",
        body("""
            if cuda.grid(1) == 0:
                for i in range(out.size):
                    out[i] = a[i] + b[i]
        """),
        says="reads of a one after the other",
        grade="but",
    ),
    Wrong(
        "the last element left out",
        edit(("i < out.size", "i + 1 < out.size")),
        says="never written",
    ),
    Right(
        "the index written out",
        edit(("cuda.grid(1)", "cuda.blockIdx.x * cuda.blockDim.x + cuda.threadIdx.x")),
    ),
    Right(
        "those left over return",
        body("""
            i = cuda.grid(1)
            if i >= out.size:
                return
            out[i] = b[i] + a[i]
        """),
    ),
]
