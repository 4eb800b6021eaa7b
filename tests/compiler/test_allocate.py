"""Arrays created in kernels: np.empty under Numba's memory runtime, operators, alignment."""

import numpy as np
import pytest
from numba.core.errors import TypingError

from gpukit import cuda, errors, target
from tests.compiler.test_refusals import kernel_of

pytestmark = pytest.mark.skipif(
    target.wanted() == "cuda",
    reason="on a GPU the memory runtime is enabled before numba is imported",
)


@pytest.fixture
def memory_runtime(monkeypatch):
    monkeypatch.setenv("NUMBA_CUDA_ENABLE_NRT", "1")


def poisoned(shape, dtype=np.float64):
    return np.full(shape, np.nan, dtype)


def test_new_arrays_have_the_shape_dtype_and_values_of_numpys(memory_runtime):
    @cuda.jit
    def kernel(out):
        i = cuda.grid(1)
        a = np.zeros(3, np.int32)
        b = np.ones((2, 2), dtype=np.float32)
        c = np.full(3, 2.5)
        d = np.full(2, 7)
        e = np.empty(4)
        e[1] = i
        a[2] = i
        out[i, 0] = a[0] + a[1] + 10 * a[2]
        out[i, 1] = b[0, 0] + b[0, 1] + b[1, 0] + b[1, 1]
        out[i, 2] = c[0] + c[1] + c[2]
        out[i, 3] = d[0] // 2 + e[1] / 2

    out = poisoned((5, 4))
    kernel[5, 1](out)
    i = np.arange(5)
    np.testing.assert_array_equal(out.T, [10 * i, 4 + 0 * i, 7.5 + 0 * i, 3 + i / 2])


def test_a_new_array_outlives_the_device_function_that_creates_it(memory_runtime):
    @cuda.jit(device=True)
    def powers(x):
        result = np.empty(4, np.float64)
        for k in range(4):
            result[k] = x**k
        return result

    @cuda.jit
    def kernel(out):
        i = cuda.threadIdx.x
        mine = powers(i + 1.0)
        other = powers(2.0)
        cuda.syncthreads()
        for k in range(4):
            out[i, k] = mine[k] + 100 * other[k]

    out = poisoned((6, 4))
    kernel[1, 6](out)
    i = np.arange(6)[:, None]
    np.testing.assert_array_equal(out, (i + 1.0) ** np.arange(4) + 100 * 2.0 ** np.arange(4))


def test_access_outside_a_new_array_is_reported(memory_runtime):
    with pytest.raises(errors.OutOfBounds):
        kernel_of("x = np.empty(3)\nx[int(a[0]) + 3] = 1")[1, 1](np.zeros(1))


REFUSED = [
    (
        "in a loop",
        "for k in range(3):\n    x = np.zeros(3)  # here\n    a[k] = x[0]",
        "before the loop",
    ),
    ("in an expression", "a[0] = np.zeros(3)[1]  # here", "without a name"),
    ("shape of an argument", "x = np.empty(a.size)  # here\na[0] = x[0]", "must be a constant"),
    ("order", "x = np.zeros(3, order='F')  # here\na[0] = x[0]", "takes shape, dtype"),
    ("other functions", "x = np.arange(3)  # here\na[0] = x[0]", "np.arange"),
]


@pytest.mark.parametrize(
    ("body", "message"), [row[1:] for row in REFUSED], ids=[row[0] for row in REFUSED]
)
def test_a_new_array_that_cannot_be_a_local_array_is_refused(body, message, memory_runtime):
    with pytest.raises(errors.CompileError, match=message) as caught:
        kernel_of(body)[1, 1](np.zeros(4))
    assert caught.value.source.endswith("# here")


def test_a_new_array_in_a_device_function_called_in_a_loop_is_refused(memory_runtime):
    @cuda.jit(device=True)
    def create():
        x = np.zeros(3)
        return x

    @cuda.jit
    def kernel(out):
        for k in range(3):
            out[k] = create()[0]

    with pytest.raises(errors.Unsupported, match="before the loop"):
        kernel[1, 1](poisoned(3))


def test_np_empty_is_refused_without_the_memory_runtime(monkeypatch):
    monkeypatch.delenv("NUMBA_CUDA_ENABLE_NRT", raising=False)
    with pytest.raises(errors.Invalid, match=r"np\.empty"):
        kernel_of("x = np.empty(3)\na[0] = x[0]")[1, 1](np.zeros(4))


# Arrays created by operators


def doubled(a, out):
    b = a[1:] * 2
    out[0] = b.copy()[1]


def doubled_across_barrier(a, out):
    b = a[cuda.threadIdx.x :] * 2
    cuda.syncthreads()
    out[0] = b[1]


def test_operators_may_create_arrays_under_the_memory_runtime(memory_runtime):
    out = poisoned(1)
    cuda.jit(doubled)[1, 1](np.array([3.0, 4, 5]), out)
    assert out[0] == 10


@pytest.mark.slow
def test_reductions_of_whole_arrays_work_under_the_memory_runtime(memory_runtime):
    @cuda.jit
    def kernel(a, out):
        out[0] = np.sum(a) + a.max()

    out = poisoned(1)
    kernel[1, 1](np.array([3.0, 4, 5]), out)
    assert out[0] == 17


def test_an_operators_array_that_lives_across_a_barrier_is_refused(memory_runtime):
    with pytest.raises(errors.Unsupported, match="across a barrier"):
        cuda.jit(doubled_across_barrier)[1, 2](np.ones(3), poisoned(1))


@pytest.mark.parametrize("function", [doubled, doubled_across_barrier])
def test_operators_may_not_create_arrays_without_the_memory_runtime(function, monkeypatch):
    monkeypatch.delenv("NUMBA_CUDA_ENABLE_NRT", raising=False)
    with pytest.raises(errors.Invalid, match="creates a new array"):
        cuda.jit(function)[1, 4](np.ones(3), np.zeros(1))


def test_a_new_array_returned_from_one_of_several_returns_is_refused():
    @cuda.jit(device=True)
    def create(a):
        for k in range(3):
            if a[0]:
                return a * k
        return a

    @cuda.jit
    def kernel(a, out):
        out[0] = create(a)[0]

    with pytest.raises(errors.Invalid, match=r"return a \* k\n.* creates a new array"):
        kernel[1, 1](np.ones(3), np.zeros(1))


def test_a_new_array_returned_by_a_recursive_function_is_refused():
    @cuda.jit(device=True)
    def create(a, n):
        return a * 3 if n == 0 else create(a, n - 1)

    @cuda.jit
    def kernel(a, out):
        out[0] = create(a, 2)[0]

    with pytest.raises(errors.Invalid, match="creates a new array"):
        kernel[1, 1](np.ones(3), np.zeros(1))


def test_in_place_operations_and_views_create_no_new_array():
    @cuda.jit
    def kernel(a, out):
        row = a[1]
        row += 2
        np.sqrt(row, out)
        out[0] = a.reshape(6)[5] + a[:, 0].shape[0]

    a, out = np.full((2, 3), 7.0), poisoned(3)
    kernel[1, 1](a, out)
    assert (a.tolist(), out.tolist()) == ([[7] * 3, [9] * 3], [11, 3, 3])


# Alignment


def test_shared_and_local_arrays_accept_an_alignment():
    @cuda.jit
    def kernel(out):
        t = cuda.threadIdx.x
        tile = cuda.shared.array(8, np.float32, alignment=64)
        mine = cuda.local.array(shape=2, dtype=np.float32, alignment=16)
        plain = cuda.local.array(1, np.float32, alignment=None)
        tile[t] = t
        mine[0] = 2 * t
        plain[0] = 1
        cuda.syncthreads()
        out[t] = tile[7 - t] + mine[0] + plain[0]

    out = poisoned(8)
    kernel[1, 8](out)
    np.testing.assert_array_equal(out, 8 + np.arange(8))


@pytest.mark.parametrize("alignment", [-1, 0, 3, 4, 17])
@pytest.mark.parametrize("space", ["local", "shared"])
def test_an_impossible_alignment_is_a_value_error(space, alignment):
    body = f"x = cuda.{space}.array(4, np.uint8, alignment={alignment})  # here\nx[0] = 1"
    with pytest.raises(ValueError, match="Alignment must be a power of 2") as caught:
        kernel_of(body)[1, 1](np.zeros(4))
    assert isinstance(caught.value, errors.Invalid)
    assert caught.value.source.endswith("# here")


@pytest.mark.parametrize("alignment", ["1.0", "'16'", "int(a[0])"])
def test_an_alignment_that_is_not_a_constant_integer_is_a_typing_error(alignment):
    body = f"x = cuda.local.array(4, np.uint8, alignment={alignment})\nx[0] = 1"
    with pytest.raises(TypingError, match="alignment must be a constant integer"):
        kernel_of(body)[1, 1](np.zeros(4))


def test_shared_and_local_arrays_may_be_created_without_a_name():
    a = poisoned(4)
    kernel_of("cuda.local.array(4, np.uint8)\ncuda.shared.array(4, np.uint8)\na[0] = 1")[1, 1](a)
    assert a[0] == 1
