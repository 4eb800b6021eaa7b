"""The questions of the lessons: their answers are sealed, so that no viewer shows them.

    python -m tests.notebooks.questions open [NOTEBOOK ...]    write answers in plain text, to edit
    python -m tests.notebooks.questions seal [NOTEBOOK ...]    seal them again

Without names, all notebooks.
"""

import argparse
import ast
import json
import textwrap
from pathlib import Path

from gpukit.draw.ask import seal, unseal
from tests.notebooks import running

SECRET = ("right", "answer", "within", "because")
WIDTH = 88


def call_of(source):
    """Return the call of `draw.ask` on the last line of a cell; None for other cells."""
    if "draw.ask(" not in source or source.startswith("%"):
        return None
    last = ast.parse(source).body[-1]
    call = last.value if isinstance(last, ast.Expr) else None
    return call if isinstance(call, ast.Call) and ast.unparse(call.func) == "draw.ask" else None


def answer_of(call):
    """Return the answer of a question as a dict: sealed or not."""
    given = {k.arg: k.value for k in call.keywords}
    if "sealed" in given:
        return unseal(ast.literal_eval(given["sealed"]))
    return {name: ast.literal_eval(given[name]) for name in SECRET if name in given}


def rewritten(source, sealing):
    """Return the source of a cell with its question sealed or opened."""
    call = call_of(source)
    if call is None or sealing == any(k.arg == "sealed" for k in call.keywords):
        return source
    told = answer_of(call)
    new = {"sealed": seal(**told)} if sealing else {k: told[k] for k in SECRET if k in told}
    kept = [k for k in call.keywords if k.arg not in (*SECRET, "sealed")]
    parts = [ast.get_source_segment(source, node) for node in (*call.args, *kept)]
    parts += [f"{name}={_literal(value)}" for name, value in new.items()]
    start = sum(map(len, source.splitlines(keepends=True)[: call.lineno - 1]))
    listed = "".join(f"    {part},\n" for part in parts)
    return f"{source[:start]}draw.ask(\n{listed})"


def _literal(value):
    """Return a value as Python's literal; long texts as several, one per line."""
    if not isinstance(value, str):
        return repr(value)
    lines = textwrap.wrap(value, WIDTH, drop_whitespace=False, break_on_hyphens=False) or [""]
    return "\n    ".join(json.dumps(line, ensure_ascii=False) for line in lines)


def main(arguments=None):
    """Seal or open the questions of some notebooks."""
    import nbformat

    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("what", choices=["open", "seal"])
    parser.add_argument("notebooks", nargs="*", type=Path)
    options = parser.parse_args(arguments)
    for path in options.notebooks or running.NOTEBOOKS:
        notebook = running.read(path)
        for cell in running.code_cells(notebook):
            cell.source = rewritten(cell.source, options.what == "seal")
        nbformat.write(notebook, path)


if __name__ == "__main__":
    main()
