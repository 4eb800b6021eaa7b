"""Random shifts and horizontal flips of images."""

import numpy as np
import pytest

import gpukit
from gpukit.kernels import augment, philox

SHAPES = [(1, 1, 1, 1), (5, 1, 8, 8), (3, 3, 7, 9), (300, 2, 4, 5)]
SEED, OFFSET = 20261126, 7

shapes = pytest.mark.parametrize("shape", SHAPES)


def images(shape, dtype=np.float32):
    return np.random.default_rng(3).standard_normal(shape).astype(dtype)


def random_augment(x, *how):
    return gpukit.augment(x, *how, seed=SEED, offset=OFFSET, out=np.full_like(x, np.nan))


@shapes
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize(
    ("most", "flip", "fill"), [(1, False, 0.0), (2, True, -1.0), (9, True, 0.5)]
)
def test_augmented_images_match_numpy(shape, dtype, most, flip, fill):
    x = images(shape, dtype)
    chance = philox.rand_reference(3 * len(x), SEED, OFFSET).reshape(-1, 3)
    expected = augment.augment_reference(x, chance, most, flip, fill)
    np.testing.assert_array_equal(random_augment(x, most, flip, fill), expected)


@shapes
def test_images_are_unchanged_without_shifts_and_flips(shape):
    x = images(shape)
    np.testing.assert_array_equal(random_augment(x, 0), x)


def test_shifts_and_flips_are_uniformly_distributed():
    x = np.zeros((9000, 1, 5, 5), np.float32)
    x[:, :, 2, 2], x[:, :, 2, 3] = 1, 2  # the second pixel shows whether the image is flipped
    moved = random_augment(x, 1, True)
    rows, cols = np.divmod((moved == 1).reshape(9000, 25).argmax(axis=1), 5)
    mirrored = (moved == 2).reshape(9000, 25).argmax(axis=1) % 5 < cols
    kinds, counts = np.unique(np.stack([rows, cols, mirrored]), axis=1, return_counts=True)
    assert kinds.shape == (3, 18)
    assert np.abs(counts - 500).max() < 5 * np.sqrt(500)


def test_the_channels_of_an_image_shift_together():
    x = np.repeat(images((40, 1, 6, 6)), 3, axis=1)
    moved = random_augment(x, 2, True)
    np.testing.assert_array_equal(moved[:, 0], moved[:, 1])
    np.testing.assert_array_equal(moved[:, 0], moved[:, 2])


def test_an_empty_batch_gives_an_empty_batch():
    assert random_augment(images((0, 3, 4, 4)), 1).shape == (0, 3, 4, 4)


def test_a_negative_shift_is_rejected():
    with pytest.raises(ValueError, match="augment: expected most >= 0, got -1"):
        gpukit.augment(images((2, 3, 4, 4)), -1, seed=1)
