"""gpukit.check runs blocks in another order if order-dependent atomics could show."""

import numpy as np
import pytest

import gpukit
from gpukit import cuda
from gpukit.checked import order
from gpukit.cpu.random import create_xoroshiro128p_states, xoroshiro128p_uniform_float32

BLOCKS, THREADS = 5, 7


@cuda.jit
def count_kernel(keys, out):
    cuda.atomic.add(out, keys[cuda.grid(1)], 1)
    if keys[0] < 0:
        cuda.atomic.sub(out, 0, 2)


@cuda.jit
def count_in_shared_kernel(keys, out):
    mine = cuda.shared.array(1, np.int32)
    if cuda.threadIdx.x == 0:
        mine[0] = 0
    cuda.syncthreads()
    place = cuda.atomic.add(mine, 0, 1)  # private to the block: other blocks do not change it
    out[cuda.grid(1)] = keys[cuda.blockIdx.x * cuda.blockDim.x + place]


@cuda.jit
def queue_kernel(keys, out):
    place = cuda.atomic.add(out, 0, 1)
    if cuda.threadIdx.x == 0:
        cuda.atomic.max(out, 1, keys[cuda.grid(1)] + place)


@cuda.jit
def mixed_kernel(keys, out):
    cuda.atomic.add(out, 0, 1)
    cuda.atomic.max(out, keys[0], 100 * cuda.blockIdx.x)


@cuda.jit
def last_kernel(keys, out):
    cuda.atomic.exch(out, 0, keys[cuda.grid(1)])


@cuda.jit
def fenced_kernel(keys, out):
    cuda.threadfence()
    cuda.atomic.add(out, 0, 1)


@cuda.jit(device=True)
def put(out, value):
    cuda.atomic.exch(out, 0, value)


@cuda.jit
def last_by_function_kernel(keys, out):
    put(out, keys[cuda.grid(1)])


STATE = np.dtype([("seed", np.uint64), ("spare", np.uint64)])


@cuda.jit(device=True)
def drawn(states, i):
    number = states[np.int64(i)]["seed"] * np.uint64(6364136223846793005) + np.uint64(1)
    states[np.int64(i)]["seed"] = number
    return number >> np.uint64(60)


@cuda.jit
def drawing_kernel(states, out):
    cuda.atomic.add(out, 0, np.int64(drawn(states, cuda.grid(1))))


@cuda.jit("int64(int64[::1], int64, int64)", device=True)
def after(numbers, i, steps):  # recursive, so the checker does not instrument it
    numbers[i] = numbers[i] * 5 + 1
    if steps > 1:
        return after(numbers, i, steps - 1)
    return numbers[i]


@cuda.jit
def recursive_kernel(numbers, out):
    cuda.atomic.add(out, 0, after(numbers, cuda.grid(1), 2))


@cuda.jit
def simulated_kernel(states, out):
    i = cuda.grid(1)
    if xoroshiro128p_uniform_float32(states, i) < np.float32(0.5):
        cuda.atomic.add(out, 0, i)


@pytest.fixture
def compared_launches(monkeypatch):
    """Return the list of launches whose blocks ran in another order."""
    launches = []

    def compare(launch, *rest):
        launches.append(launch)
        return kept(launch, *rest)

    kept = order.compare
    monkeypatch.setattr(order, "compare", compare)
    return launches


def checked(kernel, dtype=np.int32):
    keys = (np.arange(BLOCKS * THREADS) % 4).astype(np.int32)
    return gpukit.check(kernel)[BLOCKS, THREADS](keys, np.zeros(BLOCKS * THREADS, dtype))


@pytest.mark.parametrize("kernel", [count_kernel, count_in_shared_kernel])
def test_order_independent_atomics_are_run_once(kernel, compared_launches):
    assert checked(kernel).findings == []
    assert compared_launches == []


@pytest.mark.parametrize(
    "kernel", [queue_kernel, mixed_kernel, last_kernel, last_by_function_kernel, fenced_kernel]
)
def test_order_dependent_atomics_are_run_in_another_order(kernel, compared_launches):
    checked(kernel)
    assert len(compared_launches) == 1


def test_float_atomics_are_run_in_another_order(compared_launches):
    checked(count_kernel, np.float32)
    assert len(compared_launches) == 1


@pytest.mark.parametrize("kernel", [queue_kernel, mixed_kernel, last_kernel])
def test_order_dependent_result_is_found(kernel):
    assert [f.kind for f in checked(kernel).findings] == ["block-order"]


def states():
    arrays = np.zeros(BLOCKS * THREADS, STATE)
    arrays["seed"] = np.arange(arrays.size) + 5
    return arrays


@pytest.mark.parametrize(
    ("kernel", "make_arrays"),
    [
        (drawing_kernel, states),
        (recursive_kernel, lambda: np.arange(BLOCKS * THREADS)),
        (simulated_kernel, lambda: create_xoroshiro128p_states(BLOCKS * THREADS, seed=1)),
    ],
)
@pytest.mark.costly
def test_arrays_written_by_functions_are_restored_before_blocks_run_again(
    kernel, make_arrays, compared_launches
):
    arrays, out = make_arrays(), np.zeros(1, np.int64)
    found = gpukit.check(kernel)[BLOCKS, THREADS](arrays, out).findings
    assert "block-order" not in {f.kind for f in found}
    assert len(compared_launches) == 1
