"""Pictures of estimates."""

import numpy as np
import pytest

import gpukit
from gpukit import draw
from tests.draw.figures import words
from tests.estimates import kernels

pytestmark = pytest.mark.cpu


@pytest.fixture(scope="module")
def found():
    x = np.ones(256, np.float32)
    return gpukit.estimate(kernels.add, ["RTX 3080", "V100", "T4"])[2, 128](x, x.copy(), x.copy())


def test_a_bar_begins_at_the_likely_time_and_ends_at_the_worst(found):
    bars = draw.estimates(found).axes[0].patches
    ends = [(bar.get_x(), bar.get_x() + bar.get_width()) for bar in bars]
    assert ends == [pytest.approx((one.likely, one.worst)) for one in found[:2]]


def test_rows_are_named_by_what_tells_them_apart(found):
    labels = [tick.get_text() for tick in draw.estimates(found).axes[0].get_yticklabels()]
    assert labels == ["RTX 3080", "V100", "T4"]
    assert [tick.get_text() for tick in draw.estimates(found[0]).axes[0].get_yticklabels()] == [
        "add"
    ]


def test_every_label_of_the_axis_has_a_unit(found):
    assert not any("10^" in text for text in words(draw.estimates(found)))
    axis = draw.estimates(found).axes[0].xaxis
    ticks = [axis.get_major_formatter()(time, None) for time in axis.get_majorticklocs()]
    assert len(ticks) >= 3
    assert all(tick.endswith((" ns", " us", " ms", " s")) for tick in ticks)


def test_a_published_time_is_drawn_where_there_is_one(found):
    assert "published" in words(draw.estimates(found[0], published={"add": 1e-5}))
    assert "published" not in words(draw.estimates(found[0]))


def test_alt_text_has_times_limits_and_what_has_no_likely_time(found):
    text = draw.estimates_in_words(found, published={"add": 1e-5})
    assert "T4: floor" in text
    assert "no likely time" in text
    assert text.count("limited by launch overhead, published 10 us") == 2


def test_more_estimates_than_fit_are_refused(found):
    with pytest.raises(ValueError, match="estimates: expected 1 to 24"):
        draw.estimates(list(found) * 9)
