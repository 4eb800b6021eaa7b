"""Numba's compiler without what kernels have no use for.

No `with` blocks, closures, generators, array expressions or parallel loops are left in what
the emitter writes; looking for them costs a fifth of a second a kernel.
"""

from __future__ import annotations

import contextlib
import functools
import gc
import importlib.util
import operator
import sys
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from numba.core import analysis, compiler, ir, typed_passes, types, untyped_passes
from numba.core.compiler_machinery import PassManager
from numba.core.registry import cpu_target
from numba.core.types.functions import BaseFunction
from numba.core.typing.templates import _IntrinsicTemplate
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
    with (
        _wrapping_integers(), assembly.refused(), _quick_liveness(), _quick_variables(),
        _quick_signatures(), _no_search_for_cycles(),
    ):  # fmt: skip
        yield


@contextlib.contextmanager
def _no_search_for_cycles() -> Iterator[None]:
    """Let Python's collector rest inside a `with` block: Numba makes many objects, few cycles.

    Looking for them again and again takes a sixth of a compilation, a third of a long one.
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
    """Let Numba find live variables by `live_map` inside a `with` block."""
    usual = analysis.compute_live_map
    analysis.compute_live_map = live_map
    try:
        yield
    finally:
        analysis.compute_live_map = usual


def live_map(
    graph: Any, blocks: Iterable[int], uses: dict[int, set[str]], defines: dict[int, set[str]]
) -> dict[int, set[str]]:
    """Return the variables that are alive at the entry of each block.

    The same as `numba.core.analysis.compute_live_map`, whose sets of names take a third of the
    time of a kernel of thousands of variables. Here a set is the bits of one integer.
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
    order: list[int], targets: dict[int, list[int]], sets: dict[int, int],
    of: Callable[[int, int], int],
) -> bool:  # fmt: skip
    """Add to the sets of each block's targets what goes there; tell whether that was news."""
    news = False
    for block in order:
        for target in targets[block]:
            grown = sets[target] | of(block, target)
            news |= grown != sets[target]
            sets[target] = grown
    return news


def _ones(number: int) -> Iterator[int]:
    """Yield the places of the bits that are set."""
    while number:
        lowest = number & -number
        yield lowest.bit_length() - 1
        number ^= lowest


@contextlib.contextmanager
def _quick_variables() -> Iterator[None]:
    """Let Numba list the variables of a statement by `variables` inside a `with` block."""
    usual = ir.Inst._rec_list_vars
    ir.Inst._rec_list_vars = variables
    try:
        yield
    finally:
        ir.Inst._rec_list_vars = usual


_NO_VARIABLES = frozenset([str, int, bool, float, type(None), ir.Loc])


def variables(instruction: ir.Inst, value: Any) -> list[ir.Var]:
    """Return the variables of a part of Numba's IR, from left to right.

    The same as `numba.core.ir.Inst._rec_list_vars`, which asks for all other kinds first of what
    most parts are, a name, a number or a place in the source.
    """
    kind = type(value)
    if kind is ir.Var:
        return [value]
    if kind in _NO_VARIABLES:
        return []
    if isinstance(value, ir.Inst):
        return value.list_vars()  # type: ignore[no-any-return]
    if isinstance(value, dict):
        value = value.values()
    elif not isinstance(value, (list, tuple)):
        return [value] if isinstance(value, ir.Var) else []
    return [one for part in value for one in variables(instruction, part)]


@contextlib.contextmanager
def _quick_signatures() -> Iterator[None]:
    """Let Numba find at once, the second time, what a call returns inside a `with` block.

    For an operator it tries all that it knows of arrays, strings and sets before it comes to
    numbers; for an intrinsic it first looks for new ones. That takes a tenth of a compilation.
    """
    BaseFunction.get_call_type, _IntrinsicTemplate.generic = _call_type, _intrinsic
    try:
        yield
    finally:
        BaseFunction.get_call_type, _IntrinsicTemplate.generic = _SLOW_CALL_TYPE, _SLOW_INTRINSIC


_SLOW_CALL_TYPE, _SLOW_INTRINSIC = BaseFunction.get_call_type, _IntrinsicTemplate.generic
_OPERATORS = frozenset(getattr(operator, name) for name in operator.__all__)
_NUMBERS = (types.Number, types.Boolean, types.IntegerLiteral, types.BooleanLiteral)


def _call_type(function: Any, context: Any, arguments: Any, named: Any) -> Any:
    quick = function.typing_key in _OPERATORS and not named
    if quick and all(isinstance(kind, _NUMBERS) for kind in arguments):
        return _of_numbers(function, context, tuple(arguments))
    return _SLOW_CALL_TYPE(function, context, arguments, named)


@functools.lru_cache(10_000)
def _of_numbers(function: Any, context: Any, arguments: tuple[Any, ...]) -> Any:
    return _SLOW_CALL_TYPE(function, context, arguments, {})


def _intrinsic(template: Any, arguments: Any, named: Any) -> Any:
    key = template.context, tuple(arguments), tuple(named.items())
    return template._impl_cache.get(key) or _SLOW_INTRINSIC(template, arguments, named)


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
