"""Answers to compact."""

from tests.data.answers import Right, Wrong, body, edit

ANSWERS = [
    Wrong("above 1e-7", edit(("x[i] > 0", "x[i] > 1e-7")), says="never written"),
    Wrong("one place too far", edit(("out[ends[i] - 1]", "out[ends[i]]")), says="uses out["),
    Wrong("at its own place", edit(("out[ends[i] - 1]", "out[i]")), says="uses out["),
    Wrong(
        "one thread does all",
        body("""
            if cuda.grid(1) == 0:
                k = 0
                for i in range(x.size):
                    if x[i] > 0:
                        out[k] = x[i]
                        k += 1
        """),
        says="All threads share the work",
        grade="but",
    ),
    Wrong(
        "whole numbers only",
        edit(("x[i] > 0", "int(x[i]) > 0")),
        says="Positive numbers below 1 were left out",
    ),
    Wrong(
        "places from an atomic counter",
        edit(
            (
                "    if i < x.size and x[i] > 0:\n",
                "    count = cuda.shared.array(1, int32)\n"
                "    if cuda.threadIdx.x == 0:\n"
                "        count[0] = ends[i - 1] if i > 0 else 0\n"
                "    cuda.syncthreads()\n"
                "    if i < x.size and x[i] > 0:\n",
            ),
            ("out[ends[i] - 1]", "out[cuda.atomic.add(count, 0, 1)]"),
            ("from gpukit import cuda", "from numpy import int32\n\nfrom gpukit import cuda"),
        ),
        says="in the order in which threads arrive",
        grade="but",
    ),
    Wrong(
        "where the count goes up",
        body("""
            i = cuda.grid(1)
            if i < x.size:
                before = ends[i - 1] if i > 0 else 0
                if ends[i] > before:
                    out[before] = x[i]
        """),
        says="without reading the neighbour's ends[i - 1]",
        grade="but",
    ),
    Right(
        "a guard that returns, and the place counted from the end",
        body("""
            i = cuda.grid(1)
            if i >= x.size or not x[i] > 0:
                return
            out[ends[i] - 1 - out.size] = x[i]
        """),
    ),
    Right(
        "a grid-stride loop",
        body("""
            for i in range(cuda.grid(1), x.size, cuda.gridsize(1)):
                value = x[i]
                if value > 0:
                    out[ends[i] - 1] = value
        """),
    ),
]
