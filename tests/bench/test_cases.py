"""Every kernel of the book has a benchmark case, in which gpukit and NumPy agree."""

import importlib
import pkgutil

import numpy as np
import pytest

import gpukit.kernels
from gpukit.bench import calls, cases, register, timing
from gpukit.bench.launches import first_launch
from tests import often

MATMULS = """
    matmul_mixed matmul_tn_mixed matmul_nt_mixed matmul_int8 matmul_2_4 matmul_uncoalesced
    matmul_naive matmul_tiled matmul_padded matmul_register_tile_1d matmul_register_tile_2d
    matmul_vectorized matmul_double_buffered matmul_tensor_tf32 matmul_tensor_bf16
    matmul_warpgroup_bf16 round_bf16 matmul_batched matmul_nt_tiled matmul_nt_vectorized
    matmul_tn_tiled matmul_tn_vectorized
""".split()


# Kernels that round factors to TF32's 10-bit mantissa.
ROUNDED = ["matmul_tensor_tf32"]


def book():
    """Return the names of all kernels in the book, without their suffix."""
    for module in pkgutil.walk_packages(gpukit.kernels.__path__, "gpukit.kernels."):
        module = importlib.import_module(module.name)
        for name in vars(module):
            if name.endswith("_kernel"):
                yield name.removesuffix("_kernel")


def test_every_kernel_of_the_book_has_a_case():
    assert set(book()) == set(cases.CASES)


@pytest.mark.parametrize("name", often.each(cases.CASES, 6))
@pytest.mark.costly
def test_kernel_matches_its_reference(name):
    comparison = cases.make(name, quick=True)
    comparison.ours()
    assert timing.mistake(comparison) == ""


@pytest.mark.parametrize("name", cases.CASES)
def test_numpy_counterpart_computes_the_same_result(name):
    comparison = cases.make(name, quick=True)
    expected = comparison.expected()
    answer = np.asarray(comparison.answer(np), np.float64).reshape(expected.shape)
    tolerance = 8e-6 * max(1, comparison.terms**0.5) * np.abs(expected).max()
    if name in ROUNDED:
        tolerance += 2**-9 * np.abs(expected).max()
    assert np.abs(answer - expected).max() <= tolerance


@pytest.mark.parametrize("name", cases.CASES)
def test_a_case_states_the_minimum_bytes_to_move(name):
    assert cases.make(name, quick=True).least > 0


@pytest.mark.parametrize("name", cases.CASES)
def test_a_case_states_its_cost_and_size(name):
    comparison = cases.make(name, quick=True)
    assert comparison.cost.bytes > 0
    assert comparison.size
    assert comparison.name == name


@pytest.mark.parametrize("name", cases.CASES)
def test_no_launch_argument_is_none_which_numba_cuda_rejects(name):
    assert not any(argument is None for argument in first_launch(name).arguments)


def test_only_launches_are_timed():
    for name in cases.CASES:
        assert isinstance(cases.make(name, quick=True).ours, calls.Launch), name


def test_inputs_of_a_case_differ_from_each_other_and_their_transposes():
    """Otherwise a kernel that swaps its inputs, or rows and columns, would pass."""
    for name in cases.CASES:
        arrays = cases.make(name, quick=True).given
        first, second = (*(a for a in arrays if isinstance(a, np.ndarray)), None, None)[:2]
        if second is not None:
            assert not np.array_equal(first, second), name
            assert not np.array_equal(first, second.T), name


def test_random_inputs_are_cached():
    assert register.random(5, 7) is register.random(5, 7)
    assert (register.random(5, 7) != register.random(5, 7, draw=1)).all()


def test_no_names_select_every_case():
    assert cases.choose([]) == list(cases.CASES)


def test_a_group_selects_its_kernels():
    assert cases.choose(["matmul"]) == MATMULS


def test_a_full_name_selects_only_that_kernel():
    assert cases.choose(["saxpy"]) == ["saxpy"]


def test_a_prefix_selects_all_kernels_that_start_with_it():
    trees = ["sum_interleaved", "sum_sequential", "sum_first_add", "sum_unrolled"]
    sums = ["sum_atomic", "sum_grid_stride", "sum_shuffle", "sum_vectorized"]
    assert cases.choose(["sum"]) == trees + sums


def test_selected_names_are_unique_and_in_book_order():
    chosen = cases.choose(["matmul_naive", "sum_sequential", "matmul"])
    # Products of fewer bits come before sums, all others after.
    assert chosen == [*MATMULS[:5], "sum_sequential", *MATMULS[5:]]


def test_a_misspelt_name_suggests_the_right_one():
    with pytest.raises(register.BenchError, match="Did you mean saxpy"):
        cases.choose(["saxpi"])
