"""`pytest -p gpukit.standin` on unmodified test suites."""

import pytest

from tests.standin.fresh import python

SUITE = """
from numba import cuda
import numpy as np

@cuda.jit
def double(a):
    i = cuda.grid(1)
    if i < a.size:
        a[i] *= 2

def test_double():
    a = np.arange(5)
    double[1, 32](a)
    assert a.tolist() == [0, 2, 4, 6, 8]

def test_namespace():
    import gpukit.cpu
    assert cuda.jit is gpukit.cpu.jit
"""


def run_suite(folder, *options):
    (folder / "test_other.py").write_text(SUITE)
    code = (
        f"import sys, pytest; sys.exit(pytest.main({['-q', '-p', 'no:cacheprovider', *options]}))"
    )
    return python(code, cwd=folder)


@pytest.mark.slow
def test_pytest_plugin_is_active_before_the_conftest_of_an_unmodified_suite(tmp_path):
    text = "from numba import cuda\nfrom gpukit import cpu\nassert cuda.jit is cpu.jit\n"
    (tmp_path / "conftest.py").write_text(text)
    assert "2 passed" in run_suite(tmp_path, "-p", "gpukit.standin")


def test_pytest_header_states_what_the_plugin_did(tmp_path):
    (tmp_path / "test_other.py").write_text("def test_nothing(): pass\n")
    code = "import sys, pytest; sys.exit(pytest.main(['-p', 'gpukit.standin']))"
    assert "gpukit stands in for numba.cuda" in python(code, cwd=tmp_path)


ALIGNED = """
import numpy as np
import pytest
from numba import config, cuda

@cuda.jit
def aligned_kernel(out):
    tile = cuda.shared.array(1, np.float64, alignment=16)
    tile[0] = 3
    out[0] = tile[0]

@cuda.jit
def plain_kernel(out):
    tile = cuda.local.array(1, np.float64, alignment=None)
    tile[0] = 3
    out[0] = tile[0]

def test_alignment():
    out = np.zeros(1)
    plain_kernel[1, 1](out)
    assert out[0] == 3
"""


REFUSED = """
    assert config.ENABLE_CUDASIM
    with pytest.raises(RuntimeError, match="not supported in cudasim"):
        aligned_kernel[1, 1](out)
"""


TAKEN = """
    assert not config.ENABLE_CUDASIM
    aligned_kernel[1, 1](out)
"""


@pytest.mark.parametrize(
    ("options", "end"),
    [(["--gpukit-as-simulator"], REFUSED), ([], TAKEN)],
    ids=["simulator", "default"],
)
@pytest.mark.slow
def test_simulator_mode_sets_numbas_flag_and_rejects_alignment(tmp_path, options, end):
    (tmp_path / "test_aligned.py").write_text(ALIGNED + end)
    assert "3 passed" in run_suite(tmp_path, "-p", "gpukit.standin", *options)


def test_skipper_runs_known_reasons_and_skips_others():
    from gpukit.standin import suite

    skip = suite.skipper(["Warp"])
    kept, skipped = skip("Warp ops")(lambda: None), skip("no PTX")(lambda: None)
    assert not hasattr(kept, "__unittest_skip__")
    assert skipped.__unittest_skip__
