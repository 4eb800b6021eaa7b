"""What learners get wrong here, by the sentence that names it: edits of the solution."""

MISTAKES = {
    "The last elements are empty: the number of turns is x.size // 128, rounded "
    "down. The last turn has work for a part of the threads.": """
        i = cuda.grid(1)
        for turn in range(x.size // 128):
            out[turn * 128 + i] = x[turn * 128 + i] ** 2
    """,
    "Only the first 128 elements were written: each thread took one and stopped. "
    "After it, a thread goes on by the number of all threads.": """
        i = cuda.grid(1)
        if i < x.size:
            out[i] = x[i] * x[i]
    """,
    "Every second stretch of 64 elements is empty: all blocks begin at the same "
    "elements. Begin at cuda.grid(1), not at cuda.threadIdx.x.": [
        ("range(cuda.grid(1)", "range(cuda.threadIdx.x")
    ],
}
