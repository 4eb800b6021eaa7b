"""Data sets that need no download: scikit-learn's digits and its own descriptions.

scikit-learn is installed by `make lab`, or separately.
"""

from __future__ import annotations

from importlib import resources
from types import ModuleType
from typing import Any

import numpy as np
import numpy.typing as npt

Examples = tuple[npt.NDArray[np.float32], npt.NDArray[np.int32]]
SPLITS = 4


def digits(split: int = 0) -> tuple[Examples, Examples]:
    """Return handwritten digits for training and for testing, as (images, labels) each.

    Images are (N, 1, 8, 8), float32 from 0 to 1, labels (N,), int32: 1,797 in all. Each of four
    splits, 0 to 3, tests on another quarter of them.

    Source: Alpaydin and Kaynak, "Optical Recognition of Handwritten Digits", UCI, 1998
    """
    if split not in range(SPLITS):
        raise ValueError(f"digits: expected split from 0 to {SPLITS - 1}, got {split!r}.")
    found = _sklearn("digits").load_digits()
    images = (found.images[:, None] / 16).astype(np.float32)
    labels = found.target.astype(np.int32)
    order = np.random.default_rng(0).permutation(len(labels))
    tested = np.array_split(order, SPLITS)[split]
    learned = np.setdiff1d(order, tested)
    return (images[learned], labels[learned]), (images[tested], labels[tested])


def text() -> str:
    """Return 40,000 characters of English text: scikit-learn's descriptions of its data sets."""
    folder = resources.files(_sklearn("text")) / "descr"
    pages = sorted(page.name for page in folder.iterdir() if page.name.endswith(".rst"))
    return "\n".join((folder / name).read_text(encoding="utf-8") for name in pages)


def _sklearn(function: str) -> ModuleType:
    """Return sklearn.datasets, or raise an error that says how to install it."""
    try:
        from sklearn import datasets
    except ImportError as error:
        raise ImportError(
            f"{function}: the data comes with scikit-learn, which is not installed. "
            "Run: pip install scikit-learn"
        ) from error
    module: ModuleType = datasets
    return module


class Characters:
    """The characters of a text as tokens, numbered in order: the input of a character-level model.

    characters = nn.Characters(text)
    tokens = characters.encode(text)    # int32, from 0 to len(characters) - 1
    characters.decode(tokens) == text
    """

    def __init__(self, text: str) -> None:
        self.all = "".join(sorted(set(text)))
        self._numbers = {character: number for number, character in enumerate(self.all)}

    def __len__(self) -> int:
        """Return how many distinct characters there are."""
        return len(self.all)

    def encode(self, text: str) -> npt.NDArray[np.int32]:
        """Return the number of each character; raise ValueError for one that is unknown."""
        if unknown := set(text) - set(self._numbers):
            raise ValueError(
                f"Characters: expected characters of the text given at first, got "
                f"{sorted(unknown)[0]!r}. Make Characters of a text that has it."
            )
        return np.array([self._numbers[character] for character in text], np.int32)

    def decode(self, tokens: npt.ArrayLike) -> str:
        """Return the characters of these numbers."""
        return "".join(self.all[token] for token in np.asarray(tokens).reshape(-1))


def windows(tokens: npt.ArrayLike, length: int) -> tuple[Any, Any]:
    """Return all windows of `length` tokens (N, length), and the next token after each of theirs.

    Both are int32: examples and labels of a model that predicts the next token.
    """
    given = np.asarray(tokens, np.int32)
    if not 1 <= length < len(given):
        raise ValueError(
            f"windows: expected length from 1 to {len(given) - 1}, got {length}: there are "
            f"{len(given)} tokens, and the last one of a piece must be followed by another."
        )
    pieces = np.lib.stride_tricks.sliding_window_view(given, length + 1)
    return pieces[:, :-1], pieces[:, 1:]
