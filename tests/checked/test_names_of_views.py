"""Views that compiler passes rename: messages use the names in the source."""

import numpy as np
import pytest

import gpukit
from gpukit import cuda


@cuda.jit("float32(float32[:], int32)", device=True)
def declared(row, k):
    return row[k]


@cuda.jit(device=True)
def starred(*rows):
    return rows[1][2]


@cuda.jit(device=True)
def of_two(x, y):
    return x[2] + y[0]


@cuda.jit("float32[:](float32[:, :])", device=True)
def first_row(table):
    return table[0]


@cuda.jit(device=True)
def row_after_a_barrier(table):
    cuda.syncthreads()
    return table[0]


@cuda.jit
def view_for_a_declared_parameter(a, out):
    out[0] = declared(a[0], 2)


@cuda.jit
def view_in_star_arguments(a, out):
    out[0] = starred(a[0], a[1])


@cuda.jit
def view_in_an_unpacked_tuple(a, out):
    pair = (a[0], a[1])
    out[0] = of_two(*pair)


@cuda.jit
def view_from_a_declared_function(a, out):
    out[0] = first_row(a)[2]


@cuda.jit
def view_from_a_function_with_a_barrier(a, out):
    out[0] = row_after_a_barrier(a)[2]


NAMES = {
    view_for_a_declared_parameter: "row",
    view_in_star_arguments: "rows[1]",
    view_in_an_unpacked_tuple: "x",
    view_from_a_declared_function: "first_row(a)",
    view_from_a_function_with_a_barrier: "row_after_a_barrier(a)",
}


def outside(kernel):
    report = gpukit.check(kernel)[1, 1](np.zeros((4, 2), np.float32), np.zeros(1, np.float32))
    (found,) = [f for f in report.findings if f.kind == "out-of-bounds"]
    return report, found


@pytest.mark.parametrize("kernel", NAMES, ids=lambda k: k.py_func.__name__)
@pytest.mark.costly
def test_finding_names_a_view_as_the_source_does(kernel):
    _, found = outside(kernel)
    name = NAMES[kernel]
    assert f"accesses {name}[2] in line" in found.message
    assert f"but {name} has only 2 elements" in found.message
    assert f"< {name}.shape[0]:" in found.fix


@pytest.mark.parametrize("kernel", NAMES, ids=lambda k: k.py_func.__name__)
def test_internal_casts_are_not_noted_as_uninstrumented_functions(kernel):
    report, _ = outside(kernel)
    assert report.notes == []
