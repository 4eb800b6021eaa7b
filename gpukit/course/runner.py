"""The parent's side: start the child, ask it for one launch after another, wait only so long."""

from __future__ import annotations

import contextlib
import os
import queue
import subprocess
import sys
import threading
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import IO, Any

from gpukit.course import frames
from gpukit.course.case import Array, Case

PRINTED_LIMIT = 64 * 1024
# The first answer also waits for Python, numba and the compiler to start.
START_SECONDS = 60.0
# A watched launch waits for the checker's own functions to be compiled, once on a machine.
WATCHED_SECONDS = 60.0


@dataclass(frozen=True)
class Outcome:
    """What came back for one launch: the arrays and a text, or the reason why there is none.

    `text` is what a check, a profile or a recording says; a plain launch has none. `kind` is one
    of: arrays, ready, error, missing, timeout, died, protocol.
    """

    kind: str
    arrays: dict[str, Array] = field(default_factory=dict)
    text: str = ""
    facts: dict[str, Any] = field(default_factory=dict)

    @property
    def goes_on(self) -> bool:
        """Whether the process can be asked for another launch."""
        return self.kind in ("arrays", "ready", "error")

    @property
    def is_refused(self) -> bool:
        """Whether an error came before the kernel ran, so that each launch would end with it."""
        return self.kind == "error" and "KernelError" not in self.facts.get("bases", ())


def start(arguments: list[str], environment: dict[str, str]) -> subprocess.Popen[bytes]:
    """Start Python with these arguments and with pipes to its three streams."""
    return subprocess.Popen(
        [sys.executable, *arguments],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment,
    )


class Child:
    """A running child process; use it in a `with` statement."""

    def __init__(self, file: Path, entry: str, driver: Path | None = None) -> None:
        package = str(Path(__file__).resolve().parents[2])
        path = os.pathsep.join(filter(None, (package, os.environ.get("PYTHONPATH"))))
        environment = {**os.environ, "PYTHONPATH": path, "PYTHONUNBUFFERED": "1"}
        if driver is not None:  # the launches of host code can be watched on the CPU target only
            environment["GPUKIT_TARGET"] = "cpu"
        self._process = start(["-m", "gpukit.course.child"], environment)
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
        called = str(driver.resolve()) if driver else ""
        self._send({"file": str(file.resolve()), "entry": entry, "driver": called})

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

    def loaded(self) -> Outcome:
        """Wait until the file is loaded and its kernel found."""
        return self._answer(START_SECONDS)

    def launch(self, case: Case, seconds: float) -> Outcome:
        """Launch the kernel plainly and return the arrays afterwards."""
        return self._ask("launch", case, seconds)

    def check(self, case: Case, seconds: float) -> Outcome:
        """Launch the kernel under `gpukit.check` and return the report as JSON."""
        return self._ask("check", case, WATCHED_SECONDS + seconds)

    def profile(self, case: Case, seconds: float) -> Outcome:
        """Launch the kernel under `gpukit.profile` and return its counts as JSON."""
        return self._ask("profile", case, WATCHED_SECONDS + seconds)

    def origin(self, case: Case, seconds: float) -> Outcome:
        """Record a launch and return the line that makes a NaN or an infinity, if one does."""
        return self._ask("origin", case, WATCHED_SECONDS + seconds)

    def _ask(self, verb: str, case: Case, seconds: float) -> Outcome:
        shapes, body = frames.pack(case.args)
        self._send({"verb": verb, "args": shapes, "grid": case.grid, "block": case.block}, body)
        return self._answer(seconds)

    def _answer(self, seconds: float) -> Outcome:
        """Wait for the child's next frame, at most `seconds`."""
        try:
            frame = self._inbox.get(timeout=seconds)
        except queue.Empty:
            return Outcome("timeout", facts={"seconds": seconds})
        if isinstance(frame, BaseException):
            return Outcome("protocol", facts={"message": str(frame)})
        if frame is None:
            return Outcome("died", facts={"code": self._process.wait(timeout=10)})
        return _outcome(*frame)

    def printed(self) -> str:
        """Return what the student's file has printed, without control characters."""
        text = self._printed.decode("utf-8", "replace")
        return "".join(c for c in text if c in "\n\t" or c.isprintable())


def _close(stream: IO[bytes] | None) -> None:
    if stream is not None:
        with contextlib.suppress(OSError):
            stream.close()


def _outcome(header: dict[str, Any], body: bytes) -> Outcome:
    if "error" in header:
        return Outcome("error", facts=header["error"])
    if "missing" in header:
        return Outcome("missing", facts=header)
    if "ready" in header:
        return Outcome("ready", facts=header)
    try:
        size = int(header["text"])
        text = body[:size].decode()
        arrays = frames.unpack(header.get("arrays"), body[size:])
    except (frames.ProtocolError, UnicodeDecodeError, KeyError, TypeError, ValueError) as error:
        return Outcome("protocol", facts={"message": str(error)})
    return Outcome("arrays", arrays=arrays, text=text)  # type: ignore[arg-type]
