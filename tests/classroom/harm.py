"""The marks that hostile submissions leave where they reach out of the sandbox.

with harm.observed(submissions, reports) as seen:
    ...  # grade
    assert seen() == []
"""

from __future__ import annotations

import contextlib
import os
import select
import socket
import tempfile
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

from tests.classroom.corpus import ESCAPED, PORT, SURVIVOR


@contextlib.contextmanager
def observed(*folders: Path) -> Iterator[Callable[[], list[str]]]:
    """Give a function that returns the marks left since: files, processes, what the port receives.

    Files are looked for below `folders`, in the folders above them, in the home folder, and in
    those for temporary files and shared memory. Raises OSError where the port is in use.
    """
    before, received = {*_files(folders)}, list[str]()
    with _listening(received):
        yield lambda: sorted({*_files(folders)} - before) + _processes() + received


def _files(folders: tuple[Path, ...]) -> Iterator[str]:
    """Yield the names of files with the mark, and those of abstract sockets."""
    for folder in folders:
        with contextlib.suppress(OSError):  # a path that is too long for the system
            yield from (str(path) for path in folder.rglob(f"{ESCAPED}*"))
    above = {parent for folder in folders for parent in folder.resolve().parents}
    usual = (tempfile.gettempdir(), "/tmp", "/var/tmp", "/dev/shm")
    for place in {*above, Path.cwd(), Path.home(), *map(Path, usual)}:
        with contextlib.suppress(OSError):
            yield from (str(path) for path in place.iterdir() if path.name.startswith(ESCAPED))
    with contextlib.suppress(OSError):
        yield from (line for line in Path("/proc/net/unix").read_text().split() if ESCAPED in line)


def _processes() -> list[str]:
    """Return the command lines of processes with the mark of a survivor."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            command = (process / "cmdline").read_bytes().decode(errors="replace")
            if SURVIVOR in command and int(process.name) != os.getpid():
                found.append(command.replace("\0", " ").strip())
    return sorted(found)


@contextlib.contextmanager
def _listening(received: list[str]) -> Iterator[None]:
    """Accept connections and packets at the port, and note what they bring."""
    ends, ending = socket.socketpair()
    with (
        socket.create_server(("127.0.0.1", PORT)) as tcp,
        socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as udp,
        ends,
        ending,
    ):
        udp.bind(("127.0.0.1", PORT))
        thread = threading.Thread(target=_listen, args=(tcp, udp, ends, received))
        thread.start()
        try:
            yield
        finally:
            ending.send(b"!")
            thread.join()


def _listen(
    tcp: socket.socket, udp: socket.socket, ends: socket.socket, received: list[str]
) -> None:
    while True:
        ready, _, _ = select.select([tcp, udp, ends], [], [])
        if udp in ready:
            received.append(f"packet: {udp.recv(200)!r}")
        if tcp in ready:
            received.append(_first_of(tcp.accept()[0]))
        if ends in ready:
            return


def _first_of(link: socket.socket) -> str:
    """Return what a connection brings first."""
    with link, contextlib.suppress(OSError):
        link.settimeout(0.5)
        return f"connection: {link.recv(200)!r}"
    return "connection"
