"""`gpukit.play`: record a launch and make a page that steps through it, forward and back."""

from __future__ import annotations

from typing import Any

from gpukit.checked import recording
from gpukit.checked.command import Command
from gpukit.checked.player import Player


def play(kernel: Any) -> Command:
    """Return the kernel ready to be launched and recorded.

    `gpukit.play(kernel)[grid, block, stream, shared_bytes](*arguments)` runs the launch, with its
    usual effect on the arguments, and returns a `Player`: show it in a notebook,
    `player.save("page.html")`, or `player.open()` in a browser.
    """
    return Command("play", kernel, _run)


def _run(kernel: Any, shape: Any, arguments: tuple[Any, ...]) -> Player:
    return Player(*recording.record_checked(kernel, shape, arguments))
