"""Fields of records and named tuples with names of array attributes: `size`, `shape`, `T`."""

import collections

import numpy as np
import pytest

import gpukit
from gpukit import cuda, errors
from tests.compiler.strategies import execute

PLAIN = "weight"
SCALARS = {
    "read": "out[i] = r.NAME",
    "stored": "r.NAME = 2 * i",
    "updated": "r.NAME += 1\nout[i] = r.NAME",
    "an index": "out[(r.NAME + 1) % 4] = i",
    "the end of a range": "for k in range(r.NAME):\n    out[i] += k",
    "a bound that the loop body decrements": (
        "k = 0\nwhile k < r.NAME:\n    r.NAME -= 1\n    k += 1\nout[i] = k"
    ),
    "beside the array's size": "out[i] = a.size + r.NAME",
}
BARRIERS = {
    "field of a shared array": (
        "tile = cuda.shared.array(4, a.dtype)\ntile[i].NAME = i\ncuda.syncthreads()\n"
        "out[i] = tile[3 - i].NAME"
    ),
    "divergent trip count": "for k in range(r.NAME):\n    out[i] += k\n    cuda.syncthreads()",
}
ARRAYS = {
    "read": "out[i] = r.NAME[1]",
    "stored": "r.NAME[1] = i",
    "stored outside": "r.NAME[i + 2] = 1",
    "stored far outside": "r.NAME[i + (1 << 28)] = 1",
    "read outside": "out[i] = r.NAME[i - (1 << 30)]",
}
TEXT = """
@cuda.jit(device=True)
def device(a, r, out, i):
    BODY

@cuda.jit(device=True)
def recursive(a, r, out, i, depth):
    if depth > 0:
        return recursive(a, r, out, i, depth - 1)
    BODY
    return 0

@cuda.jit
def in_a_kernel(a, out):
    i = cuda.grid(1)
    r = ROW
    BODY

@cuda.jit
def in_a_device_function(a, out):
    i = cuda.grid(1)
    device(a, ROW, out, i)

@cuda.jit
def in_a_recursive_function(a, out):
    i = cuda.grid(1)
    recursive(a, ROW, out, i, 2)
"""


def outcome(name, body, kernel_name, kind, row="a[i]"):
    """Return the results and findings of a launch, without the name of the field."""
    lines = body.replace("NAME", name).replace("\n", "\n    ")
    kernel = execute(TEXT.replace("BODY", lines).replace("ROW", row), cuda)[kernel_name]
    if row == "a":
        a = collections.namedtuple("Config", [name, "x"])(np.arange(2), 5)
    else:
        a = np.zeros(4, [(name, np.int32, kind), ("x", np.float64)])
        a[name] = np.arange(2) if kind else [3, 0, 2, 1]
    plain, checked = np.full((2, 4), -1)
    report = gpukit.check(kernel)[1, 4](a, checked)
    try:
        kernel[1, 4](a, plain)
        failed = None
    except errors.OutOfBounds as error:
        failed = error.index, error.shape, _message(error).replace(f"r.{name}", f"r.{PLAIN}")
    left = a[0] if row == "a" else a[name]
    return (
        plain.tolist(),
        checked.tolist(),
        left.tolist(),
        failed,
        [f.kind for f in report.findings],
    )


def _message(error):
    return str(error).partition("\n")[2]  # without the file


KERNELS = ["in_a_kernel", "in_a_device_function", "in_a_recursive_function"]
FUNCTIONS = ["in_a_device_function", "in_a_recursive_function"]


@pytest.mark.parametrize("body", SCALARS)
@pytest.mark.costly
def test_a_scalar_field_behaves_the_same_under_any_name(body):
    expected = outcome(PLAIN, SCALARS[body], "in_a_kernel", ())
    assert outcome("size", SCALARS[body], "in_a_kernel", ()) == expected


@pytest.mark.parametrize("kernel_name", FUNCTIONS)
@pytest.mark.slow
def test_a_scalar_field_behaves_the_same_in_device_functions(kernel_name):
    body = SCALARS["a bound that the loop body decrements"]
    assert outcome("size", body, kernel_name, ()) == outcome(PLAIN, body, kernel_name, ())


@pytest.mark.parametrize(
    "name", ["shape", "ndim", "nbytes", "strides", "T", "dtype", "flat", "sum"]
)
@pytest.mark.costly
def test_a_field_may_have_the_name_of_any_array_attribute(name):
    expected = outcome(PLAIN, SCALARS["updated"], "in_a_kernel", ())
    assert outcome(name, SCALARS["updated"], "in_a_kernel", ()) == expected


@pytest.mark.parametrize("body", BARRIERS)
def test_a_scalar_field_behaves_the_same_beside_barriers(body):
    def kinds(name):
        lines = BARRIERS[body].replace("NAME", name).replace("\n", "\n    ")
        kernel = execute(TEXT.replace("BODY", lines).replace("ROW", "a[i]"), cuda)["in_a_kernel"]
        a = np.array([(3,), (0,), (2,), (1,)], [(name, np.int32)])
        out = np.zeros(4)
        return [f.kind for f in gpukit.check(kernel)[1, 4](a, out).findings], out.tolist()

    assert kinds("size") == kinds(PLAIN)


@pytest.mark.parametrize("kernel_name", KERNELS)
@pytest.mark.parametrize("body", ARRAYS)
@pytest.mark.costly
def test_an_array_field_of_a_record_is_bounds_checked_under_any_name(body, kernel_name):
    expected = outcome(PLAIN, ARRAYS[body], kernel_name, (2,))
    assert ("outside" in body) == (expected[3] is not None)
    assert outcome("shape", ARRAYS[body], kernel_name, (2,)) == expected


@pytest.mark.parametrize("kernel_name", KERNELS)
@pytest.mark.parametrize("body", ARRAYS)
@pytest.mark.costly
def test_an_array_in_a_named_tuple_is_bounds_checked_under_any_name(body, kernel_name):
    expected = outcome(PLAIN, ARRAYS[body], kernel_name, (2,), row="a")
    assert ("outside" in body) == (expected[3] is not None)
    assert outcome("shape", ARRAYS[body], kernel_name, (2,), row="a") == expected


@pytest.mark.parametrize("name", ["shape", "size", "T"])
def test_attributes_of_an_array_cannot_be_assigned(name):
    kernel = execute(f"@cuda.jit\ndef kernel(a):\n    a.{name} = 3\n", cuda)["kernel"]
    with pytest.raises(errors.Invalid, match=f"cannot set the {name} of an array"):
        kernel[1, 1](np.zeros(3))
