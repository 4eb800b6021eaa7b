"""Slow motion: on virtual ranks times are exact, so they must be those of the cost model."""

import io
import json
from pathlib import Path

import numpy as np
import pytest

from gpukit import parallel
from gpukit.parallel import algorithms, cost_model, launcher, slow_motion, virtual
from gpukit.parallel.links import Link
from gpukit.parallel.schedules import gpipe, one_f_one_b

LINK = Link(latency=2e-3, bandwidth=100e6)
PROGRAMS = Path(__file__).parent / "programs"


def slowly(function, ranks, **options):
    """Return, for each rank, what `function(slow)` returns and the time that it took."""

    def body(world):
        slow = parallel.SlowMotion(world, **{"link": LINK, **options})
        result = function(slow)
        return result, slow.now()

    return virtual.run(body, ranks)


@pytest.mark.parametrize("ranks", [1, 2, 3, 4, 7, 8])
@pytest.mark.parametrize("algorithm", algorithms.ALGORITHMS)
@pytest.mark.parametrize("op", ["sum", "max"])
def test_all_reduce_by_messages_is_that_of_the_library(algorithm, ranks, op):
    rows = np.random.default_rng(ranks).integers(-50, 50, (ranks, 11)).astype(np.float32)

    def body(world):
        array = rows[world.rank].copy()
        return algorithms.all_reduce(world, array, op, algorithm=algorithm)

    expected = rows.sum(0) if op == "sum" else rows.max(0)
    for found in virtual.run(body, ranks):
        np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("ranks", [2, 4, 8])
@pytest.mark.parametrize("algorithm", algorithms.ALGORITHMS)
def test_all_reduce_takes_the_time_of_the_cost_model(algorithm, ranks):
    array = np.zeros(64_000, np.float32)

    def body(slow):
        slow.group.all_reduce(array.copy())

    expected = cost_model.ALL_REDUCE[algorithm](LINK, ranks, array.nbytes)
    times = [time for _, time in slowly(body, ranks, algorithm=algorithm)]
    assert max(times) == pytest.approx(expected, rel=1e-9)


def test_messages_of_one_rank_wait_for_each_other():
    def body(slow):
        array = np.zeros(25_000, np.float32)  # 1 ms, and 2 ms of latency
        if slow.group.rank == 0:
            works = [slow.group.isend(array, 1, tag=k) for k in range(3)]
        else:
            works = [slow.group.irecv(array, 0, tag=k) for k in range(3)]
        for work in works:
            work.wait()

    assert [time for _, time in slowly(body, 2)] == pytest.approx([9e-3, 9e-3])


def test_receiving_rank_waits_for_the_message_and_computation_hides_it():
    def body(slow):
        array = np.full(1, slow.group.rank + 1.0)
        if slow.group.rank == 0:
            slow.group.send(array, 1)
            return None
        work = slow.group.irecv(array, 0)
        with slow.compute(0.5, "hides it"):
            pass
        work.wait()
        return float(array[0])

    (_, first), (value, second) = slowly(body, 2)
    assert value == 1
    assert (first, second) == pytest.approx((LINK.seconds(8), 0.5))


def test_arrays_of_several_collectives_in_progress_are_not_mixed_up():
    def body(slow):
        arrays = [np.full(5, k * 10.0 + slow.group.rank) for k in range(4)]
        works = [slow.group.iall_reduce(array) for array in arrays]
        return [work.wait()[0] for work in reversed(works)]

    for found, _ in slowly(body, 3):
        assert found == [k * 30 + 3 for k in (3, 2, 1, 0)]


def test_other_collectives_exchange_what_they_should():
    def body(slow):
        group = slow.group
        sent = np.full(2, group.rank + 1.0, np.float32)
        rows = group.all_gather(sent).tolist()
        from_last = group.broadcast(sent.copy(), group.size - 1).tolist()
        part = group.reduce_scatter(np.arange(3.0) + group.rank, np.empty(()), "sum")
        group.barrier()
        even = group.split([r for r in range(group.size) if r % 2 == group.rank % 2])
        return rows, from_last, float(part), even.all_reduce(sent)[0]

    for rank, (found, _) in enumerate(slowly(body, 3)):
        assert found == ([[1, 1], [2, 2], [3, 3]], [3, 3], 3.0 * rank + 3, [4, 2, 4][rank])


def passes(slow, schedule, seconds):
    """Run a pipeline's schedule with passes that only take time; return the time line."""
    stage, last = slow.group.rank, slow.group.size - 1
    array = np.zeros(1, np.float32)
    sending = []
    for kind, m in schedule[stage]:
        back = kind == "backward"
        source, dest = (stage + 1, stage - 1) if back else (stage - 1, stage + 1)
        tag = 2 * m + back
        if 0 <= source <= last:
            slow.group.recv(array, source, tag=tag)
        with slow.compute(seconds * (1 + back), f"{kind} {m}"):
            pass
        if 0 <= dest <= last:
            sending.append(slow.group.isend(array.copy(), dest, tag=tag))
    for work in sending:
        work.wait()
    return slow.timeline()


@pytest.mark.parametrize("schedule", [gpipe, one_f_one_b])
@pytest.mark.parametrize("micro_batches", [1, 4, 16])
def test_idle_fraction_of_a_pipeline_is_the_bubble(schedule, micro_batches):
    def body(slow):
        return passes(slow, schedule(4, micro_batches), 0.5)

    for timeline, _ in slowly(body, 4, link=Link()):
        found = slow_motion.idle_fraction(timeline)
        assert found == pytest.approx(cost_model.bubble(4, micro_batches), abs=1e-9)


def test_timeline_has_the_label_and_times_of_every_rank():
    def body(slow):
        with slow.compute(1.5, f"work of rank {slow.group.rank}"):
            pass
        return slow.timeline()

    for timeline, _ in slowly(body, 2):
        assert timeline == [[(f"work of rank {rank}", 0.0, 1.5)] for rank in range(2)]


def test_unknown_algorithm_is_refused():
    with pytest.raises(ValueError, match="one of ring, tree, got 'star'"):
        parallel.SlowMotion(parallel.World(), link=LINK, algorithm="star")


@pytest.mark.slow
def test_processes_take_at_least_the_stated_time():
    text = io.StringIO()
    outcome = launcher.run(2, [str(PROGRAMS / "slowly.py")], output=text, errors=text)
    assert outcome.code == 0, text.getvalue()
    found = json.loads(text.getvalue())
    assert found["sum"] == 3
    assert found["seconds"] >= found["expected"]


def overlapping(buckets, pieces=32):
    """Return a backward pass of 80 ms that starts an all-reduce whenever a bucket is full."""

    def body(slow):
        parts, works = np.split(np.ones(512_000, np.float32), buckets), []
        for piece in range(1, pieces + 1):
            with slow.compute(0.08 / pieces):
                pass
            while len(works) < piece * buckets // pieces:
                works.append(slow.group.iall_reduce(parts[len(works)]))
            for work in works:
                work.done()
        for work in works:
            work.wait()

    return body


@pytest.mark.parametrize("buckets", [1, 2])
def test_virtual_ranks_send_while_they_compute(buckets):
    expected = cost_model.data_parallel_step(
        0.0,
        0.08,
        [2_048_000 / buckets] * buckets,
        lambda nbytes: cost_model.ring_all_reduce(LINK, 4, nbytes),
    )
    seconds = max(time for _, time in slowly(overlapping(buckets), 4))
    assert seconds == pytest.approx(expected.seconds, rel=0.02)


def test_messages_that_a_rank_has_sent_have_times_and_bytes():
    def body(slow):
        array = np.zeros(25_000, np.float32)
        if slow.group.rank == 0:
            for _ in range(2):
                slow.group.send(array, 1)
        else:
            for _ in range(2):
                slow.group.recv(array, 0)
        return slow.sent

    (sent, _), (received, _) = slowly(body, 2)
    assert received == []
    assert [nbytes for *_, nbytes in sent] == [100_000] * 2
    assert np.array([times[:2] for times in sent]) == pytest.approx(
        np.array([[0, 3e-3], [3e-3, 6e-3]])
    )
