"""int8 after training: outputs near those of float32, from integers that are exact."""

import numpy as np
import pytest

from gpukit import cuda, launch, nn
from gpukit.nn.quantization import QuantizedLinear

RNG = np.random.default_rng(14)
X = RNG.standard_normal((40, 12), np.float32)


def trained(*layers):
    model = nn.Sequential(*layers)
    nn.Parameters(model, seed=0)
    return model


def quantized(x, scale):
    return np.clip(np.rint(x / scale), -127, 127)


def test_a_quantized_layer_computes_with_integers_of_both_scales():
    model = trained(nn.Linear(12, 5))
    (layer,) = nn.quantized(model, X).layers
    weight, bias = (
        launch.to_host(part.value) for part in (model.layers[0].weight, model.layers[0].bias)
    )
    x_scale, scale = np.abs(X).max() / np.float32(127), np.abs(weight).max(axis=1) / np.float32(127)
    sums = quantized(X, x_scale) @ quantized(weight, scale[:, None]).T
    out, _ = layer.forward(cuda.to_device(X))
    np.testing.assert_allclose(
        launch.to_host(out), sums * (x_scale * scale) + bias, rtol=1e-5, atol=1e-6
    )


@pytest.mark.parametrize("n", [1, 2, 40])
@pytest.mark.parametrize("inputs", [11, 12])
def test_outputs_are_near_those_of_the_model(n, inputs):
    x = X[:, :inputs]
    model = trained(
        nn.Linear(inputs, 32), nn.GELU(), nn.Residual(nn.Linear(32, 32)), nn.Linear(32, 3)
    )
    right = nn.predict(model, x[:n])
    made = nn.predict(nn.quantized(model, x), x[:n])
    assert np.abs(made - right).max() < 0.05 * np.abs(right).max()
    assert (made != right).any()


def test_one_row_has_the_bits_of_the_same_row_in_a_batch():
    small = nn.quantized(trained(nn.Linear(12, 7)), X)
    np.testing.assert_array_equal(nn.predict(small, X[3:4])[0], nn.predict(small, X)[3])


def test_inputs_beyond_those_of_calibration_are_limited():
    model = trained(nn.Linear(12, 7, bias=False))
    small = nn.quantized(model, X)
    most = np.abs(X).max()
    np.testing.assert_array_equal(
        nn.predict(small, np.full((1, 12), 50 * most, np.float32)),
        nn.predict(small, np.full((1, 12), most, np.float32)),
    )


def test_weights_take_a_quarter_of_the_bytes_and_a_scale_per_output():
    (layer,) = nn.quantized(trained(nn.Linear(12, 5)), X).layers
    assert (layer.weight.dtype, layer.weight.nbytes) == (np.int8, 60)
    assert layer.scale.shape == (5,)


def test_dense_layers_are_replaced_and_the_model_stays_as_it_was():
    model = trained(nn.Linear(12, 8), nn.Residual(nn.Linear(8, 8)), nn.ReLU())
    small = nn.quantized(model, X)
    assert type(small.layers[0]) is type(small.layers[1].layers[0].layers[0]) is QuantizedLinear
    assert small.layers[2] is model.layers[2]
    assert type(model.layers[0]) is nn.Linear


def test_calibration_drops_nothing():
    model = trained(nn.Dropout(0.5, seed=1), nn.Linear(12, 5))
    layer = nn.quantized(model, X).layers[1]
    assert launch.to_host(layer.x_scale)[0] == np.abs(X).max() / np.float32(127)
    assert model.layers[0].training


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_examples_that_are_not_finite_are_refused(value):
    wrong = X.copy()
    wrong[3, 2] = value
    with pytest.raises(
        ValueError, match="quantized: expected finite inputs of every layer, got NaN"
    ):
        nn.quantized(trained(nn.Linear(12, 5)), wrong)


@pytest.mark.slow
def test_digits_are_decided_as_by_float32():
    train, test = nn.digits()
    model = nn.Sequential(nn.Flatten(), nn.Linear(64, 32), nn.ReLU(), nn.Linear(32, 10))
    parameters = nn.Parameters(model, seed=0)
    loader = nn.Loader(*train, batch=64)
    nn.fit(model, nn.AdamW(parameters, lr=1e-2), loader, epochs=5, report=False)
    small = nn.quantized(model, train[0][:256])
    assert abs(nn.accuracy(small, *test) - nn.accuracy(model, *test)) <= 0.005
