"""Batches: every example once an epoch, in an order that seed and epoch decide."""

import numpy as np
import pytest

from gpukit import launch, nn

N = 23
EXAMPLES = np.arange(N * 6, dtype=np.float32).reshape(N, 2, 3)
LABELS = np.arange(N) % 5


def batches(loader, epoch):
    return [(launch.to_host(x).copy(), launch.to_host(y).copy()) for x, y in loader.epoch(epoch)]


def test_every_example_comes_once_an_epoch_with_its_label():
    loader = nn.Loader(EXAMPLES, LABELS, batch=4)
    seen = batches(loader, 0)
    numbers = np.concatenate([x[:, 0, 0] for x, _ in seen]) / 6
    assert sorted(numbers) == list(range(N))
    np.testing.assert_array_equal(np.concatenate([y for _, y in seen]), numbers % 5)


def test_the_last_batch_holds_what_is_left():
    loader = nn.Loader(EXAMPLES, LABELS, batch=4)
    assert [len(x) for x, _ in batches(loader, 0)] == [4, 4, 4, 4, 4, 3]
    assert len(loader) == 6


def test_a_batch_has_the_shape_of_the_examples():
    (x, _), *_ = batches(nn.Loader(EXAMPLES, LABELS, batch=4), 0)
    assert (x.shape, x.dtype) == ((4, 2, 3), np.float32)


def test_a_batch_may_be_larger_than_the_data():
    ((x, y),) = batches(nn.Loader(EXAMPLES, LABELS, batch=100), 0)
    assert (len(x), len(y)) == (N, N)


def test_the_order_hangs_on_seed_and_epoch_alone():
    def order(seed, epoch):
        loader = nn.Loader(EXAMPLES, LABELS, batch=100, seed=seed)
        return batches(loader, epoch)[0][0][:, 0, 0].tolist()

    assert order(1, 2) == order(1, 2)
    assert order(1, 2) != order(1, 3)
    assert order(1, 2) != order(2, 2)


def test_without_shuffling_the_order_is_that_of_the_data():
    ((x, _),) = batches(nn.Loader(EXAMPLES, LABELS, batch=100, shuffle=False), 3)
    np.testing.assert_array_equal(x, EXAMPLES)


@pytest.mark.parametrize(
    ("change", "error", "words"),
    [
        ({"labels": LABELS[:-1]}, ValueError, r"expected labels for each example, got \(22,\)"),
        ({"labels": LABELS - 1}, ValueError, "expected labels from 0 to 4, got -1 for example 0"),
        ({"labels": LABELS + 1}, ValueError, "expected labels from 0 to 4, got 5 for example 4"),
        ({"labels": LABELS * 1.0}, TypeError, "expected labels of an int dtype, got float64"),
        ({"batch": 0}, ValueError, "expected batch >= 1, got 0"),
        ({"examples": np.where(EXAMPLES == 30, np.nan, EXAMPLES)}, ValueError,
         "got NaN or inf in 1 examples, first in number 5"),
    ],
)  # fmt: skip
def test_what_cannot_be_trained_on_is_refused(change, error, words):
    given = {"examples": EXAMPLES, "labels": LABELS, "batch": 4, "classes": 5} | change
    with pytest.raises(error, match=words):
        nn.Loader(**given)
