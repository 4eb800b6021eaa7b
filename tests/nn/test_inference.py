"""What a trained model says: layers that act in training alone are switched off."""

import numpy as np
import pytest

from gpukit import cuda, launch, nn

X = np.random.default_rng(2).random((37, 3, 6, 6), np.float32)


def model():
    made = nn.Sequential(
        nn.Augment(2, flip=True),
        nn.Normalise([0.1, 0.2, 0.3], [1, 2, 4]),
        nn.Flatten(),
        nn.Residual(nn.Linear(108, 108), nn.Dropout(0.5)),
        nn.BatchNorm(108),
        nn.Linear(108, 4),
    )
    nn.Parameters(made, seed=0)
    return made


def forward(layer, x):
    out, _ = layer.forward(cuda.to_device(x))
    return launch.to_host(out).copy()


def test_inference_gives_the_same_each_time_and_training_does_not():
    made = model()
    with nn.inference(made):
        once, again = forward(made, X), forward(made, X)
    np.testing.assert_array_equal(once, again)
    assert (forward(made, X) != forward(made, X)).any()


def test_inference_ends_with_its_block_even_after_an_error():
    made = model()
    with pytest.raises(KeyError), nn.inference(made):
        raise KeyError
    assert (forward(made, X) != forward(made, X)).any()


def test_inference_leaves_a_layer_off_that_was_off():
    made = model()
    made.layers[4].training = False
    with nn.inference(made):
        pass
    assert [layer.training for layer in (made.layers[0], made.layers[4])] == [True, False]


def test_predictions_do_not_hang_on_the_size_of_batches():
    made = model()
    whole = nn.predict(made, X)
    assert whole.shape == (37, 4)
    np.testing.assert_allclose(nn.predict(made, X, batch=5), whole, rtol=1e-4, atol=1e-5)


def test_accuracy_is_the_share_of_labels_that_are_right():
    made = model()
    right = nn.predict(made, X).argmax(axis=1)
    wrong = np.where(np.arange(37) < 7, (right + 1) % 4, right)
    assert nn.accuracy(made, X, wrong) == pytest.approx(30 / 37)


def test_confusion_counts_labels_in_rows_and_predictions_in_columns():
    made = model()
    said = nn.predict(made, X).argmax(axis=1)
    counts = nn.confusion(made, X, np.full(37, 2), 4)
    np.testing.assert_array_equal(counts[2], np.bincount(said, minlength=4))
    assert counts.sum() == 37


def test_normalised_images_are_less_their_mean_over_their_deviation():
    layer = nn.Normalise([0.1, 0.2, 0.3], [1, 2, 4])
    nn.Parameters(layer, seed=0)
    mean, deviation = (np.array(each).reshape(3, 1, 1) for each in ([0.1, 0.2, 0.3], [1, 2, 4]))
    np.testing.assert_allclose(forward(layer, X), (X - mean) / deviation, rtol=1e-5, atol=1e-6)
