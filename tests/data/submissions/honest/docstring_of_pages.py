'''Counts the pixels of each brightness.

LaTeX: $c_v = \\sum_i [x_i = v]$; quotes: "a", 'b', \\'c\\'; braces: {0.__class__} %s ${x}
A doctest:

>>> 1 + 1
2

and a line that begins like a magic:
%%exercise another_one
!ls
'''

from gpukit import cuda

r"""A raw text between statements: \d+ \u0041 \N{DASH}"""


@cuda.jit
def count_kernel(values, counts):
    r"""Add \(1\) to the counter of each pixel."""
    i = cuda.grid(1)
    if i < values.size:
        cuda.atomic.add(counts, values[i], 1)
