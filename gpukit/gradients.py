"""`gradcheck`: hold a backward function against slopes measured with the forward function.

A gradient that is wrong by a sign or a missing term still trains, only badly, and no test of the
forward function sees it. But every gradient can be measured: move one input by eps, see how far the
result moves. Take that from both sides, and the error shrinks with eps^2; in float64 six to ten
digits are left.

The result is an array, and its slopes a matrix. Instead of all of that, one number is looked at,
E = sum of weights * result with random weights: then grad_out, dE/d result, is those weights, and
what backward returns must be dE/d input. A mistake that this hides would have to be orthogonal to
random numbers.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from gpukit import errors, launch

Float64 = npt.NDArray[np.float64]

# What the gradient is in parts of the slope, the same for all wrong elements, and what that says.
HINTS = {
    -1.0: "All wrong elements have the wrong sign: a minus is missing, or one too many.",
    0.0: "All wrong elements are 0: a path from this input to the result is missing, or nothing "
    "was written there.",
    2.0: "All wrong elements are twice the slope: a path is counted twice, or 1/2 is missing.",
    0.5: "All wrong elements are half the slope: a path is missing, or a factor 2, as of x^2.",
}


def gradcheck(
    forward: Callable[..., Any], backward: Callable[..., Any], inputs: Sequence[Any], *,
    eps: float = 1e-6, atol: float = 1e-5, rtol: float = 1e-3, seed: int = 0,
) -> bool:  # fmt: skip
    """Return True if `backward` returns the slopes of `forward`, and raise GradientError if not.

        gradcheck(gpukit.gelu, gpukit.gelu_grad, [x])

    `forward(*inputs)` returns an array, `backward(grad_out, *inputs)` the gradient of each input,
    one array or a tuple; None for an input that has none. Inputs are float64 arrays, away from
    kinks such as relu's at 0. What backward needs beside them, a function around it takes care of:
    `lambda grad, x: gpukit.tanh_grad(grad, gpukit.tanh(x))`.

    An element is right within atol + rtol |slope|. Each costs two calls of `forward`: a handful
    will do.
    """
    arrays = [_checked(k, array) for k, array in enumerate(inputs)]
    result = _on_host(forward(*map(np.copy, arrays)))
    weights = np.asarray(np.random.default_rng(seed).standard_normal(result.shape))
    found = backward(weights.astype(result.dtype), *map(np.copy, arrays))
    gradients = found if isinstance(found, tuple | list) else (found,)
    if len(gradients) != len(arrays):
        raise errors.GradientError(
            f"gradcheck: expected a gradient for each of {len(arrays)} inputs, "
            f"got {len(gradients)}. Return a tuple, with None for an input that has none."
        )
    for k, gradient in enumerate(gradients):
        if gradient is not None:
            slopes = _slopes(forward, arrays, k, weights, eps)
            _compare(k, _on_host(gradient), slopes, atol, rtol)
    return True


def _checked(k: int, array: Any) -> Float64:
    array = launch.as_array(array)
    launch.check_array("gradcheck", f"inputs[{k}]", array, ndim=None, dtypes=(np.float64,))
    return launch.to_host(array)


def _on_host(array: Any) -> Any:
    """Return what a function of the book returned as a NumPy array; a number too is one."""
    array = launch.as_array(array)
    return np.asarray(launch.to_host(array) if launch.is_device_array(array) else array)


def _slopes(
    forward: Callable[..., Any], arrays: list[Float64], k: int, weights: Float64, eps: float
) -> Float64:
    """Return dE/d input k, by central differences."""
    slopes = np.empty(arrays[k].shape)
    for place in np.ndindex(slopes.shape):
        ends = []
        for step in (eps, -eps):
            moved = [array.copy() for array in arrays]
            moved[k][place] += step
            ends.append((_on_host(forward(*moved)), moved[k][place]))
        (above, right), (below, left) = ends
        slopes[place] = np.sum(weights * (above - below)) / (right - left)
    return slopes


def _compare(k: int, gradient: Any, slopes: Float64, atol: float, rtol: float) -> None:
    """Raise GradientError, with what its mistake looks like, unless a gradient is the slopes."""
    if gradient.shape != slopes.shape:
        turned = gradient.shape == slopes.shape[::-1]
        raise errors.GradientError(
            f"gradcheck: expected the gradient of inputs[{k}] to have its shape {slopes.shape}, "
            f"got {gradient.shape}. "
            + ("It is transposed." if turned else "There is a slope for each element.")
        )
    wrong = ~_close(gradient, slopes, atol, rtol)
    if not wrong.any():
        return
    error = np.where(wrong, np.abs(gradient - slopes), -1)
    error[np.isnan(error)] = np.inf
    worst = tuple(map(int, np.unravel_index(np.argmax(error), error.shape)))
    raise errors.GradientError(
        f"gradcheck: expected the gradient of inputs[{k}] at {list(worst)} to be "
        f"{slopes[worst]:.8g}, the slope, got {gradient[worst]:.8g}; {int(wrong.sum())} of "
        f"{wrong.size} elements are wrong, this one by most. "
        + _hint(gradient, slopes, wrong, atol, rtol)
    )


def _close(gradient: Any, slopes: Any, atol: float, rtol: float) -> npt.NDArray[np.bool_]:
    """Return where a gradient is right; a NaN on either side is not."""
    close: npt.NDArray[np.bool_] = np.abs(gradient - slopes) <= atol + rtol * np.abs(slopes)
    return close


def _hint(gradient: Any, slopes: Any, wrong: Any, atol: float, rtol: float) -> str:
    if not np.isfinite(gradient).all():
        return "Not all are finite: look for a division by 0, or an element that is not written."
    for factor, hint in HINTS.items():
        if _close(gradient, factor * slopes, atol, rtol)[wrong].all():
            return hint
    square = slopes.ndim == 2 and slopes.shape[0] == slopes.shape[1]
    if square and _close(gradient.T, slopes, atol, rtol).all():
        return "Its transpose is right: two axes are mixed up."
    factor = float(np.sum(gradient[wrong] * slopes[wrong]) / np.sum(slopes[wrong] ** 2))
    if _close(gradient, factor * slopes, atol, rtol)[wrong].all():
        return f"All wrong elements are {factor:.4g} times the slope: look for such a factor."
    return "No one factor explains it: a term is missing, or an index is wrong."
