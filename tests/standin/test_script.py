"""`gpukit.standin.script`: runs an unmodified script like `python script.py`."""

import json
import os
import subprocess
import sys

import pytest

from tests.conftest import ROOT

RUN = (
    "import sys; from gpukit.standin import script; "
    "sys.exit(script.run(sys.argv[1], sys.argv[2:]).code)"
)


def run(path, *argv, cwd=None):
    """Run a script like `gpukit run`, in a separate process."""
    env = {**os.environ, "PYTHONPATH": str(ROOT), "GPUKIT_TARGET": "cpu"}
    command = [sys.executable, "-W", "error", "-c", RUN, str(path), *argv]
    return subprocess.run(command, env=env, cwd=cwd, capture_output=True, text=True, timeout=120)


def write(folder, text, name="script.py"):
    path = folder / name
    path.write_text(text)
    return path


VADD = """
import numpy as np
from numba import cuda

@cuda.jit
def vector_add(a, b, out):
    i = cuda.grid(1)
    if i < out.size:
        out[i] = a[i] + b[i]

if __name__ == "__main__":
    n = 1001
    a, b = np.arange(n, dtype=np.float32), np.ones(n, dtype=np.float32)
    out = cuda.device_array(n, dtype=np.float32)
    vector_add[4, 256](cuda.to_device(a), cuda.to_device(b), out)
    print(bool((out.copy_to_host() == a + 1).all()))
"""


def test_script_with_a_kernel_runs_unmodified(tmp_path):
    done = run(write(tmp_path, VADD))
    assert done.stdout.strip() == "True", done.stderr


def test_script_sees_its_arguments(tmp_path):
    path = write(tmp_path, "import sys, json; print(json.dumps(sys.argv))")
    assert json.loads(run(path, "--n", "3").stdout) == [str(path), "--n", "3"]


def test_script_imports_from_its_own_folder(tmp_path):
    write(tmp_path, "ANSWER = 42", "beside.py")
    path = write(tmp_path, "import beside; print(beside.ANSWER)")
    assert run(path, cwd=ROOT).stdout.strip() == "42"


@pytest.mark.parametrize(
    ("line", "code"), [("pass", 0), ("sys.exit(3)", 3), ("sys.exit('no')", 1), ("1 / 0", 1)]
)
def test_exit_code_matches_that_of_python(tmp_path, line, code):
    assert run(write(tmp_path, f"import sys\n{line}\n")).returncode == code


def test_message_of_sys_exit_goes_to_stderr(tmp_path):
    assert run(write(tmp_path, "import sys; sys.exit('too small')")).stderr.strip() == "too small"


def test_missing_script_is_an_error_that_names_it(tmp_path):
    assert "nowhere.py" in run(tmp_path / "nowhere.py").stderr


def test_folder_without_main_is_an_error_that_says_so(tmp_path):
    assert "__main__.py" in run(tmp_path).stderr


def test_folder_with_main_runs_as_in_python(tmp_path):
    write(tmp_path, "print('main')", "__main__.py")
    assert run(tmp_path).stdout.strip() == "main"


def test_module_runs_as_python_m_runs_it(tmp_path, monkeypatch, capsys):
    from gpukit import cli

    (tmp_path / "package").mkdir()
    write(tmp_path, "import sys; print(__name__, __package__, sys.argv[1:])", "package/tool.py")
    monkeypatch.chdir(tmp_path)
    assert cli.main(["run", "-m", "package.tool", "-m", "a"]) == 0
    assert capsys.readouterr().out == "__main__ package ['-m', 'a']\n"


@pytest.mark.parametrize("name", ["nowhere", "nowhere.tool"])
def test_missing_module_is_an_error_that_names_it(name, capsys):
    from gpukit import cli

    assert cli.main(["check", "-m", name]) == 2
    words = f"check: expected the name of a module after -m, got {name!r}"
    assert words in capsys.readouterr().err


def test_classes_of_the_script_can_be_pickled(tmp_path):
    text = "import pickle\nclass A: pass\nprint(type(pickle.loads(pickle.dumps(A()))) is A)\n"
    assert run(write(tmp_path, text)).stdout.strip() == "True"


def test_child_processes_of_the_script_stand_in(tmp_path):
    write(tmp_path, VADD, "child.py")
    path = write(
        tmp_path,
        "import subprocess, sys, os\n"
        "child = os.path.join(os.path.dirname(__file__), 'child.py')\n"
        "print(subprocess.check_output([sys.executable, child], text=True))\n",
    )
    assert run(path).stdout.strip() == "True"


def test_run_restores_arguments_and_path(tmp_path):
    from gpukit import standin
    from gpukit.standin import script

    before = sys.argv, list(sys.path)
    outcome = script.run(str(write(tmp_path, "x = 1")))
    assert outcome.variables["x"] == 1
    assert (sys.argv, sys.path) == before
    assert not standin.is_installed()
