"""Cache machine code on disk, so that a kernel is compiled once and not once per process.

A file's name is a digest of everything that the code depends on: source, location and captured
values of the kernel and of all functions that it calls (`describe`), the types of its
arguments, the options, gpukit's own source, Numba, LLVM and the processor. Loading a file
executes no Python code from it.
"""

from __future__ import annotations

import builtins
import contextlib
import functools
import hashlib
import importlib.util
import json
import os
import sys
import tempfile
from collections.abc import Iterable
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from gpukit.compiler import cache_folder, describe, locations, native
from gpukit.compiler.pipeline import Compiled, Instrumentation
from gpukit.compiler.unit import Unit

_MOST_FILES = 8000  # about 100 MB: all kernels of the book, in every form, and their exercises
_READABLE = 0o644  # an answer that is graded runs as another user, who cannot write here
_JSON = (str, int, float, bool, type(None))  # these survive a round trip through JSON


# ---- the key ----------------------------------------------------------------------------------


def key(unit: Unit, parts: Iterable[Any]) -> str | None:
    """Return the name of a kernel's file, or None if it cannot be cached.

    `unit` is the kernel with its names resolved; `parts` describe arguments and options.
    """
    try:
        described = [describe.kernel(unit), *map(describe.value, parts)]
    except describe.Unkeepable:
        return None
    digest = hashlib.sha256(surroundings().encode())
    for text in described:
        digest.update(b"\0" + text.encode())
    return digest.hexdigest()[:40]


@functools.cache
def surroundings() -> str:
    """Return what all machine code depends on: this compiler, versions, the processor."""
    whole = Path(__file__).parents[1]
    digest = hashlib.sha256()
    for package in ("compiler", "cpu", "primitives", "checked/engine"):
        for path in sorted((whole / package).rglob("*.py")):
            digest.update(path.read_bytes())
    versions = [_numba_version(), np.__version__, sys.version, native.host()]
    return "\n".join([digest.hexdigest(), *versions])


def _numba_version() -> str:
    """Return Numba's version from its files: importing it, or reading metadata, is slow."""
    spec = importlib.util.find_spec("numba")
    if spec is None or spec.origin is None:
        return "none"
    file = Path(spec.origin).with_name("_version.py")
    return file.read_text() if file.exists() else spec.origin


# ---- the files --------------------------------------------------------------------------------


def load(name: str) -> Compiled | None:
    """Return a kernel from the disk, or None if it is missing or not usable here."""
    where = cache_folder.folder()
    if where is None:
        return None
    try:
        content = (where / name).read_bytes()
    except OSError:
        return None
    found = _read(content)
    if found is None:
        return None
    head, machine_code = found
    code = native.Code(machine_code, head["symbol"], tuple(head["needs"]))
    entry = native.load(code)
    if entry is None:
        return None
    places = {int(k): locations.SourceLocation(**v) for k, v in head["locations"].items()}
    return Compiled(
        entry,
        code,
        head["per_thread"],
        head["per_block"],
        head["whole_grid"],
        places,
        head["shared_bytes"],
        head["local_bytes"],
        Instrumentation(**head["instrumentation"]),
        {int(k): (getattr(builtins, kind), tuple(v)) for k, (kind, v) in head["raised"].items()},
        head["coarsened"],
    )


def _read(content: bytes) -> tuple[dict[str, Any], bytes] | None:
    """Split a file into its header and the machine code; None if it is damaged."""
    digest, rest = content[:32], content[32:]
    if hashlib.sha256(rest).digest() != digest:
        return None
    size = int.from_bytes(rest[:8], "little")
    return json.loads(rest[8 : 8 + size]), rest[8 + size :]


def save(name: str, made: Compiled) -> None:
    """Write a kernel to the disk if it can be cached; a failure to write is no error."""
    where = cache_folder.folder()
    if where is None or not _keepable(made):
        return
    head = {
        "symbol": made.code.symbol,
        "needs": made.code.needs,
        "per_thread": made.per_thread,
        "per_block": made.per_block,
        "whole_grid": made.whole_grid,
        "locations": locations.export(set(made.locations)),
        "shared_bytes": made.shared_bytes,
        "local_bytes": made.local_bytes,
        "instrumentation": asdict(made.instrumentation),
        "raised": {k: (kind.__name__, given) for k, (kind, given) in made.raised.items()},
        "coarsened": made.coarsened,
    }
    text = json.dumps(head).encode()
    rest = len(text).to_bytes(8, "little") + text + made.code.object
    try:
        where.mkdir(parents=True, exist_ok=True)
        _write(where / name, hashlib.sha256(rest).digest() + rest)
        _prune(where)
    except OSError:
        return


def _write(path: Path, content: bytes) -> None:
    """Write a file atomically; leave nothing behind if it fails."""
    handle, name = tempfile.mkstemp(dir=path.parent)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
        Path(name).chmod(_READABLE)
        Path(name).replace(path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


def note(name: str) -> None:
    """Record that the check with this name passed."""
    where = cache_folder.folder()
    if where is not None:
        with contextlib.suppress(OSError):
            where.mkdir(parents=True, exist_ok=True)
            (where / name).touch()


def noted(name: str) -> bool:
    """Tell whether `note` was called with this name, in this process or another."""
    where = cache_folder.folder()
    return where is not None and os.path.exists(where / name)  # noqa: PTH110 - True or False only


def _keepable(made: Compiled) -> bool:
    """Tell whether other processes can use a kernel: its code and its exceptions."""
    return made.code.movable and all(
        getattr(builtins, kind.__name__, None) is kind and all(type(v) in _JSON for v in given)
        for kind, given in made.raised.values()
    )


def _prune(where: Path) -> None:
    """Delete the oldest half of the files when there are too many."""
    names = os.listdir(where)  # noqa: PTH208 - runs after every kernel: Path objects are slow
    if len(names) > _MOST_FILES:
        files = sorted(map(where.joinpath, names), key=lambda path: path.stat().st_mtime)
        for path in files[: len(files) // 2]:
            path.unlink(missing_ok=True)
