"""Limits by each resource of an SM: the arithmetic behind `gpukit.checked.occupancy`."""

from __future__ import annotations

from gpukit.checked.gpus import Gpu

# NVIDIA's calculator accepts 256 as well; the compilers allocate at most 255 per thread.
MOST_REGISTERS = 256


def round_up(value: int, step: int) -> int:
    """Return the next multiple of `step`."""
    return -(-value // step) * step


def per_warp(gpu: Gpu, registers: int) -> int:
    """Return the registers that are allocated to a warp."""
    return round_up(registers * gpu.warp, gpu.register_granularity)


def of_block(gpu: Gpu, warps: int, registers: int) -> int:
    """Return the registers that the hardware counts for a block: as if all quarters were equal."""
    return per_warp(gpu, registers) * round_up(warps, gpu.partitions)


def warps_with(gpu: Gpu, registers: int) -> int:
    """Return how many warps the registers of an SM suffice for; a warp lies in one quarter."""
    return gpu.registers_per_sm // gpu.partitions // per_warp(gpu, registers) * gpu.partitions


def by_registers(gpu: Gpu, warps: int, registers: int) -> int | None:
    """Return how many blocks of so many warps the registers allow; None if none are used."""
    if registers == 0:
        return None
    if registers > MOST_REGISTERS or of_block(gpu, warps, registers) > gpu.registers_per_block:
        return 0
    return warps_with(gpu, registers) // warps


def given_shared(gpu: Gpu, wanted: int) -> int:
    """Return the bytes allocated to a block: with the driver's reservation, rounded up."""
    return round_up(wanted + gpu.shared_reserved, gpu.shared_granularity)


def by_shared(gpu: Gpu, wanted: int) -> int | None:
    """Return how many blocks with so many shared bytes fit; None if none are used."""
    given = given_shared(gpu, wanted)
    if given == 0:
        return None
    return 0 if wanted > gpu.shared_per_block else gpu.shared_per_sm // given
