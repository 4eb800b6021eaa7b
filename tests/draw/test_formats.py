"""Number formats: the bits that are drawn are those of the number, and ranges are float16's."""

import numpy as np
import pytest

from gpukit import draw
from gpukit.kernels.convert import convert_reference
from tests.draw.figures import words

SMALL = 9  # the size of a bit; what they hold is written larger


def rows_of(figure):
    """Return the bits of each format as a string, from the top."""
    places = {}
    for text in figure.axes[0].texts:
        if text.get_text() in ("0", "1") and text.get_fontsize() == SMALL:
            places.setdefault(round(text.get_position()[1], 2), []).append(text.get_text())
    return ["".join(bits) for _, bits in sorted(places.items())]


def in_bits(array, width):
    return f"{int(array.view(f'u{array.itemsize}')[0]):0{width}b}"


@pytest.mark.parametrize("value", [0.1, -6.25, 0.0, 1e-7, 70000.0, 1 / 3])
def test_bits_are_those_of_the_number_in_each_format(value):
    x = np.array([value], np.float32)
    with np.errstate(over="ignore"):
        half = x.astype(np.float16)
    q = np.clip(np.rint(x / np.float32(0.05)), -127, 127).astype(np.int8)
    shown = rows_of(draw.bits(value, scale=0.05, title="t"))
    assert shown == [
        in_bits(x, 32),
        in_bits(half, 16),
        in_bits(convert_reference(x, "bfloat16"), 16),
        in_bits(q, 8),
    ]


def test_fields_of_a_format_differ_in_more_than_colour():
    keys = draw.bits(0.1, title="t").legends[0].get_patches()
    assert len({patch.get_hatch() for patch in keys}) == 3


def test_bits_say_what_each_format_holds():
    assert {"0.1000000015", "0.09997558594", "0.1000976562", "2 x 0.05 = 0.1"} <= set(
        words(draw.bits(0.1, scale=0.05, title="t"))
    )


@pytest.mark.parametrize(("value", "scale"), [(np.nan, 1), (np.inf, 1), (1, 0), (1, -1)])
def test_bits_reject_numbers_that_cannot_be_drawn(value, scale):
    with pytest.raises(ValueError, match="bits: expected"):
        draw.bits(value, scale=scale, title="t")


def test_magnitudes_count_the_numbers_of_each_power_of_two():
    figure = draw.magnitudes({"a": [1, -1.5, 0, 2.0**-20]}, title="t", ylabel="n")
    (steps,) = [p for p in figure.axes[0].patches if hasattr(p, "get_data")]
    counts, edges, _ = steps.get_data()
    assert {int(edge): int(n) for n, edge in zip(counts, edges, strict=False) if n} == {
        0: 2,
        -20: 1,
    }


def test_magnitudes_mark_where_float16_becomes_zero():
    names = words(draw.magnitudes({"a": [1.0]}, title="t", ylabel="n"))
    assert {"underflow", "subnormal", "normal"} <= set(names)
    assert np.float16(2.0**-25) == 0
    assert np.float16(1.01 * 2.0**-25) > 0


def test_magnitudes_have_a_legend_only_for_several_series():
    one, two = {"a": [1.0]}, {"a": [1.0], "b": [2.0]}
    assert not draw.magnitudes(one, title="t", ylabel="n").legends
    assert len(draw.magnitudes(two, title="t", ylabel="n").legends[0].get_texts()) == 2


@pytest.mark.parametrize("series", [{}, {"a": []}, {"a": [0.0]}])
def test_magnitudes_reject_series_without_numbers(series):
    with pytest.raises(ValueError, match="magnitudes: expected"):
        draw.magnitudes(series, title="t", ylabel="n")
