"""The counters of a profile: what each counts, and the metric of Nsight Compute that it models.

All count what the *source* requests. A GPU compiler may merge four scalar loads into one of
16 bytes, keep a value in a register instead of loading it twice, or turn a short `if` into
predicated instructions without a branch; then the totals of Nsight Compute are smaller. The cost
of one address pattern (sectors per request, wavefronts per request) is the same there.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple


class Counter(NamedTuple):
    """One counter: its unit, what it counts, the metric it models, when that may differ."""

    unit: str
    what: str
    metric: str
    differs: str = ""


_MERGED = "a compiler merges neighbouring scalar accesses of a thread into wider ones"
_KEPT = "a compiler loads a value once where the source reads it twice"
_PREDICATED = "a compiler turns short branches into predicated instructions"


def _accesses(space: str, op: str, short: str) -> dict[str, Counter]:
    """Return the counters of one kind of global access."""
    action = {"load": "load from", "store": "store to", "atomic": "do an atomic on"}[op]
    pipe = f"pipe_lsu_mem_{space}_op_{short}"
    differs = f"{_MERGED}; {_KEPT}" if op == "load" else _MERGED if op == "store" else ""
    return {
        f"{space}_{op}_requests": Counter(
            "requests",
            f"warp-level requests to {action} {space} memory",
            f"l1tex__t_requests_{pipe}.sum",
            differs,
        ),
        f"{space}_{op}_sectors": Counter(
            "sectors",
            "distinct 32-byte sectors that those requests touch",
            f"l1tex__t_sectors_{pipe}.sum",
            differs,
        ),
        f"{space}_{op}_lines": Counter(
            "lines",
            "distinct 128-byte cache lines that those requests touch",
            f"l1tex__t_set_accesses_{pipe}.sum",
            differs,
        ),
    }


def _shared(op: str, short: str) -> dict[str, Counter]:
    pipe = f"pipe_lsu_mem_shared_op_{short}"
    differs = _MERGED
    return {
        f"shared_{op}_requests": Counter(
            "requests",
            f"warp-level {op} requests to shared memory",
            f"smsp__inst_executed_op_shared_{short}.sum",
            differs,
        ),
        f"shared_{op}_wavefronts": Counter(
            "wavefronts",
            "wavefronts (passes through the banks) that those requests take",
            f"l1tex__data_pipe_lsu_wavefronts_mem_shared_op_{short}.sum",
            differs,
        ),
        f"shared_{op}_conflicts": Counter(
            "wavefronts",
            "wavefronts beyond the minimum for the width of the elements (bank conflicts)",
            f"l1tex__data_bank_conflicts_{pipe}.sum",
            differs,
        ),
    }


COUNTERS: dict[str, Counter] = {
    **_accesses("global", "load", "ld"),
    **_accesses("global", "store", "st"),
    **_accesses("global", "atomic", "atom"),
    "global_bytes_asked": Counter(
        "bytes",
        "bytes that the threads request in global memory",
        "smsp__sass_data_bytes_mem_global.sum",
        _KEPT,
    ),
    "global_bytes_moved": Counter(
        "bytes",
        "bytes of the sectors moved for them: 32 per sector",
        "l1tex__t_bytes_pipe_lsu_mem_global_op_ld.sum and _op_st.sum",
        _KEPT,
    ),
    "global_load_footprint": Counter(
        "sectors",
        "distinct 32-byte sectors of global memory that the launch loads, each counted at the "
        "access that loads it first",
        "dram__sectors_read.sum, if the caches are cold and evict nothing that is read again",
    ),
    "global_store_footprint": Counter(
        "sectors",
        "distinct sectors that the launch stores to or does atomics on, each counted at the "
        "access that does so first",
        "dram__sectors_write.sum, if the caches write each back once",
    ),
    "global_block_footprint": Counter(
        "sectors",
        "distinct sectors that a block loads, stores to or does atomics on, summed over blocks",
        "none",
    ),
    **_shared("load", "ld"),
    **_shared("store", "st"),
    **_shared("atomic", "atom"),
    "constant_requests": Counter(
        "requests",
        "warp-level reads of constant memory",
        "smsp__inst_executed_op_ldc.sum",
        "an instruction takes an operand at a fixed address in constant memory without a load",
    ),
    "constant_passes": Counter(
        "passes", "distinct addresses in those requests: each takes its own pass", "none"
    ),
    "local_requests": Counter(
        "requests",
        "warp-level accesses to local arrays",
        "smsp__inst_executed_op_local.sum",
        "a compiler keeps small local arrays in registers",
    ),
    "warp_steps": Counter(
        "statements",
        "statements that warps execute, counted once per warp",
        "smsp__inst_executed.sum",
        "the tool counts machine instructions, several per statement",
    ),
    "thread_steps": Counter(
        "statements",
        "statements that threads execute",
        "smsp__thread_inst_executed.sum",
        "as for warp_steps",
    ),
    "branches": Counter(
        "branches",
        "conditions of `if` and `while` that warps evaluate",
        "smsp__sass_branch_targets.sum",
        _PREDICATED,
    ),
    "divergent_branches": Counter(
        "branches",
        "branches at which the lanes of the warp diverge",
        "smsp__sass_branch_targets_threads_divergent.sum",
        _PREDICATED,
    ),
    "barriers": Counter(
        "barriers", "barriers that warps reach", "smsp__inst_executed_op_barrier.sum"
    ),
    "dependent_trips": Counter(
        "loads",
        "loads of global memory, and atomics whose result is used, in the longest chain of a warp, "
        "summed over warps: the address of each, or a condition under which it is made, depends on "
        "the one before, or a barrier between them waits for its value to be in shared memory",
        "none",
        "all parts of a condition and of a conditional expression are taken to be evaluated; what "
        "is loaded from memory that the launch has written depends on the loads of its own thread "
        "only; a lane gets the depth of the whole warp from a shuffle",
    ),
    "shuffles": Counter(
        "instructions",
        "shuffles, votes and matches of warps, counted once per warp",
        "smsp__sass_thread_inst_executed_op_inter_thread_communication_pred_on.sum",
        "the tool counts the threads, and other exchanges of a warp with them",
    ),
    "atomic_serial": Counter(
        "updates",
        "updates of one address that are serialized, summed over requests",
        "lts__t_sectors_op_atom.sum (only in ratio)",
        "the hardware may first combine the updates of a warp",
    ),
    "atomic_contention": Counter(
        "updates",
        "largest number of updates of one element in the launch (shared memory: in a block)",
        "none",
    ),
    "flops_float16": Counter(
        "operations",
        "arithmetic on float16",
        "smsp__sass_thread_inst_executed_op_hadd_pred_on.sum, hmul, 2 * hfma",
    ),
    "flops_float32": Counter(
        "operations",
        "arithmetic on float32",
        "smsp__sass_thread_inst_executed_op_fadd_pred_on.sum, fmul, 2 * ffma",
        "functions such as exp become several instructions",
    ),
    "flops_float64": Counter(
        "operations",
        "arithmetic on float64",
        "smsp__sass_thread_inst_executed_op_dadd_pred_on.sum, dmul, 2 * dfma",
        "functions such as exp become several instructions",
    ),
    "operations_integer": Counter(
        "operations",
        "operators and comparisons of integers that threads evaluate, min, max, abs and functions "
        "of bits such as popc, and two per iteration of a `for` over a range",
        "smsp__sass_thread_inst_executed_op_integer_pred_on.sum",
        "addresses of elements take more; a division takes about 20; a compiler unrolls loops and "
        "evaluates once what is the same in each iteration or thread",
    ),
    "operations_special": Counter(
        "operations",
        "operations of the special function units: one per division of floats, sqrt, rsqrt, exp, "
        "log, sin, cos, erf and inverse trigonometric function; two per pow, tan, cbrt, gamma and "
        "hyperbolic function",
        "smsp__inst_executed_pipe_xu.sum",
        "the tool counts warps, and conversions with them; functions without fastmath, and all of "
        "float64, replace some of these operations by polynomials",
    ),
}

# Counters that are merged by their maximum, not their sum.
LARGEST = frozenset(["atomic_contention"])


class Ratio(NamedTuple):
    """A quotient of counters, and the metric it models."""

    unit: str
    what: str
    metric: str


RATIOS: dict[str, Ratio] = {
    "sectors_per_request": Ratio(
        "sectors",
        "32-byte sectors per global request; 4 is ideal for 4-byte elements",
        "l1tex__average_t_sectors_per_request_pipe_lsu_mem_global_op_ld.ratio",
    ),
    "bytes_used": Ratio(
        "percent",
        "fraction of the moved bytes that threads requested; above 100 where they share",
        "smsp__sass_average_data_bytes_per_sector_mem_global_op_ld.pct",
    ),
    "wavefronts_per_request": Ratio(
        "wavefronts",
        "wavefronts per shared-memory request",
        "l1tex__data_pipe_lsu_wavefronts_mem_shared.sum / smsp__inst_executed_op_shared.sum",
    ),
    "lanes_per_step": Ratio(
        "lanes",
        "active lanes per statement of a warp; 32 without divergence",
        "smsp__thread_inst_executed_per_inst_executed.ratio",
    ),
    "branch_efficiency": Ratio(
        "percent",
        "fraction of the branches at which the lanes of a warp agree",
        "smsp__sass_average_branch_targets_threads_uniform.pct",
    ),
    "intensity": Ratio(
        "operations per byte",
        "floating-point operations per byte moved from global memory",
        "the x axis of Nsight Compute's roofline",
    ),
}


@dataclass
class Counts:
    """Counters by name, `counts["barriers"]`; a counter that was not recorded is 0."""

    values: dict[str, int] = field(default_factory=dict)

    def add(self, name: str, value: int) -> None:
        """Add to a counter, or take the maximum where it keeps that."""
        if value:
            old = self.values.get(name, 0)
            self.values[name] = max(old, value) if name in LARGEST else old + value

    def merge(self, other: Counts) -> None:
        """Add all counters of another location."""
        for name, value in other.values.items():
            self.add(name, value)

    def __getitem__(self, name: str) -> int:
        if name not in COUNTERS:
            raise KeyError(f"unknown counter {name!r}; expected one of {', '.join(COUNTERS)}")
        return self.values.get(name, 0)

    def _sum(self, *names: str) -> int:
        return sum(self.values.get(n, 0) for n in names)

    def ratio(self, name: str) -> float | None:
        """Return a ratio of RATIOS, None where nothing of its kind was counted."""
        top, bottom, scale = self._parts(name)
        return scale * top / bottom if bottom else None

    def _parts(self, name: str) -> tuple[float, float, float]:
        ops = ("load", "store", "atomic")
        requests = self._sum(*(f"global_{o}_requests" for o in ops))
        if name == "sectors_per_request":
            return self._sum(*(f"global_{o}_sectors" for o in ops)), requests, 1
        if name == "bytes_used":
            return self._sum("global_bytes_asked"), self._sum("global_bytes_moved"), 100
        if name == "wavefronts_per_request":
            wavefronts = self._sum(*(f"shared_{o}_wavefronts" for o in ops))
            return wavefronts, self._sum(*(f"shared_{o}_requests" for o in ops)), 1
        if name == "lanes_per_step":
            return self._sum("thread_steps"), self._sum("warp_steps"), 1
        if name == "branch_efficiency":
            branches = self._sum("branches")
            return branches - self._sum("divergent_branches"), branches, 100
        if name == "intensity":
            return self.flops, self._sum("global_bytes_moved"), 1
        raise KeyError(f"unknown ratio {name!r}; expected one of {', '.join(RATIOS)}")

    @property
    def flops(self) -> int:
        """All operations on floats."""
        return self._sum("flops_float16", "flops_float32", "flops_float64")

    def as_dict(self) -> dict[str, float | int | None]:
        """Return counters and ratios as plain data."""
        ratios = {name: self.ratio(name) for name in RATIOS}
        return {**{name: self.values.get(name, 0) for name in COUNTERS}, **ratios}
