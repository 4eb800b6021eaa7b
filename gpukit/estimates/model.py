"""The model: what a launch asks of a GPU, and the seconds that the GPU needs for it.

An SM works for the longest of its resources: load/store units, 128-byte L1 lines (one per cycle),
shared-memory wavefronts (one per cycle), issue slots (four per cycle) and arithmetic lanes. It
overlaps this with the latency of its resident blocks, and the launch overlaps its SMs with DRAM, L2
and atomics. Neither overlap is perfect: a p-norm with the fitted exponent lies between the
longest and the sum. More of anything never makes a launch faster (`tests/estimates/test_model.py`).

Latencies in cycles are measured ones: Jia et al. 2018 (Volta), Luo et al. 2024 (Hopper).
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

from gpukit.checked import occupancy
from gpukit.estimates import published
from gpukit.estimates.gpus import Machine

WARP = 32
SHARED_LATENCY, L1_LATENCY, L2_LATENCY, DRAM_LATENCY, BARRIER_LATENCY = 29, 38, 260, 570, 30
# What copies reach of DRAM's bandwidth: 0.90 to 0.92 on seven GPUs, 0.88 to 0.91 on T4 and A100.
DRAM_EFFICIENCY = 0.90
L2_EFFICIENCY = 0.7
LAUNCH, LAUNCHING = 3e-6, "launch overhead"
# Independent loads that a compiler keeps in flight: it unrolls loops by four.
IN_FLIGHT = 4
# From this many barriers on, the warps of a block advance together.
TOGETHER = 4
# Up to this many blocks per SM, one SM has a whole block more than another.
UNEVEN = 20
# A GPU may run this much above its boost clock; used for the floor alone.
OVERCLOCK = 1.15
# Beyond this many writes per byte, sectors go to DRAM more than once.
REWRITTEN = 1.5


@dataclass(frozen=True)
class Constants:
    """The three constants that no data sheet gives, fitted by `benchmarks/estimates.py --fit`.

    `overlap` is the exponent of the p-norm, `clock` the fraction of the boost clock that a GPU
    keeps, `dependency` the cycles that an instruction of a warp waits for the one before it.
    """

    overlap: float
    clock: float
    dependency: float


FITTED = Constants(**published.record()["constants"])


@dataclass(frozen=True)
class Work:
    """What a launch asks for. Counts are sums over the launch, of warps; sizes are in bytes.

    `float32`, `float64`, `integer` and `special` are instructions of warps; `trips` loads that the
    warps wait for, one after the other. `footprint` are the bytes of the launch's distinct sectors,
    `block_footprint` the sum over blocks of each block's own; `stored` those of the sectors that
    are stored, `store_footprint` of the distinct ones. `registers` is 0 where they are not known.
    `merged` is how many scalar accesses a compiler may have merged into one that is counted.
    """

    blocks: int
    threads: int
    shared_bytes: int = 0
    registers: int = 0
    global_loads: float = 0
    global_requests: float = 0
    lines: float = 0
    shared_loads: float = 0
    shared_requests: float = 0
    wavefronts: float = 0
    shuffles: float = 0
    instructions: float = 0
    float32: float = 0
    float64: float = 0
    integer: float = 0
    special: float = 0
    barriers: float = 0
    trips: float = 0
    atomics: float = 0
    contention: float = 0
    footprint: float = 0
    block_footprint: float = 0
    stored: float = 0
    store_footprint: float = 0
    merged: int = 4

    @property
    def warps(self) -> int:
        """Warps per block."""
        return -(-self.threads // WARP)


@dataclass(frozen=True)
class Times:
    """Seconds: `floor`, `likely`, `worst`, those of each term alone, and the longest term.

    `resident` is the number of blocks that an SM holds at once, 0 where it holds none.
    """

    floor: float
    likely: float
    worst: float
    bound: str
    terms: dict[str, float] = field(default_factory=dict)
    resident: int = 0


def resident_blocks(work: Work, machine: Machine) -> int:
    """Return how many blocks an SM holds at once; 0 if the launch cannot run."""
    return occupancy.occupancy(machine.gpu, work.threads, work.registers, work.shared_bytes).blocks


def cycles(work: Work, machine: Machine) -> dict[str, float]:
    """Return the cycles of an SM that each resource takes for one block."""
    lanes = {
        "load/store units": (
            work.global_requests + work.shared_requests + work.shuffles,
            machine.load_store,
        ),
        "float32": (work.float32, machine.float32),
        "float64": (work.float64, machine.float64),
        "integer": (work.integer, machine.integer),
        "special functions": (work.special, machine.special),
    }
    found = {name: count * WARP / per_cycle for name, (count, per_cycle) in lanes.items()}
    found["L1 lines"] = work.lines
    found["shared-memory wavefronts"] = work.wavefronts
    found["issue slots"] = work.instructions / machine.gpu.partitions
    return {name: total / work.blocks for name, total in found.items()}


def waiting(work: Work, machine: Machine, constants: Constants) -> float:
    """Return the cycles for which a warp waits if it runs alone."""
    per_warp = 1 / (work.blocks * work.warps)
    loads, barriers = work.global_loads * per_warp, work.barriers * per_warp
    rounds = max(work.trips * per_warp, loads / IN_FLIGHT)
    far = DRAM_LATENCY if work.footprint > machine.l2 else L2_LATENCY
    missed = min(rounds, work.block_footprint / 32 * per_warp / IN_FLIGHT)
    return (
        rounds * L1_LATENCY
        + missed * (far - L1_LATENCY)
        + min(work.shared_loads * per_warp, barriers) * SHARED_LATENCY
        + barriers * BARRIER_LATENCY
        + work.instructions * per_warp * constants.dependency
    )


def times(
    work: Work,
    machine: Machine,
    constants: Constants = FITTED,
    *,
    repeated: bool = False,
    without: str = "",
) -> Times:
    """Return the times of a launch; `without` leaves out one term, to see what comes next.

    `repeated`: the launch runs again and again, and finds in L2 what fits there.
    """
    used = {k: v for k, v in cycles(work, machine).items() if k != without}
    busy = max(used.values())
    wait = waiting(work, machine, constants) if without != "latency" else 0.0
    resident, blocks, per_sm = _blocks(work, machine)
    held = resident_blocks(work, machine)
    together = work.barriers >= TOGETHER * work.blocks * work.warps
    units = resident if together else resident * work.warps
    one = busy if together else busy / work.warps
    p = constants.overlap
    turn = one + wait if units == 1 else _norm(p, resident * busy, one + wait)
    rate = machine.clock * constants.clock
    sm = blocks * turn / rate
    memory = {k: v for k, v in _memory(work, machine, repeated).items() if k != without}
    launch = 0.0 if without == LAUNCHING else LAUNCH
    likely = _norm(p, sm, *memory.values()) + launch
    terms = {name: per_sm * value / rate for name, value in used.items()}
    terms |= {"latency": blocks * wait / rate, **memory, LAUNCHING: launch}
    worst = _worst(work, machine, sum(used.values()), one + wait, memory)
    bound = max(terms, key=lambda name: terms[name])
    return Times(_floor(work, machine), likely, max(worst, likely), bound, terms, held)


def _norm(p: float, *values: float) -> float:
    largest = max(values)
    return largest * sum((v / largest) ** p for v in values) ** (1 / p) if largest else 0.0


def _blocks(work: Work, machine: Machine) -> tuple[int, float, float]:
    """Return resident blocks, rounds of them, and the blocks of the SM that has the most.

    A launch that cannot run is taken for one with a resident block.
    """
    per_sm = work.blocks / machine.gpu.sms
    most = math.ceil(per_sm) if per_sm < UNEVEN else per_sm
    resident = max(1, min(resident_blocks(work, machine), math.ceil(most)))
    return resident, most / resident, most


def _memory(work: Work, machine: Machine, repeated: bool) -> dict[str, float]:
    """Return the seconds of DRAM, L2 and atomics."""
    dram = work.footprint
    if repeated:
        dram = max(0.0, dram - machine.l2)
    if work.footprint > machine.l2:
        dram += max(0.0, work.stored - REWRITTEN * work.store_footprint)
    atomics = work.atomics * WARP / (machine.l2_bytes / 32 * machine.clock)
    if machine.gpu.capability == (7, 5):
        atomics *= 2
    return {
        "DRAM": dram / (machine.bandwidth * DRAM_EFFICIENCY),
        "L2": work.block_footprint / (machine.l2_bytes * machine.clock * L2_EFFICIENCY),
        "atomics": atomics,
        "atomics on one address": work.contention / machine.clock,
    }


def _floor(work: Work, machine: Machine) -> float:
    """Return a lower bound of the time, for code of any compiler and a warm L2."""
    used = cycles(work, machine)
    certain = [used["float32"], used["float64"]]
    for name in ("load/store units", "L1 lines", "shared-memory wavefronts"):
        certain.append(used[name] / work.merged)
    hurried = machine.clock * OVERCLOCK
    return max(
        work.blocks / machine.gpu.sms * max(certain) / hurried,
        max(0.0, work.footprint - machine.l2) / machine.bandwidth,
        work.contention / WARP / hurried,  # a warp may add up its updates first
    )


def _worst(
    work: Work, machine: Machine, busy: float, alone: float, memory: dict[str, float]
) -> float:
    """Return the time with nothing overlapped, a cold cache and a slower clock."""
    resident, blocks, _ = _blocks(work, machine)
    moved = max(memory.get("DRAM", 0.0), work.block_footprint * 0.3 / machine.bandwidth)
    rest = sum(memory.values()) - memory.get("DRAM", 0.0)
    return (blocks * (resident * busy + alone) / machine.clock + moved + rest) * 1.3 + 3 * LAUNCH
