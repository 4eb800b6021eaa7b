"""Numba's compiler without the passes that kernels have no use for.

No `with` blocks, closures, generators, array expressions or parallel loops are left in what
the emitter writes; looking for them costs a fifth of a second a kernel.
"""

from __future__ import annotations

from numba.core import compiler, typed_passes, untyped_passes
from numba.core.compiler_machinery import PassManager


class LeanCompiler(compiler.CompilerBase):  # type: ignore[misc]
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
