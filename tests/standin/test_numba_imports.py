"""Imports of `numba.cuda` in user code while gpukit stands in for it."""

import os
import textwrap

import pytest

from tests.standin.fresh import BEGIN, ROOT, python

# Expressions that must be true, by the import lines before them.
SAME = {
    "cuda.jit is gpukit.cpu.jit": [
        "from numba import cuda",
        "import numba.cuda as cuda",
        "import numba; import numba.cuda; cuda = numba.cuda",
        "from numba_cuda_mlir import cuda",
        "import numba_cuda_mlir.cuda as cuda",
        "from numba_cuda_mlir import numba_cuda as cuda",
    ],
    "float32 is numba.float32": [
        "from numba.cuda.types import float32",
        "from numba_cuda_mlir.types import float32",
        "from numba_cuda_mlir import types; float32 = types.float32",
        "from numba_cuda_mlir.cuda.types import float32",
        "from numba_cuda_mlir.numba_cuda.types import float32",
    ],
    "TypingError is numba.core.errors.TypingError": [
        "from numba.cuda.core.errors import TypingError",
        "from numba_cuda_mlir.numba_cuda.core.errors import TypingError",
    ],
    "literal_unroll is numba.literal_unroll": [
        "from numba.cuda.misc.special import literal_unroll"
    ],
}


@pytest.mark.parametrize(
    ("line", "same"), [(line, same) for same, lines in SAME.items() for line in lines]
)
@pytest.mark.costly
def test_import_gives_the_object_of_gpukit_or_numba(line, same):
    code = f"{BEGIN}{line}\nimport gpukit.cpu, numba.core.errors\nprint({same})"
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


def test_unknown_name_is_an_attribute_error_that_names_it():
    code = """
    from numba import cuda
    try:
        cuda.nonsense
    except AttributeError as error:
        print(error)
    """
    assert "'nonsense'" in python(BEGIN + textwrap.dedent(code))


def test_import_of_an_unknown_submodule_is_an_import_error():
    code = """
    try:
        import numba.cuda.nonsense
    except ImportError as error:
        print(error.name)
    """
    assert python(BEGIN + textwrap.dedent(code)) == "numba.cuda.nonsense"


def test_namespace_is_found_by_find_spec():
    code = """
    import importlib.util
    before = importlib.util.find_spec("numba.cuda") is not None
    import numba.cuda
    print(before, importlib.util.find_spec("numba.cuda") is not None)
    """
    assert python(BEGIN + textwrap.dedent(code)) == "True True"


@pytest.fixture
def fake_mlir(tmp_path):
    """Install a fake numba_cuda_mlir that accesses its own namespace during its import."""
    package = tmp_path / "numba_cuda_mlir"
    (package / "cuda").mkdir(parents=True)
    (package / "__init__.py").write_text("from numba_cuda_mlir import cuda\nversion = '9'\n")
    (package / "cuda" / "__init__.py").write_text("jit = 'theirs'\nonly_theirs = 7\n")
    (package / "tools.py").write_text("from numba_cuda_mlir.cuda import jit\n")
    return os.pathsep.join([str(ROOT), str(tmp_path)])


def test_installed_numba_cuda_mlir_sees_its_own_namespace(fake_mlir):
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
