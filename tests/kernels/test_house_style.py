"""House style of all kernels, checked in the source text.

Each rule is one test, which names all functions that break it.
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


def functions_that_break(rule, among):
    """Return the names of the functions, given as pairs (file, node), that break a rule."""
    return [f"{path.stem}.{node.name}" for path, node in among if not rule(path, node)]


def files_that_break(rule):
    return [path.stem for path in FILES if not rule(path)]


def module_of(path):
    module = path.relative_to(FOLDER).with_suffix("")
    return importlib.import_module(".".join(["gpukit.kernels", *module.parts]))


def variants_of(path):
    return module_of(path).VARIANTS


def field_lines(node):
    """Return the docstring lines that begin a field: two spaces deeper than the docstring."""
    lines = ast.get_docstring(node).splitlines()
    return [
        line for line in lines if line[:8].strip() and "  " in line and line[:10].strip() in FIELDS
    ]


def moves_four(node):
    """Return whether a kernel has 16-byte accesses; its file may document these separately."""
    return any(f"{name}(" in ast.unparse(node) for name in ("load4", "store4", "map4", "zip4"))


def test_the_book_has_kernels():
    assert len(KERNELS) >= 16


def test_kernel_docstring_has_in_order_every_field_that_its_file_lacks():
    """The field Shared is required exactly where a kernel has a shared array."""

    def rule(path, node):
        own = [line[:10].strip() for line in field_lines(node)]
        text = ast.get_docstring(ast.parse(path.read_text())).partition("\nAll kernels")[2]
        general, _, _ = text.partition("\nVectorized kernels")
        text = text if moves_four(node) else general
        files = [line[4:14].strip() for line in text.splitlines()]
        without = set() if "shared.array(" in ast.unparse(node) else {"Shared"}
        return own == [f for f in FIELDS if f in own] and set(own) | {*files} | without >= {*FIELDS}

    assert functions_that_break(rule, KERNELS) == []


def test_kernel_docstring_fields_are_not_empty():
    def rule(path, node):
        return all(line[10:].strip() for line in field_lines(node))

    assert functions_that_break(rule, KERNELS) == []


def test_kernel_docstring_opens_with_one_sentence_and_an_empty_line():
    def rule(path, node):
        first, second, *_ = ast.get_docstring(node).splitlines()
        return (first[-1], second) == (".", "")

    assert functions_that_break(rule, KERNELS) == []


def test_cost_of_a_kernel_is_defined_directly_below_it():
    """Kernels with equal costs use one cost function, defined below one of them."""

    def rule(path, node):
        names = [function.name for function in functions(path)]
        own = node.name.removesuffix("_kernel") + "_cost"
        return own not in names or names[names.index(node.name) + 1] == own

    assert functions_that_break(rule, KERNELS) == []


def test_no_cost_function_only_calls_another():
    def rule(_, node):
        returned = node.body[-1].value if isinstance(node.body[-1], ast.Return) else None
        calls = isinstance(returned, ast.Call) and ast.unparse(returned.func).endswith("_cost")
        return not (node.name.endswith("_cost") and calls)

    assert functions_that_break(rule, HOST) == []


def test_kernel_body_is_at_most_forty_lines():
    def rule(path, node):
        first, last = node.body[1], node.body[-1]
        return last.end_lineno - first.lineno < 40

    assert functions_that_break(rule, KERNELS) == []


def test_kernel_has_no_type_hints():
    def rule(path, node):
        return all(arg.annotation is None for arg in node.args.args)

    assert functions_that_break(rule, KERNELS) == []


def test_kernel_never_returns_early():
    def rule(path, node):
        return not any(isinstance(inner, ast.Return) for inner in ast.walk(node))

    assert functions_that_break(rule, KERNELS) == []


def test_kernel_has_no_bare_float():
    def rule(path, node):
        constants = [inner for inner in ast.walk(node) if isinstance(inner, ast.Constant)]
        written = [ast.unparse(inner) for inner in constants]
        return not any(text.replace(".", "", 1).isdigit() and "." in text for text in written)

    assert functions_that_break(rule, KERNELS) == []


def test_every_barrier_has_a_comment_on_what_it_protects():
    def rule(path):
        barriers = [line for line in path.read_text().splitlines() if "cuda.syncthreads()" in line]
        return all("cuda.syncthreads()  # " in line for line in barriers)

    assert files_that_break(rule) == []
    assert rule(pathlib.Path(collectives.__file__))


def test_file_has_at_most_one_shared_or_local_array_per_line():
    def rule(path):
        lines = path.read_text().splitlines()
        return all(
            line.count(".shared.array(") + line.count(".local.array(") <= 1 for line in lines
        )

    assert files_that_break(rule) == []


def test_file_opens_with_a_legend():
    def rule(path):
        return "\nLegend\n" in ast.get_docstring(ast.parse(path.read_text()))

    assert files_that_break(rule) == []


def test_variants_lists_every_kernel_of_the_file_in_order():
    def rule(path):
        module = module_of(path)
        expected = [getattr(module, node.name) for where, node in KERNELS if where == path]
        return [variant.kernel for variant in variants_of(path)] == expected

    assert files_that_break(rule) == []


def test_variant_names_are_unique():
    def rule(path):
        names = [variant.name for variant in variants_of(path)]
        return len(set(names)) == len(names)

    assert files_that_break(rule) == []


def test_variant_costs_return_a_cost():
    def rule(path):
        annotations = {
            inspect.signature(variant.cost).return_annotation for variant in variants_of(path)
        }
        return annotations <= {"Cost", launch.Cost}

    assert files_that_break(rule) == []


def test_host_function_has_a_docstring_and_type_hints():
    def rule(path, node):
        arguments = [*node.args.args, *node.args.kwonlyargs]
        hinted = all(arg.annotation is not None for arg in arguments)
        return hinted and node.returns is not None and bool(ast.get_docstring(node))

    assert functions_that_break(rule, HOST) == []
