"""What learners get wrong here, by the sentence that names it: edits of the solution."""

MISTAKES = {
    "best[0] still holds the 0 that stood there before the launch: an atomic minimum "
    "needs a start. Store the result with =.": """
        values = cuda.shared.array(BLOCK, np.float32)
        tid = cuda.threadIdx.x
        value = np.float32(-np.inf)
        for i in range(tid, x.size, BLOCK):
            value = max(value, x[i])
        values[tid] = value
        half = BLOCK // 2
        while half > 0:
            cuda.syncthreads()
            if tid < half:
                values[tid] = max(values[tid], values[tid + half])
            half //= 2
        cuda.syncthreads()
        for i in range(tid, x.size, BLOCK):
            if x[i] == values[0]:
                cuda.atomic.min(best, 0, i)
    """,
    "No element was larger than what the search began with: begin with minus infinity, all "
    "numbers may be negative.": [("np.float32(-np.inf)", "np.float32(0)")],
    "This is the number nearest to 0: the largest is asked, whatever the sign.": [
        ("np.float32(-np.inf)", "np.float32(np.inf)"),
        ("if x[i] > value", "if abs(x[i]) < value"),
        ("value = x[i]", "value = abs(x[i])"),
        ("other > values[tid] or", "other < values[tid] or"),
    ],
    "This is another of several equal largest elements; the first is asked: within a "
    "thread x[i] > value keeps it, and in the tree the smaller index wins. Here it "
    "is the last.": [
        ("if x[i] > value", "if x[i] >= value"),
        ("places[tid + half] < places[tid]", "places[tid + half] > places[tid]"),
    ],
    "All elements are minus infinity here, so none is larger than what the search "
    "began with: begin with the index of an element, such as tid, and let tid < "
    "x.size count.": [("place = tid\n", "place = -1\n")],
    "This is the place of the smallest element.": [
        ("x[i] > value", "x[i] < value"),
        ("-np.inf", "np.inf"),
        ("other > values", "other < values"),
    ],
    "Only the first 128 elements were looked at: each thread goes on, in steps of BLOCK.": [
        ("range(tid, x.size, BLOCK)", "range(tid, min(x.size, BLOCK), BLOCK)")
    ],
    "Elements behind the first 1024 were not looked at: the loop must reach x.size, "
    "whatever the length.": [("range(tid, x.size, BLOCK)", "range(tid, min(x.size, 1024), BLOCK)")],
    "Only the elements of thread 0 count here: where the tree takes the other value, "
    "it must take its index too.": [("                places[tid] = places[tid + half]\n", "")],
    "The last level is missing: half must come down to 1. The best of elements 1, 3, "
    "5, ... is left in values[1].": [("while half > 0", "while half > 1")],
    "A larger value with a larger index lost: the other pair wins if it is larger, "
    "or if it is equal and its index is smaller.": [
        (
            "other > values[tid] or (other == values[tid] and first)",
            "other >= values[tid] and first",
        )
    ],
    "Values that differ by fractions became equal: the shared array of values must "
    "be of np.float32.": [
        (
            "values = cuda.shared.array(BLOCK, np.float32)",
            "values = cuda.shared.array(BLOCK, np.int32)",
        ),
        ("np.float32(-np.inf)", "np.float32(-1000)"),
    ],
    "This is the largest value, made a whole number; its index is asked.": [
        ("best[0] = places[0]", "best[0] = np.int32(max(values[0], np.float32(-(2**31))))")
    ],
}
