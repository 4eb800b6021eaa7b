"""Memory per rank: what each kind of parallelism divides, and what it leaves."""

import pytest

from gpukit.parallel.memory import Memory, Training, memory_per_rank
from gpukit.parallel.schedules import gpipe, one_f_one_b

TRAINING = Training(parameters=1000, activations=240, boundary=10, batch=24)


def test_one_rank_holds_everything():
    assert memory_per_rank(TRAINING) == [Memory(4000, 4000, 8000, 240 * 24)]


def test_total_is_the_sum():
    assert memory_per_rank(TRAINING)[0].total == 16_000 + 240 * 24


def test_data_parallelism_divides_activations_only():
    assert memory_per_rank(TRAINING, data=4) == [Memory(4000, 4000, 8000, 240 * 6)]


def test_tensor_parallelism_divides_all_but_what_is_replicated():
    expected = 24 * (240 * 0.25 + 240 * 0.75 / 4)
    found = memory_per_rank(TRAINING, tensor=4, replicated=0.25)
    assert found == [Memory(1000, 1000, 2000, expected)]


def test_gpipe_holds_the_activations_of_the_whole_batch_of_its_share():
    found = memory_per_rank(TRAINING, schedule=gpipe(4, 8))
    assert found == [Memory(1000, 1000, 2000, 24 * 60)] * 4


def test_1f1b_holds_less_in_every_later_stage():
    found = memory_per_rank(TRAINING, schedule=one_f_one_b(4, 8))
    assert [one.activations for one in found] == [3 * 60 * held for held in (4, 3, 2, 1)]


def test_recomputation_holds_inputs_and_one_micro_batch():
    found = memory_per_rank(TRAINING, schedule=gpipe(4, 8), recompute=True)
    assert [one.activations for one in found] == [3 * 60 + 8 * 3 * 10] * 4


def test_all_three_divide_together():
    found = memory_per_rank(TRAINING, data=2, tensor=5, schedule=one_f_one_b(4, 6))
    assert found[0] == pytest.approx((200, 200, 400, 4 * 2 * 60 / 5))


def test_optimizer_and_precision_set_the_bytes_of_a_parameter():
    plain = Training(1000, 0, 1, optimizer_values=0, bytes_per_value=2)
    assert memory_per_rank(plain) == [Memory(2000, 2000, 0, 0)]
