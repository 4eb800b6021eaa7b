"""The limits of the modelled GPU, by CUDA's names. Launches must respect them."""

from __future__ import annotations

# The compute capability whose rules kernels here follow (Turing: 1024 threads per block, threads
# of a warp that may diverge freely, match and shuffle operations, cooperative launches). A model,
# not hardware: no GPU is present.
COMPUTE_CAPABILITY = (7, 5)

# Limits that launches must respect; sizes are (x, y, z). Sources: CUDA C++ Programming Guide,
# table of technical specifications, compute capability 7.5.
MAX_THREADS = 1024  # per block
MAX_BLOCK = (1024, 1024, 64)
MAX_GRID = (2**31 - 1, 65535, 65535)
MAX_SHARED = 48 * 1024  # bytes per block

LIMITS = {
    "MAX_THREADS_PER_BLOCK": MAX_THREADS,
    "MAX_BLOCK_DIM_X": MAX_BLOCK[0],
    "MAX_BLOCK_DIM_Y": MAX_BLOCK[1],
    "MAX_BLOCK_DIM_Z": MAX_BLOCK[2],
    "MAX_GRID_DIM_X": MAX_GRID[0],
    "MAX_GRID_DIM_Y": MAX_GRID[1],
    "MAX_GRID_DIM_Z": MAX_GRID[2],
    "MAX_SHARED_MEMORY_PER_BLOCK": MAX_SHARED,
    "MAX_SHARED_MEMORY_PER_BLOCK_OPTIN": MAX_SHARED,
    "MAX_SHARED_MEMORY_PER_MULTIPROCESSOR": 65536,
    "TOTAL_CONSTANT_MEMORY": 65536,
    "WARP_SIZE": 32,
    "MAX_PITCH": 2**31 - 1,
    "MAX_REGISTERS_PER_BLOCK": 65536,
    "MAX_REGISTERS_PER_MULTIPROCESSOR": 65536,
    "MAX_THREADS_PER_MULTIPROCESSOR": 1024,
    "MAX_BLOCKS_PER_MULTIPROCESSOR": 16,
    "TEXTURE_ALIGNMENT": 512,
}
