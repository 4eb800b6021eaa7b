"""The chart of messages: a box per message, where and when the simulation has it."""

import matplotlib.pyplot as plt
import pytest
from matplotlib.patches import Rectangle

from gpukit import draw

LINKS = {
    "star": [[(0.0, 2.0, 8)], [(2.0, 4.0, 8), (4.0, 6.0, 8)], []],
    "ring": [[(0.0, 1.0, 4)], [(0.0, 1.0, 4)], [(1.0, 2.0, 4)]],
}


@pytest.fixture
def figure():
    fig = draw.message_chart(LINKS, title="Two algorithms")
    yield fig
    plt.close(fig)


def boxes(axes):
    found = [p for p in axes.patches if isinstance(p, Rectangle)]
    return [(round(p.get_y() + 0.4), p.get_x(), p.get_x() + p.get_width()) for p in found]


def test_each_message_is_a_box_on_the_row_of_its_sender(figure):
    assert boxes(figure.axes[0]) == [(0, 0.0, 2.0), (1, 2.0, 4.0), (1, 4.0, 6.0)]
    assert boxes(figure.axes[1]) == [(0, 0.0, 1.0), (1, 0.0, 1.0), (2, 1.0, 2.0)]


def test_both_panels_have_one_time_axis_and_their_last_moment_in_the_title(figure):
    assert figure.axes[0].get_xlim() == figure.axes[1].get_xlim()
    assert [axes.get_title(loc="left") for axes in figure.axes] == ["star: 6 s", "ring: 2 s"]


def test_words_name_messages_bytes_and_the_end():
    words = draw.message_chart_in_words(LINKS)
    assert (
        "star: 0 to 2 messages per rank, at most 16 bytes from one rank, the last at 6 s" in words
    )
    assert "ring: 1 message per rank, at most 4 bytes" in words


def test_algorithm_without_messages_is_refused():
    with pytest.raises(ValueError, match="expected 1 to 4 algorithms with messages"):
        draw.message_chart({"none": [[], []]}, title="")
