"""Stop a kernel: interrupts, errors that the kernel raises, barriers that not all threads reach."""

from __future__ import annotations

from llvmlite import ir
from numba.core import cgutils, types
from numba.extending import intrinsic, overload

from gpukit.compiler import checker_state as w
from gpukit.compiler import context as layout
from gpukit.compiler.runtime.compiled import compiled
from gpukit.compiler.runtime.hooks import kernel_location, linear, mask_at, word
from gpukit.compiler.runtime.memory import origin_of
from gpukit.compiler.runtime.raw import first_set, peek, peek8
from gpukit.compiler.runtime.storage import get
from gpukit.compiler.runtime.words import WORD, abort, word_pointer

# Check Python's signals once per this many polls, each of which may cover thousands of iterations.
_POLLS_PER_SIGNAL_CHECK = 1 << 10


@intrinsic
def begin_block(typingctx, address, x, y, z):  # type: ignore[no-untyped-def]
    """Store in the context which block runs."""

    def codegen(context, builder, signature, args):  # type: ignore[no-untyped-def]
        for k in range(3):
            value = context.cast(builder, args[k + 1], signature.args[k + 1], types.int64)
            builder.store(value, word_pointer(builder, args[0], layout.BLOCK + k))
        return context.get_dummy_value()

    return types.void(address, x, y, z), codegen


@intrinsic
def next_block(typingctx, x, y, z, size_x, size_y):  # type: ignore[no-untyped-def]
    """Return the indices of the block after (x, y, z): incrementing is cheaper than dividing."""
    kind = types.UniTuple(types.int64, 3)

    def codegen(context, builder, signature, args):  # type: ignore[no-untyped-def]
        x, y, z, *sizes = args
        zero, one = ir.Constant(WORD, 0), ir.Constant(WORD, 1)
        x = builder.add(x, one)
        wrap = builder.icmp_signed("==", x, sizes[0])
        x = builder.select(wrap, zero, x)
        y = builder.select(wrap, builder.add(y, one), y)
        wrap = builder.icmp_signed("==", y, sizes[1])
        y = builder.select(wrap, zero, y)
        z = builder.select(wrap, builder.add(z, one), z)
        return context.make_tuple(builder, kind, [x, y, z])

    return kind(*[types.int64] * 5), codegen


@intrinsic
def poll(typingctx, address):  # type: ignore[no-untyped-def]
    """Stop the kernel if the host requested it or if Ctrl-C was pressed."""

    def codegen(context, builder, signature, args):  # type: ignore[no-untyped-def]
        counter = word_pointer(builder, args[0], layout.POLLS)
        count = builder.add(builder.load(counter), ir.Constant(WORD, 1))
        builder.store(count, counter)
        low = builder.and_(count, ir.Constant(WORD, _POLLS_PER_SIGNAL_CHECK - 1))
        with builder.if_then(builder.icmp_unsigned("==", low, ir.Constant(WORD, 0)), likely=False):
            _take_signals(context, builder, args[0])
        cancel = builder.load(word_pointer(builder, args[0], layout.CANCEL))
        cancel.set_metadata("nontemporal", builder.module.add_metadata([ir.IntType(32)(1)]))
        with builder.if_then(builder.icmp_signed("!=", cancel, ir.Constant(WORD, 0)), likely=False):
            zero = ir.Constant(WORD, 0)
            abort(context, builder, args[0], layout.INTERRUPTED, zero, [zero] * 3)
        return context.get_dummy_value()

    return types.void(address), codegen


def _take_signals(context, builder, address):  # type: ignore[no-untyped-def]
    """Run Python's signal handlers; a KeyboardInterrupt becomes a cancel request."""
    int32 = ir.IntType(32)
    gil = _call(builder, "PyGILState_Ensure", int32)
    tripped = builder.icmp_signed("!=", _call(builder, "PyErr_CheckSignals", int32), int32(0))
    with builder.if_then(tripped, likely=False):
        _call(builder, "PyErr_Clear", ir.VoidType())
        builder.store(ir.Constant(WORD, 1), word_pointer(builder, address, layout.CANCEL))
    _call(builder, "PyGILState_Release", ir.VoidType(), gil)


def _call(builder, name, result, *arguments):  # type: ignore[no-untyped-def]
    """Call a function of Python's C API."""
    kind = ir.FunctionType(result, [a.type for a in arguments])
    return builder.call(cgutils.get_or_insert_function(builder.module, kind, name), arguments)


def _frame_address(builder):  # type: ignore[no-untyped-def]
    kind = ir.FunctionType(ir.IntType(8).as_pointer(), [ir.IntType(32)])
    function = cgutils.get_or_insert_function(builder.module, kind, "llvm.frameaddress.p0")
    return builder.ptrtoint(builder.call(function, [ir.IntType(32)(0)]), WORD)


@intrinsic
def mark_stack(typingctx, address):  # type: ignore[no-untyped-def]
    """Store in the context the address of the kernel's first stack frame."""

    def codegen(context, builder, signature, args):  # type: ignore[no-untyped-def]
        builder.store(_frame_address(builder), word_pointer(builder, args[0], layout.STACK))
        return context.get_dummy_value()

    return types.void(address), codegen


@intrinsic
def check_stack(typingctx, origin):  # type: ignore[no-untyped-def]
    """Stop the kernel if recursion is too deep."""

    def codegen(context, builder, signature, args):  # type: ignore[no-untyped-def]
        address, location, *thread = origin_of(context, builder, origin, args[0])
        base = builder.load(word_pointer(builder, address, layout.STACK))
        used = builder.sub(base, _frame_address(builder))
        deep = builder.icmp_signed(">", used, ir.Constant(WORD, layout.MAX_STACK))
        with builder.if_then(deep, likely=False):
            abort(context, builder, address, layout.TOO_DEEP, location, thread)
        return context.get_dummy_value()

    return types.void(origin), codegen


@intrinsic
def begin_waiting(typingctx, address):  # type: ignore[no-untyped-def]
    """Start to count the iterations of a loop that waits for another thread."""

    def codegen(context, builder, signature, args):  # type: ignore[no-untyped-def]
        builder.store(ir.Constant(WORD, 0), word_pointer(builder, args[0], layout.ROUNDS))
        return context.get_dummy_value()

    return types.void(address), codegen


@intrinsic
def wait(typingctx, origin, most):  # type: ignore[no-untyped-def]
    """Count an iteration of a loop that waits, and stop the kernel if there were too many."""

    def codegen(context, builder, signature, args):  # type: ignore[no-untyped-def]
        address, location, *thread = origin_of(context, builder, origin, args[0])
        counter = word_pointer(builder, address, layout.ROUNDS)
        count = builder.add(builder.load(counter), ir.Constant(WORD, 1))
        builder.store(count, counter)
        limit = context.cast(builder, args[1], most, types.int64)
        with builder.if_then(builder.icmp_signed(">", count, limit), likely=False):
            abort(context, builder, address, layout.WAITING_TOO_LONG, location, thread)
        return context.get_dummy_value()

    return types.void(origin, most), codegen


@intrinsic
def take_lock(typingctx, origin):  # type: ignore[no-untyped-def]
    """Record that a thread takes a lock, and whether another lane of its warp did so before."""

    def codegen(context, builder, signature, args):  # type: ignore[no-untyped-def]
        address, location, *thread = origin_of(context, builder, origin, args[0])
        checker = builder.load(word_pointer(builder, address, layout.CHECKER))
        number = linear(builder, address, thread)
        block = builder.load(word_pointer(builder, checker, w.BLOCK_NUMBER))
        warp = builder.add(builder.mul(block, word(32)), builder.lshr(number, word(5)))
        warp = builder.add(warp, word(1))
        places = [word_pointer(builder, checker, k) for k in (w.LOCK_WARP, w.LOCK_THREAD)]
        same = builder.icmp_signed("==", builder.load(places[0]), warp)
        other = builder.icmp_signed("!=", builder.load(places[1]), number)
        with builder.if_then(builder.and_(same, other), likely=False):
            place = builder.add(kernel_location(builder, location), word(1))
            builder.store(place, word_pointer(builder, checker, w.LOCK_SHARED))
        builder.store(warp, places[0])
        builder.store(number, places[1])
        return context.get_dummy_value()

    return types.void(origin), codegen


def _failing(code: int):  # type: ignore[no-untyped-def]
    """Return an intrinsic that stops the kernel with one of the codes of `context`."""

    @intrinsic
    def fail(typingctx, origin):  # type: ignore[no-untyped-def]
        def codegen(context, builder, signature, args):  # type: ignore[no-untyped-def]
            address, location, *thread = origin_of(context, builder, origin, args[0])
            abort(context, builder, address, code, location, thread)
            builder.position_at_end(builder.append_basic_block("after_abort"))
            return context.get_dummy_value()

        return types.void(origin), codegen

    return fail


stop_diverged = _failing(layout.DIVERGENCE)
stop_raised = _failing(layout.RAISED)


def nonzero(origin, value):  # type: ignore[no-untyped-def]
    """Return a divisor; stop the kernel if it is zero."""
    raise NotImplementedError


@overload(nonzero)
def _nonzero(origin, value):  # type: ignore[no-untyped-def]
    if not isinstance(value, (types.Number, types.Boolean)):
        return lambda origin, value: value

    def checked(origin, value):  # type: ignore[no-untyped-def]
        if value == 0:
            stop_raised(origin)
        return value

    return checked


@intrinsic
def note_thread(typingctx, address, word, thread, bit):  # type: ignore[no-untyped-def]
    """Store a thread's bit in one of the two thread sets of a divergent barrier."""

    def codegen(context, builder, signature, args):  # type: ignore[no-untyped-def]
        start = builder.add(
            args[0], builder.mul(context.cast(builder, args[1], word, types.int64), WORD(8))
        )
        at = builder.add(start, context.cast(builder, args[2], thread, types.int64))
        value = context.cast(builder, args[3], bit, types.uint8)
        builder.store(value, builder.inttoptr(at, ir.IntType(8).as_pointer()))
        return context.get_dummy_value()

    return types.void(address, word, thread, bit), codegen


@compiled
def any_thread(mask, threads):  # type: ignore[no-untyped-def]
    """Tell whether any thread is in a mask."""
    found = False
    for t in range(threads):
        found |= get(mask, t)
    return found


@compiled
def first_in(mask, row_start, low, high):  # type: ignore[no-untyped-def]
    """Return the first thread of a range of a row that is in a mask, `high` if none is."""
    return first_set(mask_at(mask, row_start), low, high)


@compiled
def end_of(mask, row_start, low, high):  # type: ignore[no-untyped-def]
    """Return the end of the threads of a range of a row that are in a mask, `low` if none is."""
    flags = mask_at(mask, row_start)
    while low + 8 <= high and peek(flags + high - 8, 0) == 0:
        high -= 8
    while low < high and peek8(flags, high - 1) == 0:
        high -= 1
    return high


@compiled
def barrier(origin, mask, threads, all_threads):  # type: ignore[no-untyped-def]
    """Stop the kernel if threads of a block wait at a barrier and others are not in the mask."""
    for first in range(0, all_threads, threads):
        waiting = 0
        for t in range(first, first + threads):
            waiting += get(mask, t)
        if 0 < waiting < threads:
            for t in range(threads):
                note_thread(origin[0], layout.WAITING, t, get(mask, first + t))
                note_thread(origin[0], layout.ALIVE, t, True)
            stop_diverged(origin)


@compiled
def barrier_with_returned(origin, mask, returned, threads, all_threads):  # type: ignore[no-untyped-def]
    """As `barrier`, but threads that have returned need not be in the mask."""
    for first in range(0, all_threads, threads):
        waiting = alive = 0
        for t in range(first, first + threads):
            waiting += get(mask, t)
            alive += not get(returned, t)
        if 0 < waiting < alive:
            for t in range(threads):
                note_thread(origin[0], layout.WAITING, t, get(mask, first + t))
                note_thread(origin[0], layout.ALIVE, t, not get(returned, first + t))
            stop_diverged(origin)


@compiled
def grid_barrier(origin, mask, threads, all_threads, size_x, size_y):  # type: ignore[no-untyped-def]
    """As `barrier`, but all threads of all blocks must be in the mask."""
    _grid_barrier(origin, mask, mask, False, threads, all_threads, size_x, size_y)


@compiled
def grid_barrier_with_returned(  # type: ignore[no-untyped-def]
    origin, mask, returned, threads, all_threads, size_x, size_y
):
    """As `grid_barrier`, but threads that have returned need not be in the mask."""
    _grid_barrier(origin, mask, returned, True, threads, all_threads, size_x, size_y)


@compiled
def _grid_barrier(origin, mask, returned, some, threads, all_threads, size_x, size_y):  # type: ignore[no-untyped-def]
    total = 0
    for t in range(all_threads):
        total += get(mask, t)
    for first in range(0, all_threads if total else 0, threads):
        missing = False
        for t in range(first, first + threads):
            missing |= not get(mask, t) and not (some and get(returned, t))
        if missing:
            block = first // threads
            rest = block // size_x
            begin_block(origin[0], block % size_x, rest % size_y, rest // size_y)
            for t in range(threads):
                note_thread(origin[0], layout.WAITING, t, get(mask, first + t))
                note_thread(origin[0], layout.ALIVE, t, not (some and get(returned, first + t)))
            stop_diverged(origin)


@compiled
def syncthreads_count(values, threads):  # type: ignore[no-untyped-def]
    """Count the threads that published True."""
    total = 0
    for t in range(threads):
        total += get(values, t)
    return types.int32(total)


@compiled
def syncthreads_count_masked(values, mask, threads):  # type: ignore[no-untyped-def]
    """Count the threads of the mask that published True."""
    total = 0
    for t in range(threads):
        total += get(values, t) and get(mask, t)
    return types.int32(total)


@compiled
def syncthreads_and(values, threads):  # type: ignore[no-untyped-def]
    """Return 1 if all threads published True, else 0."""
    return types.int32(syncthreads_count(values, threads) == threads)


@compiled
def syncthreads_and_masked(values, mask, threads):  # type: ignore[no-untyped-def]
    """Return 1 if all threads of the mask published True, else 0."""
    missing = 0
    for t in range(threads):
        missing += get(mask, t) and not get(values, t)
    return types.int32(missing == 0)


@compiled
def syncthreads_or(values, threads):  # type: ignore[no-untyped-def]
    """Return 1 if any thread published True, else 0."""
    return types.int32(syncthreads_count(values, threads) > 0)


@compiled
def syncthreads_or_masked(values, mask, threads):  # type: ignore[no-untyped-def]
    """Return 1 if any thread of the mask published True, else 0."""
    return types.int32(syncthreads_count_masked(values, mask, threads) > 0)
