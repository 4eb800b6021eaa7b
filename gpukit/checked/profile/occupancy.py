"""The occupancy of a profiled launch, with registers from a GPU compile where requested."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from gpukit import gpu_code
from gpukit.checked import occupancy
from gpukit.checked.gpus import CAPABILITIES
from gpukit.compiler.pipeline import Instrumentation

if TYPE_CHECKING:
    from gpukit.checked.profile import Profile


class Remembered:
    """A kernel and what a compile needs of its arguments, without their memory.

    `instrumentation` is that of the profile.
    """

    def __init__(
        self,
        kernel: Any,
        arguments: tuple[Any, ...],
        instrumentation: Instrumentation | None = None,
    ) -> None:
        self.kernel = kernel
        self.arguments = tuple(map(_small, arguments))
        self.instrumentation = instrumentation or Instrumentation()
        self.measured: dict[tuple[int, int], gpu_code.Code] = {}

    def measure(self) -> None:
        """Ask the GPU compiler for the registers; takes seconds the first time."""
        self.measured = self.measured or gpu_code.build(self.kernel, self.arguments, CAPABILITIES)


def _small(value: Any) -> Any:
    """Return an argument of the same type that keeps no large array alive."""
    host = getattr(value, "host", value)
    if hasattr(value, "copy_out") and hasattr(value, "value"):  # cuda.In, Out, InOut
        host = value.value
    if isinstance(host, tuple) and type(host) is tuple:
        return tuple(map(_small, host))
    if not isinstance(host, np.ndarray) or not host.flags.aligned:
        return value
    if host.flags.c_contiguous or host.flags.f_contiguous:
        order = "C" if host.flags.c_contiguous else "F"
        small: Any = np.zeros((2,) * host.ndim, host.dtype, order)  # type: ignore[call-overload]
    else:
        small = np.zeros((4,) * host.ndim, host.dtype)[(slice(None, None, 2),) * host.ndim]
    small.flags.writeable = host.flags.writeable
    return small


def table(profile: Profile) -> occupancy.OccupancyTable:
    """Return the occupancy on all GPUs, with the registers that are known so far."""
    measured = profile.remembered.measured if profile.remembered else {}
    counts = {capability: answer.registers for capability, answer in measured.items()}
    return occupancy.table(
        math.prod(profile.block), counts or None, profile.shared_static, profile.shared_dynamic
    )


def unknown(profile: Profile) -> str:
    """Return why registers are not known, or nothing where they are."""
    measured = profile.remembered.measured if profile.remembered else {}
    if not measured:
        return gpu_code.missing() or (
            "only GPU compilers assign them; .occupancy(registers=True) and "
            "gpukit profile --occupancy run one"
        )
    return next((answer.reason for answer in measured.values() if answer.reason), "")
