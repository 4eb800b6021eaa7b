"""An independent answer to "what should this kernel compute?".

The oracle runs the kernel's own Python, one generator per CUDA thread, and shares no code
with `gpukit.compiler` beyond the names of the intrinsics. It is slow and simple on purpose.
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
