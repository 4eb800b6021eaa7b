"""Answers to guarded_map."""

from tests.exercises.answers import Right, Wrong, body, edit

ANSWERS = [
    Wrong(
        "the place in the block for that in the grid",
        edit(("cuda.grid(1)", "cuda.threadIdx.x")),
        says="the index lacks `cuda.blockIdx.x * cuda.blockDim.x`",
    ),
    Wrong(
        "one past the end",
        edit(("i < celsius", "i <= celsius")),
        says="`if i < celsius.shape[0]:`",
    ),
    Wrong(
        "the last element left out",
        edit(("i < celsius.shape[0]", "i < celsius.shape[0] - 1")),
        says="never written",
    ),
    Wrong(
        "float64 by a literal",
        edit(("np.float32(1.8)", "1.8")),
        says="operations in float64",
        grade="but",
    ),
    Wrong(
        "every thread does all",
        body("""
            for i in range(celsius.shape[0]):
                fahrenheit[i] = celsius[i] * np.float32(1.8) + np.float32(32)
        """),
        says="reads of celsius one after the other",
        grade="but",
    ),
    Right(
        "a grid-stride loop",
        body("""
            for i in range(cuda.grid(1), celsius.size, cuda.gridsize(1)):
                fahrenheit[i] = celsius[i] * np.float32(1.8) + np.float32(32)
        """),
    ),
]
