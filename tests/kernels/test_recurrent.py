"""Recurrent cells against their formulas, and the memory accesses of their kernels."""

import numpy as np
import pytest

import gpukit
from gpukit import cuda, launch
from gpukit.bench import cases
from gpukit.kernels import recurrent
from gpukit.kernels.recurrent import gates, lstm

GATES = {"rnn_tanh_cell": 1, "rnn_relu_cell": 1, "lstm_cell": 4, "gru_cell": 3}
# (N, I, H): all ones; around a matmul tile and a block of units; distinct primes.
SHAPES = [(1, 1, 1), (8, 16, 32), (9, 15, 33), (7, 17, 31), (3, 37, 19), (17, 2, 5)]

names = pytest.mark.parametrize("name", GATES)
every_variant = pytest.mark.parametrize("variant", ["fused", "separate"])
shapes = pytest.mark.parametrize("sizes", SHAPES, ids=str)
dtypes = pytest.mark.parametrize("dtype", [np.float32, np.float64], ids=["float32", "float64"])


class Cell:
    """A cell with random inputs; `step` and `backward` call its host functions."""

    def __init__(self, name, n, i, h, dtype=np.float64):
        draw, k = np.random.default_rng((n, i, h)), GATES[name]
        self.name, self.dtype = name, dtype
        count = 2 if name == "lstm_cell" else 1
        shapes = [(n, i), *[(n, h)] * count, (k * h, i), (k * h, h), (k * h,), (k * h,)]
        self.arrays = [draw.standard_normal(s).astype(dtype) for s in shapes]
        self.grads = [draw.standard_normal((n, h)).astype(dtype) for _ in range(count)]
        self.saved = np.full((3, n, k * h), np.nan, dtype)

    def split(self, arrays=None):
        """Return input, hx, both weights and both biases."""
        x, *states, w_ih, w_hh, b_ih, b_hh = self.arrays if arrays is None else arrays
        return x, tuple(states) if len(states) > 1 else states[0], w_ih, w_hh, b_ih, b_hh

    def step(self, arrays=None, **options):
        """Return the new state, or both new states."""
        found = getattr(gpukit, self.name)(*self.split(arrays), **options)
        return found if isinstance(found, tuple) else (found,)

    def backward(self, **options):
        """Return all gradients."""
        new = self.step(saved=self.saved)
        last = {"lstm_cell": (self.saved, new[-1]), "gru_cell": (self.saved,)}
        kept = last.get(self.name, new)
        grads = self.grads if len(self.grads) > 1 else self.grads[0]
        function = getattr(gpukit, f"{self.name}_backward")
        return function(grads, *self.split()[:4], *kept, **options)


def formula(name, arrays):
    """Return the new states in float64, gate by gate."""
    x, *states, w_ih, w_hh, b_ih, b_hh = (a.astype(float) for a in arrays)
    h, k = states[0], GATES[name]
    a, b = np.split(x @ w_ih.T + b_ih, k, axis=1), np.split(h @ w_hh.T + b_hh, k, axis=1)
    sigmoid = lambda value: 1 / (1 + np.exp(-value))
    if k == 1:
        return (np.tanh(a[0] + b[0]) if "tanh" in name else np.maximum(a[0] + b[0], 0),)
    if k == 3:
        r, z = sigmoid(a[0] + b[0]), sigmoid(a[1] + b[1])
        return ((1 - z) * np.tanh(a[2] + r * b[2]) + z * h,)
    i, f, g, o = (p + q for p, q in zip(a, b, strict=True))
    c = sigmoid(f) * states[1] + sigmoid(i) * np.tanh(g)
    return sigmoid(o) * np.tanh(c), c


def assert_equal(result, expected, terms):
    tolerance = (terms + 16) * np.finfo(result.dtype).eps * max(1, np.abs(expected).max(initial=0))
    assert result.shape == expected.shape
    assert (np.abs(result - expected) <= tolerance).all()


@names
@shapes
@dtypes
def test_states_match_the_formula(name, sizes, dtype):
    cell = Cell(name, *sizes, dtype)
    for result, expected in zip(cell.step(), formula(name, cell.arrays), strict=True):
        assert_equal(result, expected, 4 * sum(sizes))


@every_variant
@pytest.mark.parametrize("name", ["lstm_cell", "gru_cell"])
@shapes
def test_both_variants_give_the_same_states_and_gates(name, variant, sizes):
    cell = Cell(name, *sizes)
    expected = formula(name, cell.arrays)
    for result, reference in zip(
        cell.step(variant=variant, saved=cell.saved), expected, strict=True
    ):
        np.testing.assert_allclose(result, reference, atol=1e-12)
    again = np.full_like(cell.saved, np.nan)
    cell.step(saved=again)
    np.testing.assert_allclose(again, cell.saved, atol=1e-15)


@names
@pytest.mark.costly
def test_gradients_agree_with_finite_differences(name):
    cell = Cell(name, 3, 4, 5)
    step = np.cbrt(np.finfo(np.float64).eps)
    for place, gradient in enumerate(cell.backward()):
        assert gradient.shape == cell.arrays[place].shape
        for where in np.ndindex(gradient.shape):
            errors = []
            for sign in (1, -1):
                moved = [x.copy() for x in cell.arrays]
                moved[place][where] += sign * step
                new = cell.step(moved)
                errors.append(sum((g * x).sum() for g, x in zip(cell.grads, new, strict=True)))
            slope = (errors[0] - errors[1]) / (2 * step)
            assert abs(slope - gradient[where]) <= 1e-8 * max(1, abs(slope))


@names
def test_float32_gradients_match_float64(name):
    sizes = 9, 17, 33
    single, double = Cell(name, *sizes, np.float32), Cell(name, *sizes)
    double.arrays = [x.astype(float) for x in single.arrays]
    double.grads = [x.astype(float) for x in single.grads]
    for result, expected in zip(single.backward(), double.backward(), strict=True):
        assert result.dtype == np.float32
        assert_equal(result, expected, 8 * sum(sizes))


@names
def test_no_bias_equals_a_zero_bias(name):
    cell = Cell(name, 4, 5, 6)
    *rest, b_ih, b_hh = cell.arrays
    zeros = cell.step([*rest, 0 * b_ih, 0 * b_hh])
    for result, expected in zip(cell.step([*rest, None, None]), zeros, strict=True):
        np.testing.assert_array_equal(result, expected)


@names
@pytest.mark.costly
def test_a_loop_may_update_the_state_in_place(name):
    cell = Cell(name, 5, 6, 7)
    x, *states, w_ih, w_hh, b_ih, b_hh = cell.arrays
    own = [s.copy() for s in states]
    out = tuple(own) if len(own) > 1 else own[0]
    for _ in range(3):
        states = cell.step([x, *states, w_ih, w_hh, b_ih, b_hh])
        found = cell.step([x, *own, w_ih, w_hh, b_ih, b_hh], out=out, saved=cell.saved)
    for result, returned, expected in zip(own, found, states, strict=True):
        assert returned is result
        np.testing.assert_array_equal(result, expected)


@names
def test_gradients_of_the_preactivations_are_returned_to_the_caller(name):
    cell = Cell(name, 5, 6, 7)
    shape = cell.saved.shape[1:] if name != "gru_cell" else (2, *cell.saved.shape[1:])
    sums = np.full(shape, np.nan)
    *_, of_input, of_hidden = cell.backward(grad_sums=sums)
    parts = sums if name == "gru_cell" else (sums, sums)
    for result, part in zip((of_input, of_hidden), parts, strict=True):
        np.testing.assert_allclose(result, part.sum(0), atol=1e-14)


@names
def test_device_arrays_stay_on_the_device(name):
    cell = Cell(name, 5, 6, 7)
    expected = *cell.step(), *cell.backward()
    cell.arrays, cell.grads = ([cuda.to_device(x) for x in a] for a in (cell.arrays, cell.grads))
    cell.saved = cuda.to_device(cell.saved)
    for result, reference in zip((*cell.step(), *cell.backward()), expected, strict=True):
        assert launch.is_device_array(result)
        np.testing.assert_array_equal(launch.to_host(result), reference)


@names
@pytest.mark.parametrize("sizes", [(0, 3, 4), (2, 0, 4), (2, 3, 0)], ids=str)
def test_an_empty_axis_is_accepted(name, sizes):
    cell = Cell(name, *sizes)
    for result, expected in zip(cell.step(), formula(name, cell.arrays), strict=True):
        np.testing.assert_allclose(result, expected, atol=1e-12)
    for gradient, x in zip(cell.backward(), cell.arrays, strict=True):
        assert gradient.shape == x.shape
        assert np.isfinite(gradient).all()


@names
def test_large_preactivations_give_finite_states(name):
    cell = Cell(name, 4, 5, 6, np.float32)
    cell.arrays[0] *= 1e4
    assert all(np.isfinite(x).all() for x in (*cell.step(), *cell.backward()))


def test_fused_variant_moves_fewer_bytes_than_separate_gates():
    of_gates = 3 * gates.gate_sigmoid_cost(64, 256).bytes + gates.gate_tanh_cost(64, 256).bytes
    apart = of_gates + lstm.lstm_update_cost(64, 256).bytes
    assert (lstm.lstm_fused_cost(64, 256).bytes, apart) == (15 * 64 * 1024, 19 * 64 * 1024)


@names
def test_weights_of_another_number_of_gates_are_rejected(name):
    cell = Cell(name, 4, 5, 6)
    cell.arrays[-4] = np.zeros((7, 5))
    with pytest.raises(ValueError, match=rf"{name}: expected w_ih\.shape == \(\d+, 5\), got \(7"):
        cell.step()


@names
def test_a_state_of_another_batch_size_is_rejected(name):
    cell = Cell(name, 4, 5, 6)
    cell.arrays[1] = np.zeros((3, 6))
    with pytest.raises(ValueError, match=rf"{name}: expected hx?\.shape == \(4, 6\), got \(3, 6\)"):
        cell.step()


def test_an_lstm_state_that_aliases_a_weight_is_rejected():
    cell = Cell("lstm_cell", 5, 5, 5)
    with pytest.raises(ValueError, match="lstm_cell: expected out to lie apart from w_hh"):
        cell.step(out=(cell.arrays[-3][:5], None))


# ---- checker findings and profile counters --------------------------------------------------

KERNELS = [
    variant.kernel.py_func.__name__.removesuffix("_kernel") for variant in recurrent.VARIANTS
]
kernels = pytest.mark.parametrize("name", KERNELS)
N, H = 11, 37


def launch_under(watch, name, dtype=np.float32):
    """Launch a kernel under `watch` (check or profile) on arrays as wide as in its benchmark."""
    variant = cases.CASES[name].variant
    arguments = cases.make(name, quick=True).ours.arguments
    arrays = [np.array(x, dtype) for x in arguments]
    assert arrays[0].shape[0] == N
    return watch(variant.kernel)[variant.grid("test", H, N), variant.block](*arrays)


@pytest.mark.watched
@kernels
def test_checker_reports_no_findings(name):
    assert launch_under(gpukit.check, name).findings == []


@pytest.mark.watched
@kernels
def test_cost_equals_the_profile_counters(name):
    found = launch_under(gpukit.profile, name).total
    cost = cases.CASES[name].variant.cost(N, H)
    assert cost == launch.Cost(found["global_bytes_asked"], found.flops)


@pytest.mark.watched
@dtypes
@kernels
def test_kernel_arithmetic_uses_only_the_dtype_of_its_arrays(name, dtype):
    found = launch_under(gpukit.profile, name, dtype).total
    assert found[f"flops_{np.dtype(dtype).name}"] == found.flops
