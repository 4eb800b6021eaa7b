"""Inference: training-only layers are disabled; accuracy and confusion matrices."""

import numpy as np
import pytest

from gpukit import cuda, launch, nn

X = np.random.default_rng(2).random((37, 3, 6, 6), np.float32)


def model():
    network = nn.Sequential(
        nn.Augment(2, flip=True),
        nn.Normalise([0.1, 0.2, 0.3], [1, 2, 4]),
        nn.Flatten(),
        nn.Residual(nn.Linear(108, 108), nn.Dropout(0.5)),
        nn.BatchNorm(108),
        nn.Linear(108, 4),
    )
    nn.Parameters(network, seed=0)
    return network


def forward(layer, x):
    out, _ = layer.forward(cuda.to_device(x))
    return launch.to_host(out).copy()


def test_inference_is_deterministic_and_training_is_not():
    network = model()
    with nn.inference(network):
        once, again = forward(network, X), forward(network, X)
    np.testing.assert_array_equal(once, again)
    assert (forward(network, X) != forward(network, X)).any()


def test_inference_ends_with_its_block_even_after_an_error():
    network = model()
    with pytest.raises(KeyError), nn.inference(network):
        raise KeyError
    assert (forward(network, X) != forward(network, X)).any()


def test_inference_does_not_reenable_a_disabled_layer():
    network = model()
    network.layers[4].training = False
    with nn.inference(network):
        pass
    assert [layer.training for layer in (network.layers[0], network.layers[4])] == [True, False]


def test_predictions_do_not_depend_on_the_batch_size():
    network = model()
    whole = nn.predict(network, X)
    assert whole.shape == (37, 4)
    np.testing.assert_allclose(nn.predict(network, X, batch=5), whole, rtol=1e-4, atol=1e-5)


def test_accuracy_is_the_fraction_of_correct_labels():
    network = model()
    right = nn.predict(network, X).argmax(axis=1)
    wrong = np.where(np.arange(37) < 7, (right + 1) % 4, right)
    assert nn.accuracy(network, X, wrong) == pytest.approx(30 / 37)


def test_confusion_counts_labels_in_rows_and_predictions_in_columns():
    network = model()
    predicted = nn.predict(network, X).argmax(axis=1)
    counts = nn.confusion(network, X, np.full(37, 2), 4)
    np.testing.assert_array_equal(counts[2], np.bincount(predicted, minlength=4))
    assert counts.sum() == 37


def test_normalise_subtracts_the_mean_and_divides_by_the_deviation():
    layer = nn.Normalise([0.1, 0.2, 0.3], [1, 2, 4])
    nn.Parameters(layer, seed=0)
    mean, deviation = (np.array(each).reshape(3, 1, 1) for each in ([0.1, 0.2, 0.3], [1, 2, 4]))
    np.testing.assert_allclose(forward(layer, X), (X - mean) / deviation, rtol=1e-5, atol=1e-6)
