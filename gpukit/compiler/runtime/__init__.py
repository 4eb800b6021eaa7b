"""What compiled kernels call: numba intrinsics for memory, atomics, warps and scalars.

Only this package and `gpukit.compiler.native` import numba; they are imported when the first
kernel is compiled, never before.
"""
