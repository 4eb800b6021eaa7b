"""Programs that could crash or hang the process, each in its own process."""

import os
import textwrap

import pytest

from tests.safety.attempt import on_cpu

pytestmark = on_cpu
HEAD = """
import gc, os, sys, threading, time
import numpy as np
from gpukit import cuda, errors

@cuda.jit
def fill_kernel(a, value):
    i = cuda.grid(1)
    if i < a.shape[0]:
        a[i] = value
"""
TAIL = """
a = np.zeros(100)
fill_kernel[4, 32](a, 3)
assert (a == 3).all()
print("good launch")
"""

FUNCTION = """
@cuda.jit(device=True)
def {name}(n):
    if n < 0:
        return 0
    return {called}(n + 1) + 1
"""
LAUNCH = """
@cuda.jit
def bad_kernel(a, n):
    a[0] = {name}(n)

bad_kernel[1, 1](np.zeros(4), 3)
"""
RECURSION = FUNCTION.format(name="descend", called="descend") + LAUNCH.format(name="descend")
RECURSION_IN_POOL = RECURSION.replace("[1, 1](np.zeros(4)", "[1000, 256](np.zeros(4)")
RECURSION_WITHOUT_END = RECURSION.replace("    if n < 0:\n        return 0\n", "")
MUTUAL = (
    FUNCTION.format(name="even", called="odd")
    + FUNCTION.format(name="odd", called="even")
    + LAUNCH.format(name="even")
)
LOCAL = """
@cuda.jit
def bad_kernel(a):
    mine = cuda.local.array({size}, np.float64)
    mine[cuda.threadIdx.x] = 3
    {barrier}
    a[0] = mine[0]

bad_kernel[1, {threads}](np.zeros(4))
"""
MANY_LOCAL = "\n".join(
    ["@cuda.jit", "def bad_kernel(a, i):"]
    + [f"    a{k} = cuda.local.array(60_000, np.float64)" for k in range(40)]
    + [f"    a{k}[i] = a[{k}]" for k in range(40)]
    + [f"    a[{k}] = a{k}[i - 1] + a{k}[i]" for k in range(40)]
    + ["bad_kernel[1, 4](np.zeros(40), 5)"]
)
LONG_SUM = """
import linecache
text = "@cuda.jit\\ndef bad_kernel(a):\\n    a[0] = " + " + ".join(["a[1]"] * 1500) + "\\n"
linecache.cache["<sum>"] = (len(text), None, text.splitlines(True), "<sum>")
exec(compile(text, "<sum>", "exec"))
bad_kernel[1, 1](np.zeros(4))
"""

# name, program, type of the error, parts of the message
BAD = [
    ("recursion", RECURSION, "KernelError", "descend", "thread 0 of block 0", "loop"),
    ("recursion on all cores", RECURSION_IN_POOL, "KernelError", "descend", "loop"),
    ("recursion without an end", RECURSION_WITHOUT_END, "Error", "recursion"),
    ("mutual recursion", MUTUAL, "Unsupported", "calls itself through another function", "loop"),
    (
        "huge local array",
        LOCAL.format(size=50_000_000, threads=1, barrier="pass"),
        "Invalid",
        "400000000 bytes",
        "local",
    ),
    (
        "absurd local array",
        LOCAL.format(size=1 << 45, threads=1, barrier="pass"),
        "Invalid",
        "local",
    ),
    (
        "huge local array at a barrier",
        LOCAL.format(size=5_000_000, threads=1024, barrier="cuda.syncthreads()"),
        "Invalid",
        "local",
    ),
    ("many local arrays", MANY_LOCAL, "Invalid", "local"),
    ("sum of 1500 terms", LONG_SUM, "Unsupported", "bad_kernel"),
]


@pytest.mark.parametrize(
    ("program", "kind", "parts"),
    [(row[1], row[2], row[3:]) for row in BAD],
    ids=[row[0] for row in BAD],
)
@pytest.mark.costly
def test_a_dangerous_program_raises_and_the_process_survives(
    fresh_python, tmp_path, program, kind, parts
):
    *body, launch = program.strip().splitlines()
    attempt = f"try:\n    {launch}\n    print('no error')\n"
    attempt += "except errors.GpukitError as error:\n    print(type(error).__name__, error)\n"
    out = run_script(fresh_python, tmp_path, "\n".join([*body, attempt]))
    assert kind in out.split()[0], out
    for part in parts:
        assert part in out, out


def run_script(fresh_python, tmp_path, text):
    """Run a program in a new process; assert that it succeeds and return its output."""
    path = tmp_path / "program.py"
    path.write_text(HEAD + textwrap.dedent(text) + TAIL, encoding="utf-8")
    result = fresh_python(str(path))
    assert result.returncode == 0, f"{result.returncode}\n{result.stdout}\n{result.stderr}"
    assert result.stdout.endswith("good launch\n"), result.stdout
    return result.stdout


@pytest.mark.slow
def test_deep_recursion_that_ends_works(fresh_python, tmp_path):
    program = """
    @cuda.jit(device=True)
    def total(n):
        if n == 0:
            return 0
        return total(n - 1) + n

    @cuda.jit
    def sum_kernel(a):
        a[cuda.grid(1)] = total(cuda.threadIdx.x)

    a = np.zeros(2048)
    sum_kernel[2, 1024](a)
    print(a[100], a[2047])
    """
    assert run_script(fresh_python, tmp_path, program).startswith("5050.0 523776.0")


@pytest.mark.slow
def test_several_python_threads_may_launch_at_once(fresh_python, tmp_path):
    program = """
    @cuda.jit
    def bad_kernel(a):
        a[cuda.grid(1)] = 1

    found = []

    def work(value):
        for _ in range(20):
            a = np.zeros(100_000)
            fill_kernel[400, 256](a, value)
            found.append((a == value).all())
            try:
                bad_kernel[400, 256](a)
                found.append(False)
            except errors.OutOfBounds:
                found.append((a == 1).any())

    threads = [threading.Thread(target=work, args=(float(k),)) for k in range(2, 8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    print(len(found), all(found))
    """
    assert run_script(fresh_python, tmp_path, program).startswith("240 True")


FORK = """
import warnings
warnings.simplefilter("ignore")  # Python 3.12 warns of any fork beside threads

@cuda.jit
def add_kernel(a, value, n):
    i = cuda.grid(1)
    for _ in range(n):
        a[i] += value

a = np.zeros(400 * 256)
add_kernel[400, 256](a, 1.0, 1)
other = threading.Thread(target=lambda: add_kernel[400, 256](a, 1.0, 2000))
{before}
child = os.fork()
if child == 0:
    b = np.zeros(400 * 256)
    add_kernel[400, 256](b, 2.0, 3)
    os._exit(0 if (b == 6).all() else 3)
print("child", os.waitpid(child, 0)[1])
{after}
print((a == {value}).all())
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
@pytest.mark.parametrize("when", ["after a launch", "during a launch"])
@pytest.mark.slow
def test_a_forked_child_can_launch(fresh_python, tmp_path, when):
    during = when == "during a launch"
    program = FORK.format(
        before="other.start(); time.sleep(0.01)" if during else "",
        after="other.join()" if during else "",
        value=2001 if during else 1,
    )
    assert run_script(fresh_python, tmp_path, program).startswith("child 0\nTrue")


@pytest.mark.slow
def test_a_view_outlives_the_array_that_owns_its_memory(fresh_python, tmp_path):
    program = """
    def view():
        whole = np.zeros(1_000_000)
        return whole[5:9]

    part = view()
    gc.collect()
    fill_kernel[1, 32](part, 2)
    print(part.tolist())
    device = cuda.to_device(np.zeros(40))
    rest = device[1:3]
    del device
    gc.collect()
    fill_kernel[1, 32](rest, 4)
    print(rest.copy_to_host().tolist())
    """
    out = run_script(fresh_python, tmp_path, program)
    assert out.startswith("[2.0, 2.0, 2.0, 2.0]\n[4.0, 4.0]")


@pytest.mark.slow
def test_thousands_of_lines_printed_by_a_kernel_are_complete(fresh_python, tmp_path):
    program = """
    @cuda.jit
    def print_kernel(a):
        print("thread", cuda.grid(1), a[0])

    print_kernel[100, 64](np.zeros(4))
    cuda.synchronize()
    """
    lines = run_script(fresh_python, tmp_path, program).splitlines()[:-1]
    assert sorted(int(line.split()[1]) for line in lines) == list(range(6400))


@pytest.mark.parametrize("depth", [20, 90], ids=["20 deep", "90 deep"])
@pytest.mark.slow
def test_deeply_nested_branches_compile(fresh_python, tmp_path, depth):
    lines = [f"{'    ' * (k + 1)}if a[1] > -{k + 1}:" for k in range(depth)]
    kernel = "\n".join(
        ["@cuda.jit", "def deep_kernel(a):", *lines, "    " * (depth + 1) + "a[0] = 3"]
    )
    program = f"{kernel}\n\na = np.zeros(4)\ndeep_kernel[1, 4](a)\nprint(a[0])\n"
    assert run_script(fresh_python, tmp_path, program).startswith("3.0")
