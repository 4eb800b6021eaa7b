"""Optimizers: one step and many steps against the reference, fused steps, clipping."""

import inspect

import numpy as np
import pytest

import gpukit
from gpukit import cuda, launch
from gpukit.kernels import optimizers
from gpukit.kernels.optimizers import adam, adaptive, clip, fused, gradient, loss_scale
from gpukit.primitives import vectorized

BLOCK = fused.BLOCK
# Kernels of an optimizer, its host function, and the options that tests pass.
STEPS = {
    "sgd": (gradient.SGD_VARIANTS, gpukit.sgd_step, {}),
    "momentum": (gradient.MOMENTUM_VARIANTS, gpukit.momentum_step, {"dampening": 0.25, "step": 2}),
    "nesterov": (gradient.NESTEROV_VARIANTS, gpukit.nesterov_step, {}),
    "adagrad": (adaptive.ADAGRAD_VARIANTS, gpukit.adagrad_step, {"step": 3, "lr_decay": 0.5}),
    "rmsprop": (adaptive.RMSPROP_VARIANTS, gpukit.rmsprop_step, {}),
    "adadelta": (adaptive.ADADELTA_VARIANTS, gpukit.adadelta_step, {}),
    "adam": (adam.ADAM_VARIANTS, gpukit.adam_step, {"step": 3}),
    "adamw": (adam.ADAMW_VARIANTS, gpukit.adamw_step, {"step": 3}),
}
COUNTED = [n for n, (_, step, _) in STEPS.items() if "step" in inspect.signature(step).parameters]
SIZES = [1, 2, 3, 4, 5, 4 * BLOCK - 1, 4 * BLOCK, 4 * BLOCK + 5, 4099]

every_step = pytest.mark.parametrize("name", STEPS)
dtypes = pytest.mark.parametrize("dtype", [np.float32, np.float64], ids=["float32", "float64"])
# The vectorized kernels accept only float32.
forms = pytest.mark.parametrize(
    ("at", "dtype"),
    [(0, np.float32), (0, np.float64), (1, np.float32)],
    ids=["float32", "float64", "vectorized"],
)


def states_of(name):
    return STEPS[name][0][0].kernel.py_func.__code__.co_argcount - 3


def arrays(name, rng, n, dtype):
    """Return a parameter, its gradient and its states, as after earlier steps."""
    values = [rng.standard_normal(n) for _ in range(2 + states_of(name))]
    if name not in ("momentum", "nesterov"):
        values[2:] = map(np.abs, values[2:])
    return [x.astype(dtype) for x in values]


@pytest.fixture
def use_float4(monkeypatch):
    """Make host functions choose the vectorized kernels, as on a GPU."""

    def pays(*vectors):
        return all(x.dtype == np.float32 and vectorized.is_aligned(x) for x in vectors)

    monkeypatch.setattr(vectorized, "pays", pays)


def run(name, inputs, **more):
    """Run a step in place on copies; return the parameter and the states."""
    _, step, defaults = STEPS[name]
    own = [x.copy() for x in inputs]
    step(*own, **(defaults | {"weight_decay": 0.1} | more))
    np.testing.assert_array_equal(own[1], inputs[1])
    return own[0], *own[2:]


def reference(name, inputs, **more):
    variants, _, defaults = STEPS[name]
    result = variants[0].reference(*inputs, **(defaults | {"weight_decay": 0.1} | more))
    return result if isinstance(result, tuple) else (result,)


def assert_same(actual, expected, dtype):
    for result, reference in zip(actual, expected, strict=True):
        assert result.dtype == dtype
        tolerance = 16 * np.finfo(dtype).eps * (1 + np.abs(reference))
        assert (np.abs(result.astype(float) - reference) <= tolerance).all()


@every_step
@forms
@pytest.mark.parametrize("n", SIZES)
def test_step_matches_the_reference(name, at, dtype, n, rng, request):
    if at:
        request.getfixturevalue("use_float4")
    inputs = arrays(name, rng, n, dtype)
    assert_same(run(name, inputs), reference(name, inputs), dtype)


@every_step
@dtypes
def test_a_hundred_steps_match_the_reference(name, dtype, rng):
    variants, step, defaults = STEPS[name]
    actual = [rng.standard_normal(37).astype(dtype), None]
    actual += [np.zeros(37, dtype) for _ in range(states_of(name))]
    expected = [x if x is None else x.astype(float) for x in actual]
    for number in range(1, 101):
        actual[1] = expected[1] = rng.standard_normal(37).astype(dtype)
        options = defaults | {"weight_decay": 0.01}
        if "step" in defaults:
            options["step"] = number
        step(*actual, **options)
        result = variants[0].reference(*expected, **options)
        expected[0], *expected[2:] = result if isinstance(result, tuple) else (result,)
    error = np.linalg.norm(actual[0] - expected[0]) / np.linalg.norm(expected[0])
    assert error < (1e-6 if dtype == np.float32 else 1e-14)


@every_step
@pytest.mark.parametrize("gradient", [0.001, 1000.0])
def test_nan_gradient_makes_only_its_weight_nan(name, gradient, rng):
    inputs = arrays(name, rng, 9, np.float32)
    inputs[1][:] = gradient
    inputs[1][4] = np.nan
    actual, *_ = run(name, inputs)
    assert np.isnan(actual).tolist() == [k == 4 for k in range(9)]


@every_step
def test_zero_gradients_and_states_leave_weights_unchanged(name, rng):
    inputs = arrays(name, rng, 9, np.float32)
    for array in inputs[1:]:
        array[:] = 0
    actual, *_ = run(name, inputs, weight_decay=0)
    np.testing.assert_array_equal(actual, inputs[0])


@pytest.mark.parametrize("step", [gpukit.adam_step, gpukit.adamw_step])
@dtypes
def test_first_step_does_not_depend_on_the_size_of_the_gradient(step, dtype):
    param, grad = np.zeros(4, dtype), np.array([0.001, 1000, -0.001, -1000], dtype)
    step(param, grad, np.zeros(4, dtype), np.zeros(4, dtype), step=1, lr=0.5)
    np.testing.assert_allclose(param, [-0.5, -0.5, 0.5, 0.5], rtol=1e-4)


def test_dampening_does_not_apply_to_the_first_step():
    param, grad, velocity = np.zeros(1), np.ones(1), np.zeros(1)
    gpukit.momentum_step(param, grad, velocity, dampening=0.75, step=1)
    assert velocity[0] == 1
    gpukit.momentum_step(param, grad, velocity, dampening=0.75, step=2)
    assert velocity[0] == 0.9 + 0.25


@every_step
def test_arrays_of_any_shape_are_updated(name, rng):
    inputs = arrays(name, rng, 24, np.float32)
    shaped = [x.reshape(2, 3, 4) for x in inputs]
    for actual, flat in zip(run(name, shaped), run(name, inputs), strict=True):
        np.testing.assert_array_equal(actual, flat.reshape(2, 3, 4))


@every_step
def test_empty_arrays_stay_empty(name, rng):
    assert [x.shape for x in run(name, arrays(name, rng, 0, np.float32))] == [(0,)] * (
        1 + states_of(name)
    )


@every_step
def test_device_arrays_are_updated_in_place(name, rng):
    _, step, defaults = STEPS[name]
    inputs = arrays(name, rng, 1001, np.float32)
    moved = [cuda.to_device(x) for x in inputs]
    assert step(*moved, **defaults, weight_decay=0.1) is None
    for device, expected in zip([moved[0], *moved[2:]], run(name, inputs), strict=True):
        np.testing.assert_array_equal(device.copy_to_host(), expected)


@every_step
@forms
def test_misaligned_and_strided_arrays_are_updated(name, at, dtype, rng, request):
    if at:
        request.getfixturevalue("use_float4")
    inputs = arrays(name, rng, 50, dtype)
    wide_ones = [np.full((50, 3), 7, dtype) for _ in inputs]
    for whole, array in zip(wide_ones, inputs, strict=True):
        whole[:, 1] = array
    _, step, defaults = STEPS[name]
    step(*(whole[1:, 1] for whole in wide_ones), **defaults, weight_decay=0.1)
    expected = run(name, [x[1:] for x in inputs])
    for whole, answer in zip([wide_ones[0], *wide_ones[2:]], expected, strict=True):
        np.testing.assert_array_equal(whole[1:, 1], answer)
        assert (whole[:, [0, 2]] == 7).all()


@every_step
def test_another_learning_rate_compiles_no_new_kernel(name, rng):
    (variant, _), _, _ = STEPS[name]
    inputs = arrays(name, rng, 9, np.float32)
    run(name, inputs)
    before = len(variant.kernel.overloads)
    run(name, inputs, lr=0.123)
    assert len(variant.kernel.overloads) == before


@every_step
def test_a_state_of_another_shape_is_rejected(name, rng):
    *inputs, last = arrays(name, rng, 9, np.float32)
    with pytest.raises(ValueError, match=rf"{name}_step: expected \w+\.shape == \(9,\), got"):
        run(name, [*inputs, last[1:]])


@every_step
def test_a_read_only_parameter_is_rejected(name, rng):
    inputs = arrays(name, rng, 9, np.float32)
    inputs[0].flags.writeable = False
    _, step, defaults = STEPS[name]
    with pytest.raises(ValueError, match=rf"{name}_step: expected param to be writeable"):
        step(*inputs, **defaults)


@pytest.mark.parametrize("name", COUNTED)
def test_steps_are_counted_from_one(name, rng):
    with pytest.raises(ValueError, match=f"{name}_step: expected step >= 1, got 0"):
        run(name, arrays(name, rng, 9, np.float32), step=0)


def test_dampening_without_a_step_is_rejected():
    with pytest.raises(ValueError, match=r"momentum_step: expected step with dampening=0\.5"):
        gpukit.momentum_step(np.ones(3), np.ones(3), np.ones(3), dampening=0.5)


# ---- many parameters in one launch ----------------------------------------------------------

LAYERS = [(3, 5), (5,), (), (2, 0), (4, 4, 4), (7,)]


def test_flat_views_are_views_of_one_array_of_zeros():
    flat, views = gpukit.flat_views(LAYERS)
    assert [view.shape for view in views] == LAYERS
    assert flat.copy_to_host().tolist() == [0] * (16 + 8 + 4 + 64 + 8)
    for number, view in enumerate(views, 1):
        view.copy_to_device(np.full(view.shape, number, np.float32))
    counts = np.bincount(flat.copy_to_host().astype(int)).tolist()
    assert counts == [1 + 3 + 3 + 1, 15, 5, 1, 0, 64, 7]


def test_flat_views_are_aligned_to_16_bytes():
    _, views = gpukit.flat_views(LAYERS)
    assert all(vectorized.is_aligned(view) for view in views)


@every_step
def test_one_launch_on_a_flat_array_equals_one_launch_per_layer(name, rng):
    _, step, defaults = STEPS[name]
    packed = [gpukit.flat_views(LAYERS) for _ in range(2 + states_of(name))]
    layers = [arrays(name, rng, int(np.prod(shape)), np.float32) for shape in LAYERS]
    for number, shape in enumerate(LAYERS):
        for (_, views), array in zip(packed, layers[number], strict=True):
            views[number].copy_to_device(array.reshape(shape))
    step(*(flat for flat, _ in packed), **defaults)
    for number, shape in enumerate(LAYERS):
        step(*layers[number], **defaults)
        for (_, views), array in zip(packed, layers[number], strict=True):
            np.testing.assert_array_equal(views[number].copy_to_host(), array.reshape(shape))


# ---- clipping -------------------------------------------------------------------------------


@forms
@pytest.mark.parametrize("sizes", [(1,), (3, 4, 5), (4 * BLOCK + 5, 0, 1), (300_001,)], ids=str)
@pytest.mark.parametrize("max_norm", [0.5, 1e6])
def test_clipped_gradients_match_the_reference(at, dtype, sizes, max_norm, rng, request):
    if at:
        request.getfixturevalue("use_float4")
    grads = [rng.standard_normal(n).astype(dtype) for n in sizes]
    expected, norm = clip.clip_grad_norm_reference(grads, max_norm)
    found = gpukit.clip_grad_norm(grads, max_norm)
    tolerance = 64 * np.finfo(dtype).eps
    assert (found.shape, found.dtype) == ((1,), dtype)
    np.testing.assert_allclose(found[0], norm, rtol=tolerance)
    for result, reference in zip(grads, expected, strict=True):
        np.testing.assert_allclose(result, reference, rtol=tolerance)


def test_gradients_below_max_norm_are_bit_identical(rng):
    grads = rng.standard_normal(1000).astype(np.float32)
    before = grads.copy()
    gpukit.clip_grad_norm(grads, 1000)
    np.testing.assert_array_equal(grads, before)


def test_norm_of_device_arrays_stays_on_the_device(rng):
    grads = [cuda.to_device(rng.standard_normal((3, 5)).astype(np.float32)) for _ in range(2)]
    expected, norm = clip.clip_grad_norm_reference([g.copy_to_host() for g in grads], 1)
    found = gpukit.clip_grad_norm(grads, 1)
    assert launch.is_device_array(found)
    np.testing.assert_allclose(found.copy_to_host(), [norm], rtol=1e-5)
    np.testing.assert_allclose([g.copy_to_host() for g in grads], expected, rtol=1e-5)


def test_a_nan_in_one_gradient_makes_all_gradients_nan():
    grads = [np.ones(3, np.float32), np.array([np.nan], np.float32)]
    assert np.isnan(gpukit.clip_grad_norm(grads, 1)).all()
    assert np.isnan(grads[0]).all()


def test_clipping_is_bit_identical_from_run_to_run(rng):
    grads = rng.standard_normal(500_000).astype(np.float32)
    first, second = grads.copy(), grads.copy()
    norms = [gpukit.clip_grad_norm(x, 1).tobytes() for x in (first, second)]
    assert (norms[0], first.tobytes()) == (norms[1], second.tobytes())


def test_norm_of_empty_gradients_is_zero():
    assert gpukit.clip_grad_norm(np.zeros((0, 3)), 1).tolist() == [0]


def test_clipping_an_empty_list_is_rejected():
    with pytest.raises(ValueError, match="clip_grad_norm: expected grads to hold an array"):
        gpukit.clip_grad_norm([], 1)


@pytest.mark.parametrize("bad", [np.ones(3, np.int32), [1.0, 2.0]], ids=["int32", "list"])
def test_clipping_rejects_anything_but_float_arrays(bad):
    with pytest.raises(TypeError, match=r"clip_grad_norm: expected grads\[0\] to be a float32 or"):
        gpukit.clip_grad_norm(bad, 1)


def test_clipping_rejects_mixed_dtypes():
    with pytest.raises(TypeError, match=r"expected grads\[0\], grads\[1\] to have one dtype"):
        gpukit.clip_grad_norm([np.ones(3), np.ones(3, np.float32)], 1)


# ---- checker findings and profile counters --------------------------------------------------

every_variant = pytest.mark.parametrize(
    "variant", optimizers.VARIANTS, ids=lambda variant: variant.name
)
N = 4 * BLOCK + 7


def launch_under(watch, variant, dtype, n=N):
    """Launch a kernel under `watch` (check or profile) on ones; return the report."""

    def ones(size=n):
        return np.ones(size, dtype)

    if variant in clip.VARIANTS:
        blocks = variant.grid("test", n)[0]
        inputs = {
            "square_sum": (ones(), 0, ones(blocks)),
            "clip_scale": (ones(), dtype(1), ones(1), ones(1)),
            "scale": (ones(1), ones()),
        }[variant.name.removesuffix("_vectorized")]
        grid = 1 if variant is clip.CLIP_SCALE else blocks
        return watch(variant.kernel)[grid, BLOCK](*inputs)
    if variant in loss_scale.VARIANTS:
        found = np.zeros(1, np.int32)
        return watch(variant.kernel)[variant.grid("test", n), BLOCK](dtype(0.5), found, ones())
    name = variant.name.removesuffix("_vectorized")
    states = [ones() for _ in range(states_of(name))]
    counts = {"sgd": 2, "momentum": 4, "nesterov": 3, "adagrad": 3, "adam": 7, "adamw": 7}
    rates = (dtype(0.5),) * counts.get(name, 5)
    return watch(variant.kernel)[variant.grid("test", n), BLOCK](ones(), ones(), *states, rates)


@pytest.mark.watched
@every_variant
def test_checker_reports_no_findings(variant):
    assert launch_under(gpukit.check, variant, np.float32).findings == []


@pytest.mark.watched
@every_variant
def test_cost_equals_the_profile_counters(variant):
    found = launch_under(gpukit.profile, variant, np.float32).total
    assert variant.cost(N) == launch.Cost(found["global_bytes_asked"], found.flops)


@pytest.mark.watched
@pytest.mark.parametrize(
    ("variant", "dtype"),
    [
        (variant, np.dtype(dtype).type)
        for variant in optimizers.VARIANTS
        for dtype in variant.dtypes
    ],
    ids=lambda value: getattr(value, "name", None) or value.__name__,
)
def test_kernel_arithmetic_uses_only_the_dtype_of_its_arrays(variant, dtype):
    found = launch_under(gpukit.profile, variant, dtype).total
    assert found[f"flops_{np.dtype(dtype).name}"] == found.flops
