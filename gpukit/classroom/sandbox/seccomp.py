"""A seccomp filter: no processes, no sockets, no signals to others, no other door of the kernel.

A program for the kernel's filter machine (classic BPF) looks at each system call and at some of its
arguments. What is denied returns EPERM, as if a permission were missing: the caller sees an
exception. Sources: seccomp(2), the kernel's Documentation/userspace-api/seccomp_filter.rst, and the
numbers in asm/unistd_64.h and asm-generic/unistd.h, which a test compares with the table.
"""

from __future__ import annotations

import ctypes
import os
import platform
import struct

# The numbers of a system call on x86-64 and on 64-bit ARM; None where that has no such call.
_DENIED: dict[str, tuple[int | None, int | None]] = {
    # processes, and signals to others
    "fork": (57, None),
    "vfork": (58, None),
    "execve": (59, 221),
    "execveat": (322, 281),
    "kill": (62, 129),
    "tkill": (200, 130),
    "rt_sigqueueinfo": (129, 138),
    "rt_tgsigqueueinfo": (297, 240),
    "pidfd_open": (434, 434),
    "pidfd_send_signal": (424, 424),
    "pidfd_getfd": (438, 438),
    "ptrace": (101, 117),
    "process_vm_readv": (310, 270),
    "process_vm_writev": (311, 271),
    "process_madvise": (440, 440),
    "kcmp": (312, 272),
    "setpriority": (141, 140),
    "ioprio_set": (251, 30),
    "sched_setaffinity": (203, 122),
    "sched_setattr": (314, 274),
    "sched_setparam": (142, 118),
    "sched_setscheduler": (144, 119),
    # files and folders: to create, move and remove them by name
    "creat": (85, None),
    "mkdir": (83, None),
    "mkdirat": (258, 34),
    "rmdir": (84, None),
    "link": (86, None),
    "linkat": (265, 37),
    "symlink": (88, None),
    "symlinkat": (266, 36),
    "rename": (82, None),
    "renameat": (264, 38),
    "renameat2": (316, 276),
    "unlink": (87, None),
    "unlinkat": (263, 35),
    # files by their names, which Landlock does not stop: owner, permissions, times, attributes
    "chmod": (90, None),
    "fchmod": (91, 52),
    "fchmodat": (268, 53),
    "fchmodat2": (452, 452),
    "chown": (92, None),
    "lchown": (94, None),
    "fchown": (93, 55),
    "fchownat": (260, 54),
    "utime": (132, None),
    "utimes": (235, None),
    "futimesat": (261, None),
    "utimensat": (280, 88),
    "setxattr": (188, 5),
    "lsetxattr": (189, 6),
    "fsetxattr": (190, 7),
    "setxattrat": (463, 463),
    "removexattr": (197, 14),
    "lremovexattr": (198, 15),
    "fremovexattr": (199, 16),
    "removexattrat": (466, 466),
    "file_setattr": (469, 469),
    "truncate": (76, 45),  # which Landlock stops since Linux 6.2
    "ftruncate": (77, 46),
    "fallocate": (285, 47),
    # network
    "socket": (41, 198),
    "socketpair": (53, 199),
    "connect": (42, 203),
    "bind": (49, 200),
    "listen": (50, 201),
    # namespaces and mounts
    "unshare": (272, 97),
    "setns": (308, 268),
    "mount": (165, 40),
    "umount2": (166, 39),
    "pivot_root": (155, 41),
    "chroot": (161, 51),
    "open_tree": (428, 428),
    "move_mount": (429, 429),
    "fsopen": (430, 430),
    "fsconfig": (431, 431),
    "fsmount": (432, 432),
    "fspick": (433, 433),
    "mount_setattr": (442, 442),
    # memory that belongs to no process's address space, and is therefore not limited
    "memfd_create": (319, 279),
    "memfd_secret": (447, 447),
    "mq_open": (240, 180),
    # System V's queues, semaphores and memory, those of the same user too
    "msgget": (68, 186),
    "msgsnd": (69, 189),
    "msgrcv": (70, 188),
    "msgctl": (71, 187),
    "semget": (64, 190),
    "semop": (65, 193),
    "semtimedop": (220, 192),
    "semctl": (66, 191),
    "shmget": (29, 194),
    "shmat": (30, 196),
    "shmctl": (31, 195),
    "mq_unlink": (241, 181),
    # what only a debugger, a driver or an administrator uses
    "seccomp": (317, 277),
    "landlock_create_ruleset": (444, 444),
    "landlock_add_rule": (445, 445),
    "landlock_restrict_self": (446, 446),
    "bpf": (321, 280),
    "perf_event_open": (298, 241),
    "io_uring_setup": (425, 425),
    "io_uring_enter": (426, 426),
    "io_uring_register": (427, 427),
    "io_setup": (206, 0),
    "userfaultfd": (323, 282),
    "keyctl": (250, 219),
    "add_key": (248, 217),
    "request_key": (249, 218),
    "fanotify_init": (300, 262),
    "inotify_init": (253, None),
    "inotify_init1": (294, 26),
    "name_to_handle_at": (303, 264),
    "open_by_handle_at": (304, 265),
    "personality": (135, 92),
    "syslog": (103, 116),
    "acct": (163, 89),
    "quotactl": (179, 60),
    "quotactl_fd": (443, 443),
    "sync": (162, 81),
    "syncfs": (306, 267),
    "flock": (73, 32),
    "swapon": (167, 224),
    "swapoff": (168, 225),
    "reboot": (169, 142),
    "sethostname": (170, 161),
    "setdomainname": (171, 162),
    "settimeofday": (164, 170),
    "clock_settime": (227, 112),
    "clock_adjtime": (305, 266),
    "adjtimex": (159, 171),
    "init_module": (175, 105),
    "finit_module": (313, 273),
    "delete_module": (176, 106),
    "kexec_load": (246, 104),
    "kexec_file_load": (320, 294),
    "iopl": (172, None),
    "ioperm": (173, None),
    "modify_ldt": (154, None),
    "uselib": (134, None),
    "mknod": (133, None),
    "mknodat": (259, 33),
    "move_pages": (279, 239),
    "migrate_pages": (256, 238),
    "vmsplice": (278, 75),
}
_CLONE, _CLONE3, _TGKILL, _PRLIMIT64 = (56, 220), (435, 435), (234, 131), (302, 261)
_OPEN, _OPENAT, _OPENAT2 = (2, None), (257, 56), (437, 437)
_FCNTL, _IOCTL, _PRCTL = (72, 25), (16, 29), (157, 167)
_ARCHITECTURES = {"x86_64": (0, 0xC000003E), "aarch64": (1, 0xC00000B7)}  # column, AUDIT_ARCH
_X32 = 0x40000000  # the bit of the numbers of the x32 calls, which a x86-64 kernel takes as well

_LOAD, _JUMP_EQUAL, _JUMP_AT_LEAST, _JUMP_SET, _RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
_NUMBER, _ARCH, _ARGUMENTS = 0, 4, (16, 24, 32)  # in struct seccomp_data; the low halves
_ALLOW, _DENY, _UNKNOWN, _KILL = 0x7FFF0000, 0x00050001, 0x00050026, 0x80000000  # EPERM, ENOSYS
_CLONE_THREAD, _CLONE_FILES = 0x00010000, 0x00000400
# F_DUPFD to F_SETFL and F_DUPFD_CLOEXEC: no locks, no owner that the kernel signals.
_DESCRIPTORS = (0, 1, 2, 3, 4, 1030)
# TCGETS, TIOCGWINSZ, FIONREAD, FIONBIO, FIONCLEX, FIOCLEX: what Python asks of a stream. Others
# change files and file systems, even if these were opened to be read, or type into a terminal.
_STREAMS = (0x5401, 0x5413, 0x541B, 0x5421, 0x5450, 0x5451)
_PR_SCHED_CORE = 62
_O_CREAT, _O_TRUNC, _O_TMPFILE = 0o100, 0o1000, 0o20000000  # the last one without O_DIRECTORY
_O_WRONLY, _O_RDWR = 1, 2
_DUMPABLE, _SET_SECCOMP, _FILTER, _NO_NEW_PRIVILEGES = 4, 22, 2, 38  # of prctl

Instruction = tuple[int, int, int, int]


def column() -> int | None:
    """Return which numbers of the table are those of this machine; None where neither are."""
    return _ARCHITECTURES.get(platform.machine(), (None, 0))[0]


def program(machine: str, pid: int) -> list[Instruction]:
    """Return the filter for a machine; a thread of process `pid` may signal that process alone."""
    which, architecture = _ARCHITECTURES[machine]
    rules: list[Instruction] = [
        (_LOAD, 0, 0, _ARCH),
        (_JUMP_EQUAL, 1, 0, architecture),
        (_RETURN, 0, 0, _KILL),
        (_LOAD, 0, 0, _NUMBER),
    ]
    if machine == "x86_64":
        rules += [(_JUMP_AT_LEAST, 0, 1, _X32), (_RETURN, 0, 0, _UNKNOWN)]
    for numbers in _DENIED.values():
        if numbers[which] is not None:
            rules += [(_JUMP_EQUAL, 0, 1, numbers[which]), (_RETURN, 0, 0, _DENY)]  # type: ignore[list-item]
    # Their flags are in memory, where a filter cannot read them; glibc falls back to clone.
    for numbers in (_CLONE3, _OPENAT2):
        rules += [(_JUMP_EQUAL, 0, 1, numbers[which]), (_RETURN, 0, 0, _UNKNOWN)]
    # Threads only, which share the table of descriptors and its limit.
    shared = (_JUMP_SET, 0, 1, _CLONE_THREAD), (_JUMP_SET, 1, 0, _CLONE_FILES)
    rules += _if(_CLONE[which], 0, *shared)
    rules += _if(_TGKILL[which], 0, (_JUMP_EQUAL, 1, 0, pid))
    rules += _if(_PRLIMIT64[which], 0, (_JUMP_EQUAL, 1, 0, 0))  # 0 is the process that calls
    changes = _O_WRONLY | _O_RDWR | _O_CREAT | _O_TRUNC | _O_TMPFILE
    for number, flags in ((_OPEN[which], 1), (_OPENAT[which], 2)):
        if number is not None:
            rules += _if(number, flags, (_JUMP_SET, 0, 1, changes))
    rules += _among(_FCNTL[which], 1, _DESCRIPTORS) + _among(_IOCTL[which], 1, _STREAMS)
    refused = (_JUMP_EQUAL, 1, 0, _SET_SECCOMP), (_JUMP_EQUAL, 0, 1, _PR_SCHED_CORE)
    rules += _if(_PRCTL[which], 0, *refused)
    return [*rules, (_RETURN, 0, 0, _ALLOW)]


def _if(number: int, argument: int, *tests: Instruction) -> list[Instruction]:
    """Return what allows a call if `tests` of an argument jump over one instruction behind them."""
    return [
        (_JUMP_EQUAL, 0, len(tests) + 3, number),
        (_LOAD, 0, 0, _ARGUMENTS[argument]),
        *tests,
        (_RETURN, 0, 0, _DENY),
        (_RETURN, 0, 0, _ALLOW),
    ]


def _among(number: int, argument: int, values: tuple[int, ...]) -> list[Instruction]:
    """Return what allows a call only where an argument is one of `values`."""
    last = len(values)
    tests = ((_JUMP_EQUAL, last - k, 0, value) for k, value in enumerate(values))
    return _if(number, argument, *tests)


def apply() -> None:
    """Filter the calls of this process and of what it starts from now on; raise OSError."""
    code = program(platform.machine(), os.getpid())
    packed = b"".join(struct.pack("<HBBI", *instruction) for instruction in code)
    buffer = ctypes.create_string_buffer(packed)
    given = struct.pack("<HxxxxxxQ", len(code), ctypes.addressof(buffer))
    program_of = ctypes.create_string_buffer(given)
    no_new_privileges()
    if prctl(_SET_SECCOMP, _FILTER, ctypes.addressof(program_of)):
        raise OSError(ctypes.get_errno(), "seccomp was refused")


def no_new_privileges() -> None:
    """Give up that a program which is set-uid gets more rights; the filter asks for that."""
    if prctl(_NO_NEW_PRIVILEGES, 1):
        raise OSError(ctypes.get_errno(), "no_new_privs was refused")


def hide() -> None:
    """Let no other process of the same user look into this one, nor into its descriptors."""
    prctl(_DUMPABLE, 0)


def prctl(option: int, *given: int) -> int:
    """Call prctl(2)."""
    four = [ctypes.c_ulong(n) for n in (*given, 0, 0, 0, 0)[:4]]
    return int(ctypes.CDLL(None, use_errno=True).prctl(option, *four))
