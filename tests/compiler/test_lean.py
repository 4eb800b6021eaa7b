"""Steps of Numba's compiler that kernels skip, and that other users of Numba still run."""

import gc
import operator

import numba
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numba.core import analysis, compiler, controlflow, imputils, targetconfig, types, typing
from numba.core.cpu import FastMathOptions

import gpukit
from gpukit import cuda
from gpukit.compiler import lean, optimise
from gpukit.compiler.kernel_target import kernel_target
from tests.safety.attempt import on_cpu

pytestmark = on_cpu
LAUNCH = """
import sys
import numpy as np
from gpukit import cuda

@cuda.jit
def double_kernel(a):
    i = cuda.grid(1)
    if i < a.size:
        a[i] *= 2

a = np.ones(37)
double_kernel[2, 32](a)
assert (a == 2).all()
"""
ARRAYS = """
import os
os.environ["NUMBA_CUDA_ENABLE_NRT"] = "1"  # lets kernels create arrays
import numba, numpy as np
from gpukit import cuda

@cuda.jit
def copied(a, out):
    out[0] = a[::2].copy().sum()

@cuda.jit
def counted(a, out):
    out[1] = np.count_nonzero(a)

out, a = np.zeros(2, np.int64), np.arange(5)
copied[1, 1](a, out)
numba.njit(lambda n: np.zeros(n).sum())(3)
counted[1, 1](a, out)
print(*out)
"""
PRODUCT = """
import numba
product = numba.njit(lambda a, b: a @ b)
print(product(np.eye(3), np.full((3, 3), 2.0))[1, 1])
"""


def run(fresh_python, tmp_path, text):
    script = tmp_path / "script.py"
    script.write_text(text)
    done = fresh_python(str(script), GPUKIT_CACHE_DIR=str(tmp_path / "cache"))
    assert done.returncode == 0, done.stderr
    return done.stdout.split()


def test_first_launch_does_not_import_scipy_linalg(fresh_python, tmp_path):
    text = LAUNCH + "print('scipy.linalg' in sys.modules)"
    assert run(fresh_python, tmp_path, text) == ["False"]


def test_kernels_may_create_arrays_after_an_njit_function_has(fresh_python, tmp_path):
    # njit registers its allocation functions at their first use, and kernels could see them.
    assert run(fresh_python, tmp_path, ARRAYS) == ["6", "4"]


def test_matrix_products_of_numba_work_after_a_launch(fresh_python, tmp_path):
    pytest.importorskip("scipy")
    assert run(fresh_python, tmp_path, LAUNCH + PRODUCT) == ["2.0"]


@pytest.mark.parametrize("n", [np.uint64(2**64 - 1), np.uint64(2**63), np.uint64(40)])
def test_a_guard_against_an_unsigned_64_bit_size_is_exact(n):
    @cuda.jit
    def mark_kernel(out, n):
        i = cuda.grid(1)
        if i < n and i < out.size:
            out[i] = i

    out = np.full(70, np.nan)
    mark_kernel[3, 32](out, n)
    most = min(int(n), 70)
    assert np.isfinite(out).sum() == most


def test_a_guard_against_a_negative_size_admits_no_thread():
    @cuda.jit
    def mark_kernel(out, n):
        i = cuda.grid(1)
        if i < n:
            out[i] = i

    out = np.full(7, np.nan)
    mark_kernel[1, 32](out, -5)
    assert np.isnan(out).all()


NAMES = st.sets(st.sampled_from("abcdefgh"), max_size=4)


@given(st.data())
def test_live_variables_are_those_of_numbas_analysis(data):
    blocks = range(data.draw(st.integers(1, 9)))
    graph = controlflow.CFGraph()
    for block in blocks:
        graph.add_node(block)
    for block in blocks[1:]:
        graph.add_edge(data.draw(st.integers(0, block - 1)), block)  # every block is reachable
    for _ in range(data.draw(st.integers(0, 9))):
        graph.add_edge(*(data.draw(st.sampled_from(blocks)) for _ in range(2)))
    graph.set_entry_point(0)
    graph.process()
    uses, defines = ({block: data.draw(NAMES) for block in blocks} for _ in range(2))
    wanted = analysis.compute_live_map(graph, dict.fromkeys(blocks), uses, defines)
    assert lean.live_map(graph, blocks, uses, defines) == wanted


@pytest.mark.parametrize("enabled", [True, False])
def test_the_garbage_collector_is_disabled_while_a_kernel_is_compiled(enabled):
    before = gc.isenabled()
    try:
        (gc.enable if enabled else gc.disable)()
        with lean.kernel_code():
            assert not gc.isenabled()
        assert gc.isenabled() is enabled
    finally:
        (gc.enable if before else gc.disable)()


def test_numbas_own_liveness_analysis_is_restored():
    usual = analysis.compute_live_map
    with lean.kernel_code():
        assert analysis.compute_live_map is lean.live_map
    assert analysis.compute_live_map is usual


# ---- equal calls are typed once --------------------------------------------------------------

CONTEXT = kernel_target.typing_context
ADD = operator.add
FLOATS = (types.float32, types.float32)


@pytest.fixture
def inferred(monkeypatch):
    """Calls that reach Numba's own type inference."""
    calls = []
    usual = typing.BaseContext.resolve_function_type

    def resolve(self, func, args, kws):
        calls.append((func, args))
        return usual(self, func, args, kws)

    monkeypatch.setattr(typing.BaseContext, "resolve_function_type", resolve)
    lean.fill_tables()
    return calls


def test_a_call_is_typed_once_per_tuple_of_argument_types(inferred):
    with lean.kernel_code():
        results = [
            CONTEXT.resolve_function_type(ADD, args, {}).return_type
            for args in (FLOATS, FLOATS, (types.int64, types.int64), FLOATS)
        ]
    assert results == [types.float32, types.float32, types.int64, types.float32]
    assert inferred.count((ADD, FLOATS)) == 1


def test_a_call_is_typed_again_under_other_flags(inferred):
    with lean.kernel_code():
        for fastmath in (False, True):
            flags = compiler.Flags()
            flags.fastmath = FastMathOptions(fastmath)
            with targetconfig.ConfigStack().enter(flags):
                CONTEXT.resolve_function_type(ADD, FLOATS, {})
    assert inferred.count((ADD, FLOATS)) == 2


def test_a_call_that_failed_to_type_is_tried_again(inferred):
    with lean.kernel_code():
        for _ in range(2):
            with pytest.raises(numba.TypingError):
                CONTEXT.resolve_function_type(operator.lshift, FLOATS, {})
    assert inferred.count((operator.lshift, FLOATS)) == 2


def test_calls_outside_kernels_are_typed_by_numba_every_time(inferred):
    with lean.kernel_code():
        with lean.kernel_code():  # a device function compiled meanwhile
            CONTEXT.resolve_function_type(ADD, FLOATS, {})
        CONTEXT.resolve_function_type(ADD, FLOATS, {})
        assert inferred.count((ADD, FLOATS)) == 1
    for _ in range(2):
        CONTEXT.resolve_function_type(ADD, FLOATS, {})
    assert inferred.count((ADD, FLOATS)) == 3


def test_registries_are_searched_only_after_a_new_registration(monkeypatch):
    contexts = kernel_target.typing_context, kernel_target.target_context
    lean.fill_tables()
    lean.fill_tables()
    searched = []
    for context in contexts:
        monkeypatch.setattr(
            type(context), "load_additional_registries", lambda self: searched.append(type(self))
        )
    lean.fill_tables()
    assert searched == []
    imputils.builtin_registry.lower(operator.matmul, types.Dummy("of a test"))(None)
    lean.fill_tables()
    assert searched == [type(kernel_target.target_context)]


def test_an_instrumented_kernel_is_optimised_in_one_round(monkeypatch):
    libraries, genuine = [], optimise.library

    def library(*args, **kwargs):
        libraries.append(genuine(*args, **kwargs))
        return libraries[-1]

    monkeypatch.setattr(optimise, "library", library)
    monkeypatch.setenv("GPUKIT_CACHE", "0")

    @cuda.jit
    def thrice(a):
        i = cuda.grid(1)
        if i < a.size:
            a[i] *= 3

    thrice[1, 32](np.ones(32))
    gpukit.check(thrice)[1, 32](np.ones(32))
    assert [len(each.rounds) for each in libraries] == [2, 1]
