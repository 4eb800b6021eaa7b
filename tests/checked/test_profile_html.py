"""HTML of a profile: well formed, accessible and legible on any page."""

import re

import pytest

from gpukit.checked.counters import RATIOS
from tests.checked.html_page import Page
from tests.checked.profiled import handmade, profile

NAMES = ["column", "tile", "calling", "hot", "uneven", "idle"]


def page(name):
    return Page(profile(name)._repr_html_())


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.costly
def test_html_contains_totals_advice_and_source(name):
    text = page(name).text
    one = profile(name)
    assert f"{name}_kernel[" in text
    for sentence in one.advice():
        assert sentence.replace("`", "") in text
    for _, line in one.source[-2:]:
        assert line.strip() in text


def test_html_of_an_empty_profile_is_well_formed():
    assert "Nothing was counted." in Page(handmade()._repr_html_()).text


def test_heat_is_a_number_and_the_length_of_a_bar():
    row = page("tile").row("out[ty, tx] = tile[tx, ty]")
    hot = next(cell for cell in row if cell[2] == "32.0" and "lanes" not in cell[1]["title"])
    assert "linear-gradient" in hot[1]["style"]
    assert "100%" in hot[1]["style"]


def test_ideal_cells_have_no_bar():
    row = page("column").row("if row < x.shape[0]")
    (lanes,) = [cell for cell in row if cell[2] == "32.0"]
    assert "gradient" not in lanes[1]["style"]


def test_column_tooltips_give_meaning_and_modelled_metric():
    heads = [a["title"] for a in page("tile").all("th") if "title" in a]
    assert len(heads) == 4
    assert any(RATIOS["sectors_per_request"].metric in title for title in heads)


def test_cells_are_labelled_with_line_and_metric():
    row = page("column").row("out[col, row] = x[row, col]")
    titles = [cell[1].get("title", "") for cell in row if cell[0] == "td" and cell[2]][:-1]
    number = row[-2][2]
    assert len(titles) == 3
    assert all(t.startswith(f"Line {number}: ") and "Nsight Compute: " in t for t in titles)


def test_meanings_can_be_read_without_a_mouse():
    shown = page("column")
    assert shown.all("details")
    assert len(shown.all("dt")) == len(shown.all("dd")) == 3


def test_tables_have_names_and_headers_of_rows_and_columns():
    shown = page("tile")
    assert [a["aria-label"] for a in shown.all("table")] == [
        "Totals",
        "Source with counts",
        "Arrays",
        "Accesses",
        "Occupancy",
    ]
    assert all(a.get("scope") in ("row", "col") for a in shown.all("th"))
    assert shown.all("section")[0]["aria-label"] == "Profile of tile_kernel"


def test_headings_follow_each_other():
    levels = [tag for tag, _ in page("calling").tags if re.fullmatch("h[1-6]", tag)]
    assert levels == ["h3", "h4", "h4", "h4", "h4", "h4"]


def test_rows_of_a_table_have_as_many_cells_as_its_head():
    shown = page("hot")
    source = [row for row in shown.rows if any("min-width" in c[1].get("style", "") for c in row)]
    assert len({len(row) for row in source}) == 1


def _luminance(parts):
    linear = [p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


@pytest.mark.parametrize(("paper", "ink"), [("ffffff", "222222"), ("111111", "dddddd")])
def test_numbers_on_a_bar_are_legible_on_light_and_dark_pages(paper, ink):
    found = re.search(r"rgba\((\d+), (\d+), (\d+), ([\d.]+)\) 100%", profile("tile")._repr_html_())
    *colour, alpha = map(float, found.groups())
    below, text = ([int(c[k : k + 2], 16) / 255 for k in (0, 2, 4)] for c in (paper, ink))
    mixed = [alpha * c / 255 + (1 - alpha) * b for c, b in zip(colour, below, strict=True)]
    light, dark = sorted((_luminance(mixed), _luminance(text)), reverse=True)
    assert (light + 0.05) / (dark + 0.05) >= 4.5


def test_source_indentation_is_preserved():
    row = page("column").row("out[col, row] = x[row, col]")
    assert "12ch" in row[-1][1]["style"]
