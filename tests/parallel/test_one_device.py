"""Several tasks on one device: whose call is next, what the timeline says, and clear errors."""

import itertools
import time

import numpy as np
import pytest

import gpukit
from gpukit import cuda
from gpukit.parallel import Task, run_tasks

A = np.random.default_rng(4).standard_normal((40, 40)).astype(np.float32)


def sleeping(seconds, log=None, name=""):
    """Return work that takes some time and says that it was called."""

    def work(_stream):
        time.sleep(seconds)
        if log is not None:
            log.append(name)

    return work


def test_a_task_calls_its_work_as_often_as_asked():
    out = np.full((3, 40, 40), np.nan, np.float32)
    calls = iter(range(3))
    timeline = run_tasks(
        Task("products", lambda s: gpukit.matmul(A, A, out=out[next(calls)], stream=s), times=3)
    )
    np.testing.assert_allclose(out, np.broadcast_to(A @ A, out.shape), rtol=1e-4, atol=1e-4)
    assert [(span.task, span.number) for span in timeline.spans] == [
        ("products", number) for number in range(3)
    ]


def test_each_task_has_one_stream_of_its_own():
    streams = {"a": [], "b": []}
    run_tasks(*(Task(name, seen.append, times=4) for name, seen in streams.items()))
    (first,), (second,) = (set(map(int, seen)) for seen in streams.values())
    assert first != second
    assert int(cuda.default_stream()) not in (first, second)


def test_tasks_of_one_priority_take_turns():
    log = []
    run_tasks(*(Task(name, sleeping(0, log, name), times=3) for name in "abc"))
    assert "".join(log) == "abcabcabc"


def test_a_lower_number_goes_first():
    log = []
    run_tasks(
        Task("a", sleeping(0, log, "a"), times=3),
        Task("b", sleeping(0, log, "b"), times=3, priority=-2),
        Task("c", sleeping(0, log, "c"), times=3, priority=-1),
    )
    assert "".join(log) == "bbbcccaaa"


@pytest.mark.parametrize(("priority", "most"), [(0, 3), (-1, 1)])
def test_a_call_with_a_higher_priority_waits_for_one_other_call_at_most(priority, most):
    log = []
    trainings = [Task(name, sleeping(0.01, log, name), times=6) for name in "abc"]
    requests = Task(
        "r", sleeping(0, log, "r"), arrivals=0.005 + 0.06 * np.arange(3), priority=priority
    )
    timeline = run_tasks(*trainings, requests)
    for request in timeline.rows["r"]:
        ahead = [
            s
            for s in timeline.spans
            if s.task != "r" and s.end > request.arrived and s.start < request.start
        ]
        assert 1 <= len(ahead) <= most


def test_no_call_begins_before_its_arrival():
    arrivals = [0, 0.004, 0.03]
    timeline = run_tasks(Task("requests", sleeping(0), arrivals=arrivals))
    for span, arrival in zip(timeline.spans, arrivals, strict=True):
        assert span.start >= span.arrived >= arrival


def test_calls_do_not_overlap_on_the_cpu_target():
    timeline = run_tasks(
        Task("a", sleeping(0.002), times=5), Task("b", sleeping(0.001), arrivals=[0, 0.001, 0.001])
    )
    for before, after in itertools.pairwise(timeline.spans):
        assert before.end <= after.start


def test_waits_and_latencies_follow_from_the_spans():
    timeline = run_tasks(
        Task("a", sleeping(0.003), times=2), Task("b", sleeping(0.001), arrivals=[0, 0], priority=1)
    )
    a, b = timeline.rows["a"], timeline.rows["b"]
    assert (a[0].arrived, a[1].arrived) == (0, a[0].end)
    assert b[0].arrived == b[1].arrived == 0  # requests that arrive together wait in a queue
    assert a[1].end <= b[0].start <= b[0].end <= b[1].start
    np.testing.assert_allclose(timeline.waited("b"), [s.start - s.arrived for s in b])
    np.testing.assert_allclose(timeline.latency("b"), [s.end - s.arrived for s in b])
    assert timeline.seconds == max(s.end for s in timeline.spans)


def test_the_table_has_a_row_per_task_and_fits_80_columns():
    text = str(
        run_tasks(
            Task("training", sleeping(0), times=12, priority=0),
            Task("requests", sleeping(0), arrivals=[0] * 3, priority=-5),
        )
    )
    heading, *rows = text.splitlines()
    assert [row.split()[:3] for row in rows] == [["training", "0", "12"], ["requests", "-5", "3"]]
    assert heading.split() == "task priority calls busy median latency longest".split()
    assert max(map(len, text.splitlines())) <= 80


def test_an_exception_in_a_task_is_raised():
    def fails(_stream):
        raise ZeroDivisionError("in a task")

    with pytest.raises(ZeroDivisionError, match="in a task"):
        run_tasks(Task("a", sleeping(0), times=2), Task("b", fails, times=1))


@pytest.mark.parametrize(
    ("tasks", "message"),
    [
        ([], "expected at least one task"),
        ([{"times": 1}, {"times": 1}], "task 'a' is given twice"),
        ([{}], "expected either times or arrivals, and not both"),
        ([{"times": 1, "arrivals": [0]}], "expected either times or arrivals, and not both"),
        ([{"times": 0}], "expected times to be 1 or more, got 0"),
        ([{"arrivals": []}], "expected arrivals to be a list of seconds"),
        ([{"arrivals": [0.2, 0.1]}], r"in ascending order, got \[0.2, 0.1\]"),
        ([{"arrivals": [-1.0]}], r"from 0 on in ascending order, got \[-1.0\]"),
        ([{"arrivals": [0, np.nan]}], "expected arrivals to be a list of seconds"),
    ],
)
def test_what_cannot_be_run_is_named(tasks, message):
    with pytest.raises(ValueError, match=f"^run_tasks: .*{message}"):
        run_tasks(*(Task("a", sleeping(0), **task) for task in tasks))
