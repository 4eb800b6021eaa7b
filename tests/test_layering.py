"""Who may import whom. docs/architecture.md draws the same rules."""

import ast
import graphlib
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "gpukit"

# A package may import the packages above it, and itself.
PACKAGES = """
    __init__ status table errors files interrupts target compiler cpu gpu_code checked cuda standin
    workspace launch results signature gradients primitives collectives kernels nn parallel bench
    draw course doctor cli
""".split()
# These see less than their place in the list would let them.
NARROW = {
    "__init__": {"errors", "interrupts", "status"},
    "gradients": {"errors", "launch"},
    "collectives": {"cuda"},
    "kernels": {*("cuda", "errors", "launch", "results", "signature", "primitives"), "collectives"},
    "workspace": {"cuda"},
    "nn": {
        *("__init__", "errors", "interrupts", "status", "cuda", "files", "launch"),
        *("workspace", "kernels"),
    },
    "parallel": {
        *(
            "__init__",
            "errors",
            "interrupts",
            "status",
            "table",
            "target",
            "cuda",
            "files",
            "launch",
        ),
        *("workspace", "kernels", "nn"),
    },
}

# And inside the compiler; what lies beside its packages may be imported by all of them.
COMPILER_PACKAGES = ("runtime", "analysis", "frontend", "diagnostics", "lowering", "emit")

# What belongs to a package of another name.
BELONGS_TO = {"__main__": "cli"}

# Third-party packages, by package. Packages that are not named here get numpy, numba and llvmlite.
USUAL = {"numpy", "numba", "llvmlite"}
THIRD_PARTY = {
    "__init__": set(),
    "errors": set(),
    "files": set(),
    "table": set(),
    "interrupts": set(),
    "status": {"IPython"},
    "target": set(),
    "standin": {*USUAL, "sitecustomize", "pytest"},
    "gradients": {"numpy"},
    "collectives": set(),
    "kernels": {"numpy", "scipy"},  # SciPy for a reference, where it is installed
    "workspace": {"numpy"},
    "nn": {"numpy", "sklearn"},
    "parallel": {"numpy", "numba", "mpi4py", "nccl"},
    "bench": {*USUAL, "matplotlib", "sklearn"},
    "draw": {*USUAL, "IPython", "matplotlib", "sklearn"},
    "course": {*USUAL, "IPython", "tomli"},
    "doctor": set(),
    "cli": set(),
}
# The only packages that may name the real numba.cuda.
# `gpu_code` asks numba-cuda for code, in a process of its own.
GPU_PACKAGES = {"gpu_code", "cuda", "standin"}
# And the forms that primitives have on a GPU, which that process loads alone.
GPU_FORMS = sorted((PACKAGE / "primitives").glob("*_gpu.py"))
FILES = sorted(PACKAGE.rglob("*.py"))
MODULES = {
    ".".join(path.relative_to(PACKAGE.parent).with_suffix("").parts).removesuffix(".__init__"): path
    for path in FILES
}


class Import(NamedTuple):
    """One imported name: `gpukit.errors`, `numba`, `math`."""

    line: int
    name: str


def imports_of(source: str) -> list[Import]:
    """Every name that a module imports when it runs, at its top or inside a function."""
    found = []
    for node in running(ast.parse(source)):
        if isinstance(node, ast.Import):
            found += [Import(node.lineno, alias.name) for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            prefix = "." * node.level + (node.module or "")
            found += [Import(node.lineno, f"{prefix}.{alias.name}") for alias in node.names]
    return found


def running(tree: ast.AST) -> Iterator[ast.AST]:
    """The nodes of a tree without those that only a type checker looks at."""
    yield tree
    for node in ast.iter_child_nodes(tree):
        if not (isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"):
            yield from running(node)


def file_of(name: str) -> str | None:
    """The module that an imported name is, or lies in; None for what is not gpukit's."""
    return name if name in MODULES else next(filter(MODULES.get, [name.rpartition(".")[0]]), None)


def package_of(path: Path) -> str:
    name = path.relative_to(PACKAGE).parts[0].removesuffix(".py")
    return BELONGS_TO.get(name, name)


def target_package(name: str) -> str:
    """The package that an imported gpukit name lies in; names of gpukit itself lie in __init__."""
    second = name.split(".")[1]
    second = BELONGS_TO.get(second, second)
    return second if second in PACKAGES else "__init__"


def may_import(package: str) -> set[str]:
    below = NARROW.get(package, set(PACKAGES[: PACKAGES.index(package)]))
    return {package, "__init__", *below}


def relative(path: Path) -> str:
    return path.relative_to(PACKAGE).as_posix()


def imports() -> Iterator[tuple[Path, str, Import]]:
    """Every import of the package, with its file and package."""
    for path in FILES:
        for found in imports_of(path.read_text(encoding="utf-8")):
            yield path, package_of(path), found


def test_every_file_lies_in_a_known_package():
    unknown = {package_of(path) for path in FILES} - set(PACKAGES)
    assert unknown == set(), "add the package to PACKAGES and to docs/architecture.md"


def test_files_import_only_packages_above_their_own():
    wrong = [
        f"{relative(path)}:{line}: {package} may not import {name}"
        for path, package, (line, name) in imports()
        if name.startswith("gpukit.") and target_package(name) not in may_import(package)
    ]
    assert wrong == []


def test_packages_of_the_compiler_import_only_packages_above_their_own():
    wrong = []
    for path, _, (line, name) in imports():
        here, there = relative(path).split("/"), f"{name}..".split(".")
        if here[0] == "compiler" and here[1] in COMPILER_PACKAGES and there[2] in COMPILER_PACKAGES:
            if COMPILER_PACKAGES.index(there[2]) > COMPILER_PACKAGES.index(here[1]):
                wrong.append(f"{relative(path)}:{line}: {name}")
    assert wrong == []


def test_files_import_only_the_packages_of_their_package():
    always = {"gpukit", *sys.stdlib_module_names, "tomllib"}
    wrong = [
        f"{relative(path)}:{line}: {package} may not import {name}"
        for path, package, (line, name) in imports()
        if name.split(".")[0] not in THIRD_PARTY.get(package, USUAL) | always
    ]
    assert wrong == []


def test_only_the_front_names_the_real_cuda_namespace():
    wrong = [
        f"{relative(path)}:{line}: {name}"
        for path, package, (line, name) in imports()
        if f"{name}.".startswith(("numba.cuda.", "numba_cuda.", "numba_cuda_mlir."))
        and package not in GPU_PACKAGES
        and path not in GPU_FORMS
    ]
    assert wrong == []


def test_forms_for_a_gpu_import_nothing_of_gpukit():
    wrong = [
        f"{relative(path)}:{line}: {name}"
        for path, _, (line, name) in imports()
        if path in GPU_FORMS and name.split(".")[0] == "gpukit"
    ]
    assert wrong == []


def test_no_file_imports_itself_by_way_of_others():
    graph = {
        name: {file_of(found.name) for found in imports_of(path.read_text())} - {name, None}
        for name, path in MODULES.items()
    }
    try:
        graphlib.TopologicalSorter(graph).prepare()
    except graphlib.CycleError as error:
        circle = error.args[1]
        pytest.fail(" imports ".join(reversed(circle)))


@pytest.mark.slow
def test_classes_are_put_together_not_derived_from_those_of_other_files():
    """But errors have a hierarchy, and what rewrites a thread's code has one base, `Scalar`."""
    bases = {"GpukitError", "Invalid", "KernelError", "Scalar"}
    own = {
        node.name
        for path in FILES
        for node in ast.parse(path.read_text(encoding="utf-8")).body
        if isinstance(node, ast.ClassDef)
    }
    wrong = [
        f"{relative(path)}: {node.name} derives from {name}"
        for path in FILES
        for source in [path.read_text(encoding="utf-8")]
        for tree in [ast.parse(source)]
        for here in [{n.name for n in tree.body if isinstance(n, ast.ClassDef)}]
        for others in [{f.name for f in imports_of(source) if not f.name.startswith("gpukit")}]
        for node in ast.walk(tree)
        if isinstance(node, ast.ClassDef)
        for name in [ast.unparse(base).rpartition(".")[2] for base in node.bases]
        if name in own - here - bases - {other.rpartition(".")[2] for other in others}
    ]
    assert wrong == []


MOST_LINES = 400


def test_no_file_has_more_than_four_hundred_lines():
    """But for what a learner has written: `answer.py`, and what was set aside of it."""
    too_long = {
        path.relative_to(ROOT).as_posix()
        for folder in ("benchmarks", "exercises", "gpukit", "notebooks", "tests")
        for path in (ROOT / folder).rglob("*.py")
        if not path.name.startswith("answer.")
        and len(path.read_text(encoding="utf-8").splitlines()) > MOST_LINES
    }
    assert sorted(too_long) == []


def test_kernels_take_cuda_from_gpukit_by_name():
    wrong = [
        f"{relative(path)}: {name}"
        for path in FILES
        if package_of(path) == "kernels"
        for _, name in imports_of(path.read_text(encoding="utf-8"))
        if name.startswith("gpukit.cuda.") or name == "gpukit.cuda.*"
    ]
    assert wrong == []


def test_import_inside_a_function_is_seen():
    source = "def f():\n    from gpukit import cli\n"
    assert imports_of(source) == [Import(2, "gpukit.cli")]


def test_relative_import_is_refused():
    name = imports_of("from .errors import GpukitError")[0].name
    assert name.split(".")[0] not in {"gpukit", *sys.stdlib_module_names}


def test_cli_may_be_imported_by_nobody_else():
    assert [package for package in PACKAGES if "cli" in may_import(package)] == ["cli"]
