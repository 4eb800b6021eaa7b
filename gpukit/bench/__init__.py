"""Time kernels against NumPy: cases, timing, and reports.

Both sides of a ratio are measured in turns in one run, after the answer has been checked. Beside
them stands what a GPU that the reader names (`choose_gpu`) would need.
"""

from gpukit.bench.estimated import choose_gpu
from gpukit.bench.lesson import Line, WrongAnswer, against
from gpukit.bench.timing import Comparison, Result, Timing, compare, run

__all__ = [
    "Comparison",
    "Line",
    "Result",
    "Timing",
    "WrongAnswer",
    "against",
    "choose_gpu",
    "compare",
    "run",
]
