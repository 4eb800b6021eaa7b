"""Patterns in shared memory: 32 banks of 4 bytes."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np

from tests.checked.access import access_kernels, definitions
from tests.checked.access.pattern import (
    PLAIN,
    Pattern,
    both,
    numbers,
    shared,
    shared_affine,
    shared_gather,
)

SERIAL = "a GPU serializes updates of one word, or aggregates them within a warp first"


def strides() -> Iterator[Pattern]:
    for stride in (*range(1, 34), 64):
        figures = both(1, math.gcd(stride, 32), 1)
        yield shared_affine(f"banks at stride {stride}", (stride, 0, 0), figures)
    yield shared_affine("one word for all", (0, 0, 7), both(1, 1, 1))
    yield shared_affine("banks in reverse", (-1, 0, 31), both(1, 1, 1))


def sizes() -> Iterator[Pattern]:
    for dtype, stride, passes in (
        (np.uint8, 1, 1),
        (np.uint8, 4, 1),
        (np.uint8, 8, 2),
        (np.uint8, 128, 32),
        (np.int16, 1, 1),
        (np.int16, 2, 1),
        (np.int16, 3, 2),
        (np.int16, 64, 32),
    ):
        name = f"{np.dtype(dtype).itemsize} bytes in banks at stride {stride}"
        yield shared_affine(name, (stride, 0, 0), both(1, passes, 1), dtype=dtype)
    # The elements of a phase cover all banks: 16 elements of 8 bytes, 8 of 16 bytes.
    for dtype, phases, lanes in ((np.float64, 2, 16), (np.complex128, 4, 8)):
        for stride in (1, 2, 3, 8, 16, 17):
            figures = both(1, phases * math.gcd(stride, lanes), phases)
            name = f"{phases} phases at stride {stride}"
            yield shared_affine(name, (stride, 0, 0), figures, dtype=dtype)
    yield shared_affine("two words for all", (0, 0, 3), both(1, 2, 2), dtype=np.float64)


def blocks() -> Iterator[Pattern]:
    for threads in (1, 7, 33, 48):
        figures = both(-(-threads // 32), threads, -(-threads // 32))
        name = f"one bank, block of {threads}"
        yield shared_affine(name, (32, 0, 0), figures, (threads, 1))
    for threads, phases in ((16, 1), (17, 2), (48, 3)):
        figures = both(-(-threads // 32), phases, phases)
        name = f"8 bytes, block of {threads}"
        yield shared_affine(name, PLAIN, figures, (threads, 1), np.float64)
    for width, degree in ((32, 32), (33, 1), (34, 2), (48, 16)):
        figures, form = both(8, 8 * degree, 8), (width, 1, 0)
        name = f"tile of 32 by 8, column of rows of {width}"
        yield shared_affine(name, form, figures, (32, 8))
    # A warp covers four rows and eight columns, where padding for 32 rows leaves conflicts.
    for width, degree in ((32, 4), (33, 4), (36, 2), (40, 1)):
        figures, form = both(1, degree, 1), (width, 1, 0)
        name = f"tile of 4 by 8, column of rows of {width}"
        yield shared_affine(name, form, figures, (4, 8))


def gathers() -> Iterator[Pattern]:
    lane = np.arange(32)
    for name, index, degree in (
        ("two words of one bank", lane % 2 * 32, 2),
        ("two words of two banks", lane % 2 * 33, 1),
        ("a permutation of the banks", lane * 5 % 32, 1),
        ("the lanes of a butterfly", lane ^ 16, 1),
        ("three words of one bank", np.where(lane < 3, 32 * lane, lane), 3),
    ):
        yield shared_gather(name, index, both(1, degree, 1))
    yield Pattern(
        "two views of dynamic memory",
        access_kernels.views_kernel,
        (1, 32, 0, 512),
        lambda: (numbers(32), 40),
        both(2, 3, 2),
    )


def atomics() -> Iterator[Pattern]:
    for bins in (1, 2, 7, 32, 64):
        index = np.arange(48) % bins
        figures = shared("atomic", 4, 4, 4) | {
            "atomic_serial": 2 * definitions.most_alike(index),
            "atomic_contention": -(-48 // bins),
        }

        def make(index: Any = index) -> tuple[Any, ...]:
            return index, np.zeros(48, np.int32)

        name = f"shared atomics on {bins} elements"
        yield Pattern(name, access_kernels.shared_atomic_kernel, (2, 48), make, figures, SERIAL)


GROUPS = (strides, sizes, blocks, gathers, atomics)
