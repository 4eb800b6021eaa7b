"""What every host function around a kernel needs: grid shapes, array checks, and the cost record.

A host function checks its arguments, makes an array for the result, launches one kernel and hands
back an array of the kind that it was given. `signature.takes` does all but the launch, for arrays
that can be described in a line; what it does it with, and what host functions do beside, is here
and, for results, in `results`.
"""

from __future__ import annotations

import dataclasses
import inspect
import math
import operator
import warnings
from collections.abc import Callable, Sequence
from types import SimpleNamespace
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from gpukit import cuda, errors, target, workspace
from gpukit.cpu import limits

# Blocks a grid may have along x, y and z, on every NVIDIA GPU since compute capability 3.0.
GRID_LIMIT = limits.MAX_GRID
# What a kernel that computes in the type of its arrays takes.
FLOATS = (np.float32, np.float64)


@dataclasses.dataclass(frozen=True)
class Cost:
    """What one launch does, counted over all its threads with the guards respected.

    `bytes` are the global-memory bytes that the loads and stores of the kernel ask for (an
    atomic is one load and one store); caches and coalescing are not modelled. `flops` are the
    floating-point additions, subtractions, multiplications and divisions, and one for each call
    of a mathematical function, as `gpukit.profile` counts them.
    """

    bytes: int
    flops: int

    @property
    def intensity(self) -> float:
        """Floating-point operations for each byte asked for."""
        return self.flops / self.bytes if self.bytes else 0.0


Capability = tuple[int, int]
NEWEST = (99, 9)
ANY_GPU = ((0, 0), NEWEST)


class Variant(NamedTuple):
    """One variant of a kernel, with all that its host function, its tests and its benchmark ask.

    A block of `block` threads computes `tile` elements along x, y and z, as many as it has threads
    if there is no `tile`. A kernel that loops over the rest has at most `most_blocks` along the
    last axis; with `grid_stride`, at most as many as the device holds at once. With `x_is_row`, x
    runs down the rows. `needs` are the lowest and the highest compute capability of a GPU that
    runs it. What a variant does not take, other `dtypes` or arrays that lie misaligned, the variant
    `instead` takes.
    """

    name: str
    kernel: Any
    cost: Callable[..., Cost]
    reference: Callable[..., Any]
    block: int | tuple[int, ...]
    tile: int | tuple[int, ...] | None = None
    dtypes: tuple[type[np.generic], ...] = FLOATS
    needs: tuple[Capability, Capability] = ANY_GPU
    most_blocks: int | None = None
    grid_stride: bool = False
    x_is_row: bool = False
    instead: str = ""

    def grid(self, function: str, *sizes: int) -> tuple[int, ...]:
        """Return the grid that covers so many elements along x, y and z: columns, then rows.

        Raises LaunchError, in the words of `function`, where a GPU takes no such grid.
        """
        tile = self.tile or self.block
        tiles = tile if isinstance(tile, tuple) else (tile,)
        along = sizes[::-1] if self.x_is_row else sizes
        *first, last = map(ceil_div, along, tiles)
        grid = (*first, min(last, self._most(last)))
        check_grid(function, grid)
        return grid

    def _most(self, unlimited: int) -> int:
        """Return how many blocks there may be along the last axis."""
        if self.grid_stride:
            threads = self.block if isinstance(self.block, int) else math.prod(self.block)
            return resident_blocks(threads)
        return unlimited if self.most_blocks is None else self.most_blocks


def pick(function: str, variants: tuple[Variant, ...], name: str) -> Variant:
    """Return the variant of `variants` called `name`; ValueError lists the names there are."""
    for variant in variants:
        if variant.name == name:
            return variant
    names = ", ".join(repr(variant.name) for variant in variants)
    now = name.replace("vectorised", "vectorized").replace("wide", "vectorized")
    if now != name and any(variant.name == now for variant in variants):  # until the next release
        message = f"{function}: the variant {name!r} is now called {now!r}."
        warnings.warn(message, DeprecationWarning, stacklevel=4)
        return pick(function, variants, now)
    raise ValueError(f"{function}: expected variant to be one of {names}, got {name!r}. Pick one.")


# ---------------------------------------------------------------------------------------------
# Grid shapes
# ---------------------------------------------------------------------------------------------


def ceil_div(a: int, b: int) -> int:
    """Return a / b rounded up, the number of blocks of b threads that cover a elements.

    >>> ceil_div(256, 256), ceil_div(257, 256)
    (1, 2)
    """
    if b <= 0:
        raise ValueError(f"ceil_div: expected b > 0, got {b}. Pass the block size.")
    return -(-a // b)


def grid_1d(function: str, n: int, block: int) -> tuple[int]:
    """Return the grid with one thread for each of n elements."""
    grid = (ceil_div(n, block),)
    check_grid(function, grid)
    return grid


def grid_2d(function: str, cols: int, rows: int, block: tuple[int, int]) -> tuple[int, int]:
    """Return the grid with one thread for each element of (rows, cols); x runs over columns.

    >>> grid_2d("blur", 640, 427, (32, 8))
    (20, 54)
    """
    grid = (ceil_div(cols, block[0]), ceil_div(rows, block[1]))
    check_grid(function, grid)
    return grid


def stride_blocks(n: int, block: int, *, tile: int | None = None, shared: int = 0) -> int:
    """Return the blocks of a grid-stride launch over n elements, `tile` per block and turn.

    There is a block for each tile (`block` elements if there is no `tile`), but no more blocks than
    are resident on the device at once: threads then take several elements each. The number of
    blocks, and with it the order in which a kernel adds floating-point numbers, follows from n and
    the device: it is the same in every run on one device and differs between devices.

    >>> stride_blocks(1, 256), stride_blocks(10**9, 256) == resident_blocks(256)
    (1, True)
    """
    return min(ceil_div(n, tile or block), resident_blocks(block, shared))


def resident_blocks(block: int, shared: int = 0) -> int:
    """Return how many blocks of `block` threads the device in use holds at once, all SMs together.

    Threads per SM and `shared` bytes of shared memory per block limit it; registers, which only a
    compiled kernel knows, are not counted. On the CPU target an SM is a core (`target.planned`).
    """
    device = target.planned() or cuda.get_current_device()
    per_sm = device.MAX_THREADS_PER_MULTIPROCESSOR // block
    if shared:
        per_sm = min(per_sm, device.MAX_SHARED_MEMORY_PER_MULTIPROCESSOR // shared)
    return int(device.MULTIPROCESSOR_COUNT * max(per_sm, 1))


def check_grid(function: str, grid: tuple[int, ...]) -> None:
    """Raise LaunchError when `grid` has more blocks along an axis than a GPU takes."""
    if any(map(operator.gt, grid, GRID_LIMIT)):
        raise errors.LaunchError(
            f"{function}: expected a grid of at most {GRID_LIMIT} blocks (x, y, z), got {grid}. "
            "Split the array and call the function on each part."
        )


# ---------------------------------------------------------------------------------------------
# Checks of arguments. Each message says: function, the rule, what came, what to do.
# ---------------------------------------------------------------------------------------------


def check_array(
    function: str, name: str, array: Any, *, ndim: int | None, dtypes: tuple[type[np.generic], ...]
) -> None:
    """Raise unless `array` is a NumPy or device array with `ndim` axes and one of `dtypes`.

    With None for `ndim`, any number of axes will do.
    """
    if not isinstance(array, np.ndarray) and not is_device_array(array):
        raise TypeError(
            f"{function}: expected {name} to be a {either(dtypes)} array, got "
            f"{type(array).__name__}. "
            f"Convert it with np.asarray({name}, np.{np.dtype(dtypes[0]).name})."
        )
    if array.dtype not in dtypes:
        raise TypeError(
            f"{function}: expected {name} to be a {either(dtypes)} array, got {array.dtype}. "
            f"Convert it with {name}.astype(np.{np.dtype(dtypes[0]).name})."
        )
    if ndim is not None and array.ndim != ndim:
        raise ValueError(
            f"{function}: expected {name}.ndim == {ndim}, got shape {tuple(array.shape)}. "
            f"Reshape it to {ndim} axes."
        )


def either(dtypes: tuple[type[np.generic], ...]) -> str:
    """Return the names of dtypes, one of which an array may have."""
    return " or ".join(np.dtype(dtype).name for dtype in dtypes)


def check_same_dtype(function: str, **arrays: Any) -> None:
    """Raise TypeError unless all arrays hold the same dtype: no kernel mixes precisions."""
    if len({array.dtype for array in arrays.values()}) > 1:
        names = ", ".join(arrays)
        found = ", ".join(str(array.dtype) for array in arrays.values())
        raise TypeError(
            f"{function}: expected {names} to have one dtype, got {found}. "
            "Convert them with .astype."
        )


def check_variant_dtype(function: str, variant: Variant, array: Any) -> None:
    """Raise TypeError unless the variant takes the dtype of `array`, as other variants do."""
    if array.dtype not in variant.dtypes:
        raise TypeError(
            f"{function}: expected float32 arrays for variant {variant.name!r}, got {array.dtype}. "
            f"Pass variant={variant.instead!r}."
        )


def check_gpu(function: str, variant: Variant) -> None:
    """Raise LaunchError if there is a GPU and it is not one of those that a variant needs."""
    least, most = variant.needs
    if target.active().name != "cuda" or variant.needs == ANY_GPU:
        return
    found = tuple(cuda.get_current_device().compute_capability)
    if not least <= found <= most:
        wanted = f"{least[0]}.{least[1]} {'and no other' if least == most else 'or more'}"
        raise errors.LaunchError(
            f"{function}: expected a GPU of compute capability {wanted} for variant "
            f"{variant.name!r}, got {found[0]}.{found[1]}. Pick a variant that does not need "
            "these tensor cores."
        )


def check_shape(function: str, name: str, array: Any, shape: tuple[int, ...], advice: str) -> None:
    """Raise ValueError unless `array` has exactly this shape."""
    if tuple(array.shape) != shape:
        raise ValueError(
            f"{function}: expected {name}.shape == {shape}, got {tuple(array.shape)}. {advice}"
        )


def check_writeable(function: str, name: str, array: Any) -> None:
    """Raise ValueError for a NumPy array that cannot be written."""
    if isinstance(array, np.ndarray) and not array.flags.writeable:
        raise ValueError(
            f"{function}: expected {name} to be writeable, got a read-only array. Copy it."
        )


def check_int(function: str, name: str, value: Any, *, least: int) -> int:
    """Return `value` as an int; raise unless it is a whole number, `least` or more."""
    try:
        number = operator.index(value)
    except TypeError:
        raise TypeError(
            f"{function}: expected {name} to be an int, got {type(value).__name__}. "
            f"Pass a whole number."
        ) from None
    if number < least:
        raise ValueError(
            f"{function}: expected {name} >= {least}, got {number}. Pass {least} or more."
        )
    return number


# ---------------------------------------------------------------------------------------------
# Copies in and out. On the CPU targets a NumPy array is device memory already: nothing moves.
# ---------------------------------------------------------------------------------------------


def as_array(array: Any) -> Any:
    """Return an array of another library as one of ours, on the same memory.

    Arrays on a GPU (`__cuda_array_interface__`: CuPy, PyTorch, Numba) become device arrays; those
    of the host that NumPy can read in place (PyTorch's CPU tensors) NumPy arrays. All else, lists
    for example, is returned as it is, for `check_array` to refuse.
    """
    if isinstance(array, np.ndarray) or _is_ours(array):
        return array
    if is_device_array(array):
        return cuda.as_cuda_array(array)
    return np.from_dlpack(array) if hasattr(array, "__dlpack__") else array


def is_device_array(array: Any) -> bool:
    """Whether `array` is memory that a kernel can use without a copy."""
    return _is_ours(array) or bool(cuda.is_cuda_array(array))


def _is_ours(array: Any) -> bool:
    """Whether `array` is a device array of Numba or of ours; to ask for its interface is slow."""
    return getattr(array, "__cuda_ndarray__", False) is True


def is_contiguous(array: Any) -> bool:
    """Whether the elements of a NumPy or device array lie side by side, in C order."""
    if isinstance(array, np.ndarray):
        return array.flags.c_contiguous
    return bool(array.is_c_contiguous())


def flatten(function: str, name: str, array: Any) -> Any:
    """Return all elements of `array` on one axis, in C order; no copy without need.

    Raises ValueError for a device array in another order: the host cannot copy it.
    """
    check_order(function, name, array)
    return array if array.ndim == 1 and is_contiguous(array) else array.reshape(array.size)


def check_order(function: str, name: str, array: Any) -> None:
    """Raise ValueError for a device array that is not in C order."""
    if not isinstance(array, np.ndarray) and not is_contiguous(array):
        raise ValueError(
            f"{function}: expected {name} in C order, got shape {tuple(array.shape)} with strides "
            f"{tuple(array.strides)}. Copy it: "
            f"cuda.to_device(np.ascontiguousarray({name}.copy_to_host()))."
        )


def permuted(array: Any, axes: Sequence[int]) -> Any:
    """Return a view of an array with its axes in another order; nothing is copied."""
    if isinstance(array, np.ndarray):
        return array.transpose(axes)
    known = array.__cuda_array_interface__
    described = {
        **known,
        "shape": tuple(array.shape[axis] for axis in axes),
        "strides": tuple(array.strides[axis] for axis in axes),
    }
    return cuda.as_cuda_array(SimpleNamespace(__cuda_array_interface__=described, owner=array))


def to_device(array: Any, stream: Any = 0, *, strided: bool = False) -> Any:
    """Return `array` where kernels can read it, a NumPy array in C order; no copy without need.

    With `strided` a NumPy array that kernels can read where it lies keeps its order.
    """
    if is_device_array(array) or (strided and target.active().name != "cuda"):
        return array
    array = np.ascontiguousarray(array)
    return cuda.to_device(array, stream) if target.active().name == "cuda" else array


def empty(shape: tuple[int, ...], dtype: npt.DTypeLike) -> Any:
    """Return an array with arbitrary contents where kernels can write it."""
    return workspace.take(shape, dtype, on_device=target.active().name == "cuda")


def zeros(shape: tuple[int, ...], dtype: npt.DTypeLike, stream: Any = 0) -> Any:
    """Return an array of zeros where kernels can read and write it."""
    return to_device(np.zeros(shape, dtype), stream)


def to_host(array: Any, stream: Any = 0) -> npt.NDArray[Any]:
    """Return a result as a NumPy array once the work in the stream before it is done."""
    return array if isinstance(array, np.ndarray) else array.copy_to_host(stream=stream)


def bring_back(array: Any, moved: Any, stream: Any = 0) -> None:
    """Copy what a kernel wrote to a NumPy array, where the kernel did not work on its memory."""
    ours = isinstance(moved, np.ndarray) and np.may_share_memory(array, moved)
    if isinstance(array, np.ndarray) and not ours:
        array[...] = to_host(moved, stream).reshape(array.shape)


def public_names(module: dict[str, Any]) -> list[str]:
    """Return what a module of the book gives away: kernels, host functions, references, variants.

    `module` is its `globals()`. Costs stand in the variants.
    """
    return [name for name, value in module.items() if _is_public(name, value, module["__name__"])]


def _is_public(name: str, value: Any, module: str) -> bool:
    if name.endswith(("_kernel", "VARIANTS")):
        return not name.startswith("_")
    own = inspect.isfunction(value) and value.__module__ == module
    return own and not name.startswith("_") and not name.endswith("_cost")
