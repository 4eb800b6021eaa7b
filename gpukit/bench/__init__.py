"""Time kernels against NumPy: cases to run, the clock, and the words of the report.

Ratios only, always measured in one run with the two sides taking turns; never before the answer
has been checked.
"""

from gpukit.bench.lesson import Line, WrongAnswer, against
from gpukit.bench.timing import Comparison, Result, Timing, compare, run

__all__ = ["Comparison", "Line", "Result", "Timing", "WrongAnswer", "against", "compare", "run"]
