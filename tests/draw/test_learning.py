"""Figures of training: loss curves, live updates, confusion matrices, image grids."""

from types import SimpleNamespace

import numpy as np
import pytest

from gpukit import draw, nn
from gpukit.draw import learning

LOSSES = np.array([2.5, 1.5, 0.5, 0.25])


def history(losses=LOSSES, epochs=2, accuracies=(), stopped=False):
    return nn.History(epochs, 4, np.asarray(losses), list(accuracies), stopped=stopped)


class Notebook:
    """An IPython shell with a kernel, which records what it displays."""

    def __init__(self):
        self.kernel, self.shown, self.updated = object(), [], []

    def display(self, picture, display_id):
        assert display_id is True
        self.shown.append(picture)
        return SimpleNamespace(update=self.updated.append)


@pytest.fixture
def notebook(monkeypatch):
    shell = Notebook()
    monkeypatch.setattr("IPython.get_ipython", lambda: shell)
    monkeypatch.setattr("IPython.display.display", shell.display)
    monkeypatch.setattr(learning, "PAUSE", 0)
    return shell


def test_live_loss_updates_one_figure_in_place(notebook):
    live = draw.LiveLoss()
    for steps in 1, 2, 3:
        live(history(LOSSES[:steps]))
    assert (len(notebook.shown), len(notebook.updated)) == (1, 2)
    assert notebook.updated[-1] is live.picture


def test_live_loss_limits_the_rate_of_updates(notebook, monkeypatch):
    monkeypatch.setattr(learning, "PAUSE", 1000)
    live = draw.LiveLoss()
    live(history(LOSSES[:1]))
    live(history(LOSSES[:2]))
    assert (len(notebook.shown), notebook.updated) == (1, [])


@pytest.mark.parametrize("end", [{"epochs": 1}, {"stopped": True}])
def test_live_loss_always_draws_the_final_state(notebook, monkeypatch, end):
    monkeypatch.setattr(learning, "PAUSE", 1000)
    live = draw.LiveLoss()
    live(history(LOSSES[:2]))
    live(history(**end))
    assert len(notebook.updated) == 1


def test_live_loss_says_that_the_training_was_stopped():
    live = draw.LiveLoss()
    live(history(stopped=True))
    assert live.picture.alt.endswith("The training was stopped by Ctrl-C after step 4 of 8.")


def test_live_loss_before_the_first_step_draws_nothing(notebook):
    live = draw.LiveLoss()
    live(history([]))
    assert (live.picture, notebook.shown) == (None, [])


def test_live_loss_outside_a_notebook_keeps_its_figure():
    live = draw.LiveLoss()
    live(history())
    assert live.picture.alt.startswith("Loss of 4 of 8 steps, from 2.50 to")


def test_live_loss_follows_a_training():
    model = nn.Sequential(nn.Linear(3, 2))
    optimizer = nn.SGD(nn.Parameters(model, seed=0), lr=0.1)
    loader = nn.Loader(np.ones((6, 3), np.float32), [0, 1] * 3, batch=2)
    live = draw.LiveLoss()
    nn.fit(model, optimizer, loader, epochs=2, report=live)
    assert live.picture.alt.startswith("Loss of 6 of 6 steps")


def test_loss_curve_has_each_loss_and_leaves_space_for_the_rest():
    (axes,) = draw.loss_curve(LOSSES, steps=8, title="t").axes
    assert axes.lines[0].get_xydata().tolist() == [[k + 1, v] for k, v in enumerate(LOSSES)]
    assert axes.get_xlim()[1] >= 8


def test_loss_curve_has_a_running_mean():
    losses = np.arange(30.0)
    means = draw.loss_curve(losses, title="t").axes[0].lines[1].get_ydata()
    assert (means[0], means[4], means[29]) == (0, 2, 24.5)


def test_loss_curve_has_the_accuracy_of_each_epoch():
    _, right = draw.loss_curve(LOSSES, [0.5, 0.75], title="t").axes
    assert right.lines[0].get_xydata().tolist() == [[1, 0.5], [2, 0.75]]


def test_text_of_the_loss_curve_has_the_accuracies():
    words = draw.loss_curve_in_words(history(accuracies=[0.5, 0.75]))
    assert "Accuracy 50.0 % after the first epoch, 75.0 % now." in words


def test_text_of_a_finished_training_says_at_the_end():
    words = draw.loss_curve_in_words(history(epochs=1, accuracies=[0.5]))
    assert "50.0 % at the end." in words


def test_confusion_marks_mistakes_by_more_than_colour():
    axes = draw.confusion([[5, 2], [0, 7]], title="t").axes[0]
    widths = {
        text.get_text(): patch.get_linewidth()
        for text, patch in zip(axes.texts, axes.patches, strict=True)
    }
    assert widths["2"] > widths["5"] == widths["7"]


def test_confusion_counts_are_in_their_cells_and_zeros_are_omitted():
    axes = draw.confusion([[5, 2], [0, 7]], title="t").axes[0]
    assert {text.get_text(): text.get_position() for text in axes.texts} == {
        "5": (0, 0),
        "2": (1, 0),
        "7": (1, 1),
    }


def test_confusion_names_classes():
    axes = draw.confusion(np.eye(2, dtype=int), title="t", names=["cat", "dog"]).axes[0]
    assert [label.get_text() for label in axes.get_yticklabels()] == ["cat", "dog"]


@pytest.mark.parametrize("shape", [(2, 3), (25, 25), (0, 0)])
def test_confusion_rejects_non_square_and_large_matrices(shape):
    with pytest.raises(ValueError, match="confusion: expected a square of at most 24"):
        draw.confusion(np.zeros(shape, int), title="t")


def test_image_grid_uses_one_colour_scale():
    pictures = np.array([np.zeros((2, 2)), np.full((2, 2), 4.0), np.full((2, 2), 8.0)])
    shown = [axes.images[0] for axes in draw.grid(pictures, title="t", cols=2).axes[:3]]
    assert {image.get_clim() for image in shown} == {(0, 8)}


def test_signed_image_grid_has_0_in_the_middle_of_the_scale():
    figure = draw.grid(np.array([[[-1.0, 3.0]]]), title="t", signed=True)
    assert figure.axes[0].images[0].get_clim() == (-3, 3)


def marked_cells(axes):
    return sorted((int(y), int(x)) for line in axes.lines for x, y in line.get_xydata())


def test_negative_cells_of_a_signed_image_grid_have_dashes_and_its_colour_bar_a_name():
    figure = draw.grid(np.array([[[-1.0, 3.0], [0, -3]]]), title="t", signed=True)
    assert marked_cells(figure.axes[0]) == [(0, 0), (1, 1)]
    assert figure.axes[1].get_ylabel() == "weight"
    assert [t.get_text() for t in figure.legends[0].get_texts()] == [
        "negative, by more than 5% of the scale"
    ]


@pytest.mark.parametrize("side", [13, 28])
def test_cells_that_are_too_small_for_a_dash_have_none(side):
    figure = draw.grid(-np.ones((1, side, side)), title="t", signed=True)
    assert (marked_cells(figure.axes[0]), figure.legends) == ([], [])


def test_image_grid_keeps_rgb_values():
    colour = np.full((1, 2, 2, 3), 0.5)
    assert (draw.grid(colour, title="t").axes[0].images[0].get_array() == 0.5).all()


def test_image_grid_has_titles_and_borders():
    figure = draw.grid(np.zeros((2, 3, 3)), ["a", "b"], title="t", marked=[1])
    first, second = figure.axes
    assert (first.title.get_text(), second.title.get_text()) == ("a", "b")
    assert (len(first.patches), len(second.patches)) == (0, 1)


def test_image_grid_rejects_a_wrong_number_of_titles():
    with pytest.raises(ValueError, match="grid: expected a word for each of 2 pictures, got 1"):
        draw.grid(np.zeros((2, 3, 3)), ["a"], title="t")


def test_empty_image_grid_is_rejected():
    with pytest.raises(ValueError, match=r"grid: expected pictures .* got \(0, 3, 3\)"):
        draw.grid(np.zeros((0, 3, 3)), title="t")


def test_image_grid_can_be_shown():
    figure = draw.grid(np.eye(4)[None], ["one"], title="t", signed=True)
    assert draw.show(figure, alt="A diagonal of four red squares.").png.startswith(b"\x89PNG")
