"""Where host code written for `numba.cuda.cudadrv` finds the same names on the CPU target."""

from gpukit.cpu.cudadrv import devicearray, devices, driver, error, nvvm, runtime

__all__ = ["devicearray", "devices", "driver", "error", "nvvm", "runtime"]
