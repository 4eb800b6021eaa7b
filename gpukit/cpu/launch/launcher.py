"""Select or compile the form of a kernel for its arguments, and run it."""

from __future__ import annotations

import ctypes
import functools
import inspect
import struct
import threading
from typing import Any

from gpukit import errors, status, target
from gpukit.cpu import limits
from gpukit.cpu.launch import configure, failure, marshal, pool
from gpukit.cpu.memory import uninitialised

HEADER = 8  # words before the arguments: grid, block, dynamic shared bytes, spare
# This many block shapes of two or three axes get loops of their own; further ones share one form.
_BLOCK_SHAPES = 4
_compiling = threading.RLock()
# What observes a launch, by `Unit.instrumented`.
OBSERVERS = {"access": "checker", "every": "profile", "values": "player"}


class Overload:
    """What is known about a kernel for one tuple of argument types."""

    const_bytes = 0
    max_threads_per_block = limits.MAX_THREADS
    shared_bytes = 0
    local_bytes = 0

    def __init__(self, types: tuple[Any, ...], cooperative: bool = False) -> None:
        self.types = types
        self.compiled: Any = None
        self.cooperative = cooperative

    def measure(self, compiled: Any) -> None:
        """Record what a compiled form needs."""
        self.compiled = compiled
        self.shared_bytes = compiled.shared_bytes
        self.local_bytes = compiled.local_bytes
        self.const_bytes = sum(getattr(a, "nbytes", 0) for a in compiled.captured.keep)

    def max_cooperative_grid_blocks(self, blockdim: Any, dynsmemsize: int = 0) -> int:
        """Return how many blocks may wait for each other; memory is the only limit here."""
        x, y, z = configure.triple("blockdim", blockdim)
        return max(1, (1 << 20) // (x * y * z))

    @property
    def signature(self) -> Any:
        """The signature that was compiled."""
        from numba.core import types

        return types.void(*self.types)


class Launcher:
    """Compiles one kernel for the argument types of its launches, and launches it."""

    def __init__(self, kernel: Any) -> None:
        self.kernel = kernel
        self.compiled: dict[Any, Any] = {}
        self.shapes: dict[Any, set[tuple[int, int, int]]] = {}
        self.declared: list[tuple[Any, ...]] = []
        self._overloads: dict[tuple[Any, ...], Overload] = {}
        self.asks: bool | None = None
        self.parameters = list(inspect.signature(kernel.py_func).parameters.values())

    # ---- launching ------------------------------------------------------------------------

    def launch(self, shape: configure.Configuration, arguments: tuple[Any, ...]) -> None:
        """Run the kernel on all blocks and wait until it is done."""
        observer = _launch_observer()
        if observer is not None:
            observer(self.kernel, shape, arguments)
        else:
            self.run_plain(shape, arguments)

    def run_plain(self, shape: configure.Configuration, arguments: tuple[Any, ...]) -> None:
        """Run the kernel without an observer."""
        retrieve: list[Any] = []
        packed = self.packed(shape, arguments, retrieve)
        uninitialised.touch_ranges(packed.ranges)
        self._prepared(shape, packed).run(packed)
        for action in retrieve:
            action()

    def packed(
        self, shape: configure.Configuration, arguments: tuple[Any, ...], retrieve: list[Any]
    ) -> marshal.Packed:
        """Return the packed arguments; `retrieve` gets the callbacks for after the launch."""
        if len(arguments) != len(self.parameters):
            self._check_fixed_parameters()
            arguments = self._complete(arguments)
        if self.kernel.extensions:
            arguments = self._extended(arguments, shape.stream, retrieve)
        return self._packed(arguments)

    def instrumented(self, shape: configure.Configuration, packed: marshal.Packed, how: str) -> Any:
        """Return the instrumented form of the kernel; `how` as in `Unit.instrumented`."""
        kinds = tuple(packed.kinds)
        key = (kinds, packed.distinct(), (*shape.block, how))
        with _compiling:
            if key not in self.compiled:
                self.compiled[key] = self._build(kinds, key[1], shape.block, how)
        compiled = self.compiled[key]
        if compiled.shared_bytes + shape.shared > limits.MAX_SHARED:
            self._too_much_shared(compiled, shape)
        return compiled

    def _prepared(self, shape: configure.Configuration, packed: marshal.Packed) -> Prepared:
        """Return the launch, prepared on the first call with arguments of these kinds."""
        what = tuple(packed.kinds), packed.distinct()
        found: Prepared | None = shape.prepared.get(what)
        if found is None:
            compiled = self._form(*what, shape)
            if compiled.shared_bytes + shape.shared > limits.MAX_SHARED:
                self._too_much_shared(compiled, shape)
            found = shape.prepared[what] = Prepared(self.kernel, compiled, shape, what[0])
        return found

    def _too_much_shared(self, compiled: Any, shape: configure.Configuration) -> None:
        raise errors.LaunchError(
            f"{self.kernel.py_func.__name__} needs {compiled.shared_bytes} bytes of static and "
            f"{shape.shared} of dynamic shared memory; a block may have at most "
            f"{limits.MAX_SHARED}. Use smaller tiles."
        )

    def _form(self, kinds: Any, distinct: bool, shape: configure.Configuration) -> Any:
        """Return the compiled form for a launch."""
        if not self.compiled:  # the choice of the block's sizes depends on the kernel, too
            from gpukit.compiler.frontend import resolve

            with resolve.once():
                return self._compile(kinds, distinct, self._block_key(kinds, shape))
        block = self._block_key(kinds, shape)
        return self.compiled.get((kinds, distinct, block)) or self._compile(kinds, distinct, block)

    def _block_key(self, kinds: Any, shape: configure.Configuration) -> tuple[int, int, int]:
        """Return the sizes for which the loops are compiled; 0 stands for any size."""
        block = shape.block
        flat = block[1] == block[2] == 1
        if flat and not self._asks_for_block():
            return (0, 1, 1)
        seen = self.shapes.get(kinds)
        if seen is None:
            seen = self.shapes.setdefault(kinds, set())
        if block in seen:
            return block
        if len(seen) >= _BLOCK_SHAPES:
            return (0, 1, 1) if flat else (0, 0, 0)
        seen.add(block)
        return block

    def _asks_for_block(self) -> bool:
        """Tell whether the loops are compiled for one block size."""
        if self.asks is None:
            from gpukit.compiler import pipeline

            self.asks = pipeline.asks_for_block(self.kernel.py_func)
        return self.asks

    # ---- arguments ------------------------------------------------------------------------

    def _check_fixed_parameters(self) -> None:
        if any(p.kind in (p.VAR_POSITIONAL, p.VAR_KEYWORD) for p in self.parameters):
            from gpukit.compiler.frontend import resolve

            resolve.run(self.kernel.py_func)  # says that kernels take a fixed list

    def _complete(self, arguments: tuple[Any, ...]) -> tuple[Any, ...]:
        """Add default values, or say which arguments are missing or too many."""
        names = [p.name for p in self.parameters]
        rest = self.parameters[len(arguments) :]
        if len(arguments) < len(names) and all(p.default is not p.empty for p in rest):
            return (*arguments, *(p.default for p in rest))
        fix = "Pass one value for each."
        if names[:1] == ["self"]:
            fix = "A kernel cannot be a method: define it outside the class, and pass it arrays."
        raise errors.ArgumentError(
            f"{self.kernel.py_func.__name__} takes {len(names)} arguments "
            f"({', '.join(names)}), got {len(arguments)}. {fix}"
        )

    def _extended(
        self, arguments: tuple[Any, ...], stream: Any, retrieve: list[Any]
    ) -> tuple[Any, ...]:
        """Let the kernel's extensions change the arguments; `retrieve` gets their callbacks."""
        from numba import typeof

        made = []
        for value in arguments:
            kind = typeof(value)
            for extension in reversed(self.kernel.extensions):
                kind, value = extension.prepare_args(kind, value, stream=stream, retr=retrieve)
            made.append(value)
        return tuple(made)

    def _packed(self, arguments: tuple[Any, ...]) -> marshal.Packed:
        if not self.declared:
            return self._pack_named(arguments, None)
        if len(self.declared) == 1:
            return self._pack_named(arguments, self.declared[0])
        return self._pack_named(arguments, self._best(arguments))

    def _pack_named(self, arguments: tuple[Any, ...], wanted: Any) -> marshal.Packed:
        try:
            return marshal.pack(arguments, wanted)
        except errors.ArgumentError as error:
            raise errors.ArgumentError(f"{self.kernel.py_func.__name__}: {error}") from None

    def _best(self, arguments: tuple[Any, ...]) -> tuple[Any, ...]:
        """Return the declared signature that matches the arguments best, by Numba's rules."""
        from gpukit.compiler.kernel_target import kernel_target

        actual = tuple(marshal.numba_type(k) for k in marshal.pack(arguments).kinds)
        ranked = []
        for order, types in enumerate(self.declared):
            pairs = list(zip(actual, types, strict=True)) if len(actual) == len(types) else None
            if pairs is None:
                continue
            found = [_conversion_cost(kernel_target.typing_context, a, t) for a, t in pairs]
            costs = [c for c in found if c is not None]
            if len(costs) == len(found):
                ranked.append((sorted(costs, reverse=True), order, types))
        if not ranked:
            known = "; ".join(str(t) for t in self.declared)
            raise errors.ArgumentError(
                f"{self.kernel.py_func.__name__}: no signature fits arguments of types "
                f"({', '.join(map(str, actual))}). It was declared for {known}."
            )
        return min(ranked, key=lambda r: r[:2])[2]

    # ---- compiling ------------------------------------------------------------------------

    def declare(self, signature: Any) -> Overload:
        """Check a signature now, and require launches to match it."""
        from gpukit.compiler import numba_types
        from gpukit.cpu.launch import build

        types, result = numba_types.signature(signature)
        if len(types) != len(self.parameters):
            raise errors.ArgumentError(
                f"{self.kernel.py_func.__name__} takes {len(self.parameters)} arguments, its "
                f"signature {signature} names {len(types)}."
            )
        if result is not None and str(result) not in ("none", "void"):
            raise type_error(
                f"{self.kernel.py_func.__name__}: CUDA kernel must have void return type, "
                f"got {result}. Write results to an array."
            )
        with _compiling:
            build.check(self.kernel, types)
        self.declared.append(types)
        return self._overloads.setdefault(types, self._overload(types))

    def _overload(self, types: tuple[Any, ...]) -> Overload:
        from gpukit.compiler import pipeline

        return Overload(types, pipeline.is_cooperative(self.kernel.py_func))

    def _compile(self, kinds: Any, distinct: bool, block: Any) -> Any:
        with _compiling:
            compiled = self.compiled.get((kinds, distinct, block))
            if compiled is None:
                compiled = self._build(kinds, distinct, block)
                self.compiled[kinds, distinct, block] = compiled
        return compiled

    def _build(self, kinds: Any, distinct: bool, block: Any, instrumented: str = "") -> Any:
        from gpukit.compiler.frontend import resolve
        from gpukit.cpu.launch import build

        watched = f" for the {OBSERVERS[instrumented]}" if instrumented else ""
        try:
            with resolve.once(), status.doing(f"compiling {self.kernel.py_func.__name__}{watched}"):
                return build.kernel(self.kernel, kinds, distinct, block, instrumented)
        except RecursionError as error:
            name = self.kernel.py_func.__name__
            raise errors.Unsupported(
                f"An expression or block in {name} is nested too deeply.",
                kernel=name,
                fix="split it over several statements",
            ) from error

    # ---- introspection --------------------------------------------------------------------

    def overloads(self) -> dict[tuple[Any, ...], Overload]:
        """Return what was compiled or declared, by numba types."""
        for kinds, _, _ in self.compiled:
            types = tuple(marshal.numba_type(k) for k in kinds)
            if not self.declared:
                self._overloads.setdefault(types, self._overload(types))
        for (kinds, _, _), compiled in self.compiled.items():
            types = tuple(marshal.numba_type(k) for k in kinds)
            for known in [types, *self.declared]:
                if known in self._overloads:
                    self._overloads[known].measure(compiled)
        return self._overloads

    def per_overload(self, attribute: str, signature: Any) -> Any:
        """Return an attribute of one overload, or of all by signature."""
        for types, overload in self.overloads().items():
            if overload.compiled is None:  # only declared
                from gpukit.cpu.launch import build

                overload.measure(build.plain(self.kernel, types))
        found = {t: getattr(o, attribute) for t, o in self.overloads().items()}
        if signature is not None:
            return found[tuple(getattr(signature, "args", signature))]
        if len(found) == 1 and self.declared:
            return next(iter(found.values()))
        return found

    def inspect(self, what: str, signature: Any) -> Any:
        """Return LLVM IR or assembly by signature; compiles what was only declared."""
        from gpukit.cpu.launch import build

        found = {types: build.text(self.kernel, types, what) for types in self.overloads()}
        return found if signature is None else found[tuple(getattr(signature, "args", signature))]


class Prepared:
    """A prepared launch: all but the addresses of its arrays and the values of its scalars."""

    def __init__(
        self, kernel: Any, compiled: Any, shape: configure.Configuration, kinds: tuple[Any, ...]
    ) -> None:
        self.kernel, self.compiled = kernel, compiled
        self.blocks, self.threads = shape.blocks, shape.threads
        self.scratch = compiled.scratch_bytes(self.threads, self.blocks, shape.shared)
        self.header = _HEADER_FORMAT.pack(*shape.grid, *shape.block, shape.shared, 0)
        self.words = marshal.format_of((*kinds, *compiled.captured.kinds))

    def buffer(self, packed: marshal.Packed) -> Any:
        """Return the memory from which the kernel reads its geometry and arguments."""
        captured = self.compiled.captured.values
        words = self.words.pack(*packed.values, *captured)
        return ctypes.create_string_buffer(self.header + words)

    def run(self, packed: marshal.Packed) -> None:
        """Run the kernel with these arguments and wait until it is done."""
        compiled, buffer = self.compiled, self.buffer(packed)
        outcome = pool.run(
            functools.partial(compiled.entry, ctypes.addressof(buffer)),
            self.blocks,
            self.threads,
            self.scratch,
            serial=compiled.whole_grid,
            thread_time=compiled.thread_time,
            reach=packed.reach(),
            together=compiled.coarsened,
        )
        if outcome.context is not None:
            failure.name_thread(outcome.context, self.threads)
            failure.raise_for(outcome.status, outcome.context, compiled, self.kernel.py_func)


def observe_launches(observer: Any) -> Any:
    """Let `observer(kernel, shape, arguments)` run every launch; None for the launcher alone.

    Returns the previous one, initially the target's (`target.observers`).
    """
    global _observer
    before, _observer = _observer, observer
    return before


def _launch_observer() -> Any:
    if _observer is not _OF_THE_TARGET:
        return _observer
    found = target.observers()
    return None if found is None else found.raise_findings


_OF_THE_TARGET: Any = object()
_observer: Any = _OF_THE_TARGET


def _conversion_cost(context: Any, actual: Any, wanted: Any) -> int | None:
    if hasattr(actual, "layout") and hasattr(wanted, "layout"):
        same = actual.dtype == wanted.dtype and actual.ndim == wanted.ndim
        return (0 if actual.layout == wanted.layout else 1) if same else None
    found = context.can_convert(actual, wanted)
    return None if found is None else int(found)


def type_error(message: str) -> errors.GpukitError:
    """Return an error that is also Numba's TypingError."""
    from gpukit.compiler.diagnostics import numba_errors

    return numba_errors.type_error_class()(message)


_HEADER_FORMAT = struct.Struct("=8q")
