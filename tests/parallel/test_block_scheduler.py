"""The model of a GPU that several streams share: slots, priorities, order within a stream."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gpukit.parallel import Launch, simulate_blocks

LAUNCHES = st.lists(
    st.builds(
        lambda task, blocks, seconds, arrives: Launch(
            f"task {task}", blocks, seconds, arrives, priority=-task
        ),
        st.integers(0, 3),
        st.integers(1, 20),
        st.sampled_from([0.5, 1.0, 3.0]),
        st.sampled_from([0.0, 0.0, 1.0, 2.5, 40.0]),
    ),
    min_size=1,
    max_size=8,
)


def equal(launches):
    return [launch._replace(priority=0) for launch in launches]


def test_a_launch_takes_a_turn_of_all_slots_after_the_other():
    timeline, slots = simulate_blocks([Launch("a", 10, 2.0)], slots=4)
    assert timeline.seconds == 6
    assert [len(row) for row in slots.values()] == [3, 3, 2, 2]


def test_a_launch_fills_slots_that_the_one_before_it_leaves_free():
    timeline, _ = simulate_blocks([Launch("a", 6, 1.0), Launch("b", 2, 1.0)], slots=4)
    assert (timeline.rows["b"][0].start, timeline.seconds) == (1, 2)


def test_without_a_priority_a_launch_waits_for_all_blocks_of_one_that_was_ready_before():
    launches = [Launch("long", 64, 1.0), Launch("short", 2, 0.5, arrives=2.5)]
    timeline, _ = simulate_blocks(launches, slots=8)
    assert timeline.waited("short") == 5.5


def test_with_a_higher_priority_it_waits_for_one_block():
    launches = [Launch("long", 64, 1.0), Launch("short", 2, 0.5, arrives=2.5, priority=-1)]
    timeline, slots = simulate_blocks(launches, slots=8)
    assert timeline.waited("short") == 0.5
    assert [(s.task, s.start) for s in slots["slot 0"][2:5]] == [
        ("long", 2),
        ("short", 3),
        ("long", 3.5),
    ]


def test_a_priority_interrupts_no_block():
    launches = [Launch("long", 8, 100.0), Launch("short", 1, 1.0, arrives=1.0, priority=-9)]
    assert simulate_blocks(launches, slots=8)[0].waited("short") == 99


def test_a_launch_without_an_arrival_arrives_when_the_one_before_it_is_done():
    timeline, _ = simulate_blocks([Launch("a", 4, 2.0)] * 2, slots=4)
    assert [span.arrived for span in timeline.rows["a"]] == [0, 2]


def test_a_block_arrives_when_its_launch_does():
    launches = [Launch("long", 4, 1.0), Launch("short", 3, 1.0, arrives=0.5)]
    _, slots = simulate_blocks(launches, slots=2)
    arrived = {(span.task, span.arrived) for row in slots.values() for span in row}
    assert arrived == {("long", 0), ("short", 0.5)}


@settings(max_examples=80, deadline=None)
@given(LAUNCHES, st.integers(1, 9))
def test_every_block_runs_once_in_a_slot_that_is_free(launches, slots):
    timeline, rows = simulate_blocks(launches, slots)
    for row in rows.values():
        assert all(a.end <= b.start for a, b in itertools.pairwise(row))
    ran = [(span.task, span.number) for row in rows.values() for span in row]
    for span, blocks in zip(_in_order(timeline), _blocks(launches), strict=True):
        assert ran.count((span.task, span.number)) == blocks


def _in_order(timeline):
    return [span for name in sorted(timeline.rows) for span in _numbered(timeline.rows[name])]


def _numbered(spans):
    return sorted(spans, key=lambda span: span.number)


def _blocks(launches):
    return [launch.blocks for launch in sorted(launches, key=lambda launch: launch.task)]


@settings(max_examples=80, deadline=None)
@given(LAUNCHES, st.integers(1, 9))
def test_launches_of_a_stream_run_in_order_after_their_arrival(launches, slots):
    timeline, _ = simulate_blocks(launches, slots)
    for name, spans in timeline.rows.items():
        own = [launch for launch in launches if launch.task == name]
        for launch, span in zip(own, _numbered(spans), strict=True):
            assert span.start >= span.arrived == launch.arrives
        for before, span in itertools.pairwise(_numbered(spans)):
            assert span.start >= before.end


@settings(max_examples=80, deadline=None)
@given(LAUNCHES, st.integers(1, 9))
def test_no_slot_is_free_while_a_block_waits(launches, slots):
    timeline, rows = simulate_blocks(equal(launches), slots)
    for span in timeline.spans:
        before = [s.end for s in timeline.rows[span.task] if s.number == span.number - 1]
        ready = max([span.arrived, *before])
        for moment in np.unique([s.end for row in rows.values() for s in row] + [ready]):
            if ready <= moment < span.start:
                running = [s for row in rows.values() for s in row if s.start <= moment < s.end]
                assert len(running) == slots


@pytest.mark.parametrize(
    ("launches", "slots", "message"),
    [
        ([], 1, "expected at least one launch"),
        ([Launch("a", 1, 1.0)], 0, "expected slots to be a whole number, got 0"),
        ([Launch("a", 0, 1.0)], 1, "whole blocks, one or more"),
        ([Launch("a", 1000 / 256, 1.0)], 1, "whole blocks, one or more"),
        ([Launch("a", 1, 1.0)], 1.5, "expected slots to be a whole number, got 1.5"),
        ([Launch("a", 1, 0.0)], 1, "seconds above 0"),
        ([Launch("a", 1, 1.0, -1.0)], 1, "an arrival from 0 on"),
        ([Launch("a", 1, 1.0), Launch("a", 1, 1.0, priority=1)], 1, "different priorities"),
        ([Launch("a", 10_000_000, 1.0)], 1, "at most 1,000,000 blocks in all, got 10,000,000"),
    ],
)
def test_what_cannot_be_simulated_is_named(launches, slots, message):
    with pytest.raises(ValueError, match=f"^simulate_blocks: .*{message}"):
        simulate_blocks(launches, slots)
