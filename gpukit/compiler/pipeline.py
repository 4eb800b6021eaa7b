"""The stages of the compiler: from a Python function to a native loop over blocks."""

from __future__ import annotations

import ast
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from typing import Any

from gpukit.compiler import native, pyfunc, refuse, tree
from gpukit.compiler.diagnostics import numba_errors
from gpukit.compiler.frontend import captures
from gpukit.compiler.unit import Unit


@dataclass
class Instrumentation:
    """What the checker must know about an instrumented kernel.

    Of the kernel's locations: `locations` are their process-wide numbers, in its own order;
    `operations` those of their statements, by counter; `decided` has 1 for one that is reached only
    if an atomic returned a certain value, else 0; `steps` what a recording shows the statement as,
    "" for one that the compiler added; `rounding` are those of atomics whose result is rounded.

    `segments` are the arrays that the kernel makes itself (`instruments.OwnSegment`); `stores` and
    `loads` those that it writes and reads; `unseen` functions that do so and are not instrumented;
    `variables` those of a recording, by number; `by_data` and `by_shape` as in
    `provenance.Stores`. `prints` is whether it calls `print`, `ordered` whether the order of blocks
    could show in the result, `fences` whether fences and atomics may order accesses, `atomics`
    whether it has any, `waits` whether a loop may wait for another block.
    """

    locations: list[int] = field(default_factory=list)
    segments: list[dict[str, Any]] = field(default_factory=list)
    stores: list[str] = field(default_factory=list)
    loads: list[str] = field(default_factory=list)
    unseen: list[str] = field(default_factory=list)
    prints: bool = False
    by_data: list[str] = field(default_factory=list)
    by_shape: list[str] = field(default_factory=list)
    operations: dict[str, dict[str, int]] = field(default_factory=dict)
    variables: list[str] = field(default_factory=list)
    ordered: bool = True
    fences: bool = False
    decided: list[int] = field(default_factory=list)
    steps: dict[str, str] = field(default_factory=dict)
    atomics: bool = False
    rounding: list[int] = field(default_factory=list)
    waits: bool = False


@dataclass
class Compiled:
    """A kernel ready to run; `per_thread` and `per_block` are the bytes of scratch it needs.

    `coarsened` is how many neighbouring blocks run as one if there are that many; `raised` are
    the exceptions of its `raise` statements, by location.
    """

    entry: native.Entry
    code: native.Code
    per_thread: int
    per_block: int
    whole_grid: bool
    locations: dict[int, Any] = field(default_factory=dict)
    shared_bytes: int = 0
    local_bytes: int = 0
    instrumentation: Instrumentation = field(
        default_factory=lambda: Instrumentation()
    )  # of an instrumented kernel
    raised: dict[int, Any] = field(default_factory=dict)
    coarsened: int = 1
    captured: Any = None
    thread_time: Any = None

    def scratch_bytes(self, threads: int, blocks: int, dynamic: int) -> int:
        """Return how many bytes of scratch memory one call needs."""
        copies = blocks if self.whole_grid else 1
        return self.per_thread * threads * copies + (self.per_block + dynamic) * copies + 128


def front(
    function: Any,
    instrumented: str = "",
    *,
    whole: bool = False,
    implement: Callable[[Unit], bool] = lambda _: False,
    kinds: tuple[Any, ...] | None = None,
) -> Unit:
    """Return a function resolved, normalised, inlined, its jumps replaced by flags.

    `instrumented` and `whole` as in `Unit`, `implement` as in `inline.run`. `kinds` are the types
    of the arguments and then of the captured arrays, if they are known.
    """
    from gpukit.compiler.analysis import decided
    from gpukit.compiler.frontend import (
        choices,
        inline,
        jumps,
        renaming,
        resolve,
        strides,
        unassigned,
        unroll,
    )
    from gpukit.compiler.lowering import varying_loops

    unit = resolve.run(function)
    unit.instrumented, unit.whole = instrumented, whole
    refuse.check_result(unit)
    for node in ast.walk(unit.tree):
        if isinstance(node, ast.Raise):
            from gpukit.compiler.lowering import device

            device.exception(unit, node)  # rejects what cannot be raised
    if instrumented == "access":
        unassigned.instrument(unit)
    inline.run(unit, implement)
    arguments = dict(zip([*unit.parameters, *unit.captured], kinds or (), strict=False))
    unroll.run(unit, arguments)
    if kinds is not None:
        from gpukit.compiler.lowering import fields

        fields.run(unit, arguments)
    if instrumented:
        from gpukit.compiler.lowering import lockstep

        lockstep.run(unit, every=unit.detailed)
    jumps.run(unit)
    renaming.run(unit)
    choices.run(unit)
    if instrumented:
        decided.run(unit)
    strides.run(unit)
    varying_loops.run(unit)
    return unit


def lower(unit: Unit, arguments: dict[str, Any], options: Any) -> tuple[Any, ast.FunctionDef]:
    """Return the emitter and the function of loops for given argument types."""
    from gpukit.compiler.emit.emitter import Emitter
    from gpukit.compiler.emit.kernel import Kernel
    from gpukit.compiler.frontend import own_arrays
    from gpukit.compiler.lowering import flat, schedule, trips, typing, whole_bounds
    from gpukit.compiler.runtime import half_rules, mathematics  # noqa: F401  (adds functions)

    half_rules.install()
    unit.types = dict(arguments)  # the types known so far, which `dtype=a.dtype` needs
    unit.types = typing.run(unit, arguments)
    if whole_bounds.run(unit):
        unit.types = typing.run(unit, arguments)
    flat.run(unit)
    own_arrays.share(unit)
    if unit.instrumented == "every":
        trips.run(unit)
    emitter = Emitter(Kernel(unit, schedule.run(unit), arguments, options))
    return emitter, emitter.function()


def captured_arrays(function: Any, instrumented: str = "") -> dict[str, Any]:
    """Return the arrays that a kernel captured, by name, in the order of its parameters.

    `instrumented` as in `Unit`.
    """
    from gpukit.compiler.frontend import resolve

    unit = resolve.run(function)
    # Inlined device functions, as most are in instrumented kernels, add their captured arrays.
    return (front(function, instrumented) if unit.devices else unit).captured


def asks_for_block(function: Any) -> bool:
    """Tell whether a kernel should be specialised for the size of its blocks.

    It should if threads synchronise, and if they run grid-stride loops.
    """
    from gpukit.compiler import kinds
    from gpukit.compiler.frontend import inline, resolve

    unit = resolve.run(function)
    nodes = (n for function in unit.trees for n in ast.walk(function))
    names = {tree.intrinsic(n) for n in nodes}
    if names & (kinds.SYNC_POINTS | {"gridsize", "gridDim", "gridDim.x"}):
        return True
    return any(inline.must_inline(d) for d in unit.devices.values())


def is_cooperative(function: Any) -> bool:
    """Tell whether a kernel uses its grid as a cooperative group."""
    from gpukit.compiler.frontend import inline, resolve

    return inline.names(resolve.run(function), frozenset(["cg.this_grid"]))


def check_types(function: Any, kinds: tuple[Any, ...]) -> None:
    """Raise if Numba cannot infer types for a kernel with arguments of these types."""
    from numba import typeof

    from gpukit.compiler.lowering import typing
    from gpukit.compiler.runtime import half_rules, mathematics  # noqa: F401  (adds functions)

    half_rules.install()
    unit = front(function, kinds=kinds)
    arguments = dict(zip(unit.parameters, kinds, strict=True))
    arguments |= {n: typeof(captures.host(a)) for n, a in unit.captured.items()}
    unit.types = dict(arguments)
    with numba_errors.plain(unit, kinds):
        typing.run(unit, arguments)


def _loops(
    function: Any, kinds: tuple[Any, ...], options: Any, captured: list[Any], *, debug: bool = False
) -> tuple[Unit, Any, ast.FunctionDef]:
    """Return a kernel's unit, its emitter and its loops; arguments as in `compile_kernel`."""
    from gpukit.compiler.frontend import absent
    from gpukit.compiler.lowering import coarsening, overloads

    unit = front(
        function,
        options.instrumented,
        implement=overloads.Implement(kinds, captured),
        kinds=(*kinds, *captured),
    )
    unit.debug = debug
    arguments = dict(zip(unit.parameters, kinds, strict=True))
    absent.run(unit, {name for name, kind in arguments.items() if str(kind) == "none"})
    if not (debug or options.instrumented):
        unit.coarsened = coarsening.run(unit, options.block)
    arguments |= dict(zip(unit.captured, captured, strict=True))
    with numba_errors.plain(unit, kinds):
        emitter, loops = lower(unit, arguments, options)
    return unit, emitter, loops


def compile_kernel(
    function: Any,
    kinds: tuple[Any, ...],
    options: Any,
    *,
    captured: list[Any],
    fastmath: Any = False,
    debug: bool = False,
) -> Compiled:
    """Compile a kernel for argument types (Numba types) and options (`emit.kernel.Options`).

    `captured` are the types of the captured arrays, which it takes after its arguments.
    """
    from gpukit.compiler import locations
    from gpukit.compiler.lowering import new_arrays

    unit, emitter, loops = _loops(function, kinds, options, captured, debug=debug)
    rewriter, memory = emitter.rewriter, emitter.memory
    with numba_errors.plain(unit, kinds):
        _check_local_memory(unit, memory.local_bytes())
        scope = {**unit.globals, **rewriter.globals, "range": range, "max": max, "min": min}
        parameters = [a.arg for a in loops.args.args]
        python = pyfunc.build(unit.tree.name, parameters, loops.body, scope, unit)
        entry, code = native.compile(
            python, fastmath=fastmath, debug=debug, lightly=bool(options.instrumented)
        )
        new_arrays.check_code(unit, code.needs, memory.thread_arrays.values())
    return Compiled(
        entry,
        code,
        memory.per_thread,
        memory.per_block,
        emitter.schedule.whole_grid,
        {k: locations.get(k) for k in rewriter.used_locations},
        memory.shared_bytes(),
        memory.local_bytes(),
        _instrumentation(unit, emitter),
        {k: v for k, v in locations.raised.items() if k in rewriter.used_locations},
        memory.coarsened,
    )


def _instrumentation(unit: Unit, emitter: Any) -> Instrumentation:
    from gpukit.compiler.analysis import arrays, block_order, decided, provenance
    from gpukit.compiler.lowering import waiting

    if not unit.instrumented:
        return Instrumentation()
    rewriter, instruments = emitter.rewriter, emitter.instruments
    own = {*emitter.memory.shared, *emitter.memory.local}
    roots, stores = arrays.Roots(unit), provenance.stores(unit)
    return Instrumentation(
        locations=[location for location, *_ in rewriter.own_locations],
        segments=[asdict(r) for r in instruments.segments],
        stores=_written(unit, roots.behind_all(rewriter.stores)),
        loads=_written(unit, roots.behind_all(rewriter.loads)),
        unseen=sorted(rewriter.unseen),
        prints=rewriter.prints,
        by_data=_written(unit, stores.by_data),
        by_shape=_written(unit, stores.by_shape),
        operations={str(k): v for k, v in emitter.work.operations.items()},
        variables=list(instruments.variables),
        ordered=block_order.matters(unit, own),
        fences=decided.has_fences(unit),
        decided=[int(k in rewriter.decided) for k in range(len(rewriter.own_locations))],
        steps={str(k): v for k, v in emitter.work.steps.items()},
        atomics=rewriter.atomics,
        rounding=sorted(rewriter.rounding),
        waits=waiting.polls(unit.tree, emitter.memory.shared),
    )


def _written(unit: Unit, arrays: set[str]) -> list[str]:
    """Return the names of arrays, those of the kernel's parameters as in the source."""
    return sorted(unit.as_written(name) if name in unit.moved else name for name in arrays)


def _check_local_memory(unit: Unit, size: int) -> None:
    from gpukit.compiler import shapes

    if size > shapes.MAX_LOCAL:
        raise refuse.invalid(
            unit,
            unit.tree,
            f"The local arrays of {unit.name} take {size} bytes per thread; "
            f"a thread may have at most {shapes.MAX_LOCAL}.",
            "use smaller arrays, or pass them in",
        )


def explain(function: Any, kinds: tuple[Any, ...], block: tuple[int, int, int]) -> str:
    """Return the loops of a kernel as readable Python; sizes of 0 in `block` are unknown."""
    from numba import typeof

    from gpukit.compiler.emit.kernel import Options
    from gpukit.compiler.frontend import resolve

    with resolve.once():
        if block[1:] == (1, 1) and not asks_for_block(function):
            block = (0, 1, 1)  # one form for all
        captured = [typeof(captures.host(a)) for a in captured_arrays(function).values()]
        *_, loops = _loops(function, kinds, Options(block, True, readable=True), captured)
    return tree.unparse(loops)
