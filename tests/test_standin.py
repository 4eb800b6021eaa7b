"""`gpukit.standin`: what `numba.cuda` means in other people's files.

Each fact is checked in a Python process of its own, because imports leave traces.
"""

import os
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent

pytest.importorskip("gpukit.cpu.dispatcher")


def python(code, cwd=None, **environment):
    """Run code in a fresh Python with gpukit on its path; return what it printed."""
    env = {k: v for k, v in os.environ.items() if not k.startswith(("GPUKIT", "NUMBA"))}
    env |= {"PYTHONPATH": str(ROOT), "GPUKIT_TARGET": "cpu", **environment}
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", textwrap.dedent(code)],
        env=env,
        cwd=cwd,
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout.strip()


BEGIN = "import gpukit.standin as s; s.install()\n"


def test_install_imports_neither_numba_nor_numpy():
    assert python(BEGIN + "import sys; print({'numba', 'numpy'} & set(sys.modules))") == "set()"


@pytest.mark.parametrize(
    "line",
    [
        "from numba import cuda",
        "import numba.cuda as cuda",
        "import numba; import numba.cuda; cuda = numba.cuda",
        "from numba_cuda_mlir import cuda",
        "import numba_cuda_mlir.cuda as cuda",
        "from numba_cuda_mlir import numba_cuda as cuda",
    ],
)
@pytest.mark.costly
def test_import_of_the_namespace_gives_gpukit(line):
    assert python(f"{BEGIN}{line}\nfrom gpukit import cpu\nprint(cuda.jit is cpu.jit)") == "True"


@pytest.mark.parametrize(
    "line",
    [
        "from numba.cuda.types import float32",
        "from numba_cuda_mlir.types import float32",
        "from numba_cuda_mlir import types; float32 = types.float32",
        "from numba_cuda_mlir.cuda.types import float32",
        "from numba_cuda_mlir.numba_cuda.types import float32",
    ],
)
@pytest.mark.costly
def test_types_are_those_of_numba(line):
    assert python(f"{BEGIN}{line}\nimport numba\nprint(float32 is numba.float32)") == "True"


@pytest.mark.parametrize("package", ["numba.cuda", "numba_cuda_mlir.numba_cuda"])
def test_error_classes_are_those_of_numba(package):
    line = f"from {package}.core.errors import TypingError as theirs"
    code = f"{BEGIN}{line}\nfrom numba.core.errors import TypingError\nprint(theirs is TypingError)"
    assert python(code) == "True"


def test_literal_unroll_is_numbas_where_numba_cuda_has_it():
    line = "from numba.cuda.misc.special import literal_unroll as theirs"
    code = f"{BEGIN}{line}\nfrom numba import literal_unroll\nprint(theirs is literal_unroll)"
    assert python(code) == "True"


def test_from_import_gives_the_same_object_as_the_namespace():
    code = """
    from numba.cuda import grid
    from numba.cuda.random import create_xoroshiro128p_states as states
    from numba.cuda.types import float32
    from numba_cuda_mlir.cuda import grid as grid_2
    from numba_cuda_mlir.cuda.random import create_xoroshiro128p_states as states_2
    from numba_cuda_mlir.cuda.types import float32 as float32_2
    from numba import cuda
    print(
        grid is grid_2 is cuda.grid, float32 is float32_2 is cuda.types.float32,
        states is states_2 is cuda.random.create_xoroshiro128p_states,
    )
    """
    assert python(BEGIN + textwrap.dedent(code)) == "True True True"


def test_star_import_brings_jit_and_grid():
    assert python(BEGIN + "from numba.cuda import *\nprint(callable(jit), grid)").startswith("True")


def test_installed_numba_cuda_is_not_imported_for_names_that_gpukit_has():
    code = """
    import sys
    from numba import cuda
    from numba.cuda.random import create_xoroshiro128p_states
    cuda.jit, cuda.to_device, cuda.threadIdx
    print([n for n in sys.modules if n == "numba.cuda.api" or n == "numba.cuda.device_init"])
    """
    assert python(BEGIN + textwrap.dedent(code)) == "[]"


def test_internal_modules_are_the_installed_ones():
    code = """
    import pathlib
    import gpukit
    import numba.cuda.cuda_paths as internal
    from numba import cuda
    from gpukit import cpu
    ours = pathlib.Path(gpukit.__file__).parent
    print(ours in pathlib.Path(internal.__file__).parents, cuda.jit is cpu.jit)
    """
    assert python(BEGIN + textwrap.dedent(code)) == "False True"


def test_name_that_nobody_has_is_an_attribute_error_with_its_name():
    code = """
    from numba import cuda
    try:
        cuda.nonsense
    except AttributeError as error:
        print(error)
    """
    assert "'nonsense'" in python(BEGIN + textwrap.dedent(code))


def test_import_of_a_submodule_that_nobody_has_is_an_import_error():
    code = """
    try:
        import numba.cuda.nonsense
    except ImportError as error:
        print(error.name)
    """
    assert python(BEGIN + textwrap.dedent(code)) == "numba.cuda.nonsense"


def test_namespace_can_be_looked_for_with_find_spec():
    code = """
    import importlib.util
    before = importlib.util.find_spec("numba.cuda") is not None
    import numba.cuda
    print(before, importlib.util.find_spec("numba.cuda") is not None)
    """
    assert python(BEGIN + textwrap.dedent(code)) == "True True"


def test_install_twice_is_the_same_as_once():
    code = """
    import sys
    before = list(sys.meta_path)
    s.install()
    print(sys.meta_path == before)
    """
    assert python(BEGIN + textwrap.dedent(code)) == "True"


def test_install_reaches_a_numba_cuda_that_was_imported_before():
    code = """
    import numba.cuda
    old = numba.cuda
    import gpukit.standin as s
    report = s.install()
    from numba import cuda
    from gpukit import cpu
    print(cuda is numba.cuda, cuda is old, cuda.jit is cpu.jit, "__main__" in report.held)
    """
    assert python(code) == "True False True True"


def test_report_names_the_modules_that_hold_the_old_namespace():
    code = """
    import sys, types
    import numba.cuda
    other = types.ModuleType("other")
    other.cuda = numba.cuda
    sys.modules["other"] = other
    import gpukit.standin as s
    print(s.install())
    """
    assert "still hold the old one" in python(code)


def test_uninstall_brings_the_installed_namespace_back():
    code = """
    import numba.cuda
    old = numba.cuda
    import gpukit.standin as s
    s.install()
    s.uninstall()
    import sys
    print(numba.cuda is old, sys.modules["numba.cuda"] is old, s.is_installed())
    """
    assert python(code) == "True True False"


def test_uninstall_before_any_import_leaves_no_trace():
    code = """
    s.uninstall()
    import sys, numba
    print("numba.cuda" in sys.modules, hasattr(numba, "cuda"), "numba_cuda_mlir" in sys.modules)
    """
    assert python(BEGIN + textwrap.dedent(code)) == "False False False"


def test_install_after_uninstall_works_again():
    code = """
    s.uninstall()
    s.install()
    from numba import cuda
    from gpukit import cpu
    print(cuda.jit is cpu.jit)
    """
    assert python(BEGIN + textwrap.dedent(code)) == "True"


def test_nothing_is_replaced_where_the_target_is_a_gpu():
    code = """
    import gpukit.target as t
    t.active = lambda: t.Target("cuda", "1 NVIDIA GPU(s) found")
    import sys
    import gpukit.standin as s
    before = list(sys.meta_path)
    report = s.install()
    print(report.installed, sys.meta_path == before)
    """
    assert python(code) == "False True"


@pytest.fixture
def fake_mlir(tmp_path):
    """An installed numba_cuda_mlir that looks at its own namespace while it is imported."""
    package = tmp_path / "numba_cuda_mlir"
    (package / "cuda").mkdir(parents=True)
    (package / "__init__.py").write_text("from numba_cuda_mlir import cuda\nversion = '9'\n")
    (package / "cuda" / "__init__.py").write_text("jit = 'theirs'\nonly_theirs = 7\n")
    (package / "tools.py").write_text("from numba_cuda_mlir.cuda import jit\n")
    return os.pathsep.join([str(ROOT), str(tmp_path)])


def test_installed_numba_cuda_mlir_keeps_its_own_names_to_itself(fake_mlir):
    code = """
    from numba_cuda_mlir import cuda, tools, version
    from gpukit import cpu
    print(cuda.jit is cpu.jit, cuda.only_theirs, version, tools.jit)
    """
    assert python(BEGIN + textwrap.dedent(code), PYTHONPATH=fake_mlir) == "True 7 9 theirs"


def test_numba_vectorize_for_cuda_uses_gpukit():
    code = """
    import numba, numpy as np
    add = numba.vectorize(["float32(float32, float32)"], target="cuda")(lambda a, b: a + b)
    print(type(add).__module__, add(np.ones(3, np.float32), np.ones(3, np.float32)).tolist())
    """
    assert python(BEGIN + textwrap.dedent(code)) == "gpukit.cpu.ufuncs [2.0, 2.0, 2.0]"


def test_modules_that_extensions_register_with_are_those_of_the_target():
    code = """
    from numba.cuda.cudadecl import registry, register_global
    from numba.cuda.cudaimpl import lower, lower_attr
    from numba.cuda.extending import core_models, register_model, typeof_impl
    from numba.cuda.models import register_model as same
    from numba.cuda.typing.templates import AttributeTemplate, signature
    from numba.cuda import cgutils
    from numba import extending
    from numba.core.typing import templates
    from gpukit.compiler import kernel_target
    print(
        registry is kernel_target.declarations, typeof_impl is extending.typeof_impl,
        signature is templates.signature, register_model is same,
    )
    """
    assert python(BEGIN + textwrap.dedent(code)) == "True True True True"


def test_child_processes_stand_in_too_when_asked():
    code = """
    import subprocess, sys
    s.uninstall()
    s.install(children=True)
    code = "from numba import cuda; from gpukit import cpu; print(cuda.jit is cpu.jit)"
    print(subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout)
    """
    assert python(BEGIN + textwrap.dedent(code)) == "True"


def test_child_processes_are_left_alone_otherwise():
    code = "import os; print(os.environ.get('GPUKIT_STANDIN'))"
    assert python(BEGIN + code) == "None"


def test_uninstall_puts_the_environment_back():
    code = """
    import os
    before = dict(os.environ)
    s.install(children=True)
    s.uninstall()
    print(dict(os.environ) == before)
    """
    assert python(BEGIN + textwrap.dedent(code)) == "True"


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
def test_pytest_plugin_runs_an_unmodified_suite_and_is_there_before_its_conftest(tmp_path):
    text = "from numba import cuda\nfrom gpukit import cpu\nassert cuda.jit is cpu.jit\n"
    (tmp_path / "conftest.py").write_text(text)
    assert "2 passed" in run_suite(tmp_path, "-p", "gpukit.standin")


def test_pytest_plugin_says_what_it_did_in_the_header(tmp_path):
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
    ("options", "end"), [(["--gpukit-as-simulator"], REFUSED), ([], TAKEN)], ids=["as it", "plain"]
)
@pytest.mark.slow
def test_numbas_switch_is_on_and_alignment_refused_where_gpukit_is_the_simulator(
    tmp_path, options, end
):
    (tmp_path / "test_aligned.py").write_text(ALIGNED + end)
    assert "3 passed" in run_suite(tmp_path, "-p", "gpukit.standin", *options)


def test_skipper_runs_known_reasons_and_skips_others():
    from gpukit.standin import suite

    skip = suite.skipper(["Warp"])
    kept, skipped = skip("Warp ops")(lambda: None), skip("no PTX")(lambda: None)
    assert not hasattr(kept, "__unittest_skip__")
    assert skipped.__unittest_skip__
