"""Every way to start a program, with every target: what becomes of a race.

Each program launches a kernel without a mistake and then one with a race, and prints a line after
each. `unset` and `cpu` run both; `checked` stops at the race; `cuda` and a name that is no target
are refused before anything is launched. Two of the ways are tried by `make test`, all of them by
`make test-programs`.
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

# Words for Python, in a folder with the files of `folder`; and the code that a refusal exits with.
WAYS = {
    "python script.py": (["ours.py"], 1),
    "python script.py, standin.install()": (["installed.py"], 1),
    "python -m": (["-m", "ours"], 1),
    "python -c": (["-c", "from gpukit import cuda" + PROGRAM], 1),
    "python -c, standin.install()": (["-c", IMPORTS["installed"] + PROGRAM], 1),
    "gpukit run": ([*GPUKIT, "run", "theirs.py"], 3),
    "gpukit run -m": ([*GPUKIT, "run", "-m", "theirs"], 3),
    "gpukit run of ours": ([*GPUKIT, "run", "ours.py"], 3),
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


def surroundings(name):
    """The environment of a process with a target."""
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("GPUKIT_T", "GPUKIT_S"))}
    wanted = {"GPUKIT_TARGET": TARGETS[name]} if TARGETS[name] else {}
    return {**kept, "PYTHONPATH": str(ROOT), **wanted}


def python(folder, name, *words):
    """Run Python with a target; return the exit code, and what it printed and complained of."""
    done = subprocess.run(
        [sys.executable, *words],
        cwd=folder,
        env=surroundings(name),
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
def test_race_is_not_looked_for_on_the_cpu(folder, way, name):
    needs_no_gpu(name)
    code, printed, complaints = python(folder, name, *WAYS[way][0])
    assert code == 0, printed + complaints
    assert "2 passed" in printed or printed == "clean passed\nracy passed\n"


@pytest.mark.parametrize("way", EACH_WAY)
def test_race_is_an_error_at_its_line_when_launches_are_checked(folder, way):
    code, printed, complaints = python(folder, "checked", *WAYS[way][0])
    assert code == 1
    assert "racy passed" not in printed
    if WAYS[way][0][1:2] == ["pytest"]:
        assert "1 failed, 1 passed" in printed
        assert f"{WAYS[way][0][-1]}:{LINE}: CheckFailed" in printed
        assert "E       global-race: In line" in printed
        # The last line but one, and on CI the first of several: pytest shortens no message there.
        (failed,) = (line for line in printed.splitlines() if line.startswith("FAILED"))
        assert "test_racy - gpukit.errors.CheckFailed" in failed
    else:
        assert "clean passed" in printed
        assert "global-race" in complaints
        assert f"line {LINE}, in racy_kernel" in complaints or f":{LINE} in racy_k" in complaints


@pytest.mark.parametrize("name", REFUSED)
@pytest.mark.parametrize("way", EACH_WAY)
def test_target_that_cannot_be_had_is_refused_before_any_launch(folder, way, name):
    needs_no_gpu(name)
    code, printed, complaints = python(folder, name, *WAYS[way][0])
    assert code == WAYS[way][1], printed + complaints
    assert REFUSED[name] in printed + complaints
    assert "passed" not in printed


# --- What looks at launches itself ---------------------------------------------------------------

# Exit codes of `gpukit check` and its kin, whatever the target: they take the launches over.
LOOKING = {"check": 1, "profile": 0, "play": 0}
SAY_WHAT_IS_WRONG = ("check", "play")


@pytest.mark.programs
@pytest.mark.parametrize("name", ["unset", "cpu", "checked"])
@pytest.mark.parametrize("command", LOOKING)
def test_command_that_looks_at_launches_does_so_with_every_target(folder, command, name):
    needs_no_gpu(name)
    code, printed, complaints = python(folder, name, "-m", "gpukit", command, "theirs.py")
    assert code == LOOKING[command], complaints
    assert "clean passed" in printed
    assert "racy passed" in printed
    assert ("global-race" in printed) == (command in SAY_WHAT_IS_WRONG)


@pytest.mark.parametrize("name", REFUSED)
@pytest.mark.parametrize("command", LOOKING)
@pytest.mark.costly
def test_command_that_looks_at_launches_refuses_what_cannot_be_had(folder, command, name):
    needs_no_gpu(name)
    code, printed, complaints = python(folder, name, "-m", "gpukit", command, "theirs.py")
    assert code == 3
    assert REFUSED[name] in complaints
    assert "passed" not in printed


# --- Notebooks -----------------------------------------------------------------------------------


@pytest.mark.parametrize("name", TARGETS)
@pytest.mark.costly
def test_notebook_launches_as_the_target_says(folder, name):
    needs_no_gpu(name)
    variable = TARGETS[name] or ""  # empty is as unset
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

# A program that prints how many launches were checked, for each kind of launch.
KINDS = """
import threading
import numpy as np
from gpukit import cuda, kernels, nn, target
from gpukit.checked import check

seen, plain_run = [], check.run
check.run = lambda *given, **more: (seen.append(1), plain_run(*given, **more))[1]

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
def test_every_kind_of_launch_is_checked_when_and_only_when_the_target_says_so(folder, name):
    needs_no_gpu(name)
    code, printed, complaints = python(folder, name, "-c", KINDS)
    assert code == 0, complaints
    answers = dict(line.rsplit(" ", 1) for line in printed.splitlines())
    assert len(answers) == 12
    assert set(answers.values()) == {str(name == "checked")}, answers
