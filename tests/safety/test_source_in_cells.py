"""Kernels defined in notebook cells, in `exec`, in zip files and in other places than plain files.

The cells of a case run one after another in a notebook whose names were deleted before; the output
of the last cell is checked.
"""

import os
import subprocess
import sys
import zipfile

import pytest

from tests.cells import notebook
from tests.conftest import ROOT
from tests.safety.attempt import on_cpu

pytestmark = on_cpu

IMPORT = "import numpy as np\nfrom gpukit import cuda\n"
DEFINE = "@cuda.jit\ndef set_kernel(a):\n    a[0] = cuda.grid(1) + {}\n"
LAUNCH = "a = np.full(1, np.nan)\nset_kernel[1, 1](a)\nprint('it is', a[0])\n"
ONE = DEFINE.format(1)
CELL = f"{IMPORT}\n{ONE}\n{LAUNCH}"
OTHER = CELL.replace("+ 1", "+ 2")
TIMED_LAUNCH = "%time set_kernel[1, 1](np.zeros(1))\n"
MARIMO = f"""
import linecache
text, name = {CELL!r}, "/tmp/marimo_1/__marimo__cell_Hbol_.py"
linecache.cache[name] = len(text), None, text.splitlines(keepends=True), name
exec(compile(compile(text, "<unknown>", "exec", 0x2400), name, "exec"))
"""
DEVICE = """
add = cuda.jit(device=True)(lambda x: x + cuda.grid(1) + 1)
@cuda.jit
def set_kernel(a):
    a[0] = add(a[0] * 0)
a = np.full(1, 7.0)
set_kernel[1, 1](a)
print("it is", a[0])
"""
COPIED = """
from numba import cloudpickle
copy, a = cloudpickle.loads(cloudpickle.dumps(set_kernel)), np.full(1, np.nan)
copy[1, 1](a)
print("it is", a[0])
"""


def indented(text):
    return "".join(f"    {line}\n" for line in text.splitlines())


# The cells of each case. The last one prints "it is 1.0", or 2.0 for an edited cell.
CELLS = {
    "one cell": [CELL],
    "one cell, twice": [CELL, CELL],
    "a cell that was edited": [CELL, OTHER],
    "three cells": [IMPORT, ONE, LAUNCH],
    "import and kernel, launch": [IMPORT + ONE, LAUNCH],
    "kernel of an earlier cell of its name": [
        f"{IMPORT}{ONE}first = set_kernel",
        OTHER,
        "set_kernel = first\n" + LAUNCH,
    ],
    "%%time": ["%%time\n" + CELL],
    "%%time, twice": ["%%time\n" + CELL] * 2,
    "%%time, a value last": [f"%%time\n{CELL}\na[0]"],
    "%%capture": ["%%capture shown\n" + CELL, "print(shown)"],
    "%%prun": ["%%prun -q\n" + CELL],
    "%time": [IMPORT, ONE + TIMED_LAUNCH + LAUNCH],
    "%run": [f"%%writefile program.py\n{CELL}", "%run program.py"],
    "%run -i": [f"%%writefile part.py\n{ONE}\n{LAUNCH}", IMPORT, "%run -i part.py"],
    "%run of cells": [f"%%writefile program.ipy\n{CELL}", "%run program.ipy"],
    "import of a new file": [f"%%writefile program_2.py\n{CELL}", "import program_2"],
    "%autoreload": [
        "%load_ext autoreload\n%autoreload 2\n",
        f"%%writefile program_3.py\n{OTHER}",
        "import program_3",
        # Python takes a file of the same second and size for the one that it has compiled.
        f"%%writefile program_3.py\n{CELL}# longer",
        "import program_3, numpy as np",
        "a = np.full(1, np.nan)\nprogram_3.set_kernel[1, 1](a)\nprint('it is', a[0])",
    ],
    "another folder": ["!mkdir -p below\n%cd below", CELL + "%cd .."],
    "exec of a variable": [f"text = {CELL!r}\nexec(text)"],
    "exec of a constant": [f"exec({CELL!r})"],
    "await": [f"import asyncio\nawait asyncio.sleep(0)\n{CELL}"],
    "from __future__": [f"from __future__ import annotations\n{CELL}", CELL],
    "in a function": [f"def run():\n{indented(CELL)}\nrun()"],
    "in an if": [f"if True:\n{indented(CELL)}"],
    "in a class": [f"{IMPORT}class A:\n{indented(ONE)}\nset_kernel = A.set_kernel\n{LAUNCH}"],
    "beside magics": [f"%colors NoColor\n!true\n{CELL}"],
    "a forgetful linecache": [IMPORT + ONE, f"import linecache\nlinecache.clearcache()\n{LAUNCH}"],
    "a lambda": [IMPORT + DEVICE],
    "a copy by cloudpickle": [IMPORT + ONE + COPIED],
    "marimo": [MARIMO],
}


@pytest.fixture(scope="module")
def shared(tmp_path_factory):
    """A notebook for all cases that need no new one."""
    with notebook(tmp_path_factory.mktemp("cells")) as running:
        yield running


@pytest.mark.parametrize("case", CELLS)
@pytest.mark.costly
def test_a_kernel_defined_in_a_cell_runs(shared, case):
    shared.run("%reset -f")
    for cell in CELLS[case]:
        shown = shared.run(cell)
        assert shown.error == ""
    assert "it is " + ("2.0" if case == "a cell that was edited" else "1.0") in shown.text


def test_a_kernel_below_timeit_is_refused_with_advice(shared):
    cell = CELL.replace("+ 1", "+ 4")
    assert "not below %%timeit" in shared.run(f"%%timeit -n1 -r1\n{cell}").error


@pytest.mark.parametrize("name", ["<cell>", "/tmp/none_such/cell.py", "there.py"])
@pytest.mark.costly
def test_kernels_of_cells_with_the_same_file_name_keep_their_source(tmp_path, name):
    (tmp_path / "there.py").write_text("# %%\nprint('not a cell')\n", encoding="utf-8")
    with notebook(tmp_path, IPYKERNEL_CELL_NAME=name) as running:
        running.run(f"{IMPORT}{ONE}first = set_kernel")
        assert running.run(OTHER).text == "it is 2.0\n"
        assert running.run(f"set_kernel = first\n{LAUNCH}").text == "it is 1.0\n"


# --- Without a notebook ----------------------------------------------------------------------

PRINTED = "it is 1.0\n"
DOCTEST = (
    '"""\n'
    + "".join(
        f"{'...' if line[:1] == ' ' or line.startswith('def') else '>>>'} {line}\n"
        for line in f"{IMPORT}{ONE} \n{LAUNCH}".splitlines()
    )
    + 'it is 1.0\n"""\n'
)
# Arguments of Python, in a folder with program.py, packed.zip and documented.py.
PROCESSES = {
    "a file": ["program.py"],
    "-m": ["-m", "program"],
    "runpy.run_path": ["-c", "import runpy; runpy.run_path('program.py')"],
    "runpy.run_module": ["-c", "import runpy; runpy.run_module('program')"],
    "zip": ["packed.zip"],
    "a module in a zip": ["-c", "import sys; sys.path.insert(0, 'packed.zip'); import inner"],
    "runpy of a zip": ["-c", "import runpy; runpy.run_path('packed.zip')"],
    "-c": ["-c", CELL],
    "gpukit run": ["-m", "gpukit", "run", "program.py"],
    "gpukit run of a zip": ["-m", "gpukit", "run", "packed.zip"],
    "ipython file": ["-m", "IPython", "program.py"],
    "ipython -c": ["-m", "IPython", "-c", CELL],
}
TYPED = {
    "-i": (["-i", "program.py"], "set_kernel[1, 1](a)\nprint('it is', a[0])\n"),
    "ipython": (
        ["-m", "IPython", "--simple-prompt", "--no-banner", "--no-confirm-exit"],
        f"{IMPORT}{ONE}\n\n{LAUNCH}",
    ),
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder with a kernel in several kinds of files."""
    path = tmp_path_factory.mktemp("programs")
    (path / "program.py").write_text(CELL, encoding="utf-8")
    (path / "documented.py").write_text(DOCTEST, encoding="utf-8")
    with zipfile.ZipFile(path / "packed.zip", "w") as packed:
        packed.writestr("__main__.py", CELL)
        packed.writestr("inner.py", CELL)
    return path


def python(folder, *arguments, standard_input=None):
    environment = {
        **os.environ,
        "PYTHONPATH": str(ROOT),
        "GPUKIT_TARGET": "cpu",
        "IPYTHONDIR": str(folder),
    }
    return subprocess.run(
        [sys.executable, *arguments],
        cwd=folder,
        env=environment,
        input=standard_input,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )


@pytest.mark.parametrize("case", PROCESSES)
@pytest.mark.costly
def test_a_kernel_runs_however_python_is_started(folder, case):
    done = python(folder, *PROCESSES[case])
    assert done.stdout == PRINTED, done.stderr


@pytest.mark.parametrize("case", TYPED)
def test_a_kernel_runs_at_an_interactive_prompt(folder, case):
    arguments, typed = TYPED[case]
    done = python(folder, *arguments, standard_input=typed)
    assert PRINTED in done.stdout, done.stderr


@pytest.mark.parametrize("runner", [["doctest"], ["pytest", "-q", "--doctest-modules"]])
def test_a_kernel_in_a_doctest_runs(folder, runner):
    done = python(folder, "-m", *runner, "documented.py")
    assert done.returncode == 0, done.stdout


@pytest.mark.slow
def test_a_kernel_of_a_notebook_is_pickled_with_its_caller(folder):
    with notebook(folder) as running:
        running.run(f"{IMPORT}{ONE}def run():\n{indented(LAUNCH)}")
        keep = "from pathlib import Path\nfrom numba import cloudpickle\n"
        shown = running.run(f"{keep}Path('run.pickle').write_bytes(cloudpickle.dumps(run))")
    assert shown.error == ""
    done = python(folder, "-c", "import pickle; pickle.load(open('run.pickle', 'rb'))()")
    assert done.stdout == PRINTED, done.stderr
