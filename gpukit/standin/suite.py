"""Run third-party pytest suites on gpukit: the options of `pytest -p gpukit.standin`.

Many suites of Numba CUDA code support one CPU path, Numba's simulator: they set
`NUMBA_ENABLE_CUDASIM=1`, check `numba.config.ENABLE_CUDASIM` and skip what the simulator lacks
with `numba.cuda.testing.skip_on_cudasim(reason)`. `--gpukit-as-simulator` replaces the simulator:

    pytest -p gpukit.standin --gpukit-as-simulator --pyargs numba.cuda.tests

Tests skipped for a reason that does not hold for gpukit are run; `--gpukit-run-skipped REGEX`
adds reasons. `GPUKIT_CONFORMANCE=1` is the same as `--gpukit-as-simulator`.
"""

from __future__ import annotations

import importlib
import os
import re
import sys
import unittest
from collections.abc import Callable, Sequence
from types import ModuleType
from typing import Any

import numpy as np

from gpukit import errors, target
from gpukit.standin import modules

VARIABLE = "GPUKIT_CONFORMANCE"

# Prefixes of the reasons in numba-cuda's tests that do not apply to gpukit.
RUN = (
    "Warp Operations are not yet implemented",
    "syncwarp not implemented",
    "cudasim doesn't support cuda import at non-top-level",
    "Structured array attr access not supported",
    "ufunc API unsupported",
    "ufuncs are unsupported",
    "CUDA Array Interface is not supported",
    "Overloading not supported",
    "Global device array capture not supported",
    "Specialization not implemented",
    "CUDA simulator doesn't implement kernel properties",
    "Simulator ignores signature",
    "Simulator does not track overloads",
    "No overload resolution",
    "Simulator does not support shared memory carveout",
    "Can't check for constants",
    "Can't check typing",
    "Simulator does not prohibit lists",
    "doesn't work in the simulator",
    "Typing not done in the simulator",
    "DeviceNDArray class not present",
    "Device Record API unsupported",
    "Libdevice functions are not supported",
    "pickling not supported",
    "disabled for cudasim",
    "cudasim does not use streams",
    "Simulator does not use __array__",
    "skip test for speed",
    "Simulator doesn't differentiate between normal and cooperative",
    "TypingError does not occur",
    "only get given a Python",
    "Cudasim does not check types",
    "Overflow behavior differs",
    "Requires too many threads",
    "trunc only supported",
    "numpy does not support trunc",
    "math.remainder",
    "no .copy_to_host",
    "API unsupported in the simulator",
    "Simulator doesn't support concurrent kernels",
    "Cudasim does not have device pointers",
    "cudasim will allow calling any function",
    "cudasim ignores casting",
    "not supported in cudasim",
    "Recursion handled because simulator does not compile",
    "Simulator does not compile",
    "CUDA Memory API unsupported",
    "fp16 not available",
    "CUDA Profiler unsupported",
    "Simulator does not check alignment",
    "Array alignment not supported",
    "Compilation time is not relevant",
    "Kernel overloads not created",
    "Simulator will not raise a typing error",
    "Simulator does not support launch bounds",
    "CUDA Simulator does not force casting",
    "Simulator does not support multiple threads",
    "Simulator does not support the extension API",
    "External functions unsupported",
    "Simulator does not support linking",
)


def add_options(parser: Any) -> None:
    """Add the plugin's options to pytest."""
    group = parser.getgroup("gpukit", "Numba CUDA code on gpukit")
    group.addoption(
        "--gpukit-as-simulator",
        action="store_true",
        default=os.environ.get(VARIABLE) == "1",
        help="act as Numba's CUDA simulator, and run the tests that only it must skip",
    )
    group.addoption(
        "--gpukit-run-skipped",
        action="append",
        default=[],
        metavar="REGEX",
        help="with --gpukit-as-simulator: run tests skipped on the simulator for this reason",
    )


def begin(options: Any, install: Callable[..., Any]) -> None:
    """Stand in for the whole of a pytest run; `install` is `standin.install`."""
    import pytest

    try:
        target.active()
    except errors.TargetError as error:
        raise pytest.UsageError(str(error)) from None
    if getattr(options, "gpukit_as_simulator", False):
        be_the_simulator(install, options.gpukit_run_skipped)
    install(children=True)


def be_the_simulator(install: Callable[..., Any], reasons: Sequence[str] = ()) -> None:
    """Make a suite run as if Numba's simulator were enabled, with gpukit in its place."""
    os.environ["NUMBA_ENABLE_CUDASIM"] = "1"
    if "numba" in sys.modules:
        vars(importlib.import_module("numba.core.config"))["ENABLE_CUDASIM"] = 1
    if target.active().name == "cuda":
        return
    install()
    _patch_testing(reasons)
    _patch_errors()
    _patch_compiler()
    _patch_layout()
    _patch_memory_counts()
    _patch_linkable()
    _patch_vectors()
    _patch_alignment()


def _optional(name: str) -> ModuleType | None:
    try:
        return importlib.import_module(name)
    except ImportError:
        return None


def _patch_testing(reasons: Sequence[str]) -> None:
    """Run tests whose reason to skip on the simulator does not apply to gpukit."""
    testing = _optional("numba.cuda.testing")
    if testing is not None:
        vars(testing)["skip_on_cudasim"] = skipper([*map(re.escape, RUN), *reasons])


def skipper(patterns: Sequence[str]) -> Callable[[str], Callable[[Any], Any]]:
    """Return a `skip_on_cudasim` that skips unless one of the patterns matches the reason.

    >>> skipper(["warp"])("warp shuffles")(len) is len
    True
    """
    wins = re.compile("|".join(f"(?:{p})" for p in patterns) or "(?!)")

    def skip_on_cudasim(reason: str) -> Callable[[Any], Any]:
        return unittest.skipIf(not wins.match(reason), reason)

    return skip_on_cudasim


def _patch_errors() -> None:
    """Replace numba-cuda's copies of Numba's errors by the originals, which gpukit raises."""
    copies, _ = modules.installed("numba.cuda.core.errors")
    if copies is None:
        return
    from numba.core import errors as originals

    for name, value in list(vars(originals).items()):
        if not isinstance(value, type) or not issubclass(value, Exception):
            continue
        # gpukit raises no errors of Numba's IR, and numba-cuda's copy refers to itself by name.
        if hasattr(copies, name) and not issubclass(value, originals.IRError):
            setattr(copies, name, value)


def _patch_memory_counts() -> None:
    """Make tests for leaks read the allocation counts of the memory that kernels really use."""
    counts = _optional("numba.cuda.memory_management.nrt")
    if counts is None:
        return
    from numba.core.registry import cpu_target
    from numba.core.runtime import _nrt_python, rtsys

    def get_allocation_stats() -> Any:
        rtsys.initialize(cpu_target.target_context)
        _nrt_python.memsys_enable_stats()
        return rtsys.get_allocation_stats()

    counts.rtsys.get_allocation_stats = get_allocation_stats
    counts.rtsys.memsys_disable_stats = lambda: None


def _patch_linkable() -> None:
    """Let modules create linkable CUDA C objects on import, as the simulator does."""
    theirs = _optional("numba.cuda.simulator.cudadrv.linkable_code")
    cpu = vars(importlib.import_module("gpukit.cpu"))
    for name, value in list(vars(theirs).items()) if theirs else ():
        if isinstance(value, type):
            cpu[name] = value
    vars(importlib.import_module("numba.core.config")).setdefault(
        "CUDA_NVRTC_EXTRA_SEARCH_PATHS", ""
    )


def _patch_vectors() -> None:
    """Fill the simulator's table of vector types with gpukit's."""
    theirs = _optional("numba.cuda.simulator.vector_types")
    cpu = importlib.import_module("gpukit.cpu")
    for name, vector in theirs.vector_types.items() if theirs else ():
        vector.user_facing_object = getattr(cpu, name)


def _patch_layout() -> None:
    """Lay out transposed device arrays, and arrays like them, as NumPy does, not as on a GPU."""
    cpu = importlib.import_module("gpukit.cpu")
    array = importlib.import_module("gpukit.cpu.memory.ndarray").DeviceNDArray
    array.transpose = lambda self, axes=None: self.around(self.host.transpose(axes), self.stream)
    for name in ("device_array", "pinned_array"):
        vars(cpu)[f"{name}_like"] = _like_numpy(getattr(cpu, name))


def _like_numpy(make: Callable[..., Any]) -> Callable[..., Any]:
    def like(ary: Any, **options: Any) -> Any:
        host = np.empty_like(getattr(ary, "host", ary))
        return make(ary.shape, ary.dtype, strides=host.strides, **options)

    return like


def _patch_alignment() -> None:
    """Reject the alignment of an array, as the simulator does and its suite expects."""
    shapes = importlib.import_module("gpukit.compiler.shapes")
    check = shapes.check_alignment

    def refuse(unit: Any, call: Any, node: Any) -> None:
        check(unit, call, node)
        if getattr(node, "value", node) is not None:
            raise RuntimeError("Array alignment is not supported in cudasim")

    vars(shapes)["check_alignment"] = refuse


def _patch_compiler() -> None:
    """Implement `compile_ptx` by compiling for the CPU, so that errors are raised."""
    compiler = _optional("numba.cuda.compiler")
    if compiler is not None and getattr(compiler, "compile_ptx", 0) is None:
        vars(compiler)["compile_ptx"] = compile_only


def compile_only(func: Any, sig: Any, **_options: Any) -> tuple[str, Any]:
    """Compile a kernel for the CPU and return its code where a GPU's PTX would be.

    Its first line says that this is no PTX.
    """
    kernel = importlib.import_module("gpukit.cpu").jit(sig)(func)
    code = next(iter(kernel.inspect_llvm().values()))
    return f"; gpukit has no PTX without a GPU toolchain. CPU code:\n{code}", None
