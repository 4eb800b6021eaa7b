"""The ways to isolate submissions, the strongest first, and which of them this machine allows.

| mode | files | network | processes, signals | memory and time |
|---|---|---|---|---|
| bubblewrap | what `visible` lists, in a namespace | none | own namespace, none to start | limits |
| landlock | what `visible` lists | none (seccomp) | none (seccomp) | limits |
| user | what another user may read | none (seccomp) | none (seccomp) | limits |

In every mode seccomp filters system calls, if the machine has it; with bubblewrap Landlock is added
where the kernel has it.
"""

from __future__ import annotations

import os
import platform
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from gpukit.classroom.sandbox import landlock, seccomp, visible
from gpukit.classroom.sandbox.confine import Confinement
from gpukit.errors import SandboxError

_FIRST_USER, _USERS = 60000, 4000  # above the users that systems give out
NONE = "none"


@dataclass(frozen=True)
class Mode:
    """A way to isolate submissions; `why` says why this machine does not allow it, else ""."""

    name: str
    why: str = ""
    fix: str = ""

    @property
    def is_available(self) -> bool:
        """Whether this machine allows it."""
        return not self.why


def every() -> list[Mode]:
    """Return the modes, the strongest first."""
    return [_bubblewrap(), _landlock(), _user()]


def find(name: str = "") -> Mode:
    """Return the mode called `name`, or the strongest that works; raise SandboxError."""
    if sys.platform != "linux":
        raise SandboxError(
            f"submissions run on Linux only, and this is {platform.system()}. Use a container, or "
            "WSL 2 on Windows."
        )
    if name == NONE:
        return Mode(NONE)
    known = every()
    if name:
        mode = next((m for m in known if m.name == name), None)
        if mode is None:
            names = ", ".join([m.name for m in known] + [NONE])
            raise SandboxError(f"--isolation: expected one of {names}, got {name!r}.")
        if not mode.is_available:
            raise SandboxError(f"--isolation {name}: {mode.why}. {mode.fix}")
        return mode
    usable = [mode for mode in known if mode.is_available]
    if not usable:
        reasons = "\n".join(f"  {mode.name}: {mode.why}. {mode.fix}" for mode in known)
        raise SandboxError(
            "submissions are programs of strangers, and this machine has nothing to isolate them "
            f"with:\n{reasons}\nFor your own files only: --isolation none."
        )
    return usable[0]


def described(modes: list[Mode]) -> str:
    """Return in words which modes work, and what the others need.

    >>> described([Mode("bubblewrap", "bwrap is not installed", "Install it."), Mode("landlock")])
    'landlock for `gpukit grade`. bubblewrap: bwrap is not installed. Install it.'
    """
    usable = " or ".join(mode.name for mode in modes if mode.is_available) or "none"
    others = (f"{mode.name}: {mode.why}. {mode.fix}" for mode in modes if not mode.is_available)
    return " ".join([f"{usable} for `gpukit grade`.", *others])


def _bubblewrap() -> Mode:
    if sys.platform != "linux":
        return Mode("bubblewrap", "it exists only on Linux", "On Windows, use WSL 2.")
    if shutil.which("bwrap") is None:
        return Mode("bubblewrap", "bwrap is not installed", "Run: apt-get install bubblewrap")
    try:
        tried = subprocess.run(
            [*_namespaces(), "--ro-bind", "/", "/", "true"],
            capture_output=True,
            text=True,
            timeout=10,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return Mode("bubblewrap", f"bwrap does not start ({error})", "Reinstall bubblewrap.")
    if tried.returncode == 0:
        return Mode("bubblewrap")
    said = (tried.stderr.strip().splitlines() or ["no message"])[-1]
    return Mode("bubblewrap", f"bwrap is refused ({said})", _allow_namespaces())


def _allow_namespaces() -> str:
    """Return how to allow user namespaces, by what forbids them."""
    apparmor = Path("/proc/sys/kernel/apparmor_restrict_unprivileged_userns")
    if apparmor.exists() and apparmor.read_text(encoding="ascii").strip() == "1":
        return "Run: sudo sysctl kernel.apparmor_restrict_unprivileged_userns=0"
    if Path("/.dockerenv").exists():
        return "Run: docker run --security-opt seccomp=unconfined ..."
    return "Run: sudo sysctl kernel.unprivileged_userns_clone=1"


def _landlock() -> Mode:
    if sys.platform != "linux" or landlock.version() == 0:
        return Mode("landlock", "the kernel has no Landlock", "It needs Linux 5.13 or later.")
    if seccomp.column() is None:
        return Mode("landlock", _no_filter(), "Install bubblewrap instead.")
    return Mode("landlock")


def _no_filter() -> str:
    return f"gpukit has no seccomp filter for {platform.machine()}"


def _user() -> Mode:
    if sys.platform != "linux" or os.geteuid() != 0:
        return Mode("user", "only root can run processes as another user", "Install bubblewrap.")
    if seccomp.column() is None:
        return Mode("user", _no_filter(), "Install bubblewrap.")
    hidden = next((p for p in visible.python() if not _is_for_all(p)), None)
    if hidden is not None:
        what = f"other users may not read {hidden}, which Python needs"
        return Mode("user", what, "Install Python and gpukit outside of a home directory.")
    return Mode("user")


def _is_for_all(path: str) -> bool:
    """Tell whether every user may read a folder: it, and all around it."""
    place = Path(path)
    above = all(folder.stat().st_mode & 0o001 for folder in place.parents)
    return above and bool(place.stat().st_mode & 0o004)


# ---- how a mode starts Python, and what it confines ---------------------------------------------


def command(mode: Mode, boxes: Path) -> list[str]:
    """Return the command that runs Python in a mode; `boxes` is the folder of the answers."""
    if mode.name != "bubblewrap":
        return [sys.executable]
    shown = [*visible.python(), *visible.caches(), *visible.drivers(), str(boxes)]
    binds = [word for place in shown for word in ("--ro-bind", place, place)]
    closed = [word for place in ("/tmp", "/dev", "/") for word in ("--remount-ro", place)]
    line = [*_namespaces(), *_libraries(), "--dev", "/dev", "--tmpfs", "/tmp", *_folders(shown)]
    return [*line, *binds, *closed, sys.executable]


def _folders(shown: list[str]) -> list[str]:
    """Return the options that make the folders above what is shown, for every user to pass."""
    above = {str(folder) for place in shown for folder in Path(place).parents} - {"/", "/tmp"}
    return [word for place in sorted(above) for word in ("--perms", "0755", "--dir", place)]


def _namespaces() -> list[str]:
    shared = ["--unshare-pid", "--unshare-net", "--unshare-ipc", "--unshare-uts"]
    line = ["bwrap", *shared, "--die-with-parent", "--new-session", "--proc", "/proc"]
    line += ["--chdir", "/", "--cap-drop", "ALL"]
    if os.geteuid() != 0:
        return [*line, "--unshare-user"]
    # Root can become another user for each answer, and end what that one has started.
    kept = ("CAP_SETUID", "CAP_SETGID", "CAP_KILL")
    return [*line, *(word for capability in kept for word in ("--cap-add", capability))]


def _libraries() -> list[str]:
    """Return the options that show shared libraries; /lib is a link on most systems."""
    words = []
    for place in visible.system():
        path = Path(place)
        if path.is_symlink() and len(path.parts) == 2:
            words += ["--symlink", str(path.readlink()), place]
        else:
            words += ["--ro-bind", place, place]
    return words


def confinement(mode: Mode, boxes: Path) -> Confinement:
    """Return what each answer's process is confined to in a mode."""
    if mode.name == NONE:
        return Confinement(readable=None, filtered=False)
    filtered = seccomp.column() is not None
    readable: tuple[str, ...] | None = None
    if landlock.version() and mode.name != "user":
        python = [*visible.python(), *visible.caches(), *visible.system(), *visible.DEVICES]
        readable = (*python, *visible.drivers(), str(boxes))
    as_root = os.geteuid() == 0 and (mode.name != "landlock" or _user().is_available)
    user = _FIRST_USER + os.getpid() % _USERS if as_root else None
    return Confinement(readable, user, filtered)
