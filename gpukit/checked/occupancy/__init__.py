"""Occupancy: how many warps of a kernel a multiprocessor (SM) runs at once, and what limits it.

The numbers are those of NVIDIA's own calculator, `cudaOccMaxActiveBlocksPerMultiprocessor` in
`cuda_occupancy.h`, called as for a launch that has asked for the shared memory it needs
(`FUNC_SHMEM_LIMIT_OPTIN`, limit set to the launch's dynamic bytes), with the default carveout,
which gives an SM all its shared memory, and one barrier. The tests compare the two. Inputs that
NVIDIA's calculator calls invalid raise here; a launch that cannot run has 0 blocks and a reason.
Like NVIDIA's, the calculation does not distinguish static from dynamic shared memory, of which
the GPU compiler allows 48 KB. From 2**31 bytes NVIDIA's 32-bit arithmetic overflows; here the
result is 0 blocks.

Nsight Compute calls the result `sm__maximum_warps_per_active_cycle_pct` (theoretical
occupancy). The occupancy that a run achieves is lower, because blocks start and end at different
times.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from gpukit.checked.gpus import GPUS, Gpu
from gpukit.checked.occupancy import sm_limits
from gpukit.checked.occupancy.messages import as_text, in_words, show_percent

# The order in which limits are listed. None as a limit: this resource is not used.
LIMITS = ("warps", "registers", "shared memory", "blocks")


@dataclass(frozen=True)
class Occupancy:
    """How many blocks of a launch share one SM. `limits` says how many each resource allows."""

    gpu: Gpu
    threads: int
    registers: int
    shared_static: int
    shared_dynamic: int
    blocks: int
    limits: dict[str, int | None]

    @property
    def warps_per_block(self) -> int:
        """Warps of a block; the last one may be partly empty."""
        return -(-self.threads // self.gpu.warp)

    @property
    def warps(self) -> int:
        """Warps that one SM runs at once."""
        return self.blocks * self.warps_per_block

    @property
    def percent(self) -> float:
        """Those warps as a percentage of all that an SM can hold."""
        return 100 * self.warps / self.gpu.warps_per_sm

    @property
    def limited_by(self) -> tuple[str, ...]:
        """The resources that allow no further block."""
        return tuple(name for name in LIMITS if self.limits[name] == self.blocks)

    @property
    def reason(self) -> str:
        """What limits the occupancy, in words."""
        return "; ".join(in_words(self, name) for name in self.limited_by)

    @property
    def blocks_to_fill(self) -> int:
        """The smallest grid that gives every SM all the blocks that it can hold."""
        return self.blocks * self.gpu.sms

    @property
    def must_ask(self) -> bool:
        """Whether the launch must opt in to this much shared memory; Numba 0.30 does not."""
        return self.shared_static + self.shared_dynamic > self.gpu.shared_without_asking

    def __str__(self) -> str:
        plural = "" if self.blocks == 1 else "s"
        return (
            f"{self.gpu.name}: {self.blocks} block{plural} per SM, {self.warps} of "
            f"{self.gpu.warps_per_sm} warps, {show_percent(self.percent)}. Limited by {self.reason}"
        )

    def as_dict(self) -> dict[str, Any]:
        """Return the result as plain data."""
        return {
            "gpu": self.gpu.name,
            "capability": "{}.{}".format(*self.gpu.capability),
            "sms": self.gpu.sms,
            "threads": self.threads,
            "registers": self.registers,
            "shared_static": self.shared_static,
            "shared_dynamic": self.shared_dynamic,
            "blocks": self.blocks,
            "warps": self.warps,
            "max_warps": self.gpu.warps_per_sm,
            "percent": self.percent,
            "limited_by": list(self.limited_by),
            "reason": self.reason,
        }


def occupancy(
    gpu: Gpu, threads: int, registers: int, shared_static: int = 0, shared_dynamic: int = 0
) -> Occupancy:
    """Return the occupancy of blocks of `threads` with `registers` per thread and shared bytes.

    >>> from gpukit.checked.gpus import find
    >>> print(occupancy(find("T4"), threads=256, registers=65))
    T4: 3 blocks per SM, 24 of 32 warps, 75 %. Limited by registers: 65 per thread leave room for \
28 warps, which is 3 blocks of 8 warps
    """
    threads = _whole("threads", threads, 1)
    registers = _whole("registers", registers, 0)
    static = _whole("shared_static", shared_static, 0)
    dynamic = _whole("shared_dynamic", shared_dynamic, 0)
    warps = -(-threads // gpu.warp)
    limits = {
        "warps": gpu.warps_per_sm // warps if threads <= gpu.threads_per_block else 0,
        "registers": sm_limits.by_registers(gpu, warps, registers),
        "shared memory": sm_limits.by_shared(gpu, static + dynamic),
        "blocks": gpu.blocks_per_sm,
    }
    blocks = min(limit for limit in limits.values() if limit is not None)
    return Occupancy(gpu, threads, registers, static, dynamic, blocks, limits)


def best_block(
    gpu: Gpu, registers: int, shared_static: int = 0, shared_dynamic: int | Callable[[int], int] = 0
) -> Occupancy | None:
    """Return the block size with the most running threads, the largest such; None if none runs.

    Tries multiples of a warp. `shared_dynamic` may be a function of the number of threads.
    """
    best: Occupancy | None = None
    for threads in range(gpu.threads_per_block, 0, -gpu.warp):
        dynamic = shared_dynamic(threads) if callable(shared_dynamic) else shared_dynamic
        tried = occupancy(gpu, threads, registers, shared_static, dynamic)
        if tried.warps > (best.warps if best else 0):
            best = tried
    return best


def spare_registers(gpu: Gpu, threads: int, shared_static: int = 0, shared_dynamic: int = 0) -> int:
    """Return how many registers per thread are possible before they lower the occupancy."""
    free = occupancy(gpu, threads, 0, shared_static, shared_dynamic).blocks
    return max(
        count
        for count in range(sm_limits.MOST_REGISTERS)
        if occupancy(gpu, threads, count, shared_static, shared_dynamic).blocks == free
    )


def _whole(name: str, value: int, least: int) -> int:
    try:
        number = operator.index(value)
    except TypeError:
        raise TypeError(f"occupancy: expected a whole number of {name}, got {value!r}.") from None
    if number < least:
        raise ValueError(f"occupancy: expected {name} >= {least}, got {number}.")
    return number


# ---- several GPUs side by side -------------------------------------------------------------------


@dataclass(frozen=True)
class OccupancyTable:
    """The occupancy of one launch on several GPUs: `print` it, or take `rows` as plain data."""

    results: tuple[Occupancy, ...]
    best: tuple[Occupancy | None, ...]
    known: tuple[bool, ...]

    @property
    def rows(self) -> list[dict[str, Any]]:
        """One dict per GPU: `Occupancy.as_dict` and the best block size, 0 if none can run."""
        return [
            {
                **one.as_dict(),
                "registers": one.registers if known else None,
                "best_threads": best.threads if best else 0,
                "best_percent": best.percent if best else 0.0,
            }
            for one, best, known in zip(self.results, self.best, self.known, strict=True)
        ]

    def __str__(self) -> str:
        return as_text(self)


def table(
    threads: int,
    registers: int | Mapping[tuple[int, int], int | None] | None = None,
    shared_static: int = 0,
    shared_dynamic: int = 0,
    gpus: Sequence[Gpu] = tuple(GPUS.values()),
) -> OccupancyTable:
    """Return the occupancy of a launch on all seven GPUs, or on `gpus`.

    `registers` may differ by compute capability, because each has its own machine code:
    `{(8, 0): 32, ...}`. None where they are not known: the result is an upper bound.
    """
    counts = [_registers_on(gpu, registers) for gpu in gpus]
    pairs = [(gpu, count or 0) for gpu, count in zip(gpus, counts, strict=True)]
    return OccupancyTable(
        tuple(occupancy(g, threads, n, shared_static, shared_dynamic) for g, n in pairs),
        tuple(best_block(g, n, shared_static, shared_dynamic) for g, n in pairs),
        tuple(count is not None for count in counts),
    )


def _registers_on(
    gpu: Gpu, registers: int | Mapping[tuple[int, int], int | None] | None
) -> int | None:
    if isinstance(registers, Mapping):
        if gpu.capability not in registers:
            raise ValueError(
                f"table: expected registers for compute capability {gpu.capability} "
                f"({gpu.name}), got registers for {sorted(registers)}. Add it, or pass one number."
            )
        return registers[gpu.capability]
    return registers
