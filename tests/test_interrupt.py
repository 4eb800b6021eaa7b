"""Ctrl-C stops an endless kernel with KeyboardInterrupt, and the process remains usable.

All kernels run one after another in one process, which sends itself the signal
(`tests/interrupts.py`). Work that must not be cut short is interrupted when Python calls a given
function.
"""

import signal
import sys

import pytest
from IPython.core.interactiveshell import InteractiveShell

from gpukit import interrupts, target

pytestmark = [
    pytest.mark.skipif(
        sys.platform == "win32", reason="Windows cannot send SIGINT to the own process"
    ),
    pytest.mark.skipif(target.wanted() == "cuda", reason="a GPU cannot stop a kernel"),
]

HEAD = """
import numpy as np
from gpukit import cuda
from tests import interrupts
"""
# The first launch compiles the kernel and returns at once.
TAIL = """
a = np.zeros(blocks * threads, np.int64)
kernel[blocks, threads](a, 0)
try:
    with interrupts.coming():
        kernel[blocks, threads](a, 1)
    print("no interrupt")
except KeyboardInterrupt:
    print("interrupted")
kernel[blocks, threads](a, 0)

@cuda.jit
def good_kernel(out):
    i = cuda.grid(1)
    if i < out.shape[0]:
        out[i] = i

out = np.zeros(70)
good_kernel[3, 32](out)
print(out.tolist() == list(range(70)))
"""

# Each kernel returns at once for go == 0, and never for go == 1.
WHILE = """
@cuda.jit
def kernel(a, go):
    while go == 1:
        a[cuda.grid(1)] += 1
"""
EMPTY_WHILE = """
@cuda.jit
def kernel(a, go):
    while go == 1:
        pass
"""
LONG_FOR = """
@cuda.jit
def kernel(a, go):
    for k in range(go * 10**15):
        a[cuda.grid(1)] ^= k
"""
NESTED_FOR = """
@cuda.jit
def kernel(a, go):
    for i in range(go * 10**6):
        for j in range(10**6):
            for k in range(10**6):
                a[cuda.grid(1)] ^= i * j + k
"""
SPIN_ON_MEMORY = """
@cuda.jit
def kernel(a, go):
    while go == 1 and a[cuda.grid(1)] == 0:
        pass
"""
SPIN_ON_ATOMIC = """
@cuda.jit
def kernel(a, go):
    while go == 1 and cuda.atomic.cas(a, 0, 0, 0) != 5:
        pass
"""
DEVICE_WHILE = """
@cuda.jit(device=True)
def spin(a, go):
    while go == 1:
        a[0] += 1

@cuda.jit
def kernel(a, go):
    spin(a, go)
"""
DEVICE_FOR = """
@cuda.jit(device=True)
def total(a, go):
    s = 0
    for k in range(go * 10**15):
        s ^= a[k % a.shape[0]] + k
    return s

@cuda.jit
def kernel(a, go):
    a[cuda.grid(1)] = total(a, go)
"""
DEVICE_BARRIER = """
@cuda.jit(device=True)
def synchronize_forever(go):
    while go == 1:
        cuda.syncthreads()

@cuda.jit
def kernel(a, go):
    synchronize_forever(go)
"""
BARRIER = """
@cuda.jit
def kernel(a, go):
    while go == 1:
        a[cuda.grid(1)] += 1
        cuda.syncthreads()
"""
BARRIER_FOR = """
@cuda.jit
def kernel(a, go):
    for k in range(go * 10**15):
        a[cuda.grid(1)] += k
        cuda.syncthreads()
"""
SHUFFLE = """
@cuda.jit
def kernel(a, go):
    v = cuda.laneid
    while go == 1:
        v = cuda.shfl_sync(0xFFFFFFFF, v, 1)
    a[cuda.grid(1)] = v
"""
GRID_SYNC = """
@cuda.jit
def kernel(a, go):
    grid = cuda.cg.this_grid()
    while go == 1:
        grid.sync()
"""
MANY_BLOCKS = """
@cuda.jit
def kernel(a, go):
    for k in range(go * 10**7):
        a[cuda.grid(1)] ^= k
"""
RECURSIVE = """
@cuda.jit(device=True)
def tree(n):
    if n == 0:
        return 1
    return tree(n - 1) ^ tree(n - 1)

@cuda.jit
def kernel(a, go):
    a[cuda.grid(1)] = tree(go * 60)
"""

# name, blocks, threads, kernel
TABLE = [
    ("while", 1, 1, WHILE),
    ("while of a block", 1, 64, WHILE),
    ("empty while", 1, 32, EMPTY_WHILE),
    ("for", 1, 1, LONG_FOR),
    ("for of a block", 1, 64, LONG_FOR),
    ("nested for", 1, 32, NESTED_FOR),
    ("spin on memory", 1, 32, SPIN_ON_MEMORY),
    ("spin on an atomic", 4, 32, SPIN_ON_ATOMIC),
    ("while in a device function", 1, 1, DEVICE_WHILE),
    ("for in a device function", 1, 32, DEVICE_FOR),
    ("barrier in a device function", 1, 32, DEVICE_BARRIER),
    ("loop with a barrier", 1, 64, BARRIER),
    ("for with a barrier", 1, 64, BARRIER_FOR),
    ("loop with a shuffle", 2, 32, SHUFFLE),
    ("loop with a grid barrier", 4, 32, GRID_SYNC),
    ("while on all cores", 1000, 256, WHILE),
    ("barrier on all cores", 1000, 256, BARRIER),
    ("device function on all cores", 1000, 256, DEVICE_WHILE),
    ("many long blocks", 2000, 256, MANY_BLOCKS),
    ("recursion", 1, 1, RECURSIVE),
]


@pytest.fixture
def run_endless(fresh_python, tmp_path):
    """Run endless kernels in one process; return the output for each."""

    def run(*rows):
        paths = []
        for number, (_, blocks, threads, kernel) in enumerate(rows):
            paths.append(tmp_path / f"endless_{number}.py")
            sizes = f"blocks, threads = {blocks}, {threads}\n"
            paths[-1].write_text(HEAD + kernel + sizes + TAIL, encoding="utf-8")
        each = "import runpy, sys\nfor path in sys.argv[1:]:\n    runpy.run_path(path)"
        done = fresh_python("-c", each, *map(str, paths))
        printed = done.stdout.splitlines()
        assert done.returncode == 0, f"{done.returncode}\n{printed}\n{done.stderr}"
        return {row[0]: printed[2 * k : 2 * k + 2] for k, row in enumerate(rows)}

    return run


@pytest.mark.slow
def test_ctrl_c_stops_an_endless_kernel_and_the_process_remains_usable(run_endless):
    assert run_endless(*TABLE) == {row[0]: ["interrupted", "True"] for row in TABLE}


def test_ctrl_c_stops_a_kernel_though_the_parent_ignores_sigint(run_endless):
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        printed = run_endless(TABLE[2])
    finally:
        signal.signal(signal.SIGINT, before)
    assert printed == {TABLE[2][0]: ["interrupted", "True"]}


# A first launch that is interrupted when Python calls a function of this name.
INTERRUPTED_LAUNCH = """
import signal, sys
import numpy as np
from gpukit import cuda

@cuda.jit
def kernel(a):
    i = cuda.grid(1)
    if i < a.shape[0]:
        a[i] = i

def press(frame, event, argument):
    if event == "call" and frame.f_code.co_name == sys.argv[1]:
        sys.setprofile(None)
        signal.raise_signal(signal.SIGINT)

a = np.zeros(70)
signal.signal(signal.SIGINT, signal.default_int_handler)
sys.setprofile(press)
try:
    kernel[3, 32](a)
    print("no interrupt")
except KeyboardInterrupt:
    print("interrupted")
kernel[3, 32](a)
print(a.tolist() == list(range(70)))
"""


@pytest.mark.parametrize("where", ["insert_attributes", "new_registrations", "install_registry"])
@pytest.mark.costly
def test_ctrl_c_is_deferred_until_numba_has_filled_its_tables(
    fresh_python, tmp_path, where, monkeypatch
):
    monkeypatch.setenv("GPUKIT_CACHE", "0")
    path = tmp_path / "interrupted.py"
    path.write_text(INTERRUPTED_LAUNCH, encoding="utf-8")
    done = fresh_python(str(path), where)
    assert done.stdout.splitlines() == ["interrupted", "True"], done.stderr


@pytest.mark.usefixtures("interruptible")
def test_a_deferred_interrupt_is_raised_at_the_end_of_the_outermost_block():
    reached = []

    def work():
        with interrupts.held():
            with interrupts.held():
                signal.raise_signal(signal.SIGINT)
                reached.append("inner")
            reached.append("outer")

    with pytest.raises(KeyboardInterrupt):
        work()
    assert reached == ["inner", "outer"]
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


@pytest.mark.usefixtures("interruptible")
def test_a_deferred_interrupt_is_raised_even_if_the_body_raises():
    @interrupts.held()
    def work():
        signal.raise_signal(signal.SIGINT)
        raise ImportError("half of a module")

    with pytest.raises(KeyboardInterrupt) as stopped:
        work()
    assert isinstance(stopped.value.__context__, ImportError)
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


CELL = """from gpukit import cuda
import numpy as np
import signal
@cuda.jit
def brighten_kernel(a):
    a[cuda.grid(1)] += 1

def press(kernel, shape, arguments):
    signal.raise_signal(signal.SIGINT)
from gpukit.cpu.launch import launcher
before = launcher.observe_launches(press)
try:
    brighten_kernel[1, 32](np.zeros(32))
finally:
    launcher.observe_launches(before)
"""


@pytest.mark.usefixtures("interruptible")
def test_the_traceback_in_a_notebook_shows_only_the_line_of_the_cell(capsys, monkeypatch):
    shell = InteractiveShell()
    monkeypatch.setattr("IPython.get_ipython", lambda: shell)
    shell.run_cell(CELL)
    shown = capsys.readouterr().out.strip().splitlines()
    assert shown[-2:] == ["", "KeyboardInterrupt: kernel brighten_kernel was stopped by Ctrl-C"]
    assert shown[-3] == "----> 13 brighten_kernel[1, 32](np.zeros(32))"
    assert len(shown) == 4
