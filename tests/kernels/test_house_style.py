"""What every kernel of the book owes its reader, read from the source text."""

import ast
import importlib
import inspect
import pathlib

import pytest

from gpukit import kernels, launch

FIELDS = ["New here", "Shapes", "Dtypes", "Launch", "Shared", "Cost", "Errors", "Source"]
FILES = sorted(
    p for p in pathlib.Path(kernels.__file__).parent.glob("*.py") if p.stem != "__init__"
)


def functions(path):
    return [node for node in ast.parse(path.read_text()).body if isinstance(node, ast.FunctionDef)]


def is_jitted(node):
    return any("cuda.jit" in ast.unparse(decorator) for decorator in node.decorator_list)


def ids(pairs):
    return [f"{path.stem}-{node.name}" for path, node in pairs]


JITTED = [(path, node) for path in FILES for node in functions(path) if is_jitted(node)]
KERNELS = [(path, node) for path, node in JITTED if node.name.endswith("_kernel")]
HOST = [(path, node) for path in FILES for node in functions(path) if not is_jitted(node)]

every_file = pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
every_kernel = pytest.mark.parametrize(("path", "node"), KERNELS, ids=ids(KERNELS))
every_host_function = pytest.mark.parametrize(("path", "node"), HOST, ids=ids(HOST))


def field_lines(node):
    """The docstring lines that begin a field: indented like the docstring, then two spaces."""
    lines = ast.get_docstring(node).splitlines()
    return [
        line for line in lines if line[:8].strip() and "  " in line and line[:10].strip() in FIELDS
    ]


def test_the_book_has_kernels():
    assert len(KERNELS) >= 16


@every_kernel
def test_kernel_docstring_has_every_field_in_order(path, node):
    assert [line[:10].strip() for line in field_lines(node)] == FIELDS


@every_kernel
def test_kernel_docstring_fields_all_say_something(path, node):
    assert all(line[10:].strip() for line in field_lines(node))


@every_kernel
def test_kernel_docstring_opens_with_one_sentence_and_an_empty_line(path, node):
    first, second, *_ = ast.get_docstring(node).splitlines()
    assert (first[-1], second) == (".", "")


@every_kernel
def test_kernel_has_its_cost_right_below_it(path, node):
    names = [function.name for function in functions(path)]
    assert names[names.index(node.name) + 1] == node.name.removesuffix("_kernel") + "_cost"


@every_kernel
def test_kernel_body_is_at_most_forty_lines(path, node):
    first, last = node.body[1], node.body[-1]
    assert last.end_lineno - first.lineno < 40


@every_kernel
def test_kernel_has_no_type_hints(path, node):
    assert all(arg.annotation is None for arg in node.args.args)


@every_kernel
def test_kernel_never_returns_early(path, node):
    assert not any(isinstance(inner, ast.Return) for inner in ast.walk(node))


@every_kernel
def test_kernel_has_no_bare_float(path, node):
    written = [ast.unparse(inner) for inner in ast.walk(node) if isinstance(inner, ast.Constant)]
    assert not any(text.replace(".", "", 1).isdigit() and "." in text for text in written)


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_every_barrier_says_what_it_protects(path):
    barriers = [line for line in path.read_text().splitlines() if "cuda.syncthreads()" in line]
    assert all("cuda.syncthreads()  # " in line for line in barriers)


@every_file
def test_file_has_one_shared_or_local_array_on_a_line(path):
    lines = path.read_text().splitlines()
    assert all(line.count(".shared.array(") + line.count(".local.array(") <= 1 for line in lines)


@every_file
def test_file_is_at_most_four_hundred_lines(path):
    assert len(path.read_text().splitlines()) <= 400


@every_file
def test_file_opens_with_a_legend(path):
    assert "\nLegend\n" in ast.get_docstring(ast.parse(path.read_text()))


@every_file
def test_ladder_holds_every_kernel_of_the_file_in_order(path):
    module = importlib.import_module(f"gpukit.kernels.{path.stem}")
    expected = [getattr(module, node.name) for where, node in KERNELS if where == path]
    assert [rung.kernel for rung in module.LADDER] == expected


@every_file
def test_ladder_names_are_all_different(path):
    module = importlib.import_module(f"gpukit.kernels.{path.stem}")
    names = [rung.name for rung in module.LADDER]
    assert len(set(names)) == len(names)


@every_file
def test_ladder_costs_return_the_cost_record(path):
    module = importlib.import_module(f"gpukit.kernels.{path.stem}")
    annotations = {inspect.signature(rung.cost).return_annotation for rung in module.LADDER}
    assert annotations <= {"Cost", launch.Cost}


@every_host_function
def test_host_function_has_a_docstring_and_type_hints(path, node):
    hinted = all(arg.annotation is not None for arg in [*node.args.args, *node.args.kwonlyargs])
    assert hinted
    assert node.returns is not None
    assert ast.get_docstring(node)
