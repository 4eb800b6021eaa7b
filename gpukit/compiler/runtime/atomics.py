"""Atomic operations, with real atomics across blocks that run on several cores.

Integer `add`, `sub`, `and_`, `or_`, `xor`, `exch`, `max`, `min` are one machine instruction;
the rest, and all on floats, are compare-and-swap loops. On shared memory, which only one core
accesses, plain loads and stores suffice.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba.core import cgutils, types
from numba.core.errors import TypingError
from numba.extending import intrinsic
from numba.np.arrayobj import make_array

from gpukit.compiler.checker_state import UPDATE
from gpukit.compiler.runtime.memory import checked_pointer, origin_of
from gpukit.compiler.runtime.words import index_types, index_values


def _add(builder: Any, old: Any, value: Any, kind: Any) -> Any:
    if isinstance(kind, types.Float):
        return builder.fadd(old, value)
    return builder.add(old, value)


def _sub(builder: Any, old: Any, value: Any, kind: Any) -> Any:
    if isinstance(kind, types.Float):
        return builder.fsub(old, value)
    return builder.sub(old, value)


def _compare(builder: Any, op: str, a: Any, b: Any, kind: Any) -> Any:
    if isinstance(kind, types.Float):
        return builder.fcmp_ordered(op, a, b)
    signed = getattr(kind, "signed", False)
    return (builder.icmp_signed if signed else builder.icmp_unsigned)(op, a, b)


def _nan(builder: Any, value: Any, kind: Any) -> Any:
    if isinstance(kind, types.Float):
        return builder.fcmp_unordered("uno", value, value)
    return cgutils.false_bit


def _extreme(op: str, *, keep_old_nan: bool) -> Any:
    """Return max (`op` ">") or min (`op` "<"); the rule for NaN follows Numba's CUDA target."""

    def combine(builder: Any, old: Any, value: Any, kind: Any) -> Any:
        better = _compare(builder, op, value, old, kind)
        if not keep_old_nan:
            better = builder.or_(better, _nan(builder, old, kind))
        return builder.select(better, value, old)

    return combine


def _exchange(builder: Any, old: Any, value: Any, kind: Any) -> Any:
    return value


def _inc(builder: Any, old: Any, value: Any, kind: Any) -> Any:
    one, zero = ir.Constant(old.type, 1), ir.Constant(old.type, 0)
    wrap = builder.icmp_unsigned(">=", old, value)
    return builder.select(wrap, zero, builder.add(old, one))


def _dec(builder: Any, old: Any, value: Any, kind: Any) -> Any:
    one, zero = ir.Constant(old.type, 1), ir.Constant(old.type, 0)
    wrap = builder.or_(
        builder.icmp_unsigned("==", old, zero), builder.icmp_unsigned(">", old, value)
    )
    return builder.select(wrap, value, builder.sub(old, one))


def _bits(name: str) -> Any:
    return lambda builder, old, value, kind: getattr(builder, name)(old, value)


COMBINE = {
    "add": _add,
    "sub": _sub,
    "and_": _bits("and_"),
    "or_": _bits("or_"),
    "xor": _bits("xor"),
    "exch": _exchange,
    "inc": _inc,
    "dec": _dec,
    "max": _extreme(">", keep_old_nan=True),
    "min": _extreme("<", keep_old_nan=True),
    "nanmax": _extreme(">", keep_old_nan=False),
    "nanmin": _extreme("<", keep_old_nan=False),
}
_SIGNED_RMW = {"max": "max", "min": "min", "nanmax": "max", "nanmin": "min"}
_UNSIGNED_RMW = {"max": "umax", "min": "umin", "nanmax": "umax", "nanmin": "umin"}
_RMW = {"add": "add", "sub": "sub", "and_": "and", "or_": "or", "xor": "xor", "exch": "xchg"}
_INTEGERS_ONLY = frozenset(["and_", "or_", "xor", "inc", "dec"])


def _machine_operation(name: str, kind: Any) -> str | None:
    if not isinstance(kind, types.Integer) or kind.bitwidth < 32:
        return None
    extremes = _SIGNED_RMW if kind.signed else _UNSIGNED_RMW
    return _RMW.get(name) or extremes.get(name)


def _update(builder: Any, name: str, kind: Any, pointer: Any, value: Any, atomic: bool) -> Any:
    """Update the value at `pointer` and return the old one."""
    combine = COMBINE[name]
    if not atomic:
        old = builder.load(pointer)
        builder.store(combine(builder, old, value, kind), pointer)
        return old
    machine = _machine_operation(name, kind)
    if machine is not None:
        return builder.atomic_rmw(machine, pointer, value, "monotonic")
    return _swap_loop(builder, pointer, lambda old: combine(builder, old, value, kind))


def _swap_loop(builder: Any, pointer: Any, new_of: Any) -> Any:
    """Update a value by a compare-and-swap loop; return the old value."""
    kind = pointer.type.pointee
    bits = ir.IntType({"half": 16, "float": 32, "double": 64}.get(str(kind)) or kind.width)
    at = builder.bitcast(pointer, bits.as_pointer())
    seen = cgutils.alloca_once_value(builder, builder.load_atomic(at, "monotonic", bits.width // 8))
    loop, done = builder.append_basic_block("swap"), builder.append_basic_block("swapped")
    builder.branch(loop)
    builder.position_at_end(loop)
    old = builder.load(seen)
    new = builder.bitcast(new_of(builder.bitcast(old, kind)), bits)
    result = builder.cmpxchg(at, old, new, "monotonic", "monotonic")
    builder.store(builder.extract_value(result, 0), seen)
    builder.cbranch(builder.extract_value(result, 1), done, loop)
    builder.position_at_end(done)
    return builder.bitcast(old, kind)


@intrinsic
def place(typingctx, idx):  # type: ignore[no-untyped-def]
    """Return an index; a float, such as `math.floor` returns, is converted as in numba-cuda."""
    whole = types.intp if isinstance(idx, types.Float) else idx

    def codegen(context, builder, signature, args):  # type: ignore[no-untyped-def]
        return context.cast(builder, args[0], idx, whole)

    return whole(idx), codegen


def _require(name: str, array: Any, idx: Any) -> None:
    if not isinstance(array, types.Array):
        raise TypingError(f"cuda.atomic.{name} works on an element of an array, not on {array}")
    if not array.mutable:
        raise TypingError(f"cuda.atomic.{name}: Cannot modify readonly array")
    parts = index_types(idx)
    if parts is None or len(parts) != array.ndim:
        raise TypingError(f"cuda.atomic.{name}: this array needs {array.ndim} integer indices")
    if array.dtype == types.float16 or not isinstance(array.dtype, (types.Integer, types.Float)):
        raise TypingError(f"cuda.atomic.{name} does not work on {array.dtype}")
    if name in _INTEGERS_ONLY and not isinstance(array.dtype, types.Integer):
        raise TypingError(f"cuda.atomic.{name} works on integers, not on {array.dtype}")


def _make(name: str, *, atomic: bool) -> Any:
    @intrinsic
    def operation(typingctx, origin, array, idx, value):  # type: ignore[no-untyped-def]
        _require(name, array, idx)

        def codegen(context, builder, signature, args):  # type: ignore[no-untyped-def]
            ary = make_array(array)(context, builder, args[1])
            values = index_values(context, builder, idx, args[2])
            where = origin_of(context, builder, origin, args[0])
            pointer = checked_pointer(context, builder, array, ary, values, where, UPDATE)
            cast = context.cast(builder, args[3], value, array.dtype)
            return _update(builder, name, array.dtype, pointer, cast, atomic)

        return array.dtype(origin, array, idx, value), codegen

    return operation


def _make_cas(*, atomic: bool) -> Any:
    @intrinsic
    def operation(typingctx, origin, array, idx, old, value):  # type: ignore[no-untyped-def]
        _require("cas", array, idx)

        def codegen(context, builder, signature, args):  # type: ignore[no-untyped-def]
            ary = make_array(array)(context, builder, args[1])
            values = index_values(context, builder, idx, args[2])
            where = origin_of(context, builder, origin, args[0])
            pointer = checked_pointer(context, builder, array, ary, values, where, UPDATE)
            expected = context.cast(builder, args[3], old, array.dtype)
            new = context.cast(builder, args[4], value, array.dtype)
            kind = array.dtype

            def pick(seen: Any) -> Any:
                same = _compare(builder, "==", seen, expected, kind)
                return builder.select(same, new, seen)

            if atomic:
                return _swap_loop(builder, pointer, pick)
            seen = builder.load(pointer)
            builder.store(pick(seen), pointer)
            return seen

        return array.dtype(origin, array, idx, old, value), codegen

    return operation


# By name, then by whether other cores may change the memory.
GLOBAL = {n: _make(n, atomic=True) for n in COMBINE} | {"cas": _make_cas(atomic=True)}
SHARED = {n: _make(n, atomic=False) for n in COMBINE} | {"cas": _make_cas(atomic=False)}
