"""Serialise a kernel as plain data, for compilers in another process.

In this process `cuda` may mean gpukit, in the kernel's globals and, after `standin.install()`,
everywhere. So the function is taken apart here: its code, what its names refer to, the types of its
arguments. `child.py` rebuilds it with the real `cuda`.
"""

from __future__ import annotations

import marshal
import pickle
from collections.abc import Sequence
from types import CodeType, FunctionType, ModuleType
from typing import Any

from gpukit.compiler import intrinsics
from gpukit.cpu.launch import marshal as arguments_of

# Options of cuda.jit that change the machine code.
_OPTIONS = ("fastmath", "opt", "launch_bounds", "max_registers")


def describe(
    kernel: Any, arguments: Sequence[Any], capabilities: Sequence[tuple[int | str, ...]]
) -> bytes:
    """Return the request to `child.py` for a kernel launched with these arguments."""
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
        """Return the number of a function; a new one is taken apart."""
        if function not in self.numbers:
            self.numbers[function] = len(self.functions)
            made: dict[str, Any] = {}
            self.functions.append(made)
            made.update(self._apart(function))
        return self.numbers[function]

    def _apart(self, function: FunctionType) -> dict[str, Any]:
        scope, names = function.__globals__, _names(function.__code__)
        used = {name: scope[name] for name in sorted(names) if name in scope}
        described = {name: self._describe(value, names) for name, value in used.items()}
        cells = [self._describe(_content(cell), names) for cell in function.__closure__ or ()]
        defaults = [self._describe(value, names) for value in function.__defaults__ or ()]
        return {
            # Version 2 has no back references: those depend on the reference counts of constants,
            # and the same kernel must be the same request.
            "code": marshal.dumps(function.__code__, 2),
            "name": function.__name__,
            "globals": {name: value for name, value in described.items() if value is not None},
            "closure": cells,
            "defaults": defaults,
        }

    def _describe(self, value: Any, names: set[str]) -> tuple[str, Any] | None:
        """Return the value of a name as plain data, None where it cannot be described.

        `names` are all that the function uses, attributes included. So a global of that name may
        have nothing to do with the kernel: what cannot be described is left out, and the compiler
        reports it if it was needed.
        """
        if hasattr(value, "on_gpu"):  # its implementation for GPUs: a file, and a name in it
            return "file", value.on_gpu
        name = intrinsics.name_of(value) or _namespace(value)
        if name is not None:
            return "cuda", name
        if isinstance(value, ModuleType):
            ours = {n: getattr(value, n) for n in sorted(names) if hasattr(value, n)}
            if any(hasattr(found, "py_func") for found in ours.values()):
                # `collectives.block_sum(...)`: the child must not import a module of gpukit.
                return "namespace", {n: self._describe(found, names) for n, found in ours.items()}
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
    except ValueError:  # an empty cell: the name was never bound
        return None


def _names(code: CodeType) -> set[str]:
    """Return the names that a function and its nested functions use."""
    inner = [_names(part) for part in code.co_consts if isinstance(part, CodeType)]
    return {*code.co_names}.union(*inner)


def _namespace(value: Any) -> str | None:
    return next((name for name, package in intrinsics.NAMESPACES.items() if package is value), None)


def _of_numpy(function: FunctionType) -> bool:
    return (function.__module__ or "").partition(".")[0] == "numpy"


def _installed_name(module: ModuleType) -> str:
    """Return the name of the module that replaces one of gpukit's for the GPU compiler."""
    for ours in ("gpukit.cpu", "gpukit.cuda"):
        if module.__name__ == ours or module.__name__.startswith(ours + "."):
            return "numba.cuda" + module.__name__[len(ours) :]
    return module.__name__
