"""What the model cannot estimate, and what makes an estimate less certain."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from types import CodeType, FunctionType, ModuleType
from typing import TYPE_CHECKING, Any

from gpukit.compiler import intrinsics
from gpukit.estimates.gpus import Machine
from gpukit.estimates.loops import captured
from gpukit.estimates.model import Times, Work
from gpukit.primitives import async_copy, tensor, warpgroup

if TYPE_CHECKING:
    from gpukit.checked.profile import Profile
    from gpukit.checked.profile.pattern import Pattern

_WAITS = "it waits for another thread"
# Primitives and intrinsics that the model has no rates for.
_PRIMITIVES = (
    (tensor.mma_tf32, "it uses tensor cores"),
    (tensor.mma_bf16, "it uses tensor cores"),
    (warpgroup.wgmma, "it uses tensor cores (wgmma)"),
    (async_copy.copy16, "it copies to shared memory asynchronously (cp.async)"),
)
_INTRINSICS = {
    "atomic.cas": "it compares and swaps, as locks do",
    "atomic.compare_and_swap": "it compares and swaps, as locks do",
    "atomic.exch": "it exchanges atomically, as locks do",
    "nanosleep": _WAITS,
    "cg.this_grid": "it synchronizes the grid",
}
# A request is random where its lanes lie in this many sectors, at this many different distances.
_SCATTERED, _DISTANCES = 16, 5
SHORT = 10e-6
# The fraction of a launch's instructions from which transcendental functions count as many.
_MANY_SPECIAL = 0.1


def reason(profile: Profile, kernel: Any) -> str:
    """Return why a launch has no likely time on any GPU; "" if it has one."""
    if found := unknown(kernel):
        return found
    if profile.remembered is not None and profile.remembered.instrumentation.waits:
        return _WAITS
    for access in profile.accesses:
        if access.space == "global" and access.pattern and _random(access.pattern):
            return f"line {access.line} gathers or scatters at random (`{access.text}`)"
    return ""


def unknown(kernel: Any) -> str:
    """Return what a kernel uses that the model has no rate for; "" for others. Runs nothing."""
    return min(_unknown(kernel), default="")


def _unknown(kernel: Any) -> Iterator[str]:
    """Yield what a kernel uses that the model has no rate for."""
    for name, value in _used(getattr(kernel, "py_func", kernel), set()):
        yield from (words for primitive, words in _PRIMITIVES if value is primitive)
        if name in _INTRINSICS:
            yield _INTRINSICS[name]


def _random(pattern: Pattern) -> bool:
    offsets = pattern.offsets
    distances = {after - before for before, after in pairwise(offsets)}
    return len(pattern.sectors) >= _SCATTERED and len(distances) >= _DISTANCES


def _used(function: Any, seen: set[Any]) -> Iterator[tuple[str, Any]]:
    """Yield what a kernel and its device functions refer to, with the name of an intrinsic."""
    if not isinstance(function, FunctionType) or function in seen:
        return
    seen.add(function)
    names = set(_names(function.__code__))
    values = [function.__globals__[name] for name in names if name in function.__globals__]
    values += captured(function).values()
    spaces = (ModuleType, *map(type, intrinsics.NAMESPACES.values()))
    for space in [value for value in values if isinstance(value, spaces)]:
        inside = _inside(space, names)
        values += inside
        for inner in [value for value in inside if isinstance(value, spaces)]:
            values += _inside(inner, names)
    for value in values:
        yield intrinsics.name_of(value) or "", value
        yield from _used(getattr(value, "py_func", value), seen)


def _inside(space: Any, names: set[str]) -> list[Any]:
    """Return what a namespace holds by these names; modules warn about some that they have not."""
    if isinstance(space, ModuleType):
        return [vars(space)[name] for name in names if name in vars(space)]
    return [getattr(space, name) for name in names if hasattr(space, name)]


def _names(code: CodeType) -> Iterator[str]:
    yield from code.co_names
    for part in code.co_consts:
        if isinstance(part, CodeType):
            yield from _names(part)


def untested(machine: Machine, tested: bool) -> str:
    """Return why a GPU has no likely time; "" if published times cover it."""
    if tested or machine.blind:
        return ""
    return f"no published times for the {machine.name} were compared with estimates"


def uncertain(profile: Profile, work: Work, machine: Machine, times: Times) -> list[str]:
    """Return why the band of an estimate is wide; nothing where it is the usual one."""
    found = [machine.wide] if machine.wide else []
    if times.likely < SHORT:
        found.append("the launch takes less than 10 us")
    if work.blocks * work.warps < machine.gpu.partitions * machine.gpu.sms:
        found.append("there are fewer warps than schedulers")
    if any(access.op == "atomic" and _floats(access.dtype) for access in profile.accesses):
        found.append("atomics on floats")
    if work.special > _MANY_SPECIAL * max(work.instructions, 1):
        found.append("many transcendental functions")
    return found


def _floats(dtype: str) -> bool:
    """Tell whether elements are floats, or records that have some."""
    return "float" in dtype or "'<f" in dtype
