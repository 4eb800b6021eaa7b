"""What an import of gpukit costs and gives, each fact in a fresh process."""

import pytest

import gpukit

HEAVY = ("numba", "llvmlite", "numpy", "matplotlib", "sklearn", "rich")
SHOW = f"import sys; print([name for name in {HEAVY!r} if name in sys.modules])"


def test_import_of_gpukit_loads_nothing_heavy(fresh_python):
    done = fresh_python("-c", f"import gpukit; {SHOW}")
    assert (done.stdout.strip(), done.stderr) == ("[]", "")


def test_help_of_the_command_line_loads_nothing_heavy(fresh_python):
    code = f"""
import sys
from gpukit import cli
sys.argv = ["gpukit", "--help"]
try:
    cli.main()
except SystemExit as stop:
    assert not stop.code
{SHOW}
"""
    done = fresh_python("-c", code)
    assert done.stderr == ""
    assert done.stdout.splitlines()[-1] == "[]"


def test_cpu_target_never_loads_numba_cuda(fresh_python):
    code = "import sys; from gpukit import cuda; cuda.jit; print('numba.cuda' in sys.modules)"
    done = fresh_python("-c", code, GPUKIT_TARGET="cpu")
    assert (done.stdout.strip(), done.stderr) == ("False", "")


def test_drawing_is_loaded_only_when_asked_for(fresh_python):
    code = "import sys; from gpukit import cuda; print('matplotlib' in sys.modules)"
    done = fresh_python("-c", code, GPUKIT_TARGET="cpu")
    assert (done.stdout.strip(), done.stderr) == ("False", "")


HOST_FUNCTIONS = {
    *("relu", "sigmoid", "tanh", "gelu", "relu_grad", "sigmoid_grad", "tanh_grad", "gelu_grad"),
    *(
        "linear",
        "linear_backward",
        "conv2d",
        "matmul",
        "batched_matmul",
        "matvec",
        "dot",
        "sum",
        "max",
        "min",
    ),
    *("argmax", "bincount", "inclusive_scan", "exclusive_scan", "compact", "copy", "transpose"),
    *("invert", "grey", "box_blur", "fill", "vector_add", "saxpy"),
}


def test_public_names_are_these_and_the_books_functions():
    assert set(gpukit.__all__) - HOST_FUNCTIONS == {
        "ArgumentError",
        "BarrierDivergence",
        "CheckFailed",
        "CheckWarning",
        "CompileError",
        "GpukitError",
        "Invalid",
        "KernelError",
        "KernelTypeError",
        "LaunchError",
        "OutOfBounds",
        "SourceError",
        "TargetError",
        "Unsupported",
        "check",
        "cuda",
        "explain",
        "play",
        "profile",
        "standin",
    }


@pytest.mark.parametrize("name", sorted(HOST_FUNCTIONS))
def test_functions_of_the_book_can_be_called_from_the_top(name):
    function = getattr(gpukit, name)
    assert function.__module__.startswith("gpukit.kernels.")
    assert function.__name__ == name
    assert name in gpukit.__all__


@pytest.mark.parametrize("name", gpukit.__all__)
def test_public_name_can_be_reached(name):
    assert getattr(gpukit, name) is not None


def test_explain_stays_a_function_after_its_module_is_imported(fresh_python):
    code = "import gpukit.cpu.explain, gpukit; print(type(gpukit.explain).__name__)"
    done = fresh_python("-c", code)
    assert (done.stdout.strip(), done.stderr) == ("function", "")


def test_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
        gpukit.nonsense


def test_every_error_is_a_gpukit_error():
    classes = [getattr(gpukit, name) for name in gpukit.__all__ if name[0].isupper()]
    raised = [each for each in classes if not issubclass(each, Warning)]
    assert all(issubclass(each, gpukit.GpukitError) for each in raised)
