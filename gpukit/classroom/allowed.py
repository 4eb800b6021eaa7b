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
import re
from types import ModuleType
from typing import Any


def _names(text: str) -> frozenset[str]:
    return frozenset(text.split())


# Attributes that lead from an object to its frames, its code or raw memory, without underscores.
INTROSPECTIVE = _names(
    """
    ag_await ag_code ag_frame capsule cffi cr_await cr_code cr_frame cr_origin ctypes
    device_ctypes_pointer dump dumps evaluate_bound evaluate_constraints evaluate_default
    evaluate_value f_back f_builtins f_code f_generator f_globals f_lasti f_lineno f_locals f_trace
    format_map from_address func_closure func_code func_defaults func_dict func_globals gi_code
    gi_frame gi_yieldfrom mro tb_frame tb_lasti tb_lineno tb_next tofile
    """
)
# Attributes that lead from an error to the module that lacks a name, from a kernel to what launches
# it, and to the memory of arrays. They are usual names, so they may be defined.
INNER = _names("gpu_data launcher obj overloads resize specializations targetoptions")
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
# Built-in functions that the rules rely on, and what takes the members of an enumeration away.
RELIED_ON = frozenset({"_ignore_", "isinstance", "issubclass", "super"})
# Built-in functions that a submission may neither use nor define again, so that no mistake about
# the scope of a name can give it one.
FORBIDDEN_BUILTINS = _names(
    """
    BaseException BaseExceptionGroup GeneratorExit KeyboardInterrupt SystemExit breakpoint compile
    delattr eval exec getattr globals help locals memoryview open setattr type vars
    """
)
_FORBIDDEN = [getattr(builtins, n) for n in FORBIDDEN_BUILTINS if hasattr(builtins, n)]

# What carries messages and copies, and counts them: host code may set none of it.
OF_RANKS_AND_ARRAYS = _names(
    """
    all_gather all_reduce barrier broadcast copy_to_host irecv isend observer rank recv reduce
    reduce_scatter send size test wait world
    """
)
# Functions that set attributes of what they are given: they may only decorate what follows.
FOR_DECORATORS = frozenset({"dataclasses.dataclass", "functools.total_ordering", "functools.wraps"})
# Classes that make classes, whose attributes are texts, where they are called.
FOR_BASES = frozenset({"enum.Enum", "enum.IntEnum", "typing.NamedTuple"})
# A class of which an object can be made at any address, and one that stands for `type` as a base.
FOR_HINTS = frozenset({"numpy.ndarray", "numpy.typing.NDArray", "typing.Type"})
# With a second argument it collects the dictionaries that hold the attributes of what it copies.
FOR_CALLS = frozenset({"copy.deepcopy"})
FOR_ONE_USE = FOR_DECORATORS | FOR_BASES | FOR_HINTS | FOR_CALLS
_ANY = None  # all public names: those of `__all__`, if there is one
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
_NUMPY_MEMORY_AND_FILES = _names(
    """
    DataSource ScalarType bmat chararray ctypeslib frombuffer fromfile frompyfunc fromregex
    genfromtxt get_include getbufsize info load loadtxt lookfor memmap recarray save savetxt savez
    savez_compressed sctypeDict set_string_function setbufsize seterrcall show_config show_runtime
    source test vectorize
    """
)
_CUDA_RANDOM = _names(
    """
    create_xoroshiro128p_states init_xoroshiro128p_state init_xoroshiro128p_states
    init_xoroshiro128p_states_cpu splitmix64 uint64_to_unit_float32 uint64_to_unit_float64
    xoroshiro128p_dtype xoroshiro128p_jump xoroshiro128p_next xoroshiro128p_normal_float32
    xoroshiro128p_normal_float64 xoroshiro128p_type xoroshiro128p_uniform_float32
    xoroshiro128p_uniform_float64
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
    "gpukit.cuda.libdevice": _ANY,
    "gpukit.cuda.random": _CUDA_RANDOM,
    "gpukit.cuda.types": _ANY,
    "gpukit.primitives.async_copy": _ANY,
    "gpukit.primitives.dot4": _ANY,
    "gpukit.primitives.tensor": _ANY,
    "gpukit.primitives.unroll": _ANY,
    "gpukit.primitives.vectorized": _ANY,
    "itertools": _ANY,
    "math": _ANY,
    "numba": _NUMBA,
    "numba.cuda": _CUDA,
    "numba.cuda.libdevice": _ANY,
    "numba.cuda.random": _CUDA_RANDOM,
    "numba.cuda.types": _ANY,
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
_LEFT_OUT = {
    "numpy": _NUMPY_MEMORY_AND_FILES,
    "gpukit.nn": frozenset({"cifar10", "fit", "load", "save"}),
}


def is_module(name: str, host: bool) -> bool:
    """Tell whether a submission may import a module, or name it on a path to another one."""
    return name in _MODULES or name in _FOLDERS or (host and name in _FOR_HOST_CODE)


def step(module: str, name: str, host: bool) -> str | None:
    """Return the module that `name` of a module is, "" for another object, None if not allowed.

    A name that does not exist is not allowed: the error about it would hold the module.
    """
    inner = f"{module}.{name}"
    if is_module(inner, host):
        return inner
    if module == "gpukit":
        return "" if host and name in _of_the_book() else None
    return "" if _is_public(module, name) else None


def why_not(module: str, name: str) -> str:
    """Say why a name of a module is not allowed."""
    if not hasattr(_imported(module), name):
        return f"{module} has no {name}."
    return f"a submission may not use {module}.{name}."


@functools.cache
def _is_public(module: str, name: str) -> bool:
    """Tell whether the list of a module has a name, and the module an object that may be used."""
    found, listed = _imported(module), _MODULES.get(module, frozenset())
    if listed is _ANY or module in _FOR_HOST_CODE:
        listed = frozenset(getattr(found, "__all__", None) or dir(found))
    if name.startswith("_") or name in _LEFT_OUT.get(module, ()):
        return False
    known = name in listed or _is_type(module, name)
    return known and hasattr(found, name) and not is_hidden(getattr(found, name))


def is_hidden(found: Any) -> bool:
    """Tell whether no list can allow an object: a module, or what makes classes or runs tests."""
    makes_classes = isinstance(found, type) and issubclass(found, type)
    runs_tests = type(found).__name__ == "PytestTester"
    forbidden = any(found is value for value in _FORBIDDEN)
    return isinstance(found, ModuleType) or makes_classes or runs_tests or forbidden


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
    of_cuda = re.sub(r"^(gpukit|numba)\.cuda\b", "gpukit.cpu", module)
    return importlib.import_module("numba.types" if of_cuda == "gpukit.cpu.types" else of_cuda)


@functools.cache
def methods_of_models() -> frozenset[str]:
    """Return the names of methods of what host code is given: models, optimizers, parameters."""
    from gpukit import nn

    classes = [value for value in vars(nn).values() if isinstance(value, type)]
    return frozenset(n for c in classes for n in dir(c) if callable(getattr(c, n, None)))
