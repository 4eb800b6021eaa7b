"""A workbook: the reader's own copy of the lessons and of the exercises' tasks.

`start` writes it into a folder that belongs to the reader. `.gpukit-workbook.json` there holds the
fingerprints of every version that was written of each file, so that an update can tell a file that
the reader has changed from one that it may renew. Model answers and cases stay in the project.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import gpukit
from gpukit import files
from gpukit.errors import GpukitError, OutputError

MANIFEST = ".gpukit-workbook.json"
FORMAT = 1
# The folder that `make lab` makes in the project.
USUAL = "workbook"
FIRST_LESSON = "notebooks/00_start_here.ipynb"
PAGES = ("exercises/README.md", "notebooks/glossary.md")
# `jupyter lab --config=lab.json` in the workbook opens it at the first lesson, without news. What
# gpukit has printed stays on the screen: Lab logs warnings, and the address that it is served at.
LAB_CONFIG = "lab.json"
OPEN = f"jupyter lab --config={LAB_CONFIG}"
LAB_SETTINGS = {
    "Application": {"log_level": "WARN"},
    "LabApp": {"default_url": f"/lab/tree/{FIRST_LESSON}", "app_settings_dir": ".lab"},
}
# What Lab does unless the reader's own settings say something else.
LAB_DEFAULTS = {
    "@jupyterlab/apputils-extension:notification": {"fetchNews": "false", "checkForUpdates": False}
}
# What to do where a file cannot be written.
ELSEWHERE = "choose another folder; none of your files changed, and the next run does the rest"
# What a reader has in the exercises of the project itself, from before there were workbooks.
_OWN = ("exercises/*/*/answer*.py", "exercises/.progress.json")


class WorkbookError(GpukitError):
    """This folder cannot be a workbook, or the lessons are not at hand."""


@dataclass
class Changes:
    """What `start` and `update` did, by paths within the workbook.

    `added` were not there; `renewed` were as gpukit had written them; `left` are the reader's and
    there is a newer version; `old` are as gpukit wrote them, could be renewed and were not, since
    nobody asked; `dropped` are no longer part of the book.
    """

    folder: Path
    added: list[str] = field(default_factory=list)
    renewed: list[str] = field(default_factory=list)
    left: list[str] = field(default_factory=list)
    old: list[str] = field(default_factory=list)
    dropped: list[str] = field(default_factory=list)
    answers: list[str] = field(default_factory=list)


def around(place: Path) -> Path | None:
    """Return the workbook that a folder is in, or None."""
    return next((folder for folder in (place, *place.parents) if is_one(folder)), None)


def is_one(folder: Path) -> bool:
    """Whether a folder is a workbook."""
    return (folder / MANIFEST).is_file()


def start(folder: Path, project: Path) -> Changes:
    """Make a workbook of the lessons of `project`, or write what is missing from one."""
    _refuse_others(folder)
    return _write(folder, project, renew=False)


def update(folder: Path, project: Path) -> Changes:
    """Renew what the reader has not changed in their workbook."""
    if not is_one(folder):
        raise WorkbookError(
            f"gpukit start --update: expected a workbook, got {_what_is(folder)}. "
            f"To create one: gpukit start {folder}"
        )
    return _write(folder, project, renew=True)


def _what_is(folder: Path) -> str:
    if not folder.exists():
        return f"{folder}, which does not exist"
    return f"{folder}, which has no {MANIFEST}" if folder.is_dir() else f"{folder}, a file"


def _refuse_others(folder: Path) -> None:
    """Raise unless a folder is new, empty but for hidden files, or a workbook."""
    if folder.exists() and not folder.is_dir():
        raise WorkbookError(
            f"gpukit start: expected a new folder or a workbook, got {folder}, a file. "
            "Choose another name."
        )
    with _system(folder):
        others = sorted(path.name for path in folder.glob("[!.]*"))
    if others and not is_one(folder):
        raise WorkbookError(
            f"gpukit start: expected a new or empty folder or a workbook, got {folder}, which "
            f"contains other files, such as {others[0]}. Choose another name."
        )


def _write(folder: Path, project: Path, *, renew: bool) -> Changes:
    with _system(project):
        book = _book(project)
    given = _given(folder)
    _refuse_what_is_in_the_way(folder, book)
    dropped = (name for name in given if name not in book and (folder / name).exists())
    changes = Changes(folder, dropped=sorted(dropped))
    for name, content in book.items():
        _sort(changes, name, content, given.setdefault(name, []), renew)
    written = changes.added + changes.renewed
    for name in written:
        given[name].append(fingerprint(name, book[name]))
    with files.refusing(folder, ELSEWHERE):
        folder.mkdir(parents=True, exist_ok=True)
        _sweep(folder, book)
    # First, so that whatever a kill leaves behind is known to be ours.
    files.write(folder / MANIFEST, _manifest(given), ELSEWHERE)
    for name in written:
        files.write(folder / name, book[name], ELSEWHERE, folders=True)
    if not renew:
        changes.answers = _take_along(folder, project)
    return changes


def _sort(changes: Changes, name: str, content: bytes, given: list[str], renew: bool) -> None:
    """Put a file of the book to those that are added, renewed, left or old."""
    path = changes.folder / name
    newest = fingerprint(name, content)
    if not path.exists() and not path.is_symlink():
        changes.added.append(name)
        return
    with _system(path):
        mine = fingerprint(name, path.read_bytes()) if path.is_file() else ""
    if mine == newest:
        if newest not in given:
            given.append(newest)
    elif mine in given and not path.is_symlink():
        (changes.renewed if renew else changes.old).append(name)
    elif newest not in given[-1:]:
        changes.left.append(name)


def _refuse_what_is_in_the_way(folder: Path, names: Iterable[str]) -> None:
    """Raise where a file stands in the place of a folder or the other way round."""
    for name in names:
        path = folder / name
        parents = [p for p in path.parents if folder in p.parents]
        for wrong in [p for p in parents if p.exists() and not p.is_dir()]:
            raise WorkbookError(
                f"gpukit start: expected a folder, got a file: {wrong}. Rename it and run again."
            )
        if path.is_dir():
            raise WorkbookError(
                f"gpukit start: expected a file, got a folder: {path}. Rename it and run again."
            )


def _take_along(folder: Path, project: Path) -> list[str]:
    """Copy the answers that a reader has in the project itself, where the workbook has none."""
    taken = []
    for path in sorted(path for pattern in _OWN for path in project.glob(pattern)):
        name = path.relative_to(project).as_posix()
        if not (folder / name).exists():
            with _system(path):
                content = path.read_bytes()
            files.write(folder / name, content, ELSEWHERE, folders=True)
            taken.append(name)
    return [name for name in taken if name.endswith(".py")]


# ---- the book ---------------------------------------------------------------------------------


def _book(project: Path) -> dict[str, bytes]:
    """Return all files of a workbook by their paths within it."""
    if not (project / FIRST_LESSON).is_file():
        raise WorkbookError(
            f"gpukit start: expected the lessons in {project / 'notebooks'}, got none. "
            "Run it in your copy of the project."
        )
    kernels = Path(gpukit.__file__).parent / "kernels"
    found = [
        *((project, path) for path in sorted(project.glob("notebooks/[0-9]*.ipynb"))),
        *((project, path) for path in sorted(project.glob("exercises/*/*/exercise.toml"))),
        *((kernels.parent.parent, path) for path in sorted(kernels.rglob("*.py"))),
    ]
    book = {LAB_CONFIG: _json(LAB_SETTINGS), ".lab/overrides.json": _json(LAB_DEFAULTS)}
    for page in PAGES:
        book[page] = (project / page).read_bytes()
    for base, path in found:
        names = ("task.md", "starter.py") if path.suffix == ".toml" else (path.name,)
        for file in (path.with_name(name) for name in names):
            book[file.relative_to(base).as_posix()] = file.read_bytes()
    return book


def fingerprint(name: str, content: bytes) -> str:
    """Return what tells versions of a file apart.

    A notebook that was only opened is the one it was: Jupyter writes its own version and the number
    of a cell's run into it. Cells and their outputs count.
    """
    if name.endswith(".ipynb"):
        with suppress(ValueError, KeyError, TypeError, AttributeError):
            content = json.dumps([_what_counts(c) for c in json.loads(content)["cells"]]).encode()
    return hashlib.sha256(content).hexdigest()


def _what_counts(cell: dict[str, Any]) -> list[Any]:
    source = cell["source"]
    text = source if isinstance(source, str) else "".join(source)
    tags = cell["metadata"].get("tags", [])
    return [cell["cell_type"], text, tags, cell.get("outputs", []), cell.get("attachments", {})]


# ---- the manifest -----------------------------------------------------------------------------


def _manifest(given: dict[str, list[str]]) -> bytes:
    data = {"format": FORMAT, "version": gpukit.__version__, "files": given}
    return _json(data)


def _json(data: Any) -> bytes:
    return f"{json.dumps(data, indent=1, sort_keys=True)}\n".encode()


def _given(folder: Path) -> dict[str, list[str]]:
    """Return the fingerprints of what was written, oldest first, by path in the workbook."""
    path = folder / MANIFEST
    if not path.exists():
        return {}
    with _system(path):
        content = path.read_bytes()
    try:
        data = json.loads(content)
        made, form = str(data["version"]), int(data["format"])
        prints = {str(name): [*map(str, each)] for name, each in data["files"].items()}
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise WorkbookError(
            f"{path}: expected the file that gpukit start writes, got {type(error).__name__}: "
            f"{error}. Create a workbook in another folder, and copy your notebooks and answers "
            "to it."
        ) from error
    if form > FORMAT or _order(made) > _order(gpukit.__version__):
        raise WorkbookError(
            f"{folder}: expected a workbook of gpukit {gpukit.__version__} or older, got one of "
            f"{made}. Update your copy of the project: git pull, then make lab."
        )
    return prints


def _order(version: str) -> list[int]:
    """Return what versions are ordered by.

    >>> _order("0.10.1") > _order("0.9")
    True
    """
    return [int(part) for part in re.findall(r"\d+", version)]


# ---- files ------------------------------------------------------------------------------------


@contextmanager
def _system(path: Path) -> Iterator[None]:
    """Say which file the system refuses to read, instead of a traceback."""
    try:
        yield
    except OSError as error:
        raise OutputError(
            f"{error.filename or path}: {error.strerror or error}. None of your files changed. "
            "Fix its permissions and run the command again, or choose another folder."
        ) from error


def _sweep(folder: Path, names: Iterable[str]) -> None:
    """Remove the unfinished files that a kill has left."""
    ours = {folder / name for name in (*names, MANIFEST)}
    for place in {path.parent for path in ours}:
        for path in place.glob("*.unfinished"):
            if path.with_suffix("").with_suffix("") in ours:
                path.unlink(missing_ok=True)
