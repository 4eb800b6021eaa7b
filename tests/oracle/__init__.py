"""An independent reference for the results of a kernel: an interpreter of CUDA semantics.

The oracle runs the kernel's Python source, one generator per CUDA thread, and has no code in
common with `gpukit.compiler` but the names of the intrinsics. It is slow and simple on purpose.
"""

from tests.oracle.interpreter import BarrierDivergence, OracleError, WarpDivergence, launch
from tests.oracle.memory import OutOfBounds, UndefinedValue

__all__ = [
    "BarrierDivergence",
    "OracleError",
    "OutOfBounds",
    "UndefinedValue",
    "WarpDivergence",
    "launch",
]
