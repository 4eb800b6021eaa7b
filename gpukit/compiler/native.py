"""Compile a Python function of loops to machine code, and load machine code to call it.

Numba compiles; llvmlite loads. A kernel from the disk cache needs only llvmlite, so that its first
launch does not wait for the import of Numba. Each object file has its own engine, which lives as
long as a kernel holds its entry: Numba's engine frees nothing.
"""

from __future__ import annotations

import contextlib
import ctypes
import functools
import hashlib
import threading
import weakref
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from gpukit.compiler import context as layout

_SIGNATURE = ctypes.CFUNCTYPE(
    ctypes.c_int32, ctypes.c_void_p, ctypes.c_void_p, *[ctypes.c_int64] * 5
)
Entry = Callable[[int, int, int, int, int], int]
_lock = threading.Lock()
_loaded: weakref.WeakValueDictionary[bytes, Any] = weakref.WeakValueDictionary()
_kept: list[Any] = []  # code in Numba's engine, which is never freed
# Functions of Python's C API that loaded code may call; others need the process that compiled it.
_PYTHON_CALLS = frozenset(
    ["PyGILState_Ensure", "PyGILState_Release", "PyErr_CheckSignals", "PyErr_Clear"]
)


@dataclass(frozen=True)
class Code:
    """Machine code: an object file, the symbol to call, the symbols that it needs.

    `fixed` code contains addresses of the process that compiled it.
    """

    object: bytes
    symbol: str
    needs: tuple[str, ...]
    fixed: bool = False

    @property
    def movable(self) -> bool:
        """Whether other processes can run it, too."""
        return not self.fixed and not self.uses_python

    @property
    def uses_python(self) -> bool:
        """Whether it works with Python's objects, as `print` does."""
        calls = (n for n in self.needs if n.startswith(("Py", "_Py")))
        return any(n not in _PYTHON_CALLS for n in calls)


def compile(
    function: Any, *, fastmath: Any = False, debug: bool = False, lightly: bool = False
) -> tuple[Entry, Code]:
    """Compile `function(args, first, last, context, scratch)` of int64s; return its entry and code.

    With `debug` a division by zero stops the kernel instead of returning inf. `lightly` as in
    `optimise.library`.
    """
    from numba.core import compiler, types
    from numba.core.compiler_lock import global_compiler_lock
    from numba.core.cpu import FastMathOptions

    from gpukit.compiler import lean, optimise
    from gpukit.compiler.kernel_target import kernel_target

    flags = compiler.Flags()
    flags.nrt = True
    flags.error_model = "python" if debug else "numpy"
    flags.no_cpython_wrapper = True
    flags.no_cfunc_wrapper = True
    flags.no_compile = True  # and do not load
    flags.fastmath = FastMathOptions(fastmath)
    with _lock, global_compiler_lock, lean.kernel_code():
        result = compiler.compile_extra(
            kernel_target.typing_context,
            kernel_target.target_context,
            function,
            (types.int64,) * 5,
            types.none,
            flags,
            {},
            library=optimise.library(function.__name__, lightly=lightly),
            pipeline_class=lean.LeanCompiler,
        )
        library = result.library
        symbol, fixed = result.fndesc.llvm_func_name, library.has_dynamic_globals
        code = Code(library.object_code(), symbol, _needs(library), fixed)
        if _listing is not None:
            _listing.update(llvm=library.get_llvm_str(), asm=library.get_asm_str())
    entry = None if code.uses_python else load(code)
    return entry or _load_for_good(result), code


def _load_for_good(result: Any) -> Entry:
    """Load a function permanently into Numba's engine: if it uses Python objects or recurses."""
    from numba.core.compiler_lock import global_compiler_lock

    with _lock, global_compiler_lock:
        result.library.load()
        executable = result.target_context.get_executable(
            result.library, result.fndesc, result.environment
        )
        _kept.append((result.library, executable))
        return _entry(result.library.get_pointer_to_function(result.fndesc.llvm_func_name))


_listing: dict[str, str] | None = None


@contextlib.contextmanager
def listing() -> Iterator[dict[str, str]]:
    """Collect LLVM IR and assembly of code compiled inside the `with` block."""
    global _listing
    _listing = {}
    try:
        yield _listing
    finally:
        _listing = None


def _needs(library: Any) -> tuple[str, ...]:
    names = {f.name for f in library._final_module.functions if f.is_declaration}
    names |= {g.name for g in library._final_module.global_variables if g.is_declaration}
    return tuple(sorted(n for n in names if not n.startswith("llvm.")))


def load(code: Code) -> Entry | None:
    """Load machine code, unless it is loaded; None if a symbol that it needs is missing."""
    import llvmlite.binding as llvm

    digest = hashlib.sha256(code.symbol.encode() + code.object).digest()
    with _lock:
        known: Entry | None = _loaded.get(digest)
        if known is not None:
            return known
        engine = _engine()
        missing = [n for n in code.needs if llvm.address_of_symbol(n) is None]
        if not all(_found_in_process(n) for n in missing):
            _with_numba()
        if any(llvm.address_of_symbol(n) is None for n in code.needs):
            return None
        engine.add_object_file(llvm.ObjectFileRef.from_data(code.object))
        engine.finalize_object()
        address = engine.get_function_address(code.symbol)
        if not address:
            return None
        _loaded[digest] = entry = _entry(address, engine)
        return entry


def _engine() -> Any:
    import llvmlite.binding as llvm

    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    target = llvm.Target.from_default_triple()
    machine = target.create_target_machine(
        cpu=llvm.get_host_cpu_name(),
        opt=3,
        jit=True,
        codemodel="jitdefault",
        reloc="default" if not _is_arm() else "static",
    )
    empty = llvm.parse_assembly("")
    empty.triple = llvm.get_process_triple()
    return llvm.create_mcjit_compiler(empty, machine)


def _is_arm() -> bool:
    import platform

    return platform.machine().lower() in ("arm64", "aarch64")


# Numba's code can free arrays; those of kernels belong to their callers, so it is never called.
_NEVER_CALLED = {"NRT_MemInfo_call_dtor": "PyErr_Clear"}


def _found_in_process(name: str) -> bool:
    """Register a function of Python or the C library with LLVM, if this process has it."""
    import llvmlite.binding as llvm

    for library in (ctypes.pythonapi, _process()):
        try:
            function = getattr(library, _NEVER_CALLED.get(name, name))
        except (AttributeError, TypeError):
            continue
        address = ctypes.cast(function, ctypes.c_void_p).value
        llvm.add_symbol(name, address)
        return True
    return False


@functools.cache
def _process() -> Any:
    try:
        return ctypes.CDLL(None)
    except (OSError, TypeError):  # Windows has no handle for all loaded libraries
        return None


def _with_numba() -> None:
    """Import Numba so that it registers the helpers that its code calls."""
    from gpukit.compiler import lean

    lean.fill_tables()


def _entry(address: int, engine: Any = None) -> Entry:
    """Return a function that calls the code at an address, and keeps it alive."""
    call = _SIGNATURE(address)

    def enter(args: int, first: int, last: int, context: int, scratch: int) -> int:
        # In Numba's calling convention the pointers to result and exception come first.
        result, error = context + 8 * layout.RESULT, context + 8 * layout.ERROR
        return int(call(result, error, args, first, last, context, scratch))

    enter.engine = engine  # type: ignore[attr-defined]
    return enter


def host() -> str:
    """Return what machine code depends on: processor, its features, LLVM."""
    import llvmlite
    import llvmlite.binding as llvm

    features = ",".join(sorted(k for k, v in llvm.get_host_cpu_features().items() if v))
    return (
        f"{llvm.get_process_triple()} {llvm.get_host_cpu_name()} {features} {llvmlite.__version__}"
    )
