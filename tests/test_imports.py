"""Imports of gpukit: which modules they load, and the public names."""

import ast
import pydoc

import pytest

import gpukit

HEAVY = ("numba", "llvmlite", "numpy", "matplotlib", "sklearn")
SHOW = f"import sys; print([name for name in {HEAVY!r} if name in sys.modules])"


def test_import_of_gpukit_loads_nothing_heavy(fresh_python):
    done = fresh_python("-c", f"import gpukit; {SHOW}")
    assert (done.stdout.strip(), done.stderr) == ("[]", "")


def test_help_of_the_command_line_loads_nothing_heavy(fresh_python):
    done = fresh_python("-X", "importtime", "-m", "gpukit.cli", "--help")
    assert done.returncode == 0
    loaded = {line.rpartition("|")[2].strip() for line in done.stderr.splitlines()}
    assert not loaded & {*HEAVY, "json", "asyncio", "gpukit.cuda", "importlib.metadata"}


def test_the_command_line_handles_ctrl_c_before_it_imports_anything(fresh_python):
    code = "import sys; before = {*sys.modules}; import gpukit.cli; print({*sys.modules} - before)"
    allowed = {"__future__", "gpukit", "gpukit.cli", "gpukit.cli.codes"}
    assert ast.literal_eval(fresh_python("-c", code).stdout) <= allowed


EARLY = """
import signal, sys
def press(frame, event, argument):
    if event == "call" and frame.f_code.co_filename.replace("\\\\", "/").endswith(sys.argv[1]):
        sys.setprofile(None)
        signal.raise_signal(signal.SIGINT)
signal.signal(signal.SIGINT, signal.default_int_handler)
sys.setprofile(press)
from gpukit.cli import main
sys.exit(main(["list"]))
"""


@pytest.mark.parametrize("file", ["gpukit/errors.py", "gpukit/cli/parser.py", "argparse.py"])
def test_ctrl_c_while_the_command_line_is_imported_prints_one_line(file, fresh_python):
    done = fresh_python("-c", EARLY, file)
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "gpukit: stopped.\n")


def test_the_cpu_target_never_loads_numba_cuda(fresh_python):
    code = "import sys; from gpukit import cuda; cuda.jit; print('numba.cuda' in sys.modules)"
    done = fresh_python("-c", code, GPUKIT_TARGET="cpu")
    assert (done.stdout.strip(), done.stderr) == ("False", "")


def test_matplotlib_is_loaded_only_when_it_is_used(fresh_python):
    code = "import sys; from gpukit import cuda; print('matplotlib' in sys.modules)"
    done = fresh_python("-c", code, GPUKIT_TARGET="cpu")
    assert (done.stdout.strip(), done.stderr) == ("False", "")


HOST_FUNCTIONS = {name for names in gpukit._BOOK.values() for name in names}


def test_public_names_are_listed_here_or_functions_of_the_book():
    assert set(gpukit.__all__) - HOST_FUNCTIONS == set(
        """
        ArgumentError BarrierDivergence CheckFailed CheckWarning CompileError GpukitError
        GradientError Invalid KernelError KernelTypeError LaunchError OutOfBounds SourceError
        TargetError Unsupported check cuda estimate explain gradcheck kernels nn play profile
        standin
    """.split()
    )


@pytest.mark.parametrize("name", sorted(HOST_FUNCTIONS))
def test_functions_of_the_book_are_public_names_of_gpukit(name):
    function = getattr(gpukit, name)
    assert function.__module__.startswith("gpukit.kernels.")
    assert function.__name__ == name
    assert name in gpukit.__all__


@pytest.mark.parametrize("name", gpukit.__all__)
def test_every_public_name_exists(name):
    assert getattr(gpukit, name) is not None


def test_explain_is_a_function_even_after_its_module_is_imported(fresh_python):
    code = "import gpukit.cpu.explain, gpukit; print(type(gpukit.explain).__name__)"
    done = fresh_python("-c", code)
    assert (done.stdout.strip(), done.stderr) == ("function", "")


def test_an_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
        gpukit.nonsense


def test_every_error_is_a_gpukit_error():
    classes = [getattr(gpukit, name) for name in gpukit.__all__ if name[0].isupper()]
    raised = [each for each in classes if not issubclass(each, Warning)]
    assert all(issubclass(each, gpukit.GpukitError) for each in raised)


MODULES = dir(gpukit.kernels)


def test_dir_lists_only_public_names():
    assert set(dir(gpukit)) == {*gpukit.__all__, "__version__"}


def test_dir_of_kernels_lists_modules_without_loading_them(fresh_python):
    code = f"import gpukit; print('matmul' in dir(gpukit.kernels)); {SHOW}"
    done = fresh_python("-c", code)
    assert (done.stdout.split(), done.stderr) == (["True", "[]"], "")


def test_a_module_of_the_book_is_loaded_when_it_is_accessed(fresh_python):
    code = "import gpukit; print(gpukit.kernels.vector.saxpy is gpukit.saxpy)"
    done = fresh_python("-c", code)
    assert (done.stdout.strip(), done.stderr) == ("True", "")


def test_an_unknown_module_of_the_book_is_an_attribute_error():
    with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
        gpukit.kernels.nonsense


def test_help_lists_the_commands_and_the_functions_of_the_book():
    text = pydoc.plain(pydoc.render_doc(gpukit))
    functions = text.partition("\nFUNCTIONS\n")[2]
    assert all(f"\n    {name}(" in functions for name in ("check", "explain", "matmul", "profile"))
    assert "importlib" not in text


@pytest.mark.parametrize("name", MODULES)
def test_a_module_of_the_book_lists_its_public_names(name):
    module = getattr(gpukit.kernels, name)
    kernels = {variant.kernel.py_func.__name__ for variant in module.VARIANTS}
    own = {k for k in kernels if k in vars(module)}
    assert {*own, "VARIANTS"} <= set(module.__all__)
    functions = [n for n in module.__all__ if not n.endswith(("_kernel", "VARIANTS"))]
    assert all(getattr(module, n).__module__.startswith(module.__name__) for n in functions)
    assert not [n for n in module.__all__ if n.endswith("_cost") or n in ("cuda", "np", "Any")]


@pytest.mark.parametrize(
    ("module", "names"),
    [
        ("vector", {"saxpy", "saxpy_kernel", "saxpy_reference", "SAXPY_VARIANTS", "VARIANTS"}),
        ("transpose", {"transpose", "transpose_tiled_kernel", "transpose_reference", "VARIANTS"}),
        ("scan", {"cumsum", "compact", "exclusive_scan_reference", "VARIANTS"}),
        ("matmul", {"matmul", "batched_matmul", "matmul_reference", "VARIANTS"}),
    ],
)
def test_public_names_of_a_module_include_functions_kernels_and_references(module, names):
    assert names <= set(getattr(gpukit.kernels, module).__all__)
