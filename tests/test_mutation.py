"""Mutation testing of the checker: operators, launches, the oracle's faults, and a sample run."""

import ast
import dataclasses
import functools
import importlib
import types
from pathlib import Path

import numpy as np
import pytest

from benchmarks.mutation import cases, equivalents, mutants, pool, report, run, truth, verdict
from benchmarks.mutation.code import Code
from benchmarks.mutation.mutants import OPERATORS
from gpukit import cuda, launch
from gpukit.bench.cases import CASES
from gpukit.checked.finding import KINDS
from gpukit.kernels import reduce_trees, transpose, vector
from gpukit.kernels.scan import blocks
from tests import mutation_trouble as trouble

pytestmark = pytest.mark.slow  # all mutants of the book take ten seconds

KERNELS = [vector.saxpy_kernel, reduce_trees.sum_sequential_kernel, blocks.scan_block_kernel]


# Statements and the ends of their mutants, by operator.
OPERATED = {
    "drop_barrier": ("cuda.syncthreads()", ["pass"]),
    "drop_syncwarp": ("cuda.syncwarp()", ["pass"]),
    "drop_fence": ("cuda.threadfence()", ["pass"]),
    "drop_grid_sync": ("cuda.cg.this_grid().sync()", ["pass"]),
    "barrier_down": ("cuda.syncthreads(); b[i] = a[i]", ["b[i] = a[i]; cuda.syncthreads()"]),
    "barrier_up": ("b[i] = a[i]; cuda.syncthreads()", ["cuda.syncthreads(); b[i] = a[i]"]),
    "wrong_mask": ("v = cuda.ballot_sync(0xFFFFFFFF, p)", ["(0xFFFFFFFF) >> 16, p)"]),
    "wrong_shuffle_offset": ("v = cuda.shfl_down_sync(m, v, 8)", ["(m, v, 8 + 1)"]),
    "atomic_to_plain": ("cuda.atomic.add(b, i, v)", ["b[i] += v"]),
    "drop_fill": ("s = cuda.shared.array(8, t); s[i] = a[i]", ["t); pass"]),
    "drop_store": ("b[i] = a[i]", ["pass"]),
    "shared_to_local": ("s = cuda.shared.array(8, t)", ["cuda.local.array(8, t)"]),
    "small_shared": ("s = cuda.shared.array((8, 9), t)", ["((8, 9 - 1), t)"]),
    "wrong_buffer": ("b[i] = a[i]", ["b[i] = b[i]"]),
    "float64_literal": (
        "v = np.float32(0); w = a.dtype.type(1)",
        ["v = 0.0; w = a.dtype.type(1)", "w = 1.0"],
    ),
    "drop_cast": (
        "v = np.float32(i); w = a.dtype.type(j)",
        ["v = (i); w = a.dtype.type(j)", "w = (j)"],
    ),
    "wrong_start": ("v = np.float32(0); v += i", ["v = np.float32(1); v += i"]),
    "lost_sum": ("b[i] += v", ["b[i] = v"]),
    "index_one_more": ("b[i] = 2", ["b[i + 1] = 2"]),
    "index_one_less": ("b[0] = 2", ["b[-1] = 2"]),
    "swapped_axes": ("b[i, j] = 2", ["b[j, i] = 2"]),
    "swapped_targets": ("i, j = cuda.grid(2)", ["j, i = cuda.grid(2)"]),
    "swapped_stride": ("k = i * n + j", ["k = i * j + n", "k = n * j + i"]),
    "missing_offset": ("k = i + j", ["k = i", "k = j"]),
    "flipped_sign": ("k = i - j", ["k = i + j"]),
    "missing_block_offset": ("i, j = cuda.grid(2)", ["(cuda.threadIdx.x, cuda.threadIdx.y)"]),
    "block_for_thread": ("k = cuda.threadIdx.y", ["k = cuda.blockIdx.y"]),
    "wrong_size": ("k = cuda.blockDim.x", ["k = cuda.gridDim.x"]),
    "wrong_axis": ("k = cuda.blockDim.x", ["k = cuda.blockDim.y"]),
    "guard_looser": ("k = 0 <= i < n", ["-1 <= i < n", "0 <= i <= n"]),
    "guard_tighter": ("k = 0 <= i < n", ["0 < i < n", "0 <= i < n - 1"]),
    "drop_condition": ("k = i < n and j < n", ["k = j < n", "k = i < n"]),
    "drop_clamp": ("k = max(i - 1, 0)", ["k = (i - 1)"]),
    "missing_last_tile": ("k = (n + 15) // 16", ["k = n // 16"]),
}
# The same for operators on loops and branches, with whole bodies.
OPERATED_BLOCKS = {
    "barrier_into_guard": (
        "if i < n:\n    b[i] = v\ncuda.syncthreads()",
        ["if i < n:\n    b[i] = v\n    cuda.syncthreads()\npass"],
    ),
    "barrier_out_of_loop": (
        "for k in range(n):\n    b[k] = v\n    cuda.syncthreads()",
        ["for k in range(n):\n    b[k] = v\n    pass\ncuda.syncthreads()"],
    ),
    "early_return": (
        "cuda.syncthreads()\nif i < n:\n    b[i] = v",
        ["if not (i < n):\n    return\ncuda.syncthreads()\nif i < n:\n    b[i] = v"],
    ),
    "drop_guard": ("if i < n:\n    b[i] = v", ["if True:\n    b[i] = v"]),
    "range_end": (
        "for k in range(n):\n    v = k",
        ["for k in range(n + 1):\n    v = k", "for k in range(n - 1):\n    v = k"],
    ),
    "range_start": (
        "for k in range(2, n):\n    v = k",
        ["for k in range(3, n):\n    v = k", "for k in range(1, n):\n    v = k"],
    ),
    "wrong_step": ("for k in range(0, n, 16):\n    v = k", ["for k in range(0, n, 1):\n    v = k"]),
}


def operate(name, body):
    """Return the mutants of a body by one operator."""
    lines = [f"    {line}" for line in body.splitlines()]
    text = "\n".join(["def kernel(a, b, i, j, m, n, p, v):", *lines, ""])
    module = types.SimpleNamespace(__name__="tiny", cuda=cuda, np=np)
    code = Code(module, "kernel", text=text)
    texts = (mutants.apply(code.text, edits) for edits in OPERATORS[name].find(code))
    return ["\n".join(line[4:] for line in text.splitlines()[1:]) for text in texts]


@pytest.mark.parametrize("name", OPERATED)
def test_an_operator_mutates_a_statement(name):
    before, expected = OPERATED[name]
    found = operate(name, before)
    assert len(found) == len(expected)
    assert all(text.endswith(end) for text, end in zip(found, expected, strict=True)), found


@pytest.mark.parametrize("name", OPERATED_BLOCKS)
def test_an_operator_on_blocks_mutates_a_body(name):
    before, expected = OPERATED_BLOCKS[name]
    assert operate(name, before) == expected


def test_every_operator_is_tested():
    assert {*OPERATED, *OPERATED_BLOCKS} == {*OPERATORS}


def test_every_operator_has_a_meaning_and_existing_kinds():
    for operator in OPERATORS.values():
        assert operator.meaning
        assert operator.right_kinds <= {*KINDS}


# The book


@functools.cache
def every():
    """Return all mutants of the book; too slow for collection."""
    return mutants.every()


def test_every_kernel_of_the_book_is_found():
    found = {(code.module.__name__, code.name) for code in mutants.book()}
    for package in {code.module.__name__ for code in mutants.book()}:
        tree = ast.parse(Path(importlib.import_module(package).__file__).read_text())
        for node in tree.body:
            if isinstance(node, ast.FunctionDef) and any(
                "jit" in ast.unparse(decorator) for decorator in node.decorator_list
            ):
                assert (package, node.name) in found


def test_every_kernel_yields_mutants():
    bare = {"activations.tanh_of"}  # one library call, which no operator mutates
    found = {mutant.subject for mutant in every()}
    assert {code.subject for code in mutants.book()} == found | bare


def test_ids_are_unique():
    assert len({mutant.id for mutant in every()}) == len(every())


def test_ids_are_reproducible():
    again = [mutant.id for mutant in mutants.of(mutants.book()[0])]
    assert [mutant.id for mutant in every()][: len(again)] == again


def test_no_two_mutants_are_the_same_program():
    assert len({(mutant.function, mutant.text) for mutant in every()}) == len(every())


def test_a_mutant_differs_from_its_kernel_in_few_lines():
    changed = [line for line in every()[0].diff.splitlines()[2:] if line[0] in "+-"]
    assert 1 <= len(changed) <= 4


def test_the_listed_equivalents_are_current_mutants():
    known = {mutant.id: mutant for mutant in every()}
    for name, entry in equivalents.read(run.EQUIVALENTS).items():
        assert name in known, f"{name} is no mutant any more: take it out of equivalents.toml"
        assert entry["change"].strip() == known[name].change, name
        assert entry["reason"]


def test_a_larger_sample_includes_the_smaller_in_the_order_of_the_book():
    small, large = mutants.sample(every(), 30), mutants.sample(every(), 90)
    assert (len(small), len(large)) == (30, 90)
    assert [m for m in large if m in small] == small
    assert [m for m in every() if m in large] == large


# Launches


def launches(kernel):
    function = kernel.py_func
    return cases.find(f"{function.__module__}.{function.__name__}")


@pytest.mark.parametrize("kernel", KERNELS)
def test_a_case_is_right_only_after_a_correct_launch(kernel):
    for case in launches(kernel):
        arguments = case.make()
        assert case.wrong(arguments)
        kernel[case.shape](*arguments)
        assert not case.wrong(arguments)


def test_a_kernel_without_launches_uses_the_small_sizes_of_its_benchmark():
    sizes = [case.make()[0].shape for case in launches(transpose.copy_kernel)]
    assert sizes == list(CASES["copy"].small) != []


def test_a_kernel_without_small_sizes_uses_its_quick_benchmark(monkeypatch):
    monkeypatch.setitem(CASES, "fill", CASES["fill"]._replace(small=()))
    cases.find.cache_clear()
    (case,) = launches(vector.fill_kernel)
    cases.find.cache_clear()
    assert case.make()[-1].shape == CASES["fill"].sizes[0]


def test_a_poisoned_output_of_a_benchmark_is_an_uninitialised_device_array():
    (case,) = launches(vector.fill_kernel)
    assert launch.is_device_array(case.make()[-1])


def test_a_grid_stride_kernel_has_more_elements_than_threads():
    (case,) = launches(vector.saxpy_grid_stride_kernel)
    assert case.make()[-1].size > 2 * case.threads


def test_a_kernel_without_any_launch_says_what_to_add():
    with pytest.raises(LookupError, match=r"Register it with a group in gpukit/bench/cases\.py"):
        cases.find("gpukit.kernels.vector.nothing_kernel")


# The oracle's faults


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.costly
def test_the_oracle_finds_no_fault_in_a_correct_kernel(kernel):
    assert truth.of_launch(kernel, launches(kernel)[-1]) == set()


def first(operator, subject):
    """Return the first mutant of a kernel by an operator."""
    return next(m for m in every() if (m.operator, m.subject) == (operator, subject))


@pytest.mark.parametrize(
    ("operator", "subject", "fault"),
    [
        ("drop_barrier", "collectives.block_tree_sum", "race"),
        ("drop_barrier", "collectives.block_sum", "race"),
        ("wrong_mask", "collectives.warp_sum", "diverged"),
        ("drop_guard", "vector.fill", "outside"),
        ("index_one_less", "vector.saxpy", "negative"),
        ("drop_store", "vector.fill", "unwritten"),
        ("drop_fill", "reduce_trees.sum_sequential", "unset"),
        ("early_return", "reduce_trees.sum_sequential", "returned"),
        ("float64_literal", "reduce.sum_grid_stride", "wide"),
    ],
)
@pytest.mark.costly
def test_the_oracle_finds_the_fault_of_a_mutant(operator, subject, fault):
    assert fault in truth.of(first(operator, subject))


def test_wrong_values_alone_are_no_fault_for_the_oracle():
    assert truth.of(first("wrong_start", "reduce.sum_grid_stride")) == ()


# The run


def test_the_pool_survives_processes_that_crash_or_hang():
    found = dict(pool.run(trouble.act, ["one", "die", "two", "hang", "three"], limit=3))
    assert found == {"one": "ONE", "die": "crashed", "two": "TWO", "hang": "hung", "three": "THREE"}


def _row(outcome, faults=(), reason="", kinds=()):
    mutant = every()[0]
    return report.Row(mutant, verdict.Verdict(mutant.id, outcome, kinds), faults, reason)


def test_figures_count_mutants_by_category():
    rows = [
        _row("right finding", ("race",)),
        _row("wrong answer", ("race",)),
        _row("wrong answer"),
        _row("survived"),
        _row("survived", reason="the same"),
        _row("rejected"),
    ]
    n = report.figures(rows)
    assert (n["mistakes"], n["flagged"]) == (4, 3)
    assert (n["forbidden"], n["right"]) == (2, 1)
    assert (n["equivalent"], n["rejected"], n["only_wrong_numbers"]) == (1, 1, 2)


def test_findings_that_the_oracle_does_not_confirm_are_counted():
    rows = [
        _row("right finding", ("race",), kinds=("global-race",)),
        _row("right finding", ("unwritten",), kinds=("global-race",)),
    ]
    assert report.figures(rows)["unconfirmed"] == 1


@pytest.mark.parametrize("fault", ["outside", "absent", "diverged", "hung", "crashed"])
def test_a_finding_is_not_unconfirmed_if_the_oracle_stopped_early(fault):
    assert not _row("right finding", (fault,), kinds=("never-written",)).unconfirmed


def test_a_finding_is_not_unconfirmed_if_the_oracle_ran_only_some_launches():
    row = _row("right finding", (), kinds=("shared-race",))
    assert row.unconfirmed
    assert not dataclasses.replace(row, whole=False).unconfirmed


def test_the_report_lists_survivors():
    assert f"`{every()[0].id}` survived" in report.markdown([_row("survived")])


def test_the_report_of_a_sample_says_of_how_many_mutants():
    assert "A sample: 1 of the 7 mutants" in report.markdown([_row("survived")], of=7)
    assert "A sample" not in report.markdown([_row("survived")], of=1)


def test_mutants_are_examined_in_child_processes():
    chosen = [first("drop_barrier", "scan.blocks.scan_block"), first("drop_guard", "vector.saxpy")]
    found = dict(pool.run(verdict.examine, chosen, workers=1, limit=run.LIMIT))
    assert {found[mutant].outcome for mutant in chosen} <= {*report.FLAGGED}
