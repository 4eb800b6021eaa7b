"""Text that strangers wrote, made safe for a terminal, a spreadsheet and a Markdown page.

Names of students, explanations and output quote what somebody handed in.
"""

from __future__ import annotations

import re

from gpukit.checked.report.content import clean

# CSI and OSC sequences, and escapes of two characters, whole: without them the text reads on.
_ANSI = re.compile(
    "(?:\x1b\\[|\x9b)[0-?]*[ -/]*[@-~]"
    "|(?:\x1b\\]|\x9d)[^\x07\x1b\n]*(?:\x07|\x1b\\\\)?"
    "|\x1b[ -/]*[0-~]"
)
# These reorder what is displayed or take no space, so that two different names look alike.
_INVISIBLE = re.compile("[\u200b\u2028-\u202e\u2060-\u2069\ufeff]")

# What a spreadsheet may take for a formula: at the start of a cell, and after a character at which
# one that expects another separator starts a cell of its own. The last four are full-width forms.
_FORMULA = re.compile("(^|;)([\\s'\"]*)(?=[=+\\-@\uff1d\uff0b\uff0d\uff20])")
_NUMBER = re.compile(r"-?\d+(\.\d+)?")

# Backslashes where CommonMark and its extensions know them, entities elsewhere.
_MARKDOWN = str.maketrans(
    {one: f"\\{one}" for one in "\\`*_[]|~#!$"}
    | {"&": "&amp;", "<": "&lt;", ">": "&gt;", "@": "&#64;"}
)


def plain(text: str) -> str:
    """Return text without ANSI sequences, in which other control characters are replaced.

    >>> plain("\x1b[31mred\x1b[0m \x07")
    'red \ufffd'
    """
    text = _ANSI.sub("", text.replace("\r\n", "\n"))
    return _INVISIBLE.sub("\ufffd", clean(text))


def line(text: str, most: int = 0) -> str:
    """Return plain text on one line, of at most `most` characters where that is given.

    >>> line("one\\n two", 5)
    'one …'
    """
    text = " ".join(plain(text).split())
    return f"{text[: most - 1]}…" if 0 < most < len(text) else text


def name(text: str, most: int) -> str:
    """Return a name on one line; of a long one, the start and the end, which tells it from others.

    >>> name("exercise_1_of_the_week", 12)
    'exercis…week'
    """
    text = line(text)
    end = most // 3
    return text if len(text) <= most else f"{text[: most - end - 1]}…{text[-end:]}"


def cell(value: str | int | float | None) -> str:
    """Return a cell of a CSV file that no spreadsheet takes for a formula; nothing for None.

    An apostrophe before a text makes it text. Numbers stay numbers.

    >>> cell("=cmd()"), cell("a;@x"), cell(-1), cell("-12.5"), cell(None)
    ("'=cmd()", "a;'@x", '-1', '-12.5', '')
    """
    if not isinstance(value, str):
        return "" if value is None else f"{value:.10g}"
    text = re.sub("[\t\n]", " ", plain(value))
    return text if _NUMBER.fullmatch(text) else _FORMULA.sub(r"\1'\2", text)


def unescaped(text: str) -> str:
    """Return what a cell holds, without the protection of `cell` or of Canvas at its start.

    >>> unescaped("'=cmd()"), unescaped('="=cmd()"'), unescaped("'quoted'")
    ('=cmd()', '=cmd()', "'quoted'")
    """
    text = text.strip()
    if text.startswith('="') and text.endswith('"'):
        return text[2:-1]
    return text[1:] if text.startswith("'") and _FORMULA.match(text[1:]) else text


def markdown(text: str, most: int = 0) -> str:
    """Return text inside a line that Markdown shows as it is: no emphasis, HTML, link or mention.

    >>> print(markdown("a*b <script> [x](http://y)"))
    a\\*b &lt;script&gt; \\[x\\](http&#58;//y)
    """
    text = line(text, most).translate(_MARKDOWN)
    return re.sub(r"(?i)\b(www)\.", r"\1&#46;", text.replace("://", "&#58;//"))


def block(text: str) -> str:
    """Return text as a fenced block of Markdown, with a fence that it does not contain."""
    text = plain(text).rstrip()
    fence = "`" * max([3, *(len(run) + 1 for run in re.findall("`+", text))])
    return f"{fence}text\n{text}\n{fence}"
