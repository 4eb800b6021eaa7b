"""HTML of a report: well formed, accessible and legible on any page."""

import re
import sys
from types import SimpleNamespace

import pytest

from gpukit.checked.finding import KINDS, SEVERITIES
from tests.checked.findings import finding, full, report
from tests.checked.html_page import Page


def page(report):
    return Page(report._repr_html_())


@pytest.mark.parametrize("kind", KINDS)
def test_html_contains_the_message_of_every_kind(kind):
    one = finding(kind)
    text = page(report(one)).text
    for words in (one.severity, kind, one.message.replace("`", ""), one.fix.replace("`", "")):
        assert words in text


def test_html_shows_each_severity_as_a_word_beside_its_colour():
    report = page(full())
    badges = [a for a in report.all("span") if "background" in a.get("style", "")]
    assert len(badges) == len(KINDS)
    assert sum(report.words.count(severity) for severity in SEVERITIES) == len(KINDS)


def test_html_marks_the_reported_line_by_sign_and_weight():
    html = report(finding("shared-race"))._repr_html_()
    assert "&gt; 15 | </span><strong>    total += tile[tid + 1]</strong>" in html
    assert "  12 | </span>tile[tid] = x[i]\n" in html


def test_html_is_a_list_of_headed_details():
    report = page(full())
    assert report.all("section")[0]["aria-label"]
    assert report.all("ol")[0]["role"] == "list"
    assert [len(report.all(tag)) for tag in ("h3", "li", "details", "summary", "h4")] == [
        1,
        *[len(KINDS)] * 4,
    ]


def test_only_the_first_findings_are_open():
    assert ["open" in each for each in page(full()).all("details")][:5] == [True] * 3 + [False] * 2


def _luminance(colour):
    parts = [int(colour[k : k + 2], 16) / 255 for k in (1, 3, 5)]
    linear = [p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def test_badges_have_enough_contrast():
    found = set(re.findall(r"background: (#[0-9a-f]{6})", full()._repr_html_()))
    assert len(found) == len(SEVERITIES)
    assert min(1.05 / (_luminance(colour) + 0.05) for colour in found) >= 4.5


def test_html_of_a_clean_report_has_no_empty_list():
    parsed = page(report())
    assert not parsed.all("ol")
    assert parsed.text.startswith("No findings: 7 blocks")


def test_html_of_many_findings_stays_small():
    parsed = page(report(*(finding("shared-race", line=line) for line in range(20, 320))))
    assert len(parsed.all("li")) == 200
    assert "100 more are not shown here" in parsed.text


def test_html_names_the_cell_of_a_notebook(monkeypatch):
    compiler = SimpleNamespace(format_code_name=lambda file: ("Cell", "In[3]"))
    shell = SimpleNamespace(get_ipython=lambda: SimpleNamespace(compile=compiler))
    monkeypatch.setitem(sys.modules, "IPython", shell)
    assert "Cell In[3], line 15 in sum_kernel" in page(report(finding("float64"))).text
