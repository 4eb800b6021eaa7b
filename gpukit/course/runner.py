"""The parent's side: start the child, hand it cases one by one, and wait only so long."""

from __future__ import annotations

import contextlib
import os
import queue
import subprocess
import sys
import threading
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import IO, Any

from gpukit.course import frames
from gpukit.course.case import Array, Case
from gpukit.course.catalogue import Exercise

PRINTED_LIMIT = 64 * 1024
# The first answer also waits for Python, numba and the compiler to start.
START_SECONDS = 60.0


@dataclass(frozen=True)
class Outcome:
    """What came back for one case: arrays, or the reason why there are none.

    `kind` is one of: arrays, error, missing, timeout, died, protocol.
    """

    kind: str
    case: Case | None
    arrays: dict[str, Array] = field(default_factory=dict)
    facts: dict[str, Any] = field(default_factory=dict)


class Child:
    """A running child process; use it in a `with` statement."""

    def __init__(self, file: Path, entry: str) -> None:
        package = str(Path(__file__).resolve().parents[2])
        path = os.pathsep.join(filter(None, (package, os.environ.get("PYTHONPATH"))))
        self._process = subprocess.Popen(
            [sys.executable, "-m", "gpukit.course.child"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env={**os.environ, "PYTHONPATH": path, "PYTHONUNBUFFERED": "1"},
        )
        self._inbox: queue.Queue[tuple[dict[str, Any], bytes] | BaseException | None] = (
            queue.Queue()
        )
        self._printed = bytearray()
        self._listeners = [
            threading.Thread(target=self._listen, daemon=True),
            threading.Thread(target=self._collect, daemon=True),
        ]
        for listener in self._listeners:
            listener.start()
        self._send({"file": str(file.resolve()), "entry": entry})

    def __enter__(self) -> Child:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._process.kill()
        self._process.wait()
        for listener in self._listeners:
            listener.join(timeout=5)
        for stream in (self._process.stdin, self._process.stdout, self._process.stderr):
            _close(stream)

    def _listen(self) -> None:
        stream = self._process.stdout
        assert stream is not None
        try:
            while (frame := frames.receive(stream)) is not None:  # type: ignore[arg-type]
                self._inbox.put(frame)
            self._inbox.put(None)
        except (frames.ProtocolError, OSError, ValueError) as error:
            self._inbox.put(error)

    def _collect(self) -> None:
        """Keep the first part of what the student prints; read and drop the rest."""
        stream = self._process.stderr
        assert stream is not None
        while chunk := os.read(stream.fileno(), 8192):
            self._printed += chunk[: max(0, PRINTED_LIMIT - len(self._printed))]

    def _send(self, header: dict[str, Any], body: bytes = b"") -> None:
        stream = self._process.stdin
        assert stream is not None
        # Where the child is gone there is nothing to say here: `answer` will find out.
        with contextlib.suppress(OSError):
            frames.send(stream, header, body)  # type: ignore[arg-type]

    def launch(self, case: Case) -> None:
        """Send one case."""
        shapes, body = frames.pack(case.args)
        self._send({"args": shapes, "grid": case.grid, "block": case.block}, body)

    def answer(self, case: Case | None, seconds: float) -> Outcome:
        """Wait for the child's next frame, at most `seconds`."""
        try:
            frame = self._inbox.get(timeout=seconds)
        except queue.Empty:
            return Outcome("timeout", case, facts={"seconds": seconds})
        if isinstance(frame, BaseException):
            return Outcome("protocol", case, facts={"message": str(frame)})
        if frame is None:
            return Outcome("died", case, facts={"code": self._process.wait(timeout=10)})
        return _outcome(case, *frame)

    def printed(self) -> str:
        """Return what the student's file has printed, without control characters."""
        text = self._printed.decode("utf-8", "replace")
        return "".join(c for c in text if c in "\n\t" or c.isprintable())


def _close(stream: IO[bytes] | None) -> None:
    if stream is not None:
        with contextlib.suppress(OSError):
            stream.close()


def _outcome(case: Case | None, header: dict[str, Any], body: bytes) -> Outcome:
    if "error" in header:
        return Outcome("error", case, facts=header["error"])
    if "missing" in header:
        return Outcome("missing", case, facts=header)
    if "ready" in header:
        return Outcome("arrays", case)
    try:
        arrays = frames.unpack(header.get("arrays"), body)
    except frames.ProtocolError as error:
        return Outcome("protocol", case, facts={"message": str(error)})
    return Outcome("arrays", case, arrays=arrays)  # type: ignore[arg-type]


def run(exercise: Exercise, file: Path, cases: Iterable[Case]) -> Iterator[tuple[Outcome, str]]:
    """Yield an outcome for each case and all that was printed so far.

    The run ends early when the file does not load or the process does not survive a case.
    """
    with Child(file, exercise.entry) as child:
        loaded = child.answer(None, START_SECONDS)
        if loaded.kind != "arrays":
            yield loaded, child.printed()
            return
        for case in cases:
            child.launch(case)
            outcome = child.answer(case, exercise.seconds)
            yield outcome, child.printed()
            if outcome.kind not in ("arrays", "error"):
                return
