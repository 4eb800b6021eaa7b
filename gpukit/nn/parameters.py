"""Parameters of a model: every weight in one array, every gradient in another.

A layer declares the shapes and the initialization of its parameters. `Parameters` puts them all
into one flat array, of which each layer gets views, so that an optimizer updates a whole model
in one launch and a checkpoint is one array.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from contextvars import ContextVar
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

import gpukit
from gpukit import cuda, launch

Init = Callable[[np.random.Generator, tuple[int, ...]], npt.NDArray[Any]]
Part = TypeVar("Part")
ADVICE = "Was it saved by the same model?"
# Called with each new `Parameters`: the checker of parallel programs compares them between ranks.
observer: ContextVar[Callable[[Parameters], object] | None] = ContextVar("observer", default=None)
MASK = ".mask"  # follows the name of a parameter in the state of a pruned model


class Parameter:
    """One weight array of a layer, and its gradient, which the layer's backward writes.

    Both are device arrays; they exist once the model has been given to `Parameters`. A pruned one
    has a mask, uint8 of the same shape: optimizers keep its weights zero where the mask is 0.
    """

    value: Any
    grad: Any
    mask: Any = None

    def __init__(self, shape: tuple[int, ...], init: Init) -> None:
        self.shape, self.init = shape, init


class Buffer:
    """One array of a layer that is saved with its weights but not learned: an average, a count.

    `value` is a device array in the dtype of the model or, with `on_host`, a NumPy int64 array.
    """

    value: Any

    def __init__(
        self, shape: tuple[int, ...], fill: npt.ArrayLike, *, on_host: bool = False
    ) -> None:
        self.shape, self.fill, self.on_host = shape, fill, on_host

    def begin(self, dtype: npt.DTypeLike) -> None:
        """Allocate the array."""
        made = np.full(self.shape, self.fill, np.int64 if self.on_host else dtype)
        self.value = made if self.on_host else cuda.to_device(made)

    def count(self) -> int:
        """Return the number on the host, and add 1 to it."""
        number = int(self.value)
        self.value[...] = number + 1
        return number


class Parameters:
    """All parameters of a model in one flat array, and their gradients in another.

        model = nn.Sequential(nn.Linear(64, 32), nn.ReLU(), nn.Linear(32, 10))
        parameters = nn.Parameters(model, seed=0)

    `value` and `grad` are device arrays of one axis, `names` those of the parameters in order:
    "0.weight", "0.bias", "2.weight", ... The same seed gives the same weights on every machine;
    of a generator the next random numbers are taken.
    """

    def __init__(
        self, model: Any, *, seed: int | np.random.Generator, dtype: npt.DTypeLike = np.float32
    ) -> None:
        self.parts = named = dict(parts_of(model, Parameter))
        self.names = list(named)
        shapes = [parameter.shape for parameter in named.values()]
        self.value, values = gpukit.flat_views(shapes, dtype)
        self.grad, grads = gpukit.flat_views(shapes, dtype)
        rng = np.random.default_rng(seed)
        for parameter, value, grad in zip(named.values(), values, grads, strict=True):
            value.copy_to_device(parameter.init(rng, parameter.shape).astype(dtype))
            parameter.value, parameter.grad = value, grad
        self._views = dict(zip(named, values, strict=True))
        for name, buffer in parts_of(model, Buffer):
            buffer.begin(dtype)
            self._views[name] = buffer.value
        if (seen := observer.get()) is not None:
            seen(self)

    def __len__(self) -> int:
        """Return the number of learned values."""
        return sum(math.prod(self._views[name].shape) for name in self.names)

    def check_owned(self, function: str, model: Any) -> None:
        """Raise ValueError, in the name of a function, if a model has parameters elsewhere.

        A second `Parameters` of the same model takes the parameters of the first one away.
        """
        known = {id(parameter): name for name, parameter in self.parts.items()}
        for name, parameter in (*self.parts.items(), *parts_of(model, Parameter)):
            mine = self._views.get(known.get(id(parameter), ""))
            if mine is None or parameter.value is not mine:
                raise ValueError(
                    f"{function}: expected an optimizer of the model's parameters, but {name} is "
                    "not among them: they belong to another model, or to other nn.Parameters "
                    "that was made of this model later. Make the optimizer of the last one."
                )

    def start(self, parameter: Parameter) -> int:
        """Return the index of a parameter's first element in `value` and `grad`."""
        first, whole = (
            array.__cuda_array_interface__["data"][0] for array in (parameter.grad, self.grad)
        )
        return int(first - whole) // int(self.grad.dtype.itemsize)

    def views(self) -> dict[str, Any]:
        """Return every parameter and every buffer by name: the arrays themselves."""
        return dict(self._views)

    def synchronise(self, copy: Callable[[str, Any], object]) -> None:
        """Call `copy(name, array)` for all parameters in one array, and for each buffer."""
        copy("parameters", self.value)
        for name, view in self._views.items():
            if name not in self.names:
                copy(name, view)

    def state(self) -> dict[str, npt.NDArray[Any]]:
        """Return a copy of every parameter on the host, by name, and of every mask."""
        masks = {f"{name}{MASK}": parameter.mask for name, parameter in self.masked()}
        return {name: launch.to_host(array).copy() for name, array in (self._views | masks).items()}

    def masked(self) -> list[tuple[str, Parameter]]:
        """Return the parameters that have a mask, by name."""
        return [(name, each) for name, each in self.parts.items() if each.mask is not None]

    def apply_masks(self) -> None:
        """Set masked weights to zero again, as every optimizer does after an update."""
        for _, parameter in self.masked():
            gpukit.apply_mask(parameter.value, parameter.mask)

    def load(self, state: Mapping[str, npt.ArrayLike]) -> None:
        """Set every parameter to the array of its name, and its mask; without one it has none.

        Raises ValueError where a name or a shape differs; then nothing is changed.
        """
        arrays = self.check(state)
        for name, parameter in self.parts.items():
            mask = arrays.pop(f"{name}{MASK}", None)
            parameter.mask = None if mask is None else cuda.to_device(mask.astype(np.uint8))
        for name, array in arrays.items():
            view = self._views[name]
            if isinstance(view, np.ndarray):
                view[...] = array
            else:
                view.copy_to_device(np.ascontiguousarray(array, view.dtype))

    def check(self, state: Mapping[str, npt.ArrayLike]) -> dict[str, npt.NDArray[Any]]:
        """Return the arrays of a state, or raise ValueError where a name or a shape differs."""
        shapes = {name: tuple(view.shape) for name, view in self._views.items()}
        return check(state, shapes, {f"{name}{MASK}": shapes[name] for name in self.names})


def check(
    state: Mapping[str, npt.ArrayLike],
    shapes: Mapping[str, tuple[int, ...]],
    optional: Mapping[str, tuple[int, ...]] | None = None,
) -> dict[str, npt.NDArray[Any]]:
    """Return the arrays of a state, or raise ValueError where names or shapes differ from these.

    A state may lack `optional` ones, the masks.
    """
    arrays = {name: np.asarray(array) for name, array in state.items()}
    if missing := [name for name in shapes if name not in arrays]:
        raise ValueError(f"load: expected {missing[0]!r}, got nothing of that name. {ADVICE}")
    known = {**shapes, **(optional or {})}
    for name, array in arrays.items():
        if name not in known:
            raise ValueError(f"load: expected names of this model, got {name!r}. {ADVICE}")
        if array.shape != known[name]:
            raise ValueError(
                f"load: expected {name} of shape {known[name]}, got {array.shape}. {ADVICE}"
            )
    return arrays


def parts_of(layer: Any, kind: type[Part], prefix: str = "") -> Iterator[tuple[str, Part]]:
    """Yield a layer's parameters or buffers with their names, then those of the layers inside."""
    for name, value in vars(layer).items():
        if isinstance(value, kind):
            yield prefix + name, value
    for number, inner in enumerate(getattr(layer, "layers", ())):
        yield from parts_of(inner, kind, f"{prefix}{number}.")


# --- Initialization --------------------------------------------------------------------------


def uniform(bound: float) -> Init:
    """Uniformly distributed over [-bound, bound)."""
    return lambda rng, shape: rng.uniform(-bound, bound, shape)


def normal(deviation: float) -> Init:
    """Normal with mean 0."""
    return lambda rng, shape: rng.normal(0, deviation, shape)


def constant(value: float) -> Init:
    """The same value for all."""
    return lambda _, shape: np.full(shape, value)
