"""Addresses of the native functions of checked mode, for the table in its state.

They are compiled once and cached by Numba, so that an instrumented kernel takes no longer
to compile than its own code.
"""

from __future__ import annotations

import functools
import hashlib
import threading
from collections.abc import Callable
from typing import Any, TypeVar

from numba.core import config, sigutils, types
from numba.core.ccallback import CFunc

from gpukit.checked.engine import (
    barriers,
    disk_cache,
    events,
    fences,
    findings,
    shadow,
    shadow_areas,
    shadow_rows,
    shadow_runs,
)
from gpukit.checked.engine import counting as counting_
from gpukit.compiler import cache_folder
from gpukit.compiler import checker_state as w
from gpukit.compiler.kernel_target import kernel_target
from gpukit.compiler.runtime.raw import peek, poke

_I = types.int64
_Made = TypeVar("_Made")
_compiling = threading.RLock()
compiled: list[str] = []  # the functions that were not in the cache, for the message about the wait


def _entry(name: str) -> Any:
    """Compile a function of the state's address and as many words as `checker_state.CALLS` says."""
    signature = _I(*[_I] * (1 + w.CALLS[name]))

    def compile_(function: Any) -> Any:
        folder = _folder()
        if folder is None:
            return _callback(function, signature)
        before, config.CACHE_DIR = config.CACHE_DIR, folder
        try:
            return _callback(function, signature, cache=True)
        except (OSError, RuntimeError):  # the folder cannot be written to
            return _callback(function, signature)
        finally:
            config.CACHE_DIR = before

    return compile_


class _Callback(CFunc):
    """A function to be called from C, compiled for the target of the functions that it calls."""

    _targetdescr = kernel_target

    def enable_caching(self) -> None:
        self._cache = disk_cache.Cache(self._pyfunc)

    def _compile_uncached(self) -> Any:
        compiled.append(self.__name__)
        return super()._compile_uncached()


def _callback(function: Any, signature: Any, *, cache: bool = False) -> _Callback:
    # Inlined into its C wrapper: words passed on through the stack stall the processor.
    options = {"nopython": True, "error_model": "numpy", "forceinline": True}
    made = _Callback(function, sigutils.normalize_signature(signature), {}, options)
    if cache:
        made.enable_caching()
    made.compile()
    return made


@functools.cache
def _folder() -> str | None:
    """Return a cache folder for these functions; Numba does not notice changes in their callees."""
    from gpukit.compiler import cache

    where = cache_folder.checker_folder()
    if where is None:
        return None
    digest = hashlib.sha256(cache.surroundings().encode()).hexdigest()
    return str(where / digest[:16])


def once(make: Callable[[], _Made]) -> Callable[[], _Made]:
    """Make a value once and share it; a lock protects Numba's cache folder, which is changed."""
    made = functools.cache(make)

    @functools.wraps(make)
    def one_at_a_time() -> _Made:
        with _compiling:
            return made()

    return one_at_a_time


def compile_all() -> None:
    """Compile all of them into the cache, as `make` does, so that no lesson has to wait."""
    for functions in (checking, counting, finish, recording, settle, silent):
        functions()


@once
def checking() -> tuple[int, ...]:
    """Return the addresses of the functions that look for races and unset memory."""

    @_entry("access")
    def access(checker, location, thread, address, size, kind, value):  # type: ignore[no-untyped-def]
        shadow.access(checker, location, thread, address, size, kind, value)
        return 0

    @_entry("row")
    def row(checker, location, thread, count, address, step, size, mask, kind):  # type: ignore[no-untyped-def]
        shadow_rows.row(checker, location, thread, count, address, step, size, mask, kind)
        return 0

    @_entry("row_free")
    def row_free(checker, location, thread, count, address, step, size, mask):  # type: ignore[no-untyped-def]
        return shadow_rows.row_free(checker, location, thread, count, address, step, size, mask)

    @_entry("area")
    def area(checker, location, thread, count, address, step, size, mask, rounds, leap):  # type: ignore[no-untyped-def]
        return shadow_areas.area(
            checker, location, thread, count, address, step, size, mask, rounds, leap
        )

    @_entry("run")
    def run(checker, segment, at, step, size, cells, stride, location, thread, apart, n, kind):  # type: ignore[no-untyped-def]
        shadow_runs.check_run(
            checker, segment, at, step, size, cells, stride, location, thread, apart, n, kind
        )
        return 0

    own = {"access": access, "row": row, "row_free": row_free, "area": area, "run": run}
    return _table({**_common(), **own})


@once
def counting() -> tuple[int, ...]:
    """Return the addresses of the functions that count requests, branches and statements."""

    @_entry("access")
    def access(checker, location, thread, address, size, kind, value):  # type: ignore[no-untyped-def]
        counting_.lane(checker, location, thread, address, size, kind)
        return 0

    @_entry("row")
    def row(checker, location, thread, count, address, step, size, mask, kind):  # type: ignore[no-untyped-def]
        counting_.row(checker, location, thread, count, address, step, size, mask, kind)
        return 0

    @_entry("begin_block")
    def begin_block(checker, block):  # type: ignore[no-untyped-def]
        barriers.begin_block(checker, block)
        counting_.begin_block(checker)
        return 0

    @_entry("tick")
    def free(checker):  # type: ignore[no-untyped-def]
        return 1

    @_entry("barrier")
    def barrier(checker, location):  # type: ignore[no-untyped-def]
        barriers.barrier(checker)
        counting_.barrier(checker, location)
        return 0

    @_entry("branch")
    def branch(checker, location, count, taken, here, spare):  # type: ignore[no-untyped-def]
        counting_.branch(checker, location, count, taken, here)
        return 0

    @_entry("trip")
    def trip(checker, what, location, thread, depth):  # type: ignore[no-untyped-def]
        return counting_.trip(checker, what, location, thread, depth)

    @_entry("work")
    def work(checker, location, thread, count, mask, recomputed):  # type: ignore[no-untyped-def]
        counting_.work(checker, location, thread, count, mask, recomputed)
        return 0

    own = {
        "access": access,
        "row": row,
        "row_free": free,
        "begin_block": begin_block,
        "barrier": barrier,
        "branch": branch,
        "trip": trip,
    }
    return _table({**_common(), **own, "work": work})


@once
def recording() -> tuple[int, ...]:
    """Return the addresses of the functions that record every event."""

    @_entry("access")
    def access(checker, location, thread, address, size, kind, value):  # type: ignore[no-untyped-def]
        events.access(checker, location, thread, address, size, kind, value)
        return 0

    @_entry("row")
    def row(checker, location, thread, count, address, step, size, mask, kind):  # type: ignore[no-untyped-def]
        events.row(checker, location, thread, count, address, step, size, mask, kind)
        return 0

    @_entry("tick")
    def taken(checker):  # type: ignore[no-untyped-def]
        return 0  # no row is free: each thread records the value that it writes

    @_entry("barrier")
    def barrier(checker, location):  # type: ignore[no-untyped-def]
        events.settle(checker)
        events.event(checker, w.E_BARRIER, location, 0, 0, 0, 0, 0)
        return 0

    @_entry("grid_barrier")
    def grid_barrier(checker, location):  # type: ignore[no-untyped-def]
        events.settle(checker)
        events.event(checker, w.E_GRID, location, 0, 0, 0, 0, 0)
        barriers.grid_barrier(checker)
        return 0

    @_entry("sync_warps")
    def sync_warps(checker, location, threads, active):  # type: ignore[no-untyped-def]
        events.sync_warps(checker, location, threads, active)
        return 0

    @_entry("work")
    def work(checker, location, thread, count, mask, spare):  # type: ignore[no-untyped-def]
        events.work(checker, location, thread, count, mask)
        return 0

    @_entry("value")
    def value(checker, location, thread, variable, bits, real):  # type: ignore[no-untyped-def]
        events.event(checker, w.E_VALUE, location, thread, variable, bits, real, 0)
        return 0

    own = {
        "access": access,
        "row": row,
        "row_free": taken,
        "barrier": barrier,
        "grid_barrier": grid_barrier,
    }
    return _table({**_common(), **own, "sync_warps": sync_warps, "work": work, "value": value})


@once
def settle() -> Any:
    """Return the function (checker) that records the value left by the last atomic of a launch."""

    @_entry("tick")
    def last(checker):  # type: ignore[no-untyped-def]
        events.settle(checker)
        return 0

    return last.ctypes


@once
def finish() -> Any:
    """Return the function (checker, locations) that counts requests open at the end of a launch."""

    @_entry("begin_block")
    def close_all(checker, locations):  # type: ignore[no-untyped-def]
        counting_.close_all(checker, locations)
        return 0

    return close_all.ctypes


@once
def silent() -> tuple[int, ...]:
    """Return the addresses of functions that record nothing."""

    @_entry("tick")
    def nothing(checker):  # type: ignore[no-untyped-def]
        return 0

    @_entry("tick")
    def free(checker):  # type: ignore[no-untyped-def]
        return 1

    # In C a function may be called with more arguments than it has parameters.
    return _table(dict.fromkeys(w.CALLS, nothing) | {"row_free": free})


@once
def _common() -> dict[str, Any]:
    """Return the functions that every kind of instrumentation uses."""

    @_entry("begin_block")
    def begin_block(checker, block):  # type: ignore[no-untyped-def]
        barriers.begin_block(checker, block)
        return 0

    @_entry("barrier")
    def barrier(checker, location):  # type: ignore[no-untyped-def]
        barriers.barrier(checker)
        return 0

    @_entry("grid_barrier")
    def grid_barrier(checker, location):  # type: ignore[no-untyped-def]
        barriers.grid_barrier(checker)
        return 0

    @_entry("fence")
    def fence(checker, thread, wide):  # type: ignore[no-untyped-def]
        fences.fence(checker, thread, wide)
        return 0

    @_entry("sync_warps")
    def sync_warps(checker, location, threads, active):  # type: ignore[no-untyped-def]
        barriers.sync_warps(checker, threads, active)
        return 0

    @_entry("check_mask")
    def check_mask(checker, location, thread, threads, active, returned, mask):  # type: ignore[no-untyped-def]
        barriers.check_mask(checker, location, thread, threads, active, returned, mask)
        return 0

    @_entry("check_source")
    def check_source(checker, location, thread, threads, active, source, mask):  # type: ignore[no-untyped-def]
        barriers.check_source(checker, location, thread, threads, active, source, mask)
        return 0

    @_entry("outside")
    def outside(checker, context, location, thread, ndim, index, shape, what):  # type: ignore[no-untyped-def]
        findings.outside(checker, context, location, thread, ndim, index, shape, what)
        return 0

    @_entry("segment")
    def segment(checker, number, address, size):  # type: ignore[no-untyped-def]
        shadow.set_segment(checker, number, address, size)
        return 0

    @_entry("after_return")
    def after_return(checker, location, threads, returned):  # type: ignore[no-untyped-def]
        barriers.after_return(checker, location, threads, returned)
        return 0

    @_entry("grid_return")
    def grid_return(checker, location, threads, returned):  # type: ignore[no-untyped-def]
        barriers.grid_return(checker, location, threads, returned)
        return 0

    @_entry("tick")
    def tick(checker):  # type: ignore[no-untyped-def]
        poke(checker, w.TICK, peek(checker, w.TICK) + 1)
        return 0

    @_entry("note")
    def note(checker, what, location, other, segment, thread, who, block, address, size, a, b):  # type: ignore[no-untyped-def]
        hazard, size = size >> 32, size & 0xFFFFFFFF
        return findings.put_note(
            checker, what, location, other, segment, thread, who, block, address, size, hazard, a, b
        )

    @_entry("branch")
    def nothing(checker, a, b, c, d, e):  # type: ignore[no-untyped-def]
        return 0

    return {
        "begin_block": begin_block,
        "barrier": barrier,
        "grid_barrier": grid_barrier,
        "fence": fence,
        "sync_warps": sync_warps,
        "check_mask": check_mask,
        "check_source": check_source,
        "outside": outside,
        "segment": segment,
        "branch": nothing,
        "area": nothing,
        "run": nothing,
        "work": nothing,
        "value": nothing,
        "trip": nothing,
        "note": note,
        "after_return": after_return,
        "grid_return": grid_return,
        "tick": tick,
    }


def _table(functions: dict[str, Any]) -> tuple[int, ...]:
    return tuple(int(functions[name].address) for name in w.CALLS)
