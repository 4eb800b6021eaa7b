"""What every kernel of the book owes its reader, read from the source text.

A rule is one test, which names all that break it.
"""

import ast
import functools
import importlib
import inspect
import pathlib

from gpukit import collectives, kernels, launch

FIELDS = ["New here", "Shapes", "Dtypes", "Launch", "Shared", "Cost", "Errors", "Source"]
FOLDER = pathlib.Path(kernels.__file__).parent
FILES = sorted(p for p in FOLDER.rglob("*.py") if p.stem != "__init__")


@functools.cache
def functions(path):
    return [node for node in ast.parse(path.read_text()).body if isinstance(node, ast.FunctionDef)]


def is_jitted(node):
    return any("cuda.jit" in ast.unparse(decorator) for decorator in node.decorator_list)


JITTED = [(path, node) for path in FILES for node in functions(path) if is_jitted(node)]
KERNELS = [(path, node) for path, node in JITTED if node.name.endswith("_kernel")]
HOST = [(path, node) for path in FILES for node in functions(path) if not is_jitted(node)]


def breaking(rule, among):
    """The names of the functions, among pairs of a file and a node, that do not keep a rule."""
    return [f"{path.stem}.{node.name}" for path, node in among if not rule(path, node)]


def files_breaking(rule):
    return [path.stem for path in FILES if not rule(path)]


def module_of(path):
    module = path.relative_to(FOLDER).with_suffix("")
    return importlib.import_module(".".join(["gpukit.kernels", *module.parts]))


def variants_of(path):
    return module_of(path).VARIANTS


def field_lines(node):
    """The docstring lines that begin a field: indented like the docstring, then two spaces."""
    lines = ast.get_docstring(node).splitlines()
    return [
        line for line in lines if line[:8].strip() and "  " in line and line[:10].strip() in FIELDS
    ]


def moves_four(node):
    """Whether a kernel has 16-byte accesses, for which its file may have fields of their own."""
    return any(f"{name}(" in ast.unparse(node) for name in ("load4", "store4", "map4", "zip4"))


def test_the_book_has_kernels():
    assert len(KERNELS) >= 16


def test_kernel_docstring_has_every_field_in_order_that_its_file_does_not_have():
    """Shared stands where a kernel has a shared array."""

    def rule(path, node):
        own = [line[:10].strip() for line in field_lines(node)]
        text = ast.get_docstring(ast.parse(path.read_text())).partition("\nAll kernels")[2]
        general, _, _ = text.partition("\nVectorized kernels")
        text = text if moves_four(node) else general
        files = [line[4:14].strip() for line in text.splitlines()]
        without = set() if "shared.array(" in ast.unparse(node) else {"Shared"}
        return own == [f for f in FIELDS if f in own] and set(own) | {*files} | without >= {*FIELDS}

    assert breaking(rule, KERNELS) == []


def test_kernel_docstring_fields_all_say_something():
    def rule(path, node):
        return all(line[10:].strip() for line in field_lines(node))

    assert breaking(rule, KERNELS) == []


def test_kernel_docstring_opens_with_one_sentence_and_an_empty_line():
    def rule(path, node):
        first, second, *_ = ast.get_docstring(node).splitlines()
        return (first[-1], second) == (".", "")

    assert breaking(rule, KERNELS) == []


def test_cost_of_a_kernel_stands_right_below_it():
    """Kernels that do the same work share a cost: then only one of them has it below."""

    def rule(path, node):
        names = [function.name for function in functions(path)]
        own = node.name.removesuffix("_kernel") + "_cost"
        return own not in names or names[names.index(node.name) + 1] == own

    assert breaking(rule, KERNELS) == []


def test_no_cost_only_calls_another():
    def rule(_, node):
        returned = node.body[-1].value if isinstance(node.body[-1], ast.Return) else None
        calls = isinstance(returned, ast.Call) and ast.unparse(returned.func).endswith("_cost")
        return not (node.name.endswith("_cost") and calls)

    assert breaking(rule, HOST) == []


def test_kernel_body_is_at_most_forty_lines():
    def rule(path, node):
        first, last = node.body[1], node.body[-1]
        return last.end_lineno - first.lineno < 40

    assert breaking(rule, KERNELS) == []


def test_kernel_has_no_type_hints():
    def rule(path, node):
        return all(arg.annotation is None for arg in node.args.args)

    assert breaking(rule, KERNELS) == []


def test_kernel_never_returns_early():
    def rule(path, node):
        return not any(isinstance(inner, ast.Return) for inner in ast.walk(node))

    assert breaking(rule, KERNELS) == []


def test_kernel_has_no_bare_float():
    def rule(path, node):
        constants = [inner for inner in ast.walk(node) if isinstance(inner, ast.Constant)]
        written = [ast.unparse(inner) for inner in constants]
        return not any(text.replace(".", "", 1).isdigit() and "." in text for text in written)

    assert breaking(rule, KERNELS) == []


def test_every_barrier_says_what_it_protects():
    def rule(path):
        barriers = [line for line in path.read_text().splitlines() if "cuda.syncthreads()" in line]
        return all("cuda.syncthreads()  # " in line for line in barriers)

    assert files_breaking(rule) == []
    assert rule(pathlib.Path(collectives.__file__))


def test_file_has_one_shared_or_local_array_on_a_line():
    def rule(path):
        lines = path.read_text().splitlines()
        return all(
            line.count(".shared.array(") + line.count(".local.array(") <= 1 for line in lines
        )

    assert files_breaking(rule) == []


def test_file_opens_with_a_legend():
    def rule(path):
        return "\nLegend\n" in ast.get_docstring(ast.parse(path.read_text()))

    assert files_breaking(rule) == []


def test_variants_holds_every_kernel_of_the_file_in_order():
    def rule(path):
        module = module_of(path)
        expected = [getattr(module, node.name) for where, node in KERNELS if where == path]
        return [variant.kernel for variant in variants_of(path)] == expected

    assert files_breaking(rule) == []


def test_variants_names_are_all_different():
    def rule(path):
        names = [variant.name for variant in variants_of(path)]
        return len(set(names)) == len(names)

    assert files_breaking(rule) == []


def test_variants_costs_return_the_cost_record():
    def rule(path):
        annotations = {
            inspect.signature(variant.cost).return_annotation for variant in variants_of(path)
        }
        return annotations <= {"Cost", launch.Cost}

    assert files_breaking(rule) == []


def test_host_function_has_a_docstring_and_type_hints():
    def rule(path, node):
        arguments = [*node.args.args, *node.args.kwonlyargs]
        hinted = all(arg.annotation is not None for arg in arguments)
        return hinted and node.returns is not None and bool(ast.get_docstring(node))

    assert breaking(rule, HOST) == []
