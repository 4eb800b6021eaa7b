"""Options of `cuda.jit` that only limit or check: launch bounds and the shared memory carveout."""

from __future__ import annotations

from typing import Any

from gpukit import errors

_CARVEOUTS = ("default", "maxl1", "maxshared")


def check(options: dict[str, Any]) -> None:
    """Raise for values that Numba's CUDA target rejects too."""
    bounds = launch_bounds(options)
    if len(bounds) > 3:
        raise errors.LaunchError(
            f"Got {len(bounds)} launch bounds: at most 3 are allowed: threads per block, blocks "
            "per multiprocessor, blocks per cluster."
        )
    _check_carveout(options.get("shared_memory_carveout"))


def launch_bounds(options: dict[str, Any]) -> tuple[int, ...]:
    """Return the launch bounds of a kernel, first the maximum number of threads per block."""
    given = options.get("launch_bounds")
    if given is None:
        return ()
    return tuple(given) if isinstance(given, (tuple, list)) else (given,)


def _check_carveout(value: Any) -> None:
    if isinstance(value, str):
        if value.lower() not in _CARVEOUTS:
            raise errors.LaunchError(
                f"Invalid carveout value: {value!r}. Write 'default', 'MaxL1', 'MaxShared', or a "
                "number of per cent."
            )
    elif value is not None and not -1 <= value <= 100:
        raise errors.LaunchError(
            f"The shared memory carveout must be between -1 and 100 percent, got {value}."
        )


def check_launch(name: str, options: dict[str, Any], threads: int) -> None:
    """Raise for a block that has more threads than the kernel's launch bounds."""
    bounds = launch_bounds(options)
    if bounds and threads > bounds[0]:
        raise errors.LaunchError(
            f"{name}: a block of {threads} threads, but launch_bounds allows {bounds[0]} "
            "(a GPU answers CUDA_ERROR_INVALID_VALUE). Use smaller blocks."
        )
