"""The layout of the checker's state, which instrumented kernels update.

An instrumented kernel reports every access, barrier and block to native functions
(`checked/engine/`), which maintain an array of 64-bit words, the state. It refers to *segments*,
ranges of memory with shadow memory: two words, a *cell*, for each element.

Time is counted in *epochs*: a number that grows at every block, barrier and syncwarp. Blocks run
one after the other, so an epoch identifies block and barrier interval of an access, and "not
ordered by a barrier" is a comparison of two numbers. Epochs continue from launch to launch, so old
shadow memory needs no clearing.
"""

from __future__ import annotations

# ---- the state, in words ----------------------------------------------------------------------

NOW = 0  # the current epoch
LAUNCH = 1  # epoch at which the launch began, or the last grid.sync
BLOCK = 2  # epoch at which the running block began
BARRIER = 3  # epoch of the running block's last barrier
BLOCK_NUMBER = 4  # linear index of the running block, x fastest
WHOLE = 5  # number of blocks if all run in lockstep (grid.sync), else 0
ORIGIN = 6  # with WHOLE: epoch of block 0 at which the launch began
BLOCK_X, BLOCK_Y = 7, 8  # sizes of a block
THREADS = 9  # threads per block
SEGMENTS = 10  # number of segments
SEGMENT_TABLE = 11  # address of their table
FINDINGS = 12  # address of the table of findings
FOUND = 13  # number of rows used
LOST = 14  # number of findings that did not fit in the table
SCRATCH = 15  # address of memory to which out-of-bounds accesses are redirected
BLOCK_EPOCHS = 16  # address of a table: the epoch at which each block began, in order
BLOCKS_SEEN = 17
TOUCHED = 18  # one bit for each warp of the running block that has touched memory
IDLE_BLOCKS = 19  # blocks in which no thread touched memory
FIRST_IDLE = 20  # linear index of the first of them
# For kernels with fences and atomics (`checked/engine/fences.py`); KNOWN is 0 in all others.
KNOWN = 21  # address of a table: per thread two nodes, what it has acquired and what it releases
NODES, NODES_USED = 22, 23  # address of the table of nodes, number of nodes used
NODES_LOST = 24  # 1 if there were too many
QUERIES = 25  # counts the searches among nodes
LAST_READS = 26  # address of a table: for each block the epoch of its last read
LAST_LOCATION = 28  # location of the last access, -1 before the first
IDLE_WARPS = 29  # number of warps, of all blocks, in which no thread touched memory
DECIDED = 27  # address of a flag per location: reached only if an atomic returned a certain value
WARPS = 32  # epochs of the last syncwarp of each of 32 warps
LOCATIONS = 65  # address of the table of counters, one row per location (profiles only)
EVENTS = 66  # address of the event buffer (recordings only)
EVENT_COUNT = 67
EVENT_CAPACITY = 68
RACES = 69  # 1 to look for races; 0 if only counters are needed
PENDING = 71  # address of the event of an atomic that is not complete yet
TICK = 64  # grows with every loop over the threads of a block (profiles only)
LAST_SYNCWARP = 70  # epoch of the last syncwarp of any warp, or fence of any thread
# The warp and thread that last took a lock that is released after the loop that waits for it; and
# 1 + the location of such a loop, once two lanes of a warp have reached one.
LOCK_WARP, LOCK_THREAD, LOCK_SHARED = 30, 31, 95
ADDERS = 94  # address of a flag per location: an atomic there followed one of another thread
FUNCTIONS = 72  # addresses of the native functions that kernels call, in the order of CALLS
SNAPSHOT = 96  # lanes of 32 warps that were in a loop before its condition was evaluated
TRIPS = 129  # address of a row of depths of loads for each block in lockstep (profiles only)
WRITES = 128  # grows with every write that is recorded
# Areas where more reads add nothing new: epoch, writes, cells, stride, count, jump, lines.
SETTLED = 136
SETTLED_WORDS, SETTLED_ROWS = 8, 15
WORDS = 256

# The native functions that kernels and the functions themselves call, by name, with the number of
# arguments after the address of the checker.
CALLS = {
    "access": 6, "row": 8, "row_free": 7, "begin_block": 1, "barrier": 1, "grid_barrier": 1,
    "fence": 2, "sync_warps": 3, "check_mask": 6, "check_source": 6, "outside": 7, "segment": 3,
    "branch": 5, "work": 5, "value": 5, "after_return": 3, "grid_return": 3, "note": 11, "tick": 0,
    "area": 9, "run": 11, "trip": 4,
}  # fmt: skip

# Indices of those that call each other: several small functions compile faster than a large one.
ACCESS, NOTE, RUN = (list(CALLS).index(name) for name in ("access", "note", "run"))

# ---- segments ----------------------------------------------------------------------------------

SEGMENT_WORDS = 13
# SHIFT: log2 of the bytes per cell; BASE: what to subtract from an address to get a GPU's.
# CONSTANT: 1 if this launch never writes there, so that reads need no record.
# HEADS: address of the nodes that atomics released to elements (`checked/engine/fences.py`), or 0.
# CELLS: address of the words of the last writes; GAP: offset from each to the word of the reads.
# COUNTED: the memory space for counters; SPACE is GLOBAL for constant memory, too.
# SECTORS: address of a word for each 32-byte sector of global memory, SECTORS_OF_BLOCKS that of a
# bit for each sector and block of a cooperative grid (`checked/engine/footprint.py`), or 0.
BEGIN, END, CELLS, SHIFT, SPACE, NUMBER, BASE, CONSTANT, GAP, HEADS, COUNTED = range(11)
SECTORS, SECTORS_OF_BLOCKS = 11, 12
GLOBAL, SHARED, LOCAL, CONSTANT_MEMORY = range(4)
SPACES = ("global", "shared", "local", "constant")

# ---- cells: the word of the last write, the word of the last reads -------------------------------

EPOCH = 32  # both words: the epoch is stored from this bit on
UNINITIALISED, ATOMIC, SEVERAL, ELSEWHERE = 1, 2, 4, 8  # flags of the write word
WRITE_LOCATION, WRITE_THREAD = 4, 15  # shifts
PLAIN = 1 << 25  # flag of an atomic's write word: the block has written without atomics before
# Flags of an atomic's write word, both since the last barrier: atomics by more than one warp; a
# plain write before the atomics, only by the warp that did them.
MANY_WARPS, PLAIN_HERE = 1 << 26, 1 << 27
# Flags of a plain write's word: only an atomic's result orders it with another block's write; with
# another write of this block since its last barrier.
LOCKED, LOCKED_HERE = 1 << 28, 1 << 29
READ_ELSEWHERE = 1  # flag of the read word: another block has read it too
READ_LOCATION, READ_FIRST, READ_OTHER = 1, 12, 22  # shifts
LOCATION_MASK, THREAD_MASK = (1 << 11) - 1, (1 << 10) - 1
MAX_LOCATIONS = LOCATION_MASK  # locations of one kernel that cells can distinguish
LAST_EPOCH = (1 << 31) - (1 << 27)

# ---- nodes: the order by fences and atomics (`checked/engine/fences.py`) ----------------------

# Its epoch; for a fence its block and thread, the epochs of the block's last barrier and the warp's
# last syncwarp, and whether other blocks see it; two predecessors; the last search that visited it.
(
    N_TIME, N_BLOCK, N_THREAD, N_BARRIER, N_WARP, N_WIDE, N_LEFT, N_RIGHT, N_MARK,
) = range(9)  # fmt: skip
NODE_WORDS = 9
MAX_NODES = 1 << 20

# ---- findings ---------------------------------------------------------------------------------

FINDING_WORDS = 32
MAX_FINDINGS = 256
(
    F_WHAT, F_LOCATION, F_OTHER_LOCATION, F_SEGMENT, F_COUNT, F_BLOCK, F_THREAD, F_OTHER_BLOCK,
    F_OTHER_THREAD, F_ADDRESS, F_SIZE, F_HAZARD, F_A, F_B, F_NDIM,
) = range(15)  # fmt: skip
F_INDEX, F_SHAPE = 16, 24
NOBODY = -1  # a thread or block that is no longer known

# The kinds of findings; `checked.decode` has the names shown to users.
(
    RACE, WARP_RACE, SAME_VALUE, ATOMIC_RACE, OUTSIDE, NEGATIVE, WIDE, MISALIGNED, UNSET,
    MASK_MISSING, MASK_CALLER, SOURCE, AFTER_RETURN, GRID_RETURN,
) = range(14)  # fmt: skip
WRITE_WRITE, READ_WRITE, WRITE_READ = range(3)  # hazards: the earlier access first

# ---- counters of a profile: a row for each location -------------------------------------------

(
    S_REQUESTS, S_ACCESSES, S_ASKED, S_SECTORS, S_WAVEFRONTS, S_LEAST, S_WORST, S_SERIAL,
    S_CONTENTION, S_STEPS, S_THREADS, S_BRANCHES, S_DIVERGENT, S_BARRIERS, S_SPACE, S_SEGMENT,
    S_SIZE, S_KIND, S_LANES_OPEN, S_LAST, S_WORK_LAST, S_BASE, S_WORST_COUNT, S_TICK, S_WORK_TICK,
    S_LINES, S_LOADED, S_STORED, S_OF_BLOCKS, S_BLOCK, S_TRIPS, S_RUNS,
) = range(32)  # fmt: skip
S_ADDRESSES = 32  # of the lanes of the open request
S_PHASES = 64  # and their indices
S_BANKS = 96
S_SCRATCH = 128  # sectors or words of the request, each once
SCRATCH_WORDS = 128
S_WORST_ADDRESSES = S_SCRATCH + SCRATCH_WORDS  # of the most expensive request
S_WORST_LANES = S_WORST_ADDRESSES + 32
LOCATION_WORDS = S_WORST_LANES + 32

# ---- depths of loads (`checked/engine/trips.py`): one row, or one per block ------------

# BASE: of what the last barrier waited for; STORED: of what has been stored to shared memory;
# DEEPEST: of the loads of each warp; GIVEN, and the TICK of it: of what its lanes exchange.
T_BASE, T_STORED, T_DEEPEST, T_GIVEN, T_GIVEN_TICK = 0, 1, 2, 34, 66
TRIP_WORDS = 98
TRIP_LOAD, TRIP_STORE, TRIP_GIVE, TRIP_TAKEN = range(4)  # what a kernel reports

# ---- events of a recording -----------------------------------------------------------------------

# Words: kind of event, location, block, thread; then for an access: kind, segment + 1 and size (8,
# 24, 32 bits), address, and 16 bytes of the value; for work and syncwarp: the lanes; for a value:
# the variable, its bits, 1 if they are a float64's.
EVENT_WORDS = 8
E_ACCESS, E_WORK, E_VALUE, E_BARRIER, E_SYNCWARP, E_GRID = range(6)
EVERYONE = -1  # the thread of a value that is the same for the whole block

# Passed to `branch` in place of the address of a mask.
BEFORE = -1  # taken: only record which threads evaluate the condition of a loop

# ---- kinds of access --------------------------------------------------------------------------

LOAD, STORE, UPDATE = range(3)
CLAIM = 3  # a row of stores that row_free has proved not to conflict with an earlier write

# An instrumented access has two location numbers: the process-wide one in the low half, the
# kernel's own in the high half.
LOCATION_SHIFT = 32


def location_number(location: int) -> int:
    """Return the process-wide number of a location."""
    return location & 0xFFFFFFFF
