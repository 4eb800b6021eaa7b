"""`nn.fit`: training steps, checkpoints, Ctrl-C, and errors during training."""

import os
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

from gpukit import cuda, errors, launch, nn

RNG = np.random.default_rng(5)
X, LABELS = RNG.standard_normal((41, 6), np.float32), RNG.integers(0, 3, 41)
STEPS = 6  # per epoch: five batches of 8, and one of a single example


def training(**changes):
    model = nn.Sequential(nn.Linear(6, 8, first=True), nn.ReLU(), nn.Dropout(0.2), nn.Linear(8, 3))
    parameters = nn.Parameters(model, seed=0)
    optimizer = nn.AdamW(parameters, lr=nn.cosine(1e-2, steps=30, warmup=3))
    options = {"epochs": 3, "report": False} | changes
    return model, optimizer, nn.Loader(X, LABELS, batch=8, seed=1), options


def fitted(**changes):
    model, optimizer, loader, options = training(**changes)
    return optimizer.parameters.state(), nn.fit(model, optimizer, loader, **options), optimizer


def assert_same(state, other):
    for name, array in state.items():
        np.testing.assert_array_equal(other[name], array, err_msg=name)


# --- The loop --------------------------------------------------------------------------------


def test_fit_is_equivalent_to_an_explicit_loop():
    model, optimizer, loader, _ = training()
    losses = []
    for epoch in range(3):
        for x, label in loader.epoch(epoch):
            logits, saved = model.forward(x)
            loss, grad = nn.cross_entropy(logits, label)
            model.backward(saved, grad)
            optimizer.step()
            losses.append(float(launch.to_host(loss)))
    _, history, other = fitted()
    np.testing.assert_array_equal(history.losses, losses)
    assert_same(optimizer.parameters.state(), other.parameters.state())


def test_the_loss_decreases_during_training():
    model = nn.Sequential(nn.Linear(6, 16), nn.Tanh(), nn.Linear(16, 3))
    parameters, loader = nn.Parameters(model, seed=0), nn.Loader(X, LABELS, batch=8)
    history = nn.fit(model, nn.AdamW(parameters, lr=0.05), loader, epochs=60, report=False)
    assert history.losses[-STEPS:].mean() < 0.1 < 0.9 < history.losses[:STEPS].mean()


def test_gradients_are_clipped():
    model, optimizer, loader, options = training(clip=1e-3, epochs=1)
    nn.fit(model, optimizer, loader, **options)
    norm = np.linalg.norm(launch.to_host(optimizer.parameters.grad))
    assert norm == pytest.approx(1e-3, rel=1e-3)


def test_accuracy_is_evaluated_after_each_epoch_without_dropout():
    model, optimizer, loader, options = training(validate=(X, LABELS))
    history = nn.fit(model, optimizer, loader, **options)
    assert len(history.accuracies) == 3
    assert history.accuracies[-1] == nn.accuracy(model, X, LABELS)


def test_report_callbacks_get_the_losses_so_far():
    seen = []
    fitted(report=lambda history: seen.append(len(history.losses)))
    assert {STEPS, 2 * STEPS, 3 * STEPS} <= set(seen)
    assert sorted(set(seen)) == seen


def test_progress_is_one_line_per_epoch_without_a_terminal(capsys):
    fitted(report=True, validate=(X, LABELS))
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 3
    assert lines[0].startswith("epoch 1/3  step 6/18  loss ")
    assert lines[0].endswith(" left")
    assert " %  " in lines[2]


class Clock:
    """A clock that only code under test advances."""

    now = 0.0

    def perf_counter(self):
        return self.now


@pytest.fixture
def clock(monkeypatch):
    """Give `fit` a clock; validation takes 300 s the first time, as compiling does, then none."""
    clock, validations = Clock(), iter([300.0, 0.0, 0.0])
    monkeypatch.setattr(nn.training, "time", clock)

    def accuracy(*_):
        clock.now += next(validations)
        return 0.5

    monkeypatch.setattr(nn.training, "accuracy", accuracy)
    return clock


def test_time_spent_compiling_does_not_count_in_the_estimate(clock):
    durations = iter([100.0, *[2.0] * 17])

    def loss(output, label):
        clock.now += next(durations)
        return nn.cross_entropy(output, label)

    left = []
    fitted(
        loss=loss, validate=(X, LABELS), report=lambda history: left.append(history.seconds_left)
    )
    expected = [np.inf, *(2.0 * (18 - step) for step in range(2, 19))]
    assert left == pytest.approx(expected)


def test_progress_shows_no_estimate_before_there_is_one(capsys):
    line = nn.progress.ProgressLine()
    line(nn.History(2, 1, np.ones(1)))
    assert capsys.readouterr().out == "epoch 1/2  step 1/2  loss 1.0000\n"


def test_a_history_is_shown_in_one_line():
    history = nn.History(2, 9, np.linspace(2.5, 0.25, 12), [0.5, 0.875], seconds=3.14)
    assert repr(history) == (
        "<History: 12 of 18 steps, loss from 2.5 to 0.25, accuracy 87.5 %, 3.1 s;"
        " .losses has each, .accuracies each epoch's>"
    )


# --- Checkpoints -----------------------------------------------------------------------------


def test_training_resumed_from_a_checkpoint_is_bit_identical(tmp_path):
    whole, history, optimizer = fitted(epochs=3)
    _, _, _ = fitted(epochs=2, checkpoint=tmp_path / "saved")
    _, resumed, other = fitted(epochs=3, checkpoint=tmp_path / "saved")
    np.testing.assert_array_equal(resumed.losses, history.losses)
    assert_same(optimizer.parameters.state(), other.parameters.state())


def test_completed_training_is_not_repeated(tmp_path):
    _, _, optimizer = fitted(checkpoint=tmp_path / "saved")
    _, history, other = fitted(checkpoint=tmp_path / "saved")
    assert len(history.losses) == 3 * STEPS
    assert_same(optimizer.parameters.state(), other.parameters.state())


def test_fewer_epochs_than_in_the_checkpoint_are_rejected_without_changes(tmp_path):
    fitted(epochs=2, checkpoint=tmp_path / "saved")
    saved = (tmp_path / "saved").read_bytes()
    model, optimizer, loader, options = training(epochs=1, checkpoint=tmp_path / "saved")
    before = optimizer.parameters.state()
    words = r"at most 6 steps, which is what epochs=1 asks for, got one that has made 12\. Ask for"
    with pytest.raises(errors.CheckpointError, match=words):
        nn.fit(model, optimizer, loader, **options)
    assert_same(optimizer.parameters.state(), before)
    assert (tmp_path / "saved").read_bytes() == saved


def press_ctrl_c(history):
    """A report callback that interrupts training at the end of its first epoch."""
    if len(history.losses) == STEPS:
        signal.raise_signal(signal.SIGINT)


@pytest.mark.usefixtures("interruptible")
def test_ctrl_c_completes_the_step_saves_and_raises(tmp_path):
    _, uninterrupted, _ = fitted()
    words = r"after step 7 of 18\. The same call resumes from there: it is saved in .*saved\."
    with pytest.raises(KeyboardInterrupt, match=words) as stopped:
        fitted(checkpoint=tmp_path / "saved", every=1000, report=press_ctrl_c)
    history = stopped.value.history
    assert (history.stopped, len(history.losses)) == (True, STEPS + 1)
    _, resumed, _ = fitted(checkpoint=tmp_path / "saved")
    assert not resumed.stopped
    np.testing.assert_array_equal(resumed.losses, uninterrupted.losses)


@pytest.mark.usefixtures("interruptible")
def test_ctrl_c_without_a_checkpoint_leaves_the_model_after_a_complete_step():
    model, optimizer, loader, options = training(report=press_ctrl_c)
    with pytest.raises(KeyboardInterrupt, match=r"step 7 of 18\. The model keeps what it has"):
        nn.fit(model, optimizer, loader, **options)
    other, others, first, options = training(epochs=1)
    nn.fit(other, others, FirstSteps(first, STEPS + 1), **options)
    assert_same(others.parameters.state(), optimizer.parameters.state())


@pytest.mark.usefixtures("interruptible")
def test_ctrl_c_in_the_last_step_raises(tmp_path):
    def press_at_the_end(history):
        if len(history.losses) == history.steps:
            signal.raise_signal(signal.SIGINT)

    with pytest.raises(KeyboardInterrupt, match="all 18 are done") as stopped:
        fitted(checkpoint=tmp_path / "saved", report=press_at_the_end)
    assert not stopped.value.history.stopped


@pytest.mark.usefixtures("interruptible")
def test_a_second_ctrl_c_raises_at_once():
    seen = []

    def press_twice(history):
        seen.append(len(history.losses))
        press_ctrl_c(history)
        press_ctrl_c(history)

    with pytest.raises(KeyboardInterrupt, match="in the middle of a step"):
        fitted(report=press_twice)
    assert seen[-1] == STEPS


def test_an_ignored_sigint_stays_ignored():
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        _, history, _ = fitted(report=lambda _: os.kill(os.getpid(), signal.SIGINT))
    finally:
        signal.signal(signal.SIGINT, before)
    assert (history.stopped, len(history.losses)) == (False, 3 * STEPS)


KILLED = """
import sys
import numpy as np
from tests.nn.test_training import training, X, LABELS
from gpukit import nn
model, optimizer, loader, options = training(epochs=int(sys.argv[2]), every=1)
print("ready", flush=True)
nn.fit(model, optimizer, loader, checkpoint=sys.argv[1], **options)
"""


@pytest.mark.slow
def test_killed_training_resumes_bit_identically(tmp_path):
    saved, rng = tmp_path / "saved", np.random.default_rng(0)
    for _ in range(int(os.environ.get("KILLS", "3"))):
        process = subprocess.Popen(
            [sys.executable, "-c", KILLED, saved, "2000"], stdout=subprocess.PIPE
        )
        process.stdout.readline()
        time.sleep(rng.uniform(0.1, 1.0))
        process.kill()
        process.communicate()
    model, optimizer, loader, options = training()
    losses = nn.load(saved, optimizer.parameters, optimizer)["losses"] if saved.exists() else []
    epochs = len(losses) // STEPS + 2
    _, resumed, optimizer = fitted(epochs=epochs, checkpoint=saved)
    _, history, other = fitted(epochs=epochs)
    np.testing.assert_array_equal(resumed.losses, history.losses)
    assert_same(optimizer.parameters.state(), other.parameters.state())


# --- Errors ----------------------------------------------------------------------------------


class Breaks:
    """A layer that returns NaN for a batch of one example in one epoch."""

    def __init__(self, calls):
        self.batches, self.calls = nn.Buffer((), 0, on_host=True), calls

    def forward(self, x):
        self.batches.value[...] += 1
        if self.batches.value == self.calls:
            return cuda.to_device(np.full(x.shape, np.nan, np.float32)), None
        return x, None

    def backward(self, _, grad):
        return grad


def test_a_nan_is_reported_with_step_and_layer_and_the_weights_are_restored():
    model = nn.Sequential(nn.Linear(6, 8, first=True), Breaks(9), nn.Linear(8, 3))
    parameters = nn.Parameters(model, seed=0)
    optimizer, loader = nn.AdamW(parameters), nn.Loader(X, LABELS, batch=8, seed=1)
    words = r"in step 9: the output of layer 1, Breaks, for x of shape \(8, 8\)\. .* after step 8\."
    with pytest.raises(FloatingPointError, match=words):
        nn.fit(model, optimizer, loader, epochs=3, every=4, report=False)
    other = nn.Sequential(nn.Linear(6, 8, first=True), Breaks(99), nn.Linear(8, 3))
    others = nn.Parameters(other, seed=0)
    steps = nn.fit(other, nn.AdamW(others), FirstSteps(loader, 8), epochs=1, report=False)
    assert len(steps.losses) == 8
    assert_same(others.state(), parameters.state())


class FirstSteps:
    """The first batches of a loader, across epochs, as one epoch."""

    def __init__(self, loader, count):
        self.loader, self.count, self.most = loader, count, loader.most

    def __len__(self):
        return self.count

    def epoch(self, number, start=0):
        for step in range(start, self.count):
            yield next(self.loader.epoch(*divmod(step, len(self.loader))))


def test_a_learning_rate_that_is_too_high_is_reported():
    model, _, loader, options = training()
    parameters = nn.Parameters(model, seed=0)
    with pytest.raises(FloatingPointError, match="a lower lr"):
        nn.fit(model, nn.SGD(parameters, lr=1e20), loader, **options)
    assert np.isfinite(launch.to_host(parameters.value)).all()


def test_a_failed_step_is_not_saved(tmp_path):
    model, _, loader, options = training(checkpoint=tmp_path / "saved", every=1)
    optimizer = nn.SGD(nn.Parameters(model, seed=0), lr=1e20)
    with pytest.raises(FloatingPointError):
        nn.fit(model, optimizer, loader, **options)
    if (tmp_path / "saved").exists():
        nn.load(tmp_path / "saved", optimizer.parameters, optimizer)
        assert np.isfinite(launch.to_host(optimizer.parameters.value)).all()


def test_labels_without_a_model_output_are_rejected():
    model, optimizer, _, options = training()
    loader = nn.Loader(X, LABELS + 7, batch=8)
    with pytest.raises(ValueError, match=r"fit: expected labels below 3, .* got 9"):
        nn.fit(model, optimizer, loader, **options)


def test_examples_of_another_shape_are_rejected_naming_the_layer():
    model, optimizer, _, options = training()
    words = r"layer 0, Linear, given x of shape \(8, 5\)"
    with pytest.raises(ValueError, match=words):
        nn.fit(model, optimizer, nn.Loader(X[:, :5].copy(), LABELS, batch=8), **options)


def test_a_batch_of_one_example_is_rejected_naming_the_batch_norm_layer():
    model = nn.Sequential(nn.Linear(6, 3), nn.BatchNorm(3))
    optimizer = nn.SGD(nn.Parameters(model, seed=0), lr=0.1)
    with pytest.raises(ValueError, match=r"layer 1, BatchNorm, given x of shape \(1, 3\)"):
        nn.fit(model, optimizer, nn.Loader(X, LABELS, batch=8), epochs=1, report=False)
    assert np.isfinite(launch.to_host(optimizer.parameters.value)).all()


@pytest.mark.parametrize("other", ["the same model", "another model", "a bare model"])
def test_an_optimizer_of_other_parameters_is_rejected(other):
    model, optimizer, loader, options = training()
    if other == "the same model":
        nn.Parameters(model, seed=1)  # the model's weights are in its array now
    elif other == "another model":
        model = training()[0]
    else:
        model = nn.Sequential(nn.Linear(6, 3))
    with pytest.raises(ValueError, match=r"expected an optimizer of the model's parameters, but 0"):
        nn.fit(model, optimizer, loader, **options)
