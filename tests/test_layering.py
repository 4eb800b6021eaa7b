"""The import rules between packages, as in docs/architecture.md."""

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
    __init__ status table errors files interrupts target compiler cpu gpu_code checked cuda
    standin testing workspace launch results signature gradients primitives estimates collectives
    kernels nn parallel bench draw course classroom doctor cli
""".split()
# Packages that may import fewer packages than their position in the list allows.
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
            "checked",
            "cuda",
            "files",
            "launch",
        ),
        *("workspace", "kernels", "nn"),
    },
}

# The same for packages of the compiler; all of them may import its modules.
COMPILER_PACKAGES = ("runtime", "analysis", "frontend", "diagnostics", "lowering", "emit")

# Modules that belong to a package of another name.
BELONGS_TO = {"__main__": "cli"}

# Allowed third-party packages, by package; the default is numpy, numba and llvmlite.
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
    "testing": {*USUAL, "pytest"},
    "gradients": {"numpy"},
    "collectives": set(),
    "kernels": {"numpy", "scipy"},  # SciPy for a reference, if it is installed
    "workspace": {"numpy"},
    "nn": {"numpy", "sklearn"},
    "parallel": {"numpy", "numba", "mpi4py", "nccl", "cuda"},
    "bench": {*USUAL, "matplotlib", "sklearn"},
    "draw": {*USUAL, "IPython", "matplotlib", "sklearn"},
    "course": {*USUAL, "IPython", "tomli"},
    "classroom": {"numpy", "matplotlib", "distributed"},
    "doctor": set(),
    "cli": set(),
}
# The only packages that may import the real numba.cuda; `gpu_code` does in a child process.
GPU_PACKAGES = {"gpu_code", "cuda", "standin", "testing"}
# So may the GPU forms of primitives, which are loaded only in that process.
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
    """Return every name that a module imports at run time, at its top or inside a function."""
    found = []
    for node in running(ast.parse(source)):
        if isinstance(node, ast.Import):
            found += [Import(node.lineno, alias.name) for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            prefix = "." * node.level + (node.module or "")
            found += [Import(node.lineno, f"{prefix}.{alias.name}") for alias in node.names]
    return found


def running(tree: ast.AST) -> Iterator[ast.AST]:
    """Yield the nodes of a tree, without those under `if TYPE_CHECKING`."""
    yield tree
    for node in ast.iter_child_nodes(tree):
        if not (isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"):
            yield from running(node)


def file_of(name: str) -> str | None:
    """Return the module of gpukit that an imported name is or belongs to, or None."""
    return name if name in MODULES else next(filter(MODULES.get, [name.rpartition(".")[0]]), None)


def package_of(path: Path) -> str:
    name = path.relative_to(PACKAGE).parts[0].removesuffix(".py")
    return BELONGS_TO.get(name, name)


def target_package(name: str) -> str:
    """Return the package of an imported name of gpukit; `__init__` for names of gpukit itself."""
    second = name.split(".")[1]
    second = BELONGS_TO.get(second, second)
    return second if second in PACKAGES else "__init__"


def may_import(package: str) -> set[str]:
    below = NARROW.get(package, set(PACKAGES[: PACKAGES.index(package)]))
    return {package, "__init__", *below}


def relative(path: Path) -> str:
    return path.relative_to(PACKAGE).as_posix()


def imports() -> Iterator[tuple[Path, str, Import]]:
    """Yield every import of gpukit, with its file and package."""
    for path in FILES:
        for found in imports_of(path.read_text(encoding="utf-8")):
            yield path, package_of(path), found


def test_every_file_belongs_to_a_known_package():
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


def test_files_import_only_the_third_party_packages_of_their_package():
    always = {"gpukit", *sys.stdlib_module_names, "tomllib"}
    wrong = [
        f"{relative(path)}:{line}: {package} may not import {name}"
        for path, package, (line, name) in imports()
        if name.split(".")[0] not in THIRD_PARTY.get(package, USUAL) | always
    ]
    assert wrong == []


def test_only_the_packages_for_gpus_import_the_real_numba_cuda():
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


def test_imports_have_no_cycles():
    graph = {
        name: {file_of(found.name) for found in imports_of(path.read_text())} - {name, None}
        for name, path in MODULES.items()
    }
    try:
        graphlib.TopologicalSorter(graph).prepare()
    except graphlib.CycleError as error:
        cycle = error.args[1]
        pytest.fail(" imports ".join(reversed(cycle)))


@pytest.mark.slow
def test_no_class_derives_from_a_class_of_another_file():
    """Except errors, `Scalar`, the base of the compiler's rewriters, and kinds of `Parameter`."""
    bases = {"GpukitError", "Invalid", "KernelError", "Parameter", "Scalar"}
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


MAX_LINES = 400


def test_no_file_has_more_than_four_hundred_lines():
    """Except a learner's files: `answer.py` and its backups."""
    too_long = {
        path.relative_to(ROOT).as_posix()
        for folder in ("benchmarks", "exercises", "gpukit", "notebooks", "tests")
        for path in (ROOT / folder).rglob("*.py")
        if not path.name.startswith("answer.")
        and len(path.read_text(encoding="utf-8").splitlines()) > MAX_LINES
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


def test_an_import_inside_a_function_is_found():
    source = "def f():\n    from gpukit import cli\n"
    assert imports_of(source) == [Import(2, "gpukit.cli")]


def test_a_relative_import_is_refused():
    name = imports_of("from .errors import GpukitError")[0].name
    assert name.split(".")[0] not in {"gpukit", *sys.stdlib_module_names}


def test_no_other_package_may_import_cli():
    assert [package for package in PACKAGES if "cli" in may_import(package)] == ["cli"]
