"""Types of arguments of the command line: each returns a value, or says what it expected."""

from __future__ import annotations

import argparse
import re


def count(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"expected a whole number, 1 or more, got {text!r}")
    return int(text)


def ranks(text: str) -> int:
    if text not in [*"2345678"]:
        raise argparse.ArgumentTypeError(f"expected a number of ranks from 2 to 8, got {text!r}")
    return int(text)


def number(text: str) -> int:
    try:
        return int(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"expected a whole number, got {text!r}") from None


def arch(text: str) -> tuple[int, int]:
    match = re.fullmatch(r"(?:sm_|compute_)?(\d+)\.?(\d)", text)
    if match is None:
        raise argparse.ArgumentTypeError(f"expected an architecture such as sm_90, got {text}")
    return int(match[1]), int(match[2])


def seconds(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = 0.0
    if not 0 < value < 3600:
        raise argparse.ArgumentTypeError(f"expected seconds between 0 and 3600, got {text!r}")
    return value
