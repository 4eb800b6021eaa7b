"""Device arrays of the CPU target behave like those of a GPU, and refuse what a GPU refuses."""

import copy

import numpy as np
import pytest

from gpukit import errors
from gpukit.cpu import dispatcher
from gpukit.cpu.memory import allocations, arrays, contiguity
from gpukit.cpu.memory.ndarray import DeviceNDArray, DeviceRecord

SHAPES = [(), (0,), (1,), (7,), (3, 5), (2, 3, 5)]
RECORD = np.dtype([("a", np.float64), ("b", np.int32), ("c", np.float32, 2)], align=True)


def ramp(shape, order="C", dtype=np.int64):
    return np.arange(int(np.prod(shape)), dtype=dtype).reshape(shape, order=order)


class Foreign:
    """An object that shows device memory only through the CUDA array interface."""

    def __init__(self, array):
        self.kept = array
        self.__cuda_array_interface__ = array.__cuda_array_interface__


@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_to_device_and_back_gives_the_same_array(shape):
    a = ramp(shape)
    np.testing.assert_array_equal(arrays.to_device(a).copy_to_host(), a)


def test_to_device_copies_so_that_later_host_changes_do_not_show():
    a = np.arange(5)
    d_a = arrays.to_device(a)
    a[:] = -1
    assert d_a.copy_to_host().tolist() == [0, 1, 2, 3, 4]


def test_to_device_with_copy_off_leaves_poison_in_place_of_the_contents():
    assert np.isnan(arrays.to_device(np.zeros(3), copy=False).copy_to_host()).all()


def test_to_device_into_an_existing_array_returns_that_array():
    d_a = arrays.device_array(3, np.int64)
    assert arrays.to_device(np.arange(3), to=d_a) is d_a
    assert d_a.copy_to_host().tolist() == [0, 1, 2]


def test_to_device_refuses_host_memory_that_is_not_one_block():
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
def test_device_array_of_integers_starts_as_bytes_a5(dtype):
    host = arrays.device_array(7, dtype).copy_to_host()
    assert set(host.tobytes()) == {0xA5}


def test_device_array_of_records_poisons_every_field():
    host = arrays.device_array(2, RECORD).copy_to_host()
    assert np.isnan(host["a"]).all()
    assert np.isnan(host["c"]).all()
    assert (host["b"] == np.int32(-0x5A5A5A5B)).all()


@pytest.mark.parametrize("dtype", ["u1", "f4", "c16"])
def test_device_array_is_aligned_as_cudamalloc_promises(dtype):
    assert arrays.device_array(3, dtype).host.ctypes.data % allocations.ALIGNMENT == 0


@pytest.mark.parametrize(
    "shape", [1.5, np.float64(2), np.array(1.0), [1.5], (2, 1.5), np.array([1.5])], ids=repr
)
def test_device_array_refuses_a_shape_that_is_not_whole_numbers(shape):
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


def test_copy_to_device_turns_a_host_array_into_the_memory_order_of_the_target():
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


@pytest.mark.parametrize(
    "index",
    [1, -1, slice(1, None), slice(None, None, 2), (1, 2), (slice(1), 3), (..., 2), (2, ...)],
    ids=repr,
)
def test_indexing_gives_what_numpy_gives(index):
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
def test_masks_and_index_arrays_are_refused_because_a_gpu_array_refuses_them(index):
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


def test_a_deep_copy_of_an_array_that_a_kernel_had_is_memory_of_its_own():
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
def test_transpose_refuses_axes_that_are_none(axes):
    with pytest.raises(ValueError, match="invalid axes list"):
        np.transpose(arrays.to_device(ramp((3, 4))), axes=axes)


@pytest.mark.parametrize("dtype", ["i4", "u4", "i8", "f8", "i2"])
def test_view_reads_the_same_bytes_as_another_dtype(dtype):
    a = ramp((3, 4), dtype=np.int16)
    np.testing.assert_array_equal(arrays.to_device(a).view(dtype).copy_to_host(), a.view(dtype))


def test_view_of_a_strided_array_as_a_larger_dtype_is_refused():
    with pytest.raises(ValueError, match="To change to a dtype of a different size"):
        arrays.to_device(ramp((4, 8), dtype=np.int16))[:, ::2].view("i4")


def test_split_gives_views_the_last_one_shorter():
    d_a = arrays.to_device(np.arange(7))
    parts = list(d_a.split(3))
    parts[2][0] = 99
    assert [len(p) for p in parts] == [3, 3, 1]
    assert d_a[6] == 99


def test_len_of_an_array_without_axes_is_a_type_error():
    with pytest.raises(TypeError):
        len(arrays.to_device(np.float32(1)))


def test_iteration_over_a_device_array_ends():
    assert [int(v) for v in arrays.to_device(np.arange(3))] == [0, 1, 2]


def test_numpy_functions_see_a_copy_of_a_device_array():
    d_a = arrays.to_device(np.arange(3))
    np.asarray(d_a)[0] = 99
    assert d_a[0] == 0


def test_numpy_is_told_that_a_copy_cannot_be_avoided():
    with pytest.raises(ValueError, match="copy=False"):
        arrays.to_device(np.arange(3)).__array__(copy=False)


def test_a_numpy_method_that_device_arrays_lack_says_to_copy_first():
    with pytest.raises(AttributeError, match=r"'sum'.*copy_to_host\(\) first"):
        arrays.to_device(np.arange(3)).sum()


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


def test_to_device_takes_a_single_record():
    host = np.zeros(1, RECORD)[0]
    host["a"] = 3.5
    assert arrays.to_device(host)["a"] == 3.5


def test_as_cuda_array_is_a_view_of_the_same_memory():
    d_a = arrays.to_device(np.arange(6))
    again = arrays.as_cuda_array(Foreign(d_a[2:]))
    again[0] = 99
    assert d_a[2] == 99


def test_as_cuda_array_keeps_strides():
    d_a = arrays.to_device(np.arange(6))
    assert arrays.as_cuda_array(Foreign(d_a[::2])).copy_to_host().tolist() == [0, 2, 4]


def test_as_cuda_array_refuses_memory_of_another_owner():
    stranger = Foreign(arrays.to_device(np.arange(3)))
    interface = {**stranger.__cuda_array_interface__, "data": (64, False)}
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


def test_device_memory_is_forgotten_when_its_last_array_goes():
    d_a = arrays.device_array(1000)
    address = d_a.host.ctypes.data
    assert allocations.owner_of(address) is not None
    del d_a
    assert allocations.owner_of(address) is None


def test_mapped_arrays_are_numpy_arrays_and_device_arrays_at_once():
    m = arrays.mapped_array(4, np.int32)
    m[:] = range(4)
    assert isinstance(m, np.ndarray)
    assert contiguity.is_cuda_ndarray(m)
    assert type(m.host) is np.ndarray
    assert m.copy_to_host().tolist() == [0, 1, 2, 3]


def test_the_mapped_context_gives_the_memory_of_the_host_array():
    a = np.zeros(3)
    with arrays.mapped(a) as d_a:
        d_a[1] = 5
    assert a.tolist() == [0, 5, 0]


def test_pinned_array_is_a_plain_numpy_array():
    assert type(arrays.pinned_array(3, np.int32)) is np.ndarray


def test_an_ipc_handle_is_refused_with_what_to_do():
    with pytest.raises(errors.TargetError, match="shared_memory"):
        arrays.to_device(np.arange(3)).get_ipc_handle()


def test_bind_gives_the_same_memory_with_another_stream():
    d_a = arrays.to_device(np.arange(3))
    bound = d_a.bind(5)
    bound[0] = 9
    assert (bound.stream, d_a.stream, d_a[0]) == (5, 0, 9)
