"""Figures of sequences: matrices over time and unrolled recurrent networks."""

import numpy as np
import pytest
from matplotlib.text import Annotation

from gpukit import draw


def drawn(*arrays):
    return draw.over_time(*((f"m{k}", a) for k, a in enumerate(arrays)), title="t")


def images(figure):
    return [axes.images[0] for axes in figure.axes if axes.images]


def test_each_matrix_is_drawn_unchanged():
    first, second = np.arange(6.0).reshape(2, 3), -np.ones((4, 3))
    shown = [image.get_array().tolist() for image in images(drawn(first, second))]
    assert shown == [first.tolist(), second.tolist()]


def test_white_is_zero_for_numbers_of_both_signs():
    (image,) = images(drawn(np.array([[-3.0, 1]])))
    assert image.get_clim() == (-3, 3)
    assert np.allclose(image.cmap(0.5)[:3], 0.97, atol=0.02)


def test_negative_numbers_have_dashes_unless_they_are_pale():
    figure = drawn(np.array([[-3.0, 1], [2, -0.1]]))
    dashes = [tuple(p) for line in figure.axes[0].lines for p in line.get_xydata()]
    assert dashes == [(0, 0)]
    assert len(figure.legends) == 1


def test_positive_numbers_have_no_dashes():
    figure = drawn(np.array([[3.0, 1], [2, 0.1]]))
    assert (list(figure.axes[0].lines), figure.legends) == ([], [])


def test_scale_of_positive_numbers_begins_at_zero():
    (image,) = images(drawn(np.array([[0.4, 0.8]])))
    assert image.get_clim() == (0, 0.8)


def test_zeros_have_a_scale_too():
    (image,) = images(drawn(np.zeros((2, 3))))
    assert image.get_clim() == (0, 1)


def test_matrices_have_titles():
    titles = [axes.get_title(loc="left") for axes in drawn(np.ones((1, 2)), np.ones((3, 2))).axes]
    assert titles[:2] == ["m0", "m1"]


@pytest.mark.parametrize("arrays", [(np.ones((2, 3)), np.ones((2, 4))), (np.ones(3),), ()])
def test_over_time_rejects_arrays_of_unequal_length(arrays):
    with pytest.raises(ValueError, match=r"over_time: expected matrices \(rows, steps\)"):
        drawn(*arrays)


def arrows(figure):
    notes = [t for t in figure.axes[0].texts if isinstance(t, Annotation)]
    return [(note.xyann, note.xy) for note in notes]


def test_arrows_lead_from_step_to_step_and_never_to_another_sample():
    *between, time = arrows(draw.unrolled(4, 3, together=1))
    assert len(between) == 3 * 3
    assert all(start[1] == end[1] and start[0] < end[0] for start, end in [*between, time])


def test_frame_encloses_the_boxes_of_one_step():
    *boxes, frame = draw.unrolled(4, 3, together=1).axes[0].patches
    inside = [box for box in boxes if frame.get_bbox().containsx(box.get_x())]
    assert sorted(box.get_y() for box in inside) == [0, 1, 2]
    assert {box.get_x() for box in inside} == {1}


@pytest.mark.parametrize("size", [(1, 1, 0), (9, 1, 0), (3, 0, 0), (3, 3, 3)])
def test_unrolled_rejects_sizes_it_cannot_draw(size):
    steps, samples, together = size
    with pytest.raises(ValueError, match="unrolled: expected 2 to 8 steps"):
        draw.unrolled(steps, samples, together=together)
