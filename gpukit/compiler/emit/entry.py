"""Emit the entry of a kernel: its parameters, its arguments, the loop over blocks.

The function runs blocks `_first` to `_last`. Its other parameters are addresses: of the argument
buffer, of the error context and of scratch memory.
"""

from __future__ import annotations

import ast

from gpukit.compiler import tree
from gpukit.compiler.emit.kernel import Kernel
from gpukit.compiler.runtime import storage

PARAMETERS = ("_args", "_first", "_last", "_context", "_scratch")
GEOMETRY = [f"{n}_{a}" for n in ("gridDim", "blockDim") for a in tree.AXES]
HEADER_BYTES = 8 * 8  # six sizes, the bytes of dynamic shared memory, one spare word


def parameters(kernel: Kernel) -> list[str]:
    """Return the names of the parameters of the function of loops."""
    return [*kernel.arguments, "_first", "_last"] if kernel.options.readable else list(PARAMETERS)


def prologue(kernel: Kernel) -> list[ast.stmt]:
    """Return the statements that read geometry and arguments from the argument buffer."""
    new: list[ast.stmt] = []
    mark = kernel.rewriter.helper("control", "mark_stack")
    new.append(ast.Expr(tree.call(mark, tree.name("_context"))))
    header = tree.call(kernel.rewriter.helper("storage", "header"), tree.name("_args"))
    fixed = dict(zip(GEOMETRY[3:], kernel.options.block or (0, 0, 0), strict=True))
    known = {name: size for name, size in fixed.items() if size}
    names = [f"_{name}" if name in known else name for name in (*GEOMETRY, "_dynamic_bytes")]
    new.append(_unpack(names, header))
    new += [tree.assign(name, tree.const(size)) for name, size in known.items()]
    new += flat_axes(kernel)
    offset = HEADER_BYTES
    for name, kind in kernel.arguments.items():
        argument = storage.argument(kind, offset, distinct=kernel.options.distinct)
        read = kernel.rewriter.bind(f"argument_{name}", argument)
        new.append(tree.assign(name, tree.call(read, tree.name("_args"))))
        offset += storage.value_size(kind)
    return [
        *new,
        *(tree.assign(given(kernel, n), tree.name(n)) for n in written_parameters(kernel)),
    ]


def written_parameters(kernel: Kernel) -> list[str]:
    """Return the parameters that the kernel assigns to: each block starts with the argument."""
    written = tree.writes(kernel.unit.tree)
    return [name for name in kernel.arguments if name in written]


def given(kernel: Kernel, name: str) -> str:
    """Return the name of the argument passed for a parameter."""
    return kernel.unit.named("_given_{}", name)


def flat_axes(kernel: Kernel) -> list[ast.stmt]:
    """Return the statements that set the thread indices for which there is no loop."""
    sizes = zip(tree.AXES, kernel.options.block or (0, 0, 0), strict=True)
    flat = [axis for axis, size in sizes if size == 1 and axis != "x"]
    return [tree.assign(f"threadIdx_{axis}", tree.const(0)) for axis in flat]


def block_index(block: str) -> list[ast.stmt]:
    """Return the statements that compute the indices of a block from its linear index."""
    return tree.stmts(
        f"blockIdx_x = {block} % gridDim_x\n"
        f"blockIdx_y = {block} // gridDim_x % gridDim_y\n"
        f"blockIdx_z = {block} // (gridDim_x * gridDim_y)"
    )


def before_first_block() -> list[ast.stmt]:
    """Start one before the first block: incrementing is cheaper than dividing for each block."""
    return [*block_index("_first"), *tree.stmts("blockIdx_x = blockIdx_x - 1")]


def next_block(kernel: Kernel) -> list[ast.stmt]:
    """Return the statements that advance the indices to the next block, and enter it."""
    index = [tree.name(f"blockIdx_{a}") for a in tree.AXES]
    size = [tree.name("gridDim_x"), tree.name("gridDim_y")]
    following = tree.call(kernel.rewriter.helper("control", "next_block"), *index, *size)
    return [_unpack([f"blockIdx_{a}" for a in tree.AXES], following), *enter_block(kernel)]


def enter_block(kernel: Kernel) -> list[ast.stmt]:
    """Return the statements that run before each block."""
    return [poll(kernel), note(kernel)]


def poll(kernel: Kernel) -> ast.stmt:
    """Return the statement that stops the kernel if this was requested."""
    return ast.Expr(tree.call(kernel.rewriter.helper("control", "poll"), tree.name("_context")))


def note(kernel: Kernel) -> ast.stmt:
    """Return the statement that records which block runs, for errors."""
    begin = kernel.rewriter.helper("control", "begin_block")
    index = [tree.name(f"blockIdx_{a}") for a in tree.AXES]
    return ast.Expr(tree.call(begin, tree.name("_context"), *index))


def _unpack(names: list[str], value: ast.expr) -> ast.stmt:
    targets: list[ast.expr] = [tree.store(n) for n in names]
    return ast.Assign([ast.Tuple(targets, ast.Store())], value)
