"""What learners get wrong here, by the sentence that names it: edits of the solution."""

MISTAKES = {
    "Only the first 256 pixels were counted: the guard compares with the length of "
    "counts, and i belongs to values.": [
        ("i < values.size", "i < values.size and i < counts.size")
    ],
    "counts[i] grew by values[i]: the counter of the pixel's value should grow by 1.": [
        (
            "        cuda.atomic.add(counts, values[i], 1)",
            "        if i < counts.size:\n            cuda.atomic.add(counts, i, values[i])",
        )
    ],
    "Each value that occurs was counted once, however often it occurs.": [
        ("cuda.atomic.add(counts, values[i], 1)", "counts[values[i]] = 1")
    ],
    "Each counter grew by the pixel's value; it should grow by 1 for each pixel.": [
        ("values[i], 1)", "values[i], values[i])")
    ],
    "Only the first 128 pixels were counted, once for each block: i lacks "
    "cuda.blockIdx.x * cuda.blockDim.x.": [("cuda.grid(1)", "cuda.threadIdx.x")],
    "Pixels of later blocks were counted several times: each block goes on through "
    "them. A thread has one pixel.": [
        (
            "    if i < values.size:\n        cuda.atomic.add(counts, values[i], 1)",
            "    for k in range(cuda.threadIdx.x, values.size, cuda.blockDim.x):\n"
            "        if k <= i:\n"
            "            cuda.atomic.add(counts, values[k], 1)",
        )
    ],
    "Nothing was counted: all counters are still 0, as before the launch.": [
        ("values[i], 1)", "values[i], 0)")
    ],
    "The value 0 is not counted; it has a counter like all others.": [
        ("if i < values.size:", "if i < values.size and values[i] != 0:")
    ],
}
