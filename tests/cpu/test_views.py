"""Elements and views of device arrays: indexing, assignment, shapes, records, interfaces."""

import copy

import numpy as np
import pytest

from gpukit import errors
from gpukit.cpu import dispatcher
from gpukit.cpu.memory import arrays
from gpukit.cpu.memory.ndarray import DeviceNDArray, DeviceRecord
from tests.cpu.ramps import RECORD, ramp
from tests.foreign import OnGpu


@pytest.mark.parametrize(
    "index",
    [1, -1, slice(1, None), slice(None, None, 2), (1, 2), (slice(1), 3), (..., 2), (2, ...)],
    ids=repr,
)
def test_indexing_agrees_with_numpy(index):
    a = ramp((3, 5))
    got = arrays.to_device(a)[index]
    got = got.copy_to_host() if isinstance(got, DeviceNDArray) else got
    np.testing.assert_array_equal(got, a[index])


def test_a_slice_is_a_view_of_the_same_memory():
    d_a = arrays.to_device(np.arange(5))
    d_a[1:3][0] = 99
    assert d_a[1] == 99


@pytest.mark.parametrize("index", [5, -6, (0, 5)], ids=repr)
def test_an_index_outside_the_array_is_an_index_error(index):
    with pytest.raises(IndexError):
        arrays.to_device(ramp((5, 5)))[index]


@pytest.mark.parametrize("index", [[0, 1], np.array([True] * 5), None, True], ids=repr)
def test_masks_and_index_arrays_are_refused_as_on_a_gpu(index):
    with pytest.raises(errors.ArgumentError, match="expected an index of integers"):
        arrays.to_device(np.arange(5))[index]


@pytest.mark.parametrize(
    ("index", "value"),
    [(2, 7), (slice(None), 7), ((slice(None), 2), [1, 2, 3]), (1, np.arange(5)), ((0, 0), 5)],
    ids=repr,
)
def test_assignment_broadcasts_as_numpy_does(index, value):
    a = ramp((3, 5))
    d_a = arrays.to_device(a)
    a[index] = value
    d_a[index] = value
    np.testing.assert_array_equal(d_a.copy_to_host(), a)


def test_assignment_of_a_sequence_of_another_length_names_axis_and_sizes():
    with pytest.raises(ValueError, match="size 2 to array axis 0 with dimension 5"):
        arrays.to_device(np.arange(5))[:] = [1, 3]


def test_assignment_of_too_many_axes_is_refused():
    with pytest.raises(ValueError, match="Can't assign 3-D array to 1-D self"):
        arrays.to_device(np.arange(6))[:] = np.ones((1, 2, 3))


def test_reshape_is_a_view():
    d_a = arrays.to_device(np.arange(6))
    d_a.reshape(2, 3)[1, 2] = 99
    assert d_a[5] == 99


def test_reshape_returns_the_same_view_each_time():
    d_a = arrays.to_device(ramp((2, 3)))
    assert d_a.reshape(3, 2) is d_a.reshape((3, 2))


def test_a_deep_copy_of_an_array_passed_to_a_kernel_has_its_own_memory():
    @dispatcher.jit
    def put_one(out):
        out[0] = 1

    d_a = arrays.to_device(np.zeros(1, np.int64))
    put_one[1, 1](d_a)
    flat = d_a.reshape(-1)
    copied = copy.deepcopy(d_a)
    d_a[0] = 5
    put_one[1, 1](copied.reshape(-1))
    assert (d_a[0], flat[0], copied[0]) == (5, 5, 1)


def test_reshape_that_would_copy_is_refused():
    with pytest.raises(NotImplementedError, match="requires copying"):
        arrays.to_device(ramp((4, 4)))[:, :2].reshape(8)


@pytest.mark.parametrize("order", ["C", "A"])
def test_ravel_of_a_contiguous_array_is_flat(order):
    a = ramp((2, 3, 5))
    np.testing.assert_array_equal(arrays.to_device(a).ravel(order).copy_to_host(), a.ravel(order))


def test_ravel_of_a_strided_view_is_refused():
    with pytest.raises(NotImplementedError, match="requires copying"):
        arrays.to_device(np.arange(6))[::2].ravel()


def test_transpose_is_a_copy_in_c_order_as_on_a_gpu():
    d_a = arrays.to_device(ramp((3, 4)))
    d_t = d_a.T
    d_t[0, 0] = 99
    assert d_t.is_c_contiguous()
    assert d_a[0, 0] == 0
    np.testing.assert_array_equal(d_a.T.copy_to_host(), ramp((3, 4)).T)


def test_transpose_of_a_three_dimensional_array_is_refused():
    with pytest.raises(NotImplementedError, match="non-2D"):
        np.transpose(arrays.to_device(ramp((3, 4, 1))))


@pytest.mark.parametrize("axes", [(0, 0), (0, 2)], ids=str)
def test_transpose_refuses_invalid_axes(axes):
    with pytest.raises(ValueError, match="invalid axes list"):
        np.transpose(arrays.to_device(ramp((3, 4))), axes=axes)


@pytest.mark.parametrize("dtype", ["i4", "u4", "i8", "f8", "i2"])
def test_view_reads_the_same_bytes_as_another_dtype(dtype):
    a = ramp((3, 4), dtype=np.int16)
    np.testing.assert_array_equal(arrays.to_device(a).view(dtype).copy_to_host(), a.view(dtype))


def test_view_of_a_strided_array_as_a_larger_dtype_is_refused():
    with pytest.raises(ValueError, match="To change to a dtype of a different size"):
        arrays.to_device(ramp((4, 8), dtype=np.int16))[:, ::2].view("i4")


def test_split_returns_views_of_which_the_last_may_be_shorter():
    d_a = arrays.to_device(np.arange(7))
    parts = list(d_a.split(3))
    parts[2][0] = 99
    assert [len(p) for p in parts] == [3, 3, 1]
    assert d_a[6] == 99


def test_len_of_a_zero_dimensional_array_is_a_type_error():
    with pytest.raises(TypeError):
        len(arrays.to_device(np.float32(1)))


def test_a_device_array_is_iterable():
    assert [int(v) for v in arrays.to_device(np.arange(3))] == [0, 1, 2]


def test_numba_type_has_layout_a_for_a_broadcast_array():
    wide = np.broadcast_to(np.arange(3), (4, 3))
    assert arrays.to_device(wide)._numba_type_.layout == "A"


def test_a_record_of_a_device_array_can_be_read_and_written_by_field():
    d_a = arrays.to_device(np.zeros(2, RECORD))
    record = d_a[1]
    record["b"] = 5
    record["c"][1] = 2.5
    assert isinstance(record, DeviceRecord)
    assert d_a.copy_to_host()["b"].tolist() == [0, 5]
    assert d_a[1]["c"][1] == 2.5


def test_a_record_can_be_copied_into_a_host_record():
    host = np.zeros(1, RECORD)[0]
    d_a = arrays.to_device(np.zeros(2, RECORD))
    d_a[1]["b"] = 7
    assert d_a[1].copy_to_host(host) is host
    assert host["b"] == 7


def test_to_device_accepts_a_single_record():
    host = np.zeros(1, RECORD)[0]
    host["a"] = 3.5
    assert arrays.to_device(host)["a"] == 3.5


def test_as_cuda_array_is_a_view_of_the_same_memory():
    d_a = arrays.to_device(np.arange(6))
    again = arrays.as_cuda_array(OnGpu(d_a[2:]))
    again[0] = 99
    assert d_a[2] == 99


def test_as_cuda_array_keeps_strides():
    d_a = arrays.to_device(np.arange(6))
    assert arrays.as_cuda_array(OnGpu(d_a[::2])).copy_to_host().tolist() == [0, 2, 4]


def test_as_cuda_array_refuses_memory_of_another_owner():
    foreign = OnGpu(arrays.to_device(np.arange(3)))
    interface = {**foreign.__cuda_array_interface__, "data": (64, False)}
    with pytest.raises(errors.TargetError, match="not a device array of this process"):
        arrays.from_cuda_array_interface(interface)


def test_as_cuda_array_of_a_numpy_array_is_a_type_error():
    assert not arrays.is_cuda_array(np.arange(3))
    with pytest.raises(TypeError, match="doesn't implement the cuda array interface"):
        arrays.as_cuda_array(np.arange(3))


def test_a_masked_interface_is_refused():
    interface = {**arrays.to_device(np.arange(3)).__cuda_array_interface__, "mask": 1}
    with pytest.raises(NotImplementedError, match="Masked arrays"):
        arrays.from_cuda_array_interface(interface)


def test_the_interface_of_an_empty_array_has_a_null_pointer():
    assert arrays.device_array(0).__cuda_array_interface__["data"] == (0, False)


def test_bind_returns_the_same_memory_with_another_stream():
    d_a = arrays.to_device(np.arange(3))
    bound = d_a.bind(5)
    bound[0] = 9
    assert (bound.stream, d_a.stream, d_a[0]) == (5, 0, 9)
