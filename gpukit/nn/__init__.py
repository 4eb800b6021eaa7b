"""Train networks with the kernels of this book: layers, parameters, optimizers.

    model = nn.Sequential(nn.Linear(64, 32), nn.ReLU(), nn.Linear(32, 10))
    parameters = nn.Parameters(model, seed=0)
    optimizer = nn.Momentum(parameters, lr=0.1)
    loader = nn.Loader(images, labels, batch=64)
    workspace = nn.Workspace()
    for x, label in loader.epoch(0):
        with workspace:
            logits, saved = model.forward(x)
            loss, grad = gpukit.cross_entropy_with_grad(logits, label)
            model.backward(saved, grad)
            optimizer.step()

There is no tape that records what was done. A layer is any object with two methods:

- `forward(x)` returns its output, and whatever `backward` will need;
- `backward(saved, grad)` takes that and the gradient of the output, returns the gradient of x and
  writes those of its `Parameter`s. It does not add to them: every layer stands once in a model.

Arrays are device arrays and stay on the device from batch to step.
"""

from gpukit.nn.activations import GELU, ReLU, Sigmoid, Tanh
from gpukit.nn.attention import MultiHeadAttention
from gpukit.nn.checkpoint import load, save
from gpukit.nn.cifar import cifar10
from gpukit.nn.containers import Residual, Sequential
from gpukit.nn.data import Loader
from gpukit.nn.dense import Flatten, Linear
from gpukit.nn.dropout import Dropout
from gpukit.nn.embedding import Embedding, Positions
from gpukit.nn.images import AvgPool2d, Conv2d, MaxPool2d
from gpukit.nn.normalisation import BatchNorm, LayerNorm
from gpukit.nn.optimizers import (
    SGD,
    Adadelta,
    Adagrad,
    Adam,
    AdamW,
    Momentum,
    Nesterov,
    Optimizer,
    RMSprop,
    cosine,
)
from gpukit.nn.parameters import Buffer, Parameter, Parameters, constant, normal, uniform
from gpukit.nn.recurrent import GRU, LSTM, RNN
from gpukit.workspace import Workspace

__all__ = [
    "GRU",
    "LSTM",
    "RNN",
    "Adadelta",
    "Adagrad",
    "Adam",
    "AdamW",
    "AvgPool2d",
    "BatchNorm",
    "Buffer",
    "Conv2d",
    "Dropout",
    "Embedding",
    "Flatten",
    "GELU",
    "LayerNorm",
    "Linear",
    "Loader",
    "MaxPool2d",
    "MultiHeadAttention",
    "Momentum",
    "Nesterov",
    "Optimizer",
    "Parameter",
    "Parameters",
    "Positions",
    "RMSprop",
    "ReLU",
    "Residual",
    "SGD",
    "Sequential",
    "Sigmoid",
    "Tanh",
    "Workspace",
    "cifar10",
    "constant",
    "cosine",
    "load",
    "normal",
    "save",
    "uniform",
]
