"""Which operations CUDA orders: default streams, events, host synchronization."""

import pytest

import gpukit
from gpukit import cuda, target
from tests.checked.ordering.stream_programs import device, fill, races

pytestmark = pytest.mark.skipif(target.wanted() == "cuda", reason="only CPU launches are checked")


@pytest.mark.parametrize("last", [0, "default_stream", "legacy_default_stream"])
def test_default_stream_waits_for_all_streams(last):
    def program():
        x = device()
        fill(x, cuda.stream())
        fill(x, getattr(cuda, last)() if last else 0)

    assert races(program) == []


def test_streams_wait_for_the_default_stream():
    def program():
        x = device()
        fill(x)
        fill(x, cuda.stream())

    assert races(program) == []


def test_default_stream_orders_other_streams():
    def program():
        x, other = device(), device()
        fill(x, cuda.stream())
        fill(other)
        fill(x, cuda.stream())

    assert races(program) == []


def test_per_thread_default_stream_waits_for_the_legacy_one_only():
    def program(between):
        x, s = device(), cuda.stream()
        fill(x, s)
        if between:
            fill(device())
        fill(x, cuda.per_thread_default_stream())

    assert races(lambda: program(True)) == []
    assert races(lambda: program(False)) == ["stream-race"]


def with_event(use):
    """Return a program of two launches on one array, with `use(event)` in between."""

    def program():
        x, one, two, done = device(), cuda.stream(), cuda.stream(), cuda.event()
        fill(x, one)
        use(done, one, two)
        fill(x, two)

    return races(program)


def test_event_that_is_recorded_and_waited_for_orders_streams():
    assert with_event(lambda e, one, two: (e.record(one), e.wait(two))) == []


@pytest.mark.parametrize(
    "use",
    [
        lambda e, one, two: None,
        lambda e, one, two: e.record(one),
        lambda e, one, two: e.wait(two),
        lambda e, one, two: (e.wait(two), e.record(one)),
        lambda e, one, two: (e.record(two), e.wait(two)),
        lambda e, one, two: (e.record(one), e.wait(one)),
        lambda e, one, two: (e.record(one), e.record(two), e.wait(two)),
    ],
    ids=["none", "recorded", "waited", "too_early", "wrong_record", "wrong_wait", "overwritten"],
)
def test_event_without_both_record_and_wait_orders_nothing(use):
    assert with_event(use) == ["stream-race"]


@pytest.mark.parametrize(
    "use",
    [
        lambda e, one, two: (e.record(one), e.synchronize()),
        lambda e, one, two: e.record(one) or e.query(),
        lambda e, one, two: (e.record(one), cuda.event_elapsed_time(e, e)),
        lambda e, one, two: one.synchronize(),
        lambda e, one, two: cuda.synchronize(),
        lambda e, one, two: cuda.current_context().synchronize(),
        lambda e, one, two: cuda.default_stream().synchronize(),
        lambda e, one, two: one.auto_synchronize().__enter__() and one.synchronize(),
    ],
)
def test_host_synchronization_with_the_first_stream_orders_both(use):
    assert with_event(use) == []


def test_ordering_is_transitive_through_a_third_stream():
    def program():
        x = device()
        one, two, three = (cuda.stream() for _ in range(3))
        first, second = cuda.event(), cuda.event()
        fill(x, one)
        first.record(one)
        first.wait(two)
        second.record(two)
        second.wait(three)
        fill(x, three)

    assert races(program) == []


def test_streams_and_events_may_be_dropped_with_work_in_flight():
    def program():
        x = device()
        s = cuda.stream()
        fill(x, s)
        del s
        fill(x, cuda.stream())

    assert races(program) == ["stream-race"]


def test_a_pair_of_lines_in_a_loop_is_one_finding():
    def program():
        x, streams = device(), [cuda.stream() for _ in range(4)]
        for _ in range(5):
            for s in streams:
                fill(x, s)

    report = gpukit.check(program)()
    assert [f.kind for f in report.findings] == ["stream-race"]
