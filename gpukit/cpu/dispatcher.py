"""`cuda.jit`: kernels and device functions, launched as Numba launches them."""

from __future__ import annotations

import functools
import inspect
import time
from collections.abc import Callable
from typing import Any

from gpukit import errors, interrupts, target
from gpukit.compiler.frontend import unsaved
from gpukit.cpu import options as checks
from gpukit.cpu import pickling, streams
from gpukit.cpu.device_function import DeviceFunction
from gpukit.cpu.launch import configure, failure, marshal
from gpukit.cpu.launch.launcher import Launcher

# Options of numba.cuda.jit. Those not used here have no effect on a CPU.
_OPTIONS = frozenset(
    [
        "device",
        "inline",
        "forceinline",
        "link",
        "debug",
        "opt",
        "lineinfo",
        "cache",
        "fastmath",
        "max_registers",
        "launch_bounds",
        "lto",
        "boundscheck",
        "extensions",
        "fast_math",
        "shared_memory_carveout",
        "error_model",
        "nopython",
        "abi",
        "abi_info",
        "target",
        "bind",
        "no_wrapper",
    ]
)


def jit(func_or_sig: Any = None, **options: Any) -> Any:
    """Make a kernel, or with `device=True` a function that kernels call.

    Accepts what `numba.cuda.jit` accepts: nothing, one signature, or a list of them. `fastmath`,
    `debug` and `extensions` work as there; `boundscheck=False` lets a kernel skip the check of
    every access that cannot be checked before a loop. The other options are accepted.
    """
    unknown = sorted(set(options) - _OPTIONS)
    if unknown:
        known = sorted(_OPTIONS)
        raise TypeError(f"cuda.jit has no option {unknown[0]!r}; expected one of {known}")
    checks.check(options)
    if func_or_sig is None or _is_signature(func_or_sig):
        signatures = _signature_list(func_or_sig)
        return lambda function: _make(function, signatures, options)
    return _make(func_or_sig, [], options)


def _is_signature(value: Any) -> bool:
    if isinstance(value, (str, tuple, list)):
        return True
    return type(value).__module__.startswith("numba") and not hasattr(value, "py_func")


def _signature_list(value: Any) -> list[Any]:
    if value is None:
        return []
    return list(value) if isinstance(value, list) else [value]


def _make(function: Any, signatures: list[Any], options: dict[str, Any]) -> Any:
    function = getattr(function, "py_func", function)
    if not callable(function) or not hasattr(function, "__code__"):
        raise TypeError(f"cuda.jit needs a Python function, got {function!r}")
    kind = DeviceFunction if options.get("device") else Kernel
    return kind(function, signatures, options)


class Kernel:
    """A kernel. Launch it with `kernel[grid, block, stream, shared_bytes](*arguments)`."""

    # The parameters whose NumPy arrays a GPU launch copies back to the host; None for all.
    outputs: tuple[str, ...] | None = None

    def __init__(
        self, function: Callable[..., Any], signatures: list[Any], options: dict[str, Any]
    ) -> None:
        unsaved.remember(function)
        functools.update_wrapper(self, function)
        self.py_func = function
        self.targetoptions = options
        self.device = False
        self.extensions = list(options.get("extensions") or [])
        self._configured: dict[Any, Configured] = {}
        self._given = signatures
        self.specializations: dict[tuple[Any, ...], Kernel] = {}
        self.launcher = Launcher(self)
        for signature in signatures:
            self.launcher.declare(signature)

    @property
    def device_options(self) -> dict[str, Any]:
        """Options for numba.njit, where another kernel calls this one as a function."""
        return {}

    def __getitem__(self, items: Any) -> Configured:
        try:
            made = self._configured.get(items)
        except TypeError:  # unhashable, such as a configuration with lists
            return Configured(self, configure.parse(items))
        if made is None or _has_float(items):  # 2.0 == 2, but sizes must be integers
            made = Configured(self, configure.parse(items))
            self._configured[items] = made
        return made

    def configure(self, griddim: Any, blockdim: Any, stream: Any = 0, sharedmem: int = 0) -> Any:
        """Return the kernel ready to be called, as `kernel[griddim, blockdim, ...]`."""
        return self[griddim, blockdim, stream, sharedmem]

    def __call__(self, *_: Any, **__: Any) -> Any:
        name = self.py_func.__name__
        raise errors.LaunchError(
            f"launch configuration was not specified: write {name}[blocks_in_grid, "
            f"threads_in_block](...), with square brackets before the arguments."
        )

    def forall(self, ntasks: int, tpb: int = 0, stream: Any = 0, sharedmem: int = 0) -> Any:
        """Return the kernel configured for at least `ntasks` threads in one dimension."""
        if ntasks < 0:
            raise errors.LaunchError(
                f"Can't create ForAll with negative task count: {ntasks}. Use the number of "
                "elements, which is 0 or more."
            )
        return ForAll(self, ntasks, tpb, stream, sharedmem)

    @property
    def signatures(self) -> list[Any]:
        """The argument types for which the kernel was compiled."""
        return list(self.launcher.overloads())

    @property
    def overloads(self) -> dict[Any, Any]:
        """The compiled overloads, by argument types."""
        return self.launcher.overloads()

    @property
    def nopython_signatures(self) -> list[Any]:
        """Like `signatures`; every kernel is compiled without Python objects."""
        return self.signatures

    def specialize(self, *arguments: Any) -> Kernel:
        """Return the kernel specialized for the types of these arguments, or for these types."""
        if self.specialized:
            raise errors.TargetError(
                f"Dispatcher already specialized: {self.py_func.__name__} has a fixed signature. "
                "Specialize the kernel without a signature."
            )
        types = tuple(_type_of(a) for a in arguments)
        if types not in self.specializations:
            self.specializations[types] = Kernel(self.py_func, [types], self.targetoptions)
        return self.specializations[types]

    @property
    def specialized(self) -> bool:
        """Whether the kernel was specialized for given types."""
        return bool(self._given)

    def compile(self, signature: Any) -> Any:
        """Check the types of the kernel for a signature; return its overload."""
        return self.launcher.declare(signature)

    def inspect_types(self, file: Any = None) -> None:
        """Print the types of the kernel's variables for every signature."""
        for types in self.overloads:
            print(self.py_func.__name__, types, file=file)

    def inspect_llvm(self, signature: Any = None) -> Any:
        """Return the LLVM IR of the compiled loops, by signature."""
        return self.launcher.inspect("llvm", signature)

    def inspect_asm(self, signature: Any = None) -> Any:
        """Return this machine's assembly of the compiled loops, by signature."""
        return self.launcher.inspect("asm", signature)

    def inspect_sass(self, signature: Any = None) -> Any:
        """Raise: SASS is the machine code of NVIDIA GPUs."""
        raise errors.TargetError(
            "inspect_sass needs the CUDA toolkit: the cpu target generates this machine's code, "
            "see inspect_asm() and gpukit.explain(kernel, *arguments)."
        )

    def inspect_lto_ptx(self, signature: Any = None) -> Any:
        """Raise: PTX is made for NVIDIA GPUs."""
        return self.inspect_sass(signature)

    def get_regs_per_thread(self, signature: Any = None) -> Any:
        """Raise: a CPU has no register count per GPU thread."""
        raise errors.TargetError(
            "Registers are counted by NVIDIA's compiler. Install it to ask for them on the cuda "
            f"target, {target.INSTALL}"
        )

    def get_shared_mem_per_block(self, signature: Any = None) -> Any:
        """Return the bytes of static shared memory, by signature."""
        return self.launcher.per_overload("shared_bytes", signature)

    def get_local_mem_per_thread(self, signature: Any = None) -> Any:
        """Return the bytes of local arrays per thread, by signature."""
        return self.launcher.per_overload("local_bytes", signature)

    def get_const_mem_size(self, signature: Any = None) -> Any:
        """Return the bytes of constant arrays, by signature."""
        return self.launcher.per_overload("const_bytes", signature)

    def get_max_threads_per_block(self, signature: Any = None) -> Any:
        """Return the largest block size, by signature."""
        return self.launcher.per_overload("max_threads_per_block", signature)

    def __signature__(self) -> inspect.Signature:  # pragma: no cover - for help()
        return inspect.signature(self.py_func)

    def __repr__(self) -> str:
        return f"<kernel {self.py_func.__qualname__}>"

    def __reduce__(self) -> Any:
        return pickling.reduced(self, _make, self._given, self.targetoptions)


def _type_of(argument: Any) -> Any:
    from numba.core import types

    if isinstance(argument, types.Type):
        return argument
    return marshal.numba_type(marshal.pack((argument,)).kinds[0])


def _has_float(items: tuple[Any, ...]) -> bool:
    """Tell whether a float is among the items, or in a tuple among them."""
    for item in items:
        if type(item) is float or (type(item) is tuple and float in map(type, item)):
            return True
    return False


class Configured:
    """A kernel with its launch configuration; calling it launches."""

    def __init__(self, kernel: Kernel, shape: configure.Configuration) -> None:
        self.kernel = kernel
        self.shape = shape

    @property
    def griddim(self) -> tuple[int, int, int]:
        """The grid as (x, y, z)."""
        return self.shape.grid

    @property
    def blockdim(self) -> tuple[int, int, int]:
        """The block as (x, y, z)."""
        return self.shape.block

    @property
    def stream(self) -> Any:
        """The stream."""
        return self.shape.stream

    @property
    def sharedmem(self) -> int:
        """The bytes of dynamic shared memory."""
        return self.shape.shared

    def __call__(self, *arguments: Any, **named: Any) -> None:
        __tracebackhide__ = True  # IPython and pytest then show the user's own lines
        if named:
            name = self.kernel.py_func.__name__
            raise errors.ArgumentError(
                f"{name}: a kernel takes no keyword arguments, got {', '.join(named)}. "
                f"Write {name}[grid, block](...) with all arguments in order."
            )
        if self.kernel.targetoptions.get("launch_bounds") is not None:
            name, options = self.kernel.py_func.__name__, self.kernel.targetoptions
            checks.check_launch(name, options, self.shape.threads)
        began = time.perf_counter_ns()
        try:
            self.kernel.launcher.launch(self.shape, arguments)
        except errors.GpukitError as error:
            raise failure.at_line(error) from error.__cause__
        except KeyboardInterrupt as stopped:
            words = f"kernel {self.kernel.py_func.__name__} was stopped by Ctrl-C"
            raise interrupts.brief(stopped, words) from None
        finally:
            streams.launched(self.shape.stream, began)

    def __repr__(self) -> str:
        return f"{self.kernel!r}[{self.shape.grid}, {self.shape.block}]"


class ForAll:
    """A kernel that is launched with enough threads for a number of tasks."""

    def __init__(self, kernel: Any, tasks: int, block: int, stream: Any, shared: int) -> None:
        self.kernel = kernel  # a Kernel, or an object launched like one
        self.tasks = tasks
        self.block = block or 256
        self.stream = stream
        self.shared = shared

    def __call__(self, *arguments: Any) -> Any:
        if self.tasks == 0:
            return None
        blocks = (self.tasks + self.block - 1) // self.block
        return self.kernel[blocks, self.block, self.stream, self.shared](*arguments)


__all__ = ["DeviceFunction", "ForAll", "Kernel", "jit"]
