"""Convolutions and their gradients against PyTorch's, every variant."""

import pytest
import torch
import torch.nn.functional as F
from hypothesis import given
from hypothesis import strategies as st

import gpukit
from gpukit.kernels import conv
from gpukit.kernels.conv import one_d
from tests.against_torch.torch_agreement import assert_agrees, dtypes, many, numbers, seeds, tensor

# Each filter in constant memory is compiled: a second.
VARIANTS = [variant.name for variant in conv.VARIANTS if variant.name != "constant"]


@st.composite
def layers(draw, axes=2):
    """Shapes of input and weight, and how the window moves: at least one window fits."""
    groups = draw(st.integers(1, 3))
    depth, group = draw(st.integers(1, 4)), draw(st.integers(1, 5))
    window, stride, padding, dilation = (
        [draw(st.integers(least, most)) for _ in range(axes)]
        for least, most in ((1, 4), (1, 3), (0, 3), (1, 3))
    )
    size = [
        max(1, draw(st.integers(0, 12)) + step * (n - 1) + 1 - 2 * pad)
        for n, pad, step in zip(window, padding, dilation, strict=True)
    ]
    shapes = (draw(st.integers(1, 3)), groups * depth, *size), (groups * group, depth, *window)
    moves = [values[0] if axes == 1 else tuple(values) for values in (stride, padding, dilation)]
    return *shapes, *moves, groups


@pytest.mark.parametrize("variant", VARIANTS)
@many
@given(layer=layers(), biased=st.booleans(), seed=seeds, dtype=dtypes)
def test_conv2d_agrees(variant, layer, biased, seed, dtype):
    image, weight, *moves = layer
    arrays = [numbers(seed, *shape, dtype=dtype) for shape in (image, weight, weight[:1])]
    given = arrays if biased else [*arrays[:2], None]
    ours = gpukit.conv2d(*given, *moves, variant=variant)
    theirs = F.conv2d(*(a if a is None else tensor(a) for a in given), *moves)
    assert_agrees(ours, theirs, terms=arrays[1][0].size + 1)


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_conv2d_with_weights_in_constant_memory_agrees(seed, dtype):
    arrays = [numbers(seed, *shape, dtype=dtype) for shape in ((2, 4, 7, 9), (6, 2, 2, 3), (6,))]
    moves = (1 + seed % 2, seed % 3, 1 + seed // 4, 2)
    theirs = F.conv2d(*map(tensor, arrays), *moves)
    assert_agrees(gpukit.conv2d(*arrays, *moves, variant="constant"), theirs, terms=13)


@pytest.mark.filterwarnings("ignore:Using padding='same':UserWarning")
@many
@given(layer=layers(), seed=seeds, dtype=dtypes)
def test_padding_in_words_agrees(layer, seed, dtype):
    image, weight, _, _, dilation, groups = layer
    image = (*image[:2], image[2] + 9, image[3] + 9)
    arrays = [numbers(seed, *shape, dtype=dtype) for shape in (image, weight)]
    for padding in ("same", "valid"):
        moves = None, 1, padding, dilation, groups
        theirs = F.conv2d(*map(tensor, arrays), *moves)
        assert_agrees(gpukit.conv2d(*arrays, *moves), theirs, terms=arrays[1][0].size)


@pytest.mark.parametrize("variant", [variant.name for variant in conv.BACKWARD_VARIANTS])
@many
@given(layer=layers(), seed=seeds, dtype=dtypes)
def test_gradients_of_conv2d_agree(variant, layer, seed, dtype):
    image, weight, *moves = layer
    arrays = [numbers(seed, *shape, dtype=dtype) for shape in (image, weight, weight[:1])]
    leaves = [tensor(a, grad=True) for a in arrays]
    out = F.conv2d(*leaves, *moves)
    grad_out = numbers(seed, *out.shape, dtype=dtype)
    out.backward(tensor(grad_out))
    made = gpukit.conv2d_backward(grad_out, *arrays[:2], *moves, variant=variant)
    # How many terms an element of the gradients of input, weight and bias has at most.
    terms = weight[0] * weight[2] * weight[3], grad_out[:, 0].size, grad_out[:, 0].size
    for ours, leaf, length in zip(made, leaves, terms, strict=True):
        assert_agrees(ours, leaf.grad, terms=length)


@pytest.mark.parametrize("variant", [variant.name for variant in one_d.VARIANTS])
@many
@given(layer=layers(axes=1), seed=seeds, dtype=dtypes)
def test_conv1d_agrees(variant, layer, seed, dtype):
    signal, weight, *moves = layer
    arrays = [numbers(seed, *shape, dtype=dtype) for shape in (signal, weight, weight[:1])]
    theirs = F.conv1d(*map(tensor, arrays), *moves)
    assert_agrees(
        gpukit.conv1d(*arrays, *moves, variant=variant), theirs, terms=arrays[1][0].size + 1
    )


@pytest.mark.parametrize("batch", [1, 3])
def test_the_example_layers_agree(batch):
    out = 16 if batch == 1 else 32
    shapes = (batch, 3, 224, 224), (out, 3, 3, 3), (out,)
    arrays = [numbers(1, *shape, dtype="float32") for shape in shapes]
    theirs = F.conv2d(*map(tensor, arrays), padding=1)
    assert_agrees(gpukit.conv2d(*arrays, padding=1), theirs, terms=28)


def test_tensors_of_pytorch_are_taken_as_they_are():
    x, weight = torch.ones(1, 1, 4, 4), torch.ones(1, 1, 2, 2)
    assert gpukit.conv2d(x, weight).tolist() == F.conv2d(x, weight).tolist()
