"""Compile a kernel for the kinds of its arguments, or load it from the disk cache."""

from __future__ import annotations

from typing import Any

import numpy as np

from gpukit.cpu.launch import marshal, pool

# Whether kernels check bounds whatever their option `boundscheck` says: grading sets it, because an
# answer without checks could write to any memory of its process.
always_checks_bounds = False


def kernel(
    kernel: Any, kinds: Any, distinct: bool, block: tuple[int, int, int], instrumented: str = ""
) -> Any:
    """Return the compiled form of a kernel; `block` as in `emit.kernel.Options`, 0 for any size.

    `instrumented` as in `Unit`.
    """
    from gpukit.compiler import cache
    from gpukit.compiler.frontend import allocate, resolve, unassigned

    options = kernel.targetoptions
    is_off = options.get("boundscheck", True) is False
    boundscheck = bool(instrumented) or always_checks_bounds or not is_off
    fastmath, debug = options.get("fastmath", False), bool(options.get("debug", False))
    captured = _captured(kernel, instrumented)
    unit = resolve.run(kernel.py_func)
    if not instrumented:
        unassigned.warn(unit)
    parts = (
        marshal.describe(kinds),
        marshal.describe(tuple(captured.kinds)),
        distinct,
        block,
        boundscheck,
        str(fastmath),
        debug,
        instrumented,
        allocate.switched_on(),
    )
    name = cache.key(unit, parts)
    made = cache.load(name) if name else None
    if made is None:
        made = _compile(
            kernel, kinds, captured, (block, distinct, boundscheck, instrumented), fastmath, debug
        )
        if name:
            cache.save(name, made)
    made.captured = captured
    made.thread_time = pool.ThreadTime()
    return made


def check(kernel: Any, types: tuple[Any, ...]) -> None:
    """Raise if Numba cannot infer a kernel's types; a success is cached on disk."""
    from gpukit.compiler import cache, pipeline
    from gpukit.compiler.frontend import allocate, resolve

    name = cache.key(resolve.run(kernel.py_func), ("types", types, allocate.switched_on()))
    if name is None or not cache.noted(name):
        pipeline.check_types(kernel.py_func, types)
        if name:
            cache.note(name)


def _compile(
    kernel: Any, kinds: Any, captured: marshal.Packed, chosen: Any, fastmath: Any, debug: bool
) -> Any:
    from gpukit.compiler import pipeline
    from gpukit.compiler.emit.kernel import Options
    from gpukit.cpu import foreign

    block, distinct, boundscheck, instrumented = chosen
    with foreign.linking(kernel):
        return pipeline.compile_kernel(
            kernel.py_func,
            tuple(marshal.numba_type(k) for k in kinds),
            Options(block, distinct, boundscheck, instrumented=instrumented),
            fastmath=fastmath,
            debug=debug,
            captured=[marshal.numba_type(k) for k in captured.kinds],
        )


def _captured(kernel: Any, instrumented: str = "") -> marshal.Packed:
    """Return the arrays that the kernel captured, frozen with their present values, read-only.

    Device arrays are not copied: the kernel sees later changes, as on a GPU.
    `instrumented` as in `Unit`.
    """
    from gpukit.compiler import pipeline
    from gpukit.compiler.frontend import captures

    named = pipeline.captured_arrays(kernel.py_func, instrumented)
    arrays = named.values()
    frozen = [a.copy() if isinstance(a, np.ndarray) else captures.host(a) for a in arrays]
    for array, copy in zip(arrays, frozen, strict=True):
        if isinstance(array, np.ndarray):
            copy.flags.writeable = False
    packed = marshal.pack(tuple(frozen))
    packed.names = tuple(named)
    return packed


def plain(kernel: Any, types: tuple[Any, ...]) -> Any:
    """Compile a kernel for numba types alone, to find out what it needs."""
    from gpukit.compiler import pipeline
    from gpukit.compiler.emit.kernel import Options
    from gpukit.cpu import foreign

    captured = _captured(kernel)
    with foreign.linking(kernel):
        made = pipeline.compile_kernel(
            kernel.py_func,
            types,
            Options(block=(0, 1, 1), distinct=True),
            captured=[marshal.numba_type(k) for k in captured.kinds],
        )
    made.captured = captured
    return made


def text(kernel: Any, types: tuple[Any, ...], what: str) -> str:
    """Return the LLVM IR or assembly of a kernel for numba types."""
    from gpukit.compiler import native

    with native.listing() as listed:
        plain(kernel, types)
    return listed[what]
