"""Models trained beside PyTorch's, from the same weights on the same batches."""

import numpy as np
import pytest
import torch
import torch.nn.functional as F

import gpukit
from gpukit import cuda, launch, nn

STEPS = 50


def mlp():
    return nn.Sequential(nn.Linear(64, 128), nn.ReLU(), nn.Linear(128, 10)), torch.nn.Sequential(
        torch.nn.Linear(64, 128), torch.nn.ReLU(), torch.nn.Linear(128, 10)
    )


def lenet():
    T = torch.nn
    return (
        nn.Sequential(
            nn.Conv2d(1, 6, 5, padding=2), nn.ReLU(), nn.MaxPool2d(2),
            nn.Conv2d(6, 16, 5), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(),
            nn.Linear(400, 120), nn.ReLU(), nn.Linear(120, 84), nn.ReLU(), nn.Linear(84, 10),
        ),
        T.Sequential(
            T.Conv2d(1, 6, 5, padding=2), T.ReLU(), T.MaxPool2d(2),
            T.Conv2d(6, 16, 5), T.ReLU(), T.MaxPool2d(2), T.Flatten(),
            T.Linear(400, 120), T.ReLU(), T.Linear(120, 84), T.ReLU(), T.Linear(84, 10),
        ),
    )  # fmt: skip


WIDTH, HEADS, PLACES, TOKENS = 32, 4, 12, 17


def gpt():
    def block():
        return (
            nn.Residual(nn.LayerNorm(WIDTH), nn.MultiHeadAttention(WIDTH, HEADS, causal=True)),
            nn.Residual(
                nn.LayerNorm(WIDTH), nn.Linear(WIDTH, 4 * WIDTH), nn.GELU(),
                nn.Linear(4 * WIDTH, WIDTH),
            ),
        )  # fmt: skip

    ours = nn.Sequential(
        nn.Embedding(TOKENS, WIDTH, deviation=0.02), nn.Positions(PLACES, WIDTH),
        *block(), *block(), nn.LayerNorm(WIDTH), nn.Linear(WIDTH, TOKENS),
    )  # fmt: skip
    return ours, TheirGPT()


class TheirGPT(torch.nn.Module):
    """The same network, written with PyTorch's functions on parameters of the same names."""

    def load_state_dict(self, state):
        for name, array in state.items():
            self.register_parameter(name.replace(".", "_"), torch.nn.Parameter(array))

    def forward(self, tokens):
        def w(name):
            return getattr(self, name.replace(".", "_"))

        def linear(x, name):
            return F.linear(x, w(f"{name}.weight"), w(f"{name}.bias"))

        def norm(x, name):
            return F.layer_norm(x, (WIDTH,), w(f"{name}.weight"), w(f"{name}.bias"))

        x = w("0.weight")[tokens] + w("1.weight")
        for k in (2, 4):
            packed = linear(norm(x, f"{k}.0.0"), f"{k}.0.1.0")
            heads = packed.reshape(*tokens.shape, 3, HEADS, -1).permute(2, 0, 3, 1, 4)
            means = F.scaled_dot_product_attention(*heads, is_causal=True)
            x = x + linear(means.transpose(1, 2).reshape(x.shape), f"{k}.0.1.1")
            y = norm(x, f"{k + 1}.0.0")
            x = x + linear(F.gelu(linear(y, f"{k + 1}.0.1")), f"{k + 1}.0.3")
        return linear(norm(x, "6"), "7").reshape(-1, TOKENS)


class TheirRecurrent(torch.nn.Module):
    """A layer of PyTorch's between an embedding and a dense layer, with our names."""

    def __init__(self, layer):
        super().__init__()
        self.layer = layer

    def load_state_dict(self, state):
        names = {
            "w_ih": "weight_ih_l0",
            "w_hh": "weight_hh_l0",
            "b_ih": "bias_ih_l0",
            "b_hh": "bias_hh_l0",
        }
        self.layer.load_state_dict({names[k[2:]]: v for k, v in state.items() if k[0] == "0"})
        self.weight, self.bias = (torch.nn.Parameter(state[f"1.{k}"]) for k in ("weight", "bias"))

    def forward(self, x):
        return F.linear(self.layer(x)[0], self.weight, self.bias).reshape(-1, 10)


def recurrent(ours, theirs):
    return lambda: (
        nn.Sequential(ours(8, 16), nn.Linear(16, 10)), TheirRecurrent(theirs(8, 16))
    )  # fmt: skip


IMAGES, DIGITS = (32, 1, 28, 28), (32, 64)
SEQUENCES = 7, 32, 8
MODELS = {
    "mlp": (mlp, DIGITS),
    "lenet": (lenet, IMAGES),
    "rnn": (recurrent(nn.RNN, torch.nn.RNN), SEQUENCES),
    "lstm": (recurrent(nn.LSTM, torch.nn.LSTM), SEQUENCES),
    "gru": (recurrent(nn.GRU, torch.nn.GRU), SEQUENCES),
    "gpt": (gpt, (8, PLACES)),
}
OPTIMIZERS = {
    "momentum": (
        lambda p: nn.Momentum(p, lr=0.01), lambda p: torch.optim.SGD(p, lr=0.01, momentum=0.9)
    ),
    "adamw": (lambda p: nn.AdamW(p, lr=1e-3), lambda p: torch.optim.AdamW(p, lr=1e-3)),
}  # fmt: skip


@pytest.mark.parametrize("optimizer", OPTIMIZERS)
@pytest.mark.parametrize("name", MODELS)
def test_losses_are_those_of_pytorch_for_fifty_steps(name, optimizer):
    """With gradients clipped to a norm of 1, from the same weights, on the same batches."""
    make, shape = MODELS[name]
    model, other = make()
    parameters, workspace, rng = (
        nn.Parameters(model, seed=0),
        nn.Workspace(),
        np.random.default_rng(0),
    )
    other.load_state_dict({k: torch.from_numpy(v) for k, v in parameters.state().items()})
    ours, theirs = OPTIMIZERS[optimizer]
    ours, theirs = ours(parameters), theirs(other.parameters())
    for _ in range(STEPS):
        tokens = rng.integers(0, TOKENS, shape, np.int32)
        x = tokens if name == "gpt" else rng.standard_normal(shape, np.float32)
        theirs.zero_grad()
        expected = other(torch.from_numpy(x))
        label = rng.integers(0, 10, len(expected))
        expected = F.cross_entropy(expected, torch.from_numpy(label))
        expected.backward()
        torch.nn.utils.clip_grad_norm_(other.parameters(), 1.0)
        theirs.step()
        with workspace:
            logits, saved = model.forward(cuda.to_device(x))
            rows = logits.reshape(len(label), -1)
            loss, grad = gpukit.cross_entropy_with_grad(
                rows, cuda.to_device(label.astype(np.int32))
            )
            model.backward(saved, grad.reshape(logits.shape))
            gpukit.clip_grad_norm(parameters.grad, 1.0)
            ours.step()
            assert float(launch.to_host(loss)) == pytest.approx(expected.item(), rel=1e-5)
