"""What a host function takes and returns, in one line that checks, moves, allocates and documents.

    @signature.takes("a: rows cols, x: cols -> rows")
    def matvec(a, x, *, out=None, stream=0):
        matvec_kernel[grid, BLOCK, stream](a, x, out.array)
        return out.get()

Callers pass NumPy, device or foreign arrays, and perhaps `out`. The function gets arrays that a
kernel can read and, for `out`, a `Result`, which lies where the arrays of the caller lie.

A line names arrays, each with its axes, and after `->` the axes of the results. One name is one
size. `...` or `rest...` stands for any number of axes, `3` for itself, `4*h` for four times h.
An array marked `?` may be None; the function writes to one marked `!`. Where the axes of a result
are no axes of an array, the function gets an `Output`, and says the shape: `out.of(shape)`.
"""

from __future__ import annotations

import functools
import inspect
import warnings
from collections.abc import Callable, Collection, Sequence
from typing import Any, NamedTuple, TypeVar

import numpy as np

from gpukit import launch, target
from gpukit.results import Result, check_outs

Dtypes = tuple[type[np.generic], ...]
Function = TypeVar("Function", bound=Callable[..., Any])


class Array(NamedTuple):
    """One array that a signature names: its axes, with None for `many` at the place of `...`."""

    name: str
    axes: tuple[str, ...]
    many: int | None  # which of the axes is any number of them
    ndim: int | None
    multiples: tuple[tuple[str, int, str], ...]  # of the axes: (4*h, 4, h), (3, 3, "")
    dtypes: Dtypes
    known: tuple[np.dtype[Any], ...]
    alike: bool  # it has the dtype of the others
    optional: bool
    written: bool


class Output(NamedTuple):
    """What a Result takes besides its shape, which the host function computes.

    `inputs` are the arrays as they came.
    """

    function: str
    out: Any
    dtype: Any
    inputs: dict[str, Any]
    in_place: bool | Collection[str]
    stream: Any

    def of(self, shape: tuple[int, ...]) -> Result:
        """Return the Result of this shape; raise for an `out` that cannot take it."""
        return Result(shape=shape, **self._asdict())


class Signature:
    """A line that says what a host function takes, as in the docstring of this file.

    Arrays hold float32 or float64, or `dtypes`, all of them the same; what `named` gives for an
    array is its own. Results have the dtype of the arrays, or `dtype`. `out` must lie apart from
    all arrays, but with `in_place` (True, or names) element on element will do. NumPy arrays are
    brought into C order. With layout="C" device arrays must be in it, too; with "strided" NumPy
    arrays keep theirs. `inner` names the axis that a product sums over, and `turn` an array and
    what to advise where exchanging its last axes would make the product possible.
    """

    def __init__(
        self,
        line: str,
        *,
        dtypes: Dtypes = launch.FLOATS,
        dtype: Any = None,
        in_place: bool | Collection[str] = False,
        layout: str = "",
        inner: str = "",
        turn: tuple[str, str] = ("", ""),
        **named: Dtypes,
    ) -> None:
        given, arrow, made = line.partition("->")
        self.arrays = [_array(text, dtypes, named) for text in given.split(",") if text.strip()]
        self.results = [tuple(text.split()) for text in made.split(",")] if arrow else []
        self.dtype, self.in_place, self.layout = dtype, in_place, layout
        self.inner, self.turn = inner, turn
        self.listed = list(self.arrays)  # in the order of the parameters

    def __str__(self) -> str:
        """Return the line as a docstring says it."""
        results = ", ".join(map(_shape_text, self.results))
        named = [
            ", ".join(f"{a.name} {_shape_text(a.axes)}" for a in self.listed if a.dtypes == dtypes)
            + f" of {launch.either(dtypes)}"
            for dtypes in dict.fromkeys(array.dtypes for array in self.listed)
        ]
        return f"Takes {', '.join(named)}" + (f"; returns {results}." if results else ".")

    @property
    def advice(self) -> str:
        """Return what to say to a caller whose shapes do not fit."""
        arrays = ", ".join(f"{array.name} {_shape_text(array.axes)}" for array in self.listed)
        return f"The axes are {arrays}."

    def bind(
        self, function: str, given: Sequence[Any], out: Any = None, stream: Any = 0
    ) -> tuple[list[Any], Any]:
        """Return arrays that kernels can read, and where the results go.

        That is a `Result`, or an `Output` where the shape is open; a list for several.
        Raises TypeError or ValueError, in the words of `function`, for arrays that do not fit.
        """
        sizes: dict[str, Any] = {}
        inputs: dict[str, Any] = {}
        moved: list[Any] = []
        dtype, mixed, on_cpu = None, False, target.active().name != "cuda"
        for spec, array in zip(self.arrays, given, strict=True):
            if array is None and spec.optional:
                moved.append(None)
                continue
            on_host = type(array) is np.ndarray
            if not on_host:
                array = launch.as_array(array)
            ndim = spec.ndim
            known = on_host and array.dtype in spec.known
            if not known or (ndim is not None and ndim != array.ndim):
                launch.check_array(function, spec.name, array, ndim=ndim, dtypes=spec.dtypes)
            name = spec.name
            inputs[name] = array
            self._match(function, spec, array, sizes, inputs)
            if spec.alike:
                dtype = dtype or array.dtype
                mixed = mixed or array.dtype != dtype
            if spec.written:
                launch.check_writeable(function, name, array)
            stays = on_host and on_cpu and (self.layout == "strided" or array.flags.c_contiguous)
            moved.append(array if stays else self._moved(function, name, array, stream))
        if mixed:
            alike = {a.name: inputs[a.name] for a in self.listed if a.alike and a.name in inputs}
            launch.check_same_dtype(function, **alike)
        return moved, self._results(function, out, self.dtype or dtype, sizes, inputs, stream)

    def _match(
        self, function: str, spec: Array, array: Any, sizes: dict[str, Any], inputs: dict[str, Any]
    ) -> None:
        """Raise unless the sizes of an array are those that its axes have; note the new ones."""
        for axis, times, of in spec.multiples:
            sizes.setdefault(axis, times * sizes[of] if of else times)
        shape = parts = tuple(array.shape)
        if spec.many is not None:
            behind = len(spec.axes) - spec.many - 1
            if len(shape) < spec.many + behind:
                raise ValueError(
                    f"{function}: expected {spec.name} to have axes {_shape_text(spec.axes)}, got "
                    f"shape {shape}. Reshape it."
                )
            middle = shape[spec.many : len(shape) - behind]
            parts = (*shape[: spec.many], middle, *shape[len(shape) - behind :])
        for axis, size in zip(spec.axes, parts, strict=True):
            if sizes.setdefault(axis, size) != size:
                known = dict(zip(spec.axes, parts, strict=True))
                self._refuse(function, spec, axis, known | sizes, inputs)

    def _refuse(
        self, function: str, spec: Array, axis: str, sizes: dict[str, Any], inputs: dict[str, Any]
    ) -> None:
        """Raise ValueError for an axis that has another size than it has in another array."""
        if axis != self.inner:
            wanted = _shape(spec.axes, sizes)
            launch.check_shape(function, spec.name, inputs[spec.name], wanted, self.advice)
        places = {a.name: a.axes.index(axis) for a in self.arrays if axis in a.axes}
        (first, at), (second, other) = places.items()
        a, b = tuple(inputs[first].shape), tuple(inputs[second].shape)
        turn, advice = self.turn
        turned_a = a[_beside(at, len(a))] if turn == first else a[at]
        turned_b = b[_beside(other, len(b))] if turn == second else b[other]
        raise ValueError(
            f"{function}: expected {first}.shape[{at}] == {second}.shape[{other}], got {a} and "
            f"{b}. {advice if turned_a == turned_b else 'The inner sizes must agree.'}"
        )

    def _moved(self, function: str, name: str, array: Any, stream: Any) -> Any:
        """Return an array where kernels can read it, in the order that the layout asks for."""
        if self.layout == "C":
            launch.check_order(function, name, array)
        return launch.to_device(array, stream, strided=self.layout == "strided")

    def _results(
        self,
        function: str,
        out: Any,
        dtype: Any,
        sizes: dict[str, Any],
        inputs: dict[str, Any],
        stream: Any,
    ) -> Any:
        """Return where the results go: one, or a list of several."""
        results = self.results
        if len(results) == 1:
            return self._result(function, results[0], out, dtype, sizes, inputs, stream)
        outs = check_outs(function, out, len(results))
        return [
            self._result(function, axes, each, dtype, sizes, inputs, stream)
            for axes, each in zip(results, outs, strict=True)
        ]

    def _result(
        self,
        function: str,
        axes: tuple[str, ...],
        out: Any,
        dtype: Any,
        sizes: dict[str, Any],
        inputs: dict[str, Any],
        stream: Any,
    ) -> Any:
        """Return where one result goes: as an Output where a size is open."""
        try:
            shape = _shape(axes, sizes)
        except KeyError:
            return Output(function, out, dtype, inputs, self.in_place, stream)
        return Result(function, out, shape, dtype, inputs, in_place=self.in_place, stream=stream)


def takes(line: str, **options: Any) -> Callable[[Function], Function]:
    """Return a decorator for a host function that takes what the line says; see `Signature`.

    The arrays are parameters by their names, `out` and `stream` are keywords. What is written to
    (`!`) is brought back to the array of the caller when the function returns.
    """
    signature = Signature(line, **options)

    def decorate(function: Function) -> Function:
        name, parameters = function.__name__, list(inspect.signature(function).parameters)
        places = [_Place(parameters.index(a.name), a.name, a.optional) for a in signature.arrays]
        signature.listed.sort(key=lambda array: parameters.index(array.name))
        has_out = "out" in parameters
        count = len(places)
        in_front = [at for at, _, _ in places] == list(range(count))
        written = [k for k, array in enumerate(signature.arrays) if array.written]

        @functools.wraps(function)
        def checked(*args: Any, **kwargs: Any) -> Any:
            _rename(name, kwargs)
            stream = kwargs.get("stream", 0)
            in_order = in_front and len(args) >= count  # the most frequent, quickly
            given = args[:count] if in_order else _gathered(places, args, kwargs)
            if given is None:
                return function(*args, **kwargs)  # Python says which is missing
            moved, out = signature.bind(name, given, kwargs.get("out"), stream)
            args = (*moved, *args[count:]) if in_order else _put_back(places, args, kwargs, moved)
            if has_out:
                kwargs["out"] = out
            made = function(*args, **kwargs)
            for k in written:
                if moved[k] is not given[k]:
                    launch.bring_back(launch.as_array(given[k]), moved[k], stream)
            return made

        paragraphs = inspect.cleandoc(function.__doc__ or "").split("\n\n", 1)
        checked.__doc__ = "\n\n".join((paragraphs[0], str(signature), *paragraphs[1:]))
        return checked  # type: ignore[return-value]

    return decorate


class _Place(NamedTuple):
    """Where the parameters of a host function have an array that its signature names."""

    at: int
    name: str
    optional: bool


def _gathered(
    places: list[_Place], args: tuple[Any, ...], kwargs: dict[str, Any]
) -> list[Any] | None:
    """Return the arrays that a call passes, in the order of its signature; None if one lacks."""
    given: list[Any] = []
    for at, name, optional in places:
        if at < len(args):
            given.append(args[at])
        elif name in kwargs or optional:
            given.append(kwargs.get(name))
        else:
            return None
    return given


def _put_back(
    places: list[_Place], args: tuple[Any, ...], kwargs: dict[str, Any], moved: list[Any]
) -> tuple[Any, ...]:
    """Return positional arguments with arrays in their places; put the others into the keywords."""
    positional = list(args)
    for (at, name, _), array in zip(places, moved, strict=True):
        if at < len(args):
            positional[at] = array
        else:
            kwargs[name] = array
    return tuple(positional)


def takes_old_names(function: Function) -> Function:
    """Let a host function that declares nothing by `takes` have `variant=` by its old name, too."""

    @functools.wraps(function)
    def renamed(*args: Any, **kwargs: Any) -> Any:
        _rename(function.__name__, kwargs)
        return function(*args, **kwargs)

    return renamed  # type: ignore[return-value]


def _rename(function: str, keywords: dict[str, Any]) -> None:
    """Give a keyword `rung` its new name, `variant`; the old one goes with the next release."""
    if "rung" in keywords:
        warnings.warn(
            f"{function}: rung= is now called variant=. Write variant={keywords['rung']!r}.",
            DeprecationWarning,
            stacklevel=3,
        )
        keywords["variant"] = keywords.pop("rung")


def _array(text: str, dtypes: Dtypes, named: dict[str, Dtypes]) -> Array:
    """Return what one part of a line says: `name: axes`."""
    marked, _, written = text.partition(":")
    name = marked.strip().rstrip("?!")
    axes = tuple(written.split())
    many = [at for at, axis in enumerate(axes) if axis.endswith("...")]
    own = named.get(name, dtypes)
    return Array(
        name,
        axes,
        many[0] if many else None,
        None if many else len(axes),
        tuple(filter(None, map(_multiple, axes))),
        own,
        tuple(map(np.dtype, own)),
        alike=name not in named,
        optional="?" in marked,
        written="!" in marked,
    )


def _multiple(axis: str) -> tuple[str, int, str] | None:
    times, _, of = axis.partition("*")
    return (axis, int(times), of) if times.isdigit() else None


def _shape(axes: tuple[str, ...], sizes: dict[str, Any]) -> tuple[int, ...]:
    """Return the sizes of axes, with those of `...` among them."""
    shape: tuple[int, ...] = ()
    for axis in axes:
        size = sizes[axis]
        shape += size if type(size) is tuple else (size,)
    return shape


def _shape_text(axes: tuple[str, ...]) -> str:
    return f"({', '.join(axes)}{',' * (len(axes) == 1)})"


def _beside(at: int, ndim: int) -> int:
    """Return which of the last two axes the other one is."""
    return 2 * ndim - 3 - at
