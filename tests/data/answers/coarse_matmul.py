"""Answers to coarse_matmul."""

from tests.data.answers import SERIAL_PRODUCT, Right, Wrong, body, edit

ANSWERS = [
    Wrong(
        "b is read for each row",
        edit(("            value = b[k, col]\n", ""), ("k] * value", "k] * b[k, col]")),
        says="reads b[k, col] once and uses it for four rows",
        grade="but",
    ),
    Wrong(
        "the sums do not begin at 0",
        edit(("        acc[r] = 0\n", "        pass\n")),
        says="before it has written it",
    ),
    Wrong(
        "no guard on the rows",
        edit(("                if top + r < out.shape[0]:\n", "                if r >= 0:\n")),
        says="guard the access",
    ),
    Wrong(
        "no guard on the columns",
        edit(("if col < out.shape[1]", "if col >= 0")),
        says="guard the access",
    ),
    SERIAL_PRODUCT,
    Wrong(
        "the size of the largest case",
        edit(("range(a.shape[1])", "range(min(64, a.shape[1]))")),
        says="Only the first 64 products",
    ),
    Right(
        "four variables",
        body("""
            col, group = cuda.grid(2)
            top, last = group * EACH, out.shape[0] - 1
            if col >= out.shape[1] or top > last:
                return
            s0 = s1 = s2 = s3 = np.float32(0)
            for k in range(a.shape[1]):
                value = b[k, col]
                s0 += a[top, k] * value
                s1 += a[min(top + 1, last), k] * value
                s2 += a[min(top + 2, last), k] * value
                s3 += a[min(top + 3, last), k] * value
            out[top, col] = s0
            if top + 1 <= last:
                out[top + 1, col] = s1
            if top + 2 <= last:
                out[top + 2, col] = s2
            if top + 3 <= last:
                out[top + 3, col] = s3
        """),
    ),
    Right(
        "the guard before the loops",
        body("""
            col, group = cuda.grid(2)
            top = group * EACH
            rows = min(EACH, out.shape[0] - top)
            if col < out.shape[1]:
                acc = cuda.local.array(EACH, np.float32)
                for r in range(rows):
                    acc[r] = 0
                for k in range(a.shape[1]):
                    value = b[k, col]
                    for r in range(rows):
                        acc[r] += a[top + r, k] * value
                for r in range(rows):
                    out[top + r, col] = acc[r]
        """),
    ),
]
