"""Registers a thread of a kernel, from a real GPU compile on a machine that need have no GPU.

NVIDIA's compilers come as Python packages (the extras `cuda12` and `cuda13`) and need neither
GPU nor driver: NVVM makes PTX of the kernel, nvJitLink makes machine code and says how many
registers it uses. That runs in a process of its own (`registers/child.py`), because in this
process `cuda` may mean gpukit, in the kernel's globals and, after `standin.install()`, everywhere.
So the function is taken apart here: its code, what its names stand for, its arguments' types.

Nsight Compute calls the number `launch__registers_per_thread`. It depends on the compute
capability and on the compilers' version, so `Registers.tool` is to be shown beside it.
"""

from __future__ import annotations

import functools
import importlib.util
import json
import marshal
import os
import pickle
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from types import CodeType, FunctionType, ModuleType
from typing import Any

from gpukit.checked.gpus import GPUS
from gpukit.compiler import intrinsics
from gpukit.cpu import marshal as arguments_of

CHILD = Path(__file__).with_name("child.py")
CAPABILITIES = tuple(sorted({gpu.capability for gpu in GPUS.values()}))
_INSTALL = "on Linux or Windows: python -m pip install 'gpukit[cuda13]'"
_SECONDS = 300
# Options of cuda.jit that change the machine code.
_OPTIONS = ("fastmath", "opt", "launch_bounds", "max_registers")


@dataclass(frozen=True)
class Registers:
    """What the compile for one compute capability said; `count` is None where `reason` says why.

    `spilled` are the bytes a thread that did not fit in registers, `stack` its local memory.
    """

    count: int | None
    reason: str = ""
    spilled: int = 0
    stack: int = 0
    tool: str = ""


def registers(
    kernel: Any, arguments: Sequence[Any], capability: tuple[int, int] = (9, 0)
) -> Registers:
    """Return the registers a thread of `kernel`, launched with these arguments, on one GPU."""
    return measure(kernel, arguments, [capability])[capability]


def measure(
    kernel: Any,
    arguments: Sequence[Any],
    capabilities: Sequence[tuple[int, int]] = CAPABILITIES,
) -> dict[tuple[int, int], Registers]:
    """Return the registers a thread of `kernel` for each compute capability.

    Takes some seconds for a new kernel; the same one again costs nothing.
    """
    reason = missing()
    if not reason:
        try:
            request = _request(kernel, arguments, capabilities)
        except Exception as error:
            reason = f"the kernel could not be handed to the GPU compiler: {error}"
    if reason:
        return {capability: Registers(None, reason) for capability in capabilities}
    return dict(zip(capabilities, _answers(request, capabilities), strict=True))


def missing() -> str:
    """Return why no GPU compiler is at hand, or nothing where one is."""
    if importlib.util.find_spec("numba_cuda") is None:
        return f"the GPU compiler is not installed; {_INSTALL}"
    return ""


# ---- a kernel as plain data ----------------------------------------------------------------------


def _request(kernel: Any, arguments: Sequence[Any], capabilities: Sequence[Any]) -> bytes:
    function = getattr(kernel, "py_func", kernel)
    given = getattr(kernel, "targetoptions", {})
    kinds = arguments_of.pack(tuple(arguments)).kinds
    taken = _Taken()
    taken.number(function)
    return pickle.dumps(
        {
            "functions": taken.functions,
            "types": tuple(arguments_of.numba_type(kind) for kind in kinds),
            "options": {name: given[name] for name in _OPTIONS if given.get(name) is not None},
            "capabilities": list(capabilities),
        }
    )


class _Taken:
    """Functions taken apart, the kernel first; they refer to each other by number."""

    def __init__(self) -> None:
        self.functions: list[dict[str, Any]] = []
        self.numbers: dict[FunctionType, int] = {}

    def number(self, function: FunctionType) -> int:
        """Return the number of a function, which is taken apart when it is new."""
        if function not in self.numbers:
            self.numbers[function] = len(self.functions)
            made: dict[str, Any] = {}
            self.functions.append(made)
            made.update(self._apart(function))
        return self.numbers[function]

    def _apart(self, function: FunctionType) -> dict[str, Any]:
        scope = function.__globals__
        used = {name: scope[name] for name in _names(function.__code__) if name in scope}
        described = {name: self._describe(value) for name, value in used.items()}
        cells = [self._describe(_content(cell)) for cell in function.__closure__ or ()]
        defaults = [self._describe(value) for value in function.__defaults__ or ()]
        return {
            # The format without back references: those depend on who else holds a constant, and
            # the same kernel must be the same request.
            "code": marshal.dumps(function.__code__, 2),
            "name": function.__name__,
            "globals": {name: value for name, value in described.items() if value is not None},
            "closure": cells,
            "defaults": defaults,
        }

    def _describe(self, value: Any) -> tuple[str, Any] | None:
        """Return what a name stands for as plain data, None where that cannot be said.

        `co_names` holds attributes too, so a global of that name may have nothing to do with
        the kernel: what cannot be said is left out, and the compiler complains if it was needed.
        """
        name = intrinsics.name_of(value) or _room(value)
        if name is not None:
            return "cuda", name
        if isinstance(value, ModuleType):
            return "module", _installed_name(value)
        function = getattr(value, "py_func", value)
        if isinstance(function, FunctionType) and not _of_numpy(function):
            return "function", self.number(function)
        try:
            return "value", pickle.dumps(value)
        except Exception:
            return None


def _content(cell: Any) -> Any:
    try:
        return cell.cell_contents
    except ValueError:  # a name that was never bound
        return None


def _names(code: CodeType) -> set[str]:
    """Return the names that a function uses, those of functions inside it as well."""
    inner = [_names(part) for part in code.co_consts if isinstance(part, CodeType)]
    return {*code.co_names}.union(*inner)


def _room(value: Any) -> str | None:
    return next((name for name, room in intrinsics.ROOMS.items() if room is value), None)


def _of_numpy(function: FunctionType) -> bool:
    return (function.__module__ or "").partition(".")[0] == "numpy"


def _installed_name(module: ModuleType) -> str:
    """Return the module that the GPU compiler has in the place of one of gpukit's."""
    for ours in ("gpukit.cpu", "gpukit.cuda"):
        if module.__name__ == ours or module.__name__.startswith(ours + "."):
            return "numba.cuda" + module.__name__[len(ours) :]
    return module.__name__


# ---- the compile ---------------------------------------------------------------------------------


class _Failed(Exception):
    """The compiler gave no answer; never remembered, so that the next call tries again."""


def _answers(request: bytes, capabilities: Sequence[tuple[int, int]]) -> list[Registers]:
    try:
        return list(_compile(request))
    except _Failed as failure:
        return [Registers(None, str(failure)) for _ in capabilities]


@functools.lru_cache(maxsize=256)
def _compile(request: bytes) -> tuple[Registers, ...]:
    """Hand a kernel to the child process; return its answer for each compute capability."""
    environment = {k: v for k, v in os.environ.items() if k != "NUMBA_ENABLE_CUDASIM"}
    environment["GPUKIT_STANDIN"] = "0"
    try:
        done = subprocess.run(
            [sys.executable, str(CHILD)],
            input=request,
            env=environment,
            capture_output=True,
            timeout=_SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise _Failed(f"the GPU compiler took more than {_SECONDS} seconds") from None
    lines = done.stdout.decode(errors="replace").splitlines()
    if done.returncode or not lines:
        said = done.stderr.decode(errors="replace").strip().splitlines()
        why = said[-1] if said else f"it ended with code {done.returncode}"
        raise _Failed(f"the GPU compiler failed: {why}")
    return tuple(Registers(**answer) for answer in json.loads(lines[-1]))
