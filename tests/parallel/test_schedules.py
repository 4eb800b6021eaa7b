"""Pipeline schedules: every pass once, and as few activations as the schedule promises."""

import pytest

from gpukit.parallel.schedules import SCHEDULES, Held, Operation, Schedule, gpipe, one_f_one_b

SIZES = [(1, 1), (1, 5), (4, 1), (4, 3), (4, 4), (4, 8), (7, 13)]


@pytest.mark.parametrize("name", SCHEDULES)
@pytest.mark.parametrize(("stages", "batches"), SIZES)
def test_each_stage_runs_each_pass_once_and_forward_first(name, stages, batches):
    made = SCHEDULES[name](stages, batches)
    assert (len(made), made.micro_batches) == (stages, batches)
    assert Schedule.of(made) == made  # which checks it


def test_gpipe_runs_backward_passes_in_reverse_order():
    assert gpipe(3, 2)[1] == [
        Operation("forward", 0),
        Operation("forward", 1),
        Operation("backward", 1),
        Operation("backward", 0),
    ]


def test_1f1b_alternates_once_the_first_gradient_can_arrive():
    words = ["".join(f"{kind[0]}{m} " for kind, m in stage) for stage in one_f_one_b(3, 4)]
    assert words == [
        "f0 f1 f2 b0 f3 b1 b2 b3 ",
        "f0 f1 b0 f2 b1 f3 b2 b3 ",
        "f0 b0 f1 b1 f2 b2 f3 b3 ",
    ]


def test_gpipe_holds_the_activations_of_all_micro_batches():
    assert [gpipe(4, 8).held(s) for s in range(4)] == [Held(0, 8)] * 4


def test_1f1b_holds_the_activations_of_as_many_micro_batches_as_stages_follow():
    assert [one_f_one_b(4, 8).held(s).activations for s in range(4)] == [4, 3, 2, 1]
    assert [one_f_one_b(4, 2).held(s).activations for s in range(4)] == [2, 2, 2, 1]


def test_recomputation_holds_inputs_and_the_activations_of_one_micro_batch():
    assert gpipe(4, 8).held(2, recompute=True) == Held(8, 1)
    assert one_f_one_b(4, 8).held(2, recompute=True) == Held(2, 1)


def test_stages_are_indexed_like_a_list():
    made = one_f_one_b(3, 2)
    assert made[-1] == made[2]
    assert made[1:] == [made[1], made[2]]
    with pytest.raises(IndexError):
        made[3]


@pytest.mark.parametrize(
    ("stages", "message"),
    [
        ([[("forwards", 0)]], 'expected "forward" or "backward", got \'forwards\''),
        ([], "as many operations for every stage"),
        ([[("forward", 0), ("backward", 0)], [("forward", 0)]], "as many operations for every"),
        ([[("forward", 0), ("forward", 0)]], "stage 0 does not run each of micro-batches 0 to 0"),
        ([[("forward", 1), ("backward", 1)]], "stage 0 does not run each of micro-batches 0 to 0"),
        ([[("backward", 0), ("forward", 0)]], "stage 0 runs backward 0 before forward 0"),
    ],
)
def test_schedule_that_cannot_run_says_why(stages, message):
    with pytest.raises(ValueError, match=message):
        Schedule.of(stages)


@pytest.mark.parametrize("make", [gpipe, one_f_one_b])
def test_schedules_have_a_stage_and_a_micro_batch(make):
    with pytest.raises(ValueError, match="expected 1 or more stages and micro-batches, got 4 and"):
        make(4, 0)
