"""The code of README, docs and docstrings runs where people paste it: in cells of a notebook.

Python blocks of a page are run in their order, each as one cell, in a notebook that has run nothing
before, and then all once more. The examples of a docstring are one cell, with the names of its
module.
"""

import ast
import doctest
import re

import pytest

from tests.cells import notebook
from tests.conftest import ROOT
from tests.safety.attempt import on_cpu

pytestmark = on_cpu

PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
FENCE = re.compile(r"^```(.*)\n((?:.*\n)*?)```$", re.MULTILINE)
# Fences of pages: what Python runs, and what it does not.
LANGUAGES = {"python", "console"}
ACTING = ("gpukit/cuda.py", "gpukit/standin/startup/*", "gpukit/primitives/*_gpu.py")


def fences(page):
    return FENCE.findall(page.read_text(encoding="utf-8"))


def blocks(page):
    """The Python blocks of a page."""
    return [text for language, text in fences(page) if language == "python"]


WITH_CODE = [page for page in PAGES if blocks(page)]


def test_fences_say_what_they_hold():
    wrong = [(p.name, text) for p in PAGES for word, text in fences(p) if word not in LANGUAGES]
    assert wrong == []


def test_readme_and_docs_hold_python_blocks():
    assert {page.name for page in WITH_CODE} >= {"README.md", "checking.md"}


@pytest.mark.parametrize("page", WITH_CODE, ids=lambda page: page.name)
@pytest.mark.slow
def test_blocks_of_a_page_run_as_cells_of_a_new_notebook_and_once_more(page, tmp_path):
    with notebook(tmp_path) as running:
        for cell in [*blocks(page), *blocks(page)]:
            assert running.run(cell).error == "", cell


def examples():
    """The examples of each docstring: module, where it stands, examples."""
    acting = {path for pattern in ACTING for path in ROOT.glob(pattern)}
    for path in sorted(set((ROOT / "gpukit").rglob("*.py")) - acting):
        name = ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef):
                found = doctest.DocTestParser().get_examples(ast.get_docstring(node) or "")
                if found:
                    yield name, getattr(node, "name", ""), found


FORGET = """%reset -f
import importlib
globals().update({{k: v for k, v in vars(importlib.import_module({!r})).items() if k[:2] != "__"}})
"""
FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


def differs(example, shown):
    """Whether a cell whose last statement is an example shows something else than it says."""
    if example.exc_msg is not None or not example.want:
        return example.exc_msg is None and shown.error != ""
    text = shown.text[-len(example.want) - 200 :]
    return shown.error != "" or not doctest.OutputChecker().check_output(
        "...\n" + example.want, "shown before\n" + text, FLAGS
    )


@pytest.mark.slow
def test_examples_of_docstrings_run_as_a_cell(tmp_path):
    wrong = []
    with notebook(tmp_path) as running:
        for module, name, found in examples():
            running.run(FORGET.format(module))
            shown = running.run("".join(example.source for example in found))
            if differs(found[-1], shown):
                wrong.append(f"{module}.{name}: {shown}")
    assert wrong == []


def test_docstrings_hold_examples():
    assert len(list(examples())) > 90
