"""The dense layer and its gradients against PyTorch's."""

import torch.nn.functional as F
from hypothesis import given
from hypothesis import strategies as st

import gpukit
from tests.against_torch.torch_agreement import assert_agrees, dtypes, many, numbers, seeds, tensor

sizes = st.integers(1, 40)


@many
@given(n=sizes, i=sizes, o=sizes, seed=seeds, dtype=dtypes)
def test_linear_and_its_gradients_agree(n, i, o, seed, dtype):
    x, weight, bias, grad = (numbers(seed, *s, dtype=dtype) for s in ((n, i), (o, i), (o,), (n, o)))
    leaves = [tensor(a, grad=True) for a in (x, weight, bias)]
    theirs = F.linear(*leaves)
    assert_agrees(gpukit.linear(x, weight, bias), theirs, terms=i)
    assert_agrees(gpukit.linear(x, weight), F.linear(*leaves[:2]), terms=i)
    theirs.backward(tensor(grad))
    for ours, leaf in zip(gpukit.linear_backward(grad, x, weight), leaves, strict=True):
        assert_agrees(ours, leaf.grad, terms=max(n, o))
