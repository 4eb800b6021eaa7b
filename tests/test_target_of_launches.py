"""Every way to start a program, with every target: whether a race is an error.

Each program launches a correct kernel and then one with a race, and prints a line after each.
`unset` and `cpu` run both; `checked` stops at the race; `cuda` and an unknown target are refused
before any launch. `make test` tests two of the ways, `make test-programs` all of them.
"""

import os
import subprocess
import sys

import pytest

from gpukit import target
from tests.cells import notebook
from tests.conftest import ROOT
from tests.safety.attempt import on_cpu

pytestmark = on_cpu

KERNELS = """
import numpy as np

@cuda.jit
def clean_kernel(out):
    i = cuda.grid(1)
    if i < out.size:
        out[i] = 1

@cuda.jit
def racy_kernel(out):
    out[0] = cuda.threadIdx.x
"""
CLEAN = "clean_kernel[1, 32](np.zeros(32, np.float32))\nprint('clean passed', flush=True)\n"
RACY = "racy_kernel[1, 32](np.zeros(1, np.float32))\nprint('racy passed', flush=True)\n"
IMPORTS = {
    "ours": "from gpukit import cuda",
    "theirs": "from numba import cuda",
    "installed": "import gpukit.standin; gpukit.standin.install(); from numba import cuda",
}
LINE = KERNELS.splitlines().index("    out[0] = cuda.threadIdx.x") + 1
PROGRAM = KERNELS + CLEAN + RACY
TESTS = KERNELS + (
    "def test_clean():\n    clean_kernel[1, 32](np.zeros(32, np.float32))\n"
    "def test_racy():\n    racy_kernel[1, 32](np.zeros(1, np.float32))\n"
)
CHILDREN = """
import multiprocessing, subprocess, sys
import theirs_kernels

def run():
    theirs_kernels.run()

if __name__ == "__main__":
    theirs_kernels.run_clean()
    multiprocessing.set_start_method(sys.argv[1])
    child = multiprocessing.Process(target=run)
    child.start()
    child.join()
    sys.exit(child.exitcode)
"""
STARTER = """
import subprocess, sys
sys.exit(subprocess.run([sys.executable, "theirs.py"]).returncode)
"""
RUNNERS = (
    "def run_clean():\n    clean_kernel[1, 32](np.zeros(32, np.float32))\n"
    "def run():\n" + "".join(f"    {line}\n" for line in (CLEAN + RACY).splitlines())
)
GPUKIT, PYTEST = ["-m", "gpukit"], ["-m", "pytest", "-q", "-p", "no:cacheprovider"]

# Arguments of Python in the folder of `folder`, and the exit code of a refused target.
WAYS = {
    "python script.py": (["ours.py"], 1),
    "python script.py, standin.install()": (["installed.py"], 1),
    "python -m": (["-m", "ours"], 1),
    "python -c": (["-c", "from gpukit import cuda" + PROGRAM], 1),
    "python -c, standin.install()": (["-c", IMPORTS["installed"] + PROGRAM], 1),
    "gpukit run": ([*GPUKIT, "run", "theirs.py"], 3),
    "gpukit run -m": ([*GPUKIT, "run", "-m", "theirs"], 3),
    "gpukit run of a script that imports gpukit": ([*GPUKIT, "run", "ours.py"], 3),
    "gpukit run, multiprocessing spawn": ([*GPUKIT, "run", "children.py", "spawn"], 3),
    "gpukit run, multiprocessing fork": ([*GPUKIT, "run", "children.py", "fork"], 3),
    "gpukit run, subprocess": ([*GPUKIT, "run", "starter.py"], 3),
    "pytest": ([*PYTEST, "test_ours.py"], 2),
    "pytest -p gpukit.standin": ([*PYTEST, "-p", "gpukit.standin", "test_theirs.py"], 4),
}
SHORT = ("gpukit run", "pytest -p gpukit.standin")
EACH_WAY = [
    pytest.param(way, id=way, marks=() if way in SHORT else pytest.mark.programs) for way in WAYS
]
TARGETS = {"unset": None, "cpu": "cpu", "checked": "checked", "cuda": "cuda", "misspelt": "chekced"}
REFUSED = {
    "cuda": "GPUKIT_TARGET=cuda, but no",
    "misspelt": "GPUKIT_TARGET: expected one of auto, cuda, cpu, checked, got 'chekced'",
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder with the programs and tests."""
    path = tmp_path_factory.mktemp("ways")
    for name, line in IMPORTS.items():
        (path / f"{name}.py").write_text(line + PROGRAM, encoding="utf-8")
        (path / f"test_{name}.py").write_text(line + TESTS, encoding="utf-8")
        (path / f"{name}_kernels.py").write_text(line + KERNELS + RUNNERS, encoding="utf-8")
    (path / "children.py").write_text(CHILDREN, encoding="utf-8")
    (path / "starter.py").write_text(STARTER, encoding="utf-8")
    return path


def environment(name):
    """Return the environment of a process with a target."""
    inherited = {k: v for k, v in os.environ.items() if not k.startswith(("GPUKIT_T", "GPUKIT_S"))}
    wanted = {"GPUKIT_TARGET": TARGETS[name]} if TARGETS[name] else {}
    return {**inherited, "PYTHONPATH": str(ROOT), **wanted}


def python(folder, name, *words):
    """Run Python with a target; return its exit code, standard output and standard error."""
    done = subprocess.run(
        [sys.executable, *words],
        cwd=folder,
        env=environment(name),
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    return done.returncode, done.stdout, done.stderr


def needs_no_gpu(name):
    if name in ("unset", "cuda") and target.usable_gpu().usable:
        pytest.skip("says what happens without a GPU")


@pytest.mark.parametrize("name", ["unset", "cpu"])
@pytest.mark.parametrize("way", EACH_WAY)
@pytest.mark.slow
def test_a_race_is_no_error_on_the_cpu_target(folder, way, name):
    needs_no_gpu(name)
    code, stdout, stderr = python(folder, name, *WAYS[way][0])
    assert code == 0, stdout + stderr
    assert "2 passed" in stdout or stdout == "clean passed\nracy passed\n"


@pytest.mark.parametrize("way", EACH_WAY)
def test_a_race_is_an_error_at_its_line_on_the_checked_target(folder, way):
    code, stdout, stderr = python(folder, "checked", *WAYS[way][0])
    assert code == 1
    assert "racy passed" not in stdout
    if WAYS[way][0][1:2] == ["pytest"]:
        assert "1 failed, 1 passed" in stdout
        assert f"{WAYS[way][0][-1]}:{LINE}: CheckFailed" in stdout
        assert "E       global-race: In line" in stdout
        # The last line but one, and on CI the first of several: pytest shortens no message there.
        (failed,) = (line for line in stdout.splitlines() if line.startswith("FAILED"))
        assert "test_racy - gpukit.errors.CheckFailed" in failed
    else:
        assert "clean passed" in stdout
        assert "global-race" in stderr
        assert f"line {LINE}, in racy_kernel" in stderr or f":{LINE} in racy_k" in stderr


@pytest.mark.parametrize("name", REFUSED)
@pytest.mark.parametrize("way", EACH_WAY)
def test_an_unavailable_target_is_refused_before_any_launch(folder, way, name):
    needs_no_gpu(name)
    code, stdout, stderr = python(folder, name, *WAYS[way][0])
    assert code == WAYS[way][1], stdout + stderr
    assert REFUSED[name] in stdout + stderr
    assert "passed" not in stdout


# --- Commands that observe launches --------------------------------------------------------------

# Exit codes of the commands, which are the same with every target.
OBSERVING = {"check": 1, "profile": 0, "play": 1}
REPORT_FINDINGS = ("check", "play")


@pytest.mark.programs
@pytest.mark.parametrize("name", ["unset", "cpu", "checked"])
@pytest.mark.parametrize("command", OBSERVING)
def test_a_command_that_observes_launches_works_with_every_target(folder, command, name):
    needs_no_gpu(name)
    code, stdout, stderr = python(folder, name, "-m", "gpukit", command, "theirs.py")
    assert code == OBSERVING[command], stderr
    assert "clean passed" in stdout
    assert "racy passed" in stdout
    assert ("global-race" in stdout) == (command in REPORT_FINDINGS)


@pytest.mark.parametrize("name", REFUSED)
@pytest.mark.parametrize("command", OBSERVING)
@pytest.mark.costly
def test_a_command_that_observes_launches_refuses_an_unavailable_target(folder, command, name):
    needs_no_gpu(name)
    code, stdout, stderr = python(folder, name, "-m", "gpukit", command, "theirs.py")
    assert code == 3
    assert REFUSED[name] in stderr
    assert "passed" not in stdout


# --- Notebooks -----------------------------------------------------------------------------------


@pytest.mark.parametrize("name", TARGETS)
@pytest.mark.costly
def test_launches_in_a_notebook_use_the_target(folder, name):
    needs_no_gpu(name)
    variable = TARGETS[name] or ""  # empty is the same as unset
    with notebook(folder, GPUKIT_TARGET=variable) as running:
        for line in ("from gpukit import cuda", IMPORTS["installed"]):
            first, shown = running.run(line + KERNELS + CLEAN), running.run(RACY)
            if name in REFUSED:
                assert REFUSED[name] in first.error
            else:
                assert first == ("clean passed\n", "")
                assert shown.text == ("" if name == "checked" else "racy passed\n")
                assert ("global-race: " in shown.error) == (name == "checked")


# --- Kinds of launches ---------------------------------------------------------------------------

# A program that prints for each kind of launch whether it was checked.
KINDS = """
import threading
import numpy as np
from gpukit import cuda, kernels, nn, target
from gpukit.checked import check

seen, plain_run = [], check.run
check.run = lambda *args, **kwargs: (seen.append(1), plain_run(*args, **kwargs))[1]

@cuda.jit
def fill_kernel(out):
    i = cuda.grid(1)
    if i < out.size:
        out[i] = 1

@cuda.jit
def grid_kernel(out):
    fill = cuda.grid(1)
    if fill < out.size:
        out[fill] = 1
    cuda.cg.this_grid().sync()

@cuda.vectorize(["float32(float32, float32)"])
def add(a, b):
    return a + b

@cuda.guvectorize(["void(float32[:], float32[:])"], "(n)->(n)")
def copy(a, out):
    for i in range(a.shape[0]):
        out[i] = a[i]

def in_a_thread():
    worker = threading.Thread(target=lambda: fill_kernel[1, 32](x))
    worker.start()
    worker.join()

def trained():
    model = nn.Sequential(nn.Linear(4, 2))
    parameters = nn.Parameters(model, seed=0)
    model.forward(np.ones((3, 4), np.float32))

x = np.ones(32, np.float32)
kinds = {
    "brackets": lambda: fill_kernel[1, 32](x),
    "forall": lambda: fill_kernel.forall(32)(x),
    "configure": lambda: fill_kernel.configure(1, 32)(x),
    "stream": lambda: fill_kernel[1, 32, cuda.stream()](x),
    "signature": lambda: cuda.jit("void(float32[:])")(fill_kernel.py_func)[1, 32](x),
    "cooperative": lambda: grid_kernel[1, 32](x),
    "thread": in_a_thread,
    "vectorize": lambda: add(x, x),
    "guvectorize": lambda: copy(x),
    "reduce": lambda: cuda.reduce(lambda a, b: a + b)(x),
    "host function": lambda: kernels.reduce.sum(x),
    "layer": trained,
}
for name, launch in kinds.items():
    seen.clear()
    launch()
    print(name, len(seen) > 0)
"""


@pytest.mark.parametrize("name", ["unset", "cpu", "checked"])
@pytest.mark.costly
def test_every_kind_of_launch_is_checked_on_the_checked_target_only(folder, name):
    needs_no_gpu(name)
    code, stdout, stderr = python(folder, name, "-c", KINDS)
    assert code == 0, stderr
    answers = dict(line.rsplit(" ", 1) for line in stdout.splitlines())
    assert len(answers) == 12
    assert set(answers.values()) == {str(name == "checked")}, answers
