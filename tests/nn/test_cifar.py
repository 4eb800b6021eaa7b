"""Reading CIFAR-10, from small files in its binary format."""

import numpy as np
import pytest

from gpukit import nn
from gpukit.nn.cifar import TESTING, TRAINING


def written(folder, name, labels, seed=0):
    """Write a file of images with these classes; return their pixels."""
    pixels = np.random.default_rng(seed).integers(0, 256, (len(labels), 3, 32, 32), np.uint8)
    rows = np.column_stack([np.array(labels, np.uint8), pixels.reshape(len(labels), -1)])
    (folder / name).write_bytes(rows.tobytes())
    return pixels


def test_a_file_is_read_as_it_was_written(tmp_path):
    pixels = written(tmp_path, TESTING[0], [3, 0, 9])
    images, labels = nn.cifar10(tmp_path, train=False)
    np.testing.assert_array_equal(labels, [3, 0, 9])
    np.testing.assert_array_equal(images, pixels.astype(np.float32) / 255)
    assert (images.dtype, labels.dtype) == (np.float32, np.int32)


def test_the_five_training_files_are_concatenated_in_order(tmp_path):
    parts = [written(tmp_path, name, [k, k], seed=k) for k, name in enumerate(TRAINING)]
    images, labels = nn.cifar10(tmp_path)
    np.testing.assert_array_equal(labels, np.repeat(range(5), 2))
    np.testing.assert_array_equal(images, np.concatenate(parts).astype(np.float32) / 255)


def test_a_red_pixel_is_in_the_first_plane(tmp_path):
    record = np.zeros(3073, np.uint8)
    record[1 + 32 * 2 + 5] = 255  # row 2, column 5 of the red plane
    (tmp_path / TESTING[0]).write_bytes(record.tobytes())
    images, _ = nn.cifar10(tmp_path, train=False)
    assert np.argwhere(images[0]).tolist() == [[0, 2, 5]]


def test_a_missing_file_is_named_with_its_source(tmp_path):
    written(tmp_path, TRAINING[0], [1])
    with pytest.raises(FileNotFoundError, match=r"data_batch_2\.bin in .* Unpack .*cifar\.html"):
        nn.cifar10(tmp_path)


@pytest.mark.parametrize("size", [0, 3072, 3074])
def test_a_truncated_file_is_rejected(tmp_path, size):
    (tmp_path / TESTING[0]).write_bytes(bytes(size))
    with pytest.raises(ValueError, match=rf"records of 3073 bytes, got {size} bytes"):
        nn.cifar10(tmp_path, train=False)


def test_a_class_above_nine_is_rejected(tmp_path):
    written(tmp_path, TESTING[0], [9, 10, 3])
    words = "classes from 0 to 9 in test_batch.bin, got 10 at image 1"
    with pytest.raises(ValueError, match=words):
        nn.cifar10(tmp_path, train=False)
