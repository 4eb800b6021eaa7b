"""Container layers: Sequential, Residual."""

import numpy as np
import pytest

from gpukit import cuda, launch, nn


def inputs(*shape):
    return cuda.to_device(np.arange(1, np.prod(shape) + 1, dtype=np.float32).reshape(shape))


def test_a_layer_that_rejects_its_input_is_named_with_the_shape_it_got():
    model = nn.Sequential(nn.Linear(4, 3), nn.ReLU(), nn.Linear(5, 2))
    nn.Parameters(model, seed=0)
    words = r"layer 2, Linear, given x of shape \(2, 3\) and dtype float32: linear: expected"
    with pytest.raises(ValueError, match=words):
        model.forward(inputs(2, 4))


def test_nested_layers_are_named_from_the_outside_in():
    model = nn.Sequential(nn.ReLU(), nn.Residual(nn.ReLU(), nn.Linear(5, 4)))
    nn.Parameters(model, seed=0)
    with pytest.raises(ValueError, match=r"layer 1, Residual, .*layer 1, Linear, given x of shape"):
        model.forward(inputs(2, 4))


def test_parameter_names_contain_the_path_of_their_layer():
    model = nn.Sequential(nn.Linear(2, 3), nn.Residual(nn.ReLU(), nn.Linear(3, 3, bias=False)))
    names = nn.Parameters(model, seed=0).names
    assert names == ["0.weight", "0.bias", "1.0.1.weight"]


def test_parameter_count_is_the_number_of_trainable_values():
    assert len(nn.Parameters(nn.Sequential(nn.Linear(2, 3), nn.BatchNorm(3)), seed=0)) == 15


def test_a_residual_adds_the_output_of_its_layers_to_their_input():
    layer = nn.Residual(nn.ReLU())
    out, _ = layer.forward(inputs(2, 3))
    np.testing.assert_array_equal(launch.to_host(out), 2 * launch.to_host(inputs(2, 3)))


def test_the_same_seed_gives_the_same_weights():
    first, second, other = (
        nn.Parameters(nn.Linear(3, 2), seed=seed).state()["weight"] for seed in (1, 1, 2)
    )
    np.testing.assert_array_equal(first, second)
    assert (first != other).any()


def test_backward_skips_layers_before_the_first_trainable_one():
    model = nn.Sequential(nn.Flatten(), nn.Linear(6, 4, first=True), nn.ReLU())
    parameters = nn.Parameters(model, seed=0)
    out, saved = model.forward(cuda.to_device(np.ones((2, 3, 2), np.float32)))
    assert model.backward(saved, out) is None
    assert np.abs(launch.to_host(parameters.grad)).max() > 0


# --- Frozen ----------------------------------------------------------------------------------


def frozen_trunk():
    """Return a trunk with values, a model with it frozen and a head, and that head's parameters."""
    trunk = nn.Sequential(nn.Linear(6, 5), nn.Dropout(0.5), nn.Tanh())
    nn.Parameters(trunk, seed=1)
    model = nn.Sequential(nn.Frozen(trunk), nn.Linear(5, 3))
    return trunk, model, nn.Parameters(model, seed=2)


def test_frozen_layer_has_no_parameters_of_the_model():
    assert frozen_trunk()[2].names == ["1.weight", "1.bias"]


def test_frozen_layer_keeps_its_weights_in_training():
    trunk, model, parameters = frozen_trunk()
    before = trunk.layers[0].weight.value.copy_to_host()
    x = np.ones((4, 6), np.float32)
    optimizer = nn.AdamW(parameters, lr=0.1, weight_decay=0.5)
    loader = nn.Loader(x, np.zeros(4, int), batch=4)
    nn.fit(model, optimizer, loader, epochs=3, report=False)
    np.testing.assert_array_equal(trunk.layers[0].weight.value.copy_to_host(), before)


def test_frozen_layer_drops_nothing():
    _, model, _ = frozen_trunk()
    x = cuda.to_device(np.ones((4, 6), np.float32))
    first, second = (model.forward(x)[0].copy_to_host() for _ in range(2))
    np.testing.assert_array_equal(first, second)


def test_frozen_layer_inside_a_model_passes_the_gradient_on():
    inner = nn.Linear(4, 3)
    nn.Parameters(inner, seed=1)
    frozen = nn.Frozen(inner, first=False)
    x = cuda.to_device(np.ones((2, 4), np.float32))
    _, saved = frozen.forward(x)
    grad = cuda.to_device(np.ones((2, 3), np.float32))
    expected = np.ones((2, 3)) @ inner.weight.value.copy_to_host()
    np.testing.assert_allclose(frozen.backward(saved, grad).copy_to_host(), expected, rtol=1e-6)
