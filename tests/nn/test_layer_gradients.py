"""Gradients of every layer against finite differences in float64."""

import numpy as np
import pytest

import gpukit
from gpukit import cuda, launch, nn
from gpukit.nn.parameters import parts_of

IMAGES = (2, 4, 6, 5)
LAYERS = {
    "linear": (lambda: nn.Linear(5, 3), (4, 5)),
    "linear of three axes": (lambda: nn.Linear(5, 3), (2, 4, 5)),
    "linear without bias": (lambda: nn.Linear(5, 3, bias=False), (4, 5)),
    "relu": (nn.ReLU, (4, 5)),
    "sigmoid": (nn.Sigmoid, (4, 5)),
    "tanh": (nn.Tanh, (4, 5)),
    "gelu": (nn.GELU, (2, 4, 5)),
    "flatten": (nn.Flatten, (2, 3, 4)),
    "conv2d": (lambda: nn.Conv2d(4, 6, 3, padding=1, stride=2, groups=2), IMAGES),
    "conv2d without bias": (lambda: nn.Conv2d(4, 3, (2, 3), bias=False), IMAGES),
    "max pool": (lambda: nn.MaxPool2d(2), IMAGES),
    "overlapping max pool": (lambda: nn.MaxPool2d(3, 2, 1), IMAGES),
    "average pool": (lambda: nn.AvgPool2d(2), IMAGES),
    "layer norm": (lambda: nn.LayerNorm(5), (3, 4, 5)),
    "batch norm": (lambda: nn.BatchNorm(4), IMAGES),
    "dropout": (lambda: nn.Dropout(0.3, seed=1), (4, 5)),
    "rnn": (lambda: nn.RNN(4, 3), (5, 2, 4)),
    "rnn of one step": (lambda: nn.RNN(4, 3), (1, 2, 4)),
    "lstm": (lambda: nn.LSTM(4, 3), (5, 2, 4)),
    "gru": (lambda: nn.GRU(4, 3), (5, 2, 4)),
    "attention": (lambda: nn.MultiHeadAttention(6, 2), (2, 4, 6)),
    "causal attention": (lambda: nn.MultiHeadAttention(4, 1, causal=True), (3, 5, 4)),
    "positions": (lambda: nn.Positions(4, 3), (5, 4, 3)),
    "residual": (lambda: nn.Residual(nn.Linear(5, 5), nn.Tanh()), (4, 5)),
    "residual of images": (lambda: nn.Residual(nn.Conv2d(4, 4, 3, padding=1)), IMAGES),
    "sequential": (
        lambda: nn.Sequential(nn.Conv2d(4, 2, 3), nn.Tanh(), nn.Flatten(), nn.Linear(24, 3)),
        IMAGES,
    ),
}


class Pair:
    """A layer of two inputs, wrapped to take them concatenated as (N, T + S, width)."""

    def __init__(self, layer, split):
        self.layers, self.split = (layer,), split

    def forward(self, x):
        parts = x.copy_to_host()
        first, second = parts[:, : self.split].copy(), parts[:, self.split :].copy()
        return self.layers[0].forward(cuda.to_device(first), cuda.to_device(second))

    def backward(self, saved, grad):
        grads = self.layers[0].backward(saved, grad)
        return cuda.to_device(np.concatenate([launch.to_host(grad) for grad in grads], axis=1))


LAYERS |= {
    "cross attention": (lambda: Pair(nn.CrossAttention(4, 2), 3), (2, 8, 4)),
    "fewer positions": (lambda: nn.Positions(7, 3), (5, 4, 3)),
    "block": (lambda: nn.block(4, 2, causal=True), (2, 3, 4)),
}


@pytest.mark.parametrize("name", LAYERS)
@pytest.mark.costly
@pytest.mark.slow
def test_gradients_of_a_layer_match_finite_differences(name):
    make, shape = LAYERS[name]
    rng, layer = np.random.default_rng(7), make()
    nn.Parameters(layer, seed=3, dtype=np.float64)
    learned = [parameter for _, parameter in parts_of(layer, nn.Parameter)]
    counts = [buffer for _, buffer in parts_of(layer, nn.Buffer) if buffer.on_host]

    def run(x, *weights):
        for parameter, weight in zip(learned, weights, strict=True):
            parameter.value.copy_to_device(weight)
            parameter.grad.copy_to_device(np.full_like(weight, np.nan))
        for count in counts:
            count.value[...] = 0  # dropout uses the same mask in every call
        return layer.forward(cuda.to_device(x))

    def backward(grad, *inputs):
        _, saved = run(*inputs)
        grads = layer.backward(saved, cuda.to_device(grad)), *(p.grad for p in learned)
        return [launch.to_host(grad) for grad in grads]

    x = rng.uniform(0.1, 2, shape) * rng.choice([-1, 1], shape)  # away from relu's kink
    inputs = [x, *(rng.normal(0, 1, parameter.shape) for parameter in learned)]
    assert gpukit.gradcheck(lambda *inputs: run(*inputs)[0], backward, inputs, rtol=1e-5)


def test_gradient_of_an_embedding_sums_over_occurrences_of_a_token():
    layer = nn.Embedding(5, 3)
    nn.Parameters(layer, seed=0, dtype=np.float64)
    _, saved = layer.forward(cuda.to_device(np.array([[1, 4], [1, 0]], np.int32)))
    grad = np.arange(12.0).reshape(2, 2, 3)
    assert layer.backward(saved, cuda.to_device(grad)) is None
    expected = [grad[1, 1], grad[0, 0] + grad[1, 0], np.zeros(3), np.zeros(3), grad[0, 1]]
    np.testing.assert_array_equal(launch.to_host(layer.weight.grad), expected)


@pytest.mark.parametrize(
    "make", [nn.Linear, lambda *n, **k: nn.Conv2d(*n, 1, **k)], ids=["linear", "conv2d"]
)
def test_the_first_layer_of_a_model_returns_no_gradient_of_x(make):
    shape = (3, 4) if make is nn.Linear else (3, 4, 2, 2)
    x = cuda.to_device(np.random.default_rng(0).standard_normal(shape))
    grads = []
    for first in (False, True):
        layer = make(4, 2, first=first)
        nn.Parameters(layer, seed=0, dtype=np.float64)
        out, saved = layer.forward(x)
        assert (layer.backward(saved, out) is None) == first
        grads.append(launch.to_host(layer.weight.grad))
    np.testing.assert_array_equal(*grads)


@pytest.mark.slow
def test_gradients_of_an_encoder_and_decoder_match_finite_differences():
    rng, model = np.random.default_rng(7), nn.Transformer(4, 3, 2, 2, 1)
    parameters = nn.Parameters(model, seed=3, dtype=np.float64)
    pair = tuple(cuda.to_device(rng.integers(0, 4, (2, n)).astype(np.int32)) for n in (3, 2))

    def run(weights):
        parameters.value.copy_to_device(weights)
        return model.forward(pair)

    def backward(grad, weights):
        for _, parameter in parts_of(model, nn.Parameter):
            parameter.grad.copy_to_device(np.full(parameter.shape, np.nan))
        model.backward(run(weights)[1], cuda.to_device(grad))
        return [launch.to_host(parameters.grad)]

    weights = rng.normal(0, 0.5, parameters.value.shape)
    assert gpukit.gradcheck(lambda w: run(w)[0], backward, [weights], rtol=1e-5)
