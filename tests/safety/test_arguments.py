"""Wrong arguments: the error names the argument, its type and what to pass instead."""

import numpy as np
import pytest

from gpukit import cuda, errors
from tests.safety.attempt import assert_fails, guarded, on_cpu

pytestmark = on_cpu
ARGUMENT, TYPES = errors.ArgumentError, errors.KernelTypeError


@cuda.jit
def write_kernel(a, value):
    a[0] = value  # here


@cuda.jit("void(float32[:], int32)")
def declared_kernel(a, value):
    a[0] = value


@cuda.jit(["void(float32[:], int32)", "void(float64[:, :], int32)"])
def declared_twice_kernel(a, value):
    a[0] = value


@cuda.jit
def add_kernel(a, value):
    cuda.atomic.add(a, 0, value)  # here


@cuda.jit
def swap_kernel(a, value):
    cuda.atomic.cas(a, 0, value, 0)  # here


@cuda.jit
def two_axes_kernel(a, i):
    a[i, 0] = 1  # here


class Box:
    pass


# Refused before the kernel is compiled: name, kernel, arguments, parts of the message
REFUSED = [
    ("list", write_kernel, ([1, 2], 1), "write_kernel", "argument 1", "list", "np.array(x"),
    ("text", write_kernel, ("abc", 1), "argument 1", "str", "NumPy arrays"),
    ("dict", write_kernel, ({}, 1), "argument 1", "dict", "NumPy arrays"),
    ("set", write_kernel, ({1}, 1), "argument 1", "set", "NumPy arrays"),
    ("Python function", write_kernel, (lambda x: x, 1), "argument 1", "cuda.jit(device=True)"),
    ("function", write_kernel, (len, 1), "argument 1", "builtin_function", "NumPy arrays"),
    ("object", write_kernel, (Box(), 1), "argument 1", "Box", "NumPy arrays"),
    ("object array", write_kernel, (np.zeros(2, object), 1), "argument 1", "object", "np.asarray"),
    ("swapped bytes", write_kernel, (np.zeros(2, ">f4"), 1), ">f4", "x.astype('float32')"),
    ("list as second", write_kernel, (np.zeros(2), [1]), "argument 2", "list", "np.array(x"),
    ("huge integer", write_kernel, (np.zeros(2), 10**30), "argument 2", str(10**30), "64 bits"),
    ("too few", write_kernel, (np.zeros(2),), "takes 2 arguments (a, value), got 1"),
    ("none at all", write_kernel, (), "takes 2 arguments (a, value), got 0"),
    ("too many", write_kernel, (np.zeros(2), 1, 2), "takes 2 arguments (a, value), got 3"),
    (
        "declared dtype",
        declared_kernel,
        (np.zeros(2), 1),
        "argument 1",
        "float32",
        "float64",
        "astype('float32')",
    ),
    ("declared axes", declared_kernel, (np.zeros((2, 2), np.float32), 1), "argument 1", "2 axes"),
    (
        "declared scalar",
        declared_kernel,
        (np.zeros(2, np.float32), "x"),
        "argument 2",
        "int32",
        "'x'",
    ),
    (
        "array for a scalar",
        declared_kernel,
        (np.zeros(2, np.float32), np.zeros(2)),
        "argument 2",
        "int32",
        "float64",
    ),
    ("number for an array", declared_kernel, (3, 1), "argument 1", "float32", "number 3", "array"),
    (
        "no signature fits",
        declared_twice_kernel,
        (np.zeros(2, np.int8), 1),
        "int8",
        "float32",
        "float64",
        "no signature fits",
    ),
]


@pytest.mark.parametrize(
    ("kernel", "arguments", "parts"),
    [(row[1], row[2], row[3:]) for row in REFUSED],
    ids=[row[0] for row in REFUSED],
)
def test_a_wrong_argument_is_named(kernel, arguments, parts):
    error = assert_fails(
        lambda: kernel[1, 1](*arguments), ARGUMENT, kernel.__name__, *parts, here=False
    )
    assert isinstance(error, TypeError)


def read_only():
    array = np.zeros(3)
    array.flags.writeable = False
    return array


# Refused at a line of the kernel: name, kernel, arguments, parts of the message
TYPED = [
    ("read-only array", write_kernel, (read_only(), 1), "read-only", "x.copy()"),
    ("atomic on a read-only array", add_kernel, (read_only(), 1), "read-only", "x.copy()"),
    ("cas on a read-only array", swap_kernel, (read_only(), 1), "read-only", "x.copy()"),
    ("complex into float", write_kernel, (np.zeros(3), 1j), "complex", "float64", ".real"),
    ("number for an array", write_kernel, (3, 1), "int64", "array"),
    ("none for an array", write_kernel, (None, 1), "none", "array"),
    ("array for a number", write_kernel, (np.zeros(3), np.zeros(3)), "-dimensional array", "index"),
    ("float as an index", two_axes_kernel, (np.zeros((3, 3)), 1.0), "float64", "integer", "//"),
    ("too many indices", two_axes_kernel, (np.zeros(3), 1), "of 1 axes is used with 2 indices"),
    ("text array", write_kernel, (np.zeros(3, "U4"), 1), "array of text", "numbers"),
]


@pytest.mark.parametrize(
    ("kernel", "arguments", "parts"),
    [(row[1], row[2], row[3:]) for row in TYPED],
    ids=[row[0] for row in TYPED],
)
def test_a_wrong_type_is_reported_at_its_line(kernel, arguments, parts):
    error = assert_fails(lambda: kernel[1, 1](*arguments), TYPES, *parts, "What to do: ")
    assert isinstance(error, TypeError)
    assert "No implementation of function" not in str(error)


def test_a_float_stored_in_an_integer_array_is_truncated():
    with guarded(3, np.int32) as a:
        write_kernel[1, 1](a, 2.75)
        assert a.tolist() == [2, 0, 0]


def test_a_declared_scalar_accepts_a_convertible_argument():
    with guarded(3, np.float32) as a:
        declared_kernel[1, 1](a, True)
        assert a[0] == 1


def test_a_signature_of_the_wrong_arity_is_refused_at_its_declaration():
    def one(a):
        a[0] = 1

    assert_fails(
        lambda: cuda.jit("void(float32[:], int32)")(one),
        ARGUMENT,
        "takes 1 arguments",
        "names 2",
        here=False,
    )


def test_a_signature_with_a_return_type_is_refused_at_its_declaration():
    def one(a):
        a[0] = 1

    assert_fails(
        lambda: cuda.jit("int32(float32[:])")(one),
        errors.KernelTypeError,
        "void",
        "array",
        here=False,
    )


# Functions that only work in kernels, or only on the host


@cuda.jit(device=True)
def double(x):
    return 2 * x


@pytest.mark.parametrize(
    ("call", "name"),
    [
        (lambda: double(2), "double.py_func"),
        (lambda: cuda.syncthreads(), "cuda.syncthreads"),
        (lambda: cuda.grid(1), "cuda.grid"),
        (lambda: cuda.shared.array(4, np.float32), "cuda.shared.array"),
        (lambda: cuda.local.array(4, np.float32), "cuda.local.array"),
        (lambda: cuda.atomic.add(np.zeros(3), 0, 1), "cuda.atomic.add"),
    ],
    ids=["device function", "syncthreads", "grid", "shared", "local", "atomic"],
)
def test_a_device_only_call_on_the_host_says_where_it_belongs(call, name):
    assert_fails(call, errors.TargetError, name, "kernel", here=False)


def test_a_device_function_cannot_be_launched():
    assert_fails(lambda: double[1, 1](2), errors.TargetError, "double", "device=True", here=False)
