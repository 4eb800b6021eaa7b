"""The notebook files in git: format, headings, links, seeds."""

import re
from itertools import pairwise

import nbformat
import pytest

from tests.notebooks import questions, running

pytestmark = pytest.mark.parametrize("path", running.NOTEBOOKS, ids=lambda path: path.stem)

MOST_LINES = 30
MOST_WORDS = 150
MOST_CELLS = 45
SEED = "20261120"


def headings(notebook):
    """Return (level, text) of every Markdown heading, in order."""
    text = "\n".join(cell.source for cell in running.text_cells(notebook))
    text = re.sub(r"^```.*?^```", "", text, flags=re.MULTILINE | re.DOTALL)
    return [(len(marks), words) for marks, words in re.findall(r"^(#+) (.+)$", text, re.MULTILINE)]


def test_notebook_is_valid(path):
    nbformat.validate(running.read(path))


def test_notebook_is_canonical_json(path):
    assert path.read_text(encoding="utf-8") == nbformat.writes(running.read(path)) + "\n"


def test_notebook_stores_no_outputs(path):
    stored = [cell.id for cell in running.code_cells(running.read(path)) if cell.outputs]
    assert stored == []


def test_notebook_stores_no_execution_counts(path):
    counted = [
        cell.id
        for cell in running.code_cells(running.read(path))
        if cell.execution_count is not None
    ]
    assert counted == []


def test_cell_ids_are_unique(path):
    ids = [cell.id for cell in running.read(path).cells]
    assert len(set(ids)) == len(ids)


def test_first_cell_contains_the_only_h1(path):
    notebook = running.read(path)
    titles = [words for level, words in headings(notebook) if level == 1]
    assert notebook.cells[0].source.startswith(f"# {titles[0]}\n")
    assert len(titles) == 1


def test_no_heading_level_is_skipped(path):
    levels = [level for level, _ in headings(running.read(path))]
    jumps = [(a, b) for a, b in pairwise(levels) if b > a + 1]
    assert jumps == []


def test_headings_are_unique(path):
    words = [words for _, words in headings(running.read(path))]
    assert len(set(words)) == len(words)


@pytest.mark.parametrize("line", ["**You will learn**", "**Time**", "**Needs GPU?**"])
def test_first_cell_contains_the_summary_box(path, line):
    assert line in running.read(path).cells[0].source


def test_code_cells_are_short(path):
    long = [
        cell.id
        for cell in running.code_cells(running.read(path))
        if len(cell.source.splitlines()) > MOST_LINES
    ]
    assert long == []


def test_text_cells_are_short(path):
    long = [
        cell.id
        for cell in running.text_cells(running.read(path))
        if len(cell.source.split()) > MOST_WORDS
    ]
    assert long == []


def test_a_cell_asks_one_question_as_only_the_last_one_is_shown(path):
    several = [
        c.id for c in running.code_cells(running.read(path)) if c.source.count("draw.ask(") > 1
    ]
    assert several == []


def test_random_numbers_have_the_seed_of_the_book(path):
    source = "\n".join(cell.source for cell in running.code_cells(running.read(path)))
    seeds = set(re.findall(r"default_rng\((.*?)\)", source))
    assert seeds <= {SEED}
    assert "np.random.seed" not in source


def test_text_contains_no_measured_times(path):
    text = "\n".join(cell.source for cell in running.text_cells(running.read(path)))
    assert re.findall(r"\d[\d.]* ?(?:ns|us|ms|milliseconds|microseconds|seconds)\b", text) == []


def test_links_resolve_to_files(path):
    text = "\n".join(cell.source for cell in running.text_cells(running.read(path)))
    text = re.sub(r"`[^`\n]*`", "", text)  # `kernel[4, 256](x, out)` is not a link
    links = [link for link in re.findall(r"\]\(([^)#]+)\)", text) if "://" not in link]
    assert [link for link in links if not (path.parent / link).exists()] == []


def test_exercises_named_in_the_text_exist(path):
    text = "\n".join(cell.source for cell in running.text_cells(running.read(path)))
    named = set(re.findall(r"`gpukit (?:test|hint|reset) (\w+)", text))
    known = {file.parent.name for file in running.ROOT.glob("exercises/*/*/exercise.toml")}
    assert named <= known


def test_answers_to_questions_are_sealed(path):
    """No viewer shows them: python -m tests.notebooks.questions seal."""
    for cell in running.code_cells(running.read(path)):
        if "draw.ask(" in cell.source:
            call = questions.call_of(cell.source)
            assert call, cell.id
            assert {k.arg for k in call.keywords} - {"unit"} == {"sealed"}
            assert cell.metadata.get("jupyter") == {"source_hidden": True}


def test_answers_to_questions_give_a_reason(path):
    for cell in running.code_cells(running.read(path)):
        if call := questions.call_of(cell.source):
            assert len(questions.answer_of(call)["because"].split()) > 3


def test_the_core_path_is_short(path):
    assert len(running.core(running.read(path))) <= MOST_CELLS


def test_going_further_comes_last(path):
    sections = [words for level, words in headings(running.read(path)) if level == 2]
    assert sections[-2:] == ["Summary", running.FURTHER]


def test_exercise_cells_contain_the_starter(path):
    other = {
        running.exercise_of(cell): cell.source
        for cell in running.code_cells(running.read(path))
        if running.exercise_of(cell)
        and cell.source.partition("\n")[2] != running.code_of(running.exercise_of(cell), "starter")
    }
    assert other == {}


def test_images_in_the_text_have_alt_text(path):
    text = "\n".join(cell.source for cell in running.text_cells(running.read(path)))
    assert re.findall(r"!\[\s*\]", text) == []
    assert [
        tag for tag in re.findall(r"<img[^>]*>", text) if not re.search(r'alt="[^"]+', tag)
    ] == []
