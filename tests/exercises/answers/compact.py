"""Answers to compact."""

from tests.exercises.answers import Right, Wrong, body, edit

ANSWERS = [
    Wrong(
        "one place too far",
        edit(("out[ends[i] - 1]", "out[ends[i]]")),
        says="uses out[",
    ),
    Wrong(
        "at its own place",
        edit(("out[ends[i] - 1]", "out[i]")),
        says="uses out[",
    ),
    Wrong(
        "zeros are kept too",
        edit(("x[i] > 0", "x[i] >= 0")),
        says="thread 1 of the same warp writes it too",
    ),
    Wrong(
        "every thread stores",
        edit(("if i < x.size and x[i] > 0", "if i < x.size")),
        says="thread 1 of the same warp writes it too",
    ),
    Wrong(
        "back to front",
        edit(("out[ends[i] - 1]", "out[out.size - ends[i]]")),
        says="back to front",
    ),
    Wrong(
        "one thread does all",
        body("""
            if cuda.grid(1) == 0:
                k = 0
                for i in range(x.size):
                    if x[i] > 0:
                        out[k] = x[i]
                        k += 1
        """),
        says="All threads share the work",
        grade="but",
    ),
    Right(
        "where the count goes up",
        body("""
            i = cuda.grid(1)
            if i < x.size:
                before = ends[i - 1] if i > 0 else 0
                if ends[i] > before:
                    out[before] = x[i]
        """),
    ),
    Right(
        "a grid-stride loop",
        body("""
            for i in range(cuda.grid(1), x.size, cuda.gridsize(1)):
                value = x[i]
                if value > 0:
                    out[ends[i] - 1] = value
        """),
    ),
]
