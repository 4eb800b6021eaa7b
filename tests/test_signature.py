"""The signature line of a host function: what it checks, copies, allocates and documents."""

import numpy as np
import pytest

import gpukit
from gpukit import cuda, launch, signature
from tests.foreign import Foreign


def ones(*shape, dtype=np.float32):
    return np.ones(shape, dtype)


@signature.takes("a: m k, b: k n, bias?: n -> m n", inner="k", turn=("b", "Did you mean b.T?"))
def product(a, b, bias=None, *, out=None, stream=0):
    """Return a product.

    Once more.
    """
    out.array[:] = a @ b + (0 if bias is None else bias)
    return out.get()


@signature.takes("x!: ..., y: ...", layout="C")
def shift(x, y, *, by=1, stream=0):
    """Add y and a number to x."""
    x[...] = x + y + np.float32(by)


@signature.takes("x: n c ..., at: n, w: 2*c 3 -> n rest..., c", at=(np.int32, np.int64))
def mixed(x, at, w, *, out=None, stream=0):
    """Return x, and its channels."""
    return out


def test_a_result_is_a_numpy_array_of_the_shape_in_the_signature():
    result = product(ones(2, 3), ones(3, 4))
    assert (type(result), result.dtype, result.tolist()) == (np.ndarray, np.float32, [[3] * 4] * 2)


def test_arrays_may_be_keyword_arguments():
    assert product(b=ones(3, 4), a=ones(2, 3), bias=ones(4)).tolist() == [[4] * 4] * 2


def test_a_result_is_written_to_out():
    out = np.full((2, 4), np.nan, np.float32)
    assert product(ones(2, 3), ones(3, 4), out=out) is out
    assert (out == 3).all()


def test_arrays_of_another_library_are_accepted():
    assert product(Foreign(ones(2, 3)), ones(3, 4)).tolist() == [[3] * 4] * 2


def test_a_missing_array_is_pythons_own_error():
    with pytest.raises(TypeError, match=r"product\(\) missing 1 required positional argument: 'b'"):
        product(ones(2, 3))


def test_none_is_refused_for_a_required_array():
    with pytest.raises(TypeError, match="product: expected b to be a float32 or float64 array, go"):
        product(ones(2, 3), None)


def test_a_numpy_scalar_is_refused_for_an_array():
    with pytest.raises(TypeError, match=r"shift: expected y to be a .* array, got float32"):
        shift(ones(3), np.float32(1))


def test_an_axis_with_two_sizes_is_refused_with_the_axes_of_all_arrays():
    expected = (
        r"^product: expected bias\.shape == \(4,\), got \(5,\)\. "
        r"The axes are a \(m, k\), b \(k, n\), bias \(n,\)\.$"
    )
    with pytest.raises(ValueError, match=expected):
        product(ones(2, 3), ones(3, 4), ones(5))


@pytest.mark.parametrize(
    ("shape", "advice"), [((4, 3), "Did you mean b.T?"), ((4, 4), "The inner sizes must agree.")]
)
def test_mismatched_inner_sizes_are_refused_with_a_hint_at_a_transpose(shape, advice):
    with pytest.raises(ValueError, match="product: expected ") as caught:
        product(ones(2, 3), ones(*shape))
    found = f"product: expected a.shape[1] == b.shape[0], got (2, 3) and {shape}. {advice}"
    assert str(caught.value) == found


def test_two_dtypes_are_listed_in_the_order_of_the_parameters():
    with pytest.raises(TypeError, match="expected a, b to have one dtype, got float32, float64"):
        product(ones(2, 3), ones(3, 4, dtype=np.float64))


def test_an_in_place_result_is_copied_back_to_an_array_in_another_order():
    x = np.zeros((3, 2), np.float32).T
    shift(x, ones(2, 3), by=4)
    assert x.tolist() == [[5] * 3] * 2


def test_a_read_only_array_cannot_be_written_to():
    x = ones(3)
    x.flags.writeable = False
    with pytest.raises(ValueError, match="shift: expected x to be writeable"):
        shift(x, ones(3))


def test_a_device_array_in_another_order_is_refused_if_c_order_is_required():
    with pytest.raises(ValueError, match="shift: expected y in C order"):
        shift(ones(2, 2), cuda.to_device(ones(2, 3))[:, 1:])


def test_arrays_of_any_number_of_axes_must_have_equal_shapes():
    with pytest.raises(ValueError, match=r"shift: expected y\.shape == \(2, 3\), got \(3, 2\)\."):
        shift(ones(2, 3), ones(3, 2))


def test_too_few_axes_are_refused():
    expected = r"mixed: expected x to have axes \(n, c, \.\.\.\), got shape \(3,\)\. Reshape it\."
    with pytest.raises(ValueError, match=expected):
        mixed(ones(3), ones(3, dtype=np.int32), ones(2, 3))


@pytest.mark.parametrize("shape", [(8, 2), (7, 3)])
def test_sizes_may_be_numbers_and_multiples(shape):
    with pytest.raises(ValueError, match=r"mixed: expected w\.shape == \(8, 3\), got"):
        mixed(ones(3, 4, 5), ones(3, dtype=np.int32), ones(*shape))


def test_the_shape_of_an_open_result_is_set_by_the_function():
    first, second = mixed(ones(3, 4, 5), ones(3, dtype=np.int64), ones(8, 3))
    assert (first.of((3, 7)).array.shape, second.array.shape) == ((3, 7), (4,))


def test_out_is_a_tuple_for_several_results():
    arrays = ones(3, 4, 5), ones(3, dtype=np.int32), ones(8, 3)
    with pytest.raises(TypeError, match="mixed: expected out to be a tuple of 2 arrays, got ndarr"):
        mixed(*arrays, out=ones(4))
    assert mixed(*arrays, out=(None, out := ones(4)))[1].array is out


def test_an_out_that_overlaps_an_array_is_refused():
    a = ones(3, 3)
    with pytest.raises(ValueError, match="product: expected out to lie apart from a"):
        product(a, ones(3, 3), out=a)


def test_a_result_is_allocated_only_when_it_is_used(monkeypatch):
    result = mixed(ones(3, 4, 5), ones(3, dtype=np.int32), ones(8, 3))[1]
    taken = []
    monkeypatch.setattr(launch.workspace, "take", lambda *a, **_: taken.append(a) or ones(4))
    assert taken == []
    assert (result.array.shape, len(taken)) == ((4,), 1)


def test_the_signature_is_in_the_docstring():
    assert product.__doc__ == (
        "Return a product.\n\nTakes a (m, k), b (k, n), bias (n,) of float32 or float64; returns "
        "(m, n).\n\nOnce more."
    )


def test_the_docstring_has_the_dtypes_of_each_array():
    line = mixed.__doc__.splitlines()[-1]
    assert "x (n, c, ...), w (2*c, 3) of float32 or float64, at (n,) of int32 or int64" in line


@pytest.mark.parametrize(
    ("function", "arrays", "variant"),
    [(gpukit.sum, 1, "shuffle"), (gpukit.matmul, 2, "tiled"), (gpukit.matvec, 2, "block_a_row")],
)
def test_the_old_name_of_variant_works_and_warns(function, arrays, variant):
    inputs = [ones(3, 3), ones(3, 3)] if function is gpukit.matmul else [ones(3, 3), ones(3)]
    inputs = inputs if arrays == 2 else [ones(3)]
    with pytest.warns(DeprecationWarning, match="rung= is now called variant="):
        result = function(*inputs, rung=variant)
    np.testing.assert_array_equal(result, function(*inputs, variant=variant))
