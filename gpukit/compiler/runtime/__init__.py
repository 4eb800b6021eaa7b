"""What compiled kernels call: numba intrinsics for memory, atomics, warps and scalars.

Only this room and `gpukit.compiler.native` import numba; they are imported when the first
kernel is compiled, never before.
"""
