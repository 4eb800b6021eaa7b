"""Nothing that a stranger writes is a formula, HTML, a link or a control sequence."""

import csv
import html
import io
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpukit.classroom import escape

TEXT = st.text(st.characters(), max_size=60)
FORMULAS = "=+-@\uff1d\uff0b\uff0d\uff20"


@pytest.mark.parametrize(
    "text",
    [
        "=cmd()",
        "=1+1",
        '=HYPERLINK("http://x","y")',
        "+1+cmd|' /C calc'!A0",
        "-2+3",
        "@SUM(1)",
        "\t=1",
        "\r=1",
        "\n=1",
        " =1",
        '"=1',
        "'=1",
        "\uff1d1",
        "\x00=1",
        "\u200b=1",
        "a;=1",
        'a;"=1',
        "a\t=1",
        "a\n=1",
        "a\r\n@x",
        "--1",
        "-1-1",
        "+5",
        "-x",
    ],
)
@pytest.mark.parametrize("separator", [",", ";", "\t"])
def test_no_cell_is_a_formula_whatever_separator_a_spreadsheet_expects(text, separator):
    file = io.StringIO(newline="")
    csv.writer(file).writerow(["alice", escape.cell(text)])
    rows = csv.reader(io.StringIO(file.getvalue(), newline=""), delimiter=separator)
    cells = [
        cell.strip(" \"'") if cell[:1] == '"' else cell.lstrip() for row in rows for cell in row
    ]
    assert [cell for cell in cells if cell[:1] in [*FORMULAS]] == []


@given(TEXT)
def test_a_cell_of_any_text_is_on_one_line_and_no_formula(text):
    cell = escape.cell(text)
    assert not re.search("[\x00-\x1f\x7f-\x9f\u202a-\u202e\ud800-\udfff]", cell)
    number = re.fullmatch(r"-?\d+(\.\d+)?", cell)
    assert number or cell.lstrip()[:1] not in [*FORMULAS]
    cell.encode()


@given(st.integers() | st.floats(allow_nan=False, allow_infinity=False, width=32))
def test_numbers_stay_numbers(number):
    cell = escape.cell(number)
    assert float(cell) == pytest.approx(number, rel=1e-9, abs=1e-30)


@given(st.from_regex(r"-?[0-9]{1,9}(\.[0-9]{1,3})?", fullmatch=True))
def test_numbers_in_text_stay_as_they_are(text):
    assert escape.cell(text) == text


@given(st.text(st.characters(codec="ascii", exclude_categories=["Cc"], exclude_characters=";")))
def test_a_cell_that_is_read_again_is_the_text(text):
    assert escape.unescaped(escape.cell(text)) == (
        text.strip() if not escape.cell(text).startswith('="') else text
    )


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("\x1b[1;31mred\x1b[0m", "red"),
        ("\x1b]0;title\x07after", "after"),
        ("\x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\", "link"),
        ("\x9b31mred", "red"),
        ("a\x1bMb", "ab"),
        ("unfinished\x1b]0;a\nb", "unfinished\nb"),
        ("evil\u202etxt.exe", "evil\ufffdtxt.exe"),
        ("half \ud800", "half \ufffd"),
        ("one\r\ntwo", "one\ntwo"),
    ],
)
def test_plain_text_has_no_control_sequences(text, shown):
    assert escape.plain(text) == shown


@given(TEXT)
def test_plain_text_of_plain_text_is_the_same(text):
    plain = escape.plain(text)
    assert escape.plain(plain) == plain
    assert "\x1b" not in plain


@given(TEXT, st.integers(1, 12))
def test_a_line_is_no_longer_than_asked(text, most):
    assert len(escape.line(text, most)) <= most


HOSTILE = [
    "<script>alert(1)</script>",
    "[click](javascript:alert(1))",
    "![](http://tracker/x.png)",
    "http://example.org/a_b",
    "https://example.org",
    "www.example.org",
    "mail someone@example.org",
    "@everyone #1",
    "`code` ``` and ~~~",
    "*a* _b_ **c** ~~d~~",
    "a | b | c",
    "\\*not bold\\*",
    "&lt;b&gt; &amp; &copy;",
    "<https://example.org>",
    "$x^2$",
    "\x1b[31mred\x1b[0m",
    "<!-- comment",
    "a](b) [c]: d",
]


def shown(page):
    """Return a page as HTML, as a renderer with tables and links of bare addresses does."""
    mistune = pytest.importorskip("mistune")
    extensions = ["table", "url", "strikethrough", "math"]
    return mistune.create_markdown(escape=False, plugins=extensions)(page)


@pytest.mark.parametrize("text", HOSTILE)
def test_markdown_shows_text_as_it_is(text):
    page = shown(f"# {escape.markdown(text)}\n\n| a |\n| --- |\n| {escape.markdown(text)} |\n")
    tags = set(re.findall(r"<(\w+)", page))
    assert tags == {"h1", "table", "thead", "tbody", "tr", "th", "td"}
    assert html.unescape(re.search("<td>(.*)</td>", page)[1]) == escape.line(text)


@given(st.text(st.sampled_from("`~\n a<>*[]()|#\\$_&"), max_size=40))
def test_a_block_shows_any_text_as_it_is(text):
    page = shown(f"before\n\n{escape.block(text)}\n\nafter")
    assert set(re.findall(r"<(\w+)", page)) == {"p", "pre", "code"}
    assert page.count("<pre>") == 1
    assert page.endswith("<p>after</p>\n")
