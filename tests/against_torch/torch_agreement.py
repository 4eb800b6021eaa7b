"""What every comparison with PyTorch needs: numbers, PyTorch's answer in float64, a tolerance."""

from typing import Any

import numpy as np
import torch
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st

# Each test draws this many configurations.
CONFIGURATIONS = 200
many = settings(
    max_examples=CONFIGURATIONS, deadline=None, suppress_health_check=[HealthCheck.too_slow]
)

dtypes = st.sampled_from([np.float32, np.float64])
seeds = st.integers(0, 2**32 - 1)

torch.set_num_threads(1)  # the arrays are small, and tests run on all cores


def numbers(seed: int, *shape: int, dtype: Any = np.float64) -> Any:
    """Return normal numbers; the same for the same seed and shape."""
    return np.random.default_rng((seed, *shape)).standard_normal(shape).astype(dtype)


def tensor(array: Any, *, grad: bool = False) -> Any:
    """Return an array as a tensor of PyTorch, floats in float64."""
    array = np.array(array)
    made = torch.from_numpy(array.astype(np.float64) if array.dtype.kind == "f" else array)
    return made.requires_grad_(grad)


def assert_agrees(ours: Any, theirs: Any, *, terms: int, magnitude: Any = None) -> None:
    """Compare our result, in its own precision, with PyTorch's in float64.

    `terms` roundings follow one another on the way to an element, each of at most an eps of
    `magnitude`: the sum of the absolute terms where it is known, else the largest element of the
    result, and at least 1, of which the inputs are made. Written so that a NaN fails, unless both
    have it.
    """
    ours, theirs = np.asarray(ours), theirs.detach().numpy()
    assert ours.shape == theirs.shape
    if magnitude is None:
        magnitude = max(1.0, np.abs(theirs).max(initial=0, where=np.isfinite(theirs)))
    with np.errstate(invalid="ignore"):  # inf - inf: equal, which is asked below
        error = np.abs(ours.astype(np.float64) - theirs)
    allowed = (terms + 8) * np.finfo(ours.dtype).eps * magnitude
    right = (error <= allowed) | (ours == theirs) | (np.isnan(ours) & np.isnan(theirs))
    wrong = np.argwhere(np.atleast_1d(~right))
    assert len(wrong) == 0, f"{len(wrong)} of {ours.size} wrong, first at {wrong[0]}"
