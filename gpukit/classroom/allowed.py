"""What a submission may import and name.

Names are looked up in the modules themselves, so that the lists below are of what is left out and
of the few modules that hold files, processes or the interpreter as well. A module is never a value:
`np.exp` is a function of NumPy, `f(np)` is refused, and so a submission reaches only what the path
that it writes leads to.
"""

from __future__ import annotations

import builtins
import functools
import importlib
from types import ModuleType
from typing import Any


def _names(text: str) -> frozenset[str]:
    return frozenset(text.split())


# Attributes that lead from an object to its frames, its code or raw memory, without underscores.
INTROSPECTIVE = _names(
    """
    ag_await ag_code ag_frame cr_await cr_code cr_frame cr_origin ctypes dump dumps f_back
    f_builtins f_code f_generator f_globals f_lasti f_lineno f_locals f_trace format_map
    func_globals gi_code gi_frame gi_yieldfrom mro tb_frame tb_lasti tb_lineno tb_next tofile
    """
)
# Methods with two underscores that a class may define.
SPECIAL_METHODS = _names(
    """
    __abs__ __add__ __and__ __bool__ __call__ __contains__ __enter__ __eq__ __exit__ __float__
    __floordiv__ __ge__ __getitem__ __gt__ __hash__ __iadd__ __imul__ __init__ __int__ __invert__
    __isub__ __iter__ __itruediv__ __le__ __len__ __lt__ __matmul__ __mod__ __mul__ __ne__ __neg__
    __next__ __or__ __pos__ __post_init__ __pow__ __radd__ __repr__ __rfloordiv__ __rmatmul__
    __rmod__ __rmul__ __rpow__ __rsub__ __rtruediv__ __setitem__ __slots__ __str__ __sub__
    __truediv__ __xor__
    """
)
# Built-in functions that a submission may neither use nor define again, so that no mistake about
# the scope of a name can give it one.
FORBIDDEN_BUILTINS = _names(
    """
    BaseException BaseExceptionGroup GeneratorExit KeyboardInterrupt SystemExit breakpoint compile
    delattr eval exec getattr globals help locals memoryview open setattr type vars
    """
)
BUILTINS = frozenset(n for n in dir(builtins) if not n.startswith("_")) - FORBIDDEN_BUILTINS

# What carries messages and copies, and counts them: host code may set none of it.
OF_RANKS_AND_ARRAYS = _names(
    """
    all_gather all_reduce barrier broadcast copy_to_host irecv isend observer rank recv reduce
    reduce_scatter send size test wait world
    """
)
# Functions that set attributes, or make classes, whose names are texts.
FOR_DECORATORS = frozenset({"functools.wraps"})
FOR_CLASSES = frozenset({"enum.Enum", "enum.IntEnum", "typing.NamedTuple"})
_ANY = None  # all public names that are no modules
_CUDA = _names(
    """
    activemask all_sync any_sync atomic ballot_sync blockDim blockIdx brev cbrt cg clz const
    default_stream device_array device_array_like eq_sync event event_elapsed_time ffs fma fp16
    grid gridDim gridsize is_available jit laneid lanemask_lt ldca ldcg ldcs ldcv ldlu libdevice
    local mapped_array match_all_sync match_any_sync nanosleep pinned_array popc random rsqrt selp
    shared shfl_down_sync shfl_sync shfl_up_sync shfl_xor_sync stcg stcs stream stwb stwt
    synchronize syncthreads syncthreads_and syncthreads_count syncthreads_or syncwarp threadIdx
    threadfence threadfence_block threadfence_system to_device types vectorize warpsize
    """
)
_NUMPY_FILES = _names(
    """
    DataSource ctypeslib frombuffer fromfile fromregex genfromtxt get_include getbufsize info load
    loadtxt lookfor memmap save savetxt savez savez_compressed setbufsize seterrcall
    set_string_function show_config show_runtime source test vectorize frompyfunc
    """
)
_NUMBA = _names(
    """
    boolean byte c16 c8 char complex128 complex64 cuda double f4 f8 float32 float64 float_ i1 i2 i4
    i8 int16 int32 int64 int8 int_ intc intp literal_unroll long_ short types u1 u2 u4 u8 uchar
    uint uint16 uint32 uint64 uint8 uintc uintp ulong ushort void
    """
)
# The modules that a submission may import, by the names that it may use of them.
_MODULES: dict[str, frozenset[str] | None] = {
    "__future__": _ANY,
    "abc": frozenset({"ABC", "abstractmethod"}),
    "cmath": _ANY,
    "collections": frozenset({"Counter", "OrderedDict", "defaultdict", "deque", "namedtuple"}),
    "contextlib": frozenset({"contextmanager", "nullcontext", "suppress"}),
    "copy": frozenset({"copy", "deepcopy"}),
    "dataclasses": frozenset({"dataclass", "field", "replace"}),
    "enum": frozenset({"Enum", "IntEnum", "auto"}),
    "functools": frozenset(
        {"cache", "cached_property", "lru_cache", "partial", "reduce", "total_ordering", "wraps"}
    ),
    "gpukit.cuda": _CUDA,
    "gpukit.primitives.async_copy": _ANY,
    "gpukit.primitives.dot4": _ANY,
    "gpukit.primitives.tensor": _ANY,
    "gpukit.primitives.unroll": _ANY,
    "gpukit.primitives.vectorized": _ANY,
    "itertools": _ANY,
    "math": _ANY,
    "numba": _NUMBA,
    "numba.cuda": _CUDA,
    "numba.types": _ANY,
    "numbers": _ANY,
    "numpy": _ANY,
    "numpy.linalg": _ANY,
    "numpy.random": _ANY,
    "numpy.typing": _ANY,
    "operator": frozenset({"add", "floordiv", "matmul", "mod", "mul", "neg", "sub", "truediv"}),
    "random": frozenset({"choice", "randint", "random", "seed", "shuffle", "uniform"}),
    "sys": frozenset({"float_info", "maxsize", "setrecursionlimit", "version_info"}),
    "time": frozenset({"perf_counter", "sleep", "time"}),
    "typing": _names(
        """
        Any Callable ClassVar Dict Final Generic Iterable Iterator List Literal Mapping NamedTuple
        Optional Protocol Sequence Set Tuple Type TypeAlias TypeVar Union TYPE_CHECKING cast
        """
    ),
    "warnings": frozenset({"catch_warnings", "filterwarnings", "simplefilter", "warn"}),
}
# Packages of which only modules are imported: their own names are those.
_FOLDERS = {"gpukit", "gpukit.primitives"}
# Host code is written with the book; a kernel that calls it would hand in the book's own kernel.
_FOR_HOST_CODE = {"gpukit.nn"}
_UNTIED = {"numpy": _NUMPY_FILES}


def is_module(name: str, host: bool) -> bool:
    """Tell whether a submission may import a module, or name it on a path to another one."""
    return name in _MODULES or name in _FOLDERS or (host and name in _FOR_HOST_CODE)


def step(module: str, name: str, host: bool) -> str | None:
    """Return the module that `name` of a module is, "" for another object, None if not allowed."""
    if name.startswith("_") and module != "__future__":
        return None
    inner = f"{module}.{name}"
    if is_module(inner, host):
        return inner
    if module == "gpukit":
        return "" if host and name in _of_the_book() else None
    names = _MODULES.get(module, frozenset()) if module not in _FOR_HOST_CODE else _ANY
    if names is _ANY and module.startswith("gpukit."):
        names = frozenset(_imported(module).__all__)
    if names is not None and name not in names and not _is_type(module, name):
        return None
    if name in _UNTIED.get(module, ()):
        return None
    try:
        found = getattr(_imported(module), name)
    except AttributeError:
        return ""  # no such name: Python's own message says so
    return None if _is_hidden(found, module) else ""


def _is_hidden(found: Any, module: str) -> bool:
    """Tell whether an object is a module, other than the two parts of `cuda` that kernels use."""
    parts = {"gpukit.cpu.libdevice", "gpukit.cpu.random", "numba.core.types"}
    return isinstance(found, ModuleType) and not (
        module.endswith(".cuda") and found.__name__ in parts
    )


def _is_type(module: str, name: str) -> bool:
    """Tell whether a name of `cuda` is a type of Numba's or CUDA's: `cuda.float32`, `float32x4`."""
    if not module.endswith(".cuda"):
        return False
    from gpukit.cpu import vector_types

    return name in _NUMBA or name in vector_types.NAMES


@functools.cache
def _of_the_book() -> frozenset[str]:
    """Return the host functions of the book: `gpukit.softmax`."""
    import gpukit
    from gpukit import kernels

    public = (name for name in dir(gpukit) if not name.startswith("_"))
    return frozenset(
        name
        for name in public
        if str(getattr(getattr(gpukit, name), "__module__", "")).startswith(kernels.__name__)
    )


@functools.cache
def _imported(module: str) -> ModuleType:
    """Return a module; that of the CPU target for `cuda`, wherever the grader itself runs."""
    return importlib.import_module("gpukit.cpu" if module.endswith(".cuda") else module)


@functools.cache
def methods_of_models() -> frozenset[str]:
    """Return the names of methods of what host code is given: models, optimizers, parameters."""
    from gpukit import nn

    classes = [value for value in vars(nn).values() if isinstance(value, type)]
    return frozenset(n for c in classes for n in dir(c) if callable(getattr(c, n, None)))
