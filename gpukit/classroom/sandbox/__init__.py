"""Isolate the process in which a submission runs.

`Sandbox` starts it, in one of `modes`: bubblewrap, Landlock or another user. `confine` restricts
it from inside (limits, `landlock`, `seccomp`), before it reads the submission.
"""

from __future__ import annotations

import json
import os
import tempfile
from dataclasses import asdict
from pathlib import Path
from types import TracebackType

from gpukit.classroom.sandbox import modes, visible
from gpukit.classroom.sandbox.modes import Mode
from gpukit.course.warm import Copy, Warm, WarmError
from gpukit.errors import SandboxError

__all__ = ["Mode", "Sandbox"]


class Sandbox:
    """A warm process in a sandbox, whose forks run one answer after another.

    Two answers are never in it at the same time. `box` is the folder that they are put into, which
    their processes can only read.
    """

    def __init__(self, mode: Mode) -> None:
        self.mode = mode
        self._boxes = tempfile.TemporaryDirectory(prefix="gpukit-", ignore_cleanup_errors=True)
        self.box = Path(self._boxes.name).resolve()
        self._confinement = modes.confinement(mode, self.box)
        if (user := self._confinement.user) is not None:
            os.chown(self.box, -1, user)  # a user of its own, so that no other answer looks into it
            self.box.chmod(0o750)
        self._warm: Warm | None = None

    def __enter__(self) -> Sandbox:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.end()

    def end(self) -> None:
        """End the warm process, and remove the folder."""
        self._stop()
        self._boxes.cleanup()

    def put(self, name: str, text: str) -> Path:
        """Write an answer for the next process to read; the one before is gone."""
        for file in self.box.iterdir():
            file.unlink()
        file = self.box / name
        file.write_text(text, encoding="utf-8", newline="\n")
        file.chmod(0o644)
        return file

    def start(self, _environment: dict[str, str]) -> Copy:
        """Start a process for an answer, with the sandbox's own environment; raise SandboxError.

        A warm process that an answer has managed to end is replaced.
        """
        for last in (False, True):
            try:
                self._warm = self._warm or self._started()
                return self._warm.start(visible.environment())
            except WarmError as error:
                self._stop()
                if last:
                    raise SandboxError(
                        f"a process in the sandbox ({self.mode.name}) does not start: {error}."
                    ) from error
        raise AssertionError

    def _started(self) -> Warm:
        confinement = json.dumps(asdict(self._confinement))
        return Warm(
            modes.command(self.mode, self.box),
            "gpukit.classroom.sandbox.inside",
            [confinement],
            visible.environment(),
        )

    def _stop(self) -> None:
        if self._warm is not None:
            self._warm.end()
            self._warm = None
