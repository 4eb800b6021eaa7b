"""Parse PTX as NVVM writes it into statements with their source lines.

The grammar is NVIDIA's "Parallel Thread Execution ISA"; `.file` and `.loc` are its section
"Debugging Directives".
"""

from __future__ import annotations

import re
from dataclasses import dataclass

_FILE = re.compile(r'\.file\s+(\d+)\s+"(.*?)"')
_LOC = re.compile(r"\.loc\s+(\d+)\s+(\d+)")
_ENTRY = re.compile(r"\.entry\s+(\w+)\s*\(")


@dataclass(frozen=True)
class Statement:
    """One statement or label of a kernel, and the source line that it comes from; 0 for none."""

    text: str
    file: str = ""
    line: int = 0


def parse(ptx: str, name: str = "kernel") -> list[Statement]:
    """Return the statements of the kernel in `ptx`, with its mangled name replaced by `name`.

    Numba mangles the types of all arguments into the names of the kernel and of its parameters:
    hundreds of letters that would hide the statement.
    """
    entry = _ENTRY.search(ptx)
    if entry is None:
        return []
    files: dict[str, str] = dict(_FILE.findall(ptx))
    body = ptx[entry.end() :].partition("{")[2].replace(entry[1], name)
    found, file, line = [], "", 0
    for written in body.splitlines():
        text = written.strip()
        place = _LOC.match(text)
        if text.startswith(("}", ".section", ".file")) and text != "}":
            break
        if place:
            # Line 0 marks code of the compiler itself: it belongs to the statement before it.
            file, line = (files.get(place[1], ""), int(place[2])) if int(place[2]) else (file, line)
        elif text == "}":
            break
        elif text and not text.startswith(("//", ".reg")):
            found.append(Statement(text, file, line))
    return found
