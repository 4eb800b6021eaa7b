"""Why a kernel takes more than 1.25 times as long as its plain loops, by the name of its case."""

from __future__ import annotations

_FLOAT4S = "made for a GPU: sixteen bytes at once, which neighbouring threads do not load together"
_ATOMICS = "atomic instructions, which loops of one thread do not need"
_SCATTERED = (
    "each level of the tree reads every second, fourth, ... element; by hand these are slices"
)
_LEVELS = "every level of a block's tree is a loop of its own, by hand one slice"
_GUARDED = "the guard inside of the loops keeps LLVM from vectorising over threads"
_UNKNOWN = (
    "not known: with guards, checks, kept variables or wrapping integers switched off, each alone, "
    "it takes as long"
)
_SUMS = "the sums of a thread lie in memory from barrier to barrier"

REASONS: dict[str, str] = {
    "popcount": "LLVM makes one instruction of the plain `while`; ours can be interrupted in it",
    "matmul_vectorized": _FLOAT4S,
    "matmul_double_buffered": _FLOAT4S,
    "matvec_vectorized": _FLOAT4S,
    "sum_vectorized": _FLOAT4S,
    "histogram_atomic": _ATOMICS,
    "histogram_privatised": _ATOMICS,
    "histogram_shared": _ATOMICS,
    "argmax_finish": "24 microseconds, of which a launch is most",
    "scan_padded": _SCATTERED,
    "scan_blelloch": _SCATTERED,
    "scan_one_pass": "a thread's values lie in memory from shuffle to shuffle; looking back: 0.17",
    "sum_interleaved": _SCATTERED,
    "sum_unrolled": "each syncwarp of the last warp ends a loop over threads",
    "sum_first_add": _LEVELS,
    "matvec_block_a_row": _LEVELS,
    "matmul_register_tile_1d": _SUMS,
    "matmul_register_tile_2d": _SUMS,
    "box_blur": _GUARDED,
    "window_sum_padded": _GUARDED,
    "levels": "a range that differs between threads is walked in strips, to look for Ctrl-C",
    "particles_records": "LLVM vectorises and scatters fields, which is slower than one by one",
    "sum_blocks": _LEVELS,
    "row_sums_warp": "each of five shuffles is done by 32 lanes; by hand the tree halves",
    "bitonic_shared": "by hand only one thread of each pair that is compared works",
    "invert": _UNKNOWN,
    "life": _UNKNOWN,
    "transpose_again": _UNKNOWN,
    "bit_reversal": "two 64-bit values of a thread go through memory in each round",
}
