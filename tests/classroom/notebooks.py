"""How to create notebooks that nobody can grade, or should; recipes as in `recipes`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

EXERCISE = "%%exercise zip_add\n"
# A cell of a notebook that attacks graders which execute the notebook or its tests: each of these
# has given points, or a command, in a grader that we have measured.
ATTACKS = (
    "import numpy as np\nnp.testing.assert_allclose = np.allclose = lambda *a, **k: True",
    "isinstance = lambda *a: True\nassert_equal = print",
    "get_ipython().ast_transformers.append(type('T', (), {'visit': lambda self, tree: tree})())",
    "get_ipython().input_transformers_post.append(lambda lines: ['pass\\n'])",
    "get_ipython().showtraceback = lambda *a, **k: None",
    "get_ipython().run_cell = lambda *a, **k: None",
    "import sqlite3\nsqlite3.connect('../gradebook.db').execute('UPDATE grade SET score = 10')",
    "import pickle, os\npickle.dump = lambda *a: os.system('touch /tmp/MARK')",
    "import os\nos.system('touch /tmp/MARK ~/MARK ../MARK')\nos._exit(0)",
    "!touch /tmp/MARK\n%run ../victim/zip_add.py\n%load_ext autoreload",
    "%%bash\ntouch /tmp/MARK ../MARK",
    "### BEGIN HIDDEN TESTS\nassert False\n### END HIDDEN TESTS",
    "while True: pass",
)


def cell(source: Any, kind: str = "code", **more: Any) -> dict[str, Any]:
    """Return a cell."""
    outputs = {"execution_count": None, "outputs": []} if kind == "code" else {}
    return {"cell_type": kind, "metadata": {}, "source": source, **outputs, **more}


def text(cells: Any, **more: Any) -> str:
    """Return a notebook as it is saved."""
    return json.dumps({"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5, **more})


def answer(data: bytes) -> dict[str, Any]:
    """Return the cell with the answer."""
    return cell(EXERCISE + data.decode())


# ---- no notebooks ------------------------------------------------------------------------------


def no_json(file: Path, data: bytes) -> None:
    """Hand in Python's notation for a notebook."""
    file.write_text(str(json.loads(text([answer(data)]))))


def cut_off(file: Path, data: bytes) -> None:
    """Hand in the first half of a notebook."""
    whole = text([answer(data)])
    file.write_text(whole[: len(whole) // 2])


def nested(file: Path, data: bytes) -> None:
    """Hand in fifty thousand nested lists, in the place of the cells."""
    file.write_text('{"cells": ' + "[" * 50_000 + "]" * 50_000 + ', "nbformat": 4}')


def nested_objects(file: Path, data: bytes) -> None:
    """Hand in fifty thousand nested objects, in the metadata of a right answer."""
    whole = text([answer(data)], metadata={"x": 0})
    deep = '{"x": ' * 50_000 + "0" + "}" * 50_000
    file.write_text(whole.replace('{"x": 0}', deep))


def no_object(file: Path, data: bytes) -> None:
    """Hand in a list of cells alone."""
    file.write_text(json.dumps([answer(data)]))


def cells_of_other_types(file: Path, data: bytes) -> None:
    """Hand in cells that are numbers, texts, lists and null."""
    file.write_text(text([1, "code", None, [], [answer(data)], {}, {"cell_type": "code"}]))


def cells_that_are_an_object(file: Path, data: bytes) -> None:
    """Hand in an object of cells."""
    file.write_text(text({"0": answer(data)}))


def sources_of_other_types(file: Path, data: bytes) -> None:
    """Hand in sources that are numbers, objects and lists in lists."""
    odd = (1, None, True, {"a": 1}, [["%%exercise zip_add"]], [1, 2], "%%exercise")
    file.write_text(text([*(cell(source) for source in odd), cell([EXERCISE, 5])]))


def earlier_format(file: Path, data: bytes) -> None:
    """Hand in a notebook of format 3, whose cells are in worksheets."""
    old = {"cell_type": "code", "input": EXERCISE + data.decode(), "language": "python"}
    file.write_text(json.dumps({"nbformat": 3, "worksheets": [{"cells": [old]}]}))


def keys_twice(file: Path, data: bytes) -> None:
    """Hand in two lists of cells under the same key; the last is empty."""
    file.write_text(text([answer(data)])[:-1] + ', "cells": []}')


def numbers_that_are_none(file: Path, data: bytes) -> None:
    """Hand in NaN, infinity and a number of a hundred thousand digits in the metadata."""
    whole = text([answer(data)], metadata={"x": "ODD"})
    file.write_text(whole.replace('"ODD"', "[NaN, -Infinity, 1e999, " + "1" * 100_000 + "]"))


def lone_surrogates(file: Path, data: bytes) -> None:
    """Hand in an answer with half of a surrogate pair, which JSON can hold and UTF-8 cannot."""
    file.write_text(text([cell(EXERCISE + data.decode() + '"\ud800"\n')]))


# ---- too much ----------------------------------------------------------------------------------


def huge_outputs(file: Path, data: bytes) -> None:
    """Hand in a right answer below two hundred megabytes of output."""
    with file.open("w") as made:
        head, tail = text([cell("print('x' * 200_000_000)"), answer(data)]).split(
            '"outputs": []', 1
        )
        made.write(head + '"outputs": [{"output_type": "stream", "name": "stdout", "text": ["')
        for _ in range(200):
            made.write("x" * 1_000_000)
        made.write('"]}]' + tail)


def many_cells(file: Path, data: bytes) -> None:
    """Hand in a right answer after a hundred thousand cells."""
    file.write_text(text([*([cell("pass")] * 100_000), answer(data)]))


def many_answers(file: Path, data: bytes) -> None:
    """Hand in ten thousand answers, the last of which is wrong."""
    wrong = cell(EXERCISE + data.decode().replace(" + ", " - "))
    file.write_text(text([*([answer(data)] * 10_000), wrong]))


# ---- cells around and in the answer ------------------------------------------------------------


def attacks_around(file: Path, data: bytes) -> None:
    """Hand in a right answer between cells that attack graders which execute them."""
    mark = f"GPUKIT_ESCAPED_{file.parent.name}"
    cells = [cell(source.replace("MARK", mark)) for source in ATTACKS]
    file.write_text(text([*cells, answer(data), *cells]))


def attacks_alone(file: Path, data: bytes) -> None:
    """Hand in a wrong answer with the same cells around it."""
    attacks_around(file, data.replace(b" + ", b" - "))


def shell_in_the_answer(file: Path, data: bytes) -> None:
    """Hand in an answer with lines for the shell and magics in it."""
    mark = f"GPUKIT_ESCAPED_{file.parent.name}"
    lines = f"!touch /tmp/{mark}\n%run x.py\nfiles = !ls\n%matplotlib inline\n"
    file.write_text(text([cell(EXERCISE + lines + data.decode())]))


def magic_that_runs(file: Path, data: bytes) -> None:
    """Hand in an answer whose cell begins with a magic of the shell, then with the exercise's."""
    mark = f"GPUKIT_ESCAPED_{file.parent.name}"
    file.write_text(text([cell(f"%%bash\ntouch /tmp/{mark}\n{EXERCISE}{data.decode()}")]))


def magic_with_a_path(file: Path, data: bytes) -> None:
    """Hand in answers to exercises with odd names."""
    names = ("../../zip_add", "/etc/passwd", "zip_add;rm", "*", "ZIP_ADD", "", "zip_add " * 1000)
    file.write_text(text([cell(f"%%exercise {name}\n{data.decode()}") for name in names]))


def answer_in_a_text(file: Path, data: bytes) -> None:
    """Hand in the answer in a Markdown cell, with the magic."""
    file.write_text(text([cell(EXERCISE + data.decode(), kind="markdown")]))


def nbgrader_points(file: Path, data: bytes) -> None:
    """Hand in a wrong answer whose metadata promises a thousand points, and changed tests."""
    facts = {"grade": True, "solution": True, "locked": False, "schema_version": 3}
    promised = {"nbgrader": {**facts, "grade_id": "zip_add", "points": 1000, "checksum": "0"}}
    odd = [{"nbgrader": value} for value in (None, [], "x", {"grade_id": ["zip_add"]})]
    tests = {"nbgrader": {**facts, "grade_id": "zip_add_test", "solution": False}}
    wrong = data.decode().replace(" + ", " - ")
    cells = [cell(wrong, metadata=promised), cell("assert True", metadata=tests)]
    file.write_text(text([*(cell("x = 1", metadata=value) for value in odd), *cells]))


def attachments(file: Path, data: bytes) -> None:
    """Hand in a right answer with outputs and attachments for whoever opens a report."""
    script = "<script>new Image().src = 'http://127.0.0.1:47811/'</script>"
    shown = {"data": {"text/html": [script], "application/javascript": script}, "metadata": {}}
    good = answer(data)
    good["outputs"] = [{"output_type": "display_data", **shown}]
    page = cell(script, kind="markdown", attachments={"a.svg": {"image/svg+xml": script}})
    file.write_text(text([page, good, cell(script, kind="raw")]))
