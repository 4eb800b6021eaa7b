"""What every host function promises: `out`, `stream`, and results that lie where the inputs lie."""

import numpy as np
import pytest

from gpukit import cuda, launch
from gpukit.kernels import (
    activations,
    activations_grad,
    attention,
    augment,
    backprop,
    batch_norm,
    batch_norm_grad,
    conv,
    dot,
    dropout,
    embedding,
    extremes,
    histogram,
    image,
    layer_norm,
    layer_norm_grad,
    losses,
    matmul,
    matvec,
    optimizers,
    philox,
    pool,
    pool_grad,
    recurrent,
    reduce,
    scan,
    softmax,
    transpose,
    vector,
)
from gpukit.kernels.conv import one_d
from tests.foreign import Foreign


def numbers(*shape):
    return np.random.default_rng(20261122).standard_normal(shape).astype(np.float32)


def cell(gates):
    """Input, state, both weights and both biases of a recurrent cell."""
    wide = gates * 5
    shapes = (3, 4), (3, 5), (wide, 4), (wide, 5), (wide,), (wide,)
    return tuple(numbers(*shape) for shape in shapes)


CLASSES = np.array([0, 4, 2, 1, -100, 3, 3], np.int32)

# A host function of arrays, the arrays, and the shape of what it returns.
CASES = {
    "fill": (lambda **options: vector.fill(7, 2.5, **options), (), (7,)),
    "vector_add": (vector.vector_add, (numbers(7), numbers(7)), (7,)),
    "saxpy": (lambda x, y, **o: vector.saxpy(2.5, x, y, **o), (numbers(7), numbers(7)), (7,)),
    "matmul": (matmul.matmul, (numbers(3, 5), numbers(5, 4)), (3, 4)),
    "batched_matmul": (matmul.batched_matmul, (numbers(2, 3, 5), numbers(2, 5, 4)), (2, 3, 4)),
    "linear": (backprop.linear, (numbers(3, 4), numbers(5, 4), numbers(5)), (3, 5)),
    "column_sum": (backprop.column_sum, (numbers(3, 4),), (4,)),
    "add_bias": (backprop.add_bias, (numbers(3, 4), numbers(4)), (3, 4)),
    "bias_relu": (backprop.bias_relu, (numbers(3, 4), numbers(4)), (3, 4)),
    "bias_gelu": (backprop.bias_gelu, (numbers(3, 4), numbers(4)), (3, 4)),
    "matvec": (matvec.matvec, (numbers(3, 5), numbers(5)), (3,)),
    "relu": (activations.relu, (numbers(2, 3, 5),), (2, 3, 5)),
    "sigmoid": (activations.sigmoid, (numbers(3, 5),), (3, 5)),
    "tanh": (activations.tanh, (numbers(7),), (7,)),
    "gelu": (activations.gelu, (numbers(3, 5),), (3, 5)),
    "relu_grad": (activations_grad.relu_grad, (numbers(3, 5), numbers(3, 5)), (3, 5)),
    "sigmoid_grad": (activations_grad.sigmoid_grad, (numbers(7), numbers(7)), (7,)),
    "tanh_grad": (activations_grad.tanh_grad, (numbers(3, 5), numbers(3, 5)), (3, 5)),
    "gelu_grad": (activations_grad.gelu_grad, (numbers(2, 3, 5), numbers(2, 3, 5)), (2, 3, 5)),
    "conv2d": (conv.conv2d, (numbers(2, 2, 5, 5), numbers(3, 2, 2, 2), numbers(3)), (2, 3, 4, 4)),
    "conv1d": (conv.conv1d, (numbers(2, 2, 9), numbers(3, 2, 3), numbers(3)), (2, 3, 7)),
    "max_pool2d": (lambda x, **o: pool.max_pool2d(x, 2, **o), (numbers(2, 3, 5, 6),), (2, 3, 2, 3)),
    "avg_pool2d": (lambda x, **o: pool.avg_pool2d(x, 2, **o), (numbers(2, 3, 5, 6),), (2, 3, 2, 3)),
    "avg_pool2d_backward": (
        lambda grad, **o: pool_grad.avg_pool2d_backward(grad, (2, 3, 5, 6), 2, **o),
        (numbers(2, 3, 2, 3),),
        (2, 3, 5, 6),
    ),
    "max_pool2d_backward": (
        lambda grad, at, **o: pool_grad.max_pool2d_backward(grad, at, (2, 3, 5, 6), 2, **o),
        (numbers(2, 3, 2, 3), np.zeros((2, 3, 2, 3), np.int64)),
        (2, 3, 5, 6),
    ),
    "softmax": (softmax.softmax, (numbers(3, 5),), (3, 5)),
    "log_softmax": (lambda x, **o: softmax.log_softmax(x, 1, **o), (numbers(2, 3, 5),), (2, 3, 5)),
    "softmax_backward": (softmax.softmax_backward, (numbers(3, 5), numbers(3, 5)), (3, 5)),
    "log_softmax_backward": (softmax.log_softmax_backward, (numbers(7), numbers(7)), (7,)),
    "cross_entropy": (
        lambda x, target, **o: losses.cross_entropy(x, target, "none", **o),
        (numbers(7, 5), CLASSES),
        (7,),
    ),
    "cross_entropy_backward": (losses.cross_entropy_backward, (numbers(7, 5), CLASSES), (7, 5)),
    "mse_loss": (
        lambda x, target, **o: losses.mse_loss(x, target, "none", **o),
        (numbers(3, 5), numbers(3, 5)),
        (3, 5),
    ),
    "mse_loss_backward": (losses.mse_loss_backward, (numbers(3, 5), numbers(3, 5)), (3, 5)),
    "copy": (transpose.copy, (numbers(3, 5),), (3, 5)),
    "transpose": (transpose.transpose, (numbers(3, 5),), (5, 3)),
    "inclusive_scan": (scan.inclusive_scan, (numbers(300),), (300,)),
    "exclusive_scan": (scan.exclusive_scan, (numbers(300),), (300,)),
    "scaled_dot_product_attention": (
        attention.scaled_dot_product_attention,
        (numbers(1, 2, 3, 5), numbers(1, 2, 4, 5), numbers(1, 2, 4, 6)),
        (1, 2, 3, 6),
    ),
    "rnn_tanh_cell": (recurrent.rnn_tanh_cell, cell(1), (3, 5)),
    "rnn_relu_cell": (recurrent.rnn_relu_cell, cell(1), (3, 5)),
    "gru_cell": (recurrent.gru_cell, cell(3), (3, 5)),
    "bincount": (
        lambda x, **o: histogram.bincount(x, 5, **o),
        (np.arange(9, dtype=np.int32),),
        (5,),
    ),
    "embedding": (
        embedding.embedding,
        (np.array([[1, 4, 1], [0, 2, 3]]), numbers(5, 7)),
        (2, 3, 7),
    ),
    "embedding_backward": (
        lambda grad, index, **o: embedding.embedding_backward(grad, index, 6, **o),
        (numbers(2, 7), np.array([5, 2])),
        (6, 7),
    ),
    "layer_norm": (
        lambda x, *rest, **o: layer_norm.layer_norm(x, 5, *rest, **o),
        (numbers(3, 5), numbers(5), 2 * numbers(5)),
        (3, 5),
    ),
    "batch_norm": (
        batch_norm.batch_norm,
        (numbers(4, 5, 3), numbers(5), numbers(5) ** 2, numbers(5), numbers(5)),
        (4, 5, 3),
    ),
    "rand": (lambda **options: philox.rand(2, 7, seed=3, **options), (), (2, 7)),
    "dropout": (lambda x, **o: dropout.dropout(x, seed=3, **o), (numbers(3, 5),), (3, 5)),
    "augment": (
        lambda x, **o: augment.augment(x, 2, True, seed=3, **o),
        (numbers(4, 3, 6, 5),),
        (4, 3, 6, 5),
    ),
    "dropout_backward": (
        lambda grad, **o: dropout.dropout_backward(grad, seed=3, **o),
        (numbers(3, 5),),
        (3, 5),
    ),
}
every_function = pytest.mark.parametrize("name", CASES)


@every_function
def test_result_of_numpy_arrays_is_a_numpy_array(name):
    function, arrays, shape = CASES[name]
    made = function(*arrays)
    assert isinstance(made, np.ndarray)
    assert made.shape == shape


@every_function
def test_result_is_written_to_out(name):
    function, arrays, shape = CASES[name]
    expected = function(*arrays)
    out = np.full(shape, np.nan if expected.dtype.kind == "f" else -1, expected.dtype)
    assert function(*arrays, out=out) is out
    np.testing.assert_array_equal(out, expected)


@every_function
@pytest.mark.costly
def test_result_in_a_part_of_an_array_leaves_the_rest_alone(name):
    function, arrays, shape = CASES[name]
    expected = function(*arrays)
    whole = np.full((*shape[:-1], shape[-1] + 3), 7, expected.dtype)
    function(*arrays, out=whole[..., 1:-2])
    np.testing.assert_array_equal(whole[..., 1:-2], expected)
    assert (whole[..., 0] == 7).all()
    assert (whole[..., -2:] == 7).all()


@every_function
def test_result_of_device_arrays_stays_on_the_device(name):
    function, arrays, _ = CASES[name]
    made = function(*map(cuda.to_device, arrays))
    assert launch.is_device_array(made) == bool(arrays)
    np.testing.assert_array_equal(launch.to_host(made), function(*arrays))


@every_function
def test_launch_goes_into_the_stream(name):
    function, arrays, _ = CASES[name]
    stream = cuda.stream()
    made = function(*arrays, stream=stream)
    stream.synchronize()
    np.testing.assert_array_equal(made, function(*arrays))


@every_function
def test_out_of_another_shape_is_refused(name):
    function, arrays, shape = CASES[name]
    dtype = function(*arrays).dtype
    with pytest.raises(ValueError, match=rf"{name}: expected out\.shape == "):
        function(*arrays, out=np.zeros((*shape[:-1], shape[-1] + 1), dtype))


@every_function
def test_out_of_another_dtype_is_refused(name):
    function, arrays, shape = CASES[name]
    with pytest.raises(TypeError, match=rf"{name}: expected out to be a .* got complex64"):
        function(*arrays, out=np.zeros(shape, np.complex64))


# ---- host functions that return one number --------------------------------------------------

ONE = {
    "sum": (reduce.sum, (numbers(300),)),
    "max": (extremes.max, (numbers(300),)),
    "min": (extremes.min, (numbers(300),)),
    "argmax": (extremes.argmax, (numbers(300),)),
    "dot": (dot.dot, (numbers(300), numbers(300)[::-1])),
}
one_number = pytest.mark.parametrize("name", ONE)


@one_number
def test_one_number_is_a_scalar_of_numpy(name):
    function, arrays = ONE[name]
    assert isinstance(function(*arrays), np.generic)


@one_number
def test_one_number_of_device_arrays_is_that_of_numpy_arrays(name):
    function, arrays = ONE[name]
    moved = [cuda.to_device(np.ascontiguousarray(array)) for array in arrays]
    np.testing.assert_allclose(function(*moved), function(*arrays), rtol=1e-4)


@one_number
def test_one_number_is_there_when_a_call_in_a_stream_returns(name):
    function, arrays = ONE[name]
    made = function(*arrays, stream=cuda.stream())
    np.testing.assert_allclose(made, getattr(np, name)(*arrays), rtol=1e-4)


@one_number
def test_one_number_of_arrays_of_another_library_is_taken(name):
    function, arrays = ONE[name]
    foreign = [Foreign(array) for array in arrays]
    np.testing.assert_allclose(function(*foreign), getattr(np, name)(*arrays), rtol=1e-4)


# ---- what every host function refuses, with its name, the rule and what came -----------------

LSTM = (cell(4)[0], numbers(3, 5), *cell(4)[1:])

REST = {
    "cross_entropy_with_grad": (losses.cross_entropy_with_grad, (numbers(7, 5), CLASSES)),
    "compact": (scan.compact, (numbers(9), numbers(9) > 0)),
    "conv2d_backward": (
        conv.conv2d_backward,
        (numbers(2, 3, 4, 4), numbers(2, 2, 5, 5), numbers(3, 2, 2, 2)),
    ),
    "linear": (backprop.linear, (numbers(3, 4), numbers(5, 4), numbers(5))),
    "scaled_dot_product_attention_backward": (
        attention.scaled_dot_product_attention_backward,
        (*[numbers(1, 2, 3, 5)] * 5, numbers(1, 2, 3)),
    ),
    "lstm_cell": (lambda x, h, c, *rest: recurrent.lstm_cell(x, (h, c), *rest), LSTM),
    "lstm_cell_backward": (
        lambda g, k, x, h, c, w, u, saved, new: recurrent.lstm_cell_backward(
            (g, k), x, (h, c), w, u, saved, new
        ),
        (numbers(3, 5), numbers(3, 5), *LSTM[:5], numbers(3, 3, 20), numbers(3, 5)),
    ),
    "gru_cell_backward": (
        recurrent.gru_cell_backward,
        (numbers(3, 5), *cell(3)[:4], numbers(3, 3, 15)),
    ),
    "rnn_tanh_cell_backward": (
        recurrent.rnn_tanh_cell_backward,
        (numbers(3, 5), *cell(1)[:4], numbers(3, 5)),
    ),
    "rnn_relu_cell_backward": (
        recurrent.rnn_relu_cell_backward,
        (numbers(3, 5), *cell(1)[:4], numbers(3, 5)),
    ),
    "conv2d": (conv.conv2d, (numbers(1, 2, 5, 5), numbers(3, 2, 2, 2), numbers(3))),
    "linear_backward": (backprop.linear_backward, (numbers(3, 5), numbers(3, 4), numbers(5, 4))),
    "bias_relu_backward": (backprop.bias_relu_backward, (numbers(3, 4), numbers(3, 4))),
    "bias_gelu_backward": (backprop.bias_gelu_backward, (numbers(3, 4), numbers(3, 4), numbers(4))),
    "sgd_step": (optimizers.sgd_step, (numbers(7), numbers(7))),
    "momentum_step": (optimizers.momentum_step, (numbers(7), numbers(7), numbers(7))),
    "nesterov_step": (optimizers.nesterov_step, (numbers(7), numbers(7), numbers(7))),
    "adagrad_step": (optimizers.adagrad_step, (numbers(7), numbers(7), numbers(7) ** 2)),
    "rmsprop_step": (optimizers.rmsprop_step, (numbers(7), numbers(7), numbers(7) ** 2)),
    "adadelta_step": (optimizers.adadelta_step, (numbers(7), numbers(7), *[numbers(7) ** 2] * 2)),
    "adam_step": (
        lambda *arrays: optimizers.adam_step(*arrays, step=1),
        (numbers(7), numbers(7), numbers(7), numbers(7) ** 2),
    ),
    "adamw_step": (
        lambda *arrays: optimizers.adamw_step(*arrays, step=1),
        (numbers(7), numbers(7), numbers(7), numbers(7) ** 2),
    ),
    "layer_norm_backward": (
        layer_norm_grad.layer_norm_backward,
        (numbers(3, 4), numbers(3, 4)[::-1], numbers(3), numbers(3) ** 2, numbers(4)),
    ),
    "batch_norm_backward": (
        batch_norm_grad.batch_norm_backward,
        (numbers(3, 4), numbers(3, 4)[::-1], numbers(4), numbers(4) ** 2, numbers(4)),
    ),
    "invert": (image.invert, (numbers(3, 4),)),
    "grey": (image.grey, (numbers(3, 4, 3),)),
    "box_blur": (lambda x: image.box_blur(x, 1), (numbers(3, 4),)),
}
EVERY = {name: case[:2] for name, case in (CASES | ONE | REST).items()}
ARGUMENTS = [(name, at) for name, (_, arrays) in EVERY.items() for at in range(len(arrays))]
every_argument = pytest.mark.parametrize(("name", "at"), ARGUMENTS)


def refusal(name, at, made):
    """Return the message of the TypeError for one argument, made anew from the right one."""
    function, arrays = EVERY[name]
    given = [made(array) if k == at else array for k, array in enumerate(arrays)]
    with pytest.raises(TypeError, match=rf"^{name}: expected ") as caught:
        function(*given)
    return str(caught.value)


@every_argument
@pytest.mark.parametrize("dtype", [np.float16, np.int16, np.complex64])
def test_another_dtype_is_refused(name, at, dtype):
    message = refusal(name, at, lambda array: array.astype(dtype))
    assert f"got {np.dtype(dtype)}. Convert it with " in message


@every_argument
def test_a_list_is_refused(name, at):
    assert "got list. Convert it with np.asarray(" in refusal(name, at, np.ndarray.tolist)


# Their arrays have dtypes of their own.
UNLIKE = [name for name, (_, arrays) in EVERY.items() if len({a.dtype for a in arrays}) > 1]


@pytest.mark.parametrize(("name", "at"), [(n, k) for n, k in ARGUMENTS if k and n not in UNLIKE])
def test_two_dtypes_are_refused(name, at):
    message = refusal(name, at, lambda array: array.astype(np.float64))
    assert "one dtype, got float32, " in message
    assert "float64" in message


VARIANTS = {
    "softmax": softmax.VARIANTS,
    "saxpy": vector.SAXPY_VARIANTS,
    "matmul": matmul.VARIANTS,
    "matvec": matvec.VARIANTS,
    "copy": transpose.COPY_VARIANTS,
    "transpose": transpose.TRANSPOSE_VARIANTS,
    "inclusive_scan": scan.SCAN_VARIANTS,
    "exclusive_scan": scan.SCAN_VARIANTS,
    "bincount": histogram.VARIANTS,
    "embedding_backward": embedding.GRAD_VARIANTS,
    "layer_norm": layer_norm.VARIANTS,
    "sum": reduce.SUM_VARIANTS,
    "dot": dot.VARIANTS,
    "conv2d": conv.VARIANTS,
    "conv2d_backward": conv.BACKWARD_VARIANTS,
    "conv1d": one_d.VARIANTS,
    "linear": backprop.FORWARD_VARIANTS,
    "gru_cell": recurrent.GRU_VARIANTS,
    "scaled_dot_product_attention": attention.FORWARD_VARIANTS,
    "scaled_dot_product_attention_backward": attention.BACKWARD_VARIANTS,
    "linear_backward": backprop.FORWARD_VARIANTS,
}


@pytest.mark.parametrize("name", VARIANTS)
def test_an_unknown_variant_is_refused_with_those_there_are(name):
    function, arrays = EVERY[name]
    names = ", ".join(repr(variant.name) for variant in VARIANTS[name])
    expected = f"^{name}: expected variant to be one of {names}, got 'fast'. Pick one.$"
    with pytest.raises(ValueError, match=expected):
        function(*arrays, variant="fast")
