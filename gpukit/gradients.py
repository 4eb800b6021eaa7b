"""`gradcheck`: compare a backward function with finite differences of the forward function.

A network whose gradient has a wrong sign or a missing term still trains, only badly, and no test of
the forward function notices. But every derivative can be measured: move one input by eps and see
how far the result moves. The error of central differences, from both sides, shrinks with eps^2; in
float64 they leave six to ten correct digits.

The result is an array, so its derivatives form a matrix, the Jacobian. Only one product with it is
checked: for E = sum of weights * result with random weights, grad_out = dE/d result is the weights,
and backward must return dE/d input. Only an error orthogonal to the random weights would go
unnoticed.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from gpukit import errors, launch

Float64 = npt.NDArray[np.float64]

# Diagnoses by the ratio gradient / slope, where all wrong elements have the same one.
HINTS = {
    -1.0: "All wrong elements have the wrong sign: a minus is missing, or one too many.",
    0.0: "All wrong elements are 0: a path from this input to the result is missing, or nothing "
    "was written there.",
    2.0: "All wrong elements are twice the slope: a path is counted twice, or 1/2 is missing.",
    0.5: "All wrong elements are half the slope: a path is missing, or a factor 2, such as of x^2.",
}


def gradcheck(
    forward: Callable[..., Any],
    backward: Callable[..., Any],
    inputs: Sequence[Any],
    *,
    eps: float = 1e-6,
    atol: float = 1e-5,
    rtol: float = 1e-3,
    seed: int = 0,
) -> bool:
    """Check a gradient by finite differences; return True, or raise GradientError.

        gradcheck(gpukit.gelu, gpukit.gelu_grad, [x])

    `forward(*inputs)` returns an array, `backward(grad_out, *inputs)` the gradient of each input,
    one array or a tuple, with None for an input without a gradient. Inputs are float64 arrays, away
    from kinks such as relu's at 0. If backward needs other arguments, wrap it:
    `lambda grad, x: gpukit.tanh_grad(grad, gpukit.tanh(x))`.

    An element is correct within atol + rtol |slope|. Each element of the inputs costs two calls of
    `forward`: use small arrays.
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
    """Return a function's result as a NumPy array, a number as one of no axes."""
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
    """Raise GradientError with the likely mistake unless a gradient equals the slopes."""
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
        f"{wrong.size} elements are wrong, this one by the most. "
        + _hint(gradient, slopes, wrong, atol, rtol)
    )


def _close(gradient: Any, slopes: Any, atol: float, rtol: float) -> npt.NDArray[np.bool_]:
    """Return a mask of the correct elements; a NaN on either side is not correct."""
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
