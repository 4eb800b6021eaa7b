"""`cuda.vectorize` and `cuda.guvectorize`: array functions made from a function of elements.

A call is the launch of a kernel (`ufunc_kernels`), with the rules of the CUDA target: types
must match one of the signatures, device arrays in give device arrays out, `stream=` is accepted.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpukit import errors
from gpukit.cpu.dispatcher import Configured
from gpukit.cpu.memory.arrays import as_cuda_array, device_array, is_cuda_array
from gpukit.cpu.memory.contiguity import is_cuda_ndarray
from gpukit.cpu.ufuncs import kernels, loops
from gpukit.cpu.ufuncs.axes import Layout, broadcast
from gpukit.cpu.ufuncs.loops import Dtypes, Signature

Array = NDArray[Any]
_TARGETS = (None, "cuda", "gpukit", "cpu")


@dataclass
class Call:
    """One call of an array function: a launch, if there are elements, and what follows it."""

    launch: Configured | None
    arguments: list[Any]
    finish: Callable[[], Any]  # returns what the call returns


class ArrayFunction:
    """What both kinds of array functions share: the Python function, its signatures, its call."""

    def __init__(self, func: Any, signatures: list[Signature], nin: int, result: bool) -> None:
        self.py_func = getattr(func, "py_func", func)
        self.__name__ = self.py_func.__name__
        self.__doc__ = self.py_func.__doc__
        self.nin = nin
        self.loops = {loops.dtypes(args): args for args, _ in signatures}
        count = len(signatures[0][0])
        self._kernels = kernels.Kernels(self.py_func, count, nin, result)

    def prepare(self, *args: Any, out: Any = None, stream: Any = 0) -> Call:
        """Return the launch that a call with these arguments makes."""
        raise NotImplementedError

    def __call__(self, *args: Any, out: Any = None, stream: Any = 0) -> Any:
        """Apply the function; `out` is a host or device array to write to, or several."""
        __tracebackhide__ = True
        call = self.prepare(*args, out=out, stream=stream)
        if call.launch is not None:
            call.launch(*call.arguments)
        return call.finish()

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.py_func.__qualname__}>"


def _array(value: Any) -> Any:
    """Return an argument as a NumPy array or a device array of ours."""
    if is_cuda_ndarray(value):
        return value
    return as_cuda_array(value) if is_cuda_array(value) else np.asarray(value)


def _host(array: Any) -> Array:
    return array.host if is_cuda_ndarray(array) else array  # type: ignore[no-any-return]


class _Output:
    """An array that a call writes: the kernel gets its `buffer`."""

    def __init__(
        self,
        given: Any,
        shape: tuple[int, ...],
        dtype: np.dtype[Any],
        make: Callable[..., Any],
        empty: bool = False,
    ) -> None:
        """`given` is the caller's array, or None for `make(shape, dtype)`.

        With `empty` its contents are not copied to the device: the results are only copied back.
        """
        self.given = given is not None
        self.array = _array(given) if self.given else make(shape, dtype)
        host = _host(self.array)
        if host.shape != shape:
            raise ValueError(f"output shape mismatch: expected {shape}, got {host.shape}.")
        self.buffer = host
        if self.given and empty:
            self._device = device_array(shape, dtype)  # kept alive as long as its buffer is used
            self.buffer = self._device.host
        elif host.dtype != dtype or not host.flags.c_contiguous:
            with np.errstate(invalid="ignore"):  # its contents may be anything
                self.buffer = host.astype(dtype, order="C")

    def finish(self, on_device: bool) -> Any:
        """Return the caller's result."""
        host = _host(self.array)
        if self.buffer is not host:
            np.copyto(host, self.buffer, casting="unsafe")
        if self.given or on_device:
            return self.array
        return host if host.shape else host[()]


def _outputs_of(out: Any, positional: Sequence[Any], count: int) -> list[Any]:
    """Return the caller's outputs; None for each that is missing."""
    if out is None:
        return list(positional) or [None] * count
    return list(out) if isinstance(out, (tuple, list)) else [out]


def _on_device(array: Any, dtype: np.dtype[Any]) -> Array:
    """Return an input for the kernel: a copy of a host array, which is not copied back."""
    if not is_cuda_ndarray(array):
        return array.astype(dtype)  # type: ignore[no-any-return]
    if array.dtype != dtype:
        raise TypeError(
            "compatible signature is possible by casting but DeviceNDArray does not support "
            f".astype(): make it a {dtype} array before the copy to the device"
        )
    return _host(array)


class UFunc(ArrayFunction):
    """A function of arrays, elementwise with broadcasting; made by `cuda.vectorize`."""

    def __init__(self, func: Any, signatures: list[Signature]) -> None:
        super().__init__(func, signatures, nin=len(signatures[0][0]), result=True)
        self._declared = {loops.dtypes(args): result for args, result in signatures}
        self._results: dict[Dtypes, np.dtype[Any]] = {}

    def prepare(self, *args: Any, out: Any = None, stream: Any = 0) -> Call:
        """Return the launch that a call with these arguments makes."""
        if len(args) not in (self.nin, self.nin + 1):
            raise TypeError(f"{self.__name__}: expected {self.nin} arguments, got {len(args)}")
        given = _outputs_of(out, args[self.nin :], 1)[0]
        values = [a if loops.is_number(a) else _array(a) for a in args[: self.nin]]
        loop = loops.exact(self.__name__, values, list(self.loops))
        hosts = [
            np.asarray(v, d) if loops.is_number(v) else _host(v)
            for v, d in zip(values, loop, strict=True)
        ]
        device = any(map(is_cuda_ndarray, values))
        shapes = [h.shape for h in hosts] + ([] if given is None else [np.shape(given)])
        shape = shapes[0] if len(set(shapes)) == 1 else np.broadcast_shapes(*shapes)
        make = partial(device_array, stream=stream) if device else np.empty
        output = _Output(given, shape, self._result_of(loop), make)
        finish = partial(output.finish, device)
        if not output.buffer.size:
            return Call(None, [], finish)
        grid = broadcast([*(h.shape for h in hosts), shape])
        if grid is None:
            hosts = [np.broadcast_to(h, shape) for h in hosts]
            grid = broadcast([shape] * (self.nin + 1))
            assert grid is not None  # equal shapes are one axis
        uses = tuple(map(kernels.broadcast, grid.full[: self.nin]))
        laid = [_laid(h, grid.sizes, full) for h, full in zip(hosts, grid.full, strict=False)]
        launch = self._kernels.configured(uses, grid.sizes, stream)
        return Call(launch, [*laid, output.buffer.reshape(grid.sizes)], finish)

    def _result_of(self, loop: Dtypes) -> np.dtype[Any]:
        """Return the type of the result, inferred where the signature does not give it."""
        if loop not in self._results:
            result = self._declared[loop] or self._kernels.result_type(self.loops[loop])
            self._results[loop] = loops.dtypes([result])[0]
        return self._results[loop]

    def reduce(self, arg: Any, stream: Any = 0) -> Any:
        """Combine all elements of a 1-D array with this function of two arguments.

        In the order of the CUDA target: one half with the other, until one element is left.
        """
        array = _host(_array(arg))
        if self.nin != 2:
            raise ValueError(f"{self.__name__}.reduce: must be a binary ufunc")
        if array.ndim != 1:
            raise ValueError(f"{self.__name__}.reduce: must use 1d array")
        if array.size == 0:
            raise TypeError("Reduction on an empty array.")
        return array.dtype.type(self._fold(array, stream)[0])

    def _fold(self, array: Array, stream: Any) -> Array:
        half = array.size // 2
        if array.size == 1:
            return array
        if array.size % 2:
            return np.atleast_1d(self(self._fold(array[:-1], stream), array[-1:], stream=stream))
        return self._fold(self(array[:half], array[half:], stream=stream), stream)


def _laid(array: Array, sizes: tuple[int, ...], full: tuple[bool, ...]) -> Any:
    """Return an array with the axes of a grid, of length 1 where it does not have them."""
    if not any(full):
        return array.reshape(-1)[0]
    own = tuple(n if has else 1 for n, has in zip(sizes, full, strict=True))
    return np.ascontiguousarray(array).reshape(own)


class GUFunc(ArrayFunction):
    """A function of subarrays, applied over all other axes; made by `cuda.guvectorize`."""

    def __init__(self, func: Any, signatures: list[Signature], layout: str) -> None:
        self.layout = Layout(layout)
        for args, _ in signatures:
            self.layout.check(args)
        super().__init__(func, signatures, nin=len(self.layout.inputs), result=False)
        self.nout = len(self.layout.outputs)

    def _check_count(self, args: Sequence[Any], out: Any) -> None:
        def words(n: int) -> str:
            return f"{n} positional argument{'s' * (n != 1)}"

        if out is not None and len(args) > self.nin:
            raise ValueError("cannot specify argument 'out' as both positional and keyword")
        if len(args) not in (self.nin, self.nin + self.nout):
            raise TypeError(
                f"This gufunc accepts {words(self.nin)} (when providing input only) or "
                f"{words(self.nin + self.nout)} (when providing input and output). "
                f"Got {words(len(args))}."
            )

    def prepare(self, *args: Any, out: Any = None, stream: Any = 0) -> Call:
        """Return the launch that a call with these arguments makes."""
        self._check_count(args, out)
        inputs = [_array(a) for a in args[: self.nin]]
        dtypes = [a.dtype for a in inputs]
        loop = loops.castable(self.__name__, dtypes, list(self.loops))
        hosts = [_on_device(a, d) for a, d in zip(inputs, loop, strict=False)]
        plan = self.layout.schedule([h.shape for h in hosts])
        device = any(map(is_cuda_ndarray, inputs))
        given = _outputs_of(out, args[self.nin :], self.nout)
        empty = not device and not any(map(is_cuda_array, given))
        make = partial(device_array, stream=stream)
        outputs = [
            _Output(array, (*plan.loop, *shape), dtype, make, empty)
            for array, shape, dtype in zip(given, plan.outputs, loop[self.nin :], strict=True)
        ]

        def finish() -> Any:
            results = [o.finish(device) for o in outputs]
            return results[0] if len(results) == 1 else tuple(results)

        if not all(o.buffer.size for o in outputs):
            return Call(None, [], finish)
        shared = (*plan.shared, *(False for _ in outputs))
        arrays = [*hosts, *(o.buffer for o in outputs)]
        every = list(zip(arrays, self.loops[loop], self.layout.axes, shared, strict=True))
        uses = tuple(_use(kind, axes, one) for _, kind, axes, one in every)
        launch = self._kernels.configured(uses, (plan.rounds,), stream)
        return Call(launch, [_rows(*each, plan.rounds) for each in every], finish)


def _use(kind: Any, axes: int, shared: bool) -> str:
    """Return which part of an argument a thread gets; a type with one more axis gets length 1."""
    if shared:
        return kernels.WHOLE
    one = axes == 0 and hasattr(kind, "ndim")
    return kernels.SLICE if one else kernels.EACH


def _rows(array: Array, kind: Any, axes: int, shared: bool, rounds: int) -> Any:
    """Return an argument for its kernel: subarrays along one axis, or the shared one."""
    core = array.shape[array.ndim - axes :]
    if not shared:
        return array.reshape(rounds, *core)
    if axes == 0:
        return array.reshape(1) if hasattr(kind, "ndim") else array.reshape(1)[0]
    return array.reshape(core)


def vectorize(ftylist_or_function: Any = (), **kws: Any) -> Callable[[Any], UFunc]:
    """Make an elementwise function of arrays from a function of scalars.

    `@cuda.vectorize(["float32(float32, float32)"])`, or with Numba types, as in CUDA.
    """
    _check_target("vectorize", kws)
    kws.pop("identity", None)  # the result for no elements; an empty reduction raises
    if kws.pop("cache", False):
        raise TypeError("caching is not supported")
    if kws.pop("nopython", None) is not None:
        message = "nopython kwarg for cuda target is redundant"
        warnings.warn(message, RuntimeWarning, stacklevel=2)
    if kws:
        raise KeyError(
            f"Unrecognized options. cuda vectorize target does not support option: {sorted(kws)}"
        )
    signatures = loops.read(ftylist_or_function, "vectorize")
    return lambda func: UFunc(func, signatures)


def guvectorize(ftylist: Any, signature: str, **kws: Any) -> Callable[[Any], GUFunc]:
    """Make a function of arrays from a function of subarrays.

    `@cuda.guvectorize(["void(float32[:], float32[:])"], "(n)->()")`; the function writes its
    results into its last arguments.
    """
    _check_target("guvectorize", kws)
    if kws.pop("nopython", True) is not True:
        raise TypeError("nopython flag must be True")
    kws.pop("identity", None)
    if kws.pop("cache", False):
        raise TypeError("caching is not supported")
    if kws:
        names = ", ".join(repr(k) for k in kws)
        raise TypeError(f"The following target options are not supported: {names}")
    signatures = loops.read(ftylist, "guvectorize")
    for args, result in signatures:
        if result is not None and str(result) != "none":
            raise TypeError(
                f"guvectorized functions cannot return values: signature {args} -> {result} "
                f"specifies {result} return type"
            )
    return lambda func: GUFunc(func, signatures, signature)


def _check_target(name: str, kws: dict[str, Any]) -> None:
    wanted = kws.pop("target", None)
    if wanted not in _TARGETS:
        raise errors.ArgumentError(f"{name}: expected target 'cuda', got {wanted!r}")
