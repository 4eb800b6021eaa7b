"""`cuda.vectorize` and `cuda.guvectorize`: array functions made from a function of elements.

They are built on Numba's CPU versions, with the manners of the CUDA ones: types must fit one
of the signatures, device arrays in give device arrays out, `stream=` is accepted.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpukit import errors
from gpukit.cpu import scalar, untouched
from gpukit.cpu.arrays import as_cuda_array, device_array, is_cuda_array
from gpukit.cpu.contiguity import is_cuda_ndarray

Array = NDArray[Any]
Dtypes = tuple[np.dtype[Any], ...]
_TARGETS = (None, "cuda", "gpukit", "cpu")


def _signatures(given: Any, name: str) -> list[Any]:
    """Return signatures of any spelling as Numba signatures."""
    from numba.core import sigutils
    from numba.core.typing.templates import Signature

    if not given or (callable(given) and not hasattr(given, "args")):
        raise errors.ArgumentError(
            f"{name}: expected signatures such as ['float32(float32, float32)'], got none. "
            "The CUDA target needs them; write the types of the arguments and the result."
        )
    many = [given] if isinstance(given, str) or hasattr(given, "args") else list(given)
    found = []
    for one in many:
        # Types of another Numba package (numba-cuda has its own) are told by their names.
        text = str(one) if isinstance(one, Signature) or hasattr(one, "args") else one
        text = text.replace(" -> none", "").replace("none(", "void(") if "->" in str(text) else text
        args, result = sigutils.normalize_signature(_call_form(text) if "->" in str(text) else one)
        found.append(Signature(result, args, None) if result is not None else args)
    return found


def _call_form(text: str) -> str:
    """Turn Numba's printed form `(a, b) -> c` into the form that it reads, `c(a, b)`."""
    args, _, result = text.partition("->")
    return result.strip() + args.strip()


def _host(value: Any) -> tuple[Array, bool]:
    """Return an argument as a NumPy array, and whether it is device memory."""
    if is_cuda_ndarray(value):
        return value.host, True
    if is_cuda_array(value):
        return as_cuda_array(value).host, True
    return np.asarray(value), False


def _fits(rule: Any, have: Sequence[Array], loop: Dtypes) -> bool:
    return all(np.can_cast(a.dtype, d, rule) for a, d in zip(have, loop, strict=False))


def pick_loop(name: str, have: Sequence[Array], loops: Iterable[Dtypes]) -> Dtypes:
    """Return the first signature that the arguments fit: exactly, else safely, else at all."""
    loops = list(loops)
    for rule in ("no", "safe", "same_kind"):
        for loop in loops:
            if _fits(rule, have, loop):
                return loop
    raise TypeError(
        f"{name}: no matching signature for ({', '.join(str(a.dtype) for a in have)}). "
        "Add one to the decorator, or cast the arguments."
    )


def _cast(array: Array, device: bool, dtype: np.dtype[Any]) -> Array:
    if array.dtype == dtype:
        return array
    if device:
        raise TypeError(
            "compatible signature is possible by casting but DeviceNDArray does not support "
            f".astype(): make it a {dtype} array before the copy to the device"
        )
    return array.astype(dtype)


class _Base:
    """What both kinds of array function share: a function, its loops, its call."""

    def __init__(self, func: Any) -> None:
        self.py_func = getattr(func, "py_func", func)
        self.__name__ = self.py_func.__name__
        self.__doc__ = self.py_func.__doc__
        self.loops: list[Dtypes] = []
        self.nin = 0

    def _inputs(self, args: Sequence[Any]) -> tuple[list[Array], Dtypes, bool]:
        pairs = [_host(a) for a in args]
        loop = pick_loop(self.__name__, [a for a, _ in pairs], self.loops)
        cast = [_cast(a, on, d) for (a, on), d in zip(pairs, loop, strict=False)]
        return cast, loop, any(on for _, on in pairs)


def _finish(result: Array, device: bool, stream: Any) -> Any:
    if not device:
        return result
    made = device_array(np.shape(result), np.asarray(result).dtype, stream=stream)
    made.host[...] = result
    untouched.touch(made.host)
    return made


def _outputs_of(out: Any) -> list[Any]:
    if out is None:
        return []
    return list(out) if isinstance(out, (tuple, list)) else [out]


def _given(out: Any) -> Any:
    """Return a caller's output as it is to be returned: as a device array if it is one."""
    return as_cuda_array(out) if is_cuda_array(out) and not is_cuda_ndarray(out) else out


class UFunc(_Base):
    """A function of arrays, elementwise with broadcasting; made by `cuda.vectorize`."""

    def __init__(self, func: Any, signatures: list[Any], identity: Any) -> None:
        super().__init__(func)
        import numba
        from numba.np.numpy_support import as_dtype

        plain = scalar.with_numba_functions(self.py_func)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            self.ufunc = numba.vectorize(signatures, identity=identity)(plain)
        self.nin = len(signatures[0].args)
        self.loops = [tuple(as_dtype(t) for t in s.args) for s in signatures]

    def __call__(self, *args: Any, out: Any = None, stream: Any = 0) -> Any:
        """Apply the function; `out` is a host or device array to write to."""
        outputs = _outputs_of(out) or list(args[self.nin :])
        if len(args) not in (self.nin, self.nin + 1):
            raise TypeError(f"{self.__name__}: expected {self.nin} arguments, got {len(args)}")
        inputs, _, device = self._inputs(args[: self.nin])
        if outputs:
            self.ufunc(*inputs, out=_host(outputs[0])[0], casting="unsafe")
            return _given(outputs[0])
        return _finish(self.ufunc(*inputs), device, stream)

    def reduce(self, arg: Any, stream: Any = 0) -> Any:
        """Combine all elements of a 1-D array with this function of two arguments."""
        array, _ = _host(arg)
        if self.nin != 2:
            raise ValueError(f"{self.__name__}.reduce: must be a binary ufunc")
        if array.ndim != 1:
            raise ValueError(f"{self.__name__}.reduce: must use 1d array")
        if array.size == 0:
            raise TypeError("Reduction on an empty array.")
        return array.dtype.type(self.ufunc.reduce(array, dtype=array.dtype))


class GUFunc(_Base):
    """A function of subarrays, applied over all other axes; made by `cuda.guvectorize`."""

    def __init__(self, func: Any, signatures: list[Any], layout: str) -> None:
        super().__init__(func)
        import numba
        from numba.core import types
        from numba.np.numpy_support import as_dtype

        layout = layout.replace(" ", "")
        ins, _, outs = layout.partition("->")
        self.cores = [part.count(",") + 1 if part else 0 for part in re.findall(r"\((.*?)\)", ins)]
        self.nin, self.nout = len(self.cores), len(re.findall(r"\(", outs))
        every = [s if isinstance(s, tuple) else s.args for s in signatures]
        plain = scalar.with_numba_functions(self.py_func)
        self.gufunc = numba.guvectorize([types.void(*args) for args in every], layout)(plain)
        self.loops = [tuple(as_dtype(getattr(t, "dtype", t)) for t in args) for args in every]

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

    def _scalars_as_scalars(self, inputs: list[Array]) -> list[Array]:
        """Let one-element arrays stand for scalars, where that changes no other shape."""
        loops = [a.ndim - core for a, core in zip(inputs, self.cores, strict=True)]
        rest = max((n for n, core in zip(loops, self.cores, strict=True) if core), default=None)
        if rest is None:
            return inputs
        return [
            a.reshape(()) if not core and a.size == 1 and a.ndim > rest else a
            for a, core in zip(inputs, self.cores, strict=True)
        ]

    def __call__(self, *args: Any, out: Any = None, stream: Any = 0) -> Any:
        """Apply the function; outputs may be given as `out=` or after the inputs."""
        self._check_count(args, out)
        outputs = _outputs_of(out) or list(args[self.nin :])
        inputs, loop, device = self._inputs(args[: self.nin])
        inputs = self._scalars_as_scalars(inputs)
        if not outputs:
            result = self.gufunc(*inputs)
            many = isinstance(result, tuple)
            made = [_finish(r, device, stream) for r in (result if many else (result,))]
            return tuple(made) if many else made[0]
        self._write(inputs, outputs, loop)
        given = [_given(o) for o in outputs]
        return given[0] if len(given) == 1 else tuple(given)

    def _write(self, inputs: list[Array], outputs: list[Any], loop: Dtypes) -> None:
        """Run into the outputs, by way of arrays of the signature's types where theirs differ."""
        targets = [_host(o)[0] for o in outputs]
        direct = [
            t if t.dtype == d else t.astype(d)
            for t, d in zip(targets, loop[self.nin :], strict=True)
        ]
        self.gufunc(*inputs, *direct)
        for target, made in zip(targets, direct, strict=True):
            if target is not made:
                target[...] = made


def vectorize(ftylist_or_function: Any = (), **kws: Any) -> Callable[[Any], UFunc]:
    """Make an elementwise function of arrays from a function of scalars.

    `@cuda.vectorize(["float32(float32, float32)"])`, or with Numba types, as in CUDA.
    """
    _check_target("vectorize", kws)
    identity = kws.pop("identity", None)
    if kws.pop("cache", False):
        raise TypeError("caching is not supported")
    if kws.pop("nopython", None) is not None:
        message = "nopython kwarg for cuda target is redundant"
        warnings.warn(message, RuntimeWarning, stacklevel=2)
    if kws:
        raise KeyError(
            f"Unrecognized options. cuda vectorize target does not support option: {sorted(kws)}"
        )
    signatures = _signatures(ftylist_or_function, "vectorize")
    return lambda func: UFunc(func, signatures, identity)


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
    signatures = _signatures(ftylist, "guvectorize")
    for one in signatures:
        result = getattr(one, "return_type", None)
        if result is not None and str(result) != "none":
            raise TypeError(
                f"guvectorized functions cannot return values: signature {one} specifies "
                f"{result} return type"
            )
    return lambda func: GUFunc(func, signatures, signature)


def _check_target(name: str, kws: dict[str, Any]) -> None:
    wanted = kws.pop("target", None)
    if wanted not in _TARGETS:
        raise errors.ArgumentError(f"{name}: expected target 'cuda', got {wanted!r}")
