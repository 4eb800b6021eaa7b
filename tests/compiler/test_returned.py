"""Device functions may return arrays of their callers, but not their own local arrays."""

import inspect

import numba
import numpy as np
import pytest

import gpukit
from gpukit import cuda, errors
from gpukit.compiler.frontend import resolve, returned
from tests.compiler.returned_locals import (
    NESTED,
    PAIR,
    REFUSED,
    inlined_into_the_caller,
    itself,
    record,
    tail,
    through_a_function,
    with_a_signature,
)


@cuda.jit(device=True)
def numbers(x):
    r = cuda.local.array(2, np.float32)
    r[0] = r[1] = x
    return r[0], r[1]


@cuda.jit(device=True)
def numbers_of_a_row(x):
    r = cuda.local.array((2, 2), np.float32)
    mine = r[1]
    mine[0] = x
    first = mine[0]
    return first + r[0, 0]


@cuda.jit(device=True)
def number_of_a_record(x):
    r = cuda.local.array(1, NESTED)
    r[0].pair.x = x
    return r[0].pair.x + r[0].props[1] + r[0]["id"]


@cuda.jit(device=True)
def size_of(x):
    r = cuda.local.array(4, np.float32)
    return r.size + r.shape[0]


@cuda.jit(device=True)
def parameter(a):
    a[0] = 1
    return a


@cuda.jit(device=True)
def slice_of_parameter(a):
    work = cuda.local.array(4, np.float32)
    work[0] = a[0]
    a[0] = work[0]
    return a[1:]


@cuda.jit(device=True)
def shared(x):
    tile = cuda.shared.array(4, np.float32)
    tile[0] = x
    return tile


@cuda.jit(device=True)
def number_through_a_function(x):
    r = cuda.local.array(4, np.float32)
    return tail(r, 1)[0]


@cuda.jit(device=True)
def name_that_is_a_number_later(x):
    r = cuda.local.array(4, np.float32)
    r[0] = x
    a = r
    a = r[0]
    return a


@cuda.jit(device=True)
def number_from_a_tuple(x):
    both = cuda.local.array(4, np.float32), x
    return both[1]


ALLOWED = [
    numbers,
    numbers_of_a_row,
    number_of_a_record,
    size_of,
    parameter,
    slice_of_parameter,
    shared,
    number_through_a_function,
    name_that_is_a_number_later,
    number_from_a_tuple,
]


def name(device):
    return device.py_func.__name__


def marked_line(device):
    lines, first = inspect.getsourcelines(device.py_func)
    return first + next(k for k, text in enumerate(lines) if "# refused" in text)


@pytest.mark.parametrize("device", REFUSED, ids=name)
def test_a_device_function_that_returns_its_own_local_array_is_refused(device):
    with pytest.raises(
        errors.ReturnedLocal, match=r"memory of its own cuda\.local\.array"
    ) as caught:
        returned.check(resolve.run(device.py_func, device=True))
    assert caught.value.line == marked_line(device)
    assert "pass it to" in caught.value.fix


@pytest.mark.parametrize("device", ALLOWED, ids=name)
def test_a_device_function_may_return_scalars_and_arrays_of_its_caller(device):
    returned.check(resolve.run(device.py_func, device=True))


@cuda.jit
def array_kernel(out):
    i = cuda.grid(1)
    out[i] = itself(i)[0]


@cuda.jit
def record_kernel(out):
    i = cuda.grid(1)
    out[i] = record(i).x


@cuda.jit
def signature_kernel(out):
    i = cuda.grid(1)
    out[i] = with_a_signature(np.float32(i))[0]


@cuda.jit
def barrier_kernel(out):
    i = cuda.grid(1)
    cuda.syncthreads()
    out[i] = through_a_function(i)[0]
    cuda.syncthreads()


KERNELS = {
    array_kernel: itself,
    record_kernel: record,
    signature_kernel: with_a_signature,
    barrier_kernel: through_a_function,
}


@pytest.mark.parametrize("kernel", KERNELS, ids=name)
def test_a_launch_that_calls_such_a_device_function_is_refused(kernel):
    with pytest.raises(errors.ReturnedLocal) as caught:
        kernel[1, 4](np.zeros(4, np.float32))
    assert caught.value.line == marked_line(KERNELS[kernel])


@pytest.mark.parametrize("kernel", KERNELS, ids=name)
def test_a_checked_launch_reports_a_returned_local_array(kernel):
    (found,) = gpukit.check(kernel)[1, 4](np.zeros(4, np.float32)).findings
    assert (found.kind, found.severity) == ("returned-local", "error")
    assert (found.kernel, found.line) == (name(KERNELS[kernel]), marked_line(KERNELS[kernel]))


def test_the_finding_has_the_message_and_fix_of_the_error():
    (found,) = gpukit.check(array_kernel)[1, 4](np.zeros(4, np.float32)).findings
    with pytest.raises(errors.ReturnedLocal) as caught:
        array_kernel[1, 4](np.zeros(4, np.float32))
    assert (found.message, found.fix) == (caught.value.message, caught.value.fix)


@cuda.jit
def caller_kernel(out):
    i = cuda.grid(1)
    mine = inlined_into_the_caller(i)
    other = inlined_into_the_caller(i + 1)
    out[i] = 10 * mine[0] + other[0]


def test_a_local_array_of_an_inlined_function_belongs_to_the_caller():
    """Numba inlines the body with inline="always", on a GPU too."""
    out = np.zeros(4, np.float32)
    caller_kernel[1, 4](out)
    assert out.tolist() == [1, 12, 23, 34]


@cuda.jit
def own_nested_kernel(out):
    def create(n):
        mine = cuda.local.array(2, np.float32)
        mine[0] = n
        return mine

    i = cuda.grid(1)
    out[i] = create(i)[0]


def test_a_local_array_of_a_nested_function_belongs_to_the_kernel():
    out = np.zeros(4, np.float32)
    own_nested_kernel[1, 4](out)
    assert out.tolist() == [0, 1, 2, 3]


RECORD = numba.from_dtype(PAIR)


@cuda.jit(device=True, inline="always")
def one_of(dtype):
    return cuda.local.array(1, dtype)[0]


@cuda.jit(device=True)
def record_of_an_inlined_function(x):
    r = one_of(RECORD)
    r.x = x
    return r


@cuda.jit(device=True)
def record_of_a_dtype_argument(dtype, x):
    r = cuda.local.array(shape=1, dtype=dtype)[0]
    r.x = x
    return r


@cuda.jit(device=True)
def number_of_a_dtype_argument(dtype, x):
    r = cuda.local.array(1, dtype)
    r[0] = x
    return r[0]


@cuda.jit
def kernel_with_a_record_of_an_inlined_function(out):
    out[0] = record_of_an_inlined_function(1.0).x


@cuda.jit
def kernel_with_a_record_of_a_dtype_argument(out):
    out[0] = record_of_a_dtype_argument(RECORD, 1.0).x


@cuda.jit
def kernel_with_a_number_of_a_dtype_argument(out):
    out[0] = number_of_a_dtype_argument(np.int32, 2.75) + number_of_a_dtype_argument(
        np.float32, 0.5
    )


@cuda.jit
def kernel_with_a_record_of_its_own(out):
    r = one_of(RECORD)
    r.x = 3
    out[0] = r.x


@pytest.mark.parametrize(
    "kernel",
    [kernel_with_a_record_of_an_inlined_function, kernel_with_a_record_of_a_dtype_argument],
)
def test_returning_a_local_record_whose_dtype_is_an_argument_is_refused(kernel):
    with pytest.raises(errors.ReturnedLocal):
        kernel[1, 1](np.full(1, np.nan))
    (found,) = gpukit.check(kernel)[1, 1](np.full(1, np.nan)).findings
    assert found.kind == "returned-local"


@pytest.mark.parametrize(
    ("kernel", "expected"),
    [(kernel_with_a_number_of_a_dtype_argument, 2.5), (kernel_with_a_record_of_its_own, 3)],
)
def test_a_local_array_may_have_a_dtype_that_is_an_argument(kernel, expected):
    for run in (kernel, gpukit.check(kernel)):
        out = np.full(1, np.nan)
        run[1, 1](out)
        assert out.tolist() == [expected]
