"""The runtime of compiled kernels: Numba intrinsics for memory, atomics, warps and scalars.

It imports Numba, so it is imported when the first kernel is compiled, never before.
"""
