"""CIFAR-10 from its binary files: 60,000 photographs of 32 x 32 pixels in ten classes.

The files are not part of gpukit. "CIFAR-10 binary version" on the dataset's page
(https://www.cs.toronto.edu/~kriz/cifar.html) holds a folder with data_batch_1.bin to
data_batch_5.bin, 10,000 images each, and test_batch.bin. An image is a byte for the class and
3,072 for the pixels: all red values row by row, then the green ones, then the blue ones.

Source: Krizhevsky, "Learning Multiple Layers of Features from Tiny Images", 2009.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

CLASSES = ("airplane", "automobile", "bird", "cat", "deer", "dog", "frog", "horse", "ship", "truck")
SHAPE = (3, 32, 32)
RECORD = 1 + 3 * 32 * 32  # bytes of an image with its class
TRAINING = tuple(f"data_batch_{number}.bin" for number in range(1, 6))
TESTING = ("test_batch.bin",)


def cifar10(
    folder: str | Path, *, train: bool = True
) -> tuple[npt.NDArray[np.float32], npt.NDArray[np.int32]]:
    """Return images (N, 3, 32, 32), float32 from 0 to 1, and their classes (N,), int32.

    Reads the training files in `folder`, or the test file. Raises FileNotFoundError where one is
    missing, and ValueError for one that is truncated or has a class above 9.
    """
    images, labels = [], []
    for name in TRAINING if train else TESTING:
        label, image = _read(Path(folder) / name)
        images.append(image)
        labels.append(label)
    pixels = np.concatenate(images).astype(np.float32)
    pixels /= 255
    return pixels, np.concatenate(labels).astype(np.int32)


def _read(path: Path) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
    """Return the classes and the pixels of one file, as bytes."""
    if not path.exists():
        raise FileNotFoundError(
            f"cifar10: expected {path.name} in {path.parent}, found none. Unpack the binary "
            "version from https://www.cs.toronto.edu/~kriz/cifar.html there."
        )
    content = np.fromfile(path, np.uint8)
    if not content.size or content.size % RECORD:
        raise ValueError(
            f"cifar10: expected {path.name} to hold records of {RECORD} bytes, got {content.size} "
            "bytes. Download it again: it is cut off, or not the binary version."
        )
    records = content.reshape(-1, RECORD)
    labels = records[:, 0]
    wrong = np.flatnonzero(labels >= len(CLASSES))
    if wrong.size:
        raise ValueError(
            f"cifar10: expected classes from 0 to 9 in {path.name}, got {labels[wrong[0]]} at "
            f"image {wrong[0]}. Is it CIFAR-10's, and not CIFAR-100's?"
        )
    return labels, records[:, 1:].reshape(-1, *SHAPE)
