"""Time convolutions and pooling against NumPy and PyTorch on the CPU.

    python benchmarks/convolution.py [--rounds 9] [--threads 2] [LAYER ...]

Each layer is computed by everybody in turns, after a round that is not counted and in which all
must agree; what is printed are medians of seconds, and PyTorch's divided by ours. PyTorch is no
dependency of gpukit: `pip install torch` beside it, or `make torch` and the Python of .venv-torch.
"""

from __future__ import annotations

import argparse
import os
import statistics
import time
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

try:
    import torch
except ImportError:
    raise SystemExit(
        "convolution: expected PyTorch, found none. Run pip install torch, or make torch and then "
        ".venv-torch/bin/python benchmarks/convolution.py."
    ) from None

import gpukit

Work = Callable[[], Any]


class Layer(NamedTuple):
    """A convolution with a square window, stride 1, square images."""

    batch: int
    channels: int
    size: int
    channels_out: int
    window: int = 3
    padding: int = 1

    @property
    def out(self) -> tuple[int, int, int, int]:
        side = self.size + 2 * self.padding - self.window + 1
        return self.batch, self.channels_out, side, side


LAYERS = {
    "example": Layer(1, 3, 224, 16),
    "photos": Layer(64, 3, 224, 32),
    "cifar_first": Layer(64, 3, 32, 32),
    "cifar_second": Layer(64, 32, 16, 64),
    "lenet_first": Layer(64, 1, 28, 6, 5, 2),
    "lenet_second": Layer(64, 6, 14, 16, 5, 0),
}


def by_numpy(x: Any, weight: Any, bias: Any, padding: int) -> Any:
    """Return the convolution as a product of columns, as NumPy computes it best."""
    padded = np.pad(x, ((0, 0), (0, 0), (padding,) * 2, (padding,) * 2))
    windows = np.lib.stride_tricks.sliding_window_view(padded, weight.shape[2:], (2, 3))
    n, _, rows, cols = windows.shape[:4]
    columns = windows.transpose(0, 1, 4, 5, 2, 3).reshape(n, -1, rows * cols)
    out = weight.reshape(len(weight), -1) @ columns
    out += bias[:, None]
    return out.reshape(n, -1, rows, cols)


def forward(layer: Layer) -> dict[str, Work]:
    """Return what computes a layer, by name."""
    x, weight, bias = _arrays(layer)
    pad = layer.padding
    theirs = [torch.from_numpy(a) for a in (x, weight, bias)]
    return {
        "gpukit": lambda: gpukit.conv2d(x, weight, bias, padding=pad),
        "NumPy": lambda: by_numpy(x, weight, bias, pad),
        "PyTorch": lambda: torch.nn.functional.conv2d(*theirs, padding=pad).numpy(),
    }


def backward(layer: Layer) -> dict[str, Work]:
    """Return what computes the gradients of a layer."""
    x, weight, _ = _arrays(layer)
    rng = np.random.default_rng(1)
    grad = rng.standard_normal(layer.out, np.float32)
    pad = layer.padding
    theirs = [torch.from_numpy(a) for a in (grad, x, weight)]
    settings = [layer.channels_out], [1, 1], [pad, pad], [1, 1], False, [0, 0], 1, [True] * 3
    made = torch.ops.aten.convolution_backward
    return {
        "gpukit": lambda: gpukit.conv2d_backward(grad, x, weight, padding=pad),
        "PyTorch": lambda: tuple(g.numpy() for g in made(*theirs, *settings)),
    }


def pooling(layer: Layer) -> dict[str, Work]:
    """Return what halves the images of a layer."""
    x, _, _ = _arrays(layer)
    theirs = torch.from_numpy(x)
    return {
        "gpukit": lambda: gpukit.max_pool2d(x, 2, return_indices=True),
        "PyTorch": lambda: tuple(
            a.numpy() for a in torch.nn.functional.max_pool2d(theirs, 2, return_indices=True)
        ),
    }


def _arrays(layer: Layer) -> tuple[Any, Any, Any]:
    rng = np.random.default_rng(0)
    shapes = (
        (layer.batch, layer.channels, layer.size, layer.size),
        (layer.channels_out, layer.channels, layer.window, layer.window),
        (layer.channels_out,),
    )
    x, weight, bias = (rng.standard_normal(shape, np.float32) for shape in shapes)
    return x, weight, bias


def check(works: dict[str, Work]) -> None:
    """Raise AssertionError unless all agree with PyTorch."""
    expected = works["PyTorch"]()
    for name, work in works.items():
        made = work()
        pairs = zip(made, expected, strict=True) if isinstance(made, tuple) else [(made, expected)]
        for ours, theirs in pairs:
            tolerance = 1e-4 * np.abs(theirs).max()
            np.testing.assert_allclose(ours, theirs, rtol=1e-4, atol=tolerance, err_msg=name)


def measure(works: dict[str, Work], rounds: int) -> dict[str, float]:
    """Return the median seconds of each work, all in turns."""
    taken: dict[str, list[float]] = {name: [] for name in works}
    for _ in range(rounds):
        for name, work in works.items():
            begin = time.perf_counter()
            work()
            taken[name].append(time.perf_counter() - begin)
    return {name: statistics.median(times) for name, times in taken.items()}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("layers", nargs="*", default=list(LAYERS), metavar="LAYER")
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--threads", type=int, default=2)
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    os.environ["GPUKIT_THREADS"] = str(options.threads)  # read by the first launch
    for name in options.layers:
        layer = LAYERS[name]
        n, channels, size, channels_out = layer[:4]
        print(f"{name}: {n} x {channels} x {size} x {size} to {channels_out}")
        for what in (forward, backward, pooling):
            works = what(layer)
            check(works)
            seconds = measure(works, options.rounds)
            shown = ", ".join(f"{who} {1e3 * s:.1f} ms" for who, s in seconds.items())
            ratio = seconds["PyTorch"] / seconds["gpukit"]
            print(f"  {what.__name__}: {shown}; PyTorch / gpukit {ratio:.2f}")


if __name__ == "__main__":
    main()
