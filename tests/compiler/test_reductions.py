"""Reductions by one thread: `tile.sum()`, `np.max(row)`, `max(row)`, plain and checked.

The reference is NumPy, in the type that Numba infers for the result.
"""

import numpy as np
import pytest

import gpukit
from gpukit import cuda, errors

pytestmark = pytest.mark.cpu
RNG = np.random.default_rng(9)
KINDS = [np.int8, np.uint64, np.float32]


@cuda.jit
def methods_kernel(x, out):
    out[0] = x.sum()
    out[1] = x.prod()
    out[2] = x.mean()
    out[3] = x.var()
    out[4] = x.std()
    out[5] = x.min()
    out[6] = x.max()
    out[7] = x.argmin()
    out[8] = x.argmax()
    out[9] = x.all()
    out[10] = x.any()


@cuda.jit
def functions_kernel(x, out):
    out[0] = np.sum(x)
    out[1] = np.prod(x)
    out[2] = np.mean(x)
    out[3] = np.var(x)
    out[4] = np.std(x)
    out[5] = np.min(x)
    out[6] = np.max(x)
    out[7] = np.argmin(x)
    out[8] = np.argmax(x)
    out[9] = np.all(x)
    out[10] = np.any(x)
    out[11] = np.average(x)


def every_reference(x):
    wide = x.astype(np.float64)
    return np.array(
        [
            wide.sum(),
            wide.prod(),
            wide.mean(),
            wide.var(),
            wide.std(),
            wide.min(),
            wide.max(),
            wide.argmin(),
            wide.argmax(),
            wide.all(),
            wide.any(),
            wide.mean(),
        ]
    )


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.costly
def test_methods_agree_with_numpy_for_every_dtype(kind):
    x = RNG.integers(0, 4, 11).astype(kind)
    out = np.full(11, np.nan)
    methods_kernel[1, 1](x, out)
    np.testing.assert_allclose(out, every_reference(x)[:11], rtol=1e-5)


@pytest.mark.parametrize("view", ["rows", "columns", "reversed", "one"])
@pytest.mark.costly
def test_functions_agree_with_numpy_for_every_view(view):
    x = RNG.standard_normal((6, 7))
    part = {"rows": x[::2], "columns": x[:, 1::3], "reversed": x[::-1, ::-1], "one": x[2:3, 3:4]}
    out = np.full(12, np.nan)
    functions_kernel[1, 1](part[view], out)
    np.testing.assert_allclose(out, every_reference(part[view]), rtol=1e-12)


@pytest.mark.slow
def test_checked_launches_reduce_to_the_same_values():
    x = RNG.standard_normal((6, 7))[::2]
    plain, checked = np.full(12, np.nan), np.full(12, np.nan)
    functions_kernel[1, 1](x, plain)
    gpukit.check(functions_kernel)[1, 1](x, checked)
    np.testing.assert_array_equal(plain, checked)


@cuda.jit
def nan_kernel(x, out):
    out[0] = np.nansum(x)
    out[1] = np.nanprod(x)
    out[2] = np.nanmean(x)
    out[3] = np.nanvar(x)
    out[4] = np.nanstd(x)
    out[5] = np.nanmin(x)
    out[6] = np.nanmax(x)
    out[7] = x.max()
    out[8] = np.min(x)
    out[9] = x.argmax()
    out[10] = x.sum()


@pytest.mark.slow
def test_nan_functions_ignore_nan_and_the_others_propagate_it():
    x = np.array([2.0, np.nan, -1.0, 4.0], np.float32)
    numbers = x[[0, 2, 3]].astype(np.float64)
    wanted = [
        numbers.sum(),
        numbers.prod(),
        numbers.mean(),
        numbers.var(),
        numbers.std(),
        -1,
        4,
        np.nan,
        np.nan,
        1,
        np.nan,
    ]
    out = np.zeros(11)
    nan_kernel[1, 1](x, out)
    np.testing.assert_allclose(out, wanted, rtol=1e-6)


@cuda.jit
def wide_kernel(x, out):
    out[0] = x.sum()


def test_a_sum_of_small_integers_is_computed_in_64_bits():
    out = np.zeros(1, np.int64)
    wide_kernel[1, 1](np.full(1000, 127, np.int8), out)
    assert out[0] == 127_000


def test_the_sum_of_an_empty_array_is_zero():
    out = np.full(1, np.nan)
    wide_kernel[1, 1](np.zeros(0, np.float32), out)
    assert out[0] == 0


@cuda.jit
def kinds_of_arrays_kernel(x, out):
    tile = cuda.shared.array((2, 4), np.float32)
    own = cuda.local.array(3, np.int32)
    tid = cuda.threadIdx.x
    tile[tid // 4, tid % 4] = x[cuda.blockIdx.x, tid]
    for k in range(3):
        own[k] = tid * k
    cuda.syncthreads()  # the tile is written before it is read
    total = tile.sum()
    highest = tile[1].max()
    larger = max(tile[0])
    cuda.syncthreads()  # all threads have read the tile before it is written again
    tile[tid // 4, tid % 4] = -1
    cuda.syncthreads()  # the results above must not see this write
    row = cuda.blockIdx.x * 8 + tid
    out[row, 0] = total
    out[row, 1] = highest
    out[row, 2] = larger
    out[row, 3] = own.sum()
    out[row, 4] = x[cuda.blockIdx.x, ::3].min()


@pytest.mark.parametrize("run", [lambda k: k, gpukit.check], ids=["plain", "checked"])
@pytest.mark.slow
def test_shared_local_and_global_arrays_are_reduced_at_the_call(run):
    x = RNG.integers(-9, 9, (3, 8)).astype(np.float32)
    out = np.full((24, 5), np.nan)
    run(kinds_of_arrays_kernel)[3, 8](x, out)
    tile = x.reshape(3, 2, 4)
    columns = [x.sum(1), tile[:, 1].max(1), tile[:, 0].max(1)]
    wanted = np.stack([np.repeat(c, 8) for c in columns], 1)
    np.testing.assert_array_equal(out[:, :3], wanted)
    np.testing.assert_array_equal(out[:, 3], np.tile(np.arange(8) * 3, 3))
    np.testing.assert_array_equal(out[:, 4], np.repeat(x[:, ::3].min(1), 8))


# --- Checked -----------------------------------------------------------------------------------


@cuda.jit(device=True)
def sum_of(values):
    return np.sum(values)


@cuda.jit
def racing_sum_kernel(x, out):
    tile = cuda.shared.array(64, np.float32)
    tid = cuda.threadIdx.x
    tile[tid] = x[tid]
    out[tid] = tile.sum()


@cuda.jit
def racing_max_kernel(x, out):
    tile = cuda.shared.array(64, np.float32)
    tid = cuda.threadIdx.x
    tile[tid] = x[tid]
    out[tid] = max(tile)


@cuda.jit
def racing_device_kernel(x, out):
    tile = cuda.shared.array(64, np.float32)
    tid = cuda.threadIdx.x
    tile[tid] = x[tid]
    out[tid] = sum_of(tile)


RACING = [racing_sum_kernel, racing_max_kernel, racing_device_kernel]


@pytest.mark.parametrize("kernel", RACING, ids=lambda k: k.py_func.__name__)
@pytest.mark.costly
def test_a_missing_barrier_before_a_reduction_is_a_race(kernel):
    report = gpukit.check(kernel)[1, 64](np.ones(64, np.float32), np.zeros(64, np.float32))
    found = {(f.kind, f.array) for f in report.findings}
    assert found & {("shared-race", "tile"), ("warp-race", "tile")}


@cuda.jit
def unwritten_kernel(out):
    own = cuda.local.array(4, np.float32)
    own[0] = 1
    out[cuda.grid(1)] = own.sum()


def test_a_reduction_of_uninitialised_memory_is_found():
    report = gpukit.check(unwritten_kernel)[1, 32](np.zeros(32, np.float32))
    found = {(f.kind.partition("-")[0], f.array) for f in report.findings}
    assert ("uninitialised", "own") in found


@cuda.jit
def rows_kernel(x, out):
    i = cuda.grid(1)
    if i < x.shape[0]:
        out[i] = x[i].sum()


def test_each_element_that_a_reduction_reads_is_counted():
    x, out = np.ones((32, 8), np.float32), np.zeros(32, np.float32)
    profile = gpukit.profile(rows_kernel)[1, 32](x, out)
    assert profile.total["global_bytes_asked"] >= 32 * 8 * 4  # plus the bytes stored


def test_a_row_outside_the_array_stops_the_kernel():
    @cuda.jit
    def outside_kernel(x, out):
        out[0] = x[5].sum()

    with pytest.raises(errors.OutOfBounds):
        outside_kernel[1, 1](np.ones((3, 2)), np.zeros(1))


def test_explain_shows_the_reduction_as_it_was_written():
    x, out = np.ones((32, 8), np.float32), np.zeros(32, np.float32)
    assert "out[i] = x[i].sum()" in str(gpukit.explain(rows_kernel, x, out, block=32))


# --- Refused -----------------------------------------------------------------------------------


def test_sums_along_an_axis_are_refused_because_they_make_an_array():
    @cuda.jit
    def axis_kernel(x, out):
        out[0] = np.sum(x, axis=0)[0]

    with pytest.raises(errors.Invalid, match="creates a new array"):
        axis_kernel[1, 1](np.ones((2, 2)), np.zeros(1))


def test_np_amax_is_refused_in_favour_of_np_max():
    @cuda.jit
    def amax_kernel(x, out):
        out[0] = np.amax(x)

    with pytest.raises(errors.Invalid, match=r"write np\.max"):
        amax_kernel[1, 1](np.ones(2), np.zeros(1))
