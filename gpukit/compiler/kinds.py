"""Classify intrinsics by what they do: barriers, shuffles, votes, array creation."""

from __future__ import annotations

import ast

from gpukit.compiler import intrinsics, tree

BARRIERS = frozenset(intrinsics.BARRIER_NAMES)
SHUFFLES = frozenset(intrinsics.SHUFFLE_NAMES)
VOTES = frozenset(intrinsics.VOTE_NAMES)
MATCHES = frozenset(["match_any_sync", "match_all_sync"])
GRID_SYNC = "cg.sync"
# The marks that `lowering.lockstep` puts after the accesses of instrumented kernels.
LOCKSTEP = "lockstep"  # all threads of the block synchronise here
IN_STEP = "in_step"  # all threads of a row first do what comes before it
# Calls at which threads of a block synchronise or exchange values.
SYNC_POINTS = BARRIERS | SHUFFLES | VOTES | {"syncwarp", GRID_SYNC, LOCKSTEP}
ON_BITS = frozenset(["popc", "clz", "brev", "ffs"])
ARRAYS = frozenset(["shared.array", "local.array"])
THREAD_VALUES = frozenset([f"threadIdx.{a}" for a in tree.AXES] + ["laneid", "lanemask_lt"])
BLOCK_VALUES = frozenset(
    [f"{n}.{a}" for n in ("blockIdx", "blockDim", "gridDim") for a in tree.AXES]
)
VALUES = THREAD_VALUES | BLOCK_VALUES | {"warpsize"}


def makes_array(s: ast.stmt) -> bool:
    """Tell whether a statement creates a shared or local array."""
    return isinstance(s, ast.Assign) and tree.called(s.value) in ARRAYS


def own_arrays(body: list[ast.stmt]) -> set[str]:
    """Return the names of the shared and local arrays that statements create."""
    return {n for s in tree.statements(body) if makes_array(s) for n in tree.writes(s)}


def synchronises(node: ast.AST, inlined: frozenset[str] = frozenset()) -> bool:
    """Tell whether a tree contains a call at which threads synchronise.

    `inlined` names the device functions that contain such calls themselves.
    """
    for n in ast.walk(node):
        if isinstance(n, ast.Call):
            if tree.called(n) in SYNC_POINTS:
                return True
            if isinstance(n.func, ast.Name) and n.func.id in inlined:
                return True
    return False


def is_in_step(node: ast.AST) -> bool:
    """Tell whether a statement is a lockstep mark for the threads of a row."""
    return isinstance(node, ast.Expr) and tree.called(node.value) == IN_STEP


def any_synchronises(body: list[ast.stmt]) -> bool:
    """Tell whether a list of statements contains a call at which threads synchronise."""
    return any(synchronises(s) for s in body)
