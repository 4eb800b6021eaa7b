"""Pruning: masks that stay while training goes on, and models that store only what is left."""

import numpy as np
import pytest

from gpukit import cuda, launch, nn

RNG = np.random.default_rng(13)
EXAMPLES, LABELS = RNG.standard_normal((40, 1, 6, 6), np.float32), RNG.integers(0, 3, 40)


def training(optimizer=nn.AdamW, **rates):
    model = nn.Sequential(
        nn.Conv2d(1, 4, 3), nn.ReLU(), nn.Flatten(), nn.Linear(64, 16), nn.Tanh(), nn.Linear(16, 3)
    )
    parameters = nn.Parameters(model, seed=0)
    return model, parameters, optimizer(parameters, lr=1e-2, **rates)


def fit(model, optimizer, epochs, **options):
    loader = nn.Loader(EXAMPLES, LABELS, batch=16, seed=1)
    return nn.fit(model, optimizer, loader, epochs=epochs, report=False, **options)


def zeros(parameters):
    """The fraction of zeros in each parameter."""
    return {name: float((array == 0).mean()) for name, array in parameters.state().items()}


WEIGHTS = "0.weight", "3.weight", "5.weight"


@pytest.mark.parametrize("fraction", [0, 0.25, 0.75, 1])
def test_the_smallest_weights_of_all_layers_are_pruned_and_no_bias(fraction):
    model, parameters, _ = training()
    before = parameters.state()
    nn.prune(model, fraction)
    after = parameters.state()
    flat = np.concatenate([np.abs(before[name]).reshape(-1) for name in WEIGHTS])
    gone = np.concatenate([after[name].reshape(-1) == 0 for name in WEIGHTS])
    assert gone.sum() == round(fraction * flat.size)
    assert flat[gone].max(initial=0) <= flat[~gone].min(initial=np.inf)
    for name in ("0.bias", "3.bias", "5.bias"):
        np.testing.assert_array_equal(after[name], before[name])


def test_2_4_leaves_out_layers_without_whole_groups():
    model, parameters, _ = training()
    nn.prune_2_4(model)
    found = zeros(parameters)
    assert (found["0.weight"], found["3.weight"], found["5.weight"]) == (0, 0.5, 0.5)


def test_pruning_again_takes_the_zeros_first():
    model, parameters, _ = training()
    nn.prune(model, 0.5)
    before = parameters.state()["3.weight"]
    nn.prune(model, 0.75)
    after = parameters.state()["3.weight"]
    assert ((before == 0) <= (after == 0)).all()
    assert (after == 0).sum() > (before == 0).sum()


@pytest.mark.parametrize(
    "optimizer", [nn.SGD, nn.Momentum, nn.Adadelta, nn.AdamW], ids=lambda kind: kind.__name__
)
def test_masked_weights_stay_zero_while_an_optimizer_with_momentum_goes_on(optimizer):
    model, parameters, updates = training(optimizer, weight_decay=0.1)
    fit(model, updates, 1)  # its velocities point somewhere
    nn.prune(model, 0.75)
    before = parameters.state()
    fit(model, updates, 2)
    after = parameters.state()
    mask = after["3.weight.mask"]
    np.testing.assert_array_equal(mask, before["3.weight.mask"])
    assert (after["3.weight"][mask == 0] == 0).all()
    assert (after["3.weight"][mask == 1] != before["3.weight"][mask == 1]).any()


def test_masks_stay_in_mixed_precision():
    model, parameters, optimizer = training()
    nn.prune(model, 0.75)
    mixed = nn.MixedPrecision(model, optimizer)
    fit(mixed.model, mixed, 1)
    state = parameters.state()
    assert (state["3.weight"][state["3.weight.mask"] == 0] == 0).all()


@pytest.mark.slow
def test_a_training_goes_on_bit_for_bit_with_its_masks(tmp_path):
    def train(epochs, checkpoint=None, *, pruned=True):
        model, parameters, optimizer = training()
        if pruned:
            nn.prune(model, 0.75)
        losses = fit(model, optimizer, epochs, checkpoint=checkpoint).losses
        return losses, parameters.state()

    losses, state = train(4)
    train(2, tmp_path / "saved")
    # The masks come from the checkpoint, also where the model has none yet.
    resumed, found = train(4, tmp_path / "saved", pruned=False)
    np.testing.assert_array_equal(resumed, losses)
    assert found.keys() == state.keys()
    for name, array in found.items():
        np.testing.assert_array_equal(array, state[name], err_msg=name)


def test_a_state_without_masks_leaves_none():
    model, parameters, _ = training()
    whole = parameters.state()
    nn.prune(model, 0.5)
    parameters.load(whole)
    assert parameters.masked() == []
    parameters.apply_masks()
    assert zeros(parameters)["3.weight"] == 0


def test_a_mask_of_another_shape_is_refused_and_changes_nothing():
    model, parameters, _ = training()
    nn.prune(model, 0.5)
    state = parameters.state()
    wrong = {**state, "3.weight.mask": np.ones((2, 2), np.uint8)}
    with pytest.raises(
        ValueError, match=r"load: expected 3\.weight\.mask of shape \(16, 64\), got"
    ):
        parameters.load(wrong)
    np.testing.assert_array_equal(parameters.state()["3.weight.mask"], state["3.weight.mask"])


def test_a_mask_of_no_parameter_is_refused():
    _, parameters, _ = training()
    state = parameters.state() | {"9.weight.mask": np.ones(3, np.uint8)}
    with pytest.raises(ValueError, match=r"expected names of this model, got '9\.weight\.mask'"):
        parameters.load(state)


# ---- inference ------------------------------------------------------------------------------


@pytest.mark.parametrize("form", ["csr", "2:4"])
@pytest.mark.parametrize("n", [1, 40])
def test_a_compressed_model_has_the_outputs_of_the_pruned_one(form, n):
    model, _, _ = training()
    nn.prune_2_4(model)
    small = nn.compressed(model, form)
    right = nn.predict(model, EXAMPLES[:n])
    np.testing.assert_allclose(nn.predict(small, EXAMPLES[:n]), right, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("form", ["csr", "2:4"])
def test_a_compressed_layer_takes_any_axes_and_no_bias(form):
    model = nn.Linear(8, 5, bias=False)
    nn.Parameters(model, seed=0)
    nn.prune_2_4(model)
    x = cuda.to_device(RNG.standard_normal((2, 3, 8), np.float32))
    out, _ = nn.compressed(model, form).forward(x)
    right, _ = model.forward(x)
    np.testing.assert_allclose(launch.to_host(out), launch.to_host(right), rtol=1e-4, atol=1e-6)


def test_a_compressed_model_stores_what_is_left():
    model, _, _ = training()
    nn.prune_2_4(model)
    values, columns, starts = nn.compressed(model).layers[3].weight
    assert (values.shape, columns.shape, starts.shape) == ((512,), (512,), (17,))
    values, index = nn.compressed(model, "2:4").layers[3].weight
    assert (values.shape, index.shape) == ((16, 32), (16, 16))


def test_another_form_is_refused():
    with pytest.raises(
        ValueError, match="compressed: expected form to be 'csr' or '2:4', got 'coo'"
    ):
        nn.compressed(training()[0], "coo")


def test_pruning_of_fractions_that_are_none_is_refused():
    with pytest.raises(ValueError, match="expected 0 <= fraction <= 1, got 80"):
        nn.prune(training()[0], 80)
