"""How LLVM optimises kernels: vectorise the loops over threads before anything is unrolled.

Numba's own pipeline unrolls a loop over 16 threads completely and then finds no loop left to
vectorise. Here a first round leaves loops as they are and vectorises them; the second round
is the usual one, which unrolls what is left (loops over a thread's own small arrays).
"""

from __future__ import annotations

from typing import Any

import llvmlite.binding as llvm
from numba.core.registry import cpu_target


def library(name: str) -> Any:
    """Return an empty numba code library that optimises in this way."""
    codegen = cpu_target.target_context.codegen()
    made = _library_class(codegen._library_class)(codegen, name)
    made.enable_object_caching()
    return made


_made: dict[Any, Any] = {}


def _library_class(base: Any) -> Any:
    if base not in _made:
        _made[base] = type("KernelLibrary", (_Rounds, base), {})
    return _made[base]


class _Rounds:
    """Replaces the two steps of numba's code library that run LLVM's passes."""

    _codegen: Any
    _final_module: Any

    def _optimize_functions(self, module: Any) -> None:
        """Leave single functions alone: all passes run on the whole module."""
        module.data_layout = self._codegen._data_layout

    def _optimize_final_module(self) -> None:
        for unroll in (False, True):
            options = llvm.create_pipeline_tuning_options(speed_level=3)
            options.loop_vectorization = True
            options.slp_vectorization = True
            options.loop_unrolling = unroll
            options.loop_interleaving = True
            builder = llvm.create_pass_builder(self._codegen._tm, options)
            passes = builder.getModulePassManager()
            passes.add_refprune_pass()
            passes.run(self._final_module, builder)
