"""The intrinsics: names such as `cuda.grid` that are only valid inside a kernel.

Each is a marker object. The compiler resolves a name in a kernel by the object it is bound to,
never by its spelling, so `cuda.grid`, `from gpukit.cuda import grid` and
`import gpukit.cuda as c; c.grid` are all the same.
"""

from __future__ import annotations

import sys
from types import ModuleType, SimpleNamespace
from typing import Any, NoReturn

from gpukit import errors


class Intrinsic:
    """A function or value that exists only inside a kernel, for example `cuda.syncthreads`."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.__name__ = name.rpartition(".")[2]
        self.__qualname__ = self.__name__

    def __call__(self, *args: Any, **kwargs: Any) -> NoReturn:
        raise errors.TargetError(
            f"cuda.{self.name} was called on the host. It only works inside a function "
            "decorated with @cuda.jit, when that is launched as kernel[grid, block](...)."
        )

    def __repr__(self) -> str:
        return f"<cuda.{self.name}: for use inside kernels>"


class Dim3(Intrinsic):
    """A triple of indices or sizes such as `cuda.threadIdx`."""

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.x = Intrinsic(f"{name}.x")
        self.y = Intrinsic(f"{name}.y")
        self.z = Intrinsic(f"{name}.z")


DIM3_NAMES = ("threadIdx", "blockIdx", "blockDim", "gridDim")
ATOMIC_NAMES = (
    "add",
    "sub",
    "and_",
    "or_",
    "xor",
    "inc",
    "dec",
    "exch",
    "max",
    "min",
    "nanmax",
    "nanmin",
    "compare_and_swap",
    "cas",
)
BARRIER_NAMES = ("syncthreads", "syncthreads_count", "syncthreads_and", "syncthreads_or")
SHUFFLE_NAMES = (
    "shfl_sync",
    "shfl_up_sync",
    "shfl_down_sync",
    "shfl_xor_sync",
    "shfl_sync_intrinsic",
)
VOTE_NAMES = (
    "all_sync",
    "any_sync",
    "eq_sync",
    "ballot_sync",
    "vote_sync_intrinsic",
    "match_any_sync",
    "match_all_sync",
    "activemask",
)
FENCE_NAMES = ("threadfence", "threadfence_block", "threadfence_system")
SCALAR_NAMES = (
    "popc",
    "brev",
    "clz",
    "ffs",
    "fma",
    "cbrt",
    "rsqrt",
    "selp",
    "nanosleep",
    "lanemask_lt",
)
FP16_NAMES = (
    "hadd",
    "hsub",
    "hmul",
    "hfma",
    "hneg",
    "habs",
    "hmax",
    "hmin",
    "hdiv",
    "hsin",
    "hcos",
    "hlog",
    "hlog2",
    "hlog10",
    "hexp",
    "hexp2",
    "hexp10",
    "hsqrt",
    "hrsqrt",
    "hrcp",
    "hceil",
    "hfloor",
    "htrunc",
    "hrint",
    "heq",
    "hne",
    "hge",
    "hgt",
    "hle",
    "hlt",
)

_MARKERS: dict[str, Intrinsic] = {}


def _make(name: str) -> Intrinsic:
    marker = Dim3(name) if name in DIM3_NAMES else Intrinsic(name)
    _MARKERS[name] = marker
    return marker


def _namespace(prefix: str, names: tuple[str, ...]) -> SimpleNamespace:
    return SimpleNamespace(**{n: _make(f"{prefix}.{n}") for n in names})


threadIdx, blockIdx, blockDim, gridDim = (_make(n) for n in DIM3_NAMES)
grid, gridsize, laneid, warpsize = (_make(n) for n in ("grid", "gridsize", "laneid", "warpsize"))
syncthreads, syncthreads_count, syncthreads_and, syncthreads_or = (_make(n) for n in BARRIER_NAMES)
syncwarp = _make("syncwarp")
shfl_sync, shfl_up_sync, shfl_down_sync, shfl_xor_sync, shfl_sync_intrinsic = (
    _make(n) for n in SHUFFLE_NAMES
)
(
    all_sync,
    any_sync,
    eq_sync,
    ballot_sync,
    vote_sync_intrinsic,
    match_any_sync,
    match_all_sync,
    activemask,
) = (_make(n) for n in VOTE_NAMES)
threadfence, threadfence_block, threadfence_system = (_make(n) for n in FENCE_NAMES)
popc, brev, clz, ffs, fma, cbrt, rsqrt, selp, nanosleep, lanemask_lt = (
    _make(n) for n in SCALAR_NAMES
)

shared = _namespace("shared", ("array",))
local = _namespace("local", ("array",))
const = _namespace("const", ("array_like",))
atomic = _namespace("atomic", ATOMIC_NAMES)
cg = _namespace("cg", ("this_grid",))
fp16 = _namespace("fp16", FP16_NAMES)

# Namespaces whose attributes are intrinsics; the resolver follows `cuda.shared.array` through them.
NAMESPACES = {
    "shared": shared,
    "local": local,
    "const": const,
    "atomic": atomic,
    "cg": cg,
    "fp16": fp16,
}


def namespace() -> dict[str, Any]:
    """Return everything that `from gpukit import cuda` must have for use inside kernels."""
    names = {n: m for n, m in _MARKERS.items() if "." not in n}
    return {**names, **NAMESPACES}


def installed() -> list[ModuleType]:
    """Return the real CUDA packages imported in this process; their objects are intrinsics, too."""
    found = (sys.modules.get(n) for n in ("numba.cuda", "numba_cuda_mlir.cuda"))
    return [m for m in found if m is not None]


def name_of(obj: Any) -> str | None:
    """Return the canonical name of an intrinsic, such as `"atomic.add"`, or None.

    >>> name_of(syncthreads), name_of(atomic.add), name_of(threadIdx.x), name_of(len)
    ('syncthreads', 'atomic.add', 'threadIdx.x', None)
    """
    if isinstance(obj, Intrinsic):
        return obj.name
    for module in installed():
        for name in _MARKERS:
            first, _, second = name.partition(".")
            theirs = getattr(module, first, None)
            if second:
                theirs = getattr(theirs, second, None)
            if theirs is not None and theirs is obj:
                return name
    return None


def part_of(obj: Any, attribute: str, default: Any) -> Any:
    """Return an attribute of an object in a kernel; for a triple always gpukit's.

    In numba-cuda `threadIdx.x` and `blockIdx.x` are the same property object, so what it refers to
    follows only from the triple.

    >>> part_of(blockIdx, "x", None), part_of(threadIdx, "w", None)
    (<cuda.blockIdx.x: for use inside kernels>, None)
    """
    name = None if isinstance(obj, Intrinsic) else name_of(obj)
    return getattr(_MARKERS[name] if name in DIM3_NAMES else obj, attribute, default)
