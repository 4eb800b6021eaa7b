"""Cross-entropy, the squared error and their gradients against PyTorch's."""

import numpy as np
import torch.nn.functional as F
from hypothesis import given
from hypothesis import strategies as st

import gpukit
from tests.against_torch.torch_agreement import assert_agrees, dtypes, many, numbers, seeds, tensor

reductions = st.sampled_from(["mean", "sum", "none"])
shapes = st.lists(st.integers(0, 12), max_size=4)


def labels(seed, n, classes, ignored, share, dtype):
    """Return classes, of which a share is to be ignored."""
    rng = np.random.default_rng((seed, n, classes))
    made = rng.integers(0, classes, n).astype(dtype)
    made[rng.random(n) < share] = ignored
    return made


def upstream(seed, reduction, shape, dtype):
    """Return a gradient of the loss: one number, or one for each loss."""
    return numbers(seed + 1, *(shape if reduction == "none" else ()), dtype=dtype)


@many
@given(
    n=st.integers(0, 40),
    classes=st.integers(1, 70),
    seed=seeds,
    dtype=dtypes,
    scale=st.sampled_from([1, 30]),
    reduction=reductions,
    ignored=st.sampled_from([-100, -1, 0]),
    share=st.sampled_from([0, 0.3, 1]),
    places=st.sampled_from([np.int32, np.int64]),
)
def test_cross_entropy_and_its_gradient_agree(
    n, classes, seed, dtype, scale, reduction, ignored, share, places
):
    x = (scale * numbers(seed, n, classes)).astype(dtype)
    target = labels(seed, n, classes, ignored, share, places)
    grad, leaf = upstream(seed, reduction, (n,), dtype), tensor(x, grad=True)
    wanted = tensor(target.astype(np.int64))
    theirs = F.cross_entropy(leaf, wanted, reduction=reduction, ignore_index=ignored)
    size = max(1, np.abs(x).max(initial=0)) * (n if reduction == "sum" else 1)
    tolerance = {"terms": classes + n, "magnitude": size}
    options = {"reduction": reduction, "ignore_index": ignored}
    assert_agrees(gpukit.cross_entropy(x, target, **options), theirs, **tolerance)
    theirs.backward(tensor(grad))
    tolerance["magnitude"] = max(1, np.abs(grad).max(initial=0))
    tolerance["terms"] += 8 * scale
    ours = gpukit.cross_entropy_backward(x, target, **options, grad_out=grad)
    assert_agrees(ours, leaf.grad, **tolerance)


@many
@given(
    n=st.integers(1, 40), classes=st.integers(1, 70), seed=seeds, dtype=dtypes, reduction=reductions
)
def test_loss_and_gradient_from_one_launch_agree(n, classes, seed, dtype, reduction):
    x, target = numbers(seed, n, classes, dtype=dtype), labels(seed, n, classes, -100, 0, np.int64)
    leaf = tensor(x, grad=True)
    theirs = F.cross_entropy(leaf, tensor(target), reduction=reduction)
    loss, grad = gpukit.cross_entropy_with_grad(x, target, reduction)
    assert_agrees(loss, theirs, terms=classes + n)
    theirs.sum().backward()
    assert_agrees(grad, leaf.grad, terms=classes)


@many
@given(shapes, seeds, dtypes, reductions)
def test_mse_loss_and_its_gradient_agree(shape, seed, dtype, reduction):
    x, target = (numbers(seed + 2 * k, *shape, dtype=dtype) for k in range(2))
    grad, leaf = upstream(seed, reduction, shape, dtype), tensor(x, grad=True)
    theirs = F.mse_loss(leaf, tensor(target), reduction=reduction)
    assert_agrees(gpukit.mse_loss(x, target, reduction), theirs, terms=x.size)
    theirs.backward(tensor(grad))
    assert_agrees(gpukit.mse_loss_backward(x, target, reduction, grad_out=grad), leaf.grad, terms=4)
