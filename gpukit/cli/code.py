"""The commands that show the code that GPU compilers generate: ptx, sass, codegen."""

from __future__ import annotations

import argparse
import json
import linecache
import os
from collections.abc import Iterable, Sequence
from dataclasses import asdict
from itertools import groupby
from pathlib import Path
from typing import Any

from gpukit.cli import FINDINGS, WELL, show


def ptx(arguments: argparse.Namespace) -> int:
    """Show the PTX of a kernel beside its source."""
    from gpukit.gpu_code import ptx as language

    built = _build("ptx", arguments)
    if built is None:
        return FINDINGS
    name, code = built
    return _listing(arguments, name, code, language.parse(code.ptx, name))


def sass(arguments: argparse.Namespace) -> int:
    """Show the machine code of a kernel beside its source."""
    from gpukit import errors
    from gpukit.gpu_code import NO_DISASSEMBLER
    from gpukit.gpu_code import sass as language

    built = _build("sass", arguments)
    if built is None:
        return FINDINGS
    name, code = built
    if not code.sass:
        raise errors.TargetError(f"sass: {NO_DISASSEMBLER}")
    return _listing(arguments, name, code, language.parse(code.sass))


def codegen(arguments: argparse.Namespace) -> int:
    """Compile every kernel for GPUs and report what is wrong with the code."""
    _on_the_cpu()
    from gpukit import files
    from gpukit.bench import codegen as gate

    if arguments.write:
        files.check(arguments.write)
    lines = gate.measure(arguments.names, arguments.arch)
    found = gate.faults(lines)
    result = {**gate.as_json(lines), "faults": found}
    if arguments.json:
        show.data(result)
    else:
        _verdict(lines, found)
    if arguments.write:
        files.write(arguments.write, json.dumps(result, indent=1) + "\n")
    return FINDINGS if found else WELL


def _verdict(lines: Sequence[Any], found: Sequence[str]) -> None:
    """Print what codegen found: a table, the faults, and their number."""
    from gpukit.bench import codegen as gate

    show.table(gate.HEADERS, [gate.row(line) for line in lines], right=(2, 3, 4, 5, 6))
    show.text()
    for fault in found:
        show.paragraph(fault, indent="")
    kernels = len({line.kernel for line in lines})
    counts = f"{_count(kernels, 'kernel')}, {_count(len(lines), 'compile')}"
    verdict = _count(len(found), "problem") if found else "no problems"
    show.paragraph(f"{counts}, {verdict}. {lines[0].tool}.", indent="")


def _count(number: int, what: str) -> str:
    return f"{number} {what}{'' if number == 1 else 's'}"


def _on_the_cpu() -> None:
    """Select the target that can observe launches, to learn a kernel's argument types."""
    os.environ["GPUKIT_TARGET"] = "cpu"


def _build(command: str, arguments: argparse.Namespace) -> tuple[str, Any] | None:
    """Return the full name of the requested kernel, and its code; None if its file fails.

    The kernel is one of the book, or of the user's own file.
    """
    _on_the_cpu()
    from gpukit import errors, gpu_code
    from gpukit.cli import own_kernel

    words = arguments.kernel
    try:
        kernel, given = _own(command, words) if own_kernel.names_a_file(words) else _of_book(words)
    except own_kernel.ScriptFailed:
        return None
    code = gpu_code.build(kernel, given, [arguments.arch])[arguments.arch]
    if code.registers is None:
        raise errors.TargetError(f"{words}: {code.reason}")
    return kernel.py_func.__name__, code


def _of_book(name: str) -> tuple[Any, Sequence[Any]]:
    from gpukit.bench import cases, launches

    launched = launches.first_launch(cases.choose_one(name))
    return launched.kernel, launched.arguments


def _own(command: str, words: str) -> tuple[Any, Sequence[Any]]:
    from gpukit import errors, gpu_code
    from gpukit.cli import own_kernel
    from gpukit.standin import script

    script.find(words.partition("::")[0], command)
    if missing := gpu_code.missing():  # checked before a script runs in vain
        raise errors.TargetError(f"{command}: {missing}")
    return own_kernel.launched(words, command)


def _listing(arguments: argparse.Namespace, name: str, code: Any, pieces: Iterable[Any]) -> int:
    """Print pieces of code, each run of them below the source line from which it was compiled."""
    pieces = list(pieces)
    arch = "sm_{}{}".format(*arguments.arch)
    if arguments.json:
        listing = [{**asdict(piece), "source": _source(piece)} for piece in pieces]
        facts = {"kernel": name, "arch": arch, "registers": code.registers, "tool": code.tool}
        show.data({**facts, "spilled": code.spilled, "shared": code.shared, "code": listing})
        return WELL
    said = f"{code.registers} registers, {code.spilled} bytes spilled, {code.shared} bytes shared"
    show.paragraph(f"{name} for {arch}: {said}, {len(pieces)} lines", indent="", style="strong")
    show.paragraph(code.tool, indent="", style="dim")
    for (file, line), run in groupby(pieces, key=lambda piece: (piece.file, piece.line)):
        show.text()
        if line:
            show.entry(f"{Path(file).name}:{line}", _source_line(file, line), "dim")
        for piece in run:
            address = f"{piece.address:5x}" if hasattr(piece, "address") else "   "
            show.entry(f"  {address}", piece.text, "dim")
    return WELL


def _source(piece: Any) -> str:
    return _source_line(piece.file, piece.line)


def _source_line(file: str, line: int) -> str:
    return linecache.getline(file, line).strip()
