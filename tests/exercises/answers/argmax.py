"""Answers to argmax."""

from tests.exercises.answers import Right, Wrong, body, edit, serial, without

ANSWERS = [
    Wrong(
        "the search begins with 0",
        edit(("np.float32(-np.inf)", "np.float32(0)")),
        says="begin with minus infinity",
    ),
    Wrong(
        "the last of equal ones within a thread",
        edit(("if x[i] > value", "if x[i] >= value")),
        says="the first is asked",
    ),
    Wrong(
        "the last of equal ones in the tree",
        edit(("places[tid + half] < places[tid]", "places[tid + half] > places[tid]")),
        says="the first is asked",
    ),
    Wrong(
        "ties do not count in the tree",
        edit(("other > values[tid] or (other == values[tid] and first)", "other > values[tid]")),
        says="the first is asked",
    ),
    Wrong(
        "no first barrier",
        without("all candidates are there"),
        says="with no barrier in between",
    ),
    Wrong(
        "no barrier behind a level",
        without("this level is written"),
        says="in between",
    ),
    Wrong(
        "the smallest",
        edit(
            ("x[i] > value", "x[i] < value"),
            ("-np.inf", "np.inf"),
            ("other > values", "other < values"),
        ),
        says="the place of the smallest element",
    ),
    serial("""
            if cuda.threadIdx.x == 0:
                place = 0
                for i in range(x.size):
                    if x[i] > x[place]:
                        place = i
                best[0] = place
        """),
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
