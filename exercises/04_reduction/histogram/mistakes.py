"""What learners get wrong here, by the sentence that names it: edits of the solution."""

MISTAKES = {
    "Only the first 128 counters were handed on: there are 128 threads and 256 counters.": [
        (
            "BINS, cuda.blockDim.x):\n        cuda.atomic",
            "BINS // 2, cuda.blockDim.x):\n        cuda.atomic",
        )
    ],
    "Only as many elements as there are threads: each thread counted one and stopped.": [
        (
            "for i in range(cuda.grid(1), values.size, cuda.gridsize(1)):",
            "i = cuda.grid(1)\n    if i < values.size:",
        )
    ],
    "Only the last block's counters are there: add them to counts, do not store them.": [
        ("cuda.atomic.add(counts, k, mine[k])", "counts[k] = mine[k]")
    ],
    "Nothing was counted: all counters are still 0, as before the launch.": [
        ("cuda.atomic.add(counts, k, mine[k])", "mine[k] += counts[k]")
    ],
    "Every counter is 128 times too large: each thread handed on all 256 of its "
    "block. Share them: thread tid takes k = tid, tid + 128.": [
        (
            "for k in range(tid, BINS, cuda.blockDim.x):\n        cuda.atomic",
            "for k in range(BINS):\n        cuda.atomic",
        )
    ],
    "Some elements were counted by more than one block: the loop goes on by all "
    "threads of the launch, cuda.gridsize(1), not by those of one block.": [
        ("cuda.gridsize(1)", "cuda.blockDim.x")
    ],
    "Every block counted all elements: begin at cuda.grid(1) and go on by cuda.gridsize(1).": [
        (
            "range(cuda.grid(1), values.size, cuda.gridsize(1))",
            "range(tid, values.size, cuda.blockDim.x)",
        )
    ],
    "The last elements were left out: each block has a share of the same length, "
    "which is rounded down.": [
        (
            "range(cuda.grid(1), values.size, cuda.gridsize(1))",
            "range(cuda.grid(1), values.size // cuda.gridDim.x * cuda.gridDim.x, cuda.gridsize(1))",
        )
    ],
    "Some elements were left out: the loop goes on by a number of threads that is "
    "not the launch's. Use cuda.gridsize(1).": [("cuda.gridsize(1)", "512")],
    "Each counter grew by the value of its elements; it should grow by 1 for each.": [
        ("values[i], 1)", "values[i], values[i])")
    ],
    "The counter of the element's number grew by its value: the counter of its value "
    "should grow by 1.": [("mine, values[i], 1", "mine, i % BINS, values[i]")],
    "Each value that occurs was counted once, however often it occurs.": [
        ("cuda.atomic.add(counts, k, mine[k])", "if mine[k] > 0:\n            counts[k] = 1")
    ],
}
