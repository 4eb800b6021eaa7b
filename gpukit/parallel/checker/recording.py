"""Running a program on virtual ranks, and the record of what each of them did."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from gpukit import errors
from gpukit.checked import command
from gpukit.nn import parameters as made_parameters
from gpukit.nn.parameters import Parameter, Parameters
from gpukit.parallel import virtual
from gpukit.parallel.calls import Call
from gpukit.parallel.checker import memory, steps
from gpukit.parallel.checker.findings import Finding, Place, make
from gpukit.parallel.checker.memory import Host, Slot
from gpukit.parallel.checker.operations import Ledger, Operation, Recorded, Stopped
from gpukit.parallel.checker.steps import Draw, Update
from gpukit.parallel.world import Group, World, current

FOLLOWED = 10  # updates whose arrays are kept


@dataclass(eq=False)
class Trace:
    """What one rank did."""

    rank: int
    models: list[Parameters] = field(default_factory=list)
    updates: defaultdict[int, list[Update]] = field(default_factory=lambda: defaultdict(list))
    operations: list[Operation] = field(default_factory=list)
    draws: list[Draw] = field(default_factory=list)
    open: list[Operation] = field(default_factory=list)  # not known to be complete
    called: Call | None = None  # which the transport is about to start
    polled: Operation | None = None  # which the rank has asked for last
    stuck: Operation | None = None  # where it was when no rank could go on
    error: BaseException | None = None
    returned: bool = False
    result: Any = None
    ends: list[Update] = field(default_factory=list)  # the state of each model at the end
    buffers: list[dict[str, Host]] = field(default_factory=list)
    world: World | None = None

    @property
    def step(self) -> int:
        """The number of the update that the rank is working for."""
        done = max(map(len, self.updates.values()), default=0)
        return max(done + 1, self.world.step if self.world is not None else 0)

    def finish(self) -> None:
        """Note the state at the end."""
        self.returned = True
        self.ends = [
            Update(
                Place(),
                len(self.operations),
                memory.copied(each.grad),
                memory.copied(each.value),
                memory.copied(each.value),
            )
            for each in self.models
        ]
        self.buffers = [
            {name: memory.copied(each.views()[name]) for name in each.views() if name not in names}
            for each in self.models
            for names in [{*each.names}]
        ]

    def slots(self) -> list[Slot]:
        """Return the parameters to be compared: those returned, updated, or made last."""
        named = _named(self.result)
        if named is not None:
            found = [self._slot(name, thing) for name, thing in named.items()]
            return [slot for slot in found if slot is not None]
        chosen = [number for number in range(len(self.models)) if self.updates[number]]
        chosen = chosen or list(range(len(self.models)))[-1:]
        slots = []
        for place, number in enumerate(chosen):
            suffix = f" of model {place + 1}" if place else ""
            slots += [
                slot._replace(name=slot.name + suffix)
                for slot in memory.slots_of(self.models[number], number)
            ]
        return slots

    def _slot(self, name: str, thing: Any) -> Slot | None:
        """Return where a parameter that the program has returned under a name lies."""
        array = thing.value if isinstance(thing, Parameter) else thing
        for number, each in enumerate(self.models):
            for slot in memory.slots_of(each, number):
                if memory.span(each.views()[slot.name]) == memory.span(array):
                    return slot._replace(name=name)
        return None

    def arrays(self) -> dict[str, Host]:
        """Return the arrays in the result that are no parameters, by name."""
        named = _named(self.result) or {}
        return {
            name: memory.copied(array)
            for name, array in named.items()
            if memory.span(array) is not None and self._slot(name, array) is None
        }


def _named(result: Any) -> dict[str, Any] | None:
    """Return the parameters or arrays in what a program has returned, by name."""
    if isinstance(result, Parameters):
        return result.views()
    if isinstance(result, Mapping):
        return {str(name): thing for name, thing in result.items()}
    for part in result if isinstance(result, (tuple, list)) else ():
        if (named := _named(part)) is not None:
            return named
    return None


class Recorder:
    """What the ranks of one run did, and the mistakes that were found while they ran."""

    def __init__(self, ranks: int, *, dropout: bool, followed: int) -> None:
        self.traces = [Trace(rank) for rank in range(ranks)]
        self.ledgers: defaultdict[Any, Ledger] = defaultdict(Ledger)
        self.findings: list[Finding] = []
        self.dropout, self.followed = dropout, followed

    @property
    def whole(self) -> bool:
        """Whether every rank ran to its end."""
        return all(trace.returned for trace in self.traces)

    def here(self) -> Trace | None:
        """Return the trace of the rank that is running."""
        world = current.get()
        return None if world is None else self.traces[world.rank]

    def made(self, parameters: Parameters) -> None:
        """Note new parameters of a rank."""
        if (trace := self.here()) is not None:
            trace.models.append(parameters)

    def launched(self, kernel: Any, shape: Any, arguments: tuple[Any, ...]) -> None:
        """Do a launch of a rank."""
        trace = self.here()
        if trace is None:
            kernel.launcher.run_plain(shape, arguments)
        else:
            steps.observe(self, trace, kernel, shape, arguments)

    def stop(self, finding: Finding) -> None:
        """Note a mistake and end all ranks."""
        self.findings.append(finding)
        raise Stopped

    def accuse(self, operation: Operation, when: str, place: Place | None = None) -> None:
        """Note that the array of an operation was used while it was in progress."""
        if operation.accused:
            return
        operation.accused = True
        names = self.names(operation)
        how = f"changes {when}" if place is None else f"is used in line {place.line} before `wait`"
        self.findings.append(
            make(
                "in-flight",
                f"{operation.what} on rank {operation.rank}, started in line {operation.line}, is "
                f"in progress until its `wait`, but its array {how}: other ranks may get the old "
                "numbers or the new ones, and a result may be overwritten.",
                "Call `wait()` of what the call returned before you read or write the array, and "
                "start the operation only when the array is complete.",
                place or operation,
                operation if place is not None else None,
                parameters=names,
                ranks=(operation.rank,),
                step=operation.step,
            )
        )

    def names(self, operation: Operation) -> tuple[str, ...]:
        """Return the names of the parameters in the array of an operation."""
        region = operation.region
        if region is None:
            return ()
        trace = self.traces[operation.rank]
        slots = memory.slots_of(trace.models[region.model], region.model)
        grads = region._replace(what="grad")
        return tuple(slot.name for slot in slots if slot.learned and slot.grad.holds(grads))


def record(
    function: Callable[[World], Any], ranks: int, *, dropout: bool = True, followed: int = FOLLOWED
) -> Recorder:
    """Run a program on virtual ranks and return what they did; without `dropout` all is kept."""
    recorder = Recorder(ranks, dropout=dropout, followed=followed)

    def body(world: World) -> None:
        trace = recorder.traces[world.rank]
        trace.world = world

        def called(_group: Group, made: Call, _array: Any) -> None:
            trace.called = made

        world.observer = called
        try:
            trace.result = function(world)
            trace.finish()
        except errors.RankError:
            trace.stuck = trace.polled
            raise
        except Stopped:
            raise
        except BaseException as error:
            trace.error = error
            raise

    def wrap(inner: virtual.VirtualTransport) -> Recorded:
        return Recorded(recorder, recorder.traces[inner.rank], inner, tuple(range(inner.size)))

    token = made_parameters.observer.set(recorder.made)
    try:
        with command.observing(recorder.launched):
            virtual.run(body, ranks, wrap=wrap)
    except (Stopped, errors.RankError):
        pass
    except BaseException:
        if all(trace.error is None for trace in recorder.traces):
            raise
    finally:
        made_parameters.observer.reset(token)
    return recorder
