"""Train a character-level GPT of 116,000 weights on 43 kB of text, and print its loss.

    python -m benchmarks.characters [--steps 1500] [--unseen 0] [--write 400] [--json FILE]

The text is scikit-learn's descriptions of its data sets. The training loss is a mean over 100
steps, in nats and in bits per character; seconds are processor time. `--unseen 0.1` holds out the
last tenth of the text and prints the cross-entropy per character of both parts.
"""

from __future__ import annotations

import argparse
import json
import math
import time
from pathlib import Path

import numpy as np
import numpy.typing as npt

import gpukit
from gpukit import nn

LENGTH, WIDTH, HEADS, BLOCKS, BATCH = 64, 64, 4, 2, 16
SHOWN = 100  # steps per mean, and between two lines
SEED = 20261120


def main() -> None:
    """Train, print the loss, and sample text from the model."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--steps", type=int, default=1500)
    parser.add_argument("--unseen", type=float, default=0.0, metavar="FRACTION")
    parser.add_argument("--write", type=int, default=400, metavar="CHARACTERS")
    parser.add_argument("--json", type=Path)
    chosen = parser.parse_args()
    text, rng = nn.text(), np.random.default_rng(SEED)
    characters = nn.Characters(text)
    end = round(len(text) * (1 - chosen.unseen))
    seen, unseen = np.split(characters.encode(text), [end])
    pieces, following = nn.windows(seen, LENGTH)
    order = rng.permutation(len(pieces))[: chosen.steps * BATCH]
    model = nn.gpt(len(characters), LENGTH, WIDTH, HEADS, BLOCKS)
    parameters = nn.Parameters(model, seed=0)
    optimizer = nn.AdamW(parameters, lr=nn.cosine(3e-3, steps=chosen.steps, warmup=50))
    print(
        f"{parameters.value.size:,} weights, {len(text):,} characters, {len(characters)} distinct"
    )
    begun = time.process_time()
    loader = nn.Loader(pieces[order], following[order], batch=BATCH)
    history = nn.fit(model, optimizer, loader, epochs=1, clip=1.0, report=False)
    seconds = time.process_time() - begun
    for last in range(min(SHOWN, chosen.steps), chosen.steps + 1, SHOWN):
        loss = history.losses[max(0, last - SHOWN) : last].mean()
        print(f"step {last:5}  loss {loss:.3f}  {loss / math.log(2):.2f} bits")
    print(f"{seconds:.0f} CPU-seconds")
    if chosen.unseen:
        print(f"seen {bits(model, seen):.2f} bits, unseen {bits(model, unseen):.2f}")
    print(write(model, characters, text[:LENGTH], chosen.write, rng))
    if chosen.json:
        found = {"steps": chosen.steps, "loss": float(loss), "cpu_seconds": seconds}
        chosen.json.write_text(json.dumps(found, indent=1) + "\n")


def bits(model: nn.Sequential, tokens: npt.NDArray[np.int32]) -> float:
    """Return the mean cross-entropy per token, in bits."""
    pieces, following = (part[::LENGTH] for part in nn.windows(tokens, LENGTH))
    logits = nn.predict(model, pieces)
    loss = gpukit.cross_entropy(logits.reshape(following.size, -1), following.reshape(-1))
    return float(loss) / math.log(2)


def write(
    model: nn.Sequential,
    characters: nn.Characters,
    text: str,
    count: int,
    rng: np.random.Generator,
    temperature: float = 0.7,
) -> str:
    """Return text with `count` more characters, each sampled from the model's distribution."""
    for _ in range(count):
        seen = characters.encode(text[-LENGTH:])
        logits = nn.predict(model, seen[None])[0, -1].astype(np.float64) / temperature
        exponentials = np.exp(logits - logits.max())
        text += characters.all[rng.choice(len(characters), p=exponentials / exponentials.sum())]
    return text


if __name__ == "__main__":
    main()
