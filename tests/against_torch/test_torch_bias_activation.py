"""Bias and activation in one pass, and the backward pass of a network, against PyTorch's."""

import pytest
import torch
import torch.nn.functional as F
from hypothesis import given
from hypothesis import strategies as st

import gpukit
from gpukit.kernels.backprop import sharing
from tests.against_torch.torch_agreement import assert_agrees, dtypes, many, numbers, seeds, tensor

sizes = st.integers(1, 40)


@pytest.mark.parametrize("name", ["relu", "gelu"])
@many
@given(rows=sizes, cols=sizes, seed=seeds, dtype=dtypes)
def test_bias_and_activation_agree(name, rows, cols, seed, dtype):
    x, bias, grad = (
        numbers(seed + k, *shape, dtype=dtype)
        for k, shape in enumerate(((rows, cols), (cols,), (rows, cols)))
    )
    leaves = [tensor(a, grad=True) for a in (x, bias)]
    theirs = getattr(F, name)(leaves[0] + leaves[1])
    theirs.backward(tensor(grad))
    if name == "relu":
        y = gpukit.bias_relu(x, bias)
        made = gpukit.bias_relu_backward(grad, y)
    else:
        y = gpukit.bias_gelu(x, bias)
        made = gpukit.bias_gelu_backward(grad, x, bias)
    assert_agrees(y, theirs, terms=8)
    for ours, leaf in zip(made, leaves, strict=True):
        assert_agrees(ours, leaf.grad, terms=8 * rows)


@many
@given(
    n=sizes,
    widths=st.lists(sizes, min_size=2, max_size=4),
    seed=seeds,
    dtype=dtypes,
    way=st.sampled_from(list(sharing.WAYS)),
)
def test_backward_pass_of_a_network_agrees(n, widths, seed, dtype, way):
    x, grad = numbers(seed, n, widths[0], dtype=dtype), numbers(seed, n, widths[-1], dtype=dtype)
    pairs = zip(widths[1:], widths, strict=False)
    weights = [numbers(seed + k, *shape, dtype=dtype) for k, shape in enumerate(pairs, 1)]
    leaves, theirs = [tensor(w, grad=True) for w in weights], tensor(x)
    for leaf in leaves:
        theirs = torch.sigmoid(theirs @ leaf.T)
    theirs.backward(tensor(grad))
    made = gpukit.mlp_backward(grad, x, gpukit.mlp(x, weights), weights, variant=way)
    for ours, leaf in zip(made, leaves, strict=True):
        assert_agrees(ours, leaf.grad, terms=8 * max(n, *widths))
