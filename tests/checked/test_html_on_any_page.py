"""HTML of reports and profiles: escaped, self-contained, legible on any background."""

import re

import pytest

from tests.checked import findings, profiled
from tests.checked.html_page import Page

NAMES = ["column", "tile", "calling", "hot", "uneven", "idle"]


@pytest.mark.parametrize("make", [findings.nasty, profiled.nasty], ids=["report", "profile"])
def test_html_escapes_everything(make):
    source = make()._repr_html_()
    shown = Page(source)
    assert not shown.all("b")
    assert not shown.all("i")
    assert "\x1b" not in source
    assert "&lt;b&gt;" in source
    source.encode()


def test_html_references_no_external_resources():
    for shown in (findings.full(), *map(profiled.profile, NAMES)):
        source = shown._repr_html_()
        assert not re.search(r"<(script|link|style|img|iframe)|https?:|url\(", source)


def colours(shown):
    """Return the text colours, each with its style attribute."""
    styles = [attributes.get("style", "") for _, attributes in shown.tags]
    return [(c, style) for style in styles for c in re.findall(r"(?<![-\w])color: ([^;]+)", style)]


def test_html_text_inherits_the_colour_of_the_page():
    # Fixed text colours are allowed only on fixed backgrounds, and not at all in a profile.
    report = colours(Page(findings.full()._repr_html_()))
    assert all(c == "inherit" or "background: #" in style for c, style in report)
    profile = colours(Page(profiled.profile("tile")._repr_html_()))
    assert {c for c, _ in profile} <= {"inherit"}
