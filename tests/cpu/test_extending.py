"""Third-party extensions of kernels through `numba.cuda.extending`."""

import numpy as np
import pytest
from llvmlite import ir
from numba.core import cgutils, types
from numba.core.typing.templates import AttributeTemplate, ConcreteTemplate, signature

from gpukit import cuda, errors
from gpukit.cpu import cudadecl, cudaimpl, extending

UNARY = ir.FunctionType(ir.FloatType(), [ir.FloatType()])


@extending.intrinsic
def reciprocal_root(context, x):
    """An intrinsic with inline PTX, written with ir.InlineAsm."""

    def codegen(context, builder, signature, args):
        text = "rsqrt.approx.ftz.f32 $0, $1;"
        return builder.call(ir.InlineAsm(UNARY, text, "=f,f", side_effect=True), args)

    return types.float32(types.float32), codegen


@extending.intrinsic
def ticks(context):
    """An intrinsic with inline PTX, written with builder.asm."""

    def codegen(context, builder, signature, args):
        kind = ir.FunctionType(ir.IntType(64), [])
        return builder.asm(kind, "mov.u64 $0, %clock64;", "=l", [], True)

    return types.int64(), codegen


@extending.intrinsic
def hidden(context, x):
    """An intrinsic with empty inline assembly, which hides a value from LLVM's optimiser."""

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
    with pytest.raises(errors.Unsupported, match=f"{intrinsic} uses inline assembly") as got:
        kernel[1, 1](np.ones(1, np.float32))
    assert (got.value.kernel, f"{intrinsic}(" in got.value.source) == (function, True)
    assert "GPUKIT_TARGET=cuda" in got.value.fix


def test_empty_inline_assembly_is_compiled():
    @cuda.jit
    def kernel(x):
        x[0] = hidden(x[0])

    x = np.array([2.5])
    kernel[1, 1](x)
    assert x[0] == 2.5


# ---- a function and a type registered through Numba's low-level API ---------------------------


def doubled(x):
    """Return twice a number, in kernels."""
    raise NotImplementedError


@cudadecl.registry.register_global(doubled)
class Doubled(ConcreteTemplate):
    cases = (signature(types.float64, types.float64),)


@cudaimpl.lower(doubled, types.float64)
def lower_doubled(context, builder, sig, args):
    return builder.fadd(args[0], args[0])


class Interval:
    """An interval of real numbers."""

    def __init__(self, low, high):
        self.low, self.high = low, high


class IntervalType(types.Type):
    def __init__(self):
        super().__init__(name="Interval")


interval_type = IntervalType()


@extending.type_callable(Interval)
def type_interval(context):
    def typer(low, high):
        return interval_type

    return typer


@extending.register_model(IntervalType)
class IntervalModel(extending.core_models.StructModel):
    def __init__(self, manager, kind):
        members = [("low", types.float64), ("high", types.float64)]
        super().__init__(manager, kind, members)


extending.make_attribute_wrapper(IntervalType, "low", "low")


@extending.lower_builtin(Interval, types.Float, types.Float)
def lower_interval(context, builder, sig, args):
    interval = cgutils.create_struct_proxy(sig.return_type)(context, builder)
    interval.low, interval.high = args
    return interval._getvalue()


@cudadecl.registry.register_attr
class IntervalAttributes(AttributeTemplate):
    key = IntervalType

    def resolve_width(self, interval):
        return types.float64


@cudaimpl.lower_attr(IntervalType, "width")
def lower_width(context, builder, sig, interval):
    low, high = (builder.extract_value(interval, k) for k in (0, 1))
    return builder.fsub(high, low)


@cuda.jit
def registered_kernel(x, out):
    i = cuda.grid(1)
    if i < x.shape[0]:
        part = Interval(x[i], doubled(x[i]) + 1.0)
        out[i] = part.low + 10 * part.width


def test_functions_and_types_registered_for_cuda_work_in_kernels():
    x, out = np.arange(5.0), np.full(5, np.nan)
    registered_kernel[1, 8](x, out)
    np.testing.assert_array_equal(out, x + 10 * (x + 1))
