"""The layout of the error context, the memory in which a running kernel reports errors.

Each worker owns one. It is an array of 64-bit words. This module does not import Numba, because
launches of kernels from the disk cache read it, too.
"""

from __future__ import annotations

CANCEL = 0  # the host writes 1 to stop the kernel
CODE = 1  # the kind of error, one of the codes below
LOCATION = 2  # the source line: an index into the kernel's table of locations
BLOCK = 3  # three words: blockIdx of the running block
THREAD = 6  # three words: threadIdx of the failing thread
NDIM = 9
INDEX = 10  # up to MAX_NDIM words
SHAPE = 18  # up to MAX_NDIM words
POLLS = 26  # how often the kernel has polled whether it must stop
MAX_NDIM = 8
WAITING = 27  # bytes, one per thread: whether it waited at the barrier
ALIVE = WAITING + 128  # bytes, one per thread: whether it was still running
RESULT = ALIVE + 128  # where Numba's calling convention puts a function's return value
ERROR = RESULT + 2  # and where it puts the exception
STACK = ERROR + 2  # address of the kernel's first stack frame
CHECKER = STACK + 1  # address of the checker's state (`compiler/checker_state.py`), or 0
ROUNDS = CHECKER + 1  # iterations of a loop that waits (checked mode)
WORDS = ROUNDS + 1

FINE, OUT_OF_BOUNDS, DIVERGENCE, RAISED, INTERRUPTED, TOO_DEEP, WAITING_TOO_LONG = range(7)
MAX_STACK = 256 * 1024  # bytes that recursion may use; a GPU's default is far less
WIDEST = 4096  # threads of a wide block, as which coarsened blocks run
