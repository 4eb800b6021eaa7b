"""The Numba target of kernels: CUDA in Numba's hierarchy of targets, but code for the CPU.

Kernels find what is registered with Numba for the target "cuda", "gpu" or "generic", the most
specific first, but not what is registered for "cpu"; `numba.njit` finds nothing that is registered
for "cuda". A function decorated with `numba.njit` is compiled separately for kernels.
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
    """The target of kernels in Numba's hierarchy."""


class _Declarations(templates.Registry):
    """Typing templates for kernels only, which take precedence over generic ones."""

    def register(self, item: Any) -> Any:
        return super().register(_for_cuda(item))

    def register_attr(self, item: Any) -> Any:
        return super().register_attr(_for_cuda(item))


def _for_cuda(template: Any) -> Any:
    template.metadata = {"target": "cuda", **getattr(template, "metadata", {})}
    return template


# Declarations of third-party code by `cuda.cudadecl` and `cuda.cudaimpl`.
declarations = _Declarations()
implementations = imputils.Registry("gpukit")


# Numba's own functions, and arguments whose types alone determine the result type.
_FUNCTIONS = (types.Function, types.NumberClass, BuiltinFunctionType)
_PLAIN = (types.Number, types.Boolean, types.Array)


class _Refreshed:
    """Makes a context refresh only if something was registered since the last time.

    Numba refreshes at every call of an intrinsic.
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
        # Numba reads each registry once: an interrupted refresh would never be completed.
        with interrupts.held(), target_extension.target_override(NAME):
            super().refresh()  # type: ignore[misc]
        self._seen = registered


class CUDATypingContext(_Refreshed, typing.BaseContext):
    """Infers the types of kernels; `inlined` are the overloads that may be inlined.

    It loads what Numba's CPU context loads but is no subclass, because user code checks that.
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
        """Cache the types of `a - b` and other calls by the types of the arguments.

        Numba tries all templates of a function at every call; a large kernel has thousands of calls
        but only a few hundred different ones. Cached are only functions whose result type depends
        on the types alone, per set of compilation flags, to the end of the `with` block.
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
        # The flags are compared by identity; they stay alive as long as their id is used.
        flags = targetconfig.ConfigStack.top_or_none()
        key = id(flags), func, tuple(args)
        if key not in self._typed:
            self._typed[key] = flags, super().resolve_function_type(func, args, kws)
        return self._typed[key][1]


class _Registries(dict[Any, Any]):
    """The registries of a context, among which Numba chooses one for new implementations.

    It chooses the one shared by all targets if that is present, else the first. In the shared one
    `numba.njit` would find implementations of methods that are meant for kernels.
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
    return bool(CUDA.inherits_from(target_extension.target_registry[named]))


class CUDATargetContext(_Refreshed, cpu.CPUContext):
    """Lowers kernels to LLVM IR, in the engine of Numba's CPU target."""

    def init(self) -> None:
        context = registry.cpu_target.target_context
        self.is32bit, self._internal_codegen = context.is32bit, context.codegen()
        externals.c_math_functions.install(self)
        self._registries = _Registries()

    def refresh(self) -> None:
        super().refresh()
        self.typing_context.refresh()  # even if only the typing context has something new

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
        """Compile Numba's own functions with the error model of the function that calls them.

        By default it compiles them with Python's: `x ** -2` then raises if x is 0.
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
    """Return a function that kernels can call, as `numba.njit` does for the CPU."""
    return decorators.jit(function, _target=NAME, **options)


def _for_kernels(value: Any) -> Any:
    """Return a function of `numba.njit` as one for kernels; anything else unchanged."""
    if not isinstance(value, Dispatcher) or isinstance(value, KernelDispatcher):
        return value
    made = vars(value).get("_gpukit_kernels")
    if made is None:
        made = KernelDispatcher(value.py_func, dict(value.locals), value.targetoptions)
        value._gpukit_kernels = made
    return made


# Converts an overload's implementation to a form that Numba can type (`lowering.typing`).
forms: list[Callable[[Any], Any]] = []


def _jit_overload(**options: Any) -> Any:
    """Return the decorator that compiles the implementation of an overload for its types."""

    def decorate(function: Any) -> Any:
        for form in forms:
            function = form(function)
        return jit(function, **options)

    return decorate


def _allocate(cls, allocsize, align):  # type: ignore[no-untyped-def]
    """Allocate new arrays as Numba's CPU target does, which registers this for itself only."""
    from numba.np.arrayobj import intrin_alloc

    return lambda cls, allocsize, align: intrin_alloc(allocsize, align)


target_extension.target_registry[NAME] = CUDA
target_extension.dispatcher_registry[CUDA] = KernelDispatcher
target_extension.jit_registry[CUDA] = _jit_overload
extending.overload_classmethod(types.Array, "_allocate", target=NAME)(_allocate)
