"""Optimise kernels with LLVM: vectorise the loops over threads before any loop is unrolled.

Numba's own pipeline unrolls a loop over 16 threads completely and then has no loop left to
vectorise. Here the first round vectorises loops without unrolling them; the second round is the
usual one, which unrolls the rest (loops over a thread's own small arrays).
"""

from __future__ import annotations

from typing import Any, NamedTuple

import llvmlite.binding as llvm

from gpukit.compiler.kernel_target import kernel_target


def library(name: str, *, lightly: bool = False) -> Any:
    """Return an empty Numba code library that optimises in this way.

    With `lightly` in one round, in half the time: an instrumented kernel is often launched once,
    and spends most of its time in calls of the checker.
    """
    codegen = kernel_target.target_context.codegen()
    made = _library_class(codegen._library_class)(codegen, name)
    made.rounds = _LIGHT if lightly else _FULL
    return made


class _Round(NamedTuple):
    level: int
    unroll: bool


_FULL = (_Round(3, unroll=False), _Round(3, unroll=True))
_LIGHT = (_Round(2, unroll=False),)
_made: dict[Any, Any] = {}


def _library_class(base: Any) -> Any:
    if base not in _made:
        _made[base] = type("KernelLibrary", (_Rounds, base), {})
    return _made[base]


class _Rounds:
    """Replaces the steps of Numba's code library that run LLVM's passes and load the code."""

    rounds: tuple[_Round, ...]
    _codegen: Any
    _final_module: Any
    _ensure_finalized: Any
    _finalize_dynamic_globals: Any
    _verify_declare_only_symbols: Any

    def _optimize_functions(self, module: Any) -> None:
        """Skip passes on single functions: all passes run on the whole module."""
        module.data_layout = self._codegen._data_layout

    def _optimize_final_module(self) -> None:
        for one in self.rounds:
            options = llvm.create_pipeline_tuning_options(speed_level=one.level)
            options.loop_vectorization = True
            options.slp_vectorization = True
            options.loop_unrolling = one.unroll
            options.loop_interleaving = True
            builder = llvm.create_pass_builder(self._codegen._tm, options)
            passes = builder.getModulePassManager()
            passes.add_refprune_pass()
            passes.run(self._final_module, builder)

    def _finalize_final_module(self) -> None:
        """Finalise without loading: Numba's engine would never free the code."""
        self._finalize_dynamic_globals()
        self._verify_declare_only_symbols()
        self._finalized = True

    def object_code(self) -> bytes:
        """Return the machine code as an object file."""
        self._ensure_finalized()
        return self._codegen._tm.emit_object(self._final_module)  # type: ignore[no-any-return]

    def load(self) -> None:
        """Load the code into Numba's engine."""
        super()._finalize_final_module()  # type: ignore[misc]
