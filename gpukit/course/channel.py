"""The student's side of the channel: frames to the parent, and notes of what takes long."""

from __future__ import annotations

import contextlib
import os
import sys
import threading
from collections.abc import Callable, Iterator
from typing import Any, BinaryIO

from gpukit.course import frames


class Channel:
    """Receives what the parent asks and sends what it is to know."""

    def __init__(self, source: BinaryIO, output: BinaryIO) -> None:
        self._source, self._output = source, output
        self._sending = threading.Lock()

    def receive(self) -> tuple[dict[str, Any], bytes] | None:
        """Return the next frame; None at the end."""
        return frames.receive(self._source)

    def send(self, header: dict[str, Any], body: bytes = b"") -> None:
        """Send one frame."""
        with self._sending:
            frames.send(self._output, header, body)

    @contextlib.contextmanager
    def busy(self, doing: str) -> Iterator[None]:
        """Let the parent know what a `with` block does that is not the answer's time."""
        self.send({"busy": doing})
        try:
            yield
        finally:
            self.send({"busy": ""})

    def note(self, owner: Any, name: str, doing: Callable[..., str]) -> None:
        """Let each call of `owner.name` be noted; `doing` says in words what it does."""
        call = getattr(owner, name)

        def noted(*given: Any) -> Any:
            with self.busy(doing(*given)):
                return call(*given)

        setattr(owner, name, noted)


def private() -> Channel:
    """Take standard input and output for ourselves; the student gets neither."""
    source, output = os.dup(0), os.dup(1)
    if sys.platform == "win32":
        import msvcrt

        msvcrt.setmode(source, os.O_BINARY)
        msvcrt.setmode(output, os.O_BINARY)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.dup2(2, 1)
    return Channel(os.fdopen(source, "rb"), os.fdopen(output, "wb"))
