"""The parent's side: start the child, ask it for one launch after another, wait only so long."""

from __future__ import annotations

import contextlib
import os
import queue
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any

from gpukit.course import frames, replies
from gpukit.course.case import Array, Case

PRINTED_LIMIT = 64 * 1024
# The first answer also waits for Python, numba and the compiler to start.
START_SECONDS = 60.0
# What an answer may take besides its own time for kernels to be compiled, and for the checker's own
# functions, once on a machine.
COMPILING_SECONDS = 120.0
# Bytes of the text in a reply, a report or counters: those of right answers have a few thousand.
TEXT_LIMIT = 8 << 20
# Messages about what a process is busy with that nobody has read yet; a right one sends a few.
UNREAD = 1000
# How long the end of a process that was told to end is waited for.
PATIENCE = 5.0


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


class Process:
    """The process of an answer: its three streams, how to end it, and how it ended.

    Where the system can fork, a process of `supervisor` ends all that the answer has started, when
    it is told to or when this process is gone, however that comes.
    """

    def __init__(self, environment: dict[str, str]) -> None:
        forks = hasattr(os, "fork")
        watched, self._hold = os.pipe() if forks else (-1, -1)
        module = ["gpukit.course.supervisor", str(watched)] if forks else ["gpukit.course.child"]
        self._process = subprocess.Popen(
            [sys.executable, "-m", *module],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            bufsize=0,
            env=environment,
            pass_fds=[watched] if forks else (),
        )
        self.stdin, self.stdout = self._process.stdin, self._process.stdout
        self.stderr = self._process.stderr
        if forks:
            os.close(watched)

    def end(self) -> None:
        """End it, and wait until it is over."""
        if self._hold >= 0:
            os.close(self._hold)
            self._hold = -1
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._process.wait(PATIENCE)
        self._process.kill()
        self._process.wait()

    def code(self, seconds: float) -> int | None:
        """Return its exit code, a signal's being negative; None if it goes on for `seconds`."""
        try:
            return self._process.wait(seconds)
        except subprocess.TimeoutExpired:
            return None


# Takes the environment. `warm` puts something in its place that starts sooner.
Start = Callable[[dict[str, str]], Any]
start: Start = Process


def environment() -> dict[str, str]:
    """Return the environment in which a process finds this package, and does not keep output."""
    package = str(Path(__file__).resolve().parents[2])
    path = os.pathsep.join(filter(None, (package, os.environ.get("PYTHONPATH"))))
    return {**os.environ, "PYTHONPATH": path, "PYTHONUNBUFFERED": "1"}


class Child:
    """A running child process; use it in a `with` statement.

    Threads do all reading and writing, so that no answer can keep this one waiting: one that stops
    itself reads no more, and one whose copies hold the pipes never closes them. What the answer
    changes on the disk is noted in the file `audit_log`. `starts` starts the process, where that is
    another one than usual.
    """

    def __init__(
        self,
        file: Path,
        entry: str,
        driver: Path | None = None,
        notice: Callable[[str], None] = lambda _: None,
        audit_log: Path | None = None,
        starts: Start | None = None,
    ) -> None:
        self._notice = notice
        own = environment()
        own["PYTHONIOENCODING"] = "utf-8"  # whatever the terminal knows: we read it
        if driver is not None:  # the launches of host code can be watched on the CPU target only
            own["GPUKIT_TARGET"] = "cpu"
        self._process = (starts or start)(own)
        self._inbox: queue.Queue[tuple[dict[str, Any], bytes] | BaseException | None] = (
            queue.Queue()
        )
        self._outbox: queue.Queue[tuple[dict[str, Any], bytes] | None] = queue.Queue()
        self._unanswered = threading.Semaphore(0)
        self._last: Outcome | None = None
        self._printed = bytearray()
        self._send_file(file, entry, driver, str(audit_log or ""))
        works = (self._listen, self._collect, self._deliver)
        self._threads = [threading.Thread(target=work, daemon=True) for work in works]
        for thread in self._threads:
            thread.start()

    def __enter__(self) -> Child:
        return self

    def __exit__(self, *_: object) -> None:
        self._outbox.put(None)
        self._process.end()
        for thread in self._threads:
            thread.join(PATIENCE)
        for stream in (self._process.stdin, self._process.stdout, self._process.stderr):
            _close(stream)

    def _listen(self) -> None:
        try:
            while (frame := frames.receive(self._process.stdout)) is not None:
                self._expect(*frame)
                self._inbox.put(frame)
            self._inbox.put(None)
        except (frames.ProtocolError, OSError, ValueError, MemoryError) as error:
            self._inbox.put(error)

    def _expect(self, header: dict[str, Any], body: bytes) -> None:
        """Refuse what nobody has asked for: it would fill this process's memory."""
        if "busy" not in header:
            if not self._unanswered.acquire(blocking=False):
                raise frames.ProtocolError("an answer that nobody has asked for")
        elif body or self._inbox.qsize() > UNREAD:
            raise frames.ProtocolError("too much about what the process is busy with")

    def _collect(self) -> None:
        """Keep the first part of what the student prints; read and drop the rest."""
        with contextlib.suppress(OSError):
            while chunk := os.read(self._process.stderr.fileno(), 8192):
                self._printed += chunk[: max(0, PRINTED_LIMIT - len(self._printed))]

    def _deliver(self) -> None:
        """Write what is to be sent; where the child is gone, `_answer` will find out."""
        with contextlib.suppress(OSError, ValueError):
            while (frame := self._outbox.get()) is not None:
                frames.send(self._process.stdin, *frame)

    def _send(self, header: dict[str, Any], body: bytes = b"") -> None:
        self._unanswered.release()
        self._outbox.put((header, body))

    def _send_file(self, file: Path, entry: str, driver: Path | None, audit_log: str = "") -> None:
        called = str(driver.resolve()) if driver else ""
        self._send(
            {"file": str(file.resolve()), "entry": entry, "driver": called, "audit_log": audit_log}
        )

    def load(self, file: Path, entry: str, driver: Path | None) -> Outcome:
        """Load another file in the same process, and wait until what it defines is found."""
        self._send_file(file, entry, driver)
        return self.loaded()

    def loaded(self, seconds: float | None = None) -> Outcome:
        """Wait until the file is loaded and its kernel found; Python has to start for it, too."""
        return self._answer(START_SECONDS if seconds is None else seconds)

    def launch(self, case: Case, seconds: float) -> Outcome:
        """Launch the kernel plainly and return the arrays afterwards."""
        return self._ask("launch", case, seconds)

    def check(self, case: Case, seconds: float) -> Outcome:
        """Launch the kernel under `gpukit.check`; return the arrays, and the report as JSON."""
        return self._ask("check", case, seconds)

    def doubles(self, case: Case, seconds: float) -> Outcome:
        """Look for float64 by accident in the kernel; return the report as JSON."""
        return self._ask("doubles", case, seconds)

    def profile(self, case: Case, seconds: float) -> Outcome:
        """Launch the kernel under `gpukit.profile` and return its counts as JSON."""
        return self._ask("profile", case, seconds)

    def origin(self, case: Case, seconds: float) -> Outcome:
        """Record a launch and return the line that makes a NaN or an infinity, if one does."""
        return self._ask("origin", case, seconds)

    def _ask(self, command: str, case: Case, seconds: float) -> Outcome:
        shapes, body = frames.pack(case.args)
        self._send(
            {"command": command, "args": shapes, "grid": case.grid, "block": case.block}, body
        )
        return self._answer(seconds)

    def _answer(self, seconds: float) -> Outcome:
        """Wait for the child's next answer; one that has ended or is late gives no more."""
        if self._last is None or self._last.goes_on:
            self._last = self._next(seconds)
        return self._last

    def _next(self, seconds: float) -> Outcome:
        """Wait for an answer, at most `seconds` besides what the child compiles."""
        left, compiling = {False: seconds, True: COMPILING_SECONDS}, False
        while left[compiling] > 0:  # however many messages there are
            begun = time.monotonic()
            try:
                frame = self._inbox.get(timeout=left[compiling])
            except queue.Empty:
                break
            if isinstance(frame, BaseException):
                return Outcome("protocol", facts={"message": str(frame)})
            if frame is None:
                return self._ended()
            if "busy" not in frame[0]:
                return outcome(*frame)
            left[compiling] -= time.monotonic() - begun
            if not isinstance(frame[0]["busy"], str):
                return Outcome("protocol", facts={"message": "busy is not a text"})
            compiling = bool(frame[0]["busy"])
            self._notice(frame[0]["busy"][:200])
        return Outcome("timeout", facts={"seconds": COMPILING_SECONDS if compiling else seconds})

    def _ended(self) -> Outcome:
        """Say how the child has ended that says no more."""
        code = self._process.code(PATIENCE)
        if code is None:
            return Outcome("protocol", facts={"message": "the channel was closed"})
        return Outcome("died", facts={"code": code})

    def printed(self) -> str:
        """Return what the student's file has printed, without control characters."""
        return replies.printable(self._printed.decode("utf-8", "replace"))


def _close(stream: IO[bytes] | None) -> None:
    if stream is not None:
        with contextlib.suppress(OSError):
            stream.close()


def outcome(header: dict[str, Any], body: bytes) -> Outcome:
    """Return what a message of the child means; one that means nothing is a broken protocol."""
    try:
        if "error" in header:
            return Outcome("error", facts=replies.of_error(header["error"]))
        if "missing" in header:
            return Outcome("missing", facts=replies.of_missing(header))
        if "ready" in header:
            return Outcome("ready", facts=replies.of_ready(header))
        size = int(header["text"])
        if not 0 <= size <= TEXT_LIMIT:
            raise ValueError(f"a text of {size} bytes")
        text = body[:size].decode()
        arrays = frames.unpack(header.get("arrays"), body[size:])
    except (frames.ProtocolError, *frames.DAMAGED) as error:
        return Outcome("protocol", facts={"message": str(error)})
    return Outcome("arrays", arrays=arrays, text=text)  # type: ignore[arg-type]
