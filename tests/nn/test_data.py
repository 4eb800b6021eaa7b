"""Batches: every example once per epoch, in an order determined by seed and epoch."""

import numpy as np
import pytest

from gpukit import launch, nn

N = 23
EXAMPLES = np.arange(N * 6, dtype=np.float32).reshape(N, 2, 3)
LABELS = np.arange(N) % 5


def batches(loader, epoch):
    return [(launch.to_host(x).copy(), launch.to_host(y).copy()) for x, y in loader.epoch(epoch)]


def test_every_example_occurs_once_per_epoch_with_its_label():
    loader = nn.Loader(EXAMPLES, LABELS, batch=4)
    seen = batches(loader, 0)
    numbers = np.concatenate([x[:, 0, 0] for x, _ in seen]) / 6
    assert sorted(numbers) == list(range(N))
    np.testing.assert_array_equal(np.concatenate([y for _, y in seen]), numbers % 5)


def test_the_last_batch_contains_the_remainder():
    loader = nn.Loader(EXAMPLES, LABELS, batch=4)
    assert [len(x) for x, _ in batches(loader, 0)] == [4, 4, 4, 4, 4, 3]
    assert len(loader) == 6


def test_a_batch_has_the_shape_of_the_examples():
    (x, _), *_ = batches(nn.Loader(EXAMPLES, LABELS, batch=4), 0)
    assert (x.shape, x.dtype) == ((4, 2, 3), np.float32)


def test_a_batch_may_be_larger_than_the_data():
    ((x, y),) = batches(nn.Loader(EXAMPLES, LABELS, batch=100), 0)
    assert (len(x), len(y)) == (N, N)


def test_the_order_depends_only_on_seed_and_epoch():
    def order(seed, epoch):
        loader = nn.Loader(EXAMPLES, LABELS, batch=100, seed=seed)
        return batches(loader, epoch)[0][0][:, 0, 0].tolist()

    assert order(1, 2) == order(1, 2)
    assert order(1, 2) != order(1, 3)
    assert order(1, 2) != order(2, 2)


def test_the_order_is_that_of_the_data_without_shuffling():
    ((x, _),) = batches(nn.Loader(EXAMPLES, LABELS, batch=100, shuffle=False), 3)
    np.testing.assert_array_equal(x, EXAMPLES)


def test_tokens_and_their_labels_are_int32():
    tokens = np.arange(40, dtype=np.int32).reshape(8, 5)
    seen = batches(nn.Loader(tokens, tokens + 1, batch=3), 0)
    x, y = (np.concatenate(part) for part in zip(*seen, strict=True))
    assert (x.dtype, y.dtype) == (np.int32, np.int32)
    assert sorted(x[:, 0]) == list(range(0, 40, 5))
    np.testing.assert_array_equal(y, x + 1)


def test_nan_bit_patterns_in_integers_are_preserved():
    tokens = np.array([[0x7FC01234], [0x7F800001], [-1]], np.int32)
    ((x, _),) = batches(nn.Loader(tokens, np.zeros(3, int), batch=3, shuffle=False), 0)
    np.testing.assert_array_equal(x, tokens)


def test_examples_with_two_inputs_are_batched_together():
    other = EXAMPLES[:, 0].astype(np.float64)
    ((x, also), label), *_ = nn.Loader((EXAMPLES, other), LABELS, batch=4).epoch(0)
    np.testing.assert_array_equal(launch.to_host(x)[:, 0], launch.to_host(also))
    np.testing.assert_array_equal(launch.to_host(x)[:, 0, 0] / 6 % 5, launch.to_host(label))


def test_an_epoch_may_begin_in_its_middle():
    loader = nn.Loader(EXAMPLES, LABELS, batch=4, seed=3)
    late = [launch.to_host(y).copy() for _, y in loader.epoch(5, start=4)]
    for y, (_, expected) in zip(late, batches(loader, 5)[4:], strict=True):
        np.testing.assert_array_equal(y, expected)


@pytest.mark.parametrize(
    ("change", "error", "words"),
    [
        ({"labels": LABELS[:-1]}, ValueError, r"expected labels for each example, got \(22,\)"),
        ({"labels": LABELS - 1}, ValueError, "expected labels from 0 to 4, got -1 for example 0"),
        ({"labels": LABELS + 1}, ValueError, "expected labels from 0 to 4, got 5 for example 4"),
        ({"labels": LABELS * 1.0}, TypeError, "expected labels of an int dtype, got float64"),
        ({"examples": EXAMPLES.astype(int)}, TypeError, "float32, float64 or int32 .*got int64"),
        ({"batch": 0}, ValueError, "expected batch >= 1, got 0"),
        (
            {"examples": np.where(EXAMPLES == 30, np.nan, EXAMPLES)},
            ValueError,
            "got NaN or inf in 1 examples, first in number 5",
        ),
    ],
)
def test_invalid_data_is_rejected(change, error, words):
    arguments = {"examples": EXAMPLES, "labels": LABELS, "batch": 4, "classes": 5} | change
    with pytest.raises(error, match=words):
        nn.Loader(**arguments)
