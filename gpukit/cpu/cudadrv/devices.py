"""Devices and contexts under the name that `numba.cuda.cudadrv` gives their module."""

from gpukit.cpu.devices import get_context, gpus, require_context, reset

__all__ = ["get_context", "gpus", "require_context", "reset"]
