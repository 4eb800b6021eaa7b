"""Numbers in the text of a lesson that a run of the lesson should have computed."""

import html
import re

from tests.notebooks import running

FACTS = running.ROOT / "tests" / "notebooks" / "facts.json"
NUMBER = r"(?<![\w.,/^-])\d[\d,]*(?:\.\d+)?(?![\w^])"
SEALED = re.compile(r"sealed=(?:\"[^\"]*\"|\([^)]*\))")
PICTURE = re.compile(r'<img\b[^>]*?\balt="([^"]*)"[^>]*>')
UNSEEN = re.compile(r"<(script|style)\b.*?</\1>|<[^>]*>", re.DOTALL)
CODE = re.compile(r"```.*?```|`[^`\n]*`|^    .*?$|\]\([^)]*\)|<[^>]*>", re.MULTILINE | re.DOTALL)


def written(text):
    """Return the numbers of a text cell that look computed: with decimals, per cent, or large.

    >>> written("Of 1,024 lanes 12.5 % work, in lesson 04, as `x[3.5]` says.")
    ['1,024', '12.5']
    """
    text = CODE.sub(" ", text)
    found = re.finditer(NUMBER + r"(?= ?%)|" + NUMBER, text)
    return [
        m[0].rstrip(",")
        for m in found
        if "." in m[0] or "," in m[0].rstrip(",") or re.match(r" ?%", text[m.end() :])
    ]


def value(number):
    return float(number.replace(",", "").replace("_", ""))


def shows(known, number):
    """Tell whether a number is one of the known ones, rounded as it is written, or its percentage.

    >>> shows({0.1234}, "12.3"), shows({1_234_567}, "1,200,000"), shows({0.1234}, "0.13")
    (True, True, False)
    """
    decimals = len(number.partition(".")[2])
    digits = number.replace(",", "")
    zeros = 0 if decimals else len(digits) - len(digits.rstrip("0"))
    near = 0.5001 * 10 ** (zeros - decimals)
    return any(abs(scale * k - value(number)) <= near for k in known for scale in (1, 100, 0.01))


def numbers_in(text):
    return {value(n) for n in re.findall(r"\d[\d,_]*(?:\.\d+)?", text) if n[0].isdigit()}


def seen(output):
    """Return the text that a reader sees in an output, with the alt texts of its pictures.

    >>> page = '<style>b{top:9px}</style><b title="7">3</b> of 4 <img alt="5" src="data:6"/>'
    >>> seen({"data": {"text/html": page}}).split()
    ['3', 'of', '4', '5']
    """
    data, metadata = output.get("data", {}), output.get("metadata", {})
    page = UNSEEN.sub(" ", PICTURE.sub(r" \1 ", data.get("text/html", "")))
    alts = [one.get("alt", "") for one in metadata.values() if isinstance(one, dict)]
    plain = output.get("text", "") + data.get("text/plain", "")
    text = " ".join([plain, html.unescape(page), *alts])
    return re.sub(r"ipykernel_\d+/\d+", " ", text)  # files of cells, numbered anew in each run


def unknown(notebook):
    """Yield the numbers of a lesson's text that no cell above computes or contains."""
    known = set()
    for cell in notebook.cells:
        if cell.cell_type == "markdown":
            for number in written(cell.source):
                if not shows(known, number):
                    yield number
            known |= numbers_in(
                " ".join(re.findall(r"`[^`]*`|^ {4}.*$", cell.source, re.MULTILINE))
            )
        else:
            known |= numbers_in(SEALED.sub("", cell.source))
            if "timing" not in cell.metadata.get("tags", []):
                known |= numbers_in(" ".join(map(seen, cell.outputs)))
