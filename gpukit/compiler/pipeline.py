"""The compiler on one screen: from a Python function to a native loop over blocks."""

from __future__ import annotations

import ast
from dataclasses import dataclass, field
from typing import Any

from gpukit import errors
from gpukit.compiler import native, refuse, tree
from gpukit.compiler.unit import Unit


@dataclass
class Compiled:
    """A kernel ready to run; `scratch` are the bytes it needs: a thread, a block, in all."""

    entry: native.Entry
    code: native.Code
    per_thread: int
    per_block: int
    whole_grid: bool
    sites: dict[int, Any] = field(default_factory=dict)
    shared_bytes: int = 0
    local_bytes: int = 0
    captured: Any = None
    pace: Any = None

    def scratch_bytes(self, threads: int, blocks: int, dynamic: int) -> int:
        """Return how many bytes of scratch one call needs."""
        copies = blocks if self.whole_grid else 1
        return self.per_thread * threads * copies + (self.per_block + dynamic) * copies + 128


def front(function: Any) -> Unit:
    """Return a function resolved, normalised, inlined, its jumps replaced by flags."""
    from gpukit.compiler.passes import apart, choices, inline, jumps, resolve, schedule, strides

    unit = resolve.run(function)
    refuse.check_result(unit)
    for node in ast.walk(unit.tree):
        if isinstance(node, ast.Raise):
            from gpukit.compiler import device

            device.exception(unit, node)  # refuses what cannot be raised
    inline.run(unit)
    jumps.run(unit)
    apart.run(unit)
    choices.run(unit)
    strides.run(unit)
    schedule.loops_to_while(unit)
    return unit


def lower(unit: Unit, arguments: dict[str, Any], options: Any) -> tuple[Any, ast.FunctionDef]:
    """Return the emitter and the function of loops for given argument types."""
    from gpukit.compiler.passes import emit, schedule, typing
    from gpukit.compiler.runtime import half_rules, mathematics  # noqa: F401  (adds functions)

    half_rules.install()
    unit.types = typing.run(unit, arguments)
    plan = schedule.run(unit)
    emitter = emit.Emitter(unit, plan, arguments, options)
    return emitter, emitter.function()


def captured_arrays(function: Any) -> list[Any]:
    """Return the arrays that a kernel captured, in the order in which it takes them."""
    from gpukit.compiler.passes import resolve

    unit = resolve.run(function)
    # A device function that is inlined brings along what it captured.
    return list((front(function) if unit.devices else unit).captured.values())


def meets(function: Any) -> bool:
    """Tell whether the threads of a kernel wait for each other anywhere."""
    from gpukit.compiler import kinds
    from gpukit.compiler.passes import inline, resolve

    unit = resolve.run(function)
    own = any(tree.intrinsic(n) in kinds.MEETINGS for n in ast.walk(unit.tree))
    return own or any(inline.must_inline(d) for d in unit.devices.values())


def check_types(function: Any, kinds: tuple[Any, ...]) -> None:
    """Raise if Numba cannot find types for a kernel with arguments of these types."""
    from numba import typeof

    from gpukit.compiler.passes import typing
    from gpukit.compiler.runtime import half_rules, mathematics  # noqa: F401  (adds functions)

    half_rules.install()
    unit = front(function)
    arguments = dict(zip(unit.parameters, kinds, strict=True))
    arguments |= {n: typeof(getattr(a, "host", a)) for n, a in unit.captured.items()}
    with _typing_errors(unit, kinds):
        typing.run(unit, arguments)


def compile_kernel(
    function: Any,
    kinds: tuple[Any, ...],
    options: Any,
    *,
    captured: list[Any],
    fastmath: Any = False,
    debug: bool = False,
) -> Compiled:
    """Compile a kernel for argument types (numba types) and options (`emit.Options`).

    `captured` are the types of the captured arrays, which it takes behind its arguments.
    """
    from gpukit.compiler import sites
    from gpukit.compiler.passes import absent, typing

    unit = front(function)
    arguments = dict(zip(unit.parameters, kinds, strict=True))
    absent.run(unit, {name for name, kind in arguments.items() if str(kind) == "none"})
    arguments |= dict(zip(unit.captured, captured, strict=True))
    with _typing_errors(unit, kinds):
        emitter, loops = lower(unit, arguments, options)
        _check_local_memory(unit, emitter.local_bytes())
        scope = {**unit.globals, **emitter.rewriter.globals, "range": range, "max": max, "min": min}
        parameters = [a.arg for a in loops.args.args]
        made = typing.build(unit.tree.name, parameters, loops.body, scope, unit)
        entry, code = native.compile(made, fastmath=fastmath, debug=debug)
    used = emitter.rewriter.used_sites | _device_sites(unit)
    return Compiled(
        entry, code, emitter.per_thread, emitter.fixed, emitter.plan.whole_grid,
        {k: sites.get(k) for k in used}, emitter.shared_bytes(), emitter.local_bytes(),
    )  # fmt: skip


def _check_local_memory(unit: Unit, size: int) -> None:
    from gpukit.compiler import shapes

    if size > shapes.MAX_LOCAL:
        raise refuse.invalid(
            unit, unit.tree, f"The local arrays of {unit.name} take {size} bytes a thread; "
            f"a thread may have {shapes.MAX_LOCAL}.", "use smaller arrays, or pass them in",
        )  # fmt: skip


def _device_sites(unit: Unit) -> set[int]:
    """Return all known sites, if the kernel calls device functions that may report theirs."""
    from gpukit.compiler import sites

    return set(range(sites.count())) if unit.devices else set()


def explain(function: Any, kinds: tuple[Any, ...], block: tuple[int, int, int] | None) -> str:
    """Return the loops that a kernel becomes, as Python for people."""
    from numba import typeof

    from gpukit.compiler.passes import emit

    unit = front(function)
    arguments = dict(zip(unit.parameters, kinds, strict=True))
    arguments |= {n: typeof(getattr(a, "host", a)) for n, a in unit.captured.items()}
    options = emit.Options(block=block, distinct=True, readable=True)
    with _typing_errors(unit, kinds):
        _, loops = lower(unit, arguments, options)
    return ast.unparse(loops)


class _typing_errors:  # noqa: N801  (a context manager, used like a function)
    """Turn Numba's errors into ours, with the kernel's line."""

    def __init__(self, unit: Unit, kinds: tuple[Any, ...]) -> None:
        self.unit = unit
        self.kinds = kinds

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: Any, error: Any, trace: Any) -> None:
        from numba.core import errors as numba_errors

        if isinstance(error, (NotImplementedError, RecursionError)):
            raise refuse.unsupported(
                self.unit, self.unit.tree, f"Numba could not compile the kernel: {error}.",
                "write it in smaller or simpler steps",
            ) from error  # fmt: skip
        ours = isinstance(error, errors.GpukitError)
        if ours or not isinstance(error, numba_errors.NumbaError):
            return
        text = str(getattr(error, "msg", error)).strip()
        rule, fix = refuse.type_rule(text)
        line = getattr(getattr(error, "loc", None), "line", 0) or self.unit.tree.lineno
        made = type_error_class()(
            rule or _short(text), kernel=self.unit.name, file=self.unit.source.file, line=line,
            source=self.unit.source.line(line), fix=fix or self._fix(),
        )  # fmt: skip
        raise made from error.with_traceback(None)  # its frames are all Numba's

    def _fix(self) -> str:
        pairs = zip(self.unit.parameters, self.kinds, strict=False)
        given = ", ".join(f"{n}: {k}" for n, k in pairs)
        return f"check the types of the arguments ({given}) against what the line needs"


def type_error_class() -> type[errors.KernelTypeError]:
    """Return the error class that is also Numba's TypingError, for code that catches that."""
    return refuse.numba_class(errors.KernelTypeError)


def _short(text: str) -> str:
    """Keep the sentences of a Numba error that speak about the kernel, not Numba's listing."""
    dropped = ("Failed in ", "There are ", "- Of which", "Overload ", "Rejected", "in the ")
    kept: list[str] = []
    for line in (s.rstrip() for s in text.splitlines()):
        if line.strip().startswith(("File ", "During:")) and kept:
            break
        if line.strip() and not line.strip().startswith(("File ", *dropped)):
            kept.append(line)
    return "\n".join(kept[:12])
