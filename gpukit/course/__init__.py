"""Exercises: find them, run a student's kernel on their cases, explain what went wrong.

The parent process makes the inputs and compares the answers; the student's file runs in a child
process that is sent inputs and sends back arrays, so it can hang or crash without harm.

The names below load on first use: the supervisor of the student's process needs no NumPy.
"""

import importlib
from typing import Any

__all__ = [
    "Case",
    "adam",
    "areas",
    "attention",
    "beside",
    "by_block",
    "by_row",
    "called",
    "lanes",
    "lengths",
    "momentum",
    "of_photograph",
    "poison",
    "products",
    "some",
]
_INPUTS = ("adam", "attention", "lanes", "momentum", "products")


def __getattr__(name: str) -> Any:
    if name in _INPUTS:
        return importlib.import_module(f"gpukit.course.inputs.{name}")
    if name == "some":
        return importlib.import_module("gpukit.checked.messages.phrases").some
    if name in __all__:
        return getattr(importlib.import_module("gpukit.course.case"), name)
    raise AttributeError(f"module 'gpukit.course' has no attribute {name!r}")
