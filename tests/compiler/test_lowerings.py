"""Operations in kernels follow the rules of a GPU; Numba's other functions are unaffected."""

import math

import numba
import numpy as np
import pytest

from gpukit import cuda

pytestmark = pytest.mark.cpu
NAN, INF = math.nan, math.inf
LARGEST = 2**32 - 1


@cuda.jit
def edges_kernel(x, out):
    i = cuda.grid(1)
    if i < x.size:
        out[i, 0] = max(x[i], 1.0)
        out[i, 1] = math.floor(x[i])
        out[i, 2] = int(x[i])
        out[i, 3] = x[i] ** -2


@numba.njit
def edges(x):
    return max(x, 1.0), math.floor(2.5)


@numba.njit(error_model="numpy")
def inverse_square(x):
    return x**-2


def test_kernels_follow_gpu_rules_and_njit_functions_follow_numbas():
    out = np.full((2, 4), 77.0)
    edges_kernel[1, 2](np.array([NAN, 0.0]), out)
    np.testing.assert_array_equal(out, [[1.0, NAN, -(2.0**63), NAN], [1.0, 0.0, 0.0, INF]])
    assert math.isnan(edges(NAN)[0])
    assert type(edges(NAN)[1]) is int
    with pytest.raises(ZeroDivisionError):
        inverse_square(0.0)


@pytest.mark.parametrize("first", ["njit", "kernel"])
def test_a_shared_operation_follows_the_rules_of_its_caller_in_either_order(first):
    @cuda.jit
    def squares_kernel(x, out):
        out[0] = x[0] ** -4

    @numba.njit(error_model="numpy")
    def squares(x):
        return x**-4

    out = np.zeros(1)
    for caller in (first, "kernel", "njit"):
        if caller == "kernel":
            squares_kernel[1, 1](np.zeros(1), out)
            assert out[0] == INF
        else:
            with pytest.raises(ZeroDivisionError):
                squares(0.0)


def test_division_by_zero_raises_in_a_kernel_compiled_with_debug():
    @cuda.jit(debug=True, opt=False)
    def debugged_kernel(x, out):
        out[0] = 1.0 / x[0]

    with pytest.raises(ZeroDivisionError):
        debugged_kernel[1, 1](np.zeros(1), np.zeros(1))


@cuda.jit
def deposit_kernel(x, cells):
    i = cuda.grid(1)
    if i < x.size:
        cuda.atomic.add(cells, math.floor(x[i]), 1)


def test_an_atomic_accepts_the_result_of_math_floor_as_an_index():
    cells = np.zeros(4, np.int32)
    deposit_kernel[1, 32](np.array([0.5, 2.0, 2.9, 3.1, 0.0]), cells)
    np.testing.assert_array_equal(cells, [2, 0, 2, 1])


# PTX atom, and numba-cuda's loops around atom.cas (cudadrv/nvvm.py): max and min store nothing if
# either operand is NaN, nanmax and nanmin only if the value is; 0 and -0 compare equal.
ATOMICS = [
    ("max", "f8", NAN, 1.0, NAN),
    ("max", "f8", 1.0, NAN, 1.0),
    ("max", "f4", -0.0, 0.0, -0.0),
    ("max", "f4", 0.0, -0.0, 0.0),
    ("max", "f8", -INF, -1.0, -1.0),
    ("min", "f8", NAN, 1.0, NAN),
    ("min", "f8", 1.0, NAN, 1.0),
    ("min", "f4", 0.0, -0.0, 0.0),
    ("min", "f8", INF, 1.0, 1.0),
    ("nanmax", "f8", NAN, 1.0, 1.0),
    ("nanmax", "f8", 1.0, NAN, 1.0),
    ("nanmax", "f4", NAN, NAN, NAN),
    ("nanmin", "f4", NAN, 1.0, 1.0),
    ("nanmin", "f8", 1.0, NAN, 1.0),
    ("nanmin", "f8", 2.0, 1.0, 1.0),
    ("add", "f4", INF, -INF, NAN),
    ("add", "i4", 2**31 - 1, 1, -(2**31)),
    ("add", "u8", 2**64 - 1, 2, 1),
    ("sub", "u4", 0, 1, LARGEST),
    ("sub", "i8", -(2**63), 1, 2**63 - 1),
    ("max", "u4", LARGEST, 1, LARGEST),
    ("min", "u8", 2**64 - 1, 1, 1),
    ("max", "i4", -1, 1, 1),
    ("inc", "u4", 3, 3, 0),
    ("inc", "u4", 2, 3, 3),
    ("inc", "u4", LARGEST, 3, 0),
    ("inc", "u8", 2**64 - 1, 5, 0),
    ("inc", "u4", 0, 0, 0),
    ("dec", "u4", 0, 3, 3),
    ("dec", "u4", 3, 3, 2),
    ("dec", "u4", 4, 3, 3),
    ("dec", "u8", 0, 7, 7),
    ("dec", "u4", 5, 0, 0),
    ("exch", "i4", 5, -1, -1),
    ("and_", "u4", LARGEST, 6, 6),
    ("xor", "i8", -1, -1, 0),
]


def atomic_kernel(name, *, shared):
    operation = getattr(cuda.atomic, name)

    @cuda.jit
    def global_kernel(a, value, old):
        old[0] = operation(a, 0, value[0])

    @cuda.jit
    def shared_kernel(a, value, old):
        own = cuda.shared.array(1, a.dtype)
        own[0] = a[0]
        old[0] = operation(own, 0, value[0])
        a[0] = own[0]

    return shared_kernel if shared else global_kernel


@pytest.mark.parametrize("shared", [False, True], ids=["global", "shared"])
@pytest.mark.parametrize("name", sorted({row[0] for row in ATOMICS}))
@pytest.mark.costly
def test_atomics_at_the_edges_of_the_types_follow_numba_cuda(name, shared):
    kernel = atomic_kernel(name, shared=shared)
    for _, kind, before, value, after in (row for row in ATOMICS if row[0] == name):
        a, old = np.array([before], kind), np.full(1, 77, kind)
        kernel[1, 1](a, np.array([value], kind), old)
        got = np.array([a[0], old[0]])
        np.testing.assert_array_equal(
            got, np.array([after, before], kind), err_msg=f"{kind} {value}"
        )
        if kind[0] == "f":
            signs = np.signbit(got[got == got])
            wanted = [v for v in (after, before) if v == v]
            np.testing.assert_array_equal(signs, np.signbit(wanted), err_msg=f"{kind} {value}")
