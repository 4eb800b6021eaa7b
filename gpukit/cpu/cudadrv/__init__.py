"""The names of `numba.cuda.cudadrv` on the CPU target, for host code written for Numba."""

from gpukit.cpu.cudadrv import devicearray, devices, driver, error, nvvm, runtime

__all__ = ["devicearray", "devices", "driver", "error", "nvvm", "runtime"]
