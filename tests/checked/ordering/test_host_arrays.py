"""Pinned, mapped and managed arrays in checked mode: NumPy semantics, every access recorded."""

import copy
import io
import pickle

import numba
import numpy as np
import pytest

from gpukit import cuda
from gpukit.checked import ordering

N = 12
READS = {
    "element": lambda h: h[3],
    "negative": lambda h: h[-1],
    "float": lambda h: float(h[0]),
    "item": lambda h: h.item(2),
    "sum": lambda h: h.sum(),
    "np_sum": lambda h: np.sum(h),
    "mean": lambda h: h.mean(),
    "argmax": lambda h: h.argmax(),
    "max_of_view": lambda h: h[2:9:2].max(),
    "plus": lambda h: h + 1,
    "right_operand": lambda h: np.ones(N) - h,
    "matmul": lambda h: h @ np.ones(N),
    "compare": lambda h: h == 4,
    "mask": lambda h: h[h > 3],
    "places": lambda h: h[[1, 5]],
    "iterate": list,
    "contains": lambda h: 3 in h,
    "tolist": lambda h: h.tolist(),
    "copy": lambda h: h.copy(),
    "np_copy": lambda h: np.copy(h),
    "deepcopy": lambda h: copy.deepcopy(h),
    "astype": lambda h: h.astype(np.float64),
    "print": lambda h: print(h, file=io.StringIO()),
    "repr": repr,
    "format": lambda h: f"{h}",
    "allclose": lambda h: np.allclose(h, h),
    "concatenate": lambda h: np.concatenate([h, h]),
    "stack_of_views": lambda h: np.stack((h[:2], h[2:4])),
    "assert_equal": lambda h: np.testing.assert_array_equal(h, np.arange(N)),
    "assert_allclose": lambda h: np.testing.assert_allclose(h, np.arange(N)),
    "where": lambda h: np.where(h > 2, h, 0),
    "reshaped": lambda h: h.reshape(3, 4)[1].sum(),
    "transposed": lambda h: h.reshape(3, 4).T[0, 0],
    "flat": lambda h: list(h.flat),
    "bytes": lambda h: h.tobytes(),
    "pickle": lambda h: pickle.dumps(h),
    "save": lambda h: np.save(io.BytesIO(), h),
    "ufunc_reduce": lambda h: np.add.reduce(h),
    "into_out": lambda h: np.add(h, 1, out=np.empty(N)),
    "bool": lambda h: bool(h[:1]),
}
WRITES = {
    "element": lambda h: h.__setitem__(0, 1),
    "all": lambda h: h.__setitem__(slice(None), 0),
    "dots": lambda h: h.__setitem__(..., 0),
    "view": lambda h: h[3:5].__setitem__(0, 1),
    "masked": lambda h: h.__setitem__(h.view(np.ndarray) > 3, 0),
    "in_place": lambda h: h.__iadd__(1),
    "fill": lambda h: h.fill(2),
    "sort": lambda h: h.sort(),
    "out": lambda h: np.multiply(2, 3, out=h),
    "out_of_a_method": lambda h: np.ones(N, np.float32).cumsum(out=h),
    "copyto": lambda h: np.copyto(h, 5),
    "at": lambda h: np.add.at(h, [0, 0], 1),
}
FORMS = {
    "shape": lambda h: (h.shape, h.dtype, h.size, h.nbytes, len(h), h.ndim, h.strides),
    "flags": lambda h: h.flags.c_contiguous,
    "slice": lambda h: h[2:4],
    "reshape": lambda h: h.reshape(3, 4).T,
    "np_reshape": lambda h: np.reshape(h, (3, 4)),
    "like": lambda h: np.zeros_like(h),
    "type": lambda h: isinstance(h, np.ndarray),
}


@pytest.fixture
def seen():
    """Return the list of findings that operations add to during the test."""
    found = []
    with ordering.following(found.append):
        yield found


def host_array(kind=cuda.pinned_array):
    h = kind(N, np.float32)
    h[:] = np.arange(N)
    return h


def in_flight(h, to_device):
    """Start a copy between a pinned array and the device."""
    stream = cuda.stream()
    d = cuda.to_device(np.arange(N, dtype=np.float32))
    if to_device:
        d.copy_to_device(h, stream)
    else:
        d.copy_to_host(h, stream)
    return stream


def races(use, seen, *, to_device):
    """Use an array while a copy is in flight; return the findings made before it completes."""
    h = host_array()
    stream = in_flight(h, to_device)
    use(h)
    found = [(f.kind, f.details["use"]) for f in seen]
    stream.synchronize()
    return found


@pytest.mark.parametrize("use", READS.values(), ids=READS)
def test_read_races_with_a_device_to_host_copy_in_flight(use, seen):
    assert races(use, seen, to_device=False) == [("host-race", "read")]


@pytest.mark.parametrize("use", READS.values(), ids=READS)
def test_read_after_synchronizing_the_stream_is_no_race(use, seen):
    h = host_array()
    in_flight(h, to_device=False).synchronize()
    use(h)
    assert seen == []


@pytest.mark.parametrize("use", READS.values(), ids=READS)
def test_read_during_a_host_to_device_copy_is_no_race(use, seen):
    assert races(use, seen, to_device=True) == []


@pytest.mark.parametrize("use", WRITES.values(), ids=WRITES)
def test_write_races_with_a_host_to_device_copy_in_flight(use, seen):
    assert races(use, seen, to_device=True) == [("host-race", "write")]


@pytest.mark.parametrize("use", FORMS.values(), ids=FORMS)
def test_metadata_of_an_array_is_no_access(use, seen):
    assert races(use, seen, to_device=False) == []


@pytest.mark.parametrize("uses", [READS, WRITES, FORMS], ids=["reads", "writes", "forms"])
def test_watched_array_behaves_like_a_plain_array(uses, seen):
    for name, use in uses.items():
        watched, plain = host_array(), np.arange(N, dtype=np.float32)
        got, wanted = use(watched), use(plain)
        if isinstance(got, np.ndarray):
            assert isinstance(wanted, np.ndarray), name
            np.testing.assert_array_equal(np.asarray(got), wanted, err_msg=name)
        elif name != "pickle":
            assert type(got) is type(wanted), name
            assert got == wanted, name
        np.testing.assert_array_equal(np.asarray(watched), plain, err_msg=name)
    assert seen == []


def test_pickle_of_a_watched_array_is_a_plain_array(seen):
    back = pickle.loads(pickle.dumps(host_array()))
    assert type(back) is np.ndarray
    np.testing.assert_array_equal(back, np.arange(N))


def test_bytes_outside_those_in_flight_may_be_accessed(seen):
    h, stream = host_array(), cuda.stream()
    d = cuda.to_device(np.zeros(4, np.float32))
    d.copy_to_host(h[4:8], stream)
    assert (h[:4].sum(), h[8:].sum(), h[3], h[8]) == (6, 38, 3, 8)
    assert seen == []
    h[7]
    assert len(seen) == 1
    stream.synchronize()


@pytest.mark.parametrize("kind", [cuda.mapped_array, cuda.managed_array])
def test_mapped_and_managed_memory_keep_their_types_under_the_checker(kind, seen):
    watched = host_array(kind)
    assert type(watched).__mro__[2] is type(unchecked_array(kind))
    assert watched.copy_to_host().sum() == 66
    assert repr(watched[:2]) == repr(np.arange(2, dtype=np.float32))


def unchecked_array(kind):
    from gpukit.cpu import operations

    before = operations.observe(None)
    try:
        return kind(N, np.float32)
    finally:
        operations.observe(before)


def test_pinned_array_is_a_plain_array_outside_checked_mode():
    assert type(cuda.pinned_array(3)) is np.ndarray


def test_watched_array_is_usable_after_the_check(seen):
    from gpukit.cpu import operations

    h = host_array()
    operations.observe(None)
    h += 1
    assert h.sum() == 78


# --- Writes that bypass the array --------------------------------------------------------------


@numba.njit
def clear(x):
    x[:] = 0


def changes_of(use, make=host_array):
    """Modify the source of a copy in flight; return the findings at the synchronization."""
    found = []
    with ordering.following(found.append):
        h, stream = make(), cuda.stream()
        with cuda.pinned(h):
            d = cuda.device_array(N, np.float32)
            d.copy_to_device(h, stream)
            use(h, d, stream)
            stream.synchronize()
    return [(f.kind, f.details["use"]) for f in found]


def unmanaged_array():
    return np.arange(N, dtype=np.float32)


CHANGE = [("host-race", "change")]


def test_write_to_memory_pinned_by_the_program_is_found_by_comparing_bytes():
    assert changes_of(lambda h, d, s: h.__setitem__(3, 7), unmanaged_array) == CHANGE


@pytest.mark.parametrize(
    "write", [lambda h: clear(np.asarray(h)), lambda h: memoryview(h).cast("B").__setitem__(3, 7)]
)
def test_write_through_another_view_is_found_by_comparing_bytes(write):
    assert changes_of(lambda h, d, s: write(h)) == CHANGE


def test_write_after_the_synchronization_is_no_race():
    assert changes_of(lambda h, d, s: (s.synchronize(), clear(np.asarray(h)))) == []


@pytest.mark.parametrize("make", [host_array, unmanaged_array])
def test_device_to_host_copy_on_the_same_stream_is_no_host_write(make):
    def use(h, d, stream):
        cuda.driver.device_memset(d, 0, d.nbytes, stream)
        d.copy_to_host(h, stream)

    assert changes_of(use, make) == []


def test_copy_back_of_a_launch_argument_is_no_host_write():
    @cuda.jit
    def bump_kernel(x):
        i = cuda.grid(1)
        if i < x.size:
            x[i] += 1

    from gpukit.checked import process

    with process.checking() as reports:
        h, stream = host_array(), cuda.stream()
        d = cuda.to_device(h, stream)
        bump_kernel[1, 32, stream](h)
        stream.synchronize()
    assert [f.kind for r in reports for f in r.findings] == []
    assert d[0] == 0


def test_write_by_a_callback_enqueued_after_the_copy_is_no_race():
    def use(h, d, stream):
        stream.add_callback(lambda *_: clear(np.asarray(h)))
        stream.synchronize()

    assert changes_of(use) == []


def test_observed_write_is_not_reported_again_by_comparing_bytes():
    assert changes_of(lambda h, d, s: h.__setitem__(3, 7)) == [("host-race", "write")]


def test_callback_may_write_what_later_operations_of_its_stream_read():
    def use(h, d, stream):
        for _ in range(20):
            stream.add_callback(lambda *_: h.fill(2))
            stream.add_callback(lambda *_: clear(np.asarray(h)))
            d.copy_to_device(h, stream)

    assert changes_of(use) == []


def test_callback_of_another_stream_may_not_read_what_is_in_flight():
    def use(h, d, stream):
        d.copy_to_host(h, stream)
        other = cuda.stream()
        other.add_callback(lambda *_: h.sum())
        other.synchronize()

    assert changes_of(use) == [("host-race", "read")]
