"""Device arrays of the CPU target: creation, copies, and what is refused as on a GPU."""

import numpy as np
import pytest

from gpukit import errors
from gpukit.cpu.memory import allocations, arrays, contiguity
from tests.cpu.ramps import RECORD, ramp

SHAPES = [(), (0,), (1,), (7,), (3, 5), (2, 3, 5)]


@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_a_round_trip_to_the_device_gives_an_equal_array(shape):
    a = ramp(shape)
    np.testing.assert_array_equal(arrays.to_device(a).copy_to_host(), a)


def test_to_device_copies_the_host_array():
    a = np.arange(5)
    d_a = arrays.to_device(a)
    a[:] = -1
    assert d_a.copy_to_host().tolist() == [0, 1, 2, 3, 4]


def test_to_device_with_copy_false_leaves_poison():
    assert np.isnan(arrays.to_device(np.zeros(3), copy=False).copy_to_host()).all()


def test_to_device_into_an_existing_array_returns_that_array():
    d_a = arrays.device_array(3, np.int64)
    assert arrays.to_device(np.arange(3), to=d_a) is d_a
    assert d_a.copy_to_host().tolist() == [0, 1, 2]


def test_to_device_refuses_a_non_contiguous_host_array():
    with pytest.raises(ValueError, match="non-contiguous buffer"):
        arrays.to_device(np.arange(10)[::2])


def test_to_device_keeps_fortran_order():
    d_a = arrays.to_device(ramp((3, 4), "F"))
    assert d_a.is_f_contiguous()
    assert not d_a.is_c_contiguous()


def test_to_device_keeps_the_zero_strides_of_a_broadcast_array():
    wide = np.broadcast_to(np.arange(3), (4, 3))
    d_wide = arrays.to_device(wide)
    assert d_wide.strides == (0, 8)
    np.testing.assert_array_equal(d_wide.copy_to_host(), wide)


@pytest.mark.parametrize("dtype", ["f2", "f4", "f8", "c8", "c16"])
def test_device_array_of_floats_starts_as_nan(dtype):
    assert np.isnan(arrays.device_array((3, 5), dtype).copy_to_host()).all()


@pytest.mark.parametrize("dtype", ["i1", "u2", "i4", "u8"])
def test_device_array_of_integers_starts_as_0xa5_bytes(dtype):
    host = arrays.device_array(7, dtype).copy_to_host()
    assert set(host.tobytes()) == {0xA5}


def test_device_array_of_records_poisons_every_field():
    host = arrays.device_array(2, RECORD).copy_to_host()
    assert np.isnan(host["a"]).all()
    assert np.isnan(host["c"]).all()
    assert (host["b"] == np.int32(-0x5A5A5A5B)).all()


@pytest.mark.parametrize("dtype", ["u1", "f4", "c16"])
def test_device_array_is_aligned_like_cudamalloc(dtype):
    assert arrays.device_array(3, dtype).host.ctypes.data % allocations.ALIGNMENT == 0


@pytest.mark.parametrize(
    "shape", [1.5, np.float64(2), np.array(1.0), [1.5], (2, 1.5), np.array([1.5])], ids=repr
)
def test_device_array_refuses_a_shape_of_non_integers(shape):
    with pytest.raises(TypeError, match="shape"):
        arrays.device_array(shape)


def test_device_array_refuses_a_negative_length():
    with pytest.raises(ValueError, match="expected lengths of 0 or more"):
        arrays.device_array((3, -1))


def test_device_array_refuses_an_unknown_order():
    with pytest.raises(ValueError, match="C/F order"):
        arrays.device_array((2, 2), order="K")


@pytest.mark.parametrize("axes", [(0, 1, 2), (2, 1, 0), (1, 2, 0)], ids=str)
def test_device_array_like_keeps_the_memory_order_of_the_axes(axes):
    a = ramp((2, 3, 5)).transpose(axes)
    assert arrays.device_array_like(a).strides == a.strides


def test_copy_to_host_into_an_array_of_another_dtype_is_a_type_error():
    with pytest.raises(TypeError, match=r"incompatible dtype: int64 vs\. float64"):
        arrays.to_device(np.arange(3)).copy_to_host(np.zeros(3))


def test_copy_to_host_into_an_array_of_another_shape_is_a_value_error():
    with pytest.raises(ValueError, match=r"incompatible shape: \(3,\) vs\. \(4,\)"):
        arrays.to_device(np.arange(3)).copy_to_host(np.zeros(4, np.int64))


def test_copy_to_host_of_a_reversed_view_is_refused_as_on_a_gpu():
    with pytest.raises(NotImplementedError, match="negative strides"):
        arrays.to_device(np.arange(3))[::-1].copy_to_host()


def test_copy_to_device_converts_to_the_memory_order_of_the_target():
    d_a = arrays.device_array((3, 4), np.int64, order="F")
    d_a.copy_to_device(ramp((3, 4)))
    np.testing.assert_array_equal(d_a.copy_to_host(), ramp((3, 4)))


def test_copy_to_device_from_a_device_array_of_another_order_is_refused():
    d_c, d_f = arrays.to_device(ramp((3, 4))), arrays.to_device(ramp((3, 4), "F"))
    with pytest.raises(ValueError, match="incompatible strides"):
        d_c.copy_to_device(d_f)


def test_copy_to_device_into_a_strided_view_is_refused():
    d_row = arrays.to_device(ramp((5, 5), "F"))[2]
    with pytest.raises(ValueError, match="non-contiguous buffer"):
        d_row.copy_to_device(np.zeros(5, np.int64))


def test_numpy_functions_get_a_copy_of_a_device_array():
    d_a = arrays.to_device(np.arange(3))
    np.asarray(d_a)[0] = 99
    assert d_a[0] == 0


def test_conversion_to_numpy_without_a_copy_is_refused():
    with pytest.raises(ValueError, match="copy=False"):
        arrays.to_device(np.arange(3)).__array__(copy=False)


def test_a_numpy_method_that_device_arrays_lack_says_to_copy_first():
    with pytest.raises(AttributeError, match=r"'sum'.*copy_to_host\(\) first"):
        arrays.to_device(np.arange(3)).sum()


def test_device_memory_is_unregistered_with_its_last_array():
    d_a = arrays.device_array(1000)
    address = d_a.host.ctypes.data
    assert allocations.owner_of(address) is not None
    del d_a
    assert allocations.owner_of(address) is None


def test_mapped_arrays_are_both_numpy_arrays_and_device_arrays():
    m = arrays.mapped_array(4, np.int32)
    m[:] = range(4)
    assert isinstance(m, np.ndarray)
    assert contiguity.is_cuda_ndarray(m)
    assert type(m.host) is np.ndarray
    assert m.copy_to_host().tolist() == [0, 1, 2, 3]


def test_the_mapped_context_uses_the_memory_of_the_host_array():
    a = np.zeros(3)
    with arrays.mapped(a) as d_a:
        d_a[1] = 5
    assert a.tolist() == [0, 5, 0]


def test_pinned_array_is_a_plain_numpy_array():
    assert type(arrays.pinned_array(3, np.int32)) is np.ndarray


def test_an_ipc_handle_is_refused_with_advice():
    with pytest.raises(errors.TargetError, match="shared_memory"):
        arrays.to_device(np.arange(3)).get_ipc_handle()
