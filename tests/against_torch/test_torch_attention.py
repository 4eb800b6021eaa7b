"""Attention and its gradients against PyTorch's."""

import numpy as np
import torch.nn.functional as F
from hypothesis import given
from hypothesis import strategies as st

import gpukit
from tests.against_torch.torch_agreement import assert_agrees, dtypes, many, numbers, seeds, tensor

lengths = st.integers(1, 70)
widths = st.integers(1, 70)  # beyond the 64 columns of a tile


@many
@given(
    heads=st.tuples(st.integers(1, 3), st.integers(1, 3)),
    rows=lengths,
    keys=lengths,
    d=widths,
    dv=widths,
    causal=st.booleans(),
    scale=st.none() | st.floats(-1, 1),
    turned=st.booleans(),
    masked=st.none() | st.tuples(*[st.booleans()] * 5),
    variant=st.sampled_from(["naive", "tiled"]),
    seed=seeds,
    dtype=dtypes,
)
def test_attention_and_its_gradients_agree(
    heads, rows, keys, d, dv, causal, scale, turned, masked, variant, seed, dtype
):
    """Also where the axes of heads and lengths lie exchanged in memory, and with masks."""
    shapes = (rows, d), (keys, d), (keys, dv), (rows, dv)
    arrays = [numbers(seed, *heads, *shape, dtype=dtype) for shape in shapes]
    leaves = [tensor(x, grad=True) for x in arrays[:3]]
    full = (*heads, rows, keys)
    mask, seen = None, np.tril(np.ones(full, bool)) if causal else np.ones(full, bool)
    if masked:
        *whole, keeps = masked
        shape = [n if all_ else 1 for n, all_ in zip(full, whole, strict=True)]
        mask = numbers(seed + 9, *shape, dtype=dtype)
        if keeps:
            mask = mask > 0
            mask[..., 0] = True  # no query without a key
    # PyTorch's own is_causal is NaN for a scale of 0 or less.
    theirs_mask = (
        seen & mask if masked and keeps else np.where(seen, mask if masked else 0.0, -np.inf)
    )
    theirs = F.scaled_dot_product_attention(*leaves, tensor(theirs_mask), scale=scale)
    theirs.backward(tensor(arrays[3]))
    if turned:
        arrays = [np.ascontiguousarray(x.swapaxes(1, 2)).swapaxes(1, 2) for x in arrays]
    kept = np.full((*heads, rows), np.nan, dtype)
    options = {"is_causal": causal, "scale": scale, "attn_mask": mask, "variant": variant}
    out = gpukit.scaled_dot_product_attention(*arrays[:3], **options, logsumexp=kept)
    terms = d + keys + 8
    # A score of d products is off by some eps of its terms, and so is a weight by that part.
    size = 1 + d * abs(d**-0.5 if scale is None else scale)
    assert_agrees(out, theirs, terms=terms, magnitude=size * np.abs(arrays[2]).max())
    ours = gpukit.scaled_dot_product_attention_backward(
        arrays[3], *arrays[:3], out, kept, **options
    )
    for mine, leaf in zip(ours, leaves, strict=True):
        largest = max(1, float(leaf.grad.abs().max()))
        assert_agrees(mine, leaf.grad, terms=2 * terms + rows + dv, magnitude=size * largest)
