"""Confine the process of one answer: limits, user, Landlock, seccomp. It can undo none of it."""

from __future__ import annotations

import os
from dataclasses import dataclass

from gpukit.classroom.sandbox import landlock, seccomp


@dataclass(frozen=True)
class Confinement:
    """What an answer's process is confined to.

    `user` is the user and group that it becomes, where the grader is root; None otherwise.
    `readable` are the paths that Landlock leaves to it, None where Landlock is not used. `memory`
    is its address space and `file` the size of a file that it may write, in bytes; `seconds` are of
    CPU time.
    """

    readable: tuple[str, ...] | None
    user: int | None = None
    filtered: bool = True
    memory: int = 6 << 30
    file: int = 0
    files: int = 128
    threads: int = 256
    seconds: int = 600

    def apply(self) -> None:
        """Confine this process from now on; raise OSError where anything is refused."""
        import resource  # which Windows does not have, where `gpukit doctor` asks for the modes

        os.closerange(3, 1 << 16)
        for limit, value in (
            (resource.RLIMIT_AS, self.memory),
            (resource.RLIMIT_CORE, 0),
            (resource.RLIMIT_CPU, self.seconds),
            (resource.RLIMIT_FSIZE, self.file),
            (resource.RLIMIT_NOFILE, self.files),
            (resource.RLIMIT_NPROC, self.threads),
            (resource.RLIMIT_MEMLOCK, 0),
            (resource.RLIMIT_MSGQUEUE, 0),
        ):
            resource.setrlimit(limit, (value, value))
        if self.user is not None:
            os.setgroups([])
            os.setresgid(self.user, self.user, self.user)
            os.setresuid(self.user, self.user, self.user)
        os.umask(0o077)
        seccomp.hide()
        if self.readable is not None:
            landlock.apply(self.readable)
        if self.filtered:
            seccomp.apply()
