"""`cuda.guvectorize` behaves as on Numba's CUDA target."""

import math

import numpy as np
import pytest

from gpukit import cuda
from gpukit.cpu import ufuncs


@ufuncs.guvectorize(["void(float32[:,:], float32[:,:], float32[:,:])"], "(m,n),(n,p)->(m,p)")
def matmul(a, b, out):
    for i in range(a.shape[0]):
        for j in range(b.shape[1]):
            out[i, j] = 0
            for k in range(a.shape[1]):
                out[i, j] += a[i, k] * b[k, j]


@ufuncs.guvectorize(["void(int32[:], int32[:], int32[:])"], "(n),()->(n)")
def add_first(x, y, out):
    for i in range(x.shape[0]):
        out[i] = x[i] + y[0]


@pytest.mark.parametrize("shape", [(), (1,), (7,), (4, 5)], ids=str)
@pytest.mark.costly
def test_guvectorize_loops_over_the_outer_axes(shape):
    a = np.arange(math.prod(shape) * 6, dtype=np.float32).reshape(*shape, 2, 3)
    b = np.arange(12, dtype=np.float32).reshape(3, 4)
    np.testing.assert_allclose(matmul(a, b), a @ b)


def test_guvectorize_of_a_device_array_returns_a_device_array():
    a = np.ones((5, 2, 2), np.float32)
    result = matmul(a, cuda.to_device(a))
    np.testing.assert_array_equal(result.copy_to_host(), a @ a)


def test_guvectorize_accepts_subarrays_in_any_memory_order():
    a = np.arange(60, dtype=np.float32).reshape(5, 4, 3).transpose(2, 1, 0)
    b = np.arange(30, dtype=np.float32).reshape(3, 5, 2)[:, ::-1]
    np.testing.assert_allclose(matmul(a, b), a @ b)


def test_guvectorize_writes_to_a_slice_of_an_array():
    a, out = np.arange(12, dtype=np.int32).reshape(3, 4), np.full((3, 8), -1, np.int32)
    add_first(a, np.int32([1, 2, 3]), out[:, ::2])
    np.testing.assert_array_equal(out[:, ::2], a + np.array([[1], [2], [3]]))
    assert (out[:, 1::2] == -1).all()


def test_guvectorize_writes_to_an_output_of_another_type():
    out = np.full(4, np.nan)
    add_first(np.arange(4, dtype=np.int32), np.int32(2), out)
    assert out.tolist() == [2, 3, 4, 5]


def test_guvectorize_uses_the_first_signature_that_casts_safely_to_the_arrays_type():
    @cuda.guvectorize(["void(float64[:], float64[:])", "void(int32[:], int32[:])"], "(n)->(n)")
    def copy(x, out):
        for i in range(x.shape[0]):
            out[i] = x[i]

    assert copy(np.arange(3, dtype=np.int64)).dtype == np.int32
    with pytest.raises(TypeError, match="no matching signature"):
        copy(np.arange(3, dtype=np.float32))


@pytest.mark.parametrize(
    ("shapes", "message"),
    [
        ([(2, 3, 4), (5, 2)], r"arg #2: shape\[0\] mismatch argument: n is 4 elsewhere, here 5"),
        ([(7, 2, 3), (6, 3, 2)], r"arg #2: outer dimension mismatch: \(6,\) is not \(7,\)"),
        ([(3,), (3, 2)], "arg #1: insufficient inner dimension"),
    ],
)
def test_guvectorize_refuses_shapes_that_do_not_fit_its_layout(shapes, message):
    with pytest.raises(ValueError, match=message):
        matmul(*(np.zeros(s, np.float32) for s in shapes))


def test_guvectorize_refuses_types_that_do_not_fit_its_layout():
    with pytest.raises(ValueError, match=r"the layout gives .* 2 axes, its type has 1"):
        cuda.guvectorize(["void(f4[:], f4[:])"], "(m,n)->(m)")(lambda x, out: None)


@pytest.mark.parametrize("as_keyword", [True, False])
def test_guvectorize_writes_to_its_output(as_keyword):
    a, out = np.arange(4, dtype=np.int32), np.full(4, -1, np.int32)
    b = np.array([2], np.int32)
    add_first(a, b, out=out) if as_keyword else add_first(a, b, out)
    np.testing.assert_array_equal(out, a + 2)


def test_guvectorize_of_scalars_casts_them_to_the_signature():
    @cuda.guvectorize(["void(int32, int32[:])"], "()->()")
    def twice(x, out):
        out[0] = x * 2

    assert twice(10) == 20


def test_guvectorize_returns_two_outputs():
    @cuda.guvectorize(["void(int32[:], int32[:], float64[:])"], "(x)->(x),(x)")
    def both(a, b, c):
        for i in range(a.size):
            b[i] = a[i]
            c[i] = a[i] * 1.5

    b, c = both(np.arange(4, dtype=np.int32))
    assert (b.tolist(), c.tolist()) == ([0, 1, 2, 3], [0, 1.5, 3, 4.5])


@pytest.mark.parametrize(
    ("count", "message"), [(1, "Got 1 positional argument."), (4, "Got 4 pos")]
)
def test_guvectorize_refuses_a_wrong_number_of_arguments(count, message):
    with pytest.raises(TypeError, match="accepts 2 positional arguments") as caught:
        add_first(*[np.arange(5, dtype=np.int32)] * count)
    assert message in str(caught.value)


def test_guvectorize_refuses_an_output_given_twice():
    a = np.arange(5, dtype=np.int32)
    with pytest.raises(ValueError, match="both positional and keyword"):
        add_first(a, a[0], a, out=a)


def test_guvectorize_refuses_a_result_type():
    with pytest.raises(TypeError, match="specifies int32 return type"):
        cuda.guvectorize(["int32(int32[:], int32[:])"], "(m)->(m)")


def test_guvectorize_refuses_nopython_false_and_unknown_options():
    with pytest.raises(TypeError, match="nopython flag must be True"):
        cuda.guvectorize(["void(f4[:], f4[:])"], "(x)->(x)", nopython=False)
    with pytest.raises(TypeError, match="options are not supported: 'what'"):
        cuda.guvectorize(["void(f4[:], f4[:])"], "(x)->(x)", what=1)


@cuda.guvectorize(["void(float64[:], float64[:])"], "(n)->(n)")
def add_to(x, out):
    for i in range(x.shape[0]):
        out[i] += x[i]


@cuda.guvectorize(["void(float64[:], float64[:])"], "(n)->(n)")
def halve_first(x, out):
    for i in range(x.shape[0]):
        x[i] /= 2
        out[i] = x[i]


def test_guvectorize_does_not_copy_an_output_on_the_host_to_the_device():
    out = np.full(3, 2.0)
    add_to(np.ones(3), out)
    np.testing.assert_array_equal(out, np.full(3, np.nan))  # poison of new device memory


def test_guvectorize_reads_the_contents_of_an_output_on_the_device():
    out = cuda.to_device(np.full(3, 2.0))
    add_to(np.ones(3), out)
    np.testing.assert_array_equal(out.copy_to_host(), [3, 3, 3])


def test_guvectorize_copies_an_output_on_the_host_both_ways_when_an_input_is_on_the_device():
    out = np.full(3, 2.0)
    add_to(cuda.to_device(np.ones(3)), out=out)
    np.testing.assert_array_equal(out, [3, 3, 3])


def test_guvectorize_does_not_change_inputs_on_the_host():
    x = np.array([2.0, 4, 6])
    np.testing.assert_array_equal(halve_first(x), [1, 2, 3])
    np.testing.assert_array_equal(x, [2, 4, 6])


def test_guvectorize_does_not_change_an_input_passed_with_its_output():
    x = np.array([2.0, 4, 6])
    halve_first(x, np.zeros(3))
    np.testing.assert_array_equal(x, [2, 4, 6])


def test_guvectorize_may_change_inputs_on_the_device():
    x = cuda.to_device(np.array([2.0, 4, 6]))
    halve_first(x)
    np.testing.assert_array_equal(x.copy_to_host(), [1, 2, 3])


def test_guvectorize_accepts_one_host_array_as_input_and_output():
    x = np.array([2.0, 4, 6])
    assert halve_first(x, out=x) is x
    np.testing.assert_array_equal(x, [1, 2, 3])
