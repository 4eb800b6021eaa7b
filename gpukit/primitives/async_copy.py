"""Asynchronous copies to shared memory (cp.async): `copy16`, `commit`, `wait`.

A load brings a value to a register, and a thread can store it only after it has arrived. From
compute capability 8.0 on a GPU can copy sixteen bytes from global to shared memory without a
register in between: the thread issues the copy, continues to compute, and waits for it later. So a
block can have several tiles in flight while it multiplies another.

    copy16(target, k, source, j, inside)   copy bytes 16 j to 16 j + 15 of source to byte 16 k of
                                           target, a vector in shared memory; zeros where inside
                                           is false, and then nothing of source is read
    commit()                               make one group of the copies since the last commit
    wait(count)                            wait until at most the `count` latest groups of this
                                           thread are still in flight; a constant

Both vectors are contiguous, of one dtype, and begin at multiples of 16 bytes. `wait` is for the
thread's own copies: other threads see them after the next barrier.

On a GPU these are instructions (`async_copy_gpu`): cp.async of NVIDIA's "Parallel Thread Execution
ISA". Without one `copy16` copies at once and the other two do nothing, so a missing `wait` is
not detected here; a missing barrier is found like any other.
"""

from __future__ import annotations

from gpukit import cuda
from gpukit.compiler.runtime.float4 import as_16_bytes
from gpukit.primitives import of_this_target

__all__ = ["commit", "copy16", "wait"]


@cuda.jit(device=True)
def copy16(target, k, source, j, inside):
    """Copy bytes 16 j to 16 j + 15 of source, or zeros, to byte 16 k of target, asynchronously."""
    whole = as_16_bytes(target, source)
    if inside:
        wanted = as_16_bytes(source, target)
        whole[k] = wanted[j]
    else:
        whole[k] = 0


@cuda.jit(device=True)
def commit():
    """Make one group of the copies since the last call."""


@cuda.jit(device=True)
def wait(count):
    """Wait until at most the `count` latest groups are still in flight."""


copy16, commit, wait = of_this_target("async_copy", copy16, commit, wait)
