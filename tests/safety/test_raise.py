"""Kernels that raise, and exceptions raised by Numba's own code in a kernel."""

import pytest

from gpukit import cuda, errors
from tests.safety.attempt import assert_fails, guarded, on_cpu

pytestmark = on_cpu


@cuda.jit
def raise_kernel(a):
    i = cuda.grid(1)
    a[i] = 1
    if i == 37:
        raise ValueError("the value is bad")  # here


@cuda.jit(device=True)
def check(x):
    if x > 3:
        raise OverflowError  # here
    return x


@cuda.jit
def raise_in_device_kernel(a):
    i = cuda.grid(1)
    a[i] = check(i)


@cuda.jit
def assert_kernel(a):
    i = cuda.grid(1)
    assert i <= 3, "too large"  # here
    a[i] = i


@cuda.jit(device=True)
def small(x):
    assert x <= 3, "too large"  # here
    return x


@cuda.jit
def assert_in_device_kernel(a):
    i = cuda.grid(1)
    a[i] = small(i)


@cuda.jit
def key_error_kernel(a):
    raise KeyError("no such thing")  # here


@cuda.jit
def step_zero_kernel(a, step):
    for i in range(0, 10, step):
        a[i] = 1


@cuda.jit
def step_zero_slice_kernel(a, step):
    part = a[::step]
    part[0] = 1


@cuda.jit
def tuple_kernel(a, i):
    a[0] = (1, 2, 3)[i]


@cuda.jit
def reshape_kernel(a, n):
    table = a.reshape(n, n)
    table[0, 0] = 1


def test_a_raise_names_line_thread_and_block():
    with guarded(64) as a:
        error = assert_fails(
            lambda: raise_kernel[2, 32](a),
            ValueError,
            "the value is bad",
            "tid=[5, 0, 0]",
            "ctaid=[1, 0, 0]",
        )
    assert (error.thread, error.block) == ((5, 0, 0), (1, 0, 0))
    assert isinstance(error, errors.KernelError)


def test_a_raise_in_a_device_function_names_its_line():
    with guarded(8) as a:
        assert_fails(lambda: raise_in_device_kernel[1, 8](a), OverflowError, "tid=[4, 0, 0]")


def test_a_raised_key_error_is_a_key_error():
    with guarded(8) as a:
        assert_fails(lambda: key_error_kernel[1, 1](a), KeyError, "no such thing")


@pytest.mark.parametrize("kernel", [assert_kernel, assert_in_device_kernel])
def test_a_failed_assert_stops_the_kernel(kernel):
    with guarded(8) as a:
        assert_fails(lambda: kernel[1, 8](a), AssertionError, "too large", "tid=[4, 0, 0]")


# name, kernel, argument, error, parts of the message
TABLE = [
    ("range of step 0", step_zero_kernel, 0, ValueError, "range", "zero"),
    ("slice of step 0", step_zero_slice_kernel, 0, ValueError, "slice step", "zero"),
    ("tuple index", tuple_kernel, 3, IndexError, "tuple index"),
    ("reshape to another size", reshape_kernel, 3, ValueError, "total size"),
]


@pytest.mark.parametrize(
    ("kernel", "argument", "kind", "parts"),
    [(row[1], row[2], row[3], row[4:]) for row in TABLE],
    ids=[row[0] for row in TABLE],
)
@pytest.mark.costly
def test_an_exception_of_python_semantics_names_the_kernel(kernel, argument, kind, parts):
    with guarded(12) as a:
        assert_fails(
            lambda: kernel[1, 1](a, argument), kind, kernel.__name__, *parts, "block 0", here=False
        )
