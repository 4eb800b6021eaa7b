"""`gpukit.check`: run a launch under the checker and report what is wrong with it."""

from __future__ import annotations

import contextlib
import functools
import sys
from collections.abc import Iterator
from typing import Any, NamedTuple

from gpukit import errors, status
from gpukit.checked import (
    decode,
    flow,
    gpus,
    lint,
    mistakes,
    never_written,
    occupancy,
    order,
    ordering,
    stop,
)
from gpukit.checked.command import Command
from gpukit.checked.finding import Finding
from gpukit.checked.instrumented import Interrupted, Launch, in_words
from gpukit.checked.messages.phrases import some
from gpukit.checked.ordering import launches
from gpukit.checked.progress import Bar
from gpukit.checked.report import Report, content, merging
from gpukit.checked.segments import Segment
from gpukit.checked.state import Seen
from gpukit.compiler import checker_state, locations
from gpukit.compiler.frontend import source
from gpukit.compiler.lowering import waiting
from gpukit.cpu.launch import marshal
from gpukit.cpu.memory import uninitialised


def check(kernel: Any) -> Command:
    """Return the kernel ready to be launched under the checker.

    `gpukit.check(kernel)[grid, block, stream, shared_bytes](*arguments)` runs the launch, with
    its usual effect on the arguments, and returns a `Report`. Kernels of numba.cuda are accepted
    too: their Python function runs on the CPU. `gpukit.check(function)(*arguments)`
    calls a function that launches kernels, and returns one report for all of its launches.
    """
    return Command("check", kernel, run_aloud, _refused, join=Report.merge, around=following)


def of_values(kernel: Any) -> Command:
    """Return the kernel ready to be checked, without the search for accidental float64.

    That finds all types of the kernel once more, a tenth of a check. `doubles` makes up for it.
    """
    return Command("check", kernel, functools.partial(run_aloud, doubles=False), _refused)


def doubles(kernel: Any) -> Command:
    """Return the kernel ready for what looks like a launch, and only looks for float64.

    What was chosen is found, too.
    """
    return Command("check", kernel, _doubles, _refused)


def _doubles(kernel: Any, shape: Any, arguments: tuple[Any, ...]) -> Report:
    found = _lint(kernel, kernel.launcher.packed(shape, arguments, []), chosen=True)
    return _report(kernel, shape, found, 0.0, 0, [])


@contextlib.contextmanager
def following(reports: list[Report]) -> Iterator[None]:
    """Track the order of operations inside a `with` block; append a report per race to the list.

    Races of a launch are in the launch's own report. Copies in streams get a report, too.
    """

    def deliver(found: Finding) -> None:
        reports.append(Report([found], launches=0))

    with ordering.following(deliver) as tracker:
        yield
    if tracker.streams and not reports:
        note = f"The order of the copies on {some(tracker.streams, 'stream')} was checked."
        reports.append(Report([], launches=0, notes=[note]))


def run_aloud(
    kernel: Any, shape: Any, arguments: tuple[Any, ...], *, doubles: bool = True
) -> Report:
    """Run one launch as `run` does; print what was found so far where it is interrupted."""
    try:
        return run(kernel, shape, arguments, doubles=doubles)
    except Interrupted as stopped:
        sys.stderr.write(f"{stopped.report}\n")
        raise in_words(stopped) from None


def run(kernel: Any, shape: Any, arguments: tuple[Any, ...], *, doubles: bool = True) -> Report:
    """Run one launch and return what is wrong with it; accidental float64 only with `doubles`."""
    from gpukit.checked.engine import entries

    try:
        launch = Launch(kernel, shape, arguments, "access")
    except errors.LaunchError as refused:
        return _ended(_refused(kernel, (shape.grid, shape.block), refused), refused)
    except errors.ReturnedLocal as refused:
        said = {"reason": refused.message, "advice": refused.fix}
        dangling = decode.make("returned-local", refused, **said)
        return _ended(_report(kernel, shape, [dangling], 0.0, 0, []), refused)
    most = _most_together(launch)
    if shape.blocks > most:
        given = {"given": shape.blocks, "limit": most, "what": "blocks with a grid.sync"}
        beyond = decode.make("launch-refused", _definition(kernel), **given)
        return _report(kernel, shape, [beyond], 0.0, 0, [])
    arrays = order.Arguments(launch)
    try:
        with Bar(f"check {kernel.py_func.__name__}") as bar:
            functions = bar.prepare(entries.checking)
            reads = functools.partial(launches.notes_reads, shape.stream)
            seen = launch.run(functions, progress=bar, uninitialised=without_value, reads=reads)
    except Interrupted as stopped:
        stopped.report = _so_far(kernel, shape, stopped)
        raise
    with status.doing(f"check {kernel.py_func.__name__}: evaluating the recorded accesses"):
        return _judged(kernel, shape, launch, seen, arrays, doubles)


def _judged(
    kernel: Any, shape: Any, launch: Launch, seen: Seen, arrays: order.Arguments, doubles: bool
) -> Report:
    """Return the report of an instrumented launch."""
    found = decode.findings(seen, kernel.py_func)
    if seen.error is not None:
        found.append(_stopped(seen.error, kernel))
    elif not seen.stopped:
        found += _after(launch, seen, arrays, any(f.severity == "error" for f in found))
    for segment in seen.segments:
        if segment.space == "global":
            _note_written(seen, segment)
    found += [*_locks(seen), *_sums(seen)]
    found += _lint(kernel, launch.packed) if doubles else []
    found += _mistakes(kernel, launch)
    found += launches.add(launch, seen)
    cut_short = seen.error is not None or seen.stopped
    counts = seen.seconds, seen.blocks_done, _notes(seen), seen.idle_warps
    made = _report(kernel, shape, found, *counts, stopped=_AN_ERROR if cut_short else "")
    return _ended(made, seen.error)


_AN_ERROR = "an error"


def unfinished(kernel: Any, shape: Any) -> Report:
    """Return the report of a launch that was interrupted before or after its blocks ran."""
    report = _report(kernel, shape, [], 0.0, 0, [], stopped=stop.cause())
    name = content.shaped(report.launched[0])
    report.notes.append(
        f"{name} was stopped by {stop.cause()} while it was prepared or evaluated: its findings "
        "are not known."
    )
    return report


def _so_far(kernel: Any, shape: Any, stopped: Interrupted) -> Report:
    """Return the report of an interrupted launch: what was found before."""
    seen = stopped.seen
    note = f"{stopped.words()}: findings and totals cover the launch up to then."
    return _report(
        kernel,
        shape,
        decode.findings(seen),
        seen.seconds,
        seen.blocks_done,
        [note],
        seen.idle_warps,
        stopped=stopped.cause,
    )


def _most_together(launch: Launch) -> int:
    """Return how many blocks the largest GPU holds at once, if they wait for each other."""
    if not launch.compiled.whole_grid:
        return int(launch.shape.blocks)
    static, dynamic = launch.compiled.shared_bytes, launch.shape.shared
    counts = []
    for gpu in gpus.GPUS.values():
        held = occupancy.occupancy(gpu, launch.shape.threads, 32, static, dynamic)
        counts.append(held.blocks * gpu.sms)
    return max(counts)


def without_value(segment: Segment) -> Any:
    """Return a flag per cell of device memory that was never written; None if there is none."""
    if segment.space != "global":
        return None
    return uninitialised.cells(segment.begin, segment.end, segment.granule)


def _note_written(seen: Seen, segment: Segment) -> None:
    if uninitialised.cells(segment.begin, segment.end, segment.granule) is not None:
        uninitialised.set_cells(segment.begin, segment.granule, seen.written(segment))


def _notes(seen: Seen) -> list[str]:
    notes = [
        f"The accesses of {name} were not checked: it is recursive, or Numba or another compiler "
        "generates its code."
        for name in seen.compiled.instrumentation.unseen
    ]
    if seen.lost:
        notes.append(f"{seen.lost} more findings are omitted: there were too many kinds.")
    if seen.words is not None and seen.words[checker_state.NODES_LOST]:
        notes.append(
            "The launch has too many fences to track them all: races between threads that a fence "
            "and an atomic may order are not reported."
        )
    if seen.stopped:
        notes.append("The launch was stopped: a block did not finish after these findings.")
    return notes


# ---- what is known only after the launch -------------------------------------------------------


def _after(launch: Launch, seen: Seen, arguments: order.Arguments, wrong: bool) -> list[Finding]:
    place = _definition(launch.kernel)
    found = never_written.findings(launch, seen, place)
    static = seen.compiled.instrumentation
    if seen.idle_blocks and not (static.unseen or static.prints):
        idle = {"idle": seen.idle_blocks, "total": launch.shape.blocks}
        first = _block(seen.first_idle, launch.shape.grid)
        found.append(decode.make("idle-threads", place, blocks=(first,), **idle))
    if not wrong:
        found += arguments.findings(launch)
    return found


def _block(number: int, grid: tuple[int, int, int]) -> tuple[int, int, int]:
    return number % grid[0], number // grid[0] % grid[1], number // (grid[0] * grid[1])


def _locks(seen: Seen) -> list[Finding]:
    """Return the finding for a lock that lanes of one warp have taken one after another."""
    number = int(seen.words[checker_state.LOCK_SHARED]) - 1 if seen.words is not None else -1
    if number < 0:
        return []
    location = seen.compiled.locations[seen.compiled.instrumentation.locations[number]]
    return [decode.make("spin-lock", location, what=location.what)]


def _sums(seen: Seen) -> list[Finding]:
    """Return the lines at which several threads add floats to one element, in any order."""
    instrumentation = seen.compiled.instrumentation
    places = sorted(set(seen.added_together) & set(instrumentation.rounding))
    found = [seen.compiled.locations[instrumentation.locations[k]] for k in places]
    lines = {(place.file, place.line): place for place in reversed(found)}
    return [
        decode.make("not-reproducible", place, what=place.what, array=place.array)
        for place in reversed(lines.values())
    ]


def _lint(kernel: Any, packed: marshal.Packed, chosen: bool = False) -> list[Finding]:
    types = tuple(marshal.numba_type(k) for k in packed.kinds)
    known = kernel.__dict__.setdefault("_float64_accidents", {})
    floats = frozenset(k for k, a in enumerate(packed.arguments) if type(a) is float)
    if (types, floats, chosen) not in known:
        known[types, floats, chosen] = lint.accidents(kernel.py_func, types, floats, chosen)
    return [
        decode.make(
            "float64",
            a.location,
            what=a.what,
            reason=a.reason,
            causes=list(a.causes),
            kinds=list(a.kinds),
            dtype="float64",
        )
        for a in known[types, floats, chosen]
    ]


def _mistakes(kernel: Any, launch: Launch) -> list[Finding]:
    """Return the mistakes in the kernel's source, and which of its globals have changed."""
    kinds = tuple(marshal.numba_type(k) for k in launch.packed.kinds)
    known = kernel.__dict__.setdefault("_mistakes", {})
    if kinds not in known:
        known[kinds] = mistakes.written(kernel.py_func, kinds), mistakes.Outside(kernel.py_func)
    written, outside = known[kinds]
    return [
        decode.make(s.kind, s.location, what=s.what, reason=s.reason)
        for s in [*written, *outside.changed()]
    ]


# ---- launches that end early --------------------------------------------------------------------


class _Place(NamedTuple):
    kernel: str
    file: str
    line: int
    source: str


def _definition(kernel: Any) -> _Place:
    """Return the line of a kernel's `def`."""
    return _Place(*source.place(source.shown(kernel.py_func)))


def _refused(kernel: Any, items: Any, refused: errors.LaunchError) -> Report:
    found = decode.make("launch-refused", _definition(kernel), reason=str(refused))
    sizes = [items[k] if isinstance(items, tuple) and len(items) > k else () for k in (0, 1)]
    grid, block = (s if isinstance(s, tuple) else (s,) for s in sizes)
    return Report([found], kernel.py_func.__name__, grid, block, blocks_run=0)


def _stopped(error: BaseException, kernel: Any) -> Finding:
    """Return the finding for what stopped a launch."""
    if not isinstance(error, errors.KernelError) or not error.file:
        return decode.make("raised", _definition(kernel), reason=_name(error), somewhere=True)
    location = locations.SourceLocation(
        error.kernel, error.file, error.line, error.source, error.array, ""
    )
    who: dict[str, Any] = {"threads": (error.thread,), "blocks": (error.block,)}
    if isinstance(error, errors.OutOfBounds):
        return decode.make(
            "out-of-bounds",
            location,
            array=error.array,
            index=error.index,
            shape=error.shape,
            **who,
        )
    if isinstance(error, errors.EndlessWait):
        return decode.make("endless-wait", location, limit=waiting.MOST_ROUNDS, **who)
    if isinstance(error, errors.BarrierDivergence):
        kind = "cooperative-misuse" if error.whole_grid else "barrier-divergence"
        sides = {"waiting": error.waiting, "missing": error.missing}
        if not error.whole_grid:
            sides |= flow.Flow(kernel.py_func).apart(location)
        return decode.make(kind, location, blocks=(error.block,), **sides)
    return decode.make("raised", location, reason=_name(error), **who)


def _name(error: BaseException) -> str:
    text = str(getattr(error, "message", "") or error)
    names = [c.__name__ for c in type(error).__mro__ if not c.__module__.startswith("gpukit")]
    return f"{names[0]}: {text}" if text else names[0]


def _ended(report: Report, error: BaseException | None) -> Report:
    """Return the report, with what ended its launch."""
    report.error = error
    return report


def _report(
    kernel: Any,
    shape: Any,
    found: list[Finding],
    seconds: float,
    blocks: int,
    notes: list[str],
    idle_warps: int = 0,
    stopped: str = "",
) -> Report:
    name = kernel.py_func.__name__
    made = merging.Launch(name, shape.grid, shape.block, 1, blocks, seconds, idle_warps, stopped)
    counts = 1, seconds, blocks, idle_warps
    return Report(found, name, shape.grid, shape.block, *counts, notes=notes, launched=(made,))


__all__ = ["check", "run"]
