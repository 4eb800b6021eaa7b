"""Prediction questions: the answer stays hidden until the reader has given one."""

from __future__ import annotations

import base64
import json
import zlib
from collections.abc import Sequence
from typing import Any

from gpukit.draw import widgets


def ask(
    question: str,
    choices: Sequence[str] | None = None,
    *,
    because: str = "",
    right: int | None = None,
    answer: float | None = None,
    within: float = 0.0,
    unit: str = "",
    sealed: str = "",
) -> widgets.Widget:
    """Ask for one of some choices, `right` being the index of the right one (0 is the first),
    or for a number, `answer`; a number within `within` of it is right too.

    `because` is shown once an answer is given. Names between backticks are set as code.
    `sealed` holds `right` or `answer`, `within` and `because` in a form that does not show them to
    somebody who reads the cell: `seal(right=1, because="...")` returns it.
    Put it on the last line of a cell. Outside a notebook it is only the question.
    """
    if sealed:
        if because or within or right is not None or answer is not None:
            raise ValueError(
                "ask: expected sealed= alone, got an answer beside it. Leave one of them out."
            )
        told = unseal(sealed)
        because, right, answer = told["because"], told.get("right"), told.get("answer")
        within = told.get("within", 0.0)
    if not because:
        raise ValueError("ask: expected because=, got none. Say why the right answer is right.")
    choices = None if choices is None else [str(choice) for choice in choices]
    _check(choices, right, answer, within)
    options: dict[str, Any] = {"question": question, "because": because}
    if choices is None:
        options |= {"answer": answer, "within": within, "unit": unit}
        listed, truth = [], f"{answer:,} {unit}".strip()
    else:
        options |= {"choices": list(choices), "right": right}
        listed, truth = list(choices), choices[right or 0]
    words = "\n".join([question, *(f"  ( ) {choice}" for choice in listed)])
    fallback = _folded(question, listed, f"{truth}. {because}")
    words = words.replace("`", "")
    return widgets.widget("ask", options, styles=["ask.css"], fallback=fallback, words=words)


def seal(
    *, because: str, right: int | None = None, answer: float | None = None, within: float = 0.0
) -> str:
    """Return an answer for `ask(sealed=...)`: encoded, not encrypted.

    >>> unseal(seal(right=2, because="It is odd."))
    {'because': 'It is odd.', 'right': 2}
    """
    if (right is None) == (answer is None):
        raise ValueError(
            f"seal: expected right= or answer=, got right={right} and answer={answer}. Give one."
        )
    told: dict[str, Any] = {"because": because}
    told |= {"right": right} if answer is None else {"answer": answer}
    told |= {"within": within} if within else {}
    return base64.b64encode(zlib.compress(json.dumps(told).encode(), 9)).decode()


def unseal(sealed: str) -> dict[str, Any]:
    """Return what `seal` was given; raises ValueError for other text."""
    try:
        told: dict[str, Any] = json.loads(zlib.decompress(base64.b64decode(sealed, validate=True)))
    except (ValueError, zlib.error):
        raise ValueError(
            f"ask: expected sealed= to be what draw.seal returns, got {sealed[:20]!r}..."
        ) from None
    return told


def _check(choices: Any, right: Any, answer: Any, within: float) -> None:
    if choices is None:
        if answer is None or right is not None or not within >= 0:
            raise ValueError(
                "ask: expected choices and right=, or answer= (and within= of 0 or more). Give "
                "the choices to choose from, or the number that is the answer."
            )
    elif answer is not None or right is None or not 0 <= right < len(choices):
        raise ValueError(
            f"ask: expected right= from 0 to {len(choices) - 1} and no answer=, got right={right}"
            f" and answer={answer}. Count the choices from 0."
        )


def _folded(question: str, choices: list[str], truth: str) -> str:
    """Return the question as HTML that hides its answer without any script."""
    marked = widgets.code_marked
    items = "".join(f"<li>{marked(choice)}</li>" for choice in choices)
    return (
        f"<p><strong>{marked(question)}</strong></p>{f'<ul>{items}</ul>' if items else ''}"
        f"<details><summary>Answer yourself first, then look</summary>"
        f"<p>{marked(truth)}</p></details>"
    )
