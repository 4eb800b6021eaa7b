"""What other people's code adds to kernels, by way of `numba.cuda.extending`."""

import numpy as np
import pytest
from llvmlite import ir
from numba.core import types

from gpukit import cuda, errors
from gpukit.cpu import extending

UNARY = ir.FunctionType(ir.FloatType(), [ir.FloatType()])


@extending.intrinsic
def reciprocal_root(context, x):
    """An intrinsic as a GPU's author writes it: PTX."""

    def codegen(context, builder, signature, args):
        text = "rsqrt.approx.ftz.f32 $0, $1;"
        return builder.call(ir.InlineAsm(UNARY, text, "=f,f", side_effect=True), args)

    return types.float32(types.float32), codegen


@extending.intrinsic
def ticks(context):
    """The same, by the other way to write it, and with nothing that LLVM's x86 would refuse."""

    def codegen(context, builder, signature, args):
        kind = ir.FunctionType(ir.IntType(64), [])
        return builder.asm(kind, "mov.u64 $0, %clock64;", "=l", [], True)

    return types.int64(), codegen


@extending.intrinsic
def hidden(context, x):
    """An empty text is no assembly: it keeps a value from LLVM's optimiser on any machine."""

    def codegen(context, builder, signature, args):
        return builder.asm(ir.FunctionType(ir.DoubleType(), [ir.DoubleType()]), "", "=r,0", args, 1)

    return types.float64(types.float64), codegen


@cuda.jit
def in_a_kernel(x):
    x[0] = reciprocal_root(x[0])


@cuda.jit(device=True)
def helper(x):
    return reciprocal_root(x)


@cuda.jit
def in_a_device_function(x):
    x[0] = helper(x[0])


@cuda.jit
def without_arguments(x):
    x[0] = ticks()


@pytest.mark.parametrize(
    ("kernel", "function", "intrinsic"),
    [
        (in_a_kernel, "in_a_kernel", "reciprocal_root"),
        (in_a_device_function, "helper", "reciprocal_root"),
        (without_arguments, "without_arguments", "ticks"),
    ],
)
def test_inline_assembly_is_refused_at_the_line_that_calls_the_intrinsic(
    kernel, function, intrinsic
):
    with pytest.raises(errors.Unsupported, match=f"{intrinsic} is made of inline assembly") as got:
        kernel[1, 1](np.ones(1, np.float32))
    assert (got.value.kernel, f"{intrinsic}(" in got.value.source) == (function, True)
    assert "GPUKIT_TARGET=cuda" in got.value.fix


def test_an_empty_assembly_text_is_compiled():
    @cuda.jit
    def kernel(x):
        x[0] = hidden(x[0])

    x = np.array([2.5])
    kernel[1, 1](x)
    assert x[0] == 2.5
