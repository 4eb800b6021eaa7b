"""How well networks read scikit-learn's digits, and what learning them costs.

    python -m benchmarks.digits

For each network and each of four splits: accuracy on the quarter that is tested on, and seconds of
the processor for the whole training, one thread, after a first step that compiles.
"""

from __future__ import annotations

import time
from typing import Any

import numpy as np

from gpukit import nn

EPOCHS, BATCH = 25, 64


def mlp() -> Any:
    """Two dense layers."""
    return nn.Sequential(
        nn.Flatten(), nn.Linear(64, 128, first=True), nn.ReLU(), nn.Linear(128, 10)
    )


def lenet() -> Any:
    """Two convolutions with pooling and two dense layers: LeNet's order for 8 x 8 pixels."""
    return nn.Sequential(
        nn.Conv2d(1, 12, 3, padding=1, first=True),
        nn.ReLU(),
        nn.MaxPool2d(2),
        nn.Conv2d(12, 24, 3, padding=1),
        nn.ReLU(),
        nn.MaxPool2d(2),
        nn.Flatten(),
        nn.Dropout(0.3, seed=1),
        nn.Linear(96, 64),
        nn.ReLU(),
        nn.Linear(64, 10),
    )


def trained(make: Any, split: int, epochs: int = EPOCHS) -> tuple[float, float]:
    """Return accuracy and seconds of the processor of one training."""
    (images, labels), tested = nn.digits(split)
    model = make()
    parameters, loader = nn.Parameters(model, seed=split), nn.Loader(images, labels, batch=BATCH)
    rate = nn.cosine(0.01, steps=epochs * len(loader), warmup=20)
    optimizer = nn.AdamW(parameters, lr=rate, weight_decay=0.05)
    start = time.process_time()
    nn.fit(model, optimizer, loader, epochs=epochs, report=False)
    seconds = time.process_time() - start
    return nn.accuracy(model, *tested), seconds


def main() -> None:
    for make in (mlp, lenet):
        trained(make, 0, epochs=1)
        accuracies, seconds = np.array([trained(make, split) for split in range(4)]).T
        each = " ".join(f"{100 * accuracy:.1f}" for accuracy in accuracies)
        mean = 100 * accuracies.mean()
        print(f"{make.__name__:6} {mean:.2f} % ({each})  {seconds.mean():.1f} CPU-s")


if __name__ == "__main__":
    main()
