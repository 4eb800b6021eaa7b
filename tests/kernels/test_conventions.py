"""Conventions of all variants: empty axes, NaN propagation, no writes outside `out`.

Each function is described by einsum subscripts: the axes of its arrays and of its result.
"""

import functools
from typing import Any, NamedTuple

import numpy as np
import pytest

from gpukit import launch
from gpukit.kernels import (
    activations,
    activations_grad,
    backprop,
    dot,
    matmul,
    matvec,
    reduce,
    scan,
    softmax,
    transpose,
    vector,
)
from gpukit.kernels.matmul import nt, tn

# Larger than a tile of every variant, rows of whole float4s, all different.
LARGE = {"m": 259, "n": 136, "k": 36, "b": 3, "r": 11, "c": 515}
SMALL = {"m": 3, "n": 4, "k": 5, "b": 2, "r": 3, "c": 7}


class Case(NamedTuple):
    """A host function, its einsum subscripts and its variants."""

    function: Any
    line: str
    variants: tuple[Any, ...] = ()

    def arrays(self, sizes, dtype=np.float32):
        shapes = [tuple(sizes[axis] for axis in part) for part in self.parts]
        return [np.ones(shape, dtype) for shape in shapes[:-1]], shapes[-1]

    @property
    def parts(self):
        return self.line.replace("->", ",").split(",")


def own(module, name):
    """Return a function of a module with those of the module's variants that belong to it."""
    variants = tuple(
        variant for variant in module.VARIANTS if variant.name in (name, f"{name}_vectorized")
    )
    return getattr(module, name), variants


def elementwise(module, name, line):
    function, variants = own(module, name)
    return Case(function, line, variants)


PRODUCTS = {
    "matmul": Case(matmul.matmul, "mk,kn->mn", matmul.VARIANTS),
    "matmul of a^T": Case(
        functools.partial(matmul.matmul, transpose_a=True), "km,kn->mn", tn.VARIANTS
    ),
    "matmul of b^T": Case(
        functools.partial(matmul.matmul, transpose_b=True), "mk,nk->mn", nt.VARIANTS
    ),
    "batched_matmul": Case(matmul.batched_matmul, "bmk,bkn->bmn"),
    "linear": Case(backprop.linear, "mk,nk->mn", backprop.FORWARD_VARIANTS),
    "matvec": Case(matvec.matvec, "rc,c->r", matvec.VARIANTS),
    "column_sum": Case(backprop.column_sum, "rc->c"),
}
MAPS = {
    "vector_add": Case(vector.vector_add, "c,c->c", vector.ADD_VARIANTS),
    "saxpy": Case(functools.partial(vector.saxpy, 2.5), "c,c->c", vector.SAXPY_VARIANTS),
    "add_bias": Case(backprop.add_bias, "rc,c->rc"),
    "bias_relu": Case(backprop.bias_relu, "rc,c->rc"),
    "bias_gelu": Case(backprop.bias_gelu, "rc,c->rc"),
    "copy": Case(transpose.copy, "mn->mn", transpose.COPY_VARIANTS),
    "transpose": Case(transpose.transpose, "mn->nm", transpose.TRANSPOSE_VARIANTS),
} | {
    name: elementwise(module, name, line)
    for module, line, names in (
        (activations, "rc->rc", ("relu", "sigmoid", "tanh", "gelu")),
        (activations_grad, "rc,rc->rc", ("sigmoid_grad", "tanh_grad", "gelu_grad")),
    )
    for name in names
}
# Functions that return a scalar.
SUMS = {
    "sum": Case(reduce.sum, "c->", reduce.SUM_VARIANTS),
    "dot": Case(dot.dot, "c,c->", dot.VARIANTS),
}
# Functions with other NaN propagation, which their own tests cover.
OTHERS = {
    "softmax": Case(softmax.softmax, "rc->rc", softmax.VARIANTS),
    "log_softmax": Case(softmax.log_softmax, "rc->rc"),
    "softmax_backward": Case(softmax.softmax_backward, "rc,rc->rc"),
    "log_softmax_backward": Case(softmax.log_softmax_backward, "rc,rc->rc"),
    "softmax of columns": Case(functools.partial(softmax.softmax, dim=0), "rc->rc"),
    "log_softmax of columns": Case(functools.partial(softmax.log_softmax, dim=0), "rc->rc"),
    "inclusive_scan": Case(scan.inclusive_scan, "c->c", scan.SCAN_VARIANTS),
    "exclusive_scan": Case(scan.exclusive_scan, "c->c", scan.SCAN_VARIANTS),
    "relu_grad": elementwise(activations_grad, "relu_grad", "rc,rc->rc"),
}
WITH_OUT = PRODUCTS | MAPS | OTHERS
EVERY = WITH_OUT | SUMS


def variants(cases):
    """Return pairs of the name of a case and of one of its variants."""
    return [
        (name, variant)
        for name, case in cases.items()
        for variant in [each.name for each in case.variants] or [None]
    ]


def call(name, variant, *arrays, **options):
    """Call a function with the named variant, where it has variants."""
    named = {} if variant is None else {"variant": variant}
    return EVERY[name].function(*arrays, **named, **options)


def dtypes_of(name, variant):
    """Return the number dtypes that a variant accepts, without uint16, the bits of bfloat16."""
    found = [each.dtypes for each in EVERY[name].variants if each.name == variant]
    return [dtype for dtype in (found or [launch.FLOATS])[0] if dtype is not np.uint16]


def axes_of(name):
    """Return each axis of a function, and all axes together."""
    axes = sorted(set("".join(EVERY[name].parts)))
    return axes if len(axes) == 1 else [*axes, "".join(axes)]


EMPTY = [
    (name, variant, axes, dtype)
    for name, variant in variants(WITH_OUT)
    for axes in axes_of(name)
    for dtype in dtypes_of(name, variant)
]


@pytest.mark.parametrize(("name", "variant", "axes", "dtype"), EMPTY)
@pytest.mark.costly
def test_an_empty_axis_gives_zeros_that_overwrite_out(name, variant, axes, dtype):
    arrays, shape = EVERY[name].arrays(SMALL | dict.fromkeys(axes, 0), dtype)
    out = np.full(shape, np.nan if np.issubdtype(dtype, np.floating) else -1, dtype)
    assert call(name, variant, *arrays, out=out) is out
    np.testing.assert_array_equal(out, np.zeros(shape, dtype), strict=True)


@pytest.mark.parametrize(
    ("name", "variant", "dtype"),
    [(*case, dtype) for case in variants(SUMS) for dtype in dtypes_of(*case)],
)
def test_an_empty_sum_is_zero_in_its_dtype(name, variant, dtype):
    arrays, _ = EVERY[name].arrays({"c": 0}, dtype)
    actual = call(name, variant, *arrays)
    assert (actual, actual.dtype) == (0, dtype)


@pytest.mark.parametrize(("name", "variant"), variants(PRODUCTS | MAPS | SUMS))
@pytest.mark.costly
def test_a_nan_reaches_exactly_the_elements_that_depend_on_it(name, variant):
    case = EVERY[name]
    arrays, _ = case.arrays(LARGE)
    for at, array in enumerate(arrays):
        inputs = [array.copy() for array in arrays]
        for place in (0, 31, 32, max(array.shape) // 2, max(array.shape) - 1):
            inputs[at][tuple(min(place, n - 1) for n in array.shape)] = np.nan
        masks = [np.isnan(array) if k == at else array > 0 for k, array in enumerate(inputs)]
        expected = np.einsum(case.line, *(mask.astype(np.int64) for mask in masks)) > 0
        np.testing.assert_array_equal(np.isnan(call(name, variant, *inputs)), expected)


@pytest.mark.parametrize("edges", [1, 2], ids=["rows", "rows and columns"])
@pytest.mark.parametrize(("name", "variant"), variants(WITH_OUT))
@pytest.mark.costly
def test_memory_around_out_is_unchanged(name, variant, edges):
    arrays, shape = EVERY[name].arrays(LARGE)
    whole = np.full([n + 8 * (axis < edges) for axis, n in enumerate(shape)], 7, np.float32)
    part = whole[(slice(4, -4),) * min(edges, len(shape))]
    part[...] = np.nan
    call(name, variant, *arrays, out=part)
    assert not np.isnan(part).any()
    part[...] = 7
    assert (whole == 7).all()
