"""What learners get wrong here, by the sentence that names it: edits of the solution."""

MISTAKES = {
    "There is no mask: a place sees those behind it, too. The keys of query `row` "
    "end with its own, range(row + 1).": [
        ("for key in range(row + 1):", "for key in range(k.shape[0]):")
    ],
    "The mask came after the softmax, whose sum counts the keys behind the query: "
    "the shares of the others do not add up to 1. Leave them out of the sum.": """
        row, lane = cuda.grid(1) // 32, cuda.laneid
        size = q.shape[1]
        if row < q.shape[0]:
            has_column = lane < size
            mine = q[row, lane] if has_column else np.float32(0)
            scale = np.float32(1) / math.sqrt(np.float32(size))
            high = np.float32(-math.inf)
            for key in range(k.shape[0]):
                score = mine * k[key, lane] if has_column else np.float32(0)
                for offset in (16, 8, 4, 2, 1):
                    score += cuda.shfl_xor_sync(ALL, score, offset)
                high = max(high, score * scale)
            total, acc = np.float32(0), np.float32(0)
            for key in range(k.shape[0]):
                score = mine * k[key, lane] if has_column else np.float32(0)
                for offset in (16, 8, 4, 2, 1):
                    score += cuda.shfl_xor_sync(ALL, score, offset)
                weight = math.exp(score * scale - high)
                total += weight
                weight = weight if key <= row else np.float32(0)
                acc += weight * (v[key, lane] if has_column else np.float32(0))
            if has_column:
                out[row, lane] = acc / total
    """,
    "Keys behind the query have the score 0, and exp(0) is 1. They count nothing: "
    "-inf, or no loop over them.": [
        ("for key in range(row + 1):", "for key in range(k.shape[0]):"),
        ("            score *= scale\n", "            score *= scale * np.float32(key <= row)\n"),
    ],
    "A place sees the one behind it, too: range(row + 1) ends with the place itself.": [
        ("for key in range(row + 1):", "for key in range(min(row + 2, k.shape[0])):")
    ],
    "The mask is the wrong way round: a place sees itself and those behind it "
    "instead of those before it.": [
        ("for key in range(row + 1):", "for key in range(row, k.shape[0]):")
    ],
    "The highest score begins with a number that is not low enough: where all scores "
    "of a query are lower nothing is added up, and 0 / 0 is NaN. Begin with -infinity.": [
        ("high, total, acc = np.float32(-math.inf)", "high, total, acc = np.float32(-1e30)")
    ],
    "The scores are not divided by the root of the number of columns.": [
        ("            score *= scale\n", "")
    ],
    "The scores are divided by the number of columns; it is the root of it.": [
        ("np.float32(1) / math.sqrt(np.float32(size))", "np.float32(1) / np.float32(size)")
    ],
    "The scores are multiplied by the root of the number of columns, not divided.": [
        ("np.float32(1) / math.sqrt(np.float32(size))", "math.sqrt(np.float32(size))")
    ],
    "The root is that of 32, the lanes; the scores are divided by that of the number of columns.": [
        ("math.sqrt(np.float32(size))", "math.sqrt(np.float32(32))")
    ],
    "The root is that of the number of places; it is that of the number of columns.": [
        (
            "np.float32(1) / math.sqrt(np.float32(size))",
            "np.float32(1) / math.sqrt(np.float32(q.shape[0]))",
        )
    ],
    "The shares are not divided by their sum: they must add up to 1.": [("acc / total", "acc")],
    "Each value counts the same: the scores have no effect.": [
        ("score *= scale", "score = np.float32(0)")
    ],
    "Only the value of the place itself is there.": [("v[key, lane]", "v[row, lane]")],
    "Only the value of the first place is there.": [("v[key, lane]", "v[0, lane]")],
    "Only the value of the highest score is there: the others count by exp(score - highest).": [
        ("acc = acc * kept + weight * value", "acc = value if score >= high else acc"),
        ("acc / total", "acc"),
    ],
    "Where a higher score came, what was added up was not multiplied by exp(old - "
    "new): neither the shares nor their sum.": [
        ("total = total * kept + weight", "total += weight"),
        ("acc = acc * kept + weight * value", "acc += weight * value"),
    ],
    "Where a higher score came, the sum of the shares was not multiplied by exp(old - new).": [
        ("total = total * kept + weight", "total += weight")
    ],
    "Where a higher score came, the values added up were not multiplied by exp(old - new).": [
        ("acc = acc * kept + weight * value", "acc += weight * value")
    ],
    "Each lane took the product of its own column for the score: the 32 products "
    "must be added up, by shuffles.": [
        (
            "            for offset in (16, 8, 4, 2, 1):\n"
            "                score += cuda.shfl_xor_sync(ALL, score, offset)\n",
            "",
        )
    ],
    "The keys are in the place of the values.": [("v[key, lane]", "k[key, lane]")],
    "The values are in the place of the keys.": [("k[key, lane]", "v[key, lane]")],
    "The queries are compared with queries: the second factor is a key.": [
        ("k[key, lane]", "q[key, lane]")
    ],
    "The keys are compared with keys: the first factor is the query.": [
        ("q[row, lane]", "k[row, lane]")
    ],
    "Queries and keys are exchanged: the query is that of the row, the key is that of the loop.": [
        ("q[row, lane]", "k[row, lane]"),
        ("k[key, lane]", "q[key, lane]"),
    ],
    "Only the highest 32 places before are seen: a query sees all of them.": [
        ("for key in range(row + 1):", "for key in range(max(0, row - 31), row + 1):")
    ],
    "Only the first 32 places are seen: a query sees all up to itself.": [
        ("for key in range(row + 1):", "for key in range(min(row + 1, 32)):")
    ],
    "The halves of the warp never add their sums: the exchange begins with an offset of 16.": [
        ("(16, 8, 4, 2, 1)", "(8, 4, 2, 1)")
    ],
}
