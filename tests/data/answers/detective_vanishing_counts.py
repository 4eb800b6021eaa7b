"""Answers to detective_vanishing_counts."""

from tests.data.answers import Right, Wrong, body, edit

ANSWERS = [
    Wrong(
        "the guard fixed, the race not",
        edit(("cuda.atomic.add(counts, values[i], 1)", "counts[values[i]] += 1")),
        says="update it with `cuda.atomic.add(",
    ),
    Wrong(
        "the race fixed, the guard not",
        edit(("i < values.size", "i < counts.size")),
        says="guard the access with `if i < values.shape[0]:`",
    ),
    Wrong(
        "the counter is the pixel's number",
        edit(("cuda.atomic.add(counts, values[i], 1)", "cuda.atomic.add(counts, i, values[i])")),
        says="counts[i] grew by values[i]",
    ),
    Wrong(
        "one thread counts all",
        body("""
            if cuda.grid(1) == 0:
                for k in range(values.size):
                    counts[values[k]] += 1
        """),
        says="reads of values",
        grade="but",
    ),
    Right(
        "a grid-stride loop",
        body("""
            for i in range(cuda.grid(1), values.size, cuda.gridsize(1)):
                cuda.atomic.add(counts, values[i], 1)
        """),
    ),
    Right(
        "those past the end return",
        body("""
            i = cuda.blockIdx.x * cuda.blockDim.x + cuda.threadIdx.x
            if i >= values.size:
                return
            place = values[i]
            cuda.atomic.add(counts, place, 1)
        """),
    ),
]
