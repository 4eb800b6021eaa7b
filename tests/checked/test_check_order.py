"""gpukit.check runs the blocks in other orders, unless no order of atomics could show."""

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
    place = cuda.atomic.add(mine, 0, 1)  # its own block's: others do not change it
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
def after(numbers, i, steps):  # calls itself, so the checker does not see inside
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
def compared(monkeypatch):
    """The launches whose blocks ran in other orders."""
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
def test_atomics_that_no_order_can_change_are_run_once(kernel, compared):
    assert checked(kernel).findings == []
    assert compared == []


@pytest.mark.parametrize(
    "kernel", [queue_kernel, mixed_kernel, last_kernel, last_by_function_kernel, fenced_kernel]
)
def test_atomics_that_an_order_may_change_are_run_again(kernel, compared):
    checked(kernel)
    assert len(compared) == 1


def test_atomics_on_floats_are_run_again(compared):
    checked(count_kernel, np.float32)
    assert len(compared) == 1


@pytest.mark.parametrize("kernel", [queue_kernel, mixed_kernel, last_kernel])
def test_answer_that_depends_on_the_order_is_found(kernel):
    assert [f.kind for f in checked(kernel).findings] == ["block-order"]


def states():
    made = np.zeros(BLOCKS * THREADS, STATE)
    made["seed"] = np.arange(made.size) + 5
    return made


@pytest.mark.parametrize(
    ("kernel", "made"),
    [
        (drawing_kernel, states),
        (recursive_kernel, lambda: np.arange(BLOCKS * THREADS)),
        (simulated_kernel, lambda: create_xoroshiro128p_states(BLOCKS * THREADS, seed=1)),
    ],
)
@pytest.mark.costly
def test_arrays_that_functions_write_are_as_before_when_blocks_run_again(kernel, made, compared):
    given, out = made(), np.zeros(1, np.int64)
    found = gpukit.check(kernel)[BLOCKS, THREADS](given, out).findings
    assert "block-order" not in {f.kind for f in found}
    assert len(compared) == 1
