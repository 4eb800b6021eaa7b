"""The Numba target of kernels: a CUDA target by its place among Numba's, a CPU by its code.

What is registered with Numba for the target "cuda", "gpu" or "generic" is found in kernels, the
most specific first; what is registered for "cpu" is not, and `numba.njit` sees nothing of what is
registered for "cuda". A function that was decorated with `numba.njit` is compiled anew for kernels.
"""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Callable, Iterator
from types import BuiltinFunctionType
from typing import Any

from numba.core import (
    compiler,
    cpu,
    decorators,
    extending,
    externals,
    imputils,
    registry,
    target_extension,
    targetconfig,
    types,
    typing,
)
from numba.core.dispatcher import Dispatcher
from numba.core.typing import templates

from gpukit import interrupts

NAME = "gpukit"


class CUDA(target_extension.CUDA):
    """The place of kernels in Numba's hierarchy of targets."""


class _Declarations(templates.Registry):
    """Typing templates for kernels alone, which win over those that are registered for all."""

    def register(self, item: Any) -> Any:
        return super().register(_for_cuda(item))

    def register_attr(self, item: Any) -> Any:
        return super().register_attr(_for_cuda(item))


def _for_cuda(template: Any) -> Any:
    template.metadata = {"target": "cuda", **getattr(template, "metadata", {})}
    return template


# What other people's code declares by `cuda.cudadecl` and `cuda.cudaimpl`.
declarations = _Declarations()
implementations = imputils.Registry("gpukit")


# Functions of Numba's own and their arguments, of which the types say all.
_FUNCTIONS = (types.Function, types.NumberClass, BuiltinFunctionType)
_PLAIN = (types.Number, types.Boolean, types.Array)


class _Refreshed:
    """Makes a context look through its registries only where something was registered since.

    Numba asks for that at every call of an intrinsic.
    """

    _registries: dict[Any, Any]
    _seen = -1

    def refresh(self) -> None:
        registered = sum(
            len(getattr(known, items))
            for known, loader in self._registries.items()
            for items in loader.registry_items
        )
        if registered == self._seen:
            return
        # Numba reads each registry once: what is cut off in the middle is never filled.
        with interrupts.held(), target_extension.target_override(NAME):
            super().refresh()  # type: ignore[misc]
        self._seen = registered


class CUDATypingContext(_Refreshed, typing.BaseContext):
    """Finds the types of kernels; `inlined` are the overloads that may be put in at their calls.

    It loads what Numba's CPU context loads without being one: people's code asks which it is.
    """

    def __init__(self) -> None:
        self.inlined: list[Any] = []
        self._typed: dict[Any, Any] | None = None
        super().__init__()

    def insert_function(self, ft: Any) -> None:
        self._note(ft)
        super().insert_function(ft)

    def insert_attributes(self, at: Any) -> None:
        self._note(at)
        super().insert_attributes(at)

    def _note(self, template: Any) -> None:
        inline = getattr(template, "_inline", None)
        if inline is not None and not inline.is_never_inline:
            self.inlined.append(template)

    def load_additional_registries(self) -> None:
        typing.Context.load_additional_registries(self)
        self.install_registry(declarations)

    def resolve_value_type(self, val: Any) -> Any:
        return super().resolve_value_type(_for_kernels(val))

    @contextlib.contextmanager
    def calls_typed_once(self) -> Iterator[None]:
        """Find the type of `a - b` and other calls once for equal types of the arguments.

        Numba tries what it knows of a function, one after the other, at every call; a large kernel
        has thousands of calls and a few hundred different ones. Only functions whose answer the
        types alone decide are remembered, under the flags of one compilation, to the end of the
        `with` block.
        """
        before, self._typed = self._typed, {} if self._typed is None else self._typed
        try:
            yield
        finally:
            self._typed = before

    def resolve_function_type(self, func: Any, args: Any, kws: Any) -> Any:
        plain = isinstance(func, _FUNCTIONS) and all(isinstance(a, _PLAIN) for a in args)
        if self._typed is None or kws or not plain:
            return super().resolve_function_type(func, args, kws)
        # The flags stand for themselves, and stay alive as long as their number is used.
        flags = targetconfig.ConfigStack.top_or_none()
        key = id(flags), func, tuple(args)
        if key not in self._typed:
            self._typed[key] = flags, super().resolve_function_type(func, args, kws)
        return self._typed[key][1]


class _Registries(dict[Any, Any]):
    """The registries of a context, of which Numba asks where to put what belongs to its target.

    It takes the one that all targets share where that is there, else the first. `numba.njit` would
    find in the shared one how methods are lowered that are meant for kernels.
    """

    def __contains__(self, registry: object) -> bool:
        return registry is not imputils.builtin_registry and super().__contains__(registry)


def _is_for_kernels(lowered: Any) -> bool:
    """Tell whether what lowers a method or attribute may do so in kernels.

    Numba keeps no target with it, but the template of the overload, which it was made for, has one.
    """
    made = getattr(lowered, "__wrapped__", lowered)
    code = getattr(made, "__code__", None)
    cells = dict(zip(code.co_freevars, made.__closure__ or (), strict=True)) if code else {}
    template = cells["self"].cell_contents if "self" in cells else None
    named = getattr(template, "metadata", {}).get("target", "generic")
    return CUDA.inherits_from(target_extension.target_registry[named])


class CUDATargetContext(_Refreshed, cpu.CPUContext):
    """Makes LLVM IR of kernels, in the engine of Numba's CPU target."""

    def init(self) -> None:
        context = registry.cpu_target.target_context
        self.is32bit, self._internal_codegen = context.is32bit, context.codegen()
        externals.c_math_functions.install(self)
        self._registries = _Registries()

    def refresh(self) -> None:
        super().refresh()
        self.typing_context.refresh()  # where only that has something new

    def load_additional_registries(self) -> None:
        self.install_registry(implementations)  # the first
        super().load_additional_registries()

    def insert_func_defn(self, defns: Any) -> None:
        """Leave out methods of other targets, such as what `numba.njit` allocates arrays by.

        Numba registers one when it is first used, and of two would take the last.
        """
        super().insert_func_defn([d for d in defns if _is_for_kernels(d[0])])

    def _insert_getattr_defn(self, defns: Any) -> None:
        super()._insert_getattr_defn([d for d in defns if _is_for_kernels(d[0])])

    def _compile_subroutine_no_cache(
        self, builder: Any, impl: Any, sig: Any, locals: Any = None, flags: Any = None
    ) -> Any:
        """Let Numba's own functions divide by the rule of the function that calls them.

        Left alone, it compiles them by Python's: `x ** -2` then raises where x is 0.
        """
        if flags is None:
            flags = compiler.Flags()
            flags.nrt = True
            python = self.error_model is not None and self.error_model.raise_on_fp_zero_division
            flags.error_model = "python" if python else "numpy"
        return super()._compile_subroutine_no_cache(builder, impl, sig, locals, flags)


class _Target(registry.CPUTarget):
    @functools.cached_property
    def _toplevel_typing_context(self) -> CUDATypingContext:
        return CUDATypingContext()

    @functools.cached_property
    def _toplevel_target_context(self) -> CUDATargetContext:
        return CUDATargetContext(self.typing_context, self._target_name)


kernel_target = _Target(NAME)


class KernelDispatcher(registry.CPUDispatcher):
    """A function that Numba compiles for kernels to call."""

    targetdescr = kernel_target


def jit(function: Any = None, **options: Any) -> Any:
    """Return a function for kernels, as `numba.njit` does for the CPU."""
    return decorators.jit(function, _target=NAME, **options)


def _for_kernels(value: Any) -> Any:
    """Return a function of `numba.njit` as one for kernels; anything else as it is."""
    if not isinstance(value, Dispatcher) or isinstance(value, KernelDispatcher):
        return value
    made = vars(value).get("_gpukit_kernels")
    if made is None:
        made = KernelDispatcher(value.py_func, dict(value.locals), value.targetoptions)
        value._gpukit_kernels = made
    return made


# What makes of an overload's implementation one that Numba can find types for (`lowering.typing`).
forms: list[Callable[[Any], Any]] = []


def _jit_overload(**options: Any) -> Any:
    """Return what compiles the implementation of an overload, for its types above all."""

    def decorate(function: Any) -> Any:
        for form in forms:
            function = form(function)
        return jit(function, **options)

    return decorate


def _allocate(cls, allocsize, align):  # type: ignore[no-untyped-def]
    """Make new arrays in the memory of Numba's CPU target, which says so for itself alone."""
    from numba.np.arrayobj import intrin_alloc

    return lambda cls, allocsize, align: intrin_alloc(allocsize, align)


target_extension.target_registry[NAME] = CUDA
target_extension.dispatcher_registry[CUDA] = KernelDispatcher
target_extension.jit_registry[CUDA] = _jit_overload
extending.overload_classmethod(types.Array, "_allocate", target=NAME)(_allocate)
