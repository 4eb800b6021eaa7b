"""What kernels call that Numba has no name for: one instruction on a GPU, or none.

Each file says what its functions mean and runs them on the CPU targets, where every access is
checked and counted like any other. The file of the same name with `_gpu` behind it holds what a
GPU's compiler gets in their place; it imports nothing of gpukit, so that the compilers' process
(`gpukit.gpu_code`) can load it alone.

    wide         load4, store4: sixteen bytes at once
    unroll       unrolled: a loop written out
    tensor       products of small matrices by a warp, and the rounding that they ask for
    async_copy   copies to shared memory that nobody waits for
    warpgroup    products of matrices in shared memory by four warps (Hopper)
"""
