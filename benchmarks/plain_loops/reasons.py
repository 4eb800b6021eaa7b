"""Why a kernel takes more than 1.25 times as long as its plain loops, by the name of its case."""

from __future__ import annotations

_FLOAT4S = (
    "written for GPUs: float4 accesses of neighbouring threads are not combined into one vector"
)
_ATOMICS = "atomic instructions, which loops on one thread do not need"
_SCATTERED = (
    "each level of the tree reads every second, fourth, ... element; handwritten loops use slices"
)
_LEVELS = "each level of a block's tree is a loop of its own; the handwritten loops use one slice"
_GUARDED = "the guard inside the loops keeps LLVM from vectorizing over threads"
_UNKNOWN = (
    "unknown: removing guards, checks, spilled variables or wrapping integers does not change the "
    "ratio"
)
_SUMS = "each thread's sums stay in memory between barriers"

REASONS: dict[str, str] = {
    "popcount": (
        "LLVM reduces the plain `while` loop to one instruction; the kernel's loop also polls for "
        "Ctrl-C"
    ),
    "matmul_vectorized": _FLOAT4S,
    "matmul_double_buffered": _FLOAT4S,
    "matvec_vectorized": _FLOAT4S,
    "sum_vectorized": _FLOAT4S,
    "histogram_atomic": _ATOMICS,
    "histogram_privatized": _ATOMICS,
    "scan_padded": _SCATTERED,
    "scan_blelloch": _SCATTERED,
    "sum_interleaved": _SCATTERED,
    "sum_unrolled": "each syncwarp of the last warp ends a loop over threads",
    "sum_first_add": _LEVELS,
    "matvec_block_a_row": _LEVELS,
    "matmul_register_tile_1d": _SUMS,
    "matmul_register_tile_2d": _SUMS,
    "box_blur": _GUARDED,
    "window_sum_padded": _GUARDED,
    "levels": "a range that differs between threads runs in strips, to look for Ctrl-C",
    "particles_records": (
        "LLVM vectorizes the stores to fields as scatters, which are slower than scalar stores"
    ),
    "invert": _UNKNOWN,
    "life": _UNKNOWN,
    "bit_reversal": "two 64-bit values per thread go through memory in each iteration",
}
