"""Train networks with the kernels of this book: layers, parameters, optimizers.

    model = nn.Sequential(nn.Flatten(), nn.Linear(64, 32), nn.ReLU(), nn.Linear(32, 10))
    parameters = nn.Parameters(model, seed=0)
    optimizer = nn.AdamW(parameters, lr=0.01)
    (images, labels), test = nn.digits()
    loader = nn.Loader(images, labels, batch=64)
    history = nn.fit(model, optimizer, loader, epochs=10, validate=test, checkpoint="digits.npz")

`fit` is a loop around this step:

    workspace = nn.Workspace()
    for x, label in loader.epoch(0):
        with workspace:
            logits, saved = model.forward(x)
            loss, grad = nn.cross_entropy(logits, label)
            model.backward(saved, grad)
            optimizer.step()

There is no autograd tape. A layer is any object with two methods:

- `forward(x)` returns its output, and whatever `backward` will need (saved activations);
- `backward(saved, grad)` takes that and the gradient of the output, returns the gradient of x and
  writes those of its `Parameter`s. It does not accumulate: every layer occurs once in a model.

Arrays are device arrays and stay on the device from batch to step.

With fewer bits or weights: `MixedPrecision` trains with 16-bit products, `quantized` returns an
int8 model of a trained one, `prune` and `prune_2_4` set weights to zero for good, and `compressed`
returns a model that stores only the others.
"""

from gpukit.nn.activations import GELU, ReLU, Sigmoid, Tanh
from gpukit.nn.attention import CrossAttention, MultiHeadAttention
from gpukit.nn.augment import Augment, Normalise
from gpukit.nn.checkpoint import load, save
from gpukit.nn.cifar import cifar10
from gpukit.nn.containers import Frozen, Residual, Sequential
from gpukit.nn.data import Loader
from gpukit.nn.datasets import Characters, digits, text, windows
from gpukit.nn.dense import Flatten, Linear
from gpukit.nn.dropout import Dropout
from gpukit.nn.embedding import Embedding, Positions
from gpukit.nn.images import AvgPool2d, Conv2d, MaxPool2d
from gpukit.nn.inference import accuracy, confusion, inference, predict
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
from gpukit.nn.precision import MixedPrecision
from gpukit.nn.progress import History
from gpukit.nn.pruning import compressed, prune, prune_2_4
from gpukit.nn.quantization import quantized
from gpukit.nn.recurrent import GRU, LSTM, RNN
from gpukit.nn.training import cross_entropy, fit
from gpukit.nn.transformer import Transformer, block, gpt
from gpukit.workspace import Workspace

__all__ = [
    "Adadelta",
    "Adagrad",
    "Adam",
    "AdamW",
    "Augment",
    "AvgPool2d",
    "BatchNorm",
    "Buffer",
    "Characters",
    "Conv2d",
    "CrossAttention",
    "Dropout",
    "Embedding",
    "Flatten",
    "Frozen",
    "GELU",
    "GRU",
    "History",
    "LSTM",
    "LayerNorm",
    "Linear",
    "Loader",
    "MaxPool2d",
    "MixedPrecision",
    "Momentum",
    "MultiHeadAttention",
    "Nesterov",
    "Normalise",
    "Optimizer",
    "Parameter",
    "Parameters",
    "Positions",
    "RMSprop",
    "RNN",
    "ReLU",
    "Residual",
    "SGD",
    "Sequential",
    "Sigmoid",
    "Tanh",
    "Transformer",
    "Workspace",
    "accuracy",
    "block",
    "cifar10",
    "compressed",
    "confusion",
    "constant",
    "cosine",
    "cross_entropy",
    "digits",
    "fit",
    "gpt",
    "inference",
    "load",
    "normal",
    "predict",
    "prune",
    "prune_2_4",
    "quantized",
    "save",
    "text",
    "uniform",
    "windows",
]
