"""The kernels of array functions: each thread calls the function for one element or subarray.

    def add(x, y, out):
        i = cuda.grid(1)
        if i < out.shape[0]:
            out[i] = function(x[i], y)

They are ordinary kernels, so the function is checked, instrumented and counted.
"""

from __future__ import annotations

import ast
import functools
import inspect
import linecache
from typing import Any

from gpukit.compiler import intrinsics
from gpukit.cpu.device_function import DeviceFunction
from gpukit.cpu.dispatcher import Configured, Kernel

# The part of an argument that a thread passes on; {i} is the thread's index in a 1-D grid.
EACH, SLICE, WHOLE = "{0}[{i}]", "{0}[{i} : {i} + 1]", "{0}"
# The indices in grids of one, two and three axes, the slow axis first.
_PLACES = {1: ("i",), 2: ("row", "col"), 3: ("plane", "row", "col")}
_BLOCK = 256

Uses = tuple[str, ...]


class Kernels:
    """The kernels of one function, one per combination of the parts that its threads pass on.

    With `result` the function returns a value, which the kernels store; without it the function
    writes to its last argument.
    """

    def __init__(self, function: Any, count: int, inputs: int, result: bool) -> None:
        self._read = inputs  # arguments that the function reads
        self._name = function.__name__ if function.__name__.isidentifier() else "lambda_"
        self._inputs = _parameters(function, count)
        self._outputs = [_fresh("out", self._inputs)] if result else []
        self._function = function
        self._device = DeviceFunction(function, [], {})
        self._made: dict[tuple[Any, ...], Kernel] = {}

    def configured(self, uses: Uses, sizes: tuple[int, ...], stream: Any) -> Configured:
        """Return the kernel for one thread per index, ready to be called; one use per argument."""
        key = (*uses, len(sizes))
        if key not in self._made:
            self._made[key] = self._make(uses, _PLACES[len(sizes)])
        *slow, last = sizes
        return self._made[key][(-(-last // _BLOCK), *reversed(slow)), _BLOCK, stream]

    def result_type(self, types: tuple[Any, ...]) -> Any:
        """Return the numba type of the function's result for arguments of these types."""
        return self._device.compile_device(types).signature.return_type

    def _make(self, uses: Uses, places: tuple[str, ...]) -> Kernel:
        names = [*self._inputs, *self._outputs]
        own = {n: _fresh(n, [*names, self._name]) for n in ("cuda", "function", *places)}
        index = [own[p] for p in places]
        passed = ", ".join(u.format(n, **own) for u, n in zip(uses, self._inputs, strict=True))
        store = "".join(f"{out}[{', '.join(index)}] = " for out in self._outputs)
        inside = (f"{i} < {names[-1]}.shape[{axis}]" for axis, i in enumerate(index))
        text = (
            f"def {self._name}({', '.join(names)}):\n"
            f"    {', '.join(reversed(index))} = {own['cuda']}.grid({len(index)})\n"
            f"    if {' and '.join(inside)}:\n"
            f"        {store}{own['function']}({passed})\n"
        )
        scope = {own["cuda"]: intrinsics, own["function"]: self._device}
        made = _defined(self._name, text, scope)
        made.stands_for = self._function  # in messages and profiles
        made.gpukit_passed = {
            n: _kept(u.format(n, **own)) for u, n in zip(uses, self._inputs, strict=True)
        }
        kernel = Kernel(made, [], {})
        kernel.outputs = tuple(names[self._read :])
        return kernel


@functools.cache
def broadcast(full: tuple[bool, ...]) -> str:
    """Return the use of an array: for each axis of the grid, whether it has it or is repeated.

    >>> broadcast((True, False))
    '{0}[{row}, 0]'
    """
    if not any(full):
        return WHOLE
    places = _PLACES[len(full)]
    parts = (f"{{{p}}}" if own else "0" for p, own in zip(places, full, strict=True))
    return f"{{0}}[{', '.join(parts)}]"


def _kept(passed: str) -> tuple[bool, ...]:
    """Return for each axis that a call narrows whether the function's argument still has it.

    >>> _kept("a[row, col]"), _kept("a[i : i + 1]"), _kept("a")
    ((False, False), (True,), ())
    """
    part = getattr(ast.parse(passed, mode="eval").body, "slice", ast.Tuple([]))
    return tuple(isinstance(p, ast.Slice) for p in getattr(part, "elts", [part]))


def _parameters(function: Any, count: int) -> list[str]:
    """Return names for the arguments: the user's own, as far as there are any."""
    positional = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    parameters = inspect.signature(function).parameters.values()
    given = [p.name for p in parameters if p.kind in positional]
    return [given[k] if k < len(given) else _fresh(f"argument_{k}", given) for k in range(count)]


def _fresh(name: str, taken: list[str]) -> str:
    return name if name not in taken else _fresh(f"{name}_", taken)


def _defined(name: str, text: str, scope: dict[str, Any]) -> Any:
    """Return the function that a source text defines; the compiler finds it in `linecache`."""
    file = f"<cuda.vectorize: {text.splitlines()[-1].strip()}>"  # distinguishes the texts
    linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
    exec(compile(text, file, "exec"), scope)
    return scope[name]
