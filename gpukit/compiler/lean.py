"""Numba's compiler without what kernels have no use for.

No `with` blocks, closures, generators, array expressions or parallel loops are left in what
the emitter writes; looking for them costs a fifth of a second a kernel.
"""

from __future__ import annotations

import contextlib
import importlib.util
import sys
from collections.abc import Iterator

from numba.core import compiler, typed_passes, untyped_passes
from numba.core.compiler_machinery import PassManager
from numba.core.registry import cpu_target
from numba.cpython import numbers

from gpukit.compiler import assembly


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
            (typed_passes.NopythonTypeInference, "find types"),
            (typed_passes.PreLowerStripPhis, "remove phis"),
            (typed_passes.IRLegalization, "check the IR"),
            (typed_passes.NativeLowering, "make LLVM IR"),
            (typed_passes.NoPythonBackend, "make machine code"),
        ):
            manager.add_pass(kind, what)
        manager.finalize()
        return [manager]


@contextlib.contextmanager
def kernel_code() -> Iterator[None]:
    """Compile by the rules of kernels inside a `with` block: integers wrap, PTX is refused."""
    with _wrapping_integers(), assembly.refused():
        yield


@contextlib.contextmanager
def _wrapping_integers() -> Iterator[None]:
    """Let integer arithmetic wrap on overflow, as on a GPU, inside a `with` block.

    Numba tells LLVM that signed arithmetic never overflows. LLVM then drops tests that only an
    overflow could fail, those of our own bounds checks among them.
    """
    flags = numbers._int_arith_flags
    numbers._int_arith_flags = lambda _: []
    try:
        yield
    finally:
        numbers._int_arith_flags = flags


def fill_tables() -> None:
    """Let Numba load what it knows of types and functions, without importing SciPy.

    It imports all of scipy.linalg only to see whether `np.dot` will work, which takes as long as
    all the rest. Here it looks whether SciPy is there, and imports it when a product is compiled.
    """
    if "numba.np.arraymath" in sys.modules:
        _refresh()
        return
    from numba.np import linalg

    ensure, linalg.ensure_blas = linalg.ensure_blas, _require_scipy
    try:
        from numba.np import arraymath  # asks once, when it is imported
    finally:
        linalg.ensure_blas = ensure
    arraymath.ensure_blas = ensure
    _refresh()


def _require_scipy() -> None:
    if importlib.util.find_spec("scipy") is None:
        raise ImportError("SciPy is not installed")


def _refresh() -> None:
    cpu_target.typing_context.refresh()
    cpu_target.target_context.refresh()
