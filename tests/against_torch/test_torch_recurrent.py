"""Cells of recurrent networks and their gradients against PyTorch's."""

import numpy as np
import torch
from hypothesis import given
from hypothesis import strategies as st

import gpukit
from tests.against_torch.torch_agreement import assert_agrees, dtypes, many, numbers, seeds, tensor

sizes = st.integers(1, 40)
variants = st.sampled_from(["fused", "separate"])
given_cell = given(
    n=sizes, i=sizes, h=sizes, biased=st.booleans(), variant=variants, seed=seeds, dtype=dtypes
)


def compare(name, gates, n, i, h, biased, seed, dtype, **options):
    """Hold one step and its gradients against the function of the same name of PyTorch."""
    count, wide = 2 if name == "lstm_cell" else 1, gates * h
    shapes = [(n, i), *[(n, h)] * count, (wide, i), (wide, h), *[(wide,)] * (2 * biased)]
    arrays = [numbers(seed + k, *shape, dtype=dtype) for k, shape in enumerate(shapes)]
    grads = [numbers(seed + 9 + k, n, h, dtype=dtype) for k in range(count)]
    leaves = [tensor(x, grad=True) for x in arrays]

    def arguments(x):
        return [x[0], tuple(x[1:3]) if count > 1 else x[1], *x[1 + count :]]

    def several(found):
        return found if isinstance(found, tuple) else (found,)

    theirs = several(getattr(torch, name)(*arguments(leaves)))
    torch.autograd.backward(theirs, [tensor(g) for g in grads])
    saved = np.full((3, n, wide), np.nan, dtype)
    ours = several(getattr(gpukit, name)(*arguments(arrays), saved=saved, **options))
    # Sums of i + h products, of which the slopes of gates make no more.
    size = max(1.0, *(float(x.detach().abs().max()) for x in theirs)) * (i + h) ** 0.5
    for mine, other in zip(ours, theirs, strict=True):
        assert_agrees(mine, other, terms=i + h, magnitude=size)
    kept = {"lstm_cell": (saved, ours[-1]), "gru_cell": (saved,)}.get(name, ours)
    made = getattr(gpukit, f"{name}_backward")(
        tuple(grads) if count > 1 else grads[0], *arguments(arrays)[:4], *kept
    )
    if "relu" in name and (np.abs(ours[0]) < 1e-4).any(where=ours[0] != 0):
        return  # near the kink the slope is a matter of rounding
    for mine, leaf in zip(made, leaves, strict=False):  # without biases ours are four and two more
        largest = max(1.0, float(leaf.grad.abs().max()))
        assert_agrees(mine, leaf.grad, terms=2 * (i + h + n), magnitude=size * largest)


@many
@given_cell
def test_lstm_cell_and_its_gradients_agree(n, i, h, biased, variant, seed, dtype):
    compare("lstm_cell", 4, n, i, h, biased, seed, dtype, variant=variant)


@many
@given_cell
def test_gru_cell_and_its_gradients_agree(n, i, h, biased, variant, seed, dtype):
    compare("gru_cell", 3, n, i, h, biased, seed, dtype, variant=variant)


@many
@given(
    n=sizes,
    i=sizes,
    h=sizes,
    biased=st.booleans(),
    kind=st.sampled_from(["tanh", "relu"]),
    seed=seeds,
    dtype=dtypes,
)
def test_plain_cells_and_their_gradients_agree(n, i, h, biased, kind, seed, dtype):
    compare(f"rnn_{kind}_cell", 1, n, i, h, biased, seed, dtype)
