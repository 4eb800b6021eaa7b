"""A debugger in a kernel: one refusal, and advice that works."""

import code
import pdb
import subprocess
import sys
import types

import numpy as np
import pytest

import gpukit
from gpukit import cuda, errors
from tests.compiler import texts

CALLS = [
    "import pdb; pdb.set_trace()",
    "import pdb\npdb.set_trace()",
    "from pdb import set_trace as stop\nstop()",
    "import ipdb as debugger",
    "pdb.set_trace()",
    "set_trace()",
    "if cuda.grid(1) == 3:\n    set_trace()",
    "breakpoint()",
    "pdb.Pdb().set_trace()",
    "stop = pdb.set_trace\nstop()",
    "code.interact()",
    "IPython.embed()",
    "x[0] = breakpoint()",
]


IPYTHON = types.ModuleType("IPython")  # whatever is installed
exec("def embed(): ...", vars(IPYTHON))
NAMES = {"pdb": pdb, "set_trace": pdb.set_trace, "code": code, "IPython": IPYTHON}


def refused(body):
    with pytest.raises(errors.CompileError) as got:
        texts.kernel_of(body, "x", **NAMES)[1, 8](np.zeros(8))
    return got.value


@pytest.mark.parametrize("body", CALLS)
def test_every_spelling_of_a_debugger_gets_the_same_refusal(body):
    error, first = refused(body), refused("breakpoint()")
    assert "cannot stop in a debugger" in error.message
    assert (error.message, error.fix) == (first.message, first.fix)


def test_a_debugger_in_a_device_function_is_refused_at_its_line():
    @cuda.jit(device=True)
    def helper(x):
        breakpoint()
        return x

    @cuda.jit
    def kernel(x):
        x[0] = helper(x[0])

    with pytest.raises(errors.CompileError, match="cannot stop in a debugger") as got:
        kernel[1, 1](np.zeros(1))
    assert (got.value.kernel, got.value.source.strip()) == ("helper", "breakpoint()")


def test_a_kernel_that_prints_instead_runs(capfd):
    assert "print(cuda.grid(1), ...)" in refused("breakpoint()").fix

    @cuda.jit
    def kernel(x):
        i = cuda.grid(1)
        if i == 3:
            print(cuda.grid(1), x[i])
        x[i] += 1

    x = np.zeros(8)
    kernel[1, 8](x)
    assert capfd.readouterr().out.split() == ["3", "0.0"]


@pytest.mark.slow
def test_a_kernel_without_it_is_played():
    assert "gpukit.play(kernel)[grid, block](*args)" in refused("breakpoint()").fix

    @cuda.jit
    def kernel(x):
        x[cuda.grid(1)] += 1

    x = np.zeros(8)
    player = gpukit.play(kernel)[1, 8](x)
    assert x.tolist() == [1] * 8
    assert "<html" in player.html.lower()


@pytest.mark.slow
def test_a_script_without_it_is_played(tmp_path):
    assert "gpukit play SCRIPT.py" in refused("breakpoint()").fix
    script = tmp_path / "SCRIPT.py"
    script.write_text(
        "import numpy as np\nfrom numba import cuda\n@cuda.jit\ndef kernel(x):\n"
        "    x[cuda.grid(1)] += 1\nkernel[1, 8](np.zeros(8))\n"
    )
    command = [sys.executable, "-m", "gpukit", "play", "SCRIPT.py"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (done.returncode, len(list(tmp_path.rglob("*.html")))) == (0, 1), done.stderr
