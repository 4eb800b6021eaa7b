"""The seven GPUs of the occupancy tables and rooflines: their limits and their peak rates.

The limits of a compute capability are NVIDIA's, from `cuda/__device/arch_traits.h` (CCCL 3.4,
Apache 2.0 licence); the CUDA programming guide has the same numbers in its table of technical
specifications per compute capability. Peaks are those of the vendor's data sheets named below,
without sparsity. They were compared with public reproductions of the sheets, in November 2026,
not with the sheets themselves. `None` where no figure was found.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

KB = 1024
MB = 1024 * KB


@dataclass(frozen=True)
class Gpu:
    """One GPU: what a multiprocessor (SM) holds, and the peak rates of the whole GPU.

    Sizes are bytes, registers are of 32 bits. `shared_per_block` is the most that a launch may
    request; above `shared_without_asking` it must opt in (cudaFuncSetAttribute). Rates are per
    second: `bandwidth` in bytes, `float32`, `float64` and `tensor_bfloat16` in operations (a
    multiply-add is two), `clock` in cycles, the boost clock.
    """

    name: str
    product: str
    capability: tuple[int, int]
    sms: int
    warps_per_sm: int
    blocks_per_sm: int
    shared_per_sm: int
    shared_per_block: int
    shared_reserved: int
    shared_granularity: int
    bandwidth: float | None = None
    float32: float | None = None
    float64: float | None = None
    tensor_bfloat16: float | None = None
    l2: int | None = None
    clock: float | None = None
    threads_per_block: int = 1024
    shared_without_asking: int = 48 * KB
    registers_per_sm: int = 65536
    registers_per_block: int = 65536
    # Registers are allocated to a whole warp, in units of this many, by one of the SM's quarters.
    register_granularity: int = 256
    partitions: int = 4
    warp: int = 32

    @property
    def ridge(self) -> float | None:
        """The roofline's ridge point, float32 operations per byte; None if a speed is unknown."""
        if self.float32 is None or self.bandwidth is None:
            return None
        return self.float32 / self.bandwidth

    def __str__(self) -> str:
        major, minor = self.capability
        return f"{self.product} (compute capability {major}.{minor}, {self.sms} SMs)"


def _limits(
    capability: tuple[int, int], warps: int, blocks: int, shared_kb: int, reserved_kb: int
) -> dict[str, Any]:
    """Return the fields that all GPUs of a compute capability share."""
    return {
        "capability": capability,
        "warps_per_sm": warps,
        "blocks_per_sm": blocks,
        "shared_per_sm": shared_kb * KB,
        "shared_per_block": (shared_kb - reserved_kb) * KB,
        "shared_reserved": reserved_kb * KB,
        "shared_granularity": 128 if capability >= (8, 0) else 256,
    }


VOLTA = _limits((7, 0), warps=64, blocks=32, shared_kb=96, reserved_kb=0)
TURING = _limits((7, 5), warps=32, blocks=16, shared_kb=64, reserved_kb=0)
AMPERE = _limits((8, 0), warps=64, blocks=32, shared_kb=164, reserved_kb=1)
GA10X = _limits((8, 6), warps=48, blocks=16, shared_kb=100, reserved_kb=1)
ADA = _limits((8, 9), warps=48, blocks=24, shared_kb=100, reserved_kb=1)
HOPPER = _limits((9, 0), warps=64, blocks=32, shared_kb=228, reserved_kb=1)
BLACKWELL = _limits((10, 0), warps=64, blocks=32, shared_kb=228, reserved_kb=1)

_COLUMNS = ("sms", "bandwidth", "float32", "float64", "tensor_bfloat16", "l2", "clock")
_ROWS: tuple[tuple[str, str, dict[str, Any], tuple[Any, ...]], ...] = (
    # T4: data sheet (8.1 TFLOPS, 320 GB/s); deviceQuery (1590 MHz, 4 MB of L2). Float64 runs at
    # 1/32 of float32 on Turing (programming guide, arithmetic throughput). No bfloat16.
    ("T4", "T4", TURING, (40, 320e9, 8.1e12, 0.25e12, None, 4 * MB, 1.59e9)),
    # L4: data sheet (30.3 TFLOPS, 300 GB/s, bfloat16 242 TFLOPS with sparsity, which doubles it).
    # 58 SMs are the data sheet's 7424 cores. Float64 runs at 1/64 of float32 on compute capability
    # 8.9. L2 and clock: Ada architecture white paper, version 2.01.
    ("L4", "L4", ADA, (58, 300e9, 30.3e12, 0.47e12, 121e12, 48 * MB, 2.04e9)),
    # A100: data sheet of the 80 GB SXM card. The 40 GB card differs in bandwidth: 1555 GB/s.
    ("A100", "A100 SXM 80 GB", AMPERE, (108, 2039e9, 19.5e12, 9.7e12, 312e12, 40 * MB, 1.41e9)),
    # RTX 4090: Ada architecture white paper, version 2.01 (bfloat16 with float32 sums).
    (
        "RTX 4090",
        "GeForce RTX 4090",
        ADA,
        (128, 1008e9, 82.6e12, 1.29e12, 165.2e12, 72 * MB, 2.52e9),
    ),
    # H100 and H200: data sheets of the SXM modules; their bfloat16 figure of 1979 is with sparsity.
    # Clock and L2: Hopper architecture white paper. The H200 is the same chip with other memory.
    ("H100", "H100 SXM", HOPPER, (132, 3.35e12, 67e12, 34e12, 989e12, 50 * MB, 1.98e9)),
    ("H200", "H200 SXM", HOPPER, (132, 4.8e12, 67e12, 34e12, 989e12, 50 * MB, 1.98e9)),
    # B200: Blackwell architecture technical brief (HGX, 1000 W). Later sheets are said to give 75
    # and 37 TFLOPS for float32 and float64. SMs and L2: as measured by Chips and Cheese, 2025. No
    # sheet names the clock.
    ("B200", "B200 SXM", BLACKWELL, (148, 8e12, 80e12, 40e12, 2250e12, 126 * MB, None)),
)

GPUS = {
    name: Gpu(name, product, **limits, **dict(zip(_COLUMNS, figures, strict=True)))
    for name, product, limits, figures in _ROWS
}
CAPABILITIES = tuple(sorted({gpu.capability for gpu in GPUS.values()}))


def float32_lanes(capability: tuple[int, int]) -> int:
    """Return how many float32 additions or multiply-adds an SM does per cycle.

    NVIDIA, "CUDA C++ Programming Guide", throughput of native arithmetic instructions.

    >>> float32_lanes((8, 0)), float32_lanes((8, 9)), float32_lanes((9, 0))
    (64, 128, 128)
    """
    return 64 if capability in ((6, 0), (7, 0), (7, 2), (7, 5), (8, 0)) else 128


# Additions and multiplications of tensor cores that an SM does per cycle, on dense matrices of
# TF32 and of bfloat16 with float32 sums: the throughputs of NVIDIA's data sheets divided by SMs
# and clock.
_TENSOR = {
    (8, 0): (1024, 2048),
    (8, 6): (256, 512),
    (8, 7): (512, 1024),
    (8, 9): (256, 512),
    (9, 0): (2048, 4096),
    (10, 0): (4096, 8192),
}


def tensor_flops(capability: tuple[int, int]) -> tuple[int, int]:
    """Return an SM's tensor-core operations per cycle in TF32 and in bfloat16; 0 if unknown.

    >>> tensor_flops((9, 0)), tensor_flops((7, 5))
    ((2048, 4096), (0, 0))
    """
    return _TENSOR.get(capability, (0, 0))


def find(name: str) -> Gpu:
    """Return a GPU by its name, ignoring case and spaces.

    >>> find("rtx4090").sms
    128
    """
    wanted = name.replace(" ", "").lower()
    for gpu in GPUS.values():
        if gpu.name.replace(" ", "").lower() == wanted:
            return gpu
    raise ValueError(f"find: expected one of {', '.join(GPUS)}, got {name!r}.")
