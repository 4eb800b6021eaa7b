"""The GPUs that `gpukit.estimate` knows: the rates of an SM and of its memory.

SMs, boost clock and bandwidth are those of data sheets, or of deviceQuery as the published logs
print it. Load/store units and lanes per SM are those of NVIDIA's white papers: Turing, GA10x and
Ada have 16 load/store units, V100, A100 and H100 32. L2 bytes per cycle: V100 2048, A100 5120
(white papers), H100 and H200 taken for those of the A100, others 32 per slice (64 on Ada).
Latencies and the fraction of the DRAM bandwidth that a copy reaches are in `model`.
"""

from __future__ import annotations

import difflib
import os
import re
from dataclasses import dataclass, replace
from typing import Any

from gpukit import errors
from gpukit.checked import gpus as known
from gpukit.checked.gpus import KB, MB, Gpu

# Per compute capability: load/store units, integer, float64 and special-function lanes of an SM
# (CUDA C++ Programming Guide, throughput of native arithmetic instructions, and white papers).
_LANES = {
    (7, 0): (32, 64, 32, 16),
    (7, 5): (16, 64, 2, 16),
    (8, 0): (32, 64, 32, 16),
    (8, 6): (16, 64, 2, 16),
    (8, 9): (16, 64, 2, 16),
    (9, 0): (32, 64, 64, 16),
}
# What a driver says around the name of a GPU, and of its memory, which tells no two GPUs apart.
_AROUND = frozenset(["nvidia", "geforce", "tesla", "quadro", "gpu", "sxm", "hbm", "gb"])


class UnknownGpu(errors.GpukitError, ValueError):
    """There are no figures for a GPU of this name."""


@dataclass(frozen=True)
class Machine:
    """A GPU as the model sees it: rates of an SM per cycle, and of the whole GPU.

    `clock` is in cycles per second, boosted; `bandwidth` that of DRAM in bytes per second, `l2` the
    bytes of L2, `l2_bytes` what it gives per cycle; the others are load/store units and lanes.
    `like` names the GPU whose published tables cover this one: the same chip. `wide` is why the
    band of its estimates is wide, "" for the usual one. `blind` is the number of times in the
    prototype's blind test where no published table in `benchmarks/data` has this GPU.
    """

    gpu: Gpu
    clock: float
    bandwidth: float
    l2: int
    l2_bytes: int
    float32: int
    load_store: int
    integer: int
    float64: int
    special: int
    like: str = ""
    wide: str = ""
    blind: int = 0

    @property
    def name(self) -> str:
        """The name by which it is asked for."""
        return self.gpu.name


def _machine(gpu: Gpu, l2_bytes: int, **rest: Any) -> Machine:
    assert gpu.clock
    assert gpu.bandwidth
    assert gpu.l2
    lanes = (known.float32_lanes(gpu.capability), *_LANES[gpu.capability])
    return Machine(gpu, gpu.clock, gpu.bandwidth, gpu.l2, l2_bytes, *lanes, **rest)


def _made(
    name: str, limits: dict[str, Any], figures: tuple[Any, ...], l2_bytes: int, **rest: Any
) -> Machine:
    sms, clock, bandwidth, l2 = figures
    gpu = Gpu(name, name, sms=sms, clock=clock * 1e9, bandwidth=bandwidth * 1e9, l2=l2, **limits)
    return _machine(gpu, l2_bytes, **rest)


_UNPROVEN = "{} is not calibrated; errors lean fast"
_A100, _H100 = known.find("A100"), known.find("H100")
_A100_40 = replace(_A100, name="A100 40 GB", product="A100 SXM 40 GB", bandwidth=1555e9)
_SLICE = 32
_ALL = (
    _made("RTX A6000", known.GA10X, (84, 1.80, 768, 6 * MB), 48 * _SLICE),
    _made("RTX 3090", known.GA10X, (82, 1.695, 936, 6 * MB), 48 * _SLICE, like="RTX A6000"),
    _made("RTX 3080", known.GA10X, (68, 1.725, 760, 5 * MB), 40 * _SLICE),
    _made("RTX 3070 Ti", known.GA10X, (48, 1.80, 608, 4 * MB), 32 * _SLICE),
    _made("RTX 3060 Ti", known.GA10X, (38, 1.695, 448, 3 * MB), 32 * _SLICE),
    _made("RTX 3060", known.GA10X, (28, 1.882, 360, 2304 * KB), 24 * _SLICE),
    _made("RTX 3060 Laptop", known.GA10X, (30, 1.282, 288, 3 * MB), 24 * _SLICE),
    _made("RTX 3050 Laptop", known.GA10X, (16, 1.5, 192, 1536 * KB), 16 * _SLICE),
    _made("GTX 1650", known.TURING, (14, 1.62, 192, 1 * MB), 16 * _SLICE),
    _made("RTX 2060", known.TURING, (30, 1.68, 336, 3 * MB), 24 * _SLICE),
    _made("RTX 4060 Laptop", known.ADA, (24, 2.37, 256, 32 * MB), 16 * 2 * _SLICE, blind=1),
    _made("V100", known.VOLTA, (80, 1.53, 900, 6 * MB), 2048, blind=4),
    _machine(_A100_40, 5120, wide=_UNPROVEN.format("the A100")),
    _machine(_A100, 5120, like="A100 40 GB", wide=_UNPROVEN.format("the A100")),
    _machine(_H100, 5120, wide=_UNPROVEN.format("the H100"), blind=1),
    _machine(known.find("H200"), 5120, wide="the H200 was compared with gpukit's kernels alone"),
    # No recorded time and no blind test: the floor alone.
    _machine(known.find("T4"), 32 * _SLICE),
    _machine(known.find("L4"), 24 * 2 * _SLICE),
    _machine(known.find("RTX 4090"), 48 * 2 * _SLICE),
)
MACHINES = {machine.name: machine for machine in _ALL}
USUAL = "RTX 3080"  # where nobody names one
VARIABLE = "GPUKIT_GPU"


def spelt(name: str) -> str:
    """Return a name without what does not tell GPUs apart: case and spaces."""
    return str(name).replace(" ", "").lower()


def named(name: str) -> Machine | None:
    """Return a GPU by its name, ignoring case and spaces; None for an unknown one."""
    return next((one for one in _ALL if spelt(one.name) == spelt(name)), None)


def find(name: str, asker: str = "estimate") -> Machine:
    """Return a GPU by its name as `named` does, or raise UnknownGpu, in the name of `asker`.

    >>> find("rtx3080").gpu.sms
    68
    """
    if machine := named(name):
        return machine
    known_names = {spelt(one): one for one in MACHINES}
    close = difflib.get_close_matches(spelt(name), known_names, n=1)
    guess = f"Did you mean {known_names[close[0]]!r}? " if close else ""
    raise UnknownGpu(
        f"{asker}: expected a GPU, got {name!r}. {guess}Available: {', '.join(MACHINES)}."
    )


class _Choice:
    """The GPU that the reader has chosen in this process."""

    name = ""


def choose(name: str, asker: str) -> None:
    """Choose the GPU of estimates that name none, in this process; raises UnknownGpu."""
    _Choice.name = find(name, asker).name


def chosen() -> str:
    """Return the reader's GPU: the chosen one, else that of GPUKIT_GPU, else an RTX 3080.

    Raises UnknownGpu if GPUKIT_GPU names none.
    """
    return _Choice.name or find(os.environ.get(VARIABLE) or USUAL, VARIABLE).name


def machine_of(device: str, sms: int | None = None) -> Machine | None:
    """Return the GPU that a driver calls `device`; None if there is none.

    Without `sms`, its multiprocessors, only a name with no more than the usual words will do.

    >>> machine_of("NVIDIA H100 80GB HBM3").name, machine_of("NVIDIA RTX A6000", 84).name
    ('H100', 'RTX A6000')
    >>> machine_of("NVIDIA GeForce RTX 3080 Ti"), machine_of("NVIDIA GeForce RTX 3080 Ti", 80)
    (None, None)
    """
    words = _words(device)
    found = [m for m in MACHINES.values() if _words(m.name) <= words and sms in (None, m.gpu.sms)]
    best = max(found, key=lambda machine: len(_words(machine.name)), default=None)
    if best is None or sms is not None:
        return best
    rest = words - _words(best.name) - _AROUND
    return best if all(word.isdigit() for word in rest) else None


def _words(name: str) -> set[str]:
    return set(re.findall(r"[a-z]+|\d+", name.lower()))
