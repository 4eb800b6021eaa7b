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


def test_words_have_the_unit_of_the_picture():
    assert "the last at 250 ms" in draw.message_chart_in_words({"a": [[(0.0, 0.25, 8)]]})


@pytest.mark.parametrize(
    ("sizes", "keys"),
    [
        ([4000], ["messages of 4,000 bytes"]),
        ([8, 4], ["messages of 8 bytes", "messages of 4 bytes"]),
        ([2, 8, 1], ["messages of 8 bytes", "messages of 1 to 2 bytes"]),
    ],
)
def test_legend_has_the_sizes_of_the_messages(sizes, keys):
    links = {"a": [[(0.0, 1.0, size) for size in sizes]]}
    (legend,) = draw.message_chart(links, title="One").legends
    assert [text.get_text() for text in legend.get_texts()] == keys


def test_algorithm_without_messages_is_refused():
    with pytest.raises(ValueError, match="expected 1 to 4 algorithms with messages"):
        draw.message_chart({"none": [[], []]}, title="")
