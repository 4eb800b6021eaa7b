"""The code of README, docs and docstrings runs when it is pasted into notebook cells.

The Python blocks of a page run in order, each as one cell, in a new notebook, and then all once
more. The examples of a docstring run as one cell, with the names of its module.
"""

import ast
import doctest
import re

import pytest

from tests import often
from tests.cells import notebook
from tests.conftest import ROOT
from tests.safety.attempt import on_cpu

pytestmark = on_cpu

PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
FENCE = re.compile(r"^```(.*)\n((?:.*\n)*?)```$", re.MULTILINE)
# Languages of fenced blocks; those in Python are run.
LANGUAGES = {"python", "console", "yaml"}
# Modules that act when they are imported.
SIDE_EFFECTS = ("gpukit/cuda.py", "gpukit/standin/startup/*", "gpukit/primitives/*_gpu.py")


def fences(page):
    return FENCE.findall(page.read_text(encoding="utf-8"))


def blocks(page):
    """Return the Python blocks of a page."""
    return [text for language, text in fences(page) if language == "python"]


WITH_CODE = [page for page in PAGES if blocks(page)]


def test_fenced_blocks_have_a_known_language():
    wrong = [(p.name, text) for p in PAGES for word, text in fences(p) if word not in LANGUAGES]
    assert wrong == []


def test_readme_and_docs_have_python_blocks():
    assert {page.name for page in WITH_CODE} >= {"README.md", "checking.md"}


@pytest.mark.parametrize("page", WITH_CODE, ids=lambda page: page.name)
@pytest.mark.slow
def test_blocks_of_a_page_run_twice_as_cells_of_a_new_notebook(page, tmp_path):
    with notebook(tmp_path) as running:
        for cell in [*blocks(page), *blocks(page)]:
            assert running.run(cell).error == "", cell


def examples():
    """Yield the module, name and examples of each docstring that has examples."""
    excluded = {path for pattern in SIDE_EFFECTS for path in ROOT.glob(pattern)}
    for path in sorted(set((ROOT / "gpukit").rglob("*.py")) - excluded):
        name = ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef):
                found = doctest.DocTestParser().get_examples(ast.get_docstring(node) or "")
                if found:
                    yield name, getattr(node, "name", ""), found


RESET = """%reset -f
import importlib
globals().update({{k: v for k, v in vars(importlib.import_module({!r})).items() if k[:2] != "__"}})
"""
FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


def differs(example, shown):
    """Return whether the output of a cell differs from that of its last example."""
    if example.exc_msg is not None or not example.want:
        return example.exc_msg is None and shown.error != ""
    text = shown.text[-len(example.want) - 200 :]
    return shown.error != "" or not doctest.OutputChecker().check_output(
        "...\n" + example.want, "shown before\n" + text, FLAGS
    )


@pytest.mark.slow
@pytest.mark.parametrize("step", [often.row(4, often=True), often.row(1, often=False)])
def test_examples_of_docstrings_run_as_a_cell(step, tmp_path):
    wrong = []
    with notebook(tmp_path) as running:
        for module, name, found in [*examples()][::step]:
            running.run(RESET.format(module))
            shown = running.run("".join(example.source for example in found))
            if differs(found[-1], shown):
                wrong.append(f"{module}.{name}: {shown}")
    assert wrong == []


def test_docstrings_have_examples():
    assert len(list(examples())) > 90
