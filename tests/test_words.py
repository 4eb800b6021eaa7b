"""Names and prose use the field's terms, which readers can search for."""

import re
from pathlib import Path

import pytest

from tests.notebooks import questions, running

ROOT = Path(__file__).resolve().parent.parent
TEXT = {".py", ".md", ".toml", ".js", ".css", ".cfg", ""}

# Patterns of private words in names or prose, and what to write instead.
INSTEAD = {
    "rungs?": "variant",
    "ladders?": "variants",
    "contests?": "comparison, or contention of atomics",
    "quads?": "float4, 16-byte access, vectorized",
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
# The deprecated keyword, and files whose words are not gpukit's.
ALLOWED = {
    ("gpukit/signature.py", "rung"),
    ("tests/test_signature.py", "rung"),
    (".gitignore", "stamps"),
    ("tests/test_words.py", None),
    ("LICENSE", None),
}
ANY = re.compile("|".join(INSTEAD))  # on lower case, a prefilter that is ten times as fast
FOLDERS = (".ci", "benchmarks", "docs", "exercises", "gpukit", "tests")
EXCLUDED = ("benchmarks/results/", "constraints.txt")


def files():
    """Return the names of the project's files, without a learner's answers."""
    found = [*ROOT.iterdir(), *(path for folder in FOLDERS for path in (ROOT / folder).rglob("*"))]
    names = {path.relative_to(ROOT).as_posix(): path for path in found if path.is_file()}
    return [
        name
        for name, path in names.items()
        if path.suffix in TEXT
        and path.stem != "answer"
        and not name.startswith(EXCLUDED)
        and (name, None) not in ALLOWED
    ]


def private(text):
    """Return the private words of a text, with line numbers and replacements."""
    if not ANY.search(text.lower()):
        return []
    return [
        (number, found[0], instead)
        for number, line in enumerate(text.splitlines(), 1)
        for pattern, instead in PRIVATE.items()
        for found in pattern.finditer(line)
    ]


def test_names_messages_docstrings_and_docs_use_the_terms_of_the_field():
    found = [
        f"{name}:{line}: {word!r}, write {instead}"
        for name in files()
        for line, word, instead in private((ROOT / name).read_text(encoding="utf-8"))
        if (name, word.lower()) not in ALLOWED
    ]
    found += [f"{name}: a file of that name" for name in files() if private(Path(name).stem)]
    assert found == [], "\n".join(found)


@pytest.mark.parametrize("path", running.NOTEBOOKS, ids=lambda path: path.stem)
def test_lessons_and_their_sealed_answers_use_the_terms_of_the_field(path):
    for cell in running.read(path).cells:
        call = questions.call_of(cell.source) if cell.cell_type == "code" else None
        because = questions.answer_of(call)["because"] if call else ""
        assert private(f"{cell.source}\n{because}") == [], cell.id


@pytest.mark.parametrize(
    "text",
    ["every_rung", "class Rung:", "SUM_LADDER", "_adopted", "a_quads", "It mends that.", "Pace()"],
)
def test_a_private_word_is_found_in_names_and_prose(text):
    assert private(text)


@pytest.mark.parametrize(
    "text", ["wrung", "quadruple", "timestamp", "recommend", "space", "must not slip through"]
)
def test_words_that_only_contain_a_private_word_are_allowed(text):
    assert private(text) == []
