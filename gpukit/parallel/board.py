"""What each rank of a machine is doing: a record per rank, which all of them read.

When a rank does not answer, the others can say why only if they know where it is.
"""

from __future__ import annotations

import atexit
import mmap
import os
import struct
import tempfile
from pathlib import Path
from typing import Any, NamedTuple, Protocol

# State, step and process; the call fills the rest of a record.
_HEADER = struct.Struct("<iqq")
RECORD = 256
# A record of zeros is one of a rank that has not started.
ABSENT, COMPUTING, WAITING, LEFT, FAILED = range(5)
VARIABLE = "GPUKIT_BOARD"


class Entry(NamedTuple):
    """What a rank is doing: its step, its process number, the operation in which it waits."""

    state: int = ABSENT
    step: int = 0
    process: int = 0
    call: str = ""

    def __str__(self) -> str:
        return {
            ABSENT: "has not started, or runs on another machine",
            COMPUTING: f"is computing in step {self.step}",
            WAITING: f"is waiting in step {self.step}, in {self.call}",
            LEFT: f"has left in step {self.step}",
            FAILED: f"has failed in step {self.step}",
        }[self.state]

    def before(self) -> str:
        """Return in words what a rank was doing when it ended."""
        return str(self).replace("is ", "was ", 1)


class Records(Protocol):
    """What every rank is doing."""

    def write(self, rank: int, entry: Entry) -> None:
        """Replace the record of a rank."""

    def read(self, rank: int) -> Entry:
        """Return the record of a rank."""

    def claim(self) -> bool:
        """Return True for the first caller among all ranks, which reports the failure."""

    def report(self, sentence: str, traceback: str) -> None:
        """Keep what the first caller says, for the launcher to print."""


class Memory:
    """The records of ranks in one process."""

    def __init__(self, size: int) -> None:
        self.entries, self.claimed = [Entry()] * size, False

    def write(self, rank: int, entry: Entry) -> None:
        """Replace the record of a rank."""
        self.entries[rank] = entry

    def read(self, rank: int) -> Entry:
        """Return the record of a rank."""
        return self.entries[rank]

    def claim(self) -> bool:
        """Return True for the first caller."""
        first, self.claimed = not self.claimed, True
        return first

    def report(self, sentence: str, traceback: str) -> None:
        """Do nothing: there is no launcher."""


class Board:
    """The records of the ranks of one machine, in a file that each of them maps."""

    def __init__(self, path: Path, size: int) -> None:
        self.path = path
        with path.open("r+b") as file:
            file.truncate(size * RECORD)
            self.memory = mmap.mmap(file.fileno(), size * RECORD)

    @classmethod
    def begin(cls, mpi: Any) -> Board:
        """Map the file that the first rank on each machine makes.

        The environment may name it, so that the program that started the ranks reads it too.
        """
        node = mpi.node()
        path = None
        if node.Get_rank() == 0:
            path = os.environ.get(VARIABLE)
            if path is None:
                number, path = tempfile.mkstemp(prefix="gpukit-ranks-")
                os.close(number)
                atexit.register(_remove, Path(path))
            Path(path).touch()
        board = cls(Path(node.bcast(path)), mpi.size)
        node.Barrier()
        node.Free()
        return board

    def write(self, rank: int, entry: Entry) -> None:
        """Replace the record of a rank."""
        text = entry.call.encode()[: RECORD - _HEADER.size]
        record = _HEADER.pack(*entry[:3]) + text
        self.memory[rank * RECORD : (rank + 1) * RECORD] = record.ljust(RECORD, b"\0")

    def read(self, rank: int) -> Entry:
        """Return the record of a rank."""
        record = self.memory[rank * RECORD : (rank + 1) * RECORD]
        text = record[_HEADER.size :].rstrip(b"\0").decode(errors="ignore")
        state, step, process = _HEADER.unpack_from(record)
        return Entry(state, step, process, text)

    def claim(self) -> bool:
        """Return True for the first caller among all ranks of the machine."""
        try:
            os.close(os.open(f"{self.path}.failed", os.O_CREAT | os.O_EXCL))
        except FileExistsError:
            return False
        return True

    def report(self, sentence: str, traceback: str) -> None:
        """Write the report where the launcher reads it: ending the ranks may discard output."""
        Path(f"{self.path}.failed").write_text(f"{traceback}\0{sentence}", encoding="utf-8")

    def reported(self) -> tuple[str, str] | None:
        """Return the sentence and the traceback of a rank that has failed, if one has."""
        file = Path(f"{self.path}.failed")
        text = file.read_text(encoding="utf-8") if file.exists() else ""
        traceback, _, sentence = text.partition("\0")
        return (sentence, traceback) if sentence else None


def _remove(path: Path) -> None:
    for each in (path, Path(f"{path}.failed")):
        each.unlink(missing_ok=True)
