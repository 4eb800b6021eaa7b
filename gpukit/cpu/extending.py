"""`numba.cuda.extending`: functions and types known to kernels but not to `numba.njit`.

Registrations here go to the target "cuda" (`compiler.kernel_target`), unless the call names
another one. Types, their models and their boxing are Numba's: they belong to no target.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from numba import extending
from numba.core import types
from numba.core.typing.templates import CallableTemplate

from gpukit.compiler.kernel_target import declarations, implementations

overload = functools.partial(extending.overload, target="cuda")
overload_attribute = functools.partial(extending.overload_attribute, target="cuda")
overload_classmethod = functools.partial(extending.overload_classmethod, target="cuda")
overload_method = functools.partial(extending.overload_method, target="cuda")

infer, infer_getattr = declarations.register, declarations.register_attr
infer_global = declarations.register_global
lower_builtin, lower_cast = implementations.lower, implementations.lower_cast
lower_constant = implementations.lower_constant
lower_getattr = implementations.lower_getattr
lower_getattr_generic = implementations.lower_getattr_generic
lower_setattr = implementations.lower_setattr
lower_setattr_generic = implementations.lower_setattr_generic


def intrinsic(*function: Any, **options: Any) -> Any:
    """Make an intrinsic of a function, or return a decorator with these options."""
    decorate = extending.intrinsic(**{"target": "cuda", **options})
    return decorate(*function) if function else decorate


def register_jitable(*function: Any, **options: Any) -> Any:
    """Let kernels call a Python function, which stays a Python function on the host."""
    inline = options.pop("inline", "never")

    def register(plain: Any) -> Any:
        overload(plain, jit_options=options, inline=inline, strict=False)(lambda *_, **__: plain)
        return plain

    return register(*function) if function else register


def type_callable(function: Any) -> Callable[..., Any]:
    """Register the typing of a function, or of an operation given as a string."""

    def register(typing_function: Any) -> Any:
        body = {"key": function, "generic": lambda self: typing_function(self.context)}
        name = f"{getattr(function, '__name__', function)}_CallableTemplate"
        template = infer(type(name, (CallableTemplate,), body))
        if callable(function):
            infer_global(function, types.Function(template))
        return typing_function

    return register


def __getattr__(name: str) -> Any:
    if name == "core_models":
        return extending.models
    return getattr(extending, name)
