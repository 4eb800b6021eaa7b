"""Embedding and its gradient against PyTorch's."""

import numpy as np
import torch
import torch.nn.functional as F
from hypothesis import given
from hypothesis import strategies as st

import gpukit
from tests.against_torch.torch_agreement import assert_agrees, dtypes, many, numbers, seeds, tensor

sizes = st.integers(1, 40)
shapes = st.lists(st.integers(0, 6), max_size=3).map(tuple)


@many
@given(
    shape=shapes,
    rows=sizes,
    cols=sizes,
    seed=seeds,
    dtype=dtypes,
    index_dtype=st.sampled_from([np.int32, np.int64]),
    variant=st.sampled_from(["atomic", "column"]),
)
def test_embedding_and_its_gradient_agree(shape, rows, cols, seed, dtype, index_dtype, variant):
    index = np.asarray(np.random.default_rng(seed).integers(0, rows, shape, index_dtype))
    weight, grad = numbers(seed, rows, cols, dtype=dtype), numbers(seed, *shape, cols, dtype=dtype)
    leaf = tensor(weight, grad=True)
    theirs = F.embedding(torch.from_numpy(index), leaf)
    assert_agrees(gpukit.embedding(index, weight), theirs, terms=0)
    theirs.backward(tensor(grad))
    made = gpukit.embedding_backward(grad, index, rows, variant=variant)
    assert_agrees(made, leaf.grad, terms=max(index.size, 1))
