"""Overloads for "cuda", "cpu" or all targets: where they apply, and how they are checked."""

import numba
import numba.extending as core
import numpy as np
import pytest
from numba.core import cpu, target_extension, types, typing
from numba.core import errors as numba_errors

import gpukit
from gpukit import cuda, errors
from gpukit.cpu import extending, target
from tests.compiler import texts


def stub():
    """Return a new function that only overloads implement."""

    def function(*args):
        raise NotImplementedError

    return function


def result(body, value=2.0, **names):
    """Return the value that a kernel with this body stores."""
    out = np.full(1, np.nan)
    texts.kernel_of(body, "x, out", **names)[1, 1](np.array([value, 5.0]), out)
    return out[0]


# ---- targets ------------------------------------------------------------------------------------


@pytest.mark.parametrize("register", [core.overload, extending.overload])
@pytest.mark.parametrize("options", [{}, {"target": "cuda"}, {"target": "gpu"}, {"strict": False}])
@pytest.mark.costly
def test_an_overload_works_in_kernels_and_device_functions(register, options):
    triple = stub()
    register(triple, **options)(lambda x: lambda x: x * 3)
    device = cuda.jit(device=True)(lambda x: triple(x) + 1)
    assert result("out[0] = f(x[0]) + d(x[0])", f=triple, d=device) == 13


@pytest.mark.parametrize("inline", ["always", "never", lambda *_: True])
@pytest.mark.costly
def test_an_overload_works_inlined_or_not(inline):
    answer = stub()
    extending.overload(answer, inline=inline)(lambda x: lambda x: x + 40)
    assert result("out[0] = f(x[0])\nout[0] = f(out[0])", f=answer) == 82


def test_jit_options_and_literals_reach_the_overload():
    power = stub()

    @extending.overload(power, jit_options={"fastmath": True}, prefer_literal=True)
    def ol_power(x, n):
        if isinstance(n, types.IntegerLiteral):
            value = n.literal_value
            return lambda x, n: x * value
        return lambda x, n: -1.0

    assert result("out[0] = f(x[0], 7)", f=power) == 14


@pytest.mark.parametrize("first", ["generic", "cuda"])
def test_the_overload_for_cuda_wins_in_kernels_and_the_generic_one_on_the_host(first):
    which = stub()
    order = [("generic", 1), ("cuda", 2)] if first == "generic" else [("cuda", 2), ("generic", 1)]
    for name, value in order:
        core.overload(which, target=name)(_always(value))
    assert result("out[0] = f(x[0])", f=which) == 2
    assert numba.njit(lambda x: which(x))(1.0) == 1


def _always(value):
    return lambda x: lambda x: value


def test_an_overload_for_cuda_does_not_leak_into_njit():
    only = stub()
    core.overload(only, target="cuda")(lambda x: lambda x: x)
    assert result("out[0] = f(x[0])", f=only) == 2
    with pytest.raises(numba_errors.NumbaError):
        numba.njit(lambda x: only(x))(1.0)


def only(x):
    """Implemented on the host only."""
    raise NotImplementedError


def test_an_overload_for_the_cpu_is_refused_in_kernels_with_advice():
    core.overload(only, target="cpu")(lambda x: lambda x: x)
    with pytest.raises(errors.KernelTypeError, match="another target") as got:
        result("out[0] = only(x[0])", only=only)
    assert '@overload(only, target="cuda")' in got.value.fix


@pytest.mark.parametrize("kernel_first", [True, False])
def test_methods_and_attributes_have_one_implementation_per_target(kernel_first):
    name = f"which_{kernel_first}"
    for target_, value in (("generic", 1), ("cuda", 2)):
        core.overload_method(types.Array, name, target=target_)(_always(value))
        core.overload_attribute(types.Array, f"{name}_too", target=target_)(_always(value))
    scope = {}
    exec(f"def f(x): return x.{name}() + 10 * x.{name}_too", scope)
    host = numba.njit(scope["f"])
    if not kernel_first:
        assert host(np.ones(2)) == 11
    assert result(f"out[0] = x.{name}() + 10 * x.{name}_too") == 22
    assert host(np.ones(2)) == 11


def test_an_njit_function_calls_the_overloads_of_its_compilation_target():
    which, outer = stub(), stub()
    core.overload(which)(lambda x: lambda x: 1)
    core.overload(which, target="cuda")(lambda x: lambda x: 2)
    helper = numba.njit(lambda x: which(x) * 10)
    core.overload(outer, target="cuda")(lambda x: lambda x: helper(x))
    assert result("out[0] = f(x[0])", f=outer) == 20
    assert helper(1.0) == 10


def test_a_register_jitable_function_remains_callable_from_python():
    @extending.register_jitable
    def plus(x):
        return x + 1

    @extending.register_jitable(inline="always")
    def plus_two(x):
        return x + 2

    assert result("out[0] = f(x[0]) + g(x[0])", f=plus, g=plus_two) == 7
    assert (plus(1), plus_two(1)) == (2, 3)


def test_an_overloaded_method_may_have_the_name_of_an_array_method():
    core.overload_method(types.Float, "sum", target="cuda")(lambda v: lambda v: v + 1)
    core.overload_method(types.Float, "mean", target="cuda")(lambda v: lambda v: v + 2)
    assert result("out[0] = x[0].sum() * x[0].mean()") == 12


# ---- contexts -----------------------------------------------------------------------------------


def test_an_intrinsic_for_cuda_gets_the_contexts_of_the_cuda_target():
    seen = []

    @core.intrinsic(target="cuda")
    def seven(typingctx):
        local = target_extension.get_local_target(typingctx)
        seen.extend(
            [
                isinstance(typingctx, target.CUDATypingContext),
                isinstance(typingctx, typing.Context),
                local.inherits_from(target_extension.target_registry["cuda"]),
                local.inherits_from(target_extension.target_registry["cpu"]),
                target_extension.current_target(),
            ]
        )

        def codegen(context, builder, signature, args):
            seen.append(isinstance(context, target.CUDATargetContext))
            return context.get_constant(types.int64, 7)

        return types.int64(), codegen

    assert result("out[0] = f()", f=seven) == 7
    assert seen[:5] == [True, False, True, False, "cuda"]
    assert seen[-1] is True


def test_the_contexts_of_the_host_are_not_those_of_cuda():
    context = numba.core.registry.cpu_target.typing_context
    assert not isinstance(context, target.CUDATypingContext)
    assert isinstance(numba.core.registry.cpu_target.target_context, cpu.CPUContext)


# ---- implementations are device functions -------------------------------------------------------


def thread_index():
    """Return the thread's index in the grid, in kernels."""
    raise NotImplementedError


@core.overload(thread_index, target="cuda")
def ol_thread_index():
    return lambda: cuda.threadIdx.x + cuda.blockIdx.x * cuda.blockDim.x


def bump(x, i):
    """Add one to an element, in kernels."""
    raise NotImplementedError


@core.overload(bump, target="cuda")
def ol_bump(x, i):
    def bump_impl(x, i):
        x[i] += 1

    return bump_impl


@core.overload_method(types.Array, "bumped", target="cuda")
def ol_bumped(x, i):
    def bumped_impl(x, i):
        x[i] = x[i] + 1

    return bumped_impl


def block_total(v):
    """Return the sum of a block of 32 threads, in kernels."""
    raise NotImplementedError


@core.overload(block_total, target="cuda")
def ol_block_total(v):
    kind = v

    def impl(v):
        values = cuda.shared.array(32, kind)
        values[cuda.threadIdx.x] = v
        cuda.syncthreads()
        total = v * 0
        for k in range(32):
            total += values[k]
        return total

    return impl


@cuda.jit
def totals_kernel(x, out):
    out[thread_index()] = block_total(x[thread_index()])


@pytest.mark.parametrize("dtype", [np.float32, np.int64])
def test_an_overload_may_read_its_thread_index_and_synchronize(dtype):
    x, out = np.arange(64, dtype=dtype), np.full(64, -1, dtype)
    totals_kernel[2, 32](x, out)
    np.testing.assert_array_equal(out, x.reshape(2, 32).sum(1).repeat(32))


@cuda.jit
def racing_kernel(x):
    bump(x, 0)


@cuda.jit
def racing_method_kernel(x):
    x.bumped(0)


@cuda.jit
def outside_kernel(x):
    bump(x, thread_index() + 100)


@pytest.mark.parametrize("kernel", [racing_kernel, racing_method_kernel])
def test_a_race_inside_an_overload_is_found_at_its_line(kernel):
    report = gpukit.check(kernel)[1, 32](np.zeros(32))
    races = [f for f in report.findings if f.kind == "global-race"]
    assert len(races) == 1
    assert "x[i]" in races[0].source


def test_an_out_of_bounds_access_inside_an_overload_raises():
    with pytest.raises(errors.OutOfBounds, match=r"index 100 is outside x") as got:
        outside_kernel[1, 32](np.zeros(32))
    assert got.value.source.strip() == "x[i] += 1"
