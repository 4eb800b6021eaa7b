"""The field's terms and no others: a reader must be able to search for every word.

The prose of the lessons has a list of its own; what they quote of the package is checked here.
"""

import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
TEXT = {".py", ".md", ".toml", ".js", ".css", ".cfg", ""}

# A private word, as a pattern for a part of a name or for prose, and what to write instead.
INSTEAD = {
    "rungs?": "variant",
    "ladders?": "variants",
    "contests?": "comparison, or contention of atomics",
    "quads?": "float4, 16-byte access, vectorised",
    "stamps?": "epoch",
    "rooms": "packages",
    "adopt(ed|s)?": "to_device, as_array",
    "slips?(?! (in|through))": "mistake",
    "mend(s|ed|ing)?": "fix",
    "pace": "rate; memory-bound or compute-bound",
    "sinks?": "scratch memory, output",
    "watchers?": "observer",
    "(switched|turned) off(?= (lanes?|threads?))": "inactive, masked off",
    "(memory|bytes|requests?) under way": "in flight",
    "neutral elements?": "identity",
    "nobody comes between": "atomic",
    "bend of the roof(line)?|roof(line)? bends?": "ridge point",
    "by heart": "memorized",
    "labels by chance": "random labels",
    "hidden numbers": "hidden units",
    "table of pairs": "bigram model",
    "(thread|threads) loops? (behind|other|loops)": "leaves: a search and replace went wrong",
}
PRIVATE = {
    re.compile(rf"(?<![A-Za-z])(?:{word})(?![a-z])", re.IGNORECASE): instead
    for word, instead in INSTEAD.items()
}
# The old keyword, which is refused with a warning, and files that are not ours to word.
ALLOWED = {
    ("gpukit/signature.py", "rung"),
    ("tests/test_signature.py", "rung"),
    (".gitignore", "stamps"),
    ("tests/test_words.py", None),
    ("LICENSE", None),
}
ANY = re.compile("|".join(INSTEAD))  # in lower case: passes over most files, ten times as fast
LEFT_OUT = ("notebooks/", "benchmarks/results/", "constraints.txt")


def files():
    listed = subprocess.run(
        ["git", "ls-files", "-co", "--exclude-standard"],
        cwd=ROOT,
        check=True,
        capture_output=True,
        text=True,
    ).stdout
    return [
        name
        for name in listed.splitlines()
        if (ROOT / name).is_file()
        and Path(name).suffix in TEXT
        and not name.startswith(LEFT_OUT)
        and (name, None) not in ALLOWED
    ]


def private(text):
    """Return the private words of a text, each with its line and what to write instead."""
    return ANY.search(text.lower()) and [
        (number, found[0], instead)
        for number, line in enumerate(text.splitlines(), 1)
        for pattern, instead in PRIVATE.items()
        for found in pattern.finditer(line)
    ]


def test_names_messages_docstrings_and_docs_use_the_terms_of_the_field():
    found = [
        f"{name}:{line}: {word!r}, write {instead}"
        for name in files()
        for line, word, instead in private((ROOT / name).read_text(encoding="utf-8")) or []
        if (name, word.lower()) not in ALLOWED
    ]
    found += [f"{name}: a file of that name" for name in files() if private(Path(name).stem)]
    assert found == [], "\n".join(found)


@pytest.mark.parametrize(
    "text",
    ["every_rung", "class Rung:", "SUM_LADDER", "_adopted", "a_quads", "It mends that.", "Pace()"],
)
def test_a_private_word_is_seen_in_names_and_in_prose(text):
    assert private(text)


@pytest.mark.parametrize(
    "text", ["wrung", "quadruple", "timestamp", "recommend", "space", "must not slip through"]
)
def test_words_that_only_contain_one_are_free(text):
    assert not private(text)
