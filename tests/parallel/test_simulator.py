"""The event simulator against formulas, and against a clock that ticks."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpukit.parallel.cost_model import bubble, data_parallel_step, pipeline_seconds, ring_all_reduce
from gpukit.parallel.links import Link
from gpukit.parallel.schedules import SCHEDULES, Operation, Schedule, gpipe, one_f_one_b
from gpukit.parallel.simulator import simulate, simulate_data_parallel, simulate_ring
from tests.parallel.references import tick_by_tick

SIZES = [(1, 1), (1, 7), (4, 1), (4, 4), (4, 16), (5, 3), (16, 128), (61, 127)]


# ---- pipelines -----------------------------------------------------------------------------------


@pytest.mark.parametrize("name", SCHEDULES)
@pytest.mark.parametrize(("stages", "batches"), SIZES)
def test_idle_fraction_of_equal_stages_is_the_bubble(name, stages, batches):
    timeline = simulate(SCHEDULES[name](stages, batches), forward=1.0, backward=2.3)
    assert timeline.idle_fraction == pytest.approx(bubble(stages, batches), abs=1e-9)
    expected = pipeline_seconds(stages, batches, 1.0, 2.3)
    assert timeline.seconds == pytest.approx(expected, rel=1e-12)


def test_time_with_messages_is_that_of_the_formula_for_gpipe():
    timeline = simulate(gpipe(6, 11), forward=1.0, backward=2.0, transfer=0.25)
    assert timeline.seconds == pytest.approx(pipeline_seconds(6, 11, 1.0, 2.0, 0.25), rel=1e-12)


def test_messages_cost_1f1b_more_than_gpipe():
    """A stage of 1F1B waits for a gradient with few micro-batches in flight."""
    seconds = [
        simulate(schedule, 1.0, 2.0, transfer=0.25).seconds
        for schedule in (gpipe(8, 32), one_f_one_b(8, 32))
    ]
    assert seconds[1] > 1.05 * seconds[0]


def test_slowest_stage_sets_the_rate():
    forward = [1.0, 1.0, 3.0, 1.0]
    long, short = (simulate(gpipe(4, m), forward, forward).seconds for m in (200, 100))
    assert long - short == pytest.approx(100 * 2 * 3.0)


def test_timeline_names_each_operation_with_its_times():
    timeline = simulate(one_f_one_b(2, 2), forward=1.0, backward=2.0)
    assert timeline[1] == [
        ("forward", 0, 1.0, 2.0),
        ("backward", 0, 2.0, 4.0),
        ("forward", 1, 4.0, 5.0),
        ("backward", 1, 5.0, 7.0),
    ]
    assert [len(stage) for stage in timeline] == [4, 4]


def test_recomputation_runs_while_the_gradient_is_on_its_way():
    """Stage 0 has nothing else to do: only the last stage's recomputation is seen."""
    timeline = simulate(gpipe(2, 1), forward=1.0, backward=2.0, recompute=1.0)
    assert timeline.seconds == 1 + 1 + 1 + 2 + 2
    assert timeline[0][1:] == [("recompute", 0, 1.0, 2.0), ("backward", 0, 5.0, 7.0)]


def test_idle_fraction_leaves_out_the_wait_for_a_gradient():
    timeline = simulate(gpipe(2, 1), forward=1.0, backward=2.0, recompute=1.0)
    assert timeline.idle.tolist() == pytest.approx([3 / 7, 3 / 7])


def test_shared_link_serves_one_message_at_a_time():
    """Both directions of both gaps on one link: 4 messages per micro-batch, each of 5 seconds."""
    own = simulate(gpipe(3, 9), 1.0, 1.0, transfer=5.0)
    shared = simulate(gpipe(3, 9), 1.0, 1.0, transfer=5.0, links=np.zeros((2, 2), int))
    assert shared.link_busy.tolist() == [4 * 9 * 5.0]
    assert shared.seconds > 4 * 9 * 5.0 > 1.5 * own.seconds


@st.composite
def pipelines(draw):
    stages, batches = draw(st.integers(1, 5)), draw(st.integers(1, 6))
    schedule = draw(st.sampled_from([gpipe, one_f_one_b]))(stages, batches)
    whole = lambda least: st.lists(st.integers(least, 5), min_size=stages, max_size=stages)
    gaps = lambda least, most: st.lists(
        st.lists(st.integers(least, most), min_size=stages - 1, max_size=stages - 1),
        min_size=2,
        max_size=2,
    )
    return (
        schedule,
        *(draw(whole(least)) for least in (1, 1, 0)),
        draw(gaps(1, 6)),
        draw(gaps(0, 2)),
    )


@given(pipelines())
def test_every_operation_runs_when_a_clock_that_ticks_runs_it(case):
    schedule, forward, backward, recompute, transfer, links = case
    timeline = simulate(
        schedule, forward, backward, recompute=recompute, transfer=transfer, links=links
    )
    found = [[tuple(span) for span in stage] for stage in timeline]
    assert found == tick_by_tick(schedule, forward, backward, recompute, transfer, links)


def test_a_thousand_stages_and_micro_batches_have_the_bubble_of_the_formula():
    timeline = simulate(one_f_one_b(1024, 512), forward=1.0, backward=2.0)
    assert timeline.idle_fraction == pytest.approx(bubble(1024, 512), abs=1e-3)


@pytest.mark.slow
@pytest.mark.parametrize("name", SCHEDULES)
def test_1024_stages_with_8192_micro_batches_have_the_bubble_of_the_formula(name):
    timeline = simulate(SCHEDULES[name](1024, 8192), forward=1.0, backward=2.0)
    assert timeline.idle_fraction == pytest.approx(bubble(1024, 8192), abs=1e-3)


def test_schedule_that_never_ends_names_the_stage_that_waits():
    stages = [
        [("forward", 0), ("backward", 0), ("forward", 1), ("backward", 1)],
        [("forward", 0), ("forward", 1), ("backward", 1), ("backward", 0)],
    ]
    with pytest.raises(ValueError, match="stage 0 waits forever for the input of backward 0"):
        simulate(Schedule.of(stages), 1.0, 1.0)


@pytest.mark.parametrize("wrong", [-1.0, [1.0, 2.0], np.nan, np.inf])
def test_times_must_be_those_of_the_stages(wrong):
    with pytest.raises(ValueError, match="expected backward to be a time of 0 or more"):
        simulate(gpipe(3, 2), 1.0, wrong)


def test_links_have_a_number_for_each_direction_and_gap():
    with pytest.raises(ValueError, match=r"expected links of shape \(2, 2\), got \(2,\)"):
        simulate(gpipe(3, 2), 1.0, 1.0, links=[0, 1])


# ---- data parallelism ----------------------------------------------------------------------------


def ring_one_message_at_a_time(ready, nbytes, links):
    """A ring as its definition says: rank r sends its k-th part when it has it and its link."""
    ranks = len(ready)
    arrives = {(r, 0): ready[r] for r in range(ranks)}
    for k in range(2 * (ranks - 1)):
        for r in range(ranks):
            link_free = arrives["sent", r, k - 1] if k else ready[r]
            sent = max(arrives[r, k], link_free) + links[r].seconds(nbytes / ranks)
            arrives["sent", r, k] = sent
            arrives[(r + 1) % ranks, k + 1] = sent
    last = 2 * (ranks - 1)
    if last == 0:
        return list(ready)
    return [max(arrives[r, last], arrives["sent", r, last - 1]) for r in range(ranks)]


@pytest.mark.parametrize("ranks", [1, 2, 3, 7, 16])
def test_ring_takes_what_its_messages_take_one_by_one(ranks):
    rng = np.random.default_rng(ranks)
    ready = rng.uniform(0, 3, ranks)
    links = [Link(a, b) for a, b in rng.uniform(0.1, 2, (ranks, 2))]
    expected = ring_one_message_at_a_time(ready, 5.0, links)
    assert simulate_ring(ready, 5.0, links).tolist() == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("ranks", [1, 2, 5, 64, 4096])
def test_ring_of_equal_ranks_takes_what_the_formula_says(ranks):
    link = Link(latency=3e-6, bandwidth=12e9)
    ended = simulate_ring(np.zeros(ranks), 100e6, link)
    expected = ring_all_reduce(link, ranks, 100e6)
    assert ended.tolist() == pytest.approx([expected] * ranks, rel=1e-9)


def test_one_slow_link_slows_the_whole_ring():
    links = [Link(0.0, 1e9)] * 7 + [Link(0.0, 1e8)]
    fast = simulate_ring(np.zeros(8), 8e8, links[0]).max()
    assert simulate_ring(np.zeros(8), 8e8, links).max() > 5 * fast


@pytest.mark.parametrize("overlap", [True, False])
def test_data_parallel_step_of_equal_ranks_takes_what_the_formula_says(overlap):
    link, buckets = Link(1e-5, 1e9), [4e6, 9e6, 25e6]
    found = simulate_data_parallel(
        np.full(9, 0.01), np.full(9, 0.02), buckets, link, overlap=overlap
    )
    expected = data_parallel_step(
        0.01, 0.02, buckets, lambda n: ring_all_reduce(link, 9, n), overlap=overlap
    )
    assert found.seconds == pytest.approx(expected.seconds, rel=1e-9)


def test_all_ranks_wait_for_the_slowest():
    forward = np.array([1.0, 1.0, 1.0, 4.0])
    found = simulate_data_parallel(forward, 0.0, [1.0], Link(0.0, 1e9))
    assert found.ended == pytest.approx([4.0] * 4, abs=1e-8)
    assert found.idle_fraction == pytest.approx(1 - 7 / 16, abs=1e-6)


def test_data_parallel_step_needs_a_time_for_each_rank():
    with pytest.raises(ValueError, match="expected a time for each rank"):
        simulate_data_parallel(1.0, 2.0, [1.0], Link(0.0, 1e9))


def test_operations_of_a_schedule_are_those_of_its_timeline():
    schedule = one_f_one_b(3, 4)
    for stage, spans in zip(schedule, simulate(schedule, 1.0, 1.0), strict=True):
        assert stage == [Operation(*span[:2]) for span in spans]
