"""Pooling and its gradients against PyTorch's."""

import numpy as np
import pytest
import torch.nn.functional as F
from hypothesis import given
from hypothesis import strategies as st

import gpukit
from gpukit.kernels import pool_grad
from tests.against_torch.torch_agreement import assert_agrees, dtypes, many, numbers, seeds, tensor


@st.composite
def layers(draw, dilated):
    """The shape of input, and how windows move: at least one fits, and sees a pixel."""
    window, stride = ([draw(st.integers(1, most)) for _ in range(2)] for most in (4, 4))
    dilation = [draw(st.integers(1, 3)) if dilated else 1 for _ in range(2)]
    reach = [step * (n - 1) + 1 for n, step in zip(window, dilation, strict=True)]
    padding = [draw(st.integers(0, n // 2)) for n in window]
    size = [span + draw(st.integers(0, 12)) for span in reach]
    image = draw(st.integers(1, 3)), draw(st.integers(1, 4)), *size
    moves = tuple(window), tuple(stride), tuple(padding), tuple(dilation)
    return image, moves if dilated else moves[:3]


@pytest.mark.parametrize("variant", [variant.name for variant in pool_grad.MAX_VARIANTS])
@many
@given(layer=layers(dilated=True), seed=seeds, dtype=dtypes)
def test_max_pool2d_and_its_gradient_agree(variant, layer, seed, dtype):
    image, moves = layer
    # Few different numbers, so that there are ties, and a NaN now and then.
    x = np.round(2 * numbers(seed, *image, dtype=dtype))
    x.reshape(-1)[seed % 97 :: 101] = np.nan
    leaf = tensor(x, grad=True)
    theirs, places = F.max_pool2d(leaf, *moves, return_indices=True)
    ours, indices = gpukit.max_pool2d(x, *moves, return_indices=True)
    assert_agrees(ours, theirs, terms=0)
    np.testing.assert_array_equal(indices, places.numpy())
    grad_out = numbers(seed, *ours.shape, dtype=dtype)
    theirs.backward(tensor(grad_out))
    made = gpukit.max_pool2d_backward(grad_out, indices, image, *moves, variant=variant)
    assert_agrees(made, leaf.grad, terms=16)


@many
@given(layer=layers(dilated=False), include=st.booleans(), seed=seeds, dtype=dtypes)
def test_avg_pool2d_and_its_gradient_agree(layer, include, seed, dtype):
    image, moves = layer
    x = numbers(seed, *image, dtype=dtype)
    leaf = tensor(x, grad=True)
    theirs = F.avg_pool2d(leaf, *moves, count_include_pad=include)
    ours = gpukit.avg_pool2d(x, *moves, include)
    assert_agrees(ours, theirs, terms=17)
    grad_out = numbers(seed, *ours.shape, dtype=dtype)
    theirs.backward(tensor(grad_out))
    made = gpukit.avg_pool2d_backward(grad_out, image, *moves, include)
    assert_agrees(made, leaf.grad, terms=17)
