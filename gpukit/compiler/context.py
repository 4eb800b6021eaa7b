"""The block of memory in which a running kernel reports what went wrong.

Each worker owns one. It is an array of 64-bit words; this page is its layout. It needs no
numba, because launches of kernels from the disk cache read it too.
"""

from __future__ import annotations

CANCEL = 0  # the host writes 1 to stop the kernel
CODE = 1  # what went wrong, one of the codes below
LOCATION = 2  # which line; an index into the kernel's table of locations
BLOCK = 3  # three words: blockIdx of the block that runs
THREAD = 6  # three words: threadIdx of the thread at fault
NDIM = 9
INDEX = 10  # up to MAX_NDIM words
SHAPE = 18  # up to MAX_NDIM words
POLLS = 26  # how often the kernel has asked whether it must stop
MAX_NDIM = 8
WAITING = 27  # bytes, one a thread: who waited at the barrier
ALIVE = WAITING + 128  # bytes, one a thread: who was still running
RESULT = ALIVE + 128  # where numba's calling convention puts what a function returns
ERROR = RESULT + 2  # and where it puts the exception of a failed one
STACK = ERROR + 2  # address of the kernel's first stack frame
CHECKER = STACK + 1  # address of what watches the kernel (`compiler/checker_state.py`), or 0
ROUNDS = CHECKER + 1  # how often a loop that waits has gone round (checked mode)
WORDS = ROUNDS + 1

FINE, OUT_OF_BOUNDS, DIVERGENCE, RAISED, INTERRUPTED, TOO_DEEP, WAITING_TOO_LONG = range(7)
MAX_STACK = 256 * 1024  # bytes that recursion may use; a GPU's default is far less
WIDEST = 4096  # threads of a block, if neighbouring blocks run as one
