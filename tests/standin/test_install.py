"""`standin.install()` and `uninstall()`: what they replace and restore."""

import textwrap

from tests.standin.fresh import BEGIN, python


def test_install_imports_neither_numba_nor_numpy():
    assert python(BEGIN + "import sys; print({'numba', 'numpy'} & set(sys.modules))") == "set()"


def test_install_is_idempotent():
    code = """
    import sys
    before = list(sys.meta_path)
    s.install()
    print(sys.meta_path == before)
    """
    assert python(BEGIN + textwrap.dedent(code)) == "True"


def test_install_replaces_an_already_imported_numba_cuda():
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


def test_report_names_modules_that_reference_the_old_namespace():
    code = """
    import sys, types
    import numba.cuda
    other = types.ModuleType("other")
    other.cuda = numba.cuda
    sys.modules["other"] = other
    import gpukit.standin as s
    print(s.install())
    """
    assert "still use the old one" in python(code)


def test_uninstall_restores_the_installed_namespace():
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


def test_nothing_is_replaced_on_the_gpu_target():
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


def test_child_processes_stand_in_on_request():
    code = """
    import subprocess, sys
    s.uninstall()
    s.install(children=True)
    code = "from numba import cuda; from gpukit import cpu; print(cuda.jit is cpu.jit)"
    print(subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout)
    """
    assert python(BEGIN + textwrap.dedent(code)) == "True"


def test_child_processes_are_unaffected_by_default():
    code = "import os; print(os.environ.get('GPUKIT_STANDIN'))"
    assert python(BEGIN + code) == "None"


def test_uninstall_restores_the_environment():
    code = """
    import os
    before = dict(os.environ)
    s.install(children=True)
    s.uninstall()
    print(dict(os.environ) == before)
    """
    assert python(BEGIN + textwrap.dedent(code)) == "True"
