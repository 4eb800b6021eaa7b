"""Batch norm, forward and backward."""

import numpy as np
import pytest

from gpukit.kernels import batch_norm, batch_norm_grad
from tests.kernels.norms import assert_near, finite_differences, random_arrays

BATCHES = [(2, 1), (5, 3), (300, 33), (2, 3, 1, 1), (1, 2, 1, 2), (4, 5, 7, 9), (3, 2, 17, 31)]

batches = pytest.mark.parametrize("shape", BATCHES, ids=str)
dtypes = pytest.mark.parametrize("dtype", [np.float32, np.float64])
training = pytest.mark.parametrize("training", [True, False])


def flat(x):
    """Return a batch as (N, C, S)."""
    return x.reshape(*x.shape[:2], -1)


def batch(rng, dtype, shape):
    """Return a batch, a gradient of one, running mean and variance, weight and bias."""
    c = shape[1]
    arrays = random_arrays(rng, dtype, shape, shape, c, c, c, c)
    return *arrays[:3], arrays[3] ** 2 + dtype(0.5), *arrays[4:]


@batches
@dtypes
@training
def test_batch_norm_matches_the_reference(shape, dtype, training, rng):
    x, _, mean, var, weight, bias = batch(rng, dtype, shape)
    known = batch_norm.batch_stats_reference(flat(x)) if training else (mean, var)
    actual = batch_norm.batch_norm(x, mean.copy(), var.copy(), weight, bias, training)
    expected = batch_norm.batch_norm_reference(flat(x), *known, weight, bias)
    assert_near(actual, expected.reshape(shape), terms=x.size // shape[1])


@batches
@dtypes
def test_batch_norm_updates_the_running_statistics(shape, dtype, rng):
    x, _, mean, var, _, _ = batch(rng, dtype, shape)
    count = x.size // shape[1]
    found = batch_norm.batch_stats_reference(flat(x))
    expected = 0.75 * mean + 0.25 * found[0], 0.75 * var + 0.25 * found[1] * count / (count - 1)
    actual = batch_norm.batch_norm(x, mean, var, training=True, momentum=0.25, return_stats=True)
    assert_near(mean, expected[0], terms=count)
    assert_near(var, expected[1], terms=count)
    assert_near(actual[1], found[0], terms=count)
    assert_near(actual[2], found[1], terms=count)


def test_batch_norm_in_inference_leaves_the_running_statistics_unchanged(rng):
    x, _, mean, var, _, _ = batch(rng, np.float32, (5, 3))
    before = mean.copy(), var.copy()
    actual = batch_norm.batch_norm(x, mean, var, return_stats=True)
    np.testing.assert_array_equal((mean, var), before)
    np.testing.assert_array_equal(actual[1:], before)


def test_batch_norm_updates_running_statistics_in_an_array_slice(rng):
    x, _, mean, var, _, _ = batch(rng, np.float32, (50, 3))
    whole = np.zeros((2, 6), np.float32)
    whole[:, ::2] = mean, var
    batch_norm.batch_norm(x, whole[0, ::2], whole[1, ::2], training=True)
    batch_norm.batch_norm(x, mean, var, training=True)
    np.testing.assert_array_equal(whole[:, ::2], (mean, var))
    assert (whole[:, 1::2] == 0).all()


def test_batch_norm_trains_without_running_statistics(rng):
    x, *_ = batch(rng, np.float32, (4, 3, 5, 7))
    actual = batch_norm.batch_norm(x, None, None, training=True)
    known = batch_norm.batch_stats_reference(flat(x))
    expected = batch_norm.batch_norm_reference(flat(x), *known, np.ones(3), np.zeros(3))
    assert_near(actual, expected.reshape(x.shape), terms=140)


def test_batch_norm_is_accurate_far_from_zero(rng):
    x = (1e5 + 10 * rng.standard_normal((64, 3, 17))).astype(np.float32)
    _, _, var = batch_norm.batch_norm(x, None, None, training=True, return_stats=True)
    assert_near(var, batch_norm.batch_stats_reference(x)[1], terms=100)


@training
def test_batch_norm_of_an_empty_batch_is_empty(training):
    one = np.ones(3, np.float32)
    x = np.empty((0, 3, 5, 7), np.float32)
    assert batch_norm.batch_norm(x, one, one.copy(), training=training).shape == x.shape
    np.testing.assert_array_equal(one, [1, 1, 1])


def test_batch_norm_rejects_inference_without_statistics():
    with pytest.raises(
        ValueError, match=r"^batch_norm: expected running_mean and running_var where"
    ):
        batch_norm.batch_norm(np.ones((2, 3), np.float32), None, None)


def test_batch_norm_rejects_one_element_per_channel_in_training():
    with pytest.raises(
        ValueError, match=r"^batch_norm: expected two elements or more of each chan"
    ):
        batch_norm.batch_norm(np.ones((1, 3), np.float32), None, None, training=True)


def test_batch_norm_rejects_a_vector():
    words = r"^batch_norm: expected input to have axes \(n, c, \.\.\.\), got shape \(3,\)\. Resh"
    with pytest.raises(ValueError, match=words):
        batch_norm.batch_norm(np.ones(3, np.float32), None, None, training=True)


@batches
@dtypes
@training
def test_batch_norm_gradients_match_the_reference(shape, dtype, training, rng):
    x, grad, mean, var, weight, _ = batch(rng, dtype, shape)
    _, *known = batch_norm.batch_norm(x, mean, var, training=training, return_stats=True)
    actual = batch_norm_grad.batch_norm_backward(grad, x, *known, weight, training)
    expected = batch_norm_grad.batch_norm_backward_reference(
        flat(grad), flat(x), *known, weight, training
    )
    scale = max(1, 1 / known[1].min())
    for result, reference in zip(actual, expected, strict=True):
        assert_near(
            result / scale, reference.reshape(result.shape) / scale, terms=x.size // shape[1]
        )


def test_batch_norm_gradients_match_finite_differences(rng):
    x, grad, _, _, weight, bias = batch(rng, np.float64, (2, 3, 5))
    _, *known = batch_norm.batch_norm(x, None, None, training=True, return_stats=True)
    actual = batch_norm_grad.batch_norm_backward(grad, x, *known, weight)

    def error():
        found = batch_norm.batch_stats_reference(x)
        return (grad * batch_norm.batch_norm_reference(x, *found, weight, bias)).sum()

    for array, result in zip((x, weight, bias), actual, strict=True):
        np.testing.assert_allclose(result, finite_differences(error, array), rtol=1e-6, atol=1e-7)


@pytest.mark.parametrize("shape", [(0, 3), (0, 3, 4, 5)], ids=str)
def test_batch_norm_gradients_of_an_empty_batch_are_zero(shape):
    x, one = np.empty(shape), np.ones(3)
    actual = batch_norm_grad.batch_norm_backward(x, x, one, one)
    assert [part.tolist() for part in actual[1:]] == [[0, 0, 0]] * 2
