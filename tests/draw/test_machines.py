"""Figures of a computer with a GPU and of a magnified launch, drawn to scale."""

import numpy as np
import pytest
from matplotlib.lines import Line2D
from matplotlib.patches import Rectangle

from gpukit import draw
from gpukit.checked.gpus import GPUS
from gpukit.draw import machines, style
from tests.draw.figures import words

H100 = GPUS["H100"]


@pytest.fixture(scope="module")
def computer():
    return draw.computer()


def filled(figure, colour):
    """Return width and height of the boxes of one colour."""
    from matplotlib.colors import to_rgba

    boxes = [box for box in figure.findobj(Rectangle) if box.get_facecolor() == to_rgba(colour)]
    return [(box.get_width(), box.get_height()) for box in boxes]


def test_computer_has_a_dot_for_each_unit(computer):
    dots = [len(line.get_xdata()) for line in computer.findobj(Line2D) if line.get_marker() == "s"]
    assert sorted(dots) == [8 * 16, 132 * 128]


def test_links_are_drawn_as_wide_as_their_bandwidth(computer):
    cpu, gpu = sorted(width for width, _ in filled(computer, style.BLUE))
    bus = min(height for _, height in filled(computer, style.VERMILLION))
    assert gpu / cpu == pytest.approx(3350 / 89.6)
    assert gpu / bus == pytest.approx(3350 / 64)


def test_numbers_match_the_occupancy_table():
    assert (machines.SMS, machines.GPU_MEMORY * 1e9) == (H100.sms, H100.bandwidth)


def test_computer_names_its_parts(computer):
    shown = " ".join(words(computer))
    assert "CPU" in shown
    assert "GPU" in shown
    assert "bus" in shown


def test_zoom_magnifies_the_block():
    image = np.arange(12 * 20, dtype=np.float32).reshape(12, 20)
    shown = [axes.images[0].get_array() for axes in draw.zoom(image, (8, 4), (2, 1)).axes]
    np.testing.assert_array_equal(shown[1], image[4:8, 16:20])


def test_zoom_rejects_a_block_outside_the_grid():
    with pytest.raises(ValueError, match=r"from \(0, 0\) to \(2, 2\)"):
        draw.zoom(np.zeros((12, 20)), (8, 4), (3, 0))


def test_pictures_can_be_shown(computer):
    for figure in (computer, draw.zoom(np.eye(16), (8, 4), (0, 0))):
        assert draw.show(figure, alt="A picture drawn by a test.").png.startswith(b"\x89PNG")
