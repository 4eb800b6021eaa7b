"""Answers to causal_attention."""

from tests.data.answers import Right, Wrong, body, edit, without

LOOP = "for key in range(row + 1):"
SCALE = "np.float32(1) / math.sqrt(np.float32(size))"
JOIN = """            for offset in (16, 8, 4, 2, 1):
                score += cuda.shfl_xor_sync(ALL, score, offset)
"""
TOTAL = "total = total * kept + weight"
ACC = "acc = acc * kept + weight * value"
SCALED = "            score *= scale\n"
PASSES = """
    size = q.shape[1]
    if row < q.shape[0]:
        has_column = lane < size
        mine = q[row, lane] if has_column else np.float32(0)
        scale = np.float32(1) / math.sqrt(np.float32(size))
        high = np.float32(-math.inf)
        for key in range({first}):
            score = mine * k[key, lane] if has_column else np.float32(0)
            for offset in (16, 8, 4, 2, 1):
                score += cuda.shfl_xor_sync(ALL, score, offset)
            high = max(high, score * scale)
        total, acc = np.float32(0), np.float32(0)
        for key in range({second}):
            score = mine * k[key, lane] if has_column else np.float32(0)
            for offset in (16, 8, 4, 2, 1):
                score += cuda.shfl_xor_sync(ALL, score, offset)
            {weight}
            total += weight
            {masked}
            acc += weight * (v[key, lane] if has_column else np.float32(0))
        if has_column:
            out[row, lane] = acc / total
"""
WEIGHT = "weight = math.exp(score * scale - high)"


def over(old, new):
    return edit((old, new))


def passes(first="row + 1", second="row + 1", weight=WEIGHT, masked="pass"):
    """Return an answer in two passes: the highest score, then the shares."""
    row = "row, lane = cuda.grid(1) // 32, cuda.laneid"
    text = PASSES.format(first=first, second=second, weight=weight, masked=masked)
    return body(f"    {row}{text}")


ANSWERS = [
    Wrong(
        "masked with 0",
        edit(
            (LOOP, "for key in range(k.shape[0]):"),
            (SCALED, "            score = score * scale if key <= row else np.float32(0)\n"),
        ),
        says="Keys behind the query have the score 0",
    ),
    Wrong(
        "one too far, without a guard",
        over(LOOP, "for key in range(row + 2):"),
        says="but the shape of",
    ),
    Wrong("one too short", over(LOOP, "for key in range(row):"), says="out of finite numbers"),
    Wrong(
        "one too short, but for the first",
        over(LOOP, "for key in range(max(row, 1)):"),
        says="of out",
    ),
    Wrong(
        "full rows, masked with -inf",
        edit(
            (LOOP, "for key in range(k.shape[0]):"),
            (
                SCALED,
                "            score = score * scale if key <= row else np.float32(-math.inf)\n",
            ),
        ),
        says="the loop continues past the query",
        grade="but",
    ),
    Wrong(
        "full rows of keys, masked with a large number",
        edit(
            (LOOP, "for key in range(k.shape[0]):"),
            (SCALED, "            score = score * scale if key <= row else np.float32(-3e38)\n"),
        ),
        says="the loop continues past the query",
        grade="but",
    ),
    Wrong(
        "masked with -100",
        edit(
            (LOOP, "for key in range(k.shape[0]):"),
            (SCALED, "            score = score * scale if key <= row else np.float32(-100)\n"),
        ),
        says="of out",
    ),
    Wrong(
        "the root of 32",
        over(SCALE, "np.float32(1) / math.sqrt(np.float32(32))"),
        says="The root is that of 32",
    ),
    Wrong(
        "no maximum",
        edit(
            ("above = max(high, score)", "above = np.float32(0)"),
            ("np.float32(-math.inf), np", "np.float32(0), np"),
        ),
        says="out of finite numbers",
    ),
    Wrong(
        "the maximum begins with 0",
        over("np.float32(-math.inf), np", "np.float32(0), np"),
        says="out of finite numbers",
    ),
    Wrong(
        "the first score for the maximum",
        over("above = max(high, score)", "above = score if key == 0 else high"),
        says="out of finite numbers",
    ),
    Wrong(
        "nothing rescaled",
        edit((TOTAL, "total += weight"), (ACC, "acc += weight * value")),
        says="neither the shares nor their sum",
    ),
    Wrong(
        "the maximum replaced too early",
        over("above = max(high, score)", "above = high = max(high, score)"),
        says="neither the shares nor their sum",
    ),
    Wrong("the maximum forgotten", without("high = above"), says="of out"),
    Wrong("the products not joined", over(JOIN, ""), says="the 32 products must be added up"),
    Wrong("joined by shuffles down", over("shfl_xor_sync", "shfl_down_sync"), says="of out"),
    Wrong("a level missing", over("(16, 8, 4, 2, 1)", "(16, 8, 4, 2)"), says="of out"),
    Wrong("no exponential", over("math.exp(score - above)\n", "score\n"), says="of out"),
    Wrong("the last value alone", over(ACC, "acc = weight * value"), says="of out"),
    Wrong(
        "no guard of the rows",
        over("if row < q.shape[0]:", "if row >= 0:"),
        says="guard the access",
    ),
    Wrong(
        "no guard of the columns",
        over("has_column = lane < size", "has_column = lane < 32"),
        says="but the shape of",
    ),
    Wrong(
        "lanes without a column stay away",
        edit(("if row < q.shape[0]:", "if row < q.shape[0] and lane < size:")),
        says="lane",
    ),
    Wrong(
        "the number of the thread for the lane",
        over("cuda.grid(1) // 32, cuda.laneid", "cuda.grid(1) // 32, cuda.threadIdx.x"),
        says="of out",
    ),
    Wrong("a row for each thread", over("cuda.grid(1) // 32", "cuda.grid(1)"), says="of out"),
    Wrong("two passes", passes(), says="the online softmax needs one pass", grade="but"),
    Wrong(
        "one thread for each query",
        body("""
            row, lane = cuda.grid(1) // 32, cuda.laneid
            size = q.shape[1]
            if row < q.shape[0] and lane == 0:
                acc = cuda.local.array(32, np.float32)
                for d in range(size):
                    acc[d] = 0
                scale = np.float32(1) / math.sqrt(np.float32(size))
                high, total = np.float32(-math.inf), np.float32(0)
                for key in range(row + 1):
                    score = np.float32(0)
                    for d in range(size):
                        score += q[row, d] * k[key, d]
                    score *= scale
                    above = max(high, score)
                    kept, weight = math.exp(high - above), math.exp(score - above)
                    total = total * kept + weight
                    for d in range(size):
                        acc[d] = acc[d] * kept + weight * v[key, d]
                    high = above
                for d in range(size):
                    out[row, d] = acc[d] / total
        """),
        says="one column of its query",
        grade="but",
    ),
    Wrong(
        "added up in out",
        edit(
            (
                "        high, total, acc =",
                "        if has_column:\n            out[row, lane] = 0\n"
                "        high, total, acc =",
            ),
            (
                ACC,
                "if has_column:\n                out[row, lane] = out[row, lane] * kept + weight * "
                "value",
            ),
            ("acc / total", "out[row, lane] / total"),
        ),
        says="asked: at most 1",
        grade="but",
    ),
    Wrong(
        "in float64", over(SCALE, "1 / math.sqrt(size)"), says="operations in float64", grade="but"
    ),
    Right(
        "from the place itself back to the first",
        edit(
            (LOOP, "for key in range(row, -1, -1):"),
            ("np.float32(-math.inf), np", "np.float32(-3e38), np"),
            ("(16, 8, 4, 2, 1)", "(1, 2, 4, 8, 16)"),
        ),
    ),
    Right(
        "the query scaled, branches for higher scores",
        body("""
            row, lane = cuda.grid(1) // 32, cuda.threadIdx.x % 32
            places, size = q.shape
            if row >= places:
                return
            column = min(lane, size - 1)
            mine = q[row, column] / math.sqrt(np.float32(size))
            if lane >= size:
                mine = np.float32(0)
            high, total, acc = np.float32(-3e38), np.float32(0), np.float32(0)
            key = 0
            while key <= row:
                score = mine * k[key, column]
                for step in range(5):
                    score += cuda.shfl_xor_sync(ALL, score, 1 << step)
                if score > high:
                    shrink = math.exp(high - score)
                    total *= shrink
                    acc *= shrink
                    high = score
                weight = math.exp(score - high)
                total += weight
                acc += weight * v[key, column]
                key += 1
            if lane < size:
                out[row, lane] = acc * (np.float32(1) / total)
        """),
    ),
]
