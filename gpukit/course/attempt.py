"""Look at a student's file without running it: is it Python, and was anything attempted?"""

from __future__ import annotations

import ast
from dataclasses import dataclass
from pathlib import Path

from gpukit.course import catalogue
from gpukit.course.catalogue import Exercise, ExerciseError

SOURCE_LIMIT = 2 * 1024 * 1024
# The name of the file that a cell is written to while it is graded. Nobody else knows that file.
CELL = "this_cell.py"


@dataclass(frozen=True)
class Problem:
    """A reason not to run the file at all."""

    status: str
    why: str


def read(file: Path) -> str:
    """Return the text of a student's file, or raise saying why it cannot be read."""
    try:
        raw = file.read_bytes()
    except OSError as error:
        raise ExerciseError(f"{file}: expected a file to test, got: {error.strerror}.") from error
    if len(raw) > SOURCE_LIMIT:
        raise ExerciseError(f"{file}: expected at most 2 MiB of Python, got {len(raw):,} bytes.")
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise ExerciseError(f"{file}: expected UTF-8 text. Save the file as UTF-8.") from error


def look(exercise: Exercise, file: Path) -> tuple[str, Problem | None]:
    """Return the source, and the problem that makes running it pointless, if there is one."""
    source = read(file)
    return source, problem(exercise, file, source)


def problem(exercise: Exercise, file: Path, source: str) -> Problem | None:
    """Return what makes it pointless to run `source`, the text of a file, if anything does."""
    try:
        tree = ast.parse(source)
        untouched = _untouched(exercise, tree)
        catalogue.calls(source)  # what will be asked of it later
    except SyntaxError as error:
        return Problem("syntax", _syntax(file, source, error))
    except ValueError as error:
        return Problem("syntax", f"{named(file)} is not valid Python: {error}.")
    except (RecursionError, MemoryError):
        why = f"{named(file)} nests expressions or blocks too deeply for Python."
        return Problem("syntax", why)
    if untouched:
        where = "" if file.name == CELL else f" in {file.name}"
        why = f"Not attempted yet: {exercise.entry}{where} has no code of yours."
        return Problem("untouched", why)
    return None


def named(file: Path) -> str:
    """Return what a learner calls a file: a cell of a notebook has no name."""
    return "This cell" if file.name == CELL else file.name


def parameters(exercise: Exercise) -> list[str]:
    """Return the parameters of the starter's function; none where it is a class."""
    starter = ast.parse(exercise.starter.read_text(encoding="utf-8"))
    mine = (node for node in _functions(starter) if node.name == exercise.entry)
    return [argument.arg for node in mine for argument in node.args.args]


def _syntax(file: Path, source: str, error: SyntaxError) -> str:
    lines = source.splitlines()
    number = error.lineno or 1
    line = lines[number - 1] if number <= len(lines) else ""
    marked = [f"    > {line.rstrip()}"] if line.strip() else []
    if marked and error.offset:
        marked.append("      " + " " * (error.offset - 1) + "^")
    return "\n".join(
        [
            f"{named(file)}, line {number}: Python cannot read this line.",
            *marked,
            f"{error.msg[:1].upper()}{error.msg[1:]}.",
        ]
    )


def is_starter(exercise: Exercise, tree: ast.Module) -> bool:
    """Whether functions and constants are the starter's, or the function asked for is empty."""
    starter = ast.parse(exercise.starter.read_text(encoding="utf-8"))
    given, mine = _constants(starter), _constants(tree)
    both = ((value, mine[name]) for name, value in given.items() if name in mine)
    same = all(ast.dump(one) == ast.dump(other) for one, other in both)
    return (same and _dumps(tree) == _dumps(starter)) or _is_empty(exercise, tree)


def _dumps(tree: ast.Module) -> list[str]:
    return [ast.dump(function) for function in _functions(tree)]


def _constants(tree: ast.Module) -> dict[str, ast.expr]:
    """Return what the names at the top level are bound to: in a detective's file, maybe the bug."""
    found = ((n.targets[0], n.value) for n in tree.body if isinstance(n, ast.Assign))
    return {target.id: value for target, value in found if isinstance(target, ast.Name)}


def _untouched(exercise: Exercise, tree: ast.Module) -> bool:
    """Whether there is nothing to grade: a detective's starter is a kernel to be tried."""
    return _is_empty(exercise, tree) if exercise.detective else is_starter(exercise, tree)


def _is_empty(exercise: Exercise, tree: ast.Module) -> bool:
    asked = [f for f in _functions(tree) if f.name == exercise.entry]
    return bool(asked) and all(_says_nothing(node) for node in asked[-1].body)


def _functions(tree: ast.Module) -> list[ast.FunctionDef]:
    return [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]


def _says_nothing(node: ast.stmt) -> bool:
    if isinstance(node, ast.Raise):
        return "NotImplemented" in ast.dump(node)
    constant = isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    return constant or isinstance(node, ast.Pass)
