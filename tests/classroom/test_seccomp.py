"""The filter of system calls: its numbers are the kernel's, its program does what it says."""

import fcntl
import functools
import os
import re
import termios
from pathlib import Path

import pytest

from gpukit.classroom.sandbox import seccomp

HEADERS = {
    0: Path("/usr/include/x86_64-linux-gnu/asm/unistd_64.h"),
    1: Path("/usr/include/asm-generic/unistd.h"),
}
MACHINES = {"x86_64": 0, "aarch64": 1}
PID = 4711
ALLOWED, DENIED, UNKNOWN, KILLED = 0x7FFF0000, 0x00050001, 0x00050026, 0x80000000


def decide(program, architecture, number, *arguments):
    """Run a filter program, as the kernel does, and return its verdict."""
    given = dict(zip((16, 24, 32), (*arguments, 0, 0, 0), strict=False))
    data = {0: number, 4: architecture, **given}
    at, value = 0, 0
    while True:
        code, yes, no, k = program[at]
        at += 1
        if code == 0x20:
            value = data[k]
        elif code == 0x06:
            return k
        else:
            met = {0x15: value == k, 0x35: value >= k, 0x45: bool(value & k)}[code]
            at += yes if met else no


@pytest.fixture(params=MACHINES)
def machine(request):
    return request.param


@pytest.fixture
def verdict(machine):
    program = seccomp.program(machine, PID)
    architecture = seccomp._ARCHITECTURES[machine][1]
    return functools.partial(decide, program, architecture)


@pytest.mark.parametrize("column", HEADERS)
def test_the_numbers_are_those_of_the_kernels_headers(column):
    if not HEADERS[column].exists():
        pytest.skip(f"needs {HEADERS[column]}: install linux-libc-dev")
    text = HEADERS[column].read_text()
    known = {name: int(n) for name, n in re.findall(r"#define __NR(?:3264)?_(\w+) +(\d+)", text)}
    table = {name: numbers[column] for name, numbers in seccomp._DENIED.items()}
    filtered = "clone clone3 tgkill prlimit64 open openat openat2 fcntl ioctl prctl"
    for name in filtered.split():
        table[name] = getattr(seccomp, f"_{name.upper()}")[column]
    later = {"memfd_secret", "mount_setattr", "process_madvise", "quotactl_fd"}  # than some headers
    later |= {"fchmodat2", "setxattrat", "removexattrat", "file_setattr"}
    assert {n: k for n, k in table.items() if n in known or n not in later} == {
        n: known.get(n) for n in table if n in known or n not in later
    }


def test_each_call_of_the_table_is_denied(machine, verdict):
    numbers = [of[MACHINES[machine]] for of in seccomp._DENIED.values()]
    assert {verdict(n) for n in numbers if n is not None} == {DENIED}


def test_what_python_needs_is_allowed(machine, verdict):
    read_write_mmap_futex_exit = {"x86_64": (0, 1, 9, 202, 231), "aarch64": (63, 64, 222, 98, 94)}
    assert {verdict(n) for n in read_write_mmap_futex_exit[machine]} == {ALLOWED}


def test_a_thread_may_start_and_a_process_may_not(machine, verdict):
    clone = seccomp._CLONE[MACHINES[machine]]
    assert verdict(clone, 0x00010000 | 0x400 | 0x100) == ALLOWED
    assert verdict(clone, 0x11) == verdict(clone, 0x400) == DENIED


def test_threads_share_their_descriptors_and_the_limit_of_these(machine, verdict):
    assert verdict(seccomp._CLONE[MACHINES[machine]], 0x00010000 | 0x100) == DENIED


@pytest.mark.parametrize("numbers", [seccomp._CLONE3, seccomp._OPENAT2])
def test_a_call_whose_flags_are_in_memory_looks_unknown(machine, verdict, numbers):
    assert verdict(numbers[MACHINES[machine]]) == UNKNOWN


WRITING = [os.O_WRONLY, os.O_RDWR, os.O_CREAT, os.O_TRUNC, os.O_TMPFILE, os.O_WRONLY | os.O_APPEND]


@pytest.mark.parametrize("flags", WRITING)
def test_files_are_opened_to_be_read(machine, verdict, flags):
    openat = seccomp._OPENAT[MACHINES[machine]]
    assert verdict(openat, 3, 0, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC) == ALLOWED
    assert verdict(openat, 3, 0, flags) == DENIED


def test_the_older_way_to_open_files_is_the_same(verdict, machine):
    if machine == "x86_64":  # which alone has it
        assert verdict(seccomp._OPEN[0], 0, os.O_RDONLY) == ALLOWED
        assert {verdict(seccomp._OPEN[0], 0, flags) for flags in WRITING} == {DENIED}


SETOWN_EX, OFD_SETLK, FIOSETOWN, TIOCLINUX = 15, 37, 0x8901, 0x541C
SETFLAGS, ENABLE_VERITY, FREEZE = 0x40086602, 0x40806685, 0xC0045877


@pytest.mark.parametrize(
    "asked", [fcntl.F_SETOWN, fcntl.F_SETSIG, SETOWN_EX, fcntl.F_SETLK, OFD_SETLK]
)
def test_a_file_has_neither_a_lock_nor_an_owner_that_is_signalled(machine, verdict, asked):
    number = seccomp._FCNTL[MACHINES[machine]]
    assert verdict(number, 0, asked) == DENIED
    assert {verdict(number, 0, n) for n in (fcntl.F_SETFD, fcntl.F_GETFL)} == {ALLOWED}
    assert verdict(number, 0, fcntl.F_DUPFD_CLOEXEC) == ALLOWED


@pytest.mark.parametrize(
    "asked", [FIOSETOWN, termios.TIOCSTI, TIOCLINUX, SETFLAGS, ENABLE_VERITY, FREEZE]
)
def test_devices_and_files_are_asked_nothing_but_what_a_stream_is(machine, verdict, asked):
    number = seccomp._IOCTL[MACHINES[machine]]
    assert verdict(number, 0, asked) == DENIED
    assert {verdict(number, 0, n) for n in (termios.FIONREAD, termios.TCGETS)} == {ALLOWED}


def test_a_filter_is_not_followed_by_others(machine, verdict):
    number, name, core = seccomp._PRCTL[MACHINES[machine]], 15, 62  # PR_SET_NAME, PR_SCHED_CORE
    assert [verdict(number, option) for option in (name, 22, core)] == [ALLOWED, DENIED, DENIED]


def test_a_process_may_signal_its_own_threads_alone(machine, verdict):
    tgkill = seccomp._TGKILL[MACHINES[machine]]
    assert verdict(tgkill, PID) == ALLOWED
    assert verdict(tgkill, PID + 1) == DENIED


def test_a_process_may_limit_itself_alone(machine, verdict):
    prlimit64 = seccomp._PRLIMIT64[MACHINES[machine]]
    assert verdict(prlimit64, 0) == ALLOWED
    assert verdict(prlimit64, PID) == DENIED


def test_calls_of_another_architecture_end_the_process(machine):
    assert decide(seccomp.program(machine, PID), 0x40000003, 0) == KILLED


def test_the_x32_calls_do_not_exist():
    program = seccomp.program("x86_64", PID)
    assert decide(program, 0xC000003E, 0x40000000 + 59) == UNKNOWN
