"""Landlock: let this process see some folders and no others, and no network.

Sources: landlock(7) and the kernel's Documentation/userspace-api/landlock.rst.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import stat
import struct
from collections.abc import Iterable
from pathlib import Path

from gpukit.classroom.sandbox import seccomp

_CREATE, _ADD, _RESTRICT = 444, 445, 446  # system calls, the same on all architectures
_VERSION, _PATH_BENEATH = 1, 1
# Rights of landlock_ruleset_attr.handled_access_fs, by the ABI that introduced them.
_EXECUTE, _WRITE_FILE, _READ_FILE, _READ_DIR = 1, 2, 4, 8
_ALL_RIGHTS = {1: (1 << 13) - 1, 2: 1 << 13, 3: 1 << 14, 5: 1 << 15}
_NETWORK = (1 << 2) - 1  # bind and connect by TCP, since ABI 4
_SCOPES = (1 << 2) - 1  # abstract Unix sockets, signals to processes outside, since ABI 6
_READ = _READ_FILE | _READ_DIR | _EXECUTE
_OF_FILES = _READ_FILE | _WRITE_FILE | _EXECUTE


def version() -> int:
    """Return the version of Landlock that the kernel has; 0 where it has none."""
    found = int(_libc().syscall(_CREATE, None, ctypes.c_size_t(0), ctypes.c_uint32(_VERSION)))
    return max(0, found)


def apply(readable: Iterable[str]) -> None:
    """Restrict this process to what is below these paths; raise OSError where that is refused."""
    abi = version()
    rights = sum(bits for since, bits in _ALL_RIGHTS.items() if since <= abi)
    network = _NETWORK if abi >= 4 else 0
    scopes = _SCOPES if abi >= 6 else 0
    size = 24 if abi >= 6 else 16 if abi >= 4 else 8
    given = struct.pack("<QQQ", rights, network, scopes)[:size]
    ruleset = _call(_CREATE, given, ctypes.c_size_t(size), ctypes.c_uint32(0))
    try:
        for path in readable:
            _allow(ruleset, path)
        seccomp.no_new_privileges()
        _call(_RESTRICT, ctypes.c_int(ruleset), ctypes.c_uint32(0))
    finally:
        os.close(ruleset)


def _allow(ruleset: int, path: str) -> None:
    with contextlib.suppress(FileNotFoundError, PermissionError):
        opened = os.open(Path(path), os.O_PATH | os.O_CLOEXEC)
        try:
            is_folder = stat.S_ISDIR(os.fstat(opened).st_mode)
            rights = _READ if is_folder else _READ & _OF_FILES
            rule = struct.pack("<Qi", rights, opened)
            _call(
                _ADD, ctypes.c_int(ruleset), ctypes.c_int(_PATH_BENEATH), rule, ctypes.c_uint32(0)
            )
        finally:
            os.close(opened)


def _call(number: int, *given: object) -> int:
    result = int(_libc().syscall(number, *given))
    if result < 0:
        raise OSError(ctypes.get_errno(), "Landlock was refused")
    return result


def _libc() -> ctypes.CDLL:
    return ctypes.CDLL(None, use_errno=True)
