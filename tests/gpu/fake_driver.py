"""A fake CUDA driver with a GPU of compute capability 9.0, to run code for GPUs without one.

It replaces the NVIDIA driver below numba-cuda: device memory is host memory, and an event is a time
of the host's clock. All layers above are real. A launch types, compiles and links its kernel as on
a GPU and marshals the arguments; then the same kernel runs on the CPU target with these arguments,
so that results are as right or wrong as on a GPU. Only a real GPU can show its speed, and whether
its instructions do the same as their CPU forms.

`PYTHONPATH=tests/gpu/startup:.` installs it in a process and its child processes.
"""

from __future__ import annotations

import contextlib
import ctypes
import functools
import itertools
import threading
import time
import warnings
import weakref
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import numpy as np

CAPABILITY = (9, 0)
LIMITS = {
    "MULTIPROCESSOR_COUNT": 132,
    "MAX_THREADS_PER_MULTIPROCESSOR": 2048,
    "MAX_SHARED_MEMORY_PER_MULTIPROCESSOR": 228 * 1024,
    "CLOCK_RATE": 1_980_000,  # kHz
}


class Device(SimpleNamespace):
    """A device with CUDA's attributes, to which weak references can be made."""

    def __getattr__(self, name: str) -> Any:
        from numba.cuda.cudadrv import driver

        getattr(driver.binding.CUdevice_attribute, f"CU_DEVICE_ATTRIBUTE_{name}")
        return LIMITS[name]


DEVICE = Device(
    id=0,
    name="Fake GPU",
    compute_capability=CAPABILITY,
    supports_bfloat16=True,
    supports_fp8=True,
    supports_float16=True,
)
POISON = 0xA5  # fills new device memory, which is uninitialised on a GPU


class Calls:
    """The driver functions that numba-cuda calls by name."""

    is_available = True
    initialization_error = None

    def __init__(self) -> None:
        self.recorded: dict[int, float] = {}
        self.broken = ""

    def check(self) -> None:
        """Raise the error with which every call fails after an illegal access."""
        if self.broken:
            from numba.cuda.cudadrv import driver

            raise driver.CudaAPIError(700, f"CUDA_ERROR_ILLEGAL_ADDRESS: {self.broken}")

    def get_device_count(self) -> int:
        return 1

    def copy(self, to: Any, source: Any, size: int, stream: int = 0) -> None:
        self.check()
        ctypes.memmove(int(to), int(source), size)

    cuMemcpyHtoD = cuMemcpyDtoH = cuMemcpyDtoD = copy
    cuMemcpyHtoDAsync = cuMemcpyDtoHAsync = cuMemcpyDtoDAsync = copy

    def cuMemsetD8(self, to: Any, value: int, count: int) -> None:
        ctypes.memset(int(to), value, count)

    def cuMemsetD8Async(self, to: Any, value: int, count: int, stream: int) -> None:
        self.cuMemsetD8(to, value, count)

    def cuStreamSynchronize(self, stream: int) -> None:
        """Do nothing: all work is synchronous."""

    def cuEventRecord(self, event: int, stream: int) -> None:
        self.recorded[event] = time.perf_counter()

    def cuEventSynchronize(self, event: int) -> None:
        assert event in self.recorded

    cuEventQuery = cuEventSynchronize

    def cuEventElapsedTime(self, begin: int, end: int) -> float:
        return 1e3 * (self.recorded[end] - self.recorded[begin])


class Context:
    """The context of the one device."""

    device = weakref.proxy(DEVICE)  # unhashable, as numba-cuda's is

    def __init__(self) -> None:
        self.handles = itertools.count(1)

    def memalloc(self, size: int) -> Any:
        from numba.cuda.cudadrv import driver

        buffer = np.full(size + 256, POISON, np.uint8)
        address = -(-buffer.ctypes.data // 256) * 256  # as a driver aligns it
        return driver.MemoryPointer(self, driver.binding.CUdeviceptr(address), size, owner=buffer)

    def synchronize(self) -> None:
        """Do nothing: all work is synchronous."""

    def create_stream(self) -> Any:
        from numba.cuda.cudadrv import driver

        return driver.Stream(next(self.handles))

    def create_external_stream(self, handle: int) -> Any:
        from numba.cuda.cudadrv import driver

        return driver.Stream(handle, external=True)

    def get_default_stream(self) -> Any:
        from numba.cuda.cudadrv import driver

        return driver.Stream(0)

    def create_event(self, timing: bool = True) -> Any:
        from numba.cuda.cudadrv import driver

        return driver.Event(next(self.handles))

    def create_module_image(self, cubin: Any, setup: Any, teardown: Any) -> Any:
        assert cubin.code[:4] == b"\x7fELF"
        module = SimpleNamespace(initialized=True)
        module.get_function = lambda name: SimpleNamespace(name=name, kernel=name, module=module)
        return module


class Runtime:
    """The runtime, with one context."""

    def __init__(self) -> None:
        self.context = Context()
        self.gpus = [DEVICE]

    def ensure_context(self) -> Any:
        return contextlib.nullcontext()

    def get_or_create_context(self, number: Any) -> Context:
        return self.context


def install() -> None:
    """Replace the driver in this process, when a GPU is first looked for."""
    from gpukit import target

    target.gpu_count = lambda: (1, "1 NVIDIA GPU(s) found")  # a fake one
    real, target.usable_gpu = target.usable_gpu, lambda: _patched() or real()


@functools.cache
def _patched() -> None:
    """Replace the driver functions that numba-cuda and gpukit use."""
    from cuda.bindings import driver as bindings
    from numba.cuda import dispatcher
    from numba.cuda.cudadrv import devicearray, devices, driver

    devices._runtime = Runtime()
    driver.driver = devicearray._driver.driver = Calls()
    driver._to_core_stream = lambda stream: stream
    devicearray._to_strided_memory_view = _moved(devicearray._to_strided_memory_view)
    dispatcher.LaunchConfig = SimpleNamespace
    dispatcher._Kernel.launch = _recorded(dispatcher._Kernel.launch)
    dispatcher.launch = _launch
    handles = itertools.count(1 << 20)
    bindings.cuStreamCreateWithPriority = lambda flags, priority: (0, next(handles))
    bindings.cuStreamDestroy = lambda stream: (0,)


# ---- launches -------------------------------------------------------------------------------

_current = threading.local()  # the kernel that is being launched, and its copies of host arrays
_cpu_kernels: dict[Any, Any] = {}  # kernels of the CPU target, by Python function


def _recorded(real: Any) -> Any:
    """Return numba-cuda's launch of a compiled kernel, which records the kernel for `_launch`."""

    def launch(self: Any, *arguments: Any, **named: Any) -> None:
        _current.kernel, _current.moved = self, []
        real(self, *arguments, **named)
        _current.moved.clear()

    return launch


def _launch(stream: Any, config: Any, kernel: str, *words: Any) -> None:
    """Run a kernel on the CPU target, with the parameter words that a launch passes to the driver.

    As on a GPU, an out-of-bounds access is no exception with a line: every later call fails.
    """
    from numba.cuda.cudadrv import driver

    from gpukit import errors
    from gpukit.cpu import dispatcher

    driver.driver.check()
    compiled = _current.kernel
    function = compiled.py_func
    if function not in _cpu_kernels:
        _cpu_kernels[function] = dispatcher.jit(function)
    remaining = iter(words)
    arguments = [_argument(kind, remaining) for kind in compiled.argument_types]
    assert next(remaining, None) is None, f"{kernel} got more words than its parameters take"
    try:
        _cpu_kernels[function][config.grid, config.block, 0, config.shmem_size](*arguments)
    except errors.GpukitError as error:
        driver.driver.broken = str(error)
        driver.driver.check()


def _argument(kind: Any, words: Iterator[Any]) -> Any:
    """Return the argument that the next words encode."""
    from numba.cuda import types
    from numba.cuda.np import numpy_support

    if isinstance(kind, types.BaseTuple):
        return tuple(_argument(one, words) for one in kind)
    if not isinstance(kind, types.Array):
        word = next(words)
        value = getattr(word, "value", word)
        return numpy_support.as_dtype(kind).type(value)
    dtype = numpy_support.as_dtype(kind.dtype)
    _meminfo, _parent, size, itemsize, address = (next(words) for _ in range(5))
    shape, strides = ([int(next(words)) for _ in range(kind.ndim)] for _ in range(2))
    assert (size, itemsize) == (int(np.prod(shape)), dtype.itemsize)
    if not size:
        return np.empty(shape, dtype)
    low = sum((n - 1) * s for n, s in zip(shape, strides, strict=True) if s < 0)
    high = sum((n - 1) * s for n, s in zip(shape, strides, strict=True) if s > 0)
    buffer = (ctypes.c_uint8 * (high - low + itemsize)).from_address(address + low)
    return np.ndarray(shape, dtype, buffer, -low, strides)


def _moved(real: Any) -> Any:
    """Return numba-cuda's conversion of an argument, with copies of host arrays in fake memory."""

    def convert(value: Any, stream: Any = 0, copy: bool = True, user_explicit: bool = False) -> Any:
        if not isinstance(value, np.ndarray):
            return real(value, stream, copy, user_explicit)
        from numba import cuda
        from numba.cuda.core import config
        from numba.cuda.core.errors import NumbaPerformanceWarning

        if config.CUDA_WARN_ON_IMPLICIT_COPY and not user_explicit:
            warnings.warn(NumbaPerformanceWarning("Host array used in CUDA kernel"), stacklevel=2)
        assert value.flags.forc, "numba-cuda copies nbytes from the address of the array"
        moved = cuda.to_device(value)
        _current.moved.append(moved)  # keeps it alive: the result has only its address
        return real(moved, stream, copy, user_explicit)[0], True

    return convert
