"""Every host function, with example inputs and the shape of its result."""

import numpy as np

from gpukit.kernels import (
    activations,
    activations_grad,
    attention,
    augment,
    backprop,
    batch_norm,
    batch_norm_grad,
    conv,
    convert,
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
    quantize,
    recurrent,
    reduce,
    scan,
    softmax,
    sparse,
    transpose,
    vector,
)
from gpukit.kernels.conv import one_d
from gpukit.primitives import tensor


def numbers(*shape):
    return np.random.default_rng(20261122).standard_normal(shape).astype(np.float32)


def bits(*shape):
    return tensor.bf16(numbers(*shape))


def int8(*shape):
    return np.random.default_rng(20261128).integers(-127, 128, shape, np.int8)


def cell(gates):
    """Return input, state, both weights and both biases of a recurrent cell."""
    wide = gates * 5
    shapes = (3, 4), (3, 5), (wide, 4), (wide, 5), (wide,), (wide,)
    return tuple(numbers(*shape) for shape in shapes)


CSR = sparse.to_csr(numbers(5, 4) * (numbers(5, 4) > 0))
CLASSES = np.array([0, 4, 2, 1, -100, 3, 3], np.int32)

# Host function, its arrays, and the shape of its result.
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
    "convert": (lambda x, **o: convert.convert(x, "float16", **o), (numbers(2, 3, 5),), (2, 3, 5)),
    "mixed_conv2d": (
        conv.mixed_conv2d,
        (bits(2, 2, 5, 5), bits(3, 2, 2, 2), numbers(3)),
        (2, 3, 4, 4),
    ),
    "mixed_matmul": (matmul.mixed_matmul, (bits(3, 5), bits(5, 4)), (3, 4)),
    "channel_scales": (quantize.channel_scales, (numbers(3, 5),), (3,)),
    "quantize": (quantize.quantize, (numbers(3, 5), numbers(3) ** 2), (3, 8)),
    "dequantize": (quantize.dequantize, (int8(3, 5), numbers(3)), (3, 5)),
    "dequantize_sums": (
        quantize.dequantize_sums,
        (np.arange(12, dtype=np.int32).reshape(3, 4), numbers(1), numbers(4), 2 * numbers(4)),
        (3, 4),
    ),
    "int8_matmul": (quantize.int8_matmul, (int8(3, 8), int8(5, 8)), (3, 5)),
    "int8_matvec": (quantize.int8_matvec, (int8(3, 8), int8(8)), (3,)),
    "csr_matvec": (sparse.csr_matvec, (*CSR, numbers(3, 4)), (3, 5)),
    "matmul_2_4": (
        sparse.matmul_2_4,
        (numbers(3, 8), numbers(5, 4), np.full((5, 2), 0 + 4 * 3, np.uint8)),
        (3, 5),
    ),
    "dropout_backward": (
        lambda grad, **o: dropout.dropout_backward(grad, seed=3, **o),
        (numbers(3, 5),),
        (3, 5),
    ),
}
# Inputs of which each thread reads only the element that it writes.
IN_PLACE = [
    *[(name, at) for name in ("vector_add", "saxpy") for at in (0, 1)],
    *[(name, 0) for name in ("relu", "sigmoid", "tanh", "gelu")],
    *[(f"{name}_grad", at) for name in ("relu", "sigmoid", "tanh", "gelu") for at in (0, 1)],
    *[(name, 0) for name in ("add_bias", "bias_relu", "bias_gelu")],
    *[(name, 1) for name in ("rnn_tanh_cell", "rnn_relu_cell", "gru_cell")],
    *[(name, 0) for name in ("inclusive_scan", "dropout", "dropout_backward")],
]

# Host functions that return one number.
ONE = {
    "sum": (reduce.sum, (numbers(300),)),
    "max": (extremes.max, (numbers(300),)),
    "min": (extremes.min, (numbers(300),)),
    "argmax": (extremes.argmax, (numbers(300),)),
    "dot": (dot.dot, (numbers(300), numbers(300)[::-1])),
}
LSTM = (cell(4)[0], numbers(3, 5), *cell(4)[1:])

# Host functions that return several arrays.
SEVERAL = {
    "cross_entropy_with_grad": (losses.cross_entropy_with_grad, (numbers(7, 5), CLASSES)),
    "conv2d_backward": (
        conv.conv2d_backward,
        (numbers(2, 3, 4, 4), numbers(2, 2, 5, 5), numbers(3, 2, 2, 2)),
    ),
    "scaled_dot_product_attention_backward": (
        attention.scaled_dot_product_attention_backward,
        (*[numbers(1, 2, 3, 5)] * 5, numbers(1, 2, 3)),
    ),
    "lstm_cell": (lambda x, h, c, *rest, **o: recurrent.lstm_cell(x, (h, c), *rest, **o), LSTM),
    "lstm_cell_backward": (
        lambda g, k, x, h, c, w, u, saved, new, **o: recurrent.lstm_cell_backward(
            (g, k), x, (h, c), w, u, saved, new, **o
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
    "linear_backward": (backprop.linear_backward, (numbers(3, 5), numbers(3, 4), numbers(5, 4))),
    "mixed_conv2d_backward": (
        conv.mixed_conv2d_backward,
        (numbers(2, 3, 4, 4), bits(2, 2, 5, 5), bits(3, 2, 2, 2)),
    ),
    "compress_2_4": (sparse.compress_2_4, (numbers(3, 8),)),
    "bias_relu_backward": (backprop.bias_relu_backward, (numbers(3, 4), numbers(3, 4))),
    "bias_gelu_backward": (backprop.bias_gelu_backward, (numbers(3, 4), numbers(3, 4), numbers(4))),
    "layer_norm_backward": (
        layer_norm_grad.layer_norm_backward,
        (numbers(3, 4), numbers(3, 4) + 1, numbers(3), numbers(3) ** 2, numbers(4)),
    ),
    "batch_norm_backward": (
        batch_norm_grad.batch_norm_backward,
        (numbers(3, 4), numbers(3, 4) + 1, numbers(4), numbers(4) ** 2, numbers(4)),
    ),
}

# Host functions that work in place, and those without `out`.
REST = {
    "compact": (scan.compact, (numbers(9), numbers(9) > 0)),
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
    "unscale": (optimizers.unscale, (numbers(7), np.zeros(1, np.int32))),
    "apply_mask": (sparse.apply_mask, (numbers(7), np.ones(7, np.uint8))),
    "invert": (image.invert, (numbers(3, 4),)),
    "grey": (image.grey, (numbers(3, 4, 3),)),
    "box_blur": (lambda x: image.box_blur(x, 1), (numbers(3, 4),)),
}

# Every host function with its arrays.
EVERY = {name: case[:2] for name, case in (CASES | ONE | SEVERAL | REST).items()}

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
    "csr_matvec": sparse.csr.VARIANTS,
}


DTYPES = {
    **dict.fromkeys(("bincount", "int8_matmul", "int8_matvec"), np.int32),
    "convert": np.float16,
    "quantize": np.int8,
}


def dtype_of(name):
    """Return the dtype of a function's result."""
    return DTYPES.get(name, np.float32)


def overlapping(name, at, shift):
    """Return a function's arrays, and an `out` that overlaps one of them, `shift` elements on."""
    _, arrays, shape = CASES[name]
    inputs, dtype, count = list(arrays), np.dtype(dtype_of(name)), int(np.prod(shape))
    memory = np.zeros(arrays[at].nbytes + dtype.itemsize * (count + shift), np.uint8)
    inputs[at] = np.ndarray(arrays[at].shape, arrays[at].dtype, memory)
    inputs[at][...] = arrays[at]
    return inputs, np.ndarray(shape, dtype, memory, offset=shift * dtype.itemsize)
