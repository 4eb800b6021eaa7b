"""Bounds checks in functions of `vectorize`, `guvectorize` and `reduce`."""

import numpy as np
import pytest

from gpukit import cuda, errors

TABLE = np.array([3.0, 5.0, 7.0])
FAR = 10**9


@cuda.vectorize(["float64(int64)"])
def from_table(i):
    return TABLE[i]


@cuda.guvectorize(["void(int64, float64[:], float64[:])"], "(),(n)->(n)")
def shifted(by, x, out):
    for i in range(x.shape[0]):
        out[i + by] = x[i]


@cuda.guvectorize(["void(int64, float64[:], float64[:])"], "(),(n)->()")
def selected(i, x, out):
    out[0] = x[i]


def test_vectorize_may_index_a_captured_table():
    np.testing.assert_array_equal(from_table(np.array([2, 0, -1])), [7, 3, 7])


@pytest.mark.parametrize("index", [3, -4, FAR])
def test_vectorize_refuses_to_read_past_a_captured_table(index):
    with pytest.raises(errors.OutOfBounds) as caught:
        from_table(np.array([0, index, 1]))
    found = caught.value
    assert (found.array, found.index, found.shape) == ("TABLE", (index,), (3,))
    assert (found.kernel, found.source.strip()) == ("from_table", "return TABLE[i]")
    assert found.thread == (1, 0, 0)


@pytest.mark.parametrize("by", [1, FAR])
def test_guvectorize_refuses_to_write_outside_its_subarray(by):
    out = np.full((3, 4), np.nan)
    with pytest.raises(errors.OutOfBounds) as caught:
        shifted(by, np.ones(4), out[1])
    assert (caught.value.index, caught.value.shape) == ((3 + by if by == 1 else by,), (4,))
    assert np.isnan(out[0]).all()
    assert np.isnan(out[2]).all()


@pytest.mark.parametrize("index", [4, -5, FAR, -FAR])
def test_guvectorize_refuses_to_read_outside_its_subarray(index):
    with pytest.raises(errors.OutOfBounds, match=f"index {index} is outside x"):
        selected(index, np.ones((3, 4)))


def test_the_traceback_of_a_ufunc_error_ends_at_the_line_of_its_function():
    with pytest.raises(errors.OutOfBounds) as caught:
        from_table(np.array([9]))
    assert caught.traceback[-1].path.name == "test_ufuncs.py"
    assert caught.traceback[-1].name == "from_table"


def test_reduce_refuses_to_read_past_a_captured_table():
    @cuda.vectorize(["int64(int64, int64)"])
    def from_table_of_sum(a, b):
        return np.int64(TABLE[a + b])

    with pytest.raises(errors.OutOfBounds, match="outside TABLE"):
        from_table_of_sum.reduce(np.arange(8))
