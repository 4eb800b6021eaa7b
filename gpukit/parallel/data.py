"""Data parallel training: every rank holds the whole model and computes a part of each batch.

    world = parallel.World()
    parameters = nn.Parameters(model, seed=0)
    replica = parallel.DataParallel(model, parameters, world)
    loader = nn.Loader(images, labels, batch=512, rank=world.rank, ranks=world.size)
    nn.fit(replica, nn.AdamW(parameters, lr=0.01), loader, epochs=10, world=world)

Source: Li et al., "PyTorch Distributed: Experiences on Accelerating Data Parallel Training", 2020
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from gpukit import cuda, launch
from gpukit.kernels.vector import saxpy
from gpukit.nn.containers import Sequential
from gpukit.nn.dropout import Dropout
from gpukit.nn.inference import layers_of
from gpukit.nn.parameters import Parameter, Parameters, parts_of
from gpukit.parallel.world import Group, Work

BLOCK = 256
# Gradients are exchanged in pieces of about this many bytes, each as soon as it is complete.
BUCKET = 1 << 20


class DataParallel:
    """A model whose `backward` leaves the gradients of the whole batch on every rank.

    Forward and backward are those of the model on this rank's examples. The loss must be a mean
    over examples; parts of different sizes are weighted by them. Parameters and buffers of rank 0
    are copied to all ranks first, and `Dropout` layers get a seed of their own on each rank.

    The gradients of a `Sequential` are exchanged while its earlier layers are still computing
    theirs: in slices of `parameters.grad` of at least `bucket` bytes.
    """

    def __init__(
        self, model: Any, parameters: Parameters, group: Group, *, bucket: int = BUCKET
    ) -> None:
        self.layers = (model,)
        self.parameters, self.group, self.bucket = parameters, group, bucket
        self._starts = _starts(model, parameters)
        self._kept: Any = None  # the sum of gradients that were not exchanged yet
        self._examples = 0  # behind this sum
        self._total = np.zeros(1, np.int64)  # of all ranks
        self._works: list[Work] = []  # the exchange in progress
        self._exchanges = True
        parameters.synchronise(lambda name, array: group.broadcast(array, name=name))
        for layer in layers_of(model):
            if isinstance(layer, Dropout):
                layer.seed += group.rank << 32

    @contextmanager
    def no_sync(self) -> Iterator[None]:
        """Accumulate gradients inside a `with` block instead of exchanging them.

        The first backward after it exchanges the sum of all: one exchange per optimizer step, for a
        batch that is computed in several parts.
        """
        self._exchanges = False
        try:
            yield
        finally:
            self._exchanges = True

    def forward(self, x: Any) -> tuple[Any, Any]:
        """Return the model's output for this rank's examples, and what backward needs."""
        out, saved = self.layers[0].forward(x)
        return out, saved

    def backward(self, saved: Any, grad: Any) -> Any:
        """Return the gradient of x; write those of the parameters, for the examples of all ranks.

        grad is that of the mean loss over this rank's examples, (examples, ...); the gradient of x
        is that of the sum of their losses.
        """
        examples = len(grad)
        grad_x = self.start_backward(saved, scaled(grad, examples), examples)
        self.finish_backward()
        return grad_x

    def start_backward(self, saved: Any, grad: Any, examples: int) -> Any:
        """Return the gradient of x, and start to exchange those of the parameters.

        grad is that of the sum of the losses of so many examples, as the parts of a batch may
        differ in size. `finish_backward` must follow before the gradients are used.
        """
        self._examples += examples
        if not self._exchanges:
            grad_x = self.layers[0].backward(saved, grad)
            self._keep()
            return grad_x
        self._total[0] = self._examples
        self._works = [self.group.iall_reduce(self._total, name="the number of examples")]

        def exchange(first: int, end: int) -> None:
            part = self.parameters.grad[first:end]
            if self._kept is not None:
                saxpy(1, self._kept[first:end], part, out=part)
            self._works.append(self.group.iall_reduce(part, name=self._name(first)))
            for work in self._works:
                work.done()  # messages proceed only while somebody asks for them

        return self._backward(saved, grad, exchange)

    def finish_backward(self) -> None:
        """Wait for the gradients of all ranks, and divide their sum by the number of examples."""
        if not self._works:
            return
        for work in self._works:
            work.wait()
        self._works, self._kept, self._examples = [], None, 0
        scale(self.parameters.grad, 1 / int(self._total[0]))

    def _keep(self) -> None:
        """Add the gradients to those of earlier parts of the batch."""
        if self._kept is None:
            self._kept = self._sum
            self._kept.copy_to_device(self.parameters.grad)
        else:
            saxpy(1, self.parameters.grad, self._kept, out=self._kept)

    @functools.cached_property
    def _sum(self) -> Any:
        """Memory for the sum of gradients; only batches in several parts need it."""
        return cuda.device_array_like(self.parameters.grad)

    def _backward(self, saved: Any, grad: Any, complete: Callable[[int, int], None]) -> Any:
        """Return the gradient of x; call `complete` for each slice of the gradients in turn."""
        model, end = self.layers[0], self.parameters.grad.size
        if not isinstance(model, Sequential):
            grad = model.backward(saved, grad)
            complete(0, end)
            return grad
        least = max(1, self.bucket // self.parameters.grad.dtype.itemsize)
        for layer, kept, first in zip(
            reversed(model.layers), reversed(saved), reversed(self._starts), strict=True
        ):
            if grad is not None:
                grad = layer.backward(kept, grad)
            if end - first >= least:
                complete(first, end)
                end = first
        if end:
            complete(0, end)
        return grad

    def _name(self, first: int) -> str:
        """Return the name of the gradients in a slice that begins at `first`."""
        if len(self._starts) == 1:
            return "gradients"
        number = max(k for k, start in enumerate(self._starts) if start <= first)
        return f"gradients from layer {number} on"


def _starts(model: Any, parameters: Parameters) -> list[int]:
    """Return where the parameters of each layer begin in the array of all of them."""
    layers = model.layers if isinstance(model, Sequential) else (model,)
    starts, start = [], parameters.grad.size
    for layer in reversed(layers):
        for _, parameter in parts_of(layer, Parameter):
            start = min(start, parameters.start(parameter))
        starts.append(start)
    return starts[::-1]


@cuda.jit
def scale_kernel(alpha, x, out):
    """Compute alpha * x in a grid-stride loop; x (n,), out (n,), both of alpha's dtype."""
    for i in range(cuda.grid(1), x.shape[0], cuda.gridsize(1)):
        out[i] = alpha * x[i]


def scaled(x: Any, alpha: float) -> Any:
    """Return alpha * x for a device array of any shape."""
    out = launch.empty(x.shape, x.dtype)
    _scale(x.reshape(x.size), alpha, out.reshape(x.size))
    return out


def scale(x: Any, alpha: float) -> None:
    """Multiply a vector on the device by alpha."""
    _scale(x, alpha, x)


def _scale(x: Any, alpha: float, out: Any) -> None:
    if x.size:
        grid = launch.stride_blocks(x.size, BLOCK)
        scale_kernel[grid, BLOCK](x.dtype.type(alpha), x, out)
