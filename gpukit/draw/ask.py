"""Prediction questions: the answer stays hidden until the reader has given one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from gpukit.draw import widgets


def ask(
    question: str,
    choices: Sequence[str] | None = None,
    *,
    because: str,
    right: int | None = None,
    answer: float | None = None,
    within: float = 0.0,
    unit: str = "",
) -> widgets.Widget:
    """Ask for one of some choices, `right` being the index of the right one (0 is the first),
    or for a number, `answer`; a number within `within` of it is right too.

    `because` is shown once an answer is given. Names between backticks are set as code.
    Put it on the last line of a cell. Outside a notebook it is only the question.
    """
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
