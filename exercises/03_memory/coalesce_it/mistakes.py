"""What learners get wrong here, by the sentence that names it: edits of the solution."""

MISTAKES = {
    "Each thread took one element and stopped; there are eight times as many "
    "elements as threads.": """
        i = cuda.grid(1)
        if i < x.size:
            out[i] = math.sqrt(x[i])
    """,
    "Every block begins with element 0, so all blocks take the same elements: begin "
    "at `cuda.grid(1)`, not at `cuda.threadIdx.x`.": [
        ("range(cuda.grid(1), x.size", "range(cuda.threadIdx.x, x.size")
    ],
    "The step is 512. It must be the number of all threads in this launch: `cuda.gridsize(1)`.": [
        ("cuda.gridsize(1))", "512)")
    ],
    "Each thread begins at `cuda.grid(1) * EACH`. Where the step is the number of "
    "all threads, it begins at `cuda.grid(1)`.": [
        ("range(cuda.grid(1), x.size", "range(cuda.grid(1) * EACH, x.size")
    ],
    "The last turn is left out: a thread takes 8 elements, not 7.": [
        ("        out[i] =", "        if i < 7 * cuda.gridsize(1):\n            out[i] =")
    ],
    "Every second turn is left out: the step is `cuda.gridsize(1)`, once.": [
        ("cuda.gridsize(1))", "2 * cuda.gridsize(1))")
    ],
}
