"""Reports and profiles in a notebook: escaped, alone, and readable on a page of any colour."""

import re

import pytest

from tests.checked import findings, profiled
from tests.checked.html_page import Page

NAMES = ["column", "tile", "calling", "hot", "uneven", "idle"]


@pytest.mark.parametrize("made", [findings.nasty, profiled.nasty], ids=["report", "profile"])
def test_html_escapes_everything(made):
    source = made()._repr_html_()
    shown = Page(source)
    assert not shown.all("b")
    assert not shown.all("i")
    assert "\x1b" not in source
    assert "&lt;b&gt;" in source
    source.encode()


def test_html_needs_nothing_from_elsewhere():
    for made in (findings.full(), *map(profiled.profile, NAMES)):
        source = made._repr_html_()
        assert not re.search(r"<(script|link|style|img|iframe)|https?:|url\(", source)


def colours(shown):
    """Return the colours of text, each with the style that it stands in."""
    styles = [attributes.get("style", "") for _, attributes in shown.tags]
    return [(c, style) for style in styles for c in re.findall(r"(?<![-\w])color: ([^;]+)", style)]


def test_text_in_html_takes_the_colour_of_the_page():
    # A fixed colour of text stands on a fixed background only, and in a profile nowhere.
    report = colours(Page(findings.full()._repr_html_()))
    assert all(c == "inherit" or "background: #" in style for c, style in report)
    profile = colours(Page(profiled.profile("tile")._repr_html_()))
    assert {c for c, _ in profile} <= {"inherit"}
