"""Poison marks unwritten elements in every dtype and survives serialization."""

import numpy as np
import pytest

from gpukit.course.case import Case, poison, unwritten

DTYPES = ["f2", "f4", "f8", "i1", "i4", "i8", "u1", "u4", "c8", "c16", "?"]


@pytest.mark.parametrize("dtype", DTYPES)
def test_poison_is_recognised_as_unwritten_in_every_dtype(dtype):
    assert unwritten(poison((3, 5), dtype)).all()


@pytest.mark.parametrize("dtype", DTYPES)
def test_a_written_element_is_not_recognised_as_unwritten(dtype):
    values = poison(4, dtype)
    values[2] = 1
    assert unwritten(values).tolist() == [True, True, False, True]


def test_a_computed_nan_is_not_poison():
    values = poison(2)
    values[0] = np.float32("nan")
    assert unwritten(values).tolist() == [False, True]


def test_poison_survives_serialization():
    values = poison(3)
    assert unwritten(np.frombuffer(values.tobytes(), values.dtype)).all()


def test_poison_may_be_empty():
    assert poison(0).shape == (0,)
    assert unwritten(poison(0)).shape == (0,)


def test_sizes_name_arrays_scalars_and_launch():
    case = Case({"x": np.zeros(3, np.float32), "n": 3}, grid=1, block=32, expected={})
    assert case.sizes() == "x (3,) float32, n = 3; grid 1, block 32"
