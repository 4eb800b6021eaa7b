"""Layer norm and batch norm, with their gradients, against PyTorch's."""

import math

import numpy as np
import torch
import torch.nn.functional as F
from hypothesis import given
from hypothesis import strategies as st

import gpukit
from tests.against_torch.torch_agreement import assert_agrees, dtypes, many, numbers, seeds, tensor

sizes = st.integers(1, 12)
EPS = 1e-3  # rows of two numbers that are nearly equal would lose all their digits


def magnitude(*arrays):
    """Return the largest of some arrays, and of the reciprocal of the root of eps: all of rstd."""
    return max(1.0, *(float(np.abs(a).max(initial=0)) for a in arrays)) ** 2 / EPS**0.5


@many
@given(
    outer=st.lists(sizes, max_size=2).map(tuple),
    inner=st.lists(sizes, min_size=1, max_size=2),
    weighted=st.booleans(),
    biased=st.booleans(),
    variant=st.sampled_from(["two_pass", "block"]),
    seed=seeds,
    dtype=dtypes,
)
def test_layer_norm_and_its_gradients_agree(outer, inner, weighted, biased, variant, seed, dtype):
    inner = tuple(inner)
    x, grad = (
        numbers(seed, *outer, *inner, dtype=dtype),
        numbers(seed + 1, *outer, *inner, dtype=dtype),
    )
    weight, bias = numbers(seed + 2, *inner, dtype=dtype), numbers(seed + 3, *inner, dtype=dtype)
    leaves = [tensor(a, grad=True) for a in (x, weight, bias)]
    chosen = leaves[1] if weighted else None, leaves[2] if biased else None
    theirs = F.layer_norm(leaves[0], inner, *chosen, eps=EPS)
    ours = weight if weighted else None, bias if biased else None
    out, mean, rstd = gpukit.layer_norm(x, inner, *ours, EPS, variant=variant, return_stats=True)
    terms, large = math.prod(inner), magnitude(x, grad, weight, bias)
    assert_agrees(out, theirs, terms=terms, magnitude=large)
    theirs.backward(tensor(grad))
    made = gpukit.layer_norm_backward(grad, x, mean, rstd, ours[0])
    for gradient, leaf in zip(made, leaves, strict=True):
        if leaf.grad is not None:
            terms = max(math.prod(inner), math.prod(outer))
            assert_agrees(gradient, leaf.grad, terms=terms, magnitude=large / EPS**0.5)


@many
@given(
    n=sizes,
    c=sizes,
    places=st.lists(sizes, max_size=2).map(tuple),
    training=st.booleans(),
    momentum=st.floats(0, 1),
    seed=seeds,
    dtype=dtypes,
)
def test_batch_norm_and_its_gradients_agree(n, c, places, training, momentum, seed, dtype):
    if n * math.prod(places) == 1:
        n = 2
    shape = (n, c, *places)
    x, grad = numbers(seed, *shape, dtype=dtype), numbers(seed + 1, *shape, dtype=dtype)
    mean, var, weight, bias = (numbers(seed + k, c, dtype=dtype) for k in range(2, 6))
    var = np.abs(var)
    leaves = [tensor(a, grad=True) for a in (x, weight, bias)]
    running = tensor(mean), tensor(var)
    theirs = F.batch_norm(leaves[0], *running, *leaves[1:], training, momentum, EPS)
    out, *known = gpukit.batch_norm(
        x, mean, var, weight, bias, training, momentum, EPS, return_stats=True
    )
    terms, large = n * math.prod(places), magnitude(x, grad, weight, bias)
    assert_agrees(out, theirs, terms=terms, magnitude=large)
    for ours, other in zip((mean, var), running, strict=True):
        assert_agrees(ours, other, terms=terms, magnitude=large)
    theirs.backward(tensor(grad))
    made = gpukit.batch_norm_backward(grad, x, *known, weight, training, EPS)
    for gradient, leaf in zip(made, leaves, strict=True):
        assert_agrees(gradient, leaf.grad, terms=terms, magnitude=large / EPS**0.5)


@many
@given(p=st.floats(0, 1), n=st.integers(1, 3000), seed=seeds, dtype=dtypes)
def test_dropout_scales_as_pytorch_does(p, n, seed, dtype):
    """The masks are drawn by other generators: ours, given to PyTorch, makes the same numbers."""
    x = numbers(seed, n, dtype=dtype) + 3
    kept = gpukit.rand(n, seed=seed) >= np.float32(p)
    theirs = tensor(x) * torch.from_numpy(kept) / (1 - p if p < 1 else 1)
    assert_agrees(gpukit.dropout(x, p, seed=seed), theirs, terms=2)
