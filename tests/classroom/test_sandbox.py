"""What a process in a sandbox can do: each mode that this machine allows is tried from inside."""

import socket
import textwrap
from contextlib import closing
from pathlib import Path

import pytest

from gpukit.classroom.sandbox import Sandbox, modes, visible
from gpukit.course import catalogue, runner

pytestmark = pytest.mark.slow
EXERCISE = catalogue.find("zip_add")
HEAD = "import ctypes, fcntl, os, resource, signal, socket, subprocess, sys, threading, time\n"
TAIL = "\n" + EXERCISE.solution.read_text().split('task.md."""')[-1]


@pytest.fixture(scope="module", params=[m.name for m in modes.every()])
def sandbox(request):
    mode = next(m for m in modes.every() if m.name == request.param)
    if not mode.is_available:
        pytest.skip(f"{mode.name}: {mode.why}. {mode.fix}")
    with Sandbox(mode) as made:
        yield made


def ran(sandbox, program):
    """Run a program in front of a right answer, as no submission can; return what it printed."""
    text = HEAD + textwrap.dedent(program) + TAIL
    with runner.Child(
        sandbox.put("answer.py", text), EXERCISE.entry, starts=sandbox.start
    ) as child:
        loaded = child.loaded()
        case = EXERCISE.cases()[0]
        right = loaded.kind == "ready" and child.check(case, 20.0).kind == "arrays"
    return child.printed().strip(), right


def attempted(sandbox, expression):
    """Return what an expression gives in the sandbox, or the name of the error that it raises."""
    program = f"""
        try:
            print("got", repr({expression}))
        except BaseException as error:
            print(type(error).__name__)
    """
    printed, right = ran(sandbox, program)
    assert right, printed
    return printed.splitlines()[0]


def test_a_right_answer_is_right(sandbox):
    assert ran(sandbox, "") == ("", True)


def test_the_environment_of_the_teacher_is_not_there(sandbox, monkeypatch):
    monkeypatch.setenv("TEACHERS_PASSWORD", "secret")
    assert attempted(sandbox, "os.environ.get('TEACHERS_PASSWORD')") == "got None"


def test_the_solution_cannot_be_read(sandbox):
    if sandbox.mode.name == "user":
        pytest.skip("another user reads what all users may read")
    found = attempted(sandbox, f"open({str(EXERCISE.solution)!r}).read()")
    assert found in ("FileNotFoundError", "PermissionError")


def test_nothing_can_be_written_where_the_answer_lies(sandbox):
    assert attempted(sandbox, "open(__file__, 'a')") in ("OSError", "PermissionError")
    assert attempted(sandbox, "open(__file__ + '2', 'w')") in ("OSError", "PermissionError")
    assert [file.name for file in sandbox.box.iterdir()] == ["answer.py"]


def test_nothing_that_the_grader_has_open_is_open(sandbox):
    program = """
        for number in range(256):
            try:
                print(number, oct(os.fstat(number).st_mode >> 12))
            except OSError:
                pass
    """
    device, pipe = "0o2", "0o1"
    kinds = [device, pipe, pipe, pipe, pipe, device]  # /dev/null, output, channel, /dev/null
    lines = [f"{number} {kind}" for number, kind in enumerate(kinds)]
    assert ran(sandbox, program)[0].splitlines() == lines


def test_no_answer_finds_another_one_in_its_folder(sandbox):
    sandbox.put("first.py", "secret = 1")
    sandbox.put("second.py", "")
    assert [file.name for file in sandbox.box.iterdir()] == ["second.py"]


def test_of_an_exercise_with_host_code_the_driver_alone_is_visible(sandbox):
    exercise = catalogue.find("gradient_bucket")
    assert str(exercise.driver) in visible.drivers()
    assert not [path for path in visible.drivers() if Path(path).is_dir()]
    if sandbox.mode.name != "user":
        found = attempted(sandbox, f"open({str(exercise.solution)!r}).read()")
        assert found in ("FileNotFoundError", "PermissionError")


def test_nothing_can_be_written_into_packages(sandbox):
    written = "open(sys.modules['numpy'].__file__, 'a')"
    assert attempted(sandbox, written) in ("OSError", "PermissionError")


def test_no_socket_can_be_made(sandbox):
    with closing(socket.create_server(("127.0.0.1", 0))) as server:
        server.settimeout(0.5)
        port = server.getsockname()[1]
        assert attempted(sandbox, f"socket.create_connection(('127.0.0.1', {port}))") in (
            "PermissionError",
            "OSError",
        )
        with pytest.raises(TimeoutError):
            server.accept()
    assert attempted(sandbox, "socket.socketpair()") == "PermissionError"


@pytest.mark.parametrize(
    "start",
    [
        "os.fork()",
        "os.execv('/bin/true', ['true'])",
        "subprocess.run(['/bin/true'])",
        "os.forkpty()",
    ],
)
def test_no_process_can_be_started(sandbox, start):
    assert attempted(sandbox, start) in ("PermissionError", "FileNotFoundError", "OSError")


@pytest.mark.parametrize("pid", ["os.getppid()", "1", "-1", "0"])
def test_no_other_process_can_be_signalled(sandbox, pid):
    assert attempted(sandbox, f"os.kill({pid}, signal.SIGTERM)") == "PermissionError"


@pytest.mark.parametrize(
    "call",
    [
        "ctypes.CDLL(None, use_errno=True).unshare(0x10000000)",
        "ctypes.CDLL(None, use_errno=True).mount(b'none', b'/tmp', b'tmpfs', 0, None)",
        "ctypes.CDLL(None, use_errno=True).ptrace(16, 1, 0, 0)",
        "ctypes.CDLL(None, use_errno=True).chroot(b'/')",
        "ctypes.CDLL(None, use_errno=True).setns(0, 0)",
    ],
)
def test_the_kernels_doors_are_closed(sandbox, call):
    assert attempted(sandbox, call) == "got -1"


@pytest.mark.parametrize(
    "change",
    [
        "os.chmod(__file__, 0o777)",
        "os.utime(__file__)",
        "os.truncate(__file__, 0)",
        "os.ftruncate(1, 0)",
        "open('/dev/null', 'r+b', 0)",
        "os.setxattr(__file__, 'user.x', b'')",
        "os.chown(__file__, os.getuid(), -1)",
        "resource.prlimit(os.getppid(), resource.RLIMIT_CPU, (1, 1))",
        "os.sched_setaffinity(os.getppid(), {0})",
        "fcntl.fcntl(1, fcntl.F_SETOWN, os.getppid())",
    ],
)
def test_neither_a_file_nor_another_process_can_be_changed(sandbox, change):
    assert attempted(sandbox, change) == "PermissionError"


def test_other_users_cannot_look_at_the_answers(sandbox):
    assert sandbox.box.stat().st_mode & 0o007 == 0


def test_no_memory_without_limit_can_be_had(sandbox):
    assert attempted(sandbox, "bytearray(16 << 30)") == "MemoryError"
    assert attempted(sandbox, "os.memfd_create('x')") == "PermissionError"


@pytest.mark.parametrize("folder", ["/tmp", "/dev/shm", "/var/tmp", "/"])
@pytest.mark.parametrize("make", ["open(PATH, 'wb')", "os.mkdir(PATH)", "os.symlink('a', PATH)"])
def test_nothing_can_be_made(sandbox, folder, make):
    path = repr(f"{folder}/gpukit-{sandbox.mode.name}")
    assert attempted(sandbox, make.replace("PATH", path)) in ("OSError", "PermissionError")


def test_an_answer_that_ends_its_process_does_not_end_the_next_one(sandbox):
    assert ran(sandbox, "os._exit(7)") == ("", False)
    assert ran(sandbox, "") == ("", True)
