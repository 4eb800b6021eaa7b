"""Softmax, its logarithm and their gradients against PyTorch's, along every axis."""

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from hypothesis import given
from hypothesis import strategies as st

import gpukit
from gpukit.kernels import softmax
from tests.against_torch.torch_agreement import assert_agrees, dtypes, many, numbers, seeds, tensor

shapes = st.lists(st.integers(1, 12), min_size=1, max_size=4)
variants = st.sampled_from([variant.name for variant in softmax.VARIANTS])
NAN, INF = np.nan, np.inf


def drawn(shape, dim, seed, scale, dtype):
    """Return an input, a gradient, an axis of theirs, and the input as a leaf of PyTorch's."""
    x, grad = scale * numbers(seed, *shape, dtype=dtype), numbers(seed + 1, *shape, dtype=dtype)
    return x.astype(dtype), grad, dim % (2 * len(shape)) - len(shape), tensor(x, grad=True)


@many
@given(shapes, st.integers(0, 7), seeds, st.sampled_from([1, 30]), dtypes, variants)
def test_softmax_and_its_gradient_agree(shape, dim, seed, scale, dtype, variant):
    x, grad, dim, leaf = drawn(shape, dim, seed, scale, dtype)
    y, theirs = gpukit.softmax(x, dim, variant=variant), F.softmax(leaf, dim)
    assert_agrees(y, theirs, terms=shape[dim] + scale * 4)
    theirs.backward(tensor(grad))
    ours = gpukit.softmax_backward(grad, y, dim)
    assert_agrees(ours, leaf.grad, terms=2 * shape[dim] + scale * 8, magnitude=np.abs(grad).max())


@many
@given(shapes, st.integers(0, 7), seeds, st.sampled_from([1, 30]), dtypes)
def test_log_softmax_and_its_gradient_agree(shape, dim, seed, scale, dtype):
    x, grad, dim, leaf = drawn(shape, dim, seed, scale, dtype)
    y, theirs = gpukit.log_softmax(x, dim), F.log_softmax(leaf, dim)
    assert_agrees(y, theirs, terms=shape[dim])
    theirs.backward(tensor(grad))
    ours = gpukit.log_softmax_backward(grad, y, dim)
    tolerance = np.abs(grad).sum(axis=dim).max()
    assert_agrees(ours, leaf.grad, terms=2 * shape[dim] + scale * 8, magnitude=tolerance)


@many
@given(
    st.lists(st.lists(st.sampled_from([NAN, INF, -INF, 0.0, 1.0]), min_size=5, max_size=5)),
    dtypes,
    variants,
    st.sampled_from([0, 1]),
)
def test_rows_with_infinities_and_nan_agree(rows, dtype, variant, dim):
    x = np.array(rows, dtype).reshape(-1, 5)
    if not len(x):
        return
    assert_agrees(gpukit.softmax(x, dim, variant=variant), F.softmax(tensor(x), dim), terms=5)
    assert_agrees(gpukit.log_softmax(x, dim), F.log_softmax(tensor(x), dim), terms=5)


@pytest.mark.parametrize("shape", [(), (0,), (3, 0), (0, 3)])
@pytest.mark.parametrize("dim", [0, -1])
def test_arrays_without_elements_or_axes_agree(shape, dim):
    x = np.ones(shape)
    assert_agrees(gpukit.softmax(x, dim), torch.softmax(tensor(x), dim), terms=1)
    assert_agrees(gpukit.log_softmax(x, dim), torch.log_softmax(tensor(x), dim), terms=1)
