"""A GPU classroom that needs no GPU: `from gpukit import cuda`, and Numba CUDA kernels run.

All names load on first use. Importing gpukit imports nothing else, so a Ctrl-C to the command
`gpukit` arrives once `cli.main` runs, which reports it in one sentence. The functions of the book
are called like NumPy's: `gpukit.matmul(a, b)`, `gpukit.sum(x, variant="first_add")`.

PYTEST_DONT_REWRITE: pytest, which loads `gpukit.testing`, would warn if gpukit was imported before.
"""

from __future__ import annotations

TYPE_CHECKING = False  # typing's own would import typing
if TYPE_CHECKING:
    from typing import Any

    from gpukit.errors import (
        ArgumentError,
        BarrierDivergence,
        CheckFailed,
        CheckWarning,
        CompileError,
        GpukitError,
        GradientError,
        Invalid,
        KernelError,
        KernelTypeError,
        LaunchError,
        OutOfBounds,
        SourceError,
        TargetError,
        Unsupported,
    )

__version__ = "0.1.0"

# The book's host functions, by the module of gpukit.kernels that holds them.
_BOOK = {
    "activations": ("relu", "sigmoid", "tanh", "gelu"),
    "activations_grad": ("relu_grad", "sigmoid_grad", "tanh_grad", "gelu_grad"),
    "attention": ("scaled_dot_product_attention", "scaled_dot_product_attention_backward"),
    "augment": ("augment",),
    "backprop": (
        "linear",
        "linear_backward",
        "column_sum",
        "add_bias",
        "bias_relu",
        "bias_relu_backward",
        "bias_gelu",
        "bias_gelu_backward",
        "mlp",
        "mlp_backward",
    ),
    "batch_norm": ("batch_norm",),
    "batch_norm_grad": ("batch_norm_backward",),
    "conv": ("conv2d", "conv2d_backward", "conv1d", "mixed_conv2d", "mixed_conv2d_backward"),
    "convert": ("convert",),
    "dot": ("dot",),
    "dropout": ("dropout", "dropout_backward"),
    "embedding": ("embedding", "embedding_backward"),
    "extremes": ("max", "min", "argmax"),
    "histogram": ("bincount",),
    "image": ("invert", "grey", "box_blur"),
    "layer_norm": ("layer_norm",),
    "layer_norm_grad": ("layer_norm_backward",),
    "losses": (
        "cross_entropy",
        "cross_entropy_backward",
        "cross_entropy_with_grad",
        "mse_loss",
        "mse_loss_backward",
    ),
    "matmul": ("matmul", "batched_matmul", "mixed_matmul"),
    "matvec": ("matvec",),
    "optimizers": (
        "sgd_step",
        "momentum_step",
        "nesterov_step",
        "adagrad_step",
        "rmsprop_step",
        "adadelta_step",
        "adam_step",
        "adamw_step",
        "clip_grad_norm",
        "unscale",
        "flat_views",
    ),
    "philox": ("rand",),
    "pool": ("max_pool2d", "avg_pool2d"),
    "pool_grad": ("max_pool2d_backward", "avg_pool2d_backward"),
    "quantize": (
        "channel_scales",
        "quantize",
        "dequantize",
        "dequantize_sums",
        "int8_matmul",
        "int8_matvec",
    ),
    "recurrent": (
        "rnn_tanh_cell",
        "rnn_tanh_cell_backward",
        "rnn_relu_cell",
        "rnn_relu_cell_backward",
        "lstm_cell",
        "lstm_cell_backward",
        "gru_cell",
        "gru_cell_backward",
    ),
    "reduce": ("sum",),
    "scan": ("inclusive_scan", "exclusive_scan", "compact"),
    "softmax": ("softmax", "log_softmax", "softmax_backward", "log_softmax_backward"),
    "sparse": (
        "apply_mask",
        "magnitude_mask",
        "mask_2_4",
        "to_csr",
        "csr_matvec",
        "compress_2_4",
        "matmul_2_4",
    ),
    "transpose": ("copy", "transpose"),
    "vector": ("fill", "vector_add", "saxpy"),
}
_MODULES = {name: module for module, names in _BOOK.items() for name in names}
__all__ = [
    "check",
    "cuda",
    "estimate",
    "explain",
    "gradcheck",
    "kernels",
    "nn",
    "play",
    "profile",
    "standin",
    "ArgumentError",
    "BarrierDivergence",
    "CheckFailed",
    "CheckWarning",
    "CompileError",
    "GpukitError",
    "GradientError",
    "Invalid",
    "KernelError",
    "KernelTypeError",
    "LaunchError",
    "OutOfBounds",
    "SourceError",
    "TargetError",
    "Unsupported",
    *_MODULES,
]


def __getattr__(name: str) -> Any:
    if name == "explain":
        return _module("cpu.explain").explain
    if name == "gradcheck":
        return _module("gradients").gradcheck
    if name == "estimate":
        return _module("estimates").estimate
    if name in ("check", "play", "profile"):
        return getattr(_module(f"checked.{name}"), name)
    if name == "load_ipython_extension":  # %load_ext gpukit
        return _module("course.magic").load_ipython_extension
    if name in ("cuda", "errors", "kernels", "nn", "parallel", "standin"):
        return _module(name)
    if name in _MODULES:
        return getattr(_module(f"kernels.{_MODULES[name]}"), name)
    if name in __all__:
        return getattr(_module("errors"), name)
    raise AttributeError(f"module 'gpukit' has no attribute {name!r}")


def _module(name: str) -> Any:
    """Import a module of gpukit; Ctrl-C is held until then, so Numba is never half imported."""
    import importlib
    import sys

    from gpukit import interrupts, status

    whole = f"{__name__}.{name}"
    if whole in sys.modules:
        return importlib.import_module(whole)
    try:
        with interrupts.held(), status.doing(f"importing {whole}"):
            return importlib.import_module(whole)
    except KeyboardInterrupt as stopped:
        raise interrupts.brief(stopped, f"Ctrl-C came while {whole} was imported") from None


def __dir__() -> list[str]:
    return sorted([*__all__, "__version__"])
