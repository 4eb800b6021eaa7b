"""Attention and its gradients against PyTorch's."""

import numpy as np
import torch.nn.functional as F
from hypothesis import given
from hypothesis import strategies as st

import gpukit
from tests.against_torch.agreement import assert_agrees, dtypes, many, numbers, seeds, tensor

lengths = st.integers(1, 70)
widths = st.integers(1, 70)  # beyond the 64 columns of a tile
# With a causal mask PyTorch multiplies -inf by the scale, and 0 makes NaN of it.
scales = st.floats(-1, 1).filter(lambda scale: abs(scale) > 1e-6)


@many
@given(
    heads=st.tuples(st.integers(1, 3), st.integers(1, 3)), rows=lengths, keys=lengths, d=widths,
    dv=widths, causal=st.booleans(), scale=st.none() | scales, turned=st.booleans(),
    masked=st.none() | st.tuples(*[st.booleans()] * 5),
    rung=st.sampled_from(["naive", "tiled"]), seed=seeds, dtype=dtypes,
)  # fmt: skip
def test_attention_and_its_gradients_agree(
    heads, rows, keys, d, dv, causal, scale, turned, masked, rung, seed, dtype
):
    """Also where the axes of heads and lengths lie exchanged in memory, and with masks."""
    shapes = (rows, d), (keys, d), (keys, dv), (rows, dv)
    arrays = [numbers(seed, *heads, *shape, dtype=dtype) for shape in shapes]
    leaves = [tensor(x, grad=True) for x in arrays[:3]]
    mask = None
    if masked and not causal:  # PyTorch takes one of both
        *whole, keeps = masked
        full = (*heads, rows, keys)
        shape = [n if all_ else 1 for n, all_ in zip(full, whole, strict=True)]
        mask = numbers(seed + 9, *shape, dtype=dtype)
        if keeps:
            mask = mask > 0
            mask[..., 0] = True  # no query without a key
    attn_mask = None if mask is None else tensor(mask)
    theirs = F.scaled_dot_product_attention(*leaves, attn_mask, is_causal=causal, scale=scale)
    theirs.backward(tensor(arrays[3]))
    if turned:
        arrays = [np.ascontiguousarray(x.swapaxes(1, 2)).swapaxes(1, 2) for x in arrays]
    kept = np.full((*heads, rows), np.nan, dtype)
    options = {"is_causal": causal, "scale": scale, "attn_mask": mask, "rung": rung}
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
