"""Answers to argmax."""

from tests.data.answers import Right, Wrong, body, edit, serial, without

ANSWERS = [
    Wrong(
        "the search begins with the least finite number",
        edit(("np.float32(-np.inf)", "np.finfo(np.float32).min")),
        says="expected 87, got 0",
    ),
    Wrong(
        "the search begins with 0",
        edit(("np.float32(-np.inf)", "np.float32(0)")),
        says="begin with minus infinity",
    ),
    Wrong(
        "the last of equal ones within a thread",
        edit(("if x[i] > value", "if x[i] >= value")),
        says="changed:  if x[i] >= value:",
    ),
    Wrong(
        "the last of equal ones in the tree",
        edit(("places[tid + half] < places[tid]", "places[tid + half] > places[tid]")),
        says="correct:  first = places[tid + half] < places[tid]",
    ),
    Wrong(
        "ties do not count in the tree",
        edit(("other > values[tid] or (other == values[tid] and first)", "other > values[tid]")),
        says="changed:  if other > values[tid]:",
    ),
    Wrong(
        "no first barrier", without("all candidates are there"), says="with no barrier in between"
    ),
    Wrong("no barrier behind a level", without("this level is written"), says="in between"),
    Wrong(
        "the first level that is larger wins a tie",
        edit(("other > values[tid] or (other == values[tid] and first)", "other >= values[tid]")),
        says="other == values[tid] and first",
    ),
    serial("""
            if cuda.threadIdx.x == 0:
                place = 0
                for i in range(x.size):
                    if x[i] > x[place]:
                        place = i
                best[0] = place
        """),
    Wrong(
        "the search begins with -1000",
        edit(("np.float32(-np.inf)", "np.float32(-1000)")),
        says="another start that is not below all numbers",
    ),
    Wrong(
        "the values as whole numbers",
        edit(("shared.array(BLOCK, np.float32)", "shared.array(BLOCK, np.int32)")),
        says="changed:  values[tid] = np.int32(value)",
    ),
    Wrong(
        "the value for the index",
        edit(("best[0] = places[0]", "best[0] = values[0]")),
        says="its index is asked",
    ),
    Wrong(
        "a stretch of neighbours for each thread",
        edit(
            (
                "    for i in range(tid, x.size, BLOCK)",
                "    own = (x.size + 127) // 128\n"
                "    for i in range(tid * own, min(x.size, tid * own + own))",
            )
        ),
        says="not a contiguous chunk",
        grade="but",
    ),
    Wrong(
        "one warp searches",
        body("""
            lane = cuda.threadIdx.x
            if lane < 32:
                value, place = np.float32(-np.inf), lane
                for i in range(lane, x.size, 32):
                    if x[i] > value:
                        value, place = x[i], i
                for k in (16, 8, 4, 2, 1):
                    other = cuda.shfl_down_sync(0xFFFFFFFF, value, k)
                    there = cuda.shfl_down_sync(0xFFFFFFFF, place, k)
                    if other > value or (other == value and there < place):
                        value, place = other, there
                if lane == 0:
                    best[0] = place
        """),
        says="warps that read and write nothing",
        grade="but",
    ),
    Right(
        "the values first, then the smallest place",
        body("""
            values = cuda.shared.array(BLOCK, np.float32)
            tid = cuda.threadIdx.x
            value = x[min(tid, x.size - 1)]
            for i in range(tid, x.size, BLOCK):
                value = max(value, x[i])
            values[tid] = value
            if tid == 0:
                best[0] = x.size
            half = BLOCK // 2
            while half > 0:
                cuda.syncthreads()
                if tid < half:
                    values[tid] = max(values[tid], values[tid + half])
                half //= 2
            cuda.syncthreads()
            if value == values[0]:
                for i in range(tid, x.size, BLOCK):
                    if x[i] == values[0]:
                        cuda.atomic.min(best, 0, i)
                        break
        """),
    ),
    Right(
        "negated comparisons",
        edit(
            ("if x[i] > value", "if not x[i] <= value"),
            ("places[tid + half] < places[tid]", "places[tid] > places[tid + half]"),
        ),
    ),
]
