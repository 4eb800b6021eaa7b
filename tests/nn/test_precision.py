"""Mixed precision: 16-bit products, master weights, and a loss scale that finds its value."""

import numpy as np
import pytest

from gpukit import cuda, launch, nn
from gpukit.nn.precision import LEAST, MixedLinear

RNG = np.random.default_rng(12)
X, LABELS = RNG.standard_normal((40, 12), np.float32), RNG.integers(0, 3, 40)

formats = pytest.mark.parametrize("dtype", ["float16", "bfloat16"])


def training(dtype="float16", **options):
    """A model with dense layers outside and inside other layers, and its mixed precision."""
    inner = nn.Residual(nn.LayerNorm(8), nn.Linear(8, 8), nn.GELU())
    model = nn.Sequential(nn.Linear(12, 8, first=True), nn.Tanh(), inner, nn.Linear(8, 3))
    parameters = nn.Parameters(model, seed=0)
    optimizer = nn.AdamW(parameters, lr=1e-2)
    return model, parameters, nn.MixedPrecision(model, optimizer, dtype=dtype, **options)


def one_step(mixed, times=1.0):
    """A step of the loop; its loss is weighted."""
    logits, saved = mixed.model.forward(cuda.to_device(X))
    loss, grad = nn.cross_entropy(logits, cuda.to_device(LABELS.astype(np.int32)))
    grad = cuda.to_device(launch.to_host(grad) * np.float32(times))
    mixed.model.backward(saved, grad)
    mixed.step()
    return float(launch.to_host(loss))


def rounded(x, dtype):
    """The float64 nearest to x in a format, without the functions under test."""
    if dtype == "float16":
        return x.astype(np.float16).astype(np.float64)
    step = np.ldexp(1.0, np.frexp(x.astype(np.float64))[1] - 8)
    return np.rint(x.astype(np.float64) / step) * step


# ---- the layer ------------------------------------------------------------------------------


@formats
@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("first", [True, False])
def test_a_dense_layer_multiplies_rounded_numbers_and_sums_in_float32(dtype, bias, first):
    model = nn.Linear(6, 5, bias=bias, first=first)
    parameters = nn.Parameters(model, seed=1)
    scale = 2.0**4 if dtype == "float16" else None
    mixed = nn.MixedPrecision(model, nn.SGD(parameters, lr=0.1), dtype=dtype, scale=scale)
    x, grad = (RNG.standard_normal(shape, np.float32) for shape in ((2, 4, 6), (2, 4, 5)))
    out, saved = mixed.model.forward(cuda.to_device(x))
    grad_x = mixed.model.backward(saved, cuda.to_device(grad))
    state = parameters.state()
    of_x, of_weight = rounded(x, dtype), rounded(state["weight"], dtype)
    right = of_x @ of_weight.T + state.get("bias", 0)
    np.testing.assert_allclose(launch.to_host(out), right, rtol=0, atol=1e-5)
    # Rounding commutes with a scale that is a power of two: gradients are not subnormal here.
    of_grad = rounded(grad, dtype)
    right = of_grad.reshape(-1, 5).T @ of_x.reshape(-1, 6)
    np.testing.assert_allclose(launch.to_host(model.weight.grad), right, rtol=0, atol=1e-5)
    if bias:
        right = grad.reshape(-1, 5).sum(axis=0)
        np.testing.assert_allclose(launch.to_host(model.bias.grad), right, rtol=0, atol=1e-5)
    if first:
        assert grad_x is None
    else:
        right = of_grad @ of_weight
        np.testing.assert_allclose(launch.to_host(grad_x), right, rtol=0, atol=1e-5)


@formats
def test_gradients_are_near_those_of_float32(dtype):
    model, parameters, mixed = training(dtype)
    label = cuda.to_device(LABELS.astype(np.int32))
    grads = []
    for each in (model, mixed.model):
        logits, saved = each.forward(cuda.to_device(X))
        each.backward(saved, nn.cross_entropy(logits, label)[1])
        grads.append(launch.to_host(parameters.grad).copy())
    off = np.abs(grads[1] - grads[0]).max() / np.abs(grads[0]).max()
    # Half of the last digit, and some products one after the other.
    assert 0 < off < 10 * {"float16": 2.0**-11, "bfloat16": 2.0**-8}[dtype]


@formats
def test_a_convolution_multiplies_rounded_numbers(dtype):
    model = nn.Conv2d(2, 4, 3, padding=1, stride=2, groups=2)
    parameters = nn.Parameters(model, seed=1)
    mixed = nn.MixedPrecision(model, nn.SGD(parameters, lr=0.1), dtype=dtype, scale=2.0**4)
    x, grad = (RNG.standard_normal(s, np.float32) for s in ((3, 2, 6, 5), (3, 4, 3, 3)))
    out, saved = mixed.model.forward(cuda.to_device(x))
    grad_x = mixed.model.backward(saved, cuda.to_device(grad))
    found = [launch.to_host(array).copy() for array in (out, grad_x, model.weight.grad)]
    # The same in float64 on rounded numbers: the float32 layer is tested elsewhere.
    exact = nn.Conv2d(2, 4, 3, padding=1, stride=2, groups=2)
    others = nn.Parameters(exact, seed=1, dtype=np.float64)
    state = parameters.state()
    others.load({**state, "weight": rounded(state["weight"], dtype)})
    right, saved = exact.forward(cuda.to_device(rounded(x, dtype)))
    right_x = exact.backward(saved, cuda.to_device(rounded(grad, dtype)))
    for one, other in zip(found, (right, right_x, exact.weight.grad), strict=True):
        np.testing.assert_allclose(one, launch.to_host(other), rtol=0, atol=2e-5)


def test_dense_layers_are_replaced_wherever_they_are_and_the_model_stays_as_it_was():
    model, parameters, mixed = training()
    kinds = [type(layer) for layer in mixed.model.layers]
    assert kinds == [MixedLinear, nn.Tanh, nn.Residual, MixedLinear]
    assert type(mixed.model.layers[2].layers[0].layers[1]) is MixedLinear
    assert [type(layer) for layer in model.layers] == [nn.Linear, nn.Tanh, nn.Residual, nn.Linear]
    assert mixed.model.layers[1] is model.layers[1]
    assert [n for n, _ in nn.parameters.parts_of(mixed.model, nn.Parameter)] == parameters.names


def test_saved_inputs_of_dense_layers_take_half_the_bytes():
    _, _, mixed = training()
    _, saved = mixed.model.forward(cuda.to_device(X))
    (rows, shape) = saved[0]
    assert (rows.dtype, rows.nbytes, shape) == (np.float16, X.nbytes // 2, X.shape)


# ---- master weights -------------------------------------------------------------------------


def test_a_step_too_small_for_16_bits_changes_the_master_weights():
    _, parameters, mixed = training(scale=1)
    mixed.optimizer.rates["lr"] = 1e-6
    parameters.load({n: a.astype(np.float16) for n, a in parameters.state().items()})
    before = launch.to_host(parameters.value).copy()
    for _ in range(3):
        one_step(mixed)
    after = launch.to_host(parameters.value)
    large = np.abs(before) > 0.1
    assert (after[large] != before[large]).all()
    np.testing.assert_array_equal(after[large].astype(np.float16), before[large].astype(np.float16))


def test_every_forward_pass_rounds_the_weights_that_there_are():
    _, parameters, mixed = training()
    one = launch.to_host(mixed.model.forward(cuda.to_device(X))[0]).copy()
    parameters.load({name: 2 * array for name, array in parameters.state().items()})
    assert (launch.to_host(mixed.model.forward(cuda.to_device(X))[0]) != one).any()


# ---- the loss scale -------------------------------------------------------------------------


def test_gradients_do_not_depend_on_a_scale_that_is_a_power_of_two():
    grads = []
    for scale in (2.0**4, 2.0**8):
        _, parameters, mixed = training(scale=scale)
        one_step(mixed)
        grads.append(launch.to_host(parameters.grad).copy())
    np.testing.assert_allclose(grads[0], grads[1], rtol=2e-3, atol=1e-7)


def test_gradients_vanish_in_float16_and_a_scale_keeps_them():
    fractions = {}
    for scale in (1, 2.0**16):
        model, _, mixed = training(scale=scale)
        one_step(mixed, times=1e-6)
        fractions[scale] = (launch.to_host(model.layers[0].weight.grad) == 0).mean()
    assert fractions[1] > 0.5 > 0.05 > fractions[2.0**16]


def test_gradients_do_not_vanish_in_bfloat16_without_a_scale():
    model, _, mixed = training("bfloat16")
    one_step(mixed, times=1e-6)
    assert (mixed.scaled, mixed.scale) == (False, 1)
    assert (launch.to_host(model.layers[0].weight.grad) != 0).all()


def test_the_scale_doubles_after_so_many_good_steps():
    _, _, mixed = training(scale=4, every=3)
    scales = []
    for _ in range(7):
        one_step(mixed)
        scales.append(mixed.scale)
    assert scales == [4, 4, 8, 8, 8, 16, 16]


def test_a_step_with_an_infinite_gradient_is_skipped_and_the_scale_halved():
    _, parameters, mixed = training(scale=2.0**40, every=2)
    before, moments = parameters.state(), mixed.optimizer.state()
    one_step(mixed)
    assert (mixed.scale, mixed.skipped, mixed.good) == (2.0**39, 1, 0)
    for name, array in parameters.state().items():
        np.testing.assert_array_equal(array, before[name])
    for name, array in mixed.optimizer.state().items():
        np.testing.assert_array_equal(array, moments[name])
    assert (launch.to_host(parameters.grad) == 0).all()


def test_the_scale_falls_until_gradients_fit_and_training_goes_on():
    _, _, mixed = training(scale=2.0**40, every=1000)
    losses = [one_step(mixed) for _ in range(60)]
    assert 0 < mixed.skipped < 40
    assert mixed.scale == 2.0 ** (40 - mixed.skipped)
    assert losses[-1] < 0.8 * losses[0]


def test_a_scale_that_is_kept_is_kept():
    _, _, mixed = training(scale=2.0**40, every=None)
    one_step(mixed)
    assert (mixed.scale, mixed.skipped) == (2.0**40, 1)


def test_gradients_that_are_nan_at_every_scale_are_an_error():
    _, _, mixed = training(scale=2 * LEAST)
    one_step(mixed, times=np.nan)
    with pytest.raises(FloatingPointError, match="gradients are NaN or infinite at every scale"):
        one_step(mixed, times=np.nan)


# ---- training -------------------------------------------------------------------------------


@formats
@pytest.mark.slow
def test_fit_trains_in_mixed_precision_as_well_as_in_float32(dtype):
    losses = []
    for precision in (None, dtype):
        model, _, mixed = training(precision or "float16")
        trained, optimizer = (mixed.model, mixed) if precision else (model, mixed.optimizer)
        loader = nn.Loader(X, LABELS, batch=16)
        history = nn.fit(trained, optimizer, loader, epochs=20, report=False)
        losses.append(history.losses[-10:].mean())
    assert abs(losses[1] - losses[0]) < 0.05 * losses[0] + 0.01


@formats
@pytest.mark.slow
def test_a_training_goes_on_bit_for_bit_with_its_loss_scale(dtype, tmp_path):
    options = {"scale": 2.0**22, "every": 5} if dtype == "float16" else {}

    def train(epochs, checkpoint=None):
        _, parameters, mixed = training(dtype, **options)
        loader = nn.Loader(X, LABELS, batch=16)
        named = {"checkpoint": checkpoint, "report": False, "clip": 1.0}
        history = nn.fit(mixed.model, mixed, loader, epochs=epochs, **named)
        return history.losses, parameters.state(), mixed.state()

    losses, weights, state = train(6)
    train(2, tmp_path / "saved")
    resumed = train(6, tmp_path / "saved")
    np.testing.assert_array_equal(resumed[0], losses)
    for one, other in zip(resumed[1:], (weights, state), strict=True):
        assert one.keys() == other.keys()
        for name, array in one.items():
            np.testing.assert_array_equal(array, other[name], err_msg=name)
    if dtype == "float16":
        assert state["skipped_steps"] > 0  # so that the scale has moved


def test_a_checkpoint_of_float32_is_refused_and_changes_nothing(tmp_path):
    _, parameters, mixed = training()
    nn.save(tmp_path / "saved", parameters, mixed.optimizer)
    with pytest.raises(ValueError, match="expected the state of MixedPrecision with loss_scale"):
        nn.load(tmp_path / "saved", parameters, mixed)


def test_a_loss_that_becomes_nan_names_the_layer_of_the_model():
    model, parameters, mixed = training()
    parameters.load({n: a * 1e30 for n, a in parameters.state().items()})
    loader = nn.Loader(X, LABELS, batch=16)
    with pytest.raises(FloatingPointError, match=r"the output of layer \d, "):
        nn.fit(mixed.model, mixed, loader, epochs=1, report=False)


def test_another_dtype_is_refused():
    with pytest.raises(
        ValueError, match="expected dtype to be 'float16' or 'bfloat16', got 'int8'"
    ):
        training("int8")


def test_a_model_of_other_parameters_is_refused():
    _, _, mixed = training()
    with pytest.raises(ValueError, match="expected the model of the optimizer's parameters"):
        nn.MixedPrecision(nn.Linear(3, 2), mixed.optimizer)


def test_parameters_of_float64_are_refused():
    model = nn.Linear(3, 2)
    optimizer = nn.SGD(nn.Parameters(model, seed=0, dtype=np.float64), lr=0.1)
    with pytest.raises(TypeError, match="MixedPrecision: expected float32 parameters, got float64"):
        nn.MixedPrecision(model, optimizer)


def test_attention_takes_dense_layers_of_mixed_precision():
    model = nn.Sequential(nn.MultiHeadAttention(8, 2), nn.Linear(8, 3))
    parameters = nn.Parameters(model, seed=0)
    mixed = nn.MixedPrecision(model, nn.SGD(parameters, lr=0.1))
    x = cuda.to_device(RNG.standard_normal((2, 4, 8), np.float32))
    exact, _ = model.forward(x)
    out, saved = mixed.model.forward(x)
    np.testing.assert_allclose(launch.to_host(out), launch.to_host(exact), atol=5e-3)
    mixed.model.backward(saved, out)
    assert np.isfinite(launch.to_host(parameters.grad)).all()
