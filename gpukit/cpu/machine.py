"""Facts about this computer: the name of its processor, its cores and its memory."""

from __future__ import annotations

import ctypes
import functools
import os
import platform
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

CGROUP = Path("/sys/fs/cgroup")


class MemoryInfo(NamedTuple):
    """Free and total memory in bytes."""

    free: int
    total: int


def _field(path: str, key: str) -> str:
    """Return the text after `key` and a colon in a file of /proc, or an empty string."""
    try:
        with Path(path).open(encoding="utf-8", errors="replace") as lines:
            for line in lines:
                name, _, value = line.partition(":")
                if name.strip() == key:
                    return value.strip()
    except OSError:
        pass
    return ""


def _sysctl(key: str) -> str:
    """Return a value of macOS's `sysctl`, or an empty string."""
    command = ["/usr/sbin/sysctl", "-n", key]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=5, check=True)
    except (OSError, subprocess.SubprocessError):
        return ""
    return done.stdout.strip()


@functools.cache
def cpu_name() -> str:
    """Return the processor's name, such as `Intel(R) Xeon(R) Platinum 8481C`."""
    if sys.platform == "darwin":
        name = _sysctl("machdep.cpu.brand_string")
    else:
        name = _field("/proc/cpuinfo", "model name")
    return name or platform.processor() or platform.machine() or "CPU"


def cores() -> int:
    """Return how many cores this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _kib(key: str) -> int:
    """Return a line of /proc/meminfo in bytes, 0 where it is missing."""
    words = _field("/proc/meminfo", key).split()
    return int(words[0]) * 1024 if words and words[0].isdigit() else 0


def _number(path: Path) -> int | None:
    try:
        return int(path.read_text())
    except (OSError, ValueError):
        return None


def _linux() -> MemoryInfo:
    total, free = _kib("MemTotal"), _kib("MemAvailable") or _kib("MemFree")
    # In a container the limit of the control group is the available memory.
    limit, used = _number(CGROUP / "memory.max"), _number(CGROUP / "memory.current")
    if limit is not None and 0 < limit < total:
        total, free = limit, min(free, limit - (used or 0))
    return MemoryInfo(max(free, 0), total)


def _macos() -> MemoryInfo:
    total, page = int(_sysctl("hw.memsize") or 0), int(_sysctl("hw.pagesize") or 4096)
    free = int(_sysctl("vm.page_free_count") or 0) * page
    return MemoryInfo(min(free, total), total)


def _windows() -> MemoryInfo:
    class Status(ctypes.Structure):
        _fields_ = [("length", ctypes.c_ulong), ("load", ctypes.c_ulong)] + [
            (name, ctypes.c_ulonglong)
            for name in ("total", "free", "page", "pagefree", "virtual", "virtualfree", "extra")
        ]

    status = Status(length=ctypes.sizeof(Status))
    kernel = getattr(ctypes, "windll").kernel32  # noqa: B009 (missing on other systems)
    kernel.GlobalMemoryStatusEx(ctypes.byref(status))
    return MemoryInfo(int(status.free), int(status.total))


def memory() -> MemoryInfo:
    """Return the free and total memory, in bytes, from the operating system."""
    if sys.platform == "win32":
        return _windows()
    if sys.platform == "darwin":
        return _macos()
    return _linux()
