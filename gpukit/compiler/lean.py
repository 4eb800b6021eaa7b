"""Numba's compiler without the passes that kernels do not need.

The emitted code has no `with` blocks, closures, generators, array expressions or parallel loops;
looking for them costs a fifth of a second per kernel.
"""

from __future__ import annotations

import contextlib
import gc
import importlib.util
import sys
import warnings
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from numba.core import (
    analysis,
    compiler,
    compiler_machinery,
    errors,
    postproc,
    transforms,
    typed_passes,
    untyped_passes,
)
from numba.core.compiler_machinery import PassManager
from numba.core.target_extension import target_override
from numba.cpython import numbers

from gpukit import interrupts
from gpukit.compiler import assembly
from gpukit.compiler.kernel_target import NAME, kernel_target
from gpukit.compiler.runtime import lowerings  # noqa: F401  (adds functions)


@compiler_machinery.register_pass(mutates_CFG=True, analysis_only=False)
class FindTypes(typed_passes.NopythonTypeInference):
    """Infer types; for overloads that check Numba's current target it is "cuda"."""

    _name = "gpukit_find_types"

    def run_pass(self, state: Any) -> bool:
        with target_override("cuda"):
            return bool(super().run_pass(state))


@compiler_machinery.register_pass(mutates_CFG=True, analysis_only=False)
class InlineOverloads(typed_passes.InlineOverloads):
    """Inline overloads with `inline="always"`, if such were ever called."""

    _name = "gpukit_inline_overloads"

    def run_pass(self, state: Any) -> bool:
        if not any(template._inline_overloads for template in state.typingctx.inlined):
            return False
        with warnings.catch_warnings():  # a harmless one at the second call of an overload
            warnings.simplefilter("ignore", errors.NumbaIRAssumptionWarning)
            return bool(super().run_pass(state))


class LeanCompiler(compiler.CompilerBase):
    """Bytecode to typed IR to machine code, and nothing else."""

    def define_pipelines(self) -> list[PassManager]:
        """Return the one pipeline."""
        manager = PassManager("gpukit")
        for kind, what in (
            (untyped_passes.TranslateByteCode, "read the bytecode"),
            (untyped_passes.FixupArgs, "fix up arguments"),
            (untyped_passes.IRProcessing, "process the IR"),
            (untyped_passes.RewriteSemanticConstants, "fold constants"),
            (untyped_passes.DeadBranchPrune, "drop dead branches"),
            (untyped_passes.GenericRewrites, "rewrite idioms such as static indexing"),
            (untyped_passes.ReconstructSSA, "single assignment form"),
            (FindTypes, "find types"),
            (typed_passes.PreLowerStripPhis, "remove phis"),
            (InlineOverloads, "put in overloads that ask for it"),
            (typed_passes.IRLegalization, "check the IR"),
            (typed_passes.NativeLowering, "make LLVM IR"),
            (typed_passes.NoPythonBackend, "make machine code"),
        ):
            manager.add_pass(kind, what)
        manager.finalize()
        return [manager]


@contextlib.contextmanager
def kernel_code() -> Iterator[None]:
    """Compile by the rules of kernels inside a `with` block: integers wrap, PTX is rejected."""
    with (
        _wrapping_integers(),
        assembly.refused(),
        _quick_liveness(),
        _lifetimes_when_asked(),
        _no_search_for_cycles(),
        target_override(NAME),
        kernel_target.typing_context.calls_typed_once(),
    ):
        yield


@contextlib.contextmanager
def _no_search_for_cycles() -> Iterator[None]:
    """Disable Python's garbage collector in a `with` block: Numba makes many objects, few cycles.

    Looking for cycles repeatedly takes a sixth of a compilation, a third of a long one.
    """
    searching = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if searching:
            gc.enable()


@contextlib.contextmanager
def _quick_liveness() -> Iterator[None]:
    """Make Numba compute live variables by `live_map` inside a `with` block."""
    usual = analysis.compute_live_map
    analysis.compute_live_map = live_map
    try:
        yield
    finally:
        analysis.compute_live_map = usual


@contextlib.contextmanager
def _lifetimes_when_asked() -> Iterator[None]:
    """Make Numba compute the lifetimes of variables only on request inside a `with` block.

    It computes them after every pass that changes something, for generators and lifted loops, which
    kernels do not have; this takes a tenth of a compilation.
    """
    usual = postproc.PostProcessor.run

    def run(self: Any, emit_dels: bool = False, extend_lifetimes: bool = False) -> None:
        if emit_dels or self.func_ir.is_generator:
            usual(self, emit_dels, extend_lifetimes)
            return
        self.func_ir.blocks = transforms.canonicalize_cfg(self.func_ir.blocks)
        self.func_ir.variable_lifetime = postproc.VariableLifetime(self.func_ir.blocks)
        self.func_ir.generator_info = None

    postproc.PostProcessor.run = run
    try:
        yield
    finally:
        postproc.PostProcessor.run = usual


def live_map(
    graph: Any, blocks: Iterable[int], uses: dict[int, set[str]], defines: dict[int, set[str]]
) -> dict[int, set[str]]:
    """Return the variables that are live at the entry of each basic block.

    The same as `numba.core.analysis.compute_live_map`, whose sets of names take a third of the
    compile time of a kernel with thousands of variables. Here a set is the bits of one integer.
    """
    numbers: dict[str, int] = {}

    def bits(names: Iterable[str]) -> int:
        return sum(1 << numbers.setdefault(name, len(numbers)) for name in names)

    used, defined = ({k: bits(names[k]) for k in blocks} for names in (uses, defines))
    order = graph.topo_order()
    after = {k: [block for block, _ in graph.successors(k)] for k in order}
    before = {k: [block for block, _ in graph.predecessors(k)] for k in order}
    reached = {k: used[k] | defined[k] for k in blocks}
    while _spread(order, after, reached, lambda k, _: reached[k]):
        pass
    alive = dict(used)
    while _spread(order[::-1], before, alive, lambda k, to: alive[k] & reached[to] & ~defined[to]):
        pass
    names = list(numbers)
    return {k: {names[number] for number in _ones(found)} for k, found in alive.items()}


def _spread(
    order: list[int],
    targets: dict[int, list[int]],
    sets: dict[int, int],
    of: Callable[[int, int], int],
) -> bool:
    """Propagate sets to each block's successors; return whether any changed."""
    news = False
    for block in order:
        for target in targets[block]:
            grown = sets[target] | of(block, target)
            news |= grown != sets[target]
            sets[target] = grown
    return news


def _ones(number: int) -> Iterator[int]:
    """Yield the positions of the bits that are set."""
    while number:
        lowest = number & -number
        yield lowest.bit_length() - 1
        number ^= lowest


@contextlib.contextmanager
def _wrapping_integers() -> Iterator[None]:
    """Let integer arithmetic wrap on overflow, as on a GPU, inside a `with` block.

    Numba marks signed arithmetic as never overflowing (`nsw`). LLVM then drops tests that only an
    overflow could fail, gpukit's own bounds checks among them.
    """
    flags = numbers._int_arith_flags
    numbers._int_arith_flags = lambda _: []
    try:
        yield
    finally:
        numbers._int_arith_flags = flags


def fill_tables() -> None:
    """Load Numba's registries of types and functions without importing SciPy.

    Ctrl-C is delayed until it is done.

    Numba imports all of scipy.linalg only to see whether `np.dot` will work, which takes as long as
    all the rest. Here it checks whether SciPy is installed, and imports it when a matrix product is
    compiled.
    """
    with interrupts.held():
        if "numba.np.arraymath" not in sys.modules:
            _import_without_scipy()
        kernel_target.typing_context.refresh()
        kernel_target.target_context.refresh()


def _import_without_scipy() -> None:
    from numba.np import linalg

    ensure, linalg.ensure_blas = linalg.ensure_blas, _require_scipy
    try:
        from numba.np import arraymath  # checks once, when it is imported
    finally:
        linalg.ensure_blas = ensure
    arraymath.ensure_blas = ensure


def _require_scipy() -> None:
    if importlib.util.find_spec("scipy") is None:
        raise ImportError("SciPy is not installed")
