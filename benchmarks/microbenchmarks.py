"""Microbenchmarks: what one unit of a GPU takes, for each figure that `gpukit.estimate` rests on.

`calibrate.py` runs them. Each is a kernel that keeps one unit busy, with a result that has one
right value: a benchmark that computes something else measures something else. All run on every
target; only a GPU's times mean anything.

Loops inside a kernel that run STEPS times are unrolled by the compilers, so that a step is a load
with a constant offset. The address depends on the round as well, or the load would be moved out of
the loop: no compiler knows `mask`. Indices are unsigned: a signed one may be negative
and costs five instructions more per load, enough to make the issue slots the limit.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from gpukit import cuda, launch
from gpukit.bench.calls import Launch
from gpukit.estimates import model
from gpukit.estimates.gpus import Machine
from gpukit.kernels import vector

STEPS = 8
TILE = 1024  # elements that the lanes of a warp span with the largest stride
BLOCK = 1024  # threads; two such blocks, or one, fill an SM
LINE = 32  # float32 of a line of 128 bytes
SHIFT = 32  # elements, a whole line, by which the address changes every 32 rounds
TABLE = STEPS * TILE + SHIFT
STRIDES = (1, 2, 4, 8, 16, 32)
# A dependent multiply-add takes four cycles on compute capabilities 7.0 to 9.0 (Jia et al. 2018,
# Luo et al. 2024): it gives the clock rate.
MULTIPLY_ADD_CYCLES = 4
CLOCK = "clock rate"


# ---- kernels --------------------------------------------------------------------------------


@cuda.jit
def multiply_add_kernel(rounds, factor, term, out):
    """Compute value = value * factor + term again and again, each on the one before."""
    value = out.dtype.type(0)
    for _ in range(rounds):
        for _ in range(STEPS):
            value = value * factor + term
    out[cuda.grid(1)] = value


@cuda.jit
def loads_kernel(x, stride, mask, rounds, out):
    """Load from global memory; the lanes of a warp are `stride` elements apart."""
    first = np.uint32(cuda.threadIdx.x % 32) * stride
    total = out.dtype.type(0)
    for r in range(rounds):
        start = first + np.uint32(r & mask)
        for k in range(STEPS):
            total += x[start + np.uint32(k * TILE)]
    out[cuda.grid(1)] = total


@cuda.jit
def shared_loads_kernel(x, stride, mask, rounds, out):
    """Load from shared memory; the lanes of a warp are `stride` elements apart."""
    tile = cuda.shared.array(TABLE, np.float32)
    for i in range(cuda.threadIdx.x, TABLE, cuda.blockDim.x):
        tile[i] = x[i]
    cuda.syncthreads()  # the tile is loaded
    first = np.uint32(cuda.threadIdx.x % 32) * stride
    total = out.dtype.type(0)
    for r in range(rounds):
        start = first + np.uint32(r & mask)
        for k in range(STEPS):
            total += tile[start + np.uint32(k * TILE)]
    out[cuda.grid(1)] = total


@cuda.jit
def atomics_kernel(counts, mask, rounds):
    """Add 1 atomically, each thread always to the element of its index and `mask`."""
    i = cuda.grid(1) & mask
    for _ in range(rounds):
        cuda.atomic.add(counts, i, counts.dtype.type(1))


@cuda.jit
def barriers_kernel(rounds, out):
    """Synchronize the block again and again."""
    count = out.dtype.type(0)
    for _ in range(rounds):
        for _ in range(STEPS):
            cuda.syncthreads()  # what is measured
            count += out.dtype.type(1)
    out[cuda.grid(1)] = count


@cuda.jit
def reads_kernel(x, rounds, out):
    """Add up parts of `x`, STEPS elements per thread, each block another part in each round."""
    total = out.dtype.type(0)
    for r in range(rounds):
        part = (cuda.blockIdx.x + 7 * r) % cuda.gridDim.x
        start = np.uint32(part * STEPS * BLOCK + cuda.threadIdx.x)
        for k in range(STEPS):
            total += x[start + np.uint32(k * BLOCK)]
    out[cuda.grid(1)] = total


@cuda.jit
def chase_kernel(following, rounds, out):
    """Follow a chain in global memory: each load waits for the address from the one before."""
    at = following.dtype.type(0)
    for _ in range(rounds):
        for _ in range(STEPS):
            at = following[at]
    out[0] = at


@cuda.jit
def shared_chase_kernel(following, rounds, out):
    """Follow a chain in shared memory."""
    tile = cuda.shared.array(TILE, np.uint32)
    for i in range(cuda.threadIdx.x, TILE, cuda.blockDim.x):
        tile[i] = following[i]
    cuda.syncthreads()  # the chain is loaded
    at = tile.dtype.type(0)
    for _ in range(rounds):
        for _ in range(STEPS):
            at = tile[at]
    if cuda.threadIdx.x == 0:
        out[0] = at


# ---- benchmarks -----------------------------------------------------------------------------


@dataclass(frozen=True)
class Scale:
    """The GPU, the SMs to fill, rounds of a loop, and bytes that L2 holds and that it does not."""

    machine: Machine
    sms: int
    rounds: int
    in_l2: int
    in_dram: int

    @classmethod
    def of(cls, machine: Machine, *, small: bool) -> Scale:
        """Return the scale for a GPU, or a small one for rehearsals."""
        if small:
            return cls(machine, 2, 2, 1 << 17, 1 << 18)
        return cls(machine, machine.gpu.sms, 1 << 10, min(1 << 24, machine.l2 // 2), 1 << 29)


@dataclass(frozen=True)
class Benchmark:
    """A launch that does `amount` of something, and the result that it must have.

    Where the unit is one per SM, `amount` is that of an SM.
    `unit` names the figure that follows from its seconds (`figure`); `model` is that figure as the
    model of `gpukit.estimate` has it.
    """

    name: str
    unit: str
    amount: float
    model: float
    work: Callable[[], Any]
    result: Any
    expected: Any

    def mistake(self) -> str:
        """Run it; return how the result differs from the right one, or an empty string."""
        self.work()
        cuda.synchronize()
        got = launch.to_host(self.result)
        wrong = np.flatnonzero(got != self.expected)
        return f"{wrong.size} of {got.size} results are wrong" if wrong.size else ""


def figure(unit: str, rate: float, clock: float) -> float:
    """Return a benchmark's figure from its amount per second and the clock rate in Hz."""
    if unit in ("Hz", "bytes/s"):
        return rate
    if unit == "s":
        return 1 / rate
    return clock / rate if unit == "cycles" else rate / clock


def clock(scale: Scale) -> list[Benchmark]:
    """One warp with a chain of multiply-adds, and as many as the SMs hold."""
    rounds, found, machine = 16 * scale.rounds, [], scale.machine
    for name, unit, each, lanes, shape in (
        (CLOCK, "Hz", MULTIPLY_ADD_CYCLES, machine.clock, (1, 32)),
        ("multiply-adds", "lanes/cycle/SM", 2 * BLOCK, machine.float32, (2 * scale.sms, BLOCK)),
    ):
        threads = shape[0] * shape[1]
        out = launch.to_device(np.zeros(threads, np.float32))
        one = np.float32(1)
        work = Launch(multiply_add_kernel, *shape, rounds, one, one, out).start
        amount = each * rounds * STEPS
        right = np.full(threads, rounds * STEPS, np.float32)
        found.append(Benchmark(name, unit, amount, lanes, work, out, right))
    return found


def global_loads(scale: Scale) -> list[Benchmark]:
    """Requests of global memory from L1 that touch 1 to 32 lines each."""
    return [_loads("LDG", loads_kernel, stride, scale) for stride in STRIDES]


def shared_loads(scale: Scale) -> list[Benchmark]:
    """Requests of shared memory with 1 to 32 wavefronts each."""
    return [_loads("LDS", shared_loads_kernel, stride, scale) for stride in STRIDES]


def _loads(what: str, kernel: Any, stride: int, scale: Scale) -> Benchmark:
    x = (np.arange(TABLE) % 7).astype(np.float32)
    blocks, rounds = 2 * scale.sms, max(2, scale.rounds // stride)
    out = launch.to_device(np.zeros(blocks * BLOCK, np.float32))
    work = Launch(kernel, blocks, BLOCK, x, np.uint32(stride), SHIFT, rounds, out).start
    start = np.arange(32) * stride
    shifted = np.count_nonzero(np.arange(rounds) & SHIFT)
    sums = [x[start[:, None] + shift + TILE * np.arange(STEPS)].sum(1) for shift in (0, SHIFT)]
    right = np.tile((rounds - shifted) * sums[0] + shifted * sums[1], blocks * BLOCK // 32)
    amount = blocks / scale.sms * BLOCK / 32 * rounds * STEPS
    per = "line" if what == "LDG" else "wavefront"
    name = f"{what}, {stride} {per}{'s' * (stride > 1)} per request"
    rate = 1 / max(32 / scale.machine.load_store, stride)
    return Benchmark(name, "requests/cycle/SM", amount, rate, work, out, right)


def atomics(scale: Scale) -> list[Benchmark]:
    """Atomics of all threads on one address, and each thread on its own."""
    return [
        _atomics(addresses, dtype, scale)
        for addresses in (1, 1 << 16)
        for dtype in (np.int32, np.float32)
    ]


def _atomics(addresses: int, dtype: Any, scale: Scale) -> Benchmark:
    blocks, rounds = 64, max(1, scale.rounds // (64 if addresses == 1 else 1))
    counts = launch.to_device(np.zeros(addresses, dtype))
    zero = Launch(vector.fill_kernel, -(-addresses // 256), 256, dtype(0), counts)
    adding = Launch(atomics_kernel, blocks, BLOCK, counts, addresses - 1, rounds)

    def work() -> None:
        zero.start()
        adding.start()

    amount = blocks * BLOCK * rounds
    right = np.full(addresses, amount // addresses, dtype)
    turing = scale.machine.gpu.capability == (7, 5)
    lanes = 1 if addresses == 1 else scale.machine.l2_bytes / (64 if turing else 32)
    place = "one address" if addresses == 1 else "many addresses"
    name = f"atomics on {place}, {np.dtype(dtype).name}"
    return Benchmark(name, "lanes/cycle", amount, lanes, work, counts, right)


def barriers(scale: Scale) -> list[Benchmark]:
    """Barriers of one block per SM."""
    found = []
    for block in (64, 256, BLOCK):
        out = launch.to_device(np.zeros(scale.sms * block, np.float32))
        work = Launch(barriers_kernel, scale.sms, block, scale.rounds, out).start
        amount = scale.rounds * STEPS
        right = np.full(scale.sms * block, amount, np.float32)
        name = f"barrier, {block} threads"
        found.append(Benchmark(name, "cycles", amount, model.BARRIER_LATENCY, work, out, right))
    return found


def launches(_scale: Scale) -> list[Benchmark]:
    """A launch with almost no work."""
    out = launch.to_device(np.zeros(32, np.float32))
    work = Launch(vector.fill_kernel, 1, 32, np.float32(1), out).start
    return [Benchmark("launch", "s", 1, model.LAUNCH, work, out, np.ones(32, np.float32))]


def bandwidth(scale: Scale) -> list[Benchmark]:
    """A copy through DRAM, reads of DRAM, and reads of L2."""
    n, machine = scale.in_dram // 4, scale.machine
    dram = machine.bandwidth * model.DRAM_EFFICIENCY
    l2 = machine.l2_bytes * machine.clock * model.L2_EFFICIENCY
    source, copy = (cuda.to_device(np.full(n, k, np.float32)) for k in (1, 0))

    def copying() -> None:
        copy.copy_to_device(source)

    whole = Benchmark(
        "DRAM, copy", "bytes/s", 2 * scale.in_dram, dram, copying, copy, np.ones(n, np.float32)
    )
    many = max(2, scale.rounds // 8)
    return [
        whole,
        _reads("DRAM, reads", dram, scale.in_dram, 1),
        _reads("L2, reads", l2, scale.in_l2, many),
    ]


def _reads(name: str, modelled: float, size: int, rounds: int) -> Benchmark:
    parts = size // (4 * STEPS * BLOCK)
    x = (np.arange(size // 4, dtype=np.uint32) % 7).astype(np.float32)
    out = launch.to_device(np.zeros(parts * BLOCK, np.float32))
    work = Launch(reads_kernel, parts, BLOCK, x, rounds, out).start
    sums = x.reshape(parts, STEPS, BLOCK).sum(1)
    order = (np.arange(parts)[:, None] + 7 * np.arange(rounds)) % parts
    right = sum(sums[order[:, r]] for r in range(rounds))
    amount = size * rounds + out.nbytes
    return Benchmark(name, "bytes/s", amount, modelled, work, out, np.ravel(right))


def latencies(scale: Scale) -> list[Benchmark]:
    """Chains of dependent loads, each element a line or more from the one before.

    Every sample begins with a cold L2. The chain in L2 is 2 MB, eight times the largest L1, and is
    followed 16 times; no line of that in DRAM is loaded twice. Between two loads stands one
    multiply-add for the address, about four cycles, which are part of the figures.
    """
    l2, many = min(scale.in_l2, 1 << 21) // 4, scale.rounds
    chains = (
        ("shared memory", model.SHARED_LATENCY, shared_chase_kernel, TILE, 1, 4 * many),
        ("L1", model.L1_LATENCY, chase_kernel, 4 * TILE, LINE + 1, 4 * many),
        ("L2", model.L2_LATENCY, chase_kernel, l2, 33 * LINE, 32 * many),
        ("DRAM", model.DRAM_LATENCY, chase_kernel, scale.in_dram // 4, 1021 * LINE, many),
    )
    return [_chase(f"latency of {where}", *rest) for where, *rest in chains]


def _chase(name: str, modelled: float, kernel: Any, n: int, stride: int, rounds: int) -> Benchmark:
    following = ((np.arange(n, dtype=np.int64) + stride) % n).astype(np.uint32)
    out = launch.to_device(np.zeros(1, np.uint32))
    work = Launch(kernel, 1, 32, following, rounds, out).start
    amount = rounds * STEPS
    right = np.array([amount * stride % n], np.uint32)
    return Benchmark(name, "cycles", amount, modelled, work, out, right)


GROUPS: dict[str, Callable[[Scale], list[Benchmark]]] = {
    "clock": clock,
    "global loads": global_loads,
    "shared loads": shared_loads,
    "atomics": atomics,
    "barriers": barriers,
    "launches": launches,
    "bandwidth": bandwidth,
    "latencies": latencies,
}
