"""Random programs of copies, launches, events and waits against reachability in a graph.

The oracle represents CUDA's ordering rules as edges between numbered operations and searches a
path from one to the other. It is independent of the checker's vector clocks.
"""

from __future__ import annotations

import random
from typing import Any, NamedTuple

import numpy as np
import pytest

from gpukit import cuda
from gpukit.checked import ordering
from gpukit.checked.ordering import call_sites

STREAMS, ARRAYS, EVENTS, SIZE = 4, 3, 2, 8  # stream 0 is the default stream
HOST = -1


class Step(NamedTuple):
    """One step of a program: the operation, its stream, array, half and event."""

    what: str
    stream: int
    array: int
    half: int
    event: int


WORK = ("upload", "download", "memset")
WAITS = ("record", "wait", "synchronize_event", "synchronize", "read", "write", "synchronize_all")


def program(seed: int) -> list[Step]:
    draw = random.Random(seed)
    names = [*WORK * 3, *WAITS[:2] * 2, *WAITS]
    return [
        Step(
            draw.choice(names),
            draw.randrange(STREAMS),
            draw.randrange(ARRAYS),
            draw.randrange(3),
            draw.randrange(EVENTS),
        )
        for _ in range(draw.randrange(4, 30))
    ]


# --- The oracle ------------------------------------------------------------------------------


class Node(NamedTuple):
    number: int
    stream: int
    uses: tuple[tuple[str, int, int, bool], ...]  # memory, array, half, whether written


def uses_of(step: Step) -> tuple[tuple[str, int, int, bool], ...]:
    where = step.array, step.half
    host, device = ("host", *where), ("device", *where)
    return {
        "upload": ((*host, False), (*device, True)),
        "download": ((*host, True), (*device, False)),
        "memset": ((*device, True),),
        "read": ((*host, False),),
        "write": ((*host, True),),
    }.get(step.what, ())


class Graph:
    """Operations with the ordering edges that CUDA guarantees."""

    def __init__(self) -> None:
        self.edges: dict[int, set[int]] = {}
        self.nodes: list[Node] = []
        self.last: dict[int, int] = {}  # the last operation of each stream
        self.host: set[int] = set()  # operations that the host has waited for
        self.recorded: dict[int, set[int]] = {}
        self.waited: dict[int, set[int]] = {k: set() for k in range(STREAMS)}

    def tails(self, stream: int) -> set[int]:
        """Return the operations that the next one of a stream follows directly."""
        own = {self.last[stream]} if stream in self.last else set()
        others = range(STREAMS) if stream == 0 else [0]
        found = own | self.waited[stream] | self.host
        for k in others:
            found |= self.waited[k] | ({self.last[k]} if k in self.last else set())
        return found

    def add(self, stream: int, step: Step, number: int) -> Node:
        node = Node(number, stream, uses_of(step))
        if stream == HOST:
            self.edges[number] = set(self.host)
        else:
            self.edges[number] = self.tails(stream)
            self.last[stream] = number
            self.nodes.append(node)
        return node

    def reaches(self, early: int, late: int) -> bool:
        left, seen = [late], set()
        while left:
            for before in self.edges[left.pop()] - seen:
                if before == early:
                    return True
                seen.add(before)
                left.append(before)
        return False


def clash(one: Node, two: Node) -> bool:
    return any(
        a[:2] == b[:2] and (a[3] or b[3]) and (2 in (a[2], b[2]) or a[2] == b[2])
        for a in one.uses
        for b in two.uses
    )


def expected(steps: list[Step]) -> set[tuple[int, int]]:
    """Return the pairs of conflicting steps that are unordered."""
    graph, found = Graph(), set()
    for number, step in enumerate(steps):
        if step.what in WORK or step.what in ("read", "write"):
            at_once = step.what not in WORK
            early = list(graph.nodes)
            node = graph.add(HOST if at_once else step.stream, step, number)
            found |= {
                (old.number, number)
                for old in early
                if clash(old, node) and not graph.reaches(old.number, number)
            }
            if step.stream == 0 and step.what in ("upload", "download"):
                graph.host |= {number}
        elif step.what in ("record", "wait"):
            if step.what == "record":
                graph.recorded[step.event] = graph.tails(step.stream)
            else:
                graph.waited[step.stream] |= graph.recorded.get(step.event, set())
            if step.stream == 0:  # an operation in the default stream: all streams wait for it
                graph.add(0, step, number)
        elif step.what == "synchronize_event":
            graph.host |= graph.recorded.get(step.event, set())
        elif step.what == "synchronize":
            graph.host |= graph.tails(step.stream)
        elif step.what == "synchronize_all":
            graph.host |= {n.number for n in graph.nodes}
    return found


# --- The same steps, executed ----------------------------------------------------------------


def done(steps: list[Step], monkeypatch: pytest.MonkeyPatch) -> set[tuple[int, int]]:
    """Run the steps and return the racing pairs found; a step's line is its number."""
    found: list[Any] = []
    now = [0]
    monkeypatch.setattr(call_sites, "of_frame", lambda _: call_sites.Place("", "steps.py", now[0]))
    with ordering.following(found.append):
        hosts = [cuda.pinned_array(SIZE, np.int32) for _ in range(ARRAYS)]
        devices = [cuda.device_array(SIZE, np.int32) for _ in range(ARRAYS)]
        streams = [0, *(cuda.stream() for _ in range(1, STREAMS))]
        events = [cuda.event() for _ in range(EVENTS)]
        for number, step in enumerate(steps):
            now[0] = number
            part = (slice(0, SIZE // 2), slice(SIZE // 2, SIZE), slice(0, SIZE))[step.half]
            host, device = hosts[step.array][part], devices[step.array][part]
            stream, event = streams[step.stream], events[step.event]
            do(step.what, host, device, stream, event)
        cuda.synchronize()
    return {(f.other_line, f.line) for f in found}


def do(what: str, host: Any, device: Any, stream: Any, event: Any) -> None:
    if what == "upload":
        device.copy_to_device(host, stream)
    elif what == "download":
        device.copy_to_host(host, stream)
    elif what == "memset":
        cuda.driver.device_memset(device, 0, device.nbytes, stream)
    elif what == "record":
        event.record(stream)
    elif what == "wait":
        event.wait(stream)
    elif what == "synchronize_event":
        event.synchronize()
    elif what == "synchronize":
        (stream or cuda.default_stream()).synchronize()
    elif what == "synchronize_all":
        cuda.synchronize()
    elif what == "read":
        host.sum()
    else:
        host[:] = 1


@pytest.mark.parametrize("first", range(0, 1000, 100))
@pytest.mark.costly
def test_racing_pairs_are_exactly_those_without_a_path_between_them(first, monkeypatch):
    wrong = {}
    for seed in range(first, first + 100):
        steps = program(seed)
        wanted, got = expected(steps), done(steps, monkeypatch)
        if wanted != got:
            wrong[seed] = (sorted(wanted - got), sorted(got - wanted), steps)
    assert wrong == {}


def test_random_programs_cover_races_and_every_kind_of_step():
    """The programs are a useful sample: some race, some do not, and every step occurs."""
    drawn = [program(seed) for seed in range(200)]
    racing = [steps for steps in drawn if expected(steps)]
    assert 50 < len(racing) < 190
    assert {step.what for steps in drawn for step in steps} == {*WORK, *WAITS}
