"""Small suites of Numba CUDA kernels, run by pytest in a process of its own."""

import os
import re
import subprocess
import sys
from typing import NamedTuple

from tests.conftest import ROOT

KERNELS = """
import subprocess
import sys

import numpy as np
import pytest
from numba import cuda


@cuda.jit
def double_kernel(a):
    i = cuda.grid(1)
    if i < a.size:
        a[i] *= 2


@cuda.jit
def shift_kernel(a):
    i = cuda.grid(1)
    if i + 1 < a.size:
        a[i] = a[i + 1]  # a race


@cuda.jit
def same_kernel(out):
    out[0] = cuda.threadIdx.x


@cuda.jit
def beyond_kernel(a):
    a[cuda.grid(1)] = 1


@cuda.jit
def back_kernel(a):
    a[cuda.grid(1) - 1] = 1


@cuda.jit(debug=True, opt=False)
def raising_kernel(a):
    if a[0] == 0:
        raise ValueError("zero")
"""
CLEAN = """
def test_clean():
    double_kernel[1, 32](np.arange(5))
"""
# A kernel with a known race.
KNOWN = """
def test_known():
    same_kernel[1, 32](np.zeros(1))
"""
MAIN = """
@pytest.fixture(scope="module")
def shifted():
    a = np.arange(64)
    shift_kernel[2, 32](a)
    return a


def test_clean():
    a = np.arange(5)
    double_kernel[1, 32](a)
    assert a.tolist() == [0, 2, 4, 6, 8]


@pytest.mark.parametrize("n", [1, 64])
def test_sizes(n):
    shift_kernel[2, 32](np.zeros(n))


def test_beyond():
    beyond_kernel[1, 32](np.zeros(5))


def test_wrong_too():
    a = np.zeros(5)
    beyond_kernel[1, 32](a)
    assert a[0] == 7


def test_first_use(shifted):
    pass


def test_second_use(shifted):
    pass


def test_negative_index():
    back_kernel[1, 5](np.zeros(5))


def test_expected_exception():
    with pytest.raises(ValueError, match="zero"):
        raising_kernel[1, 1](np.zeros(1))


@pytest.mark.xfail
def test_expected_failure():
    shift_kernel[2, 32](np.zeros(64))


def test_skipped_after_a_race():
    shift_kernel[2, 32](np.zeros(64))
    pytest.skip("no more today")


def test_child_process():
    code = "import test_main as t; t.shift_kernel[2, 32](t.np.zeros(64))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 1
    assert "CheckFailed" in done.stderr
"""

# Tests of unittest, whose exceptions pytest keeps to report them itself.
UNIT = """
import unittest


class TestUnit(unittest.TestCase):
    def setUp(self):
        shift_kernel[2, 32](np.zeros(64))

    def test_passes(self):
        pass

    def test_fails(self):
        self.assertEqual(1, 2)

    def test_skips(self):
        self.skipTest("no more today")

    @unittest.expectedFailure
    def test_expected_failure(self):
        self.fail()


class TestTearDown(unittest.TestCase):
    def tearDown(self):
        raise ValueError("torn")

    def test_skips_and_is_torn_down(self):
        shift_kernel[2, 32](np.zeros(64))
        self.skipTest("no more today")


def test_raises_skip():
    shift_kernel[2, 32](np.zeros(64))
    raise unittest.SkipTest("no more today")
"""


def line_of(code: str) -> int:
    """Return the line of `KERNELS` that contains some code."""
    return 1 + next(k for k, line in enumerate(KERNELS.splitlines()) if code in line)


class Run(NamedTuple):
    """The exit code and the output of a pytest run."""

    code: int
    text: str

    def outcomes(self) -> dict[str, str]:
        """Return the outcome of each test, by its name: that of its first phase, with -v."""
        found = re.findall(r"^\S+::(\S+) (PASSED|FAILED|ERROR|XFAIL|SKIPPED)", self.text, re.M)
        return dict(reversed(found))

    def section(self, title: str) -> str:
        """Return the text below a title, up to the next one."""
        _, _, below = re.split(rf"^([=_-])+ {re.escape(title)} \1+\n", self.text, flags=re.M)
        return re.split(r"^[=_-]{3,} ", below, flags=re.M)[0]


def run(folder, *options, **files):
    """Run pytest with the plugin in a folder of test modules, each with the kernels at its top."""
    for name, text in files.items():
        (folder / f"{name}.py").write_text(KERNELS + text, encoding="utf-8")
    env = {k: v for k, v in os.environ.items() if not k.startswith(("GPUKIT", "NUMBA", "PYTEST"))}
    path = os.pathsep.join(filter(None, [str(ROOT), env.get("PYTHONPATH")]))
    env |= {"GPUKIT_TARGET": os.environ["GPUKIT_TARGET"], "PYTHONPATH": path, "COLUMNS": "100"}
    plugins = ["-p", "no:cacheprovider", "-p", "gpukit.testing"]
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-v", *plugins, *options],
        cwd=folder,
        env=env,
        capture_output=True,
        text=True,
        timeout=300,
    )
    return Run(done.returncode, done.stdout + done.stderr)
