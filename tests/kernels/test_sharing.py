"""Three ways to distribute a backward pass over threads: equal gradients, different costs."""

import numpy as np
import pytest

import gpukit
from gpukit import cuda, launch
from gpukit.kernels.backprop import sharing

ways = pytest.mark.parametrize("way", sharing.WAYS)
# Samples and layer widths; the last is wider than the single block of by_layer.
NETWORKS = [(1, (1, 1)), (5, (7, 3)), (17, (18, 19, 4)), (3, (5, 40, 33, 2)), (2, (3, 300, 2))]
networks = pytest.mark.parametrize(("n", "sizes"), NETWORKS, ids=str)
dtypes = pytest.mark.parametrize("dtype", [np.float32, np.float64], ids=["float32", "float64"])


def network(rng, n, sizes, dtype=np.float64):
    x = rng.standard_normal((n, sizes[0])).astype(dtype)
    pairs = zip(sizes[1:], sizes, strict=False)
    weights = [rng.standard_normal(shape).astype(dtype) for shape in pairs]
    return x, weights, rng.standard_normal((n, sizes[-1])).astype(dtype)


@networks
def test_forward_pass_is_a_sigmoid_of_each_product(n, sizes, rng):
    x, weights, _ = network(rng, n, sizes)
    for actual, weight in zip(gpukit.mlp(x, weights), weights, strict=True):
        x = 1 / (1 + np.exp(-(x @ weight.T)))
        np.testing.assert_allclose(actual, x, rtol=1e-12)


@ways
@dtypes
@networks
def test_gradients_match_the_reference(way, n, sizes, dtype, rng):
    x, weights, grad = network(rng, n, sizes, dtype)
    outputs = gpukit.mlp(x, weights)
    actual = gpukit.mlp_backward(grad, x, outputs, weights, variant=way)
    expected = sharing.mlp_backward_reference(grad, [x, *outputs], weights)
    for result, reference in zip(actual, expected, strict=True):
        assert result.dtype == dtype
        tolerance = 64 * max(*sizes, n) * np.finfo(dtype).eps * (1 + np.abs(reference).max())
        assert (np.abs(result - reference) <= tolerance).all()


@ways
def test_gradients_match_finite_differences(way, rng):
    x, weights, _ = network(rng, 3, (4, 3, 2))

    def forward(*weights):
        return gpukit.mlp(x, weights)[-1]

    def backward(grad, *weights):
        return gpukit.mlp_backward(grad, x, gpukit.mlp(x, weights), weights, variant=way)

    assert gpukit.gradcheck(forward, backward, weights)


@ways
def test_gradients_of_no_samples_are_zeros(way, rng):
    x, weights, grad = network(rng, 0, (4, 3, 2))
    actual = gpukit.mlp_backward(grad, x, gpukit.mlp(x, weights), weights, variant=way)
    assert [g.tolist() for g in actual] == [np.zeros(w.shape).tolist() for w in weights]


@ways
def test_device_arrays_stay_on_the_device(way, rng):
    x, weights, grad = network(rng, 5, (7, 6, 3))
    moved = [cuda.to_device(w) for w in weights]
    outputs = gpukit.mlp(cuda.to_device(x), moved)
    actual = gpukit.mlp_backward(
        cuda.to_device(grad), cuda.to_device(x), outputs, moved, variant=way
    )
    assert all(map(launch.is_device_array, [*outputs, *actual]))


def test_an_unknown_way_is_rejected(rng):
    x, weights, grad = network(rng, 5, (7, 3))
    expected = (
        "mlp_backward: expected variant to be one of 'by_layer', 'by_weight', 'hybrid', got 'b'"
    )
    with pytest.raises(ValueError, match=expected):
        gpukit.mlp_backward(grad, x, gpukit.mlp(x, weights), weights, variant="b")


def test_a_layer_without_outputs_is_rejected():
    x, weights = np.ones((2, 3)), [np.ones((0, 3))]
    with pytest.raises(ValueError, match=r"expected weights\[0\] to have a row for each output"):
        gpukit.mlp_backward(np.ones((2, 0)), x, gpukit.mlp(x, weights), weights)


def test_missing_outputs_are_rejected(rng):
    x, weights, grad = network(rng, 5, (7, 4, 3))
    with pytest.raises(ValueError, match="expected an array of outputs for each of 2 weights"):
        gpukit.mlp_backward(grad, x, gpukit.mlp(x, weights)[1:], weights)


def test_a_gradient_of_another_shape_is_rejected(rng):
    x, weights, grad = network(rng, 5, (7, 3))
    with pytest.raises(ValueError, match=r"mlp_backward: expected grad_out\.shape == \(5, 3\)"):
        gpukit.mlp_backward(grad.T, x, gpukit.mlp(x, weights), weights)


# ---- what each way costs --------------------------------------------------------------------

N, SIZES = 6, (20, 18, 4)


@ways
@pytest.mark.watched
def test_work_equals_the_profile_counters(way, rng, monkeypatch):
    x, weights, grad = network(rng, N, SIZES, np.float32)
    outputs = gpukit.mlp(x, weights)
    found = []

    def counting(step):
        class Counted:
            def __getitem__(self, brackets):
                def run(*arrays):
                    found.append(gpukit.profile(step.kernel)[brackets](*arrays).total)

                return run

        return step._replace(kernel=Counted())

    monkeypatch.setitem(sharing.WAYS, way, tuple(map(counting, sharing.WAYS[way])))
    gpukit.mlp_backward(grad, x, outputs, weights, variant=way)
    work = sharing.mlp_backward_work(way, N, SIZES)
    assert work.launches == len(found)
    counted = launch.Cost(sum(f["global_bytes_asked"] for f in found), sum(f.flops for f in found))
    assert work.cost == counted


@ways
@pytest.mark.watched
def test_checker_reports_no_findings(way, rng):
    x, weights, grad = network(rng, N, SIZES, np.float32)
    deltas, out = np.ones((N, 18), np.float32), np.ones((18, 20), np.float32)
    y = gpukit.mlp(x, weights)[0]
    for step in sharing.WAYS[way]:
        every = (grad, weights[1], y, x, deltas, out)
        arrays = {"delta": (grad, weights[1], y, deltas), "grad_weight": (deltas, x, out)}
        sizes = (18, N) if step.name == "delta" else (20, 18)
        grid = 1 if way == "by_layer" else step.grid("test", *sizes)
        checked = gpukit.check(step.kernel)[grid, step.block]
        assert checked(*arrays.get(step.name, every)).findings == []


def test_hybrid_has_the_threads_of_by_weight_and_the_operations_of_by_layer():
    layer, weight, both = (
        sharing.mlp_backward_work(way, 64, (784, 128, 10)) for way in sharing.WAYS
    )
    assert (layer.launches, weight.launches, both.launches) == (2, 2, 4)
    assert layer.threads == (10, 128)
    assert weight.threads == (128 * 10, 784 * 128)
    assert both.threads == (64 * 10, 128 * 10, 64 * 128, 784 * 128)
    assert both.cost.flops == layer.cost.flops
    assert weight.cost.flops > 10 * both.cost.flops
